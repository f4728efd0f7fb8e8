// Logarithms of float32: x = 2^e m with m in [sqrt(1/2), sqrt(2)), log(m) a minimax polynomial whose leading terms are kept as a pair.
#ifndef LIB_FLOAT32_LOGARITHMIC
#define LIB_FLOAT32_LOGARITHMIC
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"

// Whether a logarithm of x needs no special result: finite and positive.
bool vx_log_is_ordinary(float x) {
    return floatBitsToUint(x) - 1u < 0x7F7FFFFFu;
}

float vx_log_special(float x) {
    if (vx_is_zero(x)) {
        return -VX_FLOAT32_INFINITY;
    }
    return floatBitsToUint(x) == 0x7F800000u ? x : VX_FLOAT32_NAN;
}

// (m - 1, e) of a positive normal x; both exact.
vec2 vx_log_reduce_normal(float x) {
    uint bits = floatBitsToUint(x);
    int exponent = int(bits - 0x3F3504F3u) >> 23;
    precise float f = uintBitsToFloat(bits - uint(exponent << 23)) - 1.0;
    precise float e = intBitsToFloat(0x4B400000 + exponent) - 12582912.0;
    return vec2(f, e);
}

// The same, where x may be subnormal.
vec2 vx_log_reduce(float x) {
    vec2 reduced = vx_log_reduce_normal(vx_scale_up_subnormal(x));
    precise float e = reduced.y - (floatBitsToUint(x) < 0x00800000u ? 24.0 : 0.0);
    return vec2(reduced.x, e);
}

// log(1 + f) as a pair, sqrt(1/2) - 1 <= f <= sqrt(2) - 1; relative error 2^-29.
vec2 vx_log_pair(float f) {
    precise float p = -0.117907062 + f * 0.0691536665;
    p = 0.118733719 + f * p;
    p = -0.123842634 + f * p;
    p = 0.14218621 + f * p;
    p = -0.166692525 + f * p;
    p = 0.200022265 + f * p;
    p = -0.249999866 + f * p;
    p = 0.333333105 + f * p;
    vec2 square = vx_split_square(f);
    vec2 sum = vx_fast_two_sum(f, -0.5 * square.x);  // no fma, since f may be subnormal
    precise float tail = sum.y + (f * f * f * p - 0.5 * square.y);
    return vec2(sum.x, tail);
}

// a.x + a.y times the constant high + low, where high has 12 bits: an exact product and a rest.
vec2 vx_log_change_base(vec2 a, float high, float low) {
    vec2 halves = vx_split(a.x);
    precise float rest = halves.y + a.y;
    precise float product = halves.x * high;
    precise float error = rest * (high + low) + halves.x * low;
    return vec2(product, error);
}

// The logarithm of a positive normal number of these bits times 2^scale. The range, m in [0.69, 1.38), is the one with the least error.
// The terms e log(2), f and -f^2 / 2 are added without error, what follows with the rest.
float vx_log_of_normal(uint bits, int scale) {
    uint exponent = (bits - 0x3F30A3D7u) & 0xFF800000u;
    precise float f = uintBitsToFloat(bits - exponent) - 1.0;
    precise float e = float(int(exponent) + scale * 0x00800000);
    precise float p = 0.13509338 + f * -0.09529626;
    p = -0.12863933 + f * p;
    p = 0.14085881 + f * p;
    p = -0.16637772 + f * p;
    p = 0.2000642 + f * p;
    p = -0.25000605 + f * p;
    p = 0.33333272 + f * p;
    precise float square = f * f;
    float sum = vx_add_exact_product(f, e, 8.26294129e-8);  // 16 bits of log(2), times 2^-23
    precise float error = f - vx_add_exact_product(sum, e, -8.26294129e-8);
    vec2 total = vx_fast_two_sum_of_product(sum, square, -0.5);
    precise float result = total.x + (total.y + (error + (square * (f * p) + e * 1.70303198e-13)));
    return result;
}

float vx_log2_from(vec2 reduced) {
    vec2 part = vx_log_change_base(vx_log_pair(reduced.x), 1.44238281, 0.000312228396);
    vec2 sum = vx_fast_two_sum(reduced.y, part.x);
    precise float result = sum.x + (sum.y + part.y);
    return result;
}

