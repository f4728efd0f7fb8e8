#ifndef LIB_COMPLEX_ROUNDING
#define LIB_COMPLEX_ROUNDING

#include "lib/complex/pairs.glsl"
#ifdef DOUBLE
#include "lib/float64/rounding.glsl"
#else
#include "lib/float32/rounding.glsl"
#endif

COMPLEX vx_round(COMPLEX z) { return COMPLEX(vx_round(z.x), vx_round(z.y)); }

#endif
