// Functions of float32 that are a few units in the last place off, in about half as many instructions, some of them the device's
// own: for compiled functions where the user allows it (the switch `approximate`). Numbers that are subnormal may count as zeros;
// zeros, infinities and NaN are as in the exact functions. What is included after this file calls them by the exact functions' names.
#ifndef LIB_APPROXIMATE
#define LIB_APPROXIMATE
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/comparison.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/hyperbolic.glsl"
#include "lib/float32/inverse_trigonometric.glsl"
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/power.glsl"
#include "lib/float32/trigonometric.glsl"

float vx_times_plus(float a, float b, float c) {
    return VX_FUSED_MULTIPLY_ADD ? fma(a, b, c) : a * b + c;
}

// A division that rounds right and fuses products is a sequence of about 19 instructions: 1 / |b| as the square of a root takes 10.
float vx_approximate_divide(float a, float b) {
    if (VX_EXACT_DIVISION && VX_FUSED_MULTIPLY_ADD) {
        float root = inversesqrt(abs(b));
        return vx_flip_sign(a, vx_sign_bits(b)) * root * root;
    }
    return a / b;
}

float vx_approximate_reciprocal(float x) {
    return vx_approximate_divide(1.0, x);
}

bool vx_approximate_equal(float a, float b) { return VX_KEEPS_NAN ? a == b : vx_equal(a, b); }
bool vx_approximate_less(float a, float b) { return VX_KEEPS_NAN ? a < b : vx_less(a, b); }
bool vx_approximate_less_equal(float a, float b) { return VX_KEEPS_NAN ? a <= b : vx_less_equal(a, b); }

float vx_approximate_sqrt(float x) {
    return sqrt(x);
}

float vx_approximate_exp2(float x) {
    return exp2(x);
}

// x = n log(2) + r, of which the device has the power. With fused products it takes less to make up for what x log2(e) was rounded by.
float vx_approximate_exp(float x) {
    if (!VX_FUSED_MULTIPLY_ADD) {
        // By 2^64 nearer to 1 first: it may be no normal number.
        vec3 r = vx_exp_reduce(x);
        uint moved = floatBitsToUint(r.z + (x < 0.0 ? 64.0 : -64.0)) << 23;
        float usual = uintBitsToFloat(floatBitsToUint(exp2(r.x * 1.44269502)) + moved) * (x < 0.0 ? 5.42101086e-20 : 1.84467441e19);
        return abs(x) < 104.0 ? usual : exp(x);
    }
    precise float scaled = x * 1.44269502;
    float rest = fma(x, 1.33497e-8, fma(x, 1.44269502, -scaled) * 0.693147182);
    float power = exp2(scaled);
    return abs(x) < 88.8 && power <= 3.40282347e38 ? fma(power, rest, power) : power;
}

// log(m) and 2^23 e of x = 2^e m for the bits of a positive normal x, m from 0.69 to 1.38: the terms of `vx_log_of_normal`, added up as they are.
vec2 vx_approximate_log_parts(uint bits) {
    uint exponent = (bits - 0x3F30A3D7u) & 0xFF800000u;
    float f = uintBitsToFloat(bits - exponent) - 1.0;
    float p = vx_times_plus(f, -0.09529626, 0.13509338);
    p = vx_times_plus(f, p, -0.12863933);
    p = vx_times_plus(f, p, 0.14085881);
    p = vx_times_plus(f, p, -0.16637772);
    p = vx_times_plus(f, p, 0.2000642);
    p = vx_times_plus(f, p, -0.25000605);
    p = vx_times_plus(f, p, 0.33333272);
    return vec2(vx_times_plus(f * f, vx_times_plus(f, p, -0.5), f), float(int(exponent)));
}

// The logarithm to a base: `unit` is that of e, `two` that of 2, times 2^-23.
float vx_approximate_log_to(float x, float unit, float two) {
    vec2 parts = vx_approximate_log_parts(floatBitsToUint(x));
    return vx_times_plus(parts.y, two, parts.x * unit);
}

#define VX_APPROXIMATE_LOGARITHM(NAME, UNIT, TWO) \
    float vx_approximate_##NAME(float x) { \
        float result = vx_approximate_log_to(x, UNIT, TWO); \
        if (vx_log_is_rare(x)) result = vx_##NAME##_rare(x); \
        return result; \
    }
VX_APPROXIMATE_LOGARITHM(log, 1.0, 8.26295829e-8)
VX_APPROXIMATE_LOGARITHM(log2, 1.44269502, 1.1920929e-7)
VX_APPROXIMATE_LOGARITHM(log10, 0.434294492, 3.58855732e-8)

// With u = 1 + x as it is rounded, and c what that leaves: log(u) + c / u.
float vx_approximate_log1p(float x) {
    precise float u = 1.0 + x;
    precise float c = x - (u - 1.0);
    float result = vx_approximate_log_to(u, 1.0, 8.26295829e-8) + vx_approximate_divide(c, u);
    if (vx_log1p_is_rare(x)) result = vx_log1p_rare(x);
    return vx_is_below(x, 2.98023224e-8) ? x : result;
}

