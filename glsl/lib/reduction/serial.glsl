// A chunk that an invocation reduces by itself, block by block, as suits CPU drivers; and of all kernels those of short rows, of
// which an invocation has all elements at once.
#ifndef LIB_REDUCTION_SERIAL
#define LIB_REDUCTION_SERIAL

#define EACH_LANE [[unroll]] for (int lane = 0; lane < int(LANES); ++lane) if (SHORT == 0u || uint(lane) < SHORT)

// A pack of each lane from `element` on. Where not `all` of them have elements below `end`, others of the row stand for those
// beyond.
#define LOAD_STEP(target, element, end, all) \
    EACH_LANE { \
        if (PACKED && (WHOLE || WHOLE_PACKS || (all))) { \
            int place = int(element) / VECTOR + lane; \
            if (!(all) && SHORT == 0u) place = min(place, int((end) - 1u) / VECTOR); \
            place += (row_offset + int(chunk_start)) / VECTOR; \
            LOAD_PACK(target[lane], place) \
        } else { \
            EACH { \
                uint place = (element) + uint(lane * VECTOR + k); \
                target[lane][k] = load((all) || (SHORT > 0u && WHOLE) ? place : min(place, (end) - 1u)); \
            } \
        } \
    }

#ifdef SHIFTED
#define SET_CENTER center = centers[lane];
#else
#define SET_CENTER
#endif

// How many elements of a lane's pack there are.
#define PRESENT(element) (all ? uint(VECTOR) : end - min(end, (element) + uint(lane * VECTOR)))

// The state of the elements of a block from `first` on, below `end`.
STATE block_state(uint first, uint end) {
    const bool all = TURNS > 0u;
    INPUT value[LANES][VECTOR];
    uint element = first;
#ifdef SHIFTED
    Midst midst[LANES];
    do {
        LOAD_STEP(value, element, end, all)
        EACH_LANE {
            if (element == first) midst[lane] = midst_of(value[lane][0]);
            add_pack(midst[lane], value[lane], PRESENT(element));
        }
        element += STEP;
    } while (FURTHER_STEPS && element < min(end, first + uint(BATCH) * STEP));
    C_COMPUTE centers[LANES];
    EACH_LANE centers[lane] = center_of(midst[lane]);
    element = first;
    const bool loaded = !FURTHER_STEPS;
#else
    const bool loaded = false;
#endif
    LEAF leaf[LANES][VECTOR];
    do {
        if (!loaded) LOAD_STEP(value, element, end, all)
        EACH_LANE {
            SET_CENTER
            EACH {
                uint place = element + uint(lane * VECTOR + k);
                LEAF next = leaf_of(value[lane][k], place);
                if (element == first) leaf[lane][k] = next;
                else if (all || place < end) leaf[lane][k] = follow(leaf[lane][k], next);
            }
        }
        element += STEP;
    } while (FURTHER_STEPS && element < end);
    STATE part[LANES];
    EACH_LANE {
        SET_CENTER
        part[lane] = joined(leaf[lane], first + uint(lane * VECTOR), end, all);
    }
    uint present = SHORT > 0u ? SHORT : all ? LANES : (end - first + uint(VECTOR - 1)) / uint(VECTOR);
    JOIN_ALL_PARTS
    return part[0];
}

// The state of a row that has no more than one element for each leaf.
STATE short_state(uint count) { return block_state(0u, WHOLE ? SHORT * uint(VECTOR) : count); }

#ifndef SHARED
// The state of so many elements of the chunk.
STATE chunk_state(uint count) {
    if (SHORT > 0u) return short_state(count);
    // Blocks are counted in binary: before block n is added, `state` is the subtree of n's lowest digit, and the subtrees of
    // the others wait on the stack.
    STATE stack[LEVELS];
    STATE state;
    uint done = 0u;
    uint first = 0u;
    do {
        STATE next = block_state(first, TURNS > 0u ? first + BLOCK : min(first + BLOCK, count));
        if (LEVELS > 1u) {
            const uint width = 1u;
            if (done > 0u) PUT_STATE
            JOIN_NEXT
            ++done;
            first += BLOCK;
        }
        state = next;
    } while (LEVELS > 1u && first < count);
    if (LEVELS > 1u) {
        JOIN_REST
    }
    return state;
}
#endif

#endif
