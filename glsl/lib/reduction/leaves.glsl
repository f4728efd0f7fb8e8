// The leaves of a lane: elements that are mapped to states, round a center if they have one, and the tree that joins them.
#ifndef LIB_REDUCTION_LEAVES
#define LIB_REDUCTION_LEAVES

#if defined(CENTERED) || defined(SHIFTED)
C_COMPUTE center;
#endif

LEAF leaf_of(INPUT a, uint element) {
#ifdef INDEXED
    return LEAF(MAP, element);
#else
    return MAP;
#endif
}

#ifdef SHIFTED
// What becomes the center of a lane, from its first elements: those of BATCH packs at most.
struct Midst { C_COMPUTE first, sum; uint count; };

C_COMPUTE shift_of(INPUT a) { return SHIFT; }

Midst midst_of(INPUT first) { return Midst(shift_of(first), C_COMPUTE(0), 0u); }

// The first elements of a pack, `present` of them, are among those.
void add_pack(inout Midst midst, INPUT pack[VECTOR], uint present) {
    EACH {
        if (uint(k) < present) {
            precise C_COMPUTE sum = midst.sum + (shift_of(pack[k]) - midst.first);
            midst.sum = sum;
        }
    }
    midst.count += min(present, uint(VECTOR));
}

C_COMPUTE center_of(Midst midst) { return vx_center(midst.first, midst.sum, max(midst.count, 1u)); }
#endif

#define JOIN(WIDTH) \
    EACH if (k % (2 * WIDTH) == 0 && (all || first + uint(k + WIDTH) < end)) leaf[k] = combine(leaf[k], leaf[k + WIDTH]);

// The state of a lane from those of its leaves; unless `all` have elements, some may lie beyond `end`.
STATE joined(LEAF leaf[VECTOR], uint first, uint end, bool all) {
    // Written out: drivers do not unroll a loop whose counter doubles, and then keep the leaves in memory.
#if VECTOR > 1
    JOIN(1)
#endif
#if VECTOR > 2
    JOIN(2)
#endif
#if VECTOR > 4
    JOIN(4)
#endif
#ifdef SHIFTED
    uint turns = (end - first) / STEP;
    uint count = turns * uint(VECTOR) + min(end - first - turns * STEP, uint(VECTOR));
    return STATE(center, leaf[0], C_COMPUTE(count));
#else
    return leaf[0];
#endif
}

// A level of the tree of so many parts as are present, 8 at most.
#define JOIN_PARTS(WIDTH) \
    [[unroll]] for (uint k = 0u; k < 8u; k += 2u * WIDTH) if (k + WIDTH < present) part[k] = combine(part[k], part[k + WIDTH]);

#define JOIN_ALL_PARTS \
    JOIN_PARTS(1u) \
    JOIN_PARTS(2u) \
    JOIN_PARTS(4u)

#endif