float vx_log10_from(vec2 reduced) {
    vec2 part = vx_log_change_base(vx_log_pair(reduced.x), 0.434204102, 9.03803375e-5);
    vec2 sum = vx_fast_two_sum(reduced.y * 0.301025391, part.x);
    precise float result = sum.x + (sum.y + (part.y + reduced.y * 4.60503907e-6));
    return result;
}

// Whether x is not a positive normal number.
bool vx_log_is_rare(float x) { return floatBitsToUint(x) - 0x00800000u >= 0x7F000000u; }

float vx_log_usual(float x) { return vx_log_of_normal(floatBitsToUint(x), 0); }

float vx_log_rare(float x) {
    return vx_log_is_ordinary(x) ? vx_log_of_normal(floatBitsToUint(vx_scale_up_subnormal(x)), -24) : vx_log_special(x);
}

VX_OF_PARTS(vx_log)  // 0.70 ULP over all inputs

#define VX_LOGARITHM(NAME, FROM) \
    bool NAME##_is_rare(float x) { return vx_log_is_rare(x); } \
    float NAME##_usual(float x) { return FROM(vx_log_reduce_normal(x)); } \
    float NAME##_rare(float x) { return vx_log_is_ordinary(x) ? FROM(vx_log_reduce(x)) : vx_log_special(x); } \
    VX_OF_PARTS(NAME)
VX_LOGARITHM(vx_log2, vx_log2_from)    // 0.74 ULP over all inputs; exact for powers of 2
VX_LOGARITHM(vx_log10, vx_log10_from)  // 0.67 ULP; exact for powers of 10

// e log(2) + log(1 + f + c) as a pair, c an error term below 2^-20.
vec2 vx_log_finish(float f, float c, float e) {
    precise float reciprocal = 0.998657644 + f * (-1.01136005 + f * (1.10287106 + f * -0.887349546));
    vec2 part = vx_log_pair(f);
    vec2 sum = vx_fast_two_sum(e * 0.693145752, part.x);
    precise float low = sum.y + (part.y + (c * reciprocal + e * 1.42860677e-6));
    return vec2(sum.x, low);
}

// log((a.x + a.y) 2^n) as a pair, for a positive normal a.x.
vec2 vx_log_of_pair(vec2 a, float n) {
    vec2 reduced = vx_log_reduce(a.x);
    precise float c = a.y * vx_power_of_two(-min(int(reduced.y), 100));
    precise float exponent = reduced.y + n;
    return vx_log_finish(reduced.x, c, exponent);
}

// log(1 + a.x + a.y) as a pair, for a zero or normal a.x > -1. No branch parts what is near 0 from the rest: devices would run both.
vec2 vx_log1p_of_pair(vec2 a) {
    vec2 u = vx_two_sum(1.0, a.x);
    vec2 reduced = vx_log_reduce_normal(u.x);
    precise float low = (u.y + a.y) * vx_power_of_two(-min(int(reduced.y), 100));
    bool near = a.x > -0.292893 && a.x < 0.414213;
    return vx_log_finish(near ? a.x : reduced.x, near ? a.y : low, near ? 0.0 : reduced.y);
}

// As vx_log1p_of_pair, with 2^-e from the bits that e is made of.
float vx_log1p_usual(float x) {
    vec2 u = vx_two_sum(1.0, x);
    int exponent = int((floatBitsToUint(u.x) - 0x3F3504F3u) & 0xFF800000u);
    precise float f = uintBitsToFloat(floatBitsToUint(u.x) - uint(exponent)) - 1.0;
    precise float c = u.y * intBitsToFloat(0x3F800000 - min(exponent, 100 << 23));
    bool near = x > -0.292893 && x < 0.414213;
    vec2 logarithm = vx_log_finish(near ? x : f, near ? 0.0 : c, near ? 0.0 : float(exponent >> 23));
    precise float result = logarithm.x + logarithm.y;
    return vx_is_below(x, 2.98023224e-8) ? x : result;
}

bool vx_log1p_is_rare(float x) { return !(x > -1.0 && x <= 3.40282347e38); }

float vx_log1p_rare(float x) {
    precise float u = 1.0 + x;
    return vx_log_special(u);
}

VX_OF_PARTS(vx_log1p)  // 0.66 ULP over all inputs

#include "lib/float32/logaddexp.glsl"

#endif
