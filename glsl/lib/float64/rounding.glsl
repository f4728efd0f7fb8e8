#ifndef LIB_FLOAT64_ROUNDING
#define LIB_FLOAT64_ROUNDING

#include "lib/float64/bits.glsl"

// Adding and subtracting 2^52 rounds a smaller magnitude to an integer, half to even; from 2^52 on, all doubles are
// integers. All four functions are exact, keep the sign of zero, and return NaN and infinities as they are.
double vx_rounded_magnitude(double magnitude) {
    precise double shifted = magnitude + 4503599627370496.0lf;
    precise double rounded = shifted - 4503599627370496.0lf;
    return rounded;
}

bool vx_is_whole(double x) { return (vx_high_word(x) & 0x7FFFFFFFu) >= 0x43300000u; }

double vx_round(double x) {
    if (vx_is_whole(x)) return x;
    return vx_copysign(vx_rounded_magnitude(vx_absolute(x)), x);
}

double vx_trunc(double x) {
    if (vx_is_whole(x)) return x;
    double magnitude = vx_absolute(x);
    precise double rounded = vx_rounded_magnitude(magnitude);
    rounded = rounded - (rounded > magnitude ? 1.0lf : 0.0lf);
    return vx_copysign(rounded, x);
}

double vx_floor(double x) {
    if (vx_is_whole(x)) return x;
    precise double rounded = vx_round(x);
    rounded = rounded - (rounded > x ? 1.0lf : 0.0lf);
    return vx_copysign(rounded, x);
}

double vx_ceil(double x) {
    if (vx_is_whole(x)) return x;
    precise double rounded = vx_round(x);
    rounded = rounded + (rounded < x ? 1.0lf : 0.0lf);
    return vx_copysign(rounded, x);
}

#endif
