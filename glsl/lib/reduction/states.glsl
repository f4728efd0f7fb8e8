// What a reduction joins: states of elements, of leaves and of lanes, as they are computed and as they are stored.
#ifndef LIB_REDUCTION_STATES
#define LIB_REDUCTION_STATES

// A leaf is the state of some elements of a lane.
#if defined(INDEXED)
// A search knows a value and its place in the chunk, and stores the place in the whole row.
struct State { P_COMPUTE value; uint place; };
struct Stored { R_STORAGE index; P_STORAGE value; };
#define STATE State
#define LEAF State
#define STORED Stored
#define STORE_STATE(x) Stored(index, P_STORE((x).value))
#elif defined(SHIFT)
#define STATE VX_MOMENTS
#define STORED VX_MOMENTS
#ifdef STATES
#define LEAF STATE
#else
#define LEAF P_COMPUTE
#define SHIFTED
#endif
#define LOAD_STATE(x) (x)
#define STORE_STATE(x) (x)
#else
#define STATE P_COMPUTE
#define LEAF STATE
#define STORED P_STORAGE
#define LOAD_STATE(x) P_LOAD(x)
#define STORE_STATE(x) P_STORE(x)
#endif

#ifdef STATES
#define INPUT_STORAGE STORED
#ifdef INDEXED
#define INPUT P_COMPUTE
#define LOAD_INPUT(x) P_LOAD((x).value)
#else
#define INPUT STATE
#define LOAD_INPUT(x) LOAD_STATE(x)
#endif
#else
#define INPUT A_COMPUTE
#define INPUT_STORAGE A_STORAGE
#define LOAD_INPUT(x) A_LOAD(x)
#endif

// The state of the elements of both, the second of which is no longer. In `follow`, all elements of b come after those of a.
#ifdef INDEXED
bool precedes(P_COMPUTE a, P_COMPUTE b) { return COMBINE; }

STATE follow(STATE a, STATE b) {
    if (precedes(b.value, a.value)) a = b;
    return a;
}

STATE combine(STATE a, STATE b) {
    if (precedes(b.value, a.value) || (!precedes(a.value, b.value) && b.place < a.place)) a = b;
    return a;
}
#else
#ifdef SHIFT
STATE combine(STATE a, STATE b) { return JOIN_STATES; }
#endif

#if !defined(SHIFT) || defined(SHIFTED)
LEAF combine(LEAF a, LEAF b) {
    precise LEAF result = COMBINE;
    return result;
}
#endif

#define follow combine
#endif

#endif
