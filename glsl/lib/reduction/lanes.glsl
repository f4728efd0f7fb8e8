// The states of lanes, of which the members of a chunk have some each, and strips of neighbouring lanes.
#ifndef LIB_REDUCTION_LANES
#define LIB_REDUCTION_LANES

// Does something with each `one` of a pack and the place of its element, in one copy: they turn round.
#define TURN_ROUND(TYPE, PACK, DO) \
    [[dont_unroll]] for (uint place = element; place < element + uint(VECTOR); ++place) { \
        TYPE one = PACK[0]; \
        DO; \
        [[unroll]] for (int k = 1; k < VECTOR; ++k) PACK[k - 1] = PACK[k]; \
        PACK[VECTOR - 1] = one; \
    }

// The state of the leaves of one lane: elements from `first` on, below `end`, which is the end of the block or the chunk.
STATE lane_state(uint first, uint end) {
    LEAF leaf[VECTOR];
    uint element = first;
    // All loads of a batch are under way together.
    if (!TWO_DIMENSIONAL && !SINGLE) {
        for (uint turn = 0u; TURNS > 0u ? turn < TURNS : element + uint(BATCH - 1) * STEP + uint(VECTOR) <= end; ++turn) {
            INPUT value[BATCH][VECTOR];
            int offset = row_offset + int(chunk_start + element) * (PACKED ? 1 : STRIDE_OF_A);
            [[unroll]] for (int j = 0; j < BATCH; ++j) {
                if (PACKED) {
                    int place = offset / VECTOR + j * int(LANES);
#ifdef LINKED
                    pack_step = turn * uint(BATCH) + uint(j);
#endif
                    LOAD_PACK(value[j], place)
                } else {
                    EACH value[j][k] = LOAD_AT(offset + (j * int(STEP) + k) * STRIDE_OF_A);
                }
            }
#ifdef SHIFTED
            if (turn == 0u) {
                Midst midst = midst_of(value[0][0]);
                [[unroll]] for (int j = 0; j < BATCH; ++j) add_pack(midst, value[j], uint(VECTOR));
                center = center_of(midst);
            }
#endif
            [[unroll]] for (int j = 0; j < BATCH; ++j) {
                EACH {
                    LEAF next = leaf_of(value[j][k], element + uint(j) * STEP + uint(k));
                    if (j == 0 && turn == 0u) leaf[k] = next;
                    else leaf[k] = follow(leaf[k], next);
                }
            }
            element += uint(BATCH) * STEP;
        }
    }
#ifdef SHIFTED
    if (element == first) {
        Midst midst = midst_of(load(first));
        for (; element < min(end, first + uint(BATCH) * STEP); element += STEP) {
            INPUT pack[VECTOR];
#ifdef LINKED
            if (ONE_BY_ONE) {
                TURN_ROUND(INPUT, pack, if (place < end) one = load(place))
            } else
#endif
            EACH if (element + uint(k) < end) pack[k] = load(element + uint(k));
            add_pack(midst, pack, end - element);
        }
        center = center_of(midst);
        element = first;
    }
#endif
    for (; TURNS == 0u && element < end; element += STEP) {
#ifdef LINKED
        if (ONE_BY_ONE) {
            TURN_ROUND(LEAF, leaf, if (place < end) {
                LEAF next = leaf_of(load(place), place);
                if (element == first) one = next;
                else one = follow(one, next);
            })
            continue;
        }
#endif
        if (PACKED && element + uint(VECTOR) <= end) {
            INPUT value[VECTOR];
            int place = (row_offset + int(chunk_start + element)) / VECTOR;
            LOAD_PACK(value, place)
            EACH {
                LEAF next = leaf_of(value[k], element + uint(k));
                if (element == first) leaf[k] = next;
                else leaf[k] = follow(leaf[k], next);
            }
            continue;
        }
        EACH {
            if (element + uint(k) < end) {
                LEAF next = leaf_of(load(element + uint(k)), element + uint(k));
                if (element == first) leaf[k] = next;
                else leaf[k] = follow(leaf[k], next);
            }
        }
    }
    return joined(leaf, first, end, TURNS > 0u);
}

// The first element of a lane in the chunk.
uint first_of(uint lane) { return lane / LANES * BLOCK + lane % LANES * uint(VECTOR); }

// A strip is some neighbouring lanes that an invocation takes together where all of their elements are there: it has their loads
// under way together.
#ifdef SHIFTED
#define STRIP 1
#else
#define STRIP 4
#endif

#if STRIP > 1
#define EACH_OF_STRIP [[unroll]] for (int lane = 0; lane < STRIP; ++lane)
#define TAKE(NEXT) { \
    INPUT value[STRIP][VECTOR]; \
    EACH_OF_STRIP EACH value[lane][k] = LOAD_AT(offset + (lane * VECTOR + k) * STRIDE_OF_A); \
    EACH_OF_STRIP EACH { \
        const int q = lane * VECTOR + k; \
        LEAF next = leaf_of(value[lane][k], element + uint(q)); \
        leaf[q] = NEXT; \
    } \
    element += STEP; \
    offset += int(STEP) * STRIDE_OF_A; \
}
#define JOIN_LEAVES(WIDTH) \
    [[unroll]] for (int q = 0; q < STRIP * VECTOR; q += 2 * WIDTH) { \
        if (q + WIDTH < STRIP * VECTOR) leaf[q] = combine(leaf[q], leaf[q + WIDTH]); \
    }

// The state of the strip whose first element is `first`.
STATE strip_state(uint first) {
    LEAF leaf[STRIP * VECTOR];
    uint element = first;
    int offset = row_offset + int(chunk_start + first) * STRIDE_OF_A;
    TAKE(next)
    for (uint step = 1u; step < BLOCK / STEP; ++step) TAKE(follow(leaf[q], next))
    JOIN_LEAVES(1)
    JOIN_LEAVES(2)
    JOIN_LEAVES(4)
    JOIN_LEAVES(8)
    JOIN_LEAVES(16)
    return leaf[0];
}
#endif

#endif
