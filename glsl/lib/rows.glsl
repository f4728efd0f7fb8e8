// What layers over rows need beyond arithmetic, for the real type that they compute in.
#ifndef LIB_ROWS
#define LIB_ROWS

#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/exponential.glsl"
#include "lib/float64/logarithmic.glsl"
#include "lib/float64/power.glsl"
#define VX_PAIR dvec2
#define VX_NEGATIVE_INFINITY packDouble2x32(uvec2(0u, 0xFFF00000u))
#define vx_exp_below vx_exp
bool vx_is_negative_infinity(double x) { return unpackDouble2x32(x) == uvec2(0u, 0xFFF00000u); }
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/power.glsl"
#define VX_PAIR vec2
#define VX_NEGATIVE_INFINITY uintBitsToFloat(0xFF800000u)
bool vx_is_negative_infinity(float x) { return floatBitsToUint(x) == 0xFF800000u; }

// exp(x) for x below 1, as differences from the largest are: 1.5 ULP, and 0 where the result is no normal number. Drivers may
// fuse the products and sums of the polynomial.
float vx_exp_below(float x) {
    precise float shifted = x * 1.44269502 + 12582912.0;
    precise float n = shifted - 12582912.0;
    precise float high = x - n * 0.693145752;
    precise float r = high - n * 1.42860677e-6;
    float q = 0.00139333971 + r * 0.000199611692;
    q = 0.00833318941 + r * q;
    q = 0.0416664816 + r * q;
    q = 0.166666672 + r * q;
    q = 0.5 + r * q;
    float y = 1.0 + (r + r * r * q);
    float scale = uintBitsToFloat((floatBitsToUint(shifted) << 23) + 0x3F800000u);
    return x < -87.0 ? 0.0 : y * scale;
}

#ifdef HARDWARE_HALF
// float16 as the device converts it.
#define VX_UNPACK_HALF(w, k) float(unpackFloat2x16(w)[k])
#define VX_HALF_BITS(v) packFloat2x16(f16vec2(float16_t(v), float16_t(0)))
#endif
#endif

// A score with its mask: without one, b is 0 or false, and the mask is not PRESENT.
#define VX_MASKED(score, b) ((PRESENT & 1u) == 0u ? (score) : vx_masked(score, b))
T vx_masked(T score, T b) { return score + b; }
T vx_masked(T score, bool b) { return b ? score : VX_NEGATIVE_INFINITY; }

T vx_reciprocal_root(T x) { return vx_divide(T(1), vx_sqrt(x)); }

// 1 / x and 1 / sqrt(x) as the device has them, and a step of Newton's: an ULP or two, for the many invocations of a row each
// of which needs it.
T vx_fast_reciprocal(T x) {
    T first = T(1) / x;
    precise T refined = first * (T(2) - x * first);
    return vx_is_infinite(first) || vx_is_infinite(x) ? first : refined;
}

T vx_fast_reciprocal_root(T x) {
    T first = inversesqrt(x);
    precise T refined = first * (T(1.5) - T(0.5) * x * first * first);
    return vx_is_infinite(first) || vx_is_infinite(x) ? first : refined;
}

// From sums of deviations from `center` and of their squares: the mean, and the reciprocal of the standard deviation with
// `epsilon` added to the variance. What the center is off the mean, the sum of the deviations makes good.
VX_PAIR vx_normalizer(T center, VX_PAIR sums, T inverse_count, T epsilon) {
    precise T shift = sums.x * inverse_count;
    precise T squares = sums.y - sums.x * shift;
    precise T variance = (squares < T(0) ? T(0) : squares) * inverse_count + epsilon;
    precise T mean = center + shift;
    return VX_PAIR(mean, vx_fast_reciprocal_root(variance));
}

#endif
