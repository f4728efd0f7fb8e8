// Random numbers that are drawn again until one fits: of gamma, Poisson and binomial distributions.
// An attempt takes a block of words or two. What is drawn the last time is taken: all attempts before it fail in fewer than one
// of 10^20 draws.
#ifndef LIB_REJECTION
#define LIB_REJECTION

#include "lib/philox.glsl"
#include "lib/distributions.glsl"
#include "lib/count_densities.glsl"

const uint VX_ATTEMPTS = 64u;

// The words of a draw: its block, and the key of the stream. A draw that is made of others gives each of these a part.
struct Draw {
    uvec2 block;
    uint number;
    uvec2 key;
    uint part;
};

Draw vx_part(Draw draw, uint part) { return Draw(draw.block, draw.number, draw.key, part); }

uvec4 vx_words(Draw draw, uint attempt) {
    return vx_block(draw.block, draw.number, 2u * VX_ATTEMPTS * draw.part + attempt, draw.key);
}

#ifdef DOUBLE
#define WORD(words) (words).xy
#define OTHER_WORD(words) (words).zw
#else
#define WORD(words) (words).x
#define OTHER_WORD(words) (words).y
#endif

// G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000: a number of a shape of 1 or
// more is d v. That of a smaller shape is a number of shape + 1 times a power of a uniform one, `boost`.
T vx_draw_gamma_factor(T shape, Draw draw, out T d) {
    precise T less = shape - T(1) / T(3);
    d = less;
    precise T c = vx_divide(T(1), vx_sqrt(T(9) * d)), v = T(1);
    for (uint attempt = 0u; attempt < VX_ATTEMPTS; attempt += 2u) {
        precise T x = vx_normals(vx_words(draw, attempt))[0], y = T(1) + c * x;
        if (y <= T(0)) continue;
        v = y * y * y;
        precise T u = vx_positive_unit(WORD(vx_words(draw, attempt + 1u))), square = x * x;
        precise T bound = T(0.5) * square + d * (T(1) - v + vx_log(v)), squeeze = T(1) - T(0.0331lf) * square * square;
        if (u < squeeze || vx_log(u) < bound) break;
    }
    return v;
}

T vx_draw_gamma_boost(Draw draw) { return vx_positive_unit(OTHER_WORD(vx_words(draw, 1u))); }

T vx_draw_gamma(T alpha, Draw draw) {
    if (!(alpha > T(0))) return alpha == T(0) ? T(0) : VX_NAN;
    if (alpha == VX_INFINITY) return alpha;
    bool small = alpha < T(1);
    precise T shape = small ? alpha + T(1) : alpha;
    T d, v = vx_draw_gamma_factor(shape, draw, d);
    precise T scale = small ? vx_pow(vx_draw_gamma_boost(draw), vx_divide(T(1), alpha)) : T(1);
    precise T result = scale * d * v;
    return result;
}

// The logarithm, which is finite where the number itself is too small.
T vx_draw_log_gamma(T alpha, Draw draw) {
    if (!(alpha > T(0))) return alpha == T(0) ? -VX_INFINITY : VX_NAN;
    bool small = alpha < T(1);
    precise T shape = small ? alpha + T(1) : alpha;
    T d, v = vx_draw_gamma_factor(shape, draw, d);
    precise T logarithm = vx_log(d * v);
    if (small) logarithm += vx_divide(vx_log(vx_draw_gamma_boost(draw)), alpha);
    return logarithm;
}

// How many uniform numbers are multiplied before they are below exp(-mean): D. E. Knuth, "Seminumerical algorithms", 3.4.1.
T vx_draw_small_poisson(T mean, Draw draw) {
    precise T limit = vx_exp(-mean), product = T(1);
    for (uint drawn = 0u; drawn < VX_ATTEMPTS * SAMPLES_OF_BLOCK; ++drawn) {
        product *= vx_uniforms(vx_words(draw, drawn / SAMPLES_OF_BLOCK))[drawn % SAMPLES_OF_BLOCK];
        if (product <= limit) return T(drawn);
    }
    return mean;
}

