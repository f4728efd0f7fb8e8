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
bool vx_is_negative_infinity(double x) { return unpackDouble2x32(x) == uvec2(0u, 0xFFF00000u); }
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/power.glsl"
#define VX_PAIR vec2
#define VX_NEGATIVE_INFINITY uintBitsToFloat(0xFF800000u)
bool vx_is_negative_infinity(float x) { return floatBitsToUint(x) == 0xFF800000u; }
#endif

// A score with its mask: without one, b is 0 or false, and the mask is not PRESENT.
#define VX_MASKED(score, b) ((PRESENT & 1u) == 0u ? (score) : vx_masked(score, b))
T vx_masked(T score, T b) { return score + b; }
T vx_masked(T score, bool b) { return b ? score : VX_NEGATIVE_INFINITY; }

T vx_reciprocal_root(T x) { return vx_divide(T(1), vx_sqrt(x)); }

// From sums of deviations from `center` and of their squares: the mean, and the reciprocal of the standard deviation with
// `epsilon` added to the variance. What the center is off the mean, the sum of the deviations makes good.
VX_PAIR vx_normalizer(T center, VX_PAIR sums, T count, T epsilon) {
    precise T shift = vx_divide(sums.x, count);
    precise T squares = sums.y - sums.x * shift;
    precise T variance = vx_divide(squares < T(0) ? T(0) : squares, count) + epsilon;
    precise T mean = center + shift;
    return VX_PAIR(mean, vx_reciprocal_root(variance));
}

#endif
