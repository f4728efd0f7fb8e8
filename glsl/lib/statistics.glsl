// What statistical reductions need beyond arithmetic, for the real type that the sums are in.
#ifndef LIB_STATISTICS
#define LIB_STATISTICS

#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/power.glsl"
#define VX_REAL double
#define VX_PAIR dvec2
#define VX_MOMENTS dvec4
#define VX_REAL_NAN VX_NAN_DOUBLE
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/power.glsl"
#define VX_REAL float
#define VX_PAIR vec2
#define VX_MOMENTS vec4
#define VX_REAL_NAN VX_FLOAT32_NAN
bool vx_is_finite(float x) { return vx_magnitude_bits(x) < 0x7F800000u; }
#endif

// 0 + a sum: -0.0 becomes 0.0. By bits: Mesa's compiler for CPUs takes x + 0 for x.
#ifdef DOUBLE
double vx_from_zero(double sum) { return unpackDouble2x32(sum) == uvec2(0u, 0x80000000u) ? 0.0LF : sum; }
#else
float vx_from_zero(float sum) { return floatBitsToUint(sum) == 0x80000000u ? 0.0 : sum; }
#endif

VX_PAIR vx_from_zero(VX_PAIR sum) { return VX_PAIR(vx_from_zero(sum.x), vx_from_zero(sum.y)); }

VX_REAL vx_mean(VX_REAL sum, VX_REAL count) { return vx_divide(sum, count); }

VX_PAIR vx_mean(VX_PAIR sum, VX_REAL count) { return VX_PAIR(vx_divide(sum.x, count), vx_divide(sum.y, count)); }

// The variance in one pass, by the corrected two-pass algorithm (Chan, Golub and LeVeque, The American Statistician 37, 1983)
// on parts of a few dozen elements: the deviations from a center near the mean of the part, and their squares, are summed up;
// that the center is not the mean, the sum of the deviations makes good.

// The deviation from the center, and its square: NaN for an infinite element, so that an infinite sum of squares is always
// an overflow. `mix` selects: branches for all elements of an unrolled loop took SwiftShader's compiler gigabytes.
VX_PAIR vx_deviation(VX_REAL x, VX_REAL center) {
    precise VX_REAL deviation = x - center;
    precise VX_REAL square = deviation * deviation;
    return VX_PAIR(deviation, mix(square, VX_REAL_NAN, vx_is_infinite(x)));
}

// A center of a part: `first` is an element, `sum` that of the differences between `count` elements and it. The reciprocal
// is rounded the same way everywhere and need not be accurate.
VX_REAL vx_center(VX_REAL first, VX_REAL sum, uint count) {
    precise VX_REAL center = first + sum * (VX_REAL(65536u / count) * VX_REAL(1.0 / 65536.0));
    return mix(VX_REAL(0), center, vx_is_finite(center));
}

// The sum of squares round a center that is less by `step`; `step_sum` is count times that. An overflow stays one.
VX_REAL vx_moved(VX_MOMENTS a, VX_REAL step, VX_REAL step_sum) {
    precise VX_REAL squares = a.z + step * (VX_REAL(2) * a.y + step_sum);
    return mix(squares, a.z, vx_is_infinite(a.z));
}

// (center, sum of deviations, sum of squares, count) of two parts, the first of which is no shorter. The common center is the
// mean of theirs where they are of one length, else that of the first, which is close enough to the mean: the squares sum up to
// a small multiple of those of the deviations from the mean, so that nothing cancels in the end.
VX_MOMENTS vx_join(VX_MOMENTS a, VX_MOMENTS b) {
    precise VX_REAL center = a.w == b.w ? VX_REAL(0.5) * a.x + VX_REAL(0.5) * b.x : a.x;
    precise VX_REAL left = a.x - center;
    precise VX_REAL right = b.x - center;
    precise VX_REAL left_sum = a.w * left;
    precise VX_REAL right_sum = b.w * right;
    precise VX_REAL deviations = (a.y + left_sum) + (b.y + right_sum);
    precise VX_REAL squares = vx_moved(a, left, left_sum) + vx_moved(b, right, right_sum);
    precise VX_REAL count = a.w + b.w;
    return VX_MOMENTS(center, deviations, squares, count);
}

// Whether a comes before b in the search for the largest, or smallest, element: NaN comes first.
#ifdef DOUBLE
bool vx_is_larger(double a, double b) { return !vx_is_nan(b) && (vx_is_nan(a) || a > b); }
bool vx_is_smaller(double a, double b) { return !vx_is_nan(b) && (vx_is_nan(a) || a < b); }
#else
bool vx_is_larger(float a, float b) { return !vx_is_nan(b) && (vx_is_nan(a) || vx_ordered_bits(a) > vx_ordered_bits(b)); }
bool vx_is_smaller(float a, float b) { return !vx_is_nan(b) && (vx_is_nan(a) || vx_ordered_bits(a) < vx_ordered_bits(b)); }
#endif

// Whether a comes before b in ascending order: NaN comes last.
bool vx_precedes(VX_REAL a, VX_REAL b) { return !vx_is_nan(a) && (vx_is_nan(b) || vx_is_smaller(a, b)); }

// `divisor` is the count less the correction. Where the squares overflow, the sum of deviations may be anything.
VX_REAL vx_variance(VX_MOMENTS a, VX_REAL count, VX_REAL divisor) {
    precise VX_REAL remainder = a.z - a.y * vx_divide(a.y, count);
    // Mesa takes 0 - 0 for -0 where it knows that the first 0 is of an unsigned integer: no variance is negative.
    if (remainder == VX_REAL(0) || vx_precedes(remainder, VX_REAL(0))) remainder = VX_REAL(0);
    if (vx_is_infinite(a.z)) remainder = a.z;
    return vx_divide(remainder, divisor);
}

// (mean, variance).
VX_PAIR vx_mean_and_variance(VX_MOMENTS a, VX_REAL count, VX_REAL divisor) {
    precise VX_REAL mean = a.x + vx_divide(a.y, count);
    return VX_PAIR(mean, vx_variance(a, count, divisor));
}

#endif