// W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance 12, 1993 (PTRS), with the
// deviance in place of differences of large numbers.
T vx_draw_poisson(T mean, Draw draw) {
    if (!(mean >= T(0))) return VX_NAN;
    if (mean == T(0) || mean == VX_INFINITY) return mean;
    if (mean < T(10)) return vx_draw_small_poisson(mean, draw);
    precise T b = T(0.931lf) + T(2.53lf) * vx_sqrt(mean), a = T(-0.059lf) + T(0.02483lf) * b;
    precise T inverse = T(1.1239lf) + vx_divide(T(1.1328lf), b - T(3.4lf));
    precise T limit = T(0.9277lf) - vx_divide(T(3.6224lf), b - T(2));
    precise T k = vx_floor(mean);
    for (uint attempt = 0u; attempt < VX_ATTEMPTS; ++attempt) {
        uvec4 words = vx_words(draw, attempt);
        precise T u = vx_unit(WORD(words)) - T(0.5), v = vx_positive_unit(OTHER_WORD(words)), us = T(0.5) - vx_absolute(u);
        if (us <= T(0)) continue;
        k = vx_floor((vx_divide(T(2) * a, us) + b) * u + mean + T(0.43lf));
        if (us >= T(0.07lf) && v <= limit) break;
        if (k < T(0) || (us < T(0.013lf) && v > us)) continue;
        precise T height = vx_log(vx_divide(v * inverse, vx_divide(a, us * us) + b));
        if (height <= vx_poisson_density(k, mean)) break;
    }
    return vx_maximum(k, T(0));
}

// Trials until the count is used up, in steps of geometric lengths.
T vx_draw_small_binomial(T count, T p, Draw draw) {
    precise T scale = vx_log1p(-p), trials = T(0), mean = count * p;
    for (uint drawn = 0u; drawn < VX_ATTEMPTS * SAMPLES_OF_BLOCK; ++drawn) {
        SAMPLES units = vx_uniforms(vx_words(draw, drawn / SAMPLES_OF_BLOCK));
        trials += vx_ceil(vx_divide(vx_log(T(1) - units[drawn % SAMPLES_OF_BLOCK]), scale));
        if (trials > count) return T(drawn);
    }
    return mean;
}

// W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation 46, 1993 (BTRS).
T vx_draw_large_binomial(T count, T p, Draw draw) {
    precise T deviation = vx_sqrt(count * p * (T(1) - p)), b = T(1.15lf) + T(2.53lf) * deviation;
    precise T a = T(-0.0873lf) + T(0.0248lf) * b + T(0.01lf) * p, c = count * p + T(0.5);
    precise T limit = T(0.92lf) - vx_divide(T(4.2lf), b);
    precise T alpha = (T(2.83lf) + vx_divide(T(5.1lf), b)) * deviation, k = vx_floor((count + T(1)) * p), peak = T(0);
    bool at_peak = true;
    for (uint attempt = 0u; attempt < VX_ATTEMPTS; ++attempt) {
        precise T height = T(0);
        if (!at_peak) {
            uvec4 words = vx_words(draw, attempt - 1u);
            precise T u = vx_unit(WORD(words)) - T(0.5), v = vx_positive_unit(OTHER_WORD(words)), us = T(0.5) - vx_absolute(u);
            if (us <= T(0)) continue;
            k = vx_floor((vx_divide(T(2) * a, us) + b) * u + c);
            if (us >= T(0.07lf) && v <= limit) break;
            if (k < T(0) || k > count) continue;
            height = vx_log(vx_divide(v * alpha, vx_divide(a, us * us) + b));
        }
        precise T density = vx_binomial_density(count, p, k), above = density - peak;
        if (at_peak) peak = density;
        else if (height <= above) break;
        at_peak = false;
    }
    return clamp(k, T(0), count);
}

T vx_draw_binomial(T count, T p, Draw draw) {
    if (count != count || p != p) return VX_NAN;
    if (count <= T(0) || p <= T(0)) return T(0);
    if (p >= T(1)) return count;
    bool turned = p > T(0.5);
    precise T rarer = turned ? T(1) - p : p, mean = count * rarer;
    T drawn = mean >= T(10) ? vx_draw_large_binomial(count, rarer, draw) : vx_draw_small_binomial(count, rarer, draw);
    precise T result = turned ? count - drawn : drawn;
    return result;
}

#endif
