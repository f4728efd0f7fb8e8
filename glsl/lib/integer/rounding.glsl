#ifndef LIB_INTEGER_ROUNDING
#define LIB_INTEGER_ROUNDING

T vx_floor(T x) { return x; }
T vx_ceil(T x) { return x; }
T vx_trunc(T x) { return x; }
T vx_round(T x) { return x; }

#endif
