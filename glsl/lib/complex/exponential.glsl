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
    uint turns;
    vec2 angle = vx_reduce_angle(y, turns);
    vec2 sine_pair = vx_sin_reduced(angle);
    vec2 cosine_pair = vx_cos_reduced(angle);
    bool odd = (turns & 1u) != 0u;
    precise float first = odd ? cosine_pair.x + cosine_pair.y : sine_pair.x + sine_pair.y;
    precise float second = odd ? sine_pair.x + sine_pair.y : cosine_pair.x + cosine_pair.y;
    // A subnormal angle keeps its sign also where sums turn it into a zero.
    sine = vx_magnitude_bits(y) < 0x38800000u ? y : (turns & 2u) != 0u ? -first : first;
    cosine = (turns + 1u & 2u) != 0u ? -second : second;
#endif
}

// e^x (cos y + i sin y) 2^n for finite y and |n| < 240 (complex128: 2000) of the other sign than x, or small. Where e^x
// overflows or underflows the result may not, so +-k ln 2 is taken off x first, with a k for which k ln 2 is all but a
// floating-point number; that difference is exact.
COMPLEX vx_exp_scaled(REAL x, REAL y, int n) {
#ifdef DOUBLE
    bool extreme = vx_absolute(x) > 708.0lf && !vx_isinf(x);
    const int k = 1799;
    const double k_ln2 = 1246.9717778273416lf;
    const double limit = 1490.0lf;
#else
    bool extreme = vx_absolute(x) > 87.0 && !vx_isinf(x);
    const int k = 235;
    const float k_ln2 = 162.88959;
    const float limit = 240.0;
#endif
    if (extreme) {
        n += vx_signbit(x) ? -k : k;
        precise REAL rest = (vx_absolute(x) < limit ? vx_absolute(x) : limit) - k_ln2;
        x = vx_signbit(x) ? -rest : rest;
    }
    REAL sine, cosine;
    vx_sine_and_cosine(y, sine, cosine);
    precise COMPLEX result = COMPLEX(cosine, sine) * vx_two_to_the(n - (n >> 1));
    result = result * vx_exp(x) * vx_two_to_the(n >> 1);
    return result;
}

COMPLEX vx_exp(COMPLEX z) {
    if (vx_is_zero(z.y)) return COMPLEX(vx_exp(z.x), z.y);
    if (!vx_isfinite(z.y)) {
        if (!vx_isinf(z.x)) return COMPLEX(VX_NAN, VX_NAN);
        return z.x > VX_ZERO ? COMPLEX(z.x, VX_NAN) : COMPLEX(VX_ZERO, VX_ZERO);
    }
    return vx_exp_scaled(z.x, z.y, 0);
}

// e^z - 1 = (e^x - 1) cos y - (1 - cos y) + i e^x sin y, where that loses nothing; 1 - cos y = sin^2 y / (1 + cos y).
COMPLEX vx_expm1(COMPLEX z) {
    // The standard's table gives a zero of either sign the real part +0.
    if (vx_is_zero(z.y)) return COMPLEX(vx_is_zero(z.x) ? VX_ZERO : vx_expm1(z.x), z.y);
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
