// What statistical reductions need beyond arithmetic, for the real type that the sums are in.
#ifndef LIB_STATISTICS
#define LIB_STATISTICS

#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/power.glsl"
#define VX_REAL double
#define VX_PAIR dvec2
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/power.glsl"
#define VX_REAL float
#define VX_PAIR vec2
#endif

VX_REAL vx_mean(VX_REAL sum, VX_REAL count) { return vx_divide(sum, count); }

VX_PAIR vx_mean(VX_PAIR sum, VX_REAL count) { return VX_PAIR(vx_divide(sum.x, count), vx_divide(sum.y, count)); }

// The deviation from an approximate mean, and its square.
VX_PAIR vx_deviation(VX_REAL x, VX_REAL center) {
    precise VX_REAL deviation = x - center;
    precise VX_REAL square = deviation * deviation;
    return VX_PAIR(deviation, square);
}

// The corrected two-pass variance (Chan, Golub and LeVeque, The American Statistician 37, 1983): the sum of the deviations
// makes good what rounding the mean has done. `divisor` is the count less the correction.
VX_REAL vx_variance(VX_PAIR sums, VX_REAL count, VX_REAL divisor) {
    precise VX_REAL remainder = sums.y - vx_divide(vx_square(sums.x), count);
    if (remainder < VX_REAL(0)) remainder = VX_REAL(0);
    return vx_divide(remainder, divisor);
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

#endif
