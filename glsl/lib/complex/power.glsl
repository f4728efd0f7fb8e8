#ifndef LIB_COMPLEX_POWER
#define LIB_COMPLEX_POWER

#include "lib/complex/pairs.glsl"

COMPLEX vx_sqrt(COMPLEX z) {
    if (vx_isinf(z.y)) return COMPLEX(VX_INFINITY, z.y);
    if (vx_isinf(z.x)) {
        REAL small = vx_isnan(z.y) ? VX_NAN : VX_ZERO;
        return z.x > VX_ZERO ? COMPLEX(z.x, vx_copysign(small, z.y)) : COMPLEX(small, vx_copysign(VX_INFINITY, z.y));
    }
    if (vx_either_nan(z)) return COMPLEX(VX_NAN, VX_NAN);
    PAIR real_part, imaginary_part;
    vx_pair_complex_root(PAIR(z.x, VX_ZERO), vx_absolute(z.y), real_part, imaginary_part);
    return COMPLEX(real_part.x, vx_copysign(imaginary_part.x, z.y));
}

#endif
