#ifndef LIB_COMPLEX_HYPERBOLIC
#define LIB_COMPLEX_HYPERBOLIC

#include "lib/complex/exponential.glsl"
#ifdef DOUBLE
#include "lib/float64/hyperbolic.glsl"
// Beyond this e^-x is nothing beside e^x.
#define VX_ONE_SIDED 22.0lf
#else
#include "lib/float32/hyperbolic.glsl"
#define VX_ONE_SIDED 11.0
#endif

// For |x| <= VX_ONE_SIDED.
void vx_sinh_and_cosh(REAL x, out REAL sine, out REAL cosine) {
#ifdef DOUBLE
    dvec2 growing, decaying;
    int k;
    vx_two_exponentials(vx_absolute(x), growing, decaying, k);
    sine = vx_is_small(x) ? x : vx_copysign(vx_scale(vx_pair_add(growing, -decaying).x, k - 1), x);
    cosine = vx_scale(vx_pair_add(growing, decaying).x, k - 1);
#else
    sine = vx_sinh(x);
    cosine = vx_cosh(x);
#endif
}

// The results of C99 Annex G for a z whose imaginary part is an infinity or NaN, sinh and cosh alike.
COMPLEX vx_hyperbolic_without_angle(REAL x) {
    return COMPLEX(vx_isinf(x) ? x : VX_NAN, VX_NAN);
}

// sinh x cos y + i cosh x sin y
COMPLEX vx_sinh(COMPLEX z) {
    if (vx_is_zero(z.y)) return COMPLEX(vx_sinh(z.x), z.y);
    if (!vx_isfinite(z.y)) return vx_is_zero(z.x) ? COMPLEX(z.x, VX_NAN) : vx_hyperbolic_without_angle(z.x);
    REAL size = vx_absolute(z.x);
    if (size > VX_ONE_SIDED) {
        COMPLEX result = vx_exp_scaled(size, z.y, -1);
        return z.x < VX_ZERO ? COMPLEX(-result.x, result.y) : result;
    }
    REAL sine, cosine, hyperbolic_sine, hyperbolic_cosine;
    vx_sine_and_cosine(z.y, sine, cosine);
    vx_sinh_and_cosh(z.x, hyperbolic_sine, hyperbolic_cosine);
    precise COMPLEX result = COMPLEX(hyperbolic_sine * cosine, hyperbolic_cosine * sine);
    return result;
}

// cosh x cos y + i sinh x sin y
COMPLEX vx_cosh(COMPLEX z) {
    if (vx_is_zero(z.y) || vx_is_zero(z.x) && !vx_isfinite(z.y)) {
        REAL zero = vx_signbit(z.x) != vx_signbit(z.y) ? -VX_ZERO : VX_ZERO;
        return COMPLEX(vx_is_zero(z.y) ? vx_cosh(z.x) : VX_NAN, zero);
    }
    if (!vx_isfinite(z.y)) return vx_hyperbolic_without_angle(vx_absolute(z.x));
    REAL size = vx_absolute(z.x);
    if (size > VX_ONE_SIDED) {
        COMPLEX result = vx_exp_scaled(size, z.y, -1);
        return z.x < VX_ZERO ? COMPLEX(result.x, -result.y) : result;
    }
    REAL sine, cosine, hyperbolic_sine, hyperbolic_cosine;
    vx_sine_and_cosine(z.y, sine, cosine);
    vx_sinh_and_cosh(z.x, hyperbolic_sine, hyperbolic_cosine);
    precise COMPLEX result = COMPLEX(hyperbolic_cosine * cosine, hyperbolic_sine * sine);
    return result;
}

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y): no term cancels; +-1 far from the imaginary axis.
COMPLEX vx_tanh(COMPLEX z) {
    if (vx_is_zero(z.y)) return COMPLEX(vx_tanh(z.x), z.y);
    if (vx_isinf(z.x)) return COMPLEX(vx_copysign(VX_ONE, z.x), vx_copysign(VX_ZERO, z.y));
    if (!vx_isfinite(z.y)) return COMPLEX(vx_is_zero(z.x) ? z.x : VX_NAN, VX_NAN);
    REAL sine, cosine, hyperbolic_sine, hyperbolic_cosine;
    vx_sine_and_cosine(z.y, sine, cosine);
    REAL size = vx_absolute(z.x);
    if (size > VX_ONE_SIDED) {
        precise REAL rest = 4.0 * sine * cosine * vx_exp(-2.0 * size);
        return COMPLEX(vx_copysign(VX_ONE, z.x), rest);
    }
    vx_sinh_and_cosh(z.x, hyperbolic_sine, hyperbolic_cosine);
    PAIR norm = vx_pair_sum(vx_two_product(hyperbolic_sine, hyperbolic_sine), vx_two_product(cosine, cosine));
    PAIR real_part = vx_pair_divide(vx_two_product(hyperbolic_sine, hyperbolic_cosine), norm);
    PAIR imaginary_part = vx_pair_divide(vx_two_product(sine, cosine), norm);
    // Sums in pairs may lose the sign of a part that vanishes.
    precise REAL sign = sine * cosine;
    return COMPLEX(vx_copysign(real_part.x, z.x), vx_copysign(imaginary_part.x, sign));
}

#endif
