#ifndef LIB_FLOAT64_BITS
#define LIB_FLOAT64_BITS

#define VX_NAN_DOUBLE packDouble2x32(uvec2(0u, 0x7FF80000u))
#define VX_INFINITY_DOUBLE packDouble2x32(uvec2(0u, 0x7FF00000u))

uint vx_high_word(double x) { return unpackDouble2x32(x).y; }

bool vx_signbit(double x) { return (vx_high_word(x) & 0x80000000u) != 0u; }

// Comparisons of NaN are not relied on: some drivers fold x != x to false.
bool vx_is_nan(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return ((bits.y & 0x7FFFFFFFu) | (bits.x != 0u ? 1u : 0u)) > 0x7FF00000u;
}

bool vx_is_infinite(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return (bits.y & 0x7FFFFFFFu) == 0x7FF00000u && bits.x == 0u;
}

bool vx_is_zero(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return ((bits.y & 0x7FFFFFFFu) | bits.x) == 0u;
}

bool vx_is_finite(double x) { return (vx_high_word(x) & 0x7FF00000u) != 0x7FF00000u; }

double vx_absolute(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return packDouble2x32(uvec2(bits.x, bits.y & 0x7FFFFFFFu));
}

// By its bit: a device may give every NaN the same bits when it computes with it.
double vx_negative(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return packDouble2x32(uvec2(bits.x, bits.y ^ 0x80000000u));
}

double vx_copysign(double magnitude, double sign) {
    uvec2 bits = unpackDouble2x32(magnitude);
    return packDouble2x32(uvec2(bits.x, bits.y & 0x7FFFFFFFu | vx_high_word(sign) & 0x80000000u));
}

double vx_negate_if(double x, bool negative) {
    uvec2 bits = unpackDouble2x32(x);
    return packDouble2x32(uvec2(bits.x, bits.y ^ (negative ? 0x80000000u : 0u)));
}

// 2^n for -1022 <= n <= 1023.
double vx_double_power_of_two(int n) { return packDouble2x32(uvec2(0u, uint(n + 1023) << 20)); }

// floor(log2 |x|) for normal x.
int vx_exponent(double x) { return int(vx_high_word(x) >> 20 & 0x7FFu) - 1023; }

// x 2^n, rounded once: for 2^-60 < |x| < 2^60 (or 0) and any n; the two factors keep the first product exact.
double vx_scale(double x, int n) {
    n = clamp(n, -1900, 1900);
    int part = n >> 1;
    precise double scaled = x * vx_double_power_of_two(part) * vx_double_power_of_two(n - part);
    return scaled;
}

// x = result 2^exponent with 1 <= |result| < 2, for x finite and not 0.
double vx_normalize(double x, out int exponent) {
    bool subnormal = (vx_high_word(x) & 0x7FF00000u) == 0u;
    precise double normal = x * (subnormal ? 18014398509481984.0lf : 1.0lf);
    exponent = vx_exponent(normal) - (subnormal ? 54 : 0);
    uvec2 bits = unpackDouble2x32(normal);
    return packDouble2x32(uvec2(bits.x, bits.y & 0x800FFFFFu | 0x3FF00000u));
}

#endif
