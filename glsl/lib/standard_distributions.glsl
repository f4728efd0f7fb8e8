// Further distributions by inversion, a number from each word. Those on both sides of 0 take the sign from a bit of its own, so
// that both tails are as long.
#ifndef LIB_STANDARD_DISTRIBUTIONS
#define LIB_STANDARD_DISTRIBUTIONS

#include "lib/distributions.glsl"
#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#define SAMPLE_WORD uvec2
#define BELOW_ONE 0.99999999999999988898lf
#else
#include "lib/float32/arithmetic.glsl"
#define SAMPLE_WORD uint
#define BELOW_ONE 0.99999994
#endif

T vx_laplace(SAMPLE_WORD word) {
    bool negative;
    T size = vx_negative_logarithm(vx_signed_unit(word, negative));
    return negative ? vx_negative(size) : size;
}

// The quantile of a tail u / 2: log((2 - u) / u).
T vx_logistic(SAMPLE_WORD word) {
    bool negative;
    precise T u = vx_signed_unit(word, negative), rest = T(2) - u;
    T size = vx_log(vx_divide(rest, u));
    return negative ? vx_negative(size) : size;
}

// -log(-log(1 - u)).
T vx_gumbel(SAMPLE_WORD word) {
    T u = vx_minimum(vx_positive_unit(word), T(BELOW_ONE));
    return vx_negative_logarithm(vx_negative(vx_log1p(vx_negative(u))));
}

// The quantile of a tail u / 2: 1 / tan(pi u / 2).
T vx_cauchy(SAMPLE_WORD word) {
    bool negative;
    precise T angle = T(1.57079632679489661923lf) * vx_signed_unit(word, negative);
    T size = vx_divide(vx_cos(angle), vx_sin(angle));
    return negative ? vx_negative(size) : size;
}

T vx_rayleigh(SAMPLE_WORD word) {
    precise T square = T(2) * vx_negative_logarithm(vx_positive_unit(word));
    return vx_sqrt(square);
}

SAMPLES vx_laplaces(uvec4 words) { return EACH_SAMPLE(vx_laplace, words); }
SAMPLES vx_logistics(uvec4 words) { return EACH_SAMPLE(vx_logistic, words); }
SAMPLES vx_gumbels(uvec4 words) { return EACH_SAMPLE(vx_gumbel, words); }
SAMPLES vx_cauchies(uvec4 words) { return EACH_SAMPLE(vx_cauchy, words); }
SAMPLES vx_rayleighs(uvec4 words) { return EACH_SAMPLE(vx_rayleigh, words); }

#endif
