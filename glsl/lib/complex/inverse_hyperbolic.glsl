#ifndef LIB_COMPLEX_INVERSE_HYPERBOLIC
#define LIB_COMPLEX_INVERSE_HYPERBOLIC

#include "lib/complex/inverse_trigonometric.glsl"

// asinh z = -i asin(i z) and atanh z = -i atan(i z); both are odd, so swapping the parts does for the two factors i.
COMPLEX vx_asinh(COMPLEX z) { return vx_swap(vx_asin(vx_swap(z))); }
COMPLEX vx_atanh(COMPLEX z) { return vx_swap(vx_atan(vx_swap(z))); }

COMPLEX vx_acosh(COMPLEX z) {
    COMPLEX angle = vx_acos(z);
    return COMPLEX(vx_absolute(angle.y), vx_copysign(angle.x, z.y));
}

#endif