// 2^(y log2(x)) for a positive normal x, where that is a normal number. The exponent of x times the upper half of y is exact.
float vx_approximate_pow(float x, float y) {
    if (y == 2.0) return x * x;
    vec2 parts = vx_approximate_log_parts(floatBitsToUint(x));
    vec2 halves = vx_split(y);
    precise float e = parts.y * 1.1920929e-7;
    precise float whole = halves.x * e;
    precise float part = vx_times_plus(y, parts.x * 1.44269502, halves.y * e);
    precise float exponent = whole + part;
    precise float shifted = exponent + 12582912.0;
    precise float n = shifted - 12582912.0;
    precise float left = (whole - n) + part;
    float result = uintBitsToFloat(floatBitsToUint(exp2(left)) + (floatBitsToUint(shifted) << 23));
    if (vx_log_is_rare(x) || !(abs(exponent) < 125.0)) result = vx_pow(x, y);
    return result;
}

// The odd polynomial of `vx_tanh`, or the quotient of 1 - exp(-2 |x|) by 1 + exp(-2 |x|).
float vx_approximate_tanh(float x) {
    float size = abs(x);
    float z = size * size;
    float p = vx_times_plus(z, -0.00035841123, 0.0023012212);
    p = vx_times_plus(z, p, -0.007945927);
    p = vx_times_plus(z, p, 0.0214865468);
    p = vx_times_plus(z, p, -0.0538797677);
    p = vx_times_plus(z, p, 0.133323446);
    p = vx_times_plus(z, p, -0.333332956);
    float power = exp2(size * -2.88539004);
    float far = vx_approximate_divide(1.0 - power, 1.0 + power);
    return vx_flip_sign(size < 0.5 ? vx_times_plus(size * z, p, size) : far, vx_sign_bits(x));
}

// The sine of |x| and some quarter turns by the polynomials of `vx_sine_after`, without the errors of the angle and of what they are added to.
float vx_approximate_sine(float x, uint quarters) {
    precise float shifted = abs(x) * 0.636619747 + 12582912.0;
    precise float n = shifted - 12582912.0;
    float r = vx_add_exact_product(vx_add_exact_product(abs(x), n, -1.57080078), n, 4.45451587e-6);
    r = vx_times_plus(n, -6.07710059e-11, r);
    uint turns = floatBitsToUint(shifted) + quarters;
    bool odd = (turns & 1u) != 0u;
    float z = r * r;
    float p = vx_times_plus(z, odd ? 2.4432327e-5 : -0.00019518283, odd ? -0.001388731 : 0.008332189);
    p = vx_times_plus(z, p, odd ? 0.041666646 : -0.16666655);
    float result = vx_times_plus((odd ? z : r) * z, p, odd ? vx_times_plus(z, -0.5, 1.0) : r);
    return vx_flip_sign(result, (turns & 2u) << 30);
}

float vx_approximate_sin(float x) {
    float result = vx_flip_sign(vx_approximate_sine(x, 0u), vx_sign_bits(x));
    if (!vx_is_below(x, 804.0)) result = vx_sin_rare(x);
    return result;
}

float vx_approximate_cos(float x) {
    float result = vx_approximate_sine(x, 1u);
    if (!vx_is_below(x, 804.0)) result = vx_cos_rare(x);
    return result;
}

// The arcsine of |x|, or for 1/2 <= |x| half of the arccosine of it.
float vx_approximate_small_angle(float size) {
    bool small = size < 0.5;
    float z = small ? size * size : vx_times_plus(size, -0.5, 0.5);
    float r = small ? size : sqrt(z);
    return vx_times_plus(r, vx_asin_polynomial(z), r);
}

float vx_approximate_asin(float x) {
    float angle = vx_approximate_small_angle(abs(x));
    return vx_flip_sign(abs(x) < 0.5 ? angle : vx_times_plus(angle, -2.0, 1.57079637), vx_sign_bits(x));
}

float vx_approximate_acos(float x) {
    float angle = vx_approximate_small_angle(abs(x));
    float near = vx_sign_bits(x) != 0u ? vx_times_plus(angle, -2.0, 3.14159274) : 2.0 * angle;
    return abs(x) < 0.5 ? 1.57079637 - vx_flip_sign(angle, vx_sign_bits(x)) : near;
}

#define vx_divide vx_approximate_divide
#define vx_divide_float16 vx_approximate_divide
#define vx_reciprocal vx_approximate_reciprocal
#define vx_equal vx_approximate_equal
#define vx_less vx_approximate_less
#define vx_less_equal vx_approximate_less_equal
#define vx_sqrt vx_approximate_sqrt
#define vx_exp vx_approximate_exp
#define vx_exp2 vx_approximate_exp2
#define vx_log vx_approximate_log
#define vx_log2 vx_approximate_log2
#define vx_log10 vx_approximate_log10
#define vx_log1p vx_approximate_log1p
#define vx_pow vx_approximate_pow
#define vx_tanh vx_approximate_tanh
#define vx_sin vx_approximate_sin
#define vx_cos vx_approximate_cos
#define vx_asin vx_approximate_asin
#define vx_acos vx_approximate_acos

#endif
