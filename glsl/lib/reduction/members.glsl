// A chunk that several invocations reduce, its members: each has some lanes, and they meet in shared memory or in subgroups.
#ifndef LIB_REDUCTION_MEMBERS
#define LIB_REDUCTION_MEMBERS

shared STATE exchange[gl_WorkGroupSize.x];

#ifdef SUBGROUPS
STATE of_other(STATE state, uint distance) {
#ifdef INDEXED
    return State(subgroupShuffleXor(state.value, distance), subgroupShuffleXor(state.place, distance));
#else
    return subgroupShuffleXor(state, distance);
#endif
}

// A level of the tree: the later of two subtrees may have no elements.
#define MEET(WIDTH) \
    if (MEMBERS > WIDTH && SUBGROUP > WIDTH) { \
        STATE other = of_other(state, WIDTH); \
        bool both = ALL_LANES || first_of(((member | WIDTH) & ~(WIDTH - 1u)) * share) < count; \
        if ((member & WIDTH) == 0u) { \
            if (both) state = combine(state, other); \
        } else { \
            if (both) state = combine(other, state); \
            else state = other; \
        } \
    }

// The state of the elements of all members, for each of them.
STATE met_state(STATE state, uint count, uint own, uint member, uint share) {
    MEET(1u)
    MEET(2u)
    MEET(4u)
    MEET(8u)
    MEET(16u)
    MEET(32u)
    if (MEMBERS > SUBGROUP) {
        barrier();
        if (own % SUBGROUP == 0u) exchange[own / SUBGROUP] = state;
        barrier();
        uint begin = own / MEMBERS * (MEMBERS / SUBGROUP);
        STATE part[8];
        uint present = 0u;
        [[unroll]] for (uint k = 0u; k < 8u; ++k) {
            if (k < MEMBERS / SUBGROUP && (ALL_LANES || first_of(k * SUBGROUP * share) < count)) {
                part[k] = exchange[begin + k];
                present = k + 1u;
            }
        }
        JOIN_ALL_PARTS
        state = part[0];
    }
    return state;
}
#endif

// The state of so many elements of the chunk, for the first of its members, which lie `spacing` invocations apart, or with
// SUBGROUPS for each of them. `own` is the number of the invocation in its workgroup.
STATE chunk_state(uint count, uint own, uint member, uint members, uint share, uint spacing) {
    // Lanes are counted in binary: before lane n is added, `state` is the subtree of n's lowest digit, and the subtrees of
    // the others wait on the stack.
    STATE stack[LEVELS];
    STATE state;
    uint done = 0u;
    if (LEVELS == 1u) share = 1u;  // known when the kernel is compiled: most kernels need neither strips nor a stack
    for (uint lane = member * share; done < share && first_of(lane) < count;) {
        uint end = (lane / LANES + 1u) * BLOCK;
        uint width = 1u;
        STATE next;
        bool strip = STRIP > 1 && !LEAN && !TWO_DIMENSIONAL && share >= uint(STRIP) && end <= count;
#if STRIP > 1
        if (strip) {
            width = uint(STRIP);
            next = strip_state(first_of(lane));
        } else
#endif
        next = lane_state(first_of(lane), min(end, count));
        if (done > 0u) PUT_STATE
        JOIN_NEXT
        state = next;
        lane += width;
        done += width;
    }
    if (done > 0u) {
        JOIN_REST
    }

#ifdef SUBGROUPS
    state = met_state(state, count, own, member, share);
#else
    // Three levels of the tree at a time.
    for (uint width = 1u; width < members; width *= 8u) {
        exchange[own] = state;
        barrier();
        if (member % (8u * width) == 0u) {
            STATE part[8];
            part[0] = state;
            uint present = 1u;
            [[unroll]] for (uint k = 1u; k < 8u; ++k) {
                uint other = member + k * width;
                if (other < members && first_of(other * share) < count) {
                    part[k] = exchange[own + k * width * spacing];
                    present = k + 1u;
                }
            }
            JOIN_ALL_PARTS
            state = part[0];
        }
        barrier();
    }
#endif
    return state;
}

#endif
