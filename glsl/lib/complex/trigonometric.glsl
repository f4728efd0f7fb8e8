#ifndef LIB_COMPLEX_TRIGONOMETRIC
#define LIB_COMPLEX_TRIGONOMETRIC

#include "lib/complex/hyperbolic.glsl"

// sin z = -i sinh(i z) and tan z = -i tanh(i z); both are odd, so swapping the parts does for the two factors i.
COMPLEX vx_sin(COMPLEX z) { return vx_swap(vx_sinh(vx_swap(z))); }
COMPLEX vx_cos(COMPLEX z) { return vx_cosh(COMPLEX(-z.y, z.x)); }
COMPLEX vx_tan(COMPLEX z) { return vx_swap(vx_tanh(vx_swap(z))); }

#endif
