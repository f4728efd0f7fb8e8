// Whether two numbers are equal or differ by at most a limit, for real and complex T.
#ifndef LIB_CLOSENESS
#define LIB_CLOSENESS

#ifdef COMPLEX
#include "lib/complex/arithmetic.glsl"
#endif
#ifdef DOUBLE
#include "lib/float64/classification.glsl"
#include "lib/float64/arithmetic.glsl"
#define TOLERANCE dvec2
#define VX_EQUAL(a, b) ((a) == (b))
#define VX_LESS_EQUAL(a, b) ((a) <= (b))
#else
#include "lib/float32/classification.glsl"
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/comparison.glsl"
#define TOLERANCE vec2
#define VX_EQUAL(a, b) vx_equal(a, b)
#define VX_LESS_EQUAL(a, b) vx_less_equal(a, b)
#endif

// |a - b| <= absolute + relative |b| where both are finite; `tolerance` is (relative, absolute).
bool vx_is_close(T a, T b, TOLERANCE tolerance) {
    precise T difference = a - b;
    precise TOLERANCE limit = TOLERANCE(tolerance.y + tolerance.x * vx_absolute(b), 0);
    bool finite = vx_isfinite(a) && vx_isfinite(b);
    return VX_EQUAL(a, b) || (finite && VX_LESS_EQUAL(vx_absolute(difference), limit.x));
}

bool vx_is_close_or_nan(T a, T b, TOLERANCE tolerance) {
    return vx_is_close(a, b, tolerance) || (vx_isnan(a) && vx_isnan(b));
}

#endif
