#ifndef LIB_COMPLEX_EXPONENTIAL
#define LIB_COMPLEX_EXPONENTIAL

#include "lib/complex/classification.glsl"
#ifdef DOUBLE
#include "lib/float64/exponential.glsl"
#include "lib/float64/trigonometric.glsl"
#else
#include "lib/float32/exponential.glsl"
#include "lib/float32/trigonometric.glsl"
#endif

// Sine and cosine of a finite y from one reduction.
void vx_sine_and_cosine(REAL y, out REAL sine, out REAL cosine) {
#ifdef DOUBLE
    dvec2 sine_pair, cosine_pair;
    vx_pair_sin_cos(y, sine_pair, cosine_pair);
    sine = sine_pair.x;
    cosine = cosine_pair.x;
#else
    vec3 reduced = vx_reduce_angle(y);
    int quadrant = int(reduced.z);
    vec2 sine_pair = vx_sin_reduced(vec2(reduced.x, reduced.y));
    vec2 cosine_pair = vx_cos_reduced(vec2(reduced.x, reduced.y));
    bool odd = (quadrant & 1) != 0;
    precise float first = odd ? cosine_pair.x + cosine_pair.y : sine_pair.x + sine_pair.y;
    precise float second = odd ? sine_pair.x + sine_pair.y : cosine_pair.x + cosine_pair.y;
    sine = (quadrant & 2) != 0 ? -first : first;
    cosine = (quadrant + 1 & 2) != 0 ? -second : second;
#endif
}

// e^x (cos y + i sin y) 2^n for finite y. Where e^x overflows a part may not, so k ln 2 is taken off x first, with a
// k for which it is all but a floating-point number; that difference is exact.
COMPLEX vx_exp_scaled(REAL x, REAL y, int n) {
#ifdef DOUBLE
    if (x > 709.0lf && !vx_isinf(x)) {
        x = min(x, 1500.0lf) - 1246.9717778273416lf;
        n += 1799;
    }
#else
    if (x > 88.0 && !vx_isinf(x)) {
        x = min(x, 250.0) - 162.88959;
        n += 235;
    }
#endif
    REAL sine, cosine;
    vx_sine_and_cosine(y, sine, cosine);
    precise COMPLEX result = COMPLEX(cosine, sine) * VX_POWER_OF_TWO(n - (n >> 1));
    result = result * vx_exp(x) * VX_POWER_OF_TWO(n >> 1);
    return result;
}

COMPLEX vx_exp(COMPLEX z) {
    if (z.y == VX_ZERO) return COMPLEX(vx_exp(z.x), z.y);
    if (!vx_isfinite(z.y)) {
        if (!vx_isinf(z.x)) return COMPLEX(VX_NAN, VX_NAN);
        return z.x > VX_ZERO ? COMPLEX(z.x, VX_NAN) : COMPLEX(VX_ZERO, VX_ZERO);
    }
    return vx_exp_scaled(z.x, z.y, 0);
}

// e^z - 1 = (e^x - 1) cos y - (1 - cos y) + i e^x sin y, where that loses nothing; 1 - cos y = sin^2 y / (1 + cos y).
COMPLEX vx_expm1(COMPLEX z) {
    if (z.y == VX_ZERO) return COMPLEX(vx_expm1(z.x), z.y);
    precise COMPLEX result = vx_exp(z);
    if (vx_isfinite(z) && z.x < 3.0) {
        REAL sine, cosine;
        vx_sine_and_cosine(z.y, sine, cosine);
        if (cosine > 0.5) {
            result.x = vx_expm1(z.x) * cosine - vx_divide(sine * sine, VX_ONE + cosine);
            return result;
        }
    }
    result.x = result.x - VX_ONE;
    return result;
}

#endif
