// Random whole numbers with parameters, each from the words of its own draw.
#ifndef LIB_DRAWN_COUNTS
#define LIB_DRAWN_COUNTS

#include "lib/rejection.glsl"

#ifdef DOUBLE
#define LARGEST_COUNT 9223372036854774784.0lf
#else
#define LARGEST_COUNT 9223371487098961920.0
#endif

// Trials up to the first success, by inversion.
T vx_draw_geometric(T p, Draw draw) {
    if (!(p > T(0)) || p > T(1)) return VX_NAN;
    if (p == T(1)) return T(1);
    T logarithm = vx_log(vx_positive_unit(WORD(vx_words(draw, 0u))));
    return clamp(vx_ceil(vx_divide(logarithm, vx_log1p(-p))), T(1), T(LARGEST_COUNT));
}

// Failures before n successes: Poisson numbers whose means are of a gamma distribution.
T vx_draw_negative_binomial(T n, T p, Draw draw) {
    precise T odds = vx_divide(T(1) - p, p), mean = vx_draw_gamma(n, draw) * odds;
    return vx_minimum(vx_draw_poisson(mean, vx_part(draw, 1u)), T(LARGEST_COUNT));
}

// A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", Applied Statistics 30, 1981 (LK).
T vx_draw_logseries(T p, Draw draw) {
    if (!(p >= T(0)) || p >= T(1)) return VX_NAN;
    if (p == T(0)) return T(1);
    uvec4 words = vx_words(draw, 0u);
    precise T v = vx_positive_unit(WORD(words)), u = vx_positive_unit(OTHER_WORD(words));
    if (v >= p) return T(1);
    precise T exponent = vx_log1p(-p) * u, q = -vx_expm1(exponent), square = q * q;
    if (v >= q) return T(1);
    if (v > square) return T(2);
    precise T k = vx_floor(T(1) + vx_divide(vx_log(v), vx_log1p(-vx_exp(exponent))));
    return clamp(k, T(1), T(LARGEST_COUNT));
}

// L. Devroye, "Non-uniform random variate generation", 1986, X.6.1, below the largest count.
T vx_draw_zipf(T a, Draw draw) {
    if (!(a > T(1))) return VX_NAN;
    precise T less = a - T(1), excess = vx_expm1(less * T(0.69314718055994530942lf));
    if (excess == VX_INFINITY) return T(1);
    precise T b = excess + T(1), least = vx_pow(T(LARGEST_COUNT), -less), x = T(1);
    for (uint attempt = 0u; attempt < VX_ATTEMPTS; ++attempt) {
        uvec4 words = vx_words(draw, attempt);
        precise T unit = vx_positive_unit(WORD(words)), u = unit + (T(1) - unit) * least;
        precise T v = vx_positive_unit(OTHER_WORD(words));
        x = clamp(vx_floor(vx_pow(u, vx_divide(T(-1), less))), T(1), T(LARGEST_COUNT));
        precise T step = vx_expm1(less * vx_log1p(vx_divide(T(1), x)));
        precise T height = vx_divide(v * x * step, excess), bound = vx_divide(T(1) + step, b);
        if (height <= bound) break;
    }
    return x;
}

// -- without replacement ------------------------------------------------------------------------------------------

// One after another.
T vx_draw_small_hypergeometric(T good, T all, T taken, Draw draw) {
    precise T found = T(0);
    for (uint drawn = 0u; T(drawn) < taken; ++drawn) {
        SAMPLES units = vx_uniforms(vx_words(draw, drawn / SAMPLES_OF_BLOCK));
        precise T place = units[drawn % SAMPLES_OF_BLOCK] * (all - T(drawn)), left = good - found;
        if (place < left) found += T(1);
    }
    return found;
}

// E. Stadlober, "The ratio of uniforms approach for generating discrete random variates", Journal of Computational and Applied
// Mathematics 31, 1990 (HRUA).
T vx_draw_large_hypergeometric(T good, T bad, T taken, Draw draw) {
    precise T all = good + bad, p = vx_divide(good, all), a = taken * p + T(0.5);
    precise T variance = vx_divide((all - taken) * taken * p * (T(1) - p), all - T(1));
    precise T c = vx_sqrt(variance + T(0.5)), h = T(1.7155277699214135lf) * c + T(0.8989161620588988lf);
    precise T limit = vx_minimum(vx_minimum(taken, good) + T(1), vx_floor(a + T(16) * c));
    precise T k = vx_floor(vx_divide((taken + T(1)) * (good + T(1)), all + T(2))), peak = T(0);
    bool at_peak = true;
    for (uint attempt = 0u; attempt < VX_ATTEMPTS; ++attempt) {
        precise T u = T(1);
        if (!at_peak) {
            uvec4 words = vx_words(draw, attempt - 1u);
            u = vx_positive_unit(WORD(words));
            precise T x = a + vx_divide(h * (vx_unit(OTHER_WORD(words)) - T(0.5)), u);
            if (!(x >= T(0) && x < limit)) continue;
            k = vx_floor(x);
        }
        precise T density = vx_hypergeometric_density(good, bad, taken, k), height = density - peak;
        if (at_peak) {
            peak = density;
            at_peak = false;
            continue;
        }
        precise T squeeze = u * (T(4) - u) - T(3), far = u * (u - height), bound = T(2) * vx_log(u);
        if (squeeze <= height || (far < T(1) && bound <= height)) break;
    }
    return k;
}

// Good ones in a sample: of the rarer kind in the smaller of the sample and what is left, and back.
T vx_draw_hypergeometric(T good, T bad, T taken, Draw draw) {
    precise T all = good + bad, rest = all - taken, smaller = vx_minimum(taken, rest), rarer = vx_minimum(good, bad);
    if (!(good >= T(0) && bad >= T(0) && taken >= T(0) && rest >= T(0))) return VX_NAN;
    precise T k = T(0);
    if (rarer > T(0) && smaller > T(0)) {
        k = smaller < T(10) ? vx_draw_small_hypergeometric(rarer, all, smaller, draw)
                            : vx_draw_large_hypergeometric(rarer, vx_maximum(good, bad), smaller, draw);
    }
    if (good > bad) k = smaller - k;
    if (rest < taken) k = good - k;
    return k;
}

#endif
