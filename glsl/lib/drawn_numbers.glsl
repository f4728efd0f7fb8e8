// Random numbers of continuous distributions with parameters, each from the words of its own draw.
#ifndef LIB_DRAWN_NUMBERS
#define LIB_DRAWN_NUMBERS

#include "lib/rejection.glsl"
#ifdef DOUBLE
#include "lib/float64/inverse_trigonometric.glsl"
#define SIGN_BIT(words) ((words).y & 1u)
#else
#include "lib/float32/inverse_trigonometric.glsl"
#define SIGN_BIT(words) ((words).z & 1u)
#endif

// -- by inversion -------------------------------------------------------------------------------------------------

T vx_draw_exponential(Draw draw) { return vx_negative_logarithm(vx_positive_unit(WORD(vx_words(draw, 0u)))); }

T vx_draw_weibull(T a, Draw draw) {
    return a == T(0) ? T(0) : vx_pow(vx_draw_exponential(draw), vx_divide(T(1), a));
}

T vx_draw_pareto(T a, Draw draw) { return vx_expm1(vx_divide(vx_draw_exponential(draw), a)); }

T vx_draw_power(T a, Draw draw) { return vx_exp(-vx_divide(vx_draw_exponential(draw), a)); }

T vx_draw_triangular(T left, T mode, T right, Draw draw) {
    precise T base = right - left, below = mode - left, above = right - mode, u = vx_unit(WORD(vx_words(draw, 0u)));
    precise T place = u * base;
    if (place <= below) {
        precise T result = left + vx_sqrt(u * below * base);
        return vx_minimum(result, mode);
    }
    precise T result = right - vx_sqrt((T(1) - u) * above * base);
    return vx_maximum(result, mode);
}

// -- from numbers of gamma distributions --------------------------------------------------------------------------

T vx_draw_beta(T a, T b, Draw draw) {
    Draw other = vx_part(draw, 1u);
    if (a >= T(1) && b >= T(1)) {
        precise T first = vx_draw_gamma(a, draw), sum = first + vx_draw_gamma(b, other);
        return vx_divide(first, sum);
    }
    precise T below = T(1) + vx_exp(vx_draw_log_gamma(b, other) - vx_draw_log_gamma(a, draw));
    return vx_divide(T(1), below);
}

T vx_draw_chi_square(T degrees, Draw draw) {
    precise T result = T(2) * vx_draw_gamma(T(0.5) * degrees, draw);
    return result;
}

T vx_draw_f(T above, T below, Draw draw) {
    precise T first = vx_divide(vx_draw_chi_square(above, draw), above);
    return vx_divide(first, vx_divide(vx_draw_chi_square(below, vx_part(draw, 1u)), below));
}

T vx_draw_t(T degrees, Draw draw) {
    T normal = vx_normals(vx_words(vx_part(draw, 1u), 0u))[0];
    return vx_divide(normal, vx_sqrt(vx_divide(vx_draw_chi_square(degrees, draw), degrees)));
}

// A shifted square more than a central number of one degree less, or a central one with a Poisson number of pairs of degrees
// more: N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous univariate distributions", volume 2, chapter 29.
T vx_draw_noncentral_chi_square(T degrees, T noncentrality, Draw draw) {
    Draw other = vx_part(draw, 1u);
    if (degrees > T(1)) {
        precise T shifted = vx_normals(vx_words(other, 0u))[0] + vx_sqrt(noncentrality);
        precise T result = vx_draw_chi_square(degrees - T(1), draw) + shifted * shifted;
        return result;
    }
    precise T more = degrees + T(2) * vx_draw_poisson(T(0.5) * noncentrality, other);
    return vx_draw_chi_square(more, draw);
}

T vx_draw_noncentral_f(T above, T below, T noncentrality, Draw draw) {
    precise T first = vx_divide(vx_draw_noncentral_chi_square(above, noncentrality, draw), above);
    return vx_divide(first, vx_divide(vx_draw_chi_square(below, vx_part(draw, 2u)), below));
}

// -- others -------------------------------------------------------------------------------------------------------

// An angle in [-pi, pi]. D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises distribution", Applied Statistics 28,
// 1979: a wrapped Cauchy number, accepted by comparison, here by the distance `t` of their s from 1, which cancels nothing.
T vx_draw_vonmises_angle(T kappa, Draw draw) {
    if (!(kappa >= T(0))) return VX_NAN;
    if (kappa == VX_INFINITY) return T(0);
    precise T angle = T(0);
    uvec4 words;
    bool even = kappa < T(1.0e-8lf);
    precise T root = vx_sqrt(T(1) + T(4) * kappa * kappa);
    precise T t = even ? T(0) : vx_divide(T(1) + vx_divide(T(1), root + T(2) * kappa), T(2) * kappa);
    for (uint attempt = 0u; attempt < VX_ATTEMPTS; ++attempt) {
        words = vx_words(draw, attempt);
        precise T half_angle = T(0.5) * VX_PI * vx_positive_unit(WORD(words)), sine = vx_sin(half_angle);
        precise T u = vx_positive_unit(OTHER_WORD(words));
        angle = T(2) * half_angle;
        if (even) break;
        precise T versine = T(2) * sine * sine;
        precise T y = kappa * (t + vx_divide(t * versine, t + T(2) - versine));
        angle = T(2) * vx_atan2(vx_sqrt(t) * sine, vx_sqrt(t + T(2)) * vx_cos(half_angle));
        precise T squeeze = y * (T(2) - y), bound = vx_log(vx_divide(y, u)) + T(1);
        if (squeeze >= u || bound >= y) break;
    }
    angle = vx_minimum(angle, VX_PI);
    return SIGN_BIT(words) != 0u ? -angle : angle;
}

// mu plus an angle, brought back into [-pi, pi].
T vx_draw_vonmises(T mu, T kappa, Draw draw) {
    precise T sum = mu + vx_draw_vonmises_angle(kappa, draw);
    if (vx_absolute(sum) <= VX_PI) return sum;
    precise T turns = vx_floor(vx_divide(sum + VX_PI, T(2) * VX_PI)), result = sum - turns * (T(2) * VX_PI);
    return vx_is_nan(result) ? result : clamp(result, -VX_PI, VX_PI);
}

// J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates using transformations with multiple roots", The
// American Statistician 30, 1976: the roots are the mean over and times `ratio`.
T vx_draw_wald(T mean, T scale, Draw draw) {
    precise T normal = vx_normals(vx_words(draw, 0u))[0], w = vx_divide(mean, scale) * normal * normal;
    precise T ratio = T(1) + T(0.5) * w + vx_sqrt(w * (T(1) + T(0.25) * w));
    precise T place = vx_unit(WORD(vx_words(draw, 1u))) * (T(1) + ratio), larger = mean * ratio;
    return place <= ratio ? vx_divide(mean, ratio) : larger;
}

#endif
