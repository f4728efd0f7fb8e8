// The stack of subtrees that wait for their neighbours: how states are put there and joined.
#ifndef LIB_REDUCTION_STACK
#define LIB_REDUCTION_STACK

// What is done with the stack of subtrees (see `chunk_state`). A GPU has registers for small states, if loops name all levels.
#if defined(SHARED) && !defined(INDEXED) && !defined(SHIFT)
#define EACH_LEVEL [[unroll]] for (int level = 0; level < int(LEVELS); ++level)
#define PUT_STATE EACH_LEVEL if (level == findLSB(done)) stack[level] = state;
#define JOIN_NEXT \
    int unset = findLSB(~(done | (width - 1u))); \
    EACH_LEVEL if (level >= findLSB(width) && level < unset) next = combine(stack[level], next);
#define JOIN_REST EACH_LEVEL if (level > findLSB(done) && (done >> level & 1u) != 0u) state = combine(stack[level], state);
#else
#define PUT_STATE stack[findLSB(done)] = state;
#define JOIN_NEXT for (int level = findLSB(width); (done >> level & 1u) != 0u; ++level) next = combine(stack[level], next);
#define JOIN_REST \
    for (int level = findLSB(done) + 1; done >> level != 0u; ++level) { \
        if ((done >> level & 1u) != 0u) state = combine(stack[level], state); \
    }
#endif

#endif
