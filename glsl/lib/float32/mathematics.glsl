// Functions that NumPy has beyond the standard's, for float32.
#ifndef LIB_FLOAT32_MATHEMATICS
#define LIB_FLOAT32_MATHEMATICS
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/rounding.glsl"

// The remainder of truncated division, with the sign of a.
float vx_fmod(float a, float b) {
    uint a_bits = vx_magnitude_bits(a);
    uint b_bits = vx_magnitude_bits(b);
    if (a_bits >= 0x7F800000u || b_bits > 0x7F800000u || b_bits == 0u) return VX_FLOAT32_NAN;
    uint remainder = b_bits == 0x7F800000u ? a_bits : vx_remainder_magnitude(a_bits, b_bits);
    return uintBitsToFloat(remainder | vx_sign_bits(a));
}

float vx_fmax(float a, float b) {
    return vx_is_nan(a) ? b : vx_is_nan(b) ? a : vx_maximum(a, b);
}

float vx_fmin(float a, float b) {
    return vx_is_nan(a) ? b : vx_is_nan(b) ? a : vx_minimum(a, b);
}

float vx_heaviside(float x, float at_zero) {
    float step = vx_sign_bits(x) != 0u ? 0.0 : 1.0;
    return vx_is_nan(x) ? x : vx_is_zero(x) ? at_zero : step;
}

// With x = m 2^(3k), 1 <= m < 8: Newton's iteration for 1 / cbrt(m) from a seed of the bits, then the root by its exact residual.
float vx_cbrt(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits == 0u || bits >= 0x7F800000u) return x;
    ivec2 parts = vx_decompose(bits);
    int exponent = parts.y - 127;
    int third = (exponent + 180) / 3 - 60;
    uint m_bits = (uint(parts.x) & 0x007FFFFFu) | uint(exponent - 3 * third + 127) << 23;
    precise float m = uintBitsToFloat(m_bits);
    precise float y = uintBitsToFloat(0x54A2FA8Cu - m_bits / 3u);
    for (int i = 0; i < 3; ++i) {
        precise float next = y + y * (1.0 - m * y * y * y) * 0.333333343;
        y = next;
    }
    precise float root = m * y * y;
    vec2 square = vx_two_product(root, root);
    vec2 cube = vx_two_product(square.x, root);
    precise float residual = ((m - cube.x) - cube.y) - square.y * root;
    precise float result = root + residual * (y * y) * 0.333333343;
    return vx_with_sign(vx_scale(result, third), vx_sign_bits(x));
}

// log2(1 + p) of a pair 0 < p < 1, and 1 of it apart where p is large: the rest has a small relative error too.
vec2 vx_log2_1p(vec2 p, out float whole) {
    bool large = p.x > 0.414213;
    whole = large ? 1.0 : 0.0;
    precise vec2 f = large ? vec2(0.5 * (p.x - 1.0), 0.5 * p.y) : p;
    vec2 logarithm = vx_log_finish(f.x, f.y, 0.0);
    return vx_log_change_base(vx_fast_two_sum(logarithm.x, logarithm.y), 1.44238281, 0.000312228396);
}

// greater + log2(1 + 2^(less - greater)). Where the two cancel, the error is 2^-28 of the greater.
float vx_logaddexp2(float a, float b) {
    if (vx_is_nan(a) || vx_is_nan(b)) return VX_FLOAT32_NAN;
    float greater = vx_maximum(a, b);
    float less = vx_minimum(a, b);
    if (vx_is_infinite(greater) || vx_is_infinite(less)) return greater;
    vec2 difference = vx_two_sum(less, -greater);
    if (difference.x == 0.0) {
        precise float doubled = greater + 1.0;
        return doubled;
    }
    if (difference.x < -200.0) return greater;
    // 2^difference as a pair, times 2^n: as in vx_exp2_of_pair.
    precise float n = (difference.x + 12582912.0) - 12582912.0;
    precise float r = difference.x - n;
    vec2 halves = vx_split(r);
    precise float high = halves.x * 0.693115234;
    precise float low = halves.y * 0.693115234 + (r * 3.19461833e-5 + difference.y * 0.693147182);
    vec2 reduced = vx_fast_two_sum(high, low);
    vec2 sum = vx_fast_two_sum(1.0, reduced.x);
    precise float tail = sum.y + vx_exp_tail(reduced.x, reduced.y);
    vec2 power = vx_fast_two_sum(sum.x, tail);
    if (n < -30.0) {
        vec2 scaled = vx_pair_multiply(power, vec2(1.44269502, 1.92596303e-8));
        precise float far = greater + vx_scale(scaled.x, int(n));
        return far;
    }
    float whole;
    precise vec2 p = power * vx_power_of_two(int(n));
    vec2 logarithm = vx_log2_1p(p, whole);
    vec2 total = vx_two_sum(greater, whole);
    vec2 result = vx_two_sum(total.x, logarithm.x);
    precise float rounded = result.x + (result.y + (total.y + logarithm.y));
    return rounded;
}

// The coefficients of r^2, r^4, ... in sin(pi r) / (pi r) from r^4 on, that of the highest power first.
const float VX_SINC_FLOAT32[6] = float[](
    -6.97587348e-06, 0.000148428793, -0.00234608096, 0.026147848, -0.190751821, 0.811742425);

// sin(pi x) / (pi x) = (-1)^n (r / x) sin(pi r) / (pi r) for x = n + r, |r| <= 1/2, in pairs. 0 for integers, 1 for 0.
float vx_sinc(float x) {
    if (vx_is_nan(x) || vx_is_infinite(x)) return VX_FLOAT32_NAN;
    precise float n = vx_round(x);
    precise float r = x - n;
    vec2 z = vx_two_product(r, r);
    precise float rest = VX_SINC_FLOAT32[0];
    for (int k = 1; k < VX_SINC_FLOAT32.length(); ++k) rest = VX_SINC_FLOAT32[k] + rest * z.x;
    rest = rest * z.x * z.x;
    vec2 first = vx_pair_multiply(z, vec2(-1.64493406, -8.65883454e-9));
    vec2 sum = vx_fast_two_sum(1.0, first.x);
    precise float low = sum.y + (first.y + rest);
    sum = vx_fast_two_sum(sum.x, low);
    if (n == 0.0) return sum.x;
    if (r == 0.0) return 0.0;
    vec2 quotient = vx_pair_divide(vx_pair_multiply(sum, vec2(r, 0.0)), vec2(x, 0.0));
    precise float half_n = 0.5 * n;
    bool odd = vx_magnitude_bits(n) < 0x4B800000u && vx_trunc(half_n) != half_n;
    return vx_flip_sign(quotient.x, odd ? 0x80000000u : 0u);
}

// x = significand 2^exponent with 1/2 <= |significand| < 1; zeros, infinities and NaN are their own.
float vx_significand(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits == 0u || bits >= 0x7F800000u) return x;
    return uintBitsToFloat((uint(vx_decompose(bits).x) & 0x007FFFFFu) | 0x3F000000u | vx_sign_bits(x));
}

int vx_exponent_of(float x) {
    uint bits = vx_magnitude_bits(x);
    return bits == 0u || bits >= 0x7F800000u ? 0 : vx_decompose(bits).y - 126;
}

// x 2^n, rounded once.
float vx_ldexp(float x, int n) {
    uint bits = vx_magnitude_bits(x);
    if (bits == 0u || bits >= 0x7F800000u) return x;
    ivec2 parts = vx_decompose(bits);
    return uintBitsToFloat(vx_compose(uint(parts.x) << 2, parts.y + clamp(n, -1000, 1000)) | vx_sign_bits(x));
}

float vx_fraction(float x) {
    precise float part = x - vx_trunc(x);
    return vx_with_sign(vx_is_infinite(x) ? 0.0 : part, vx_sign_bits(x));
}

// The distance to the next number away from 0 of a type with so many places after the point, the lowest exponent of a normal number
// and the largest number.
float vx_spacing(float x, int places, int lowest, float largest) {
    uint bits = vx_magnitude_bits(x);
    if (bits >= 0x7F800000u) return VX_FLOAT32_NAN;
    int exponent = max(bits < 0x00800000u ? lowest : int(bits >> 23) - 127, lowest) - places;
    uint unit = exponent < -126 ? 1u << (exponent + 149) : uint(exponent + 127) << 23;
    return uintBitsToFloat((bits >= floatBitsToUint(largest) ? 0x7F800000u : unit) | (bits == 0u ? 0u : vx_sign_bits(x)));
}

// The distance from a float16 number to the next larger one, which of powers of two below 0 is half of that away from 0.
float vx_spacing16(float x) {
    uint bits = vx_magnitude_bits(x);
    bool nearer = vx_sign_bits(x) != 0u && (bits & 0x007FFFFFu) == 0u && bits > 0x38800000u; // 2^-14, the lowest normal number
    precise float away = abs(vx_spacing(x, 10, -14, vx_sign_bits(x) != 0u ? VX_FLOAT32_INFINITY : 65504.0));
    precise float half_of_it = 0.5 * away;
    return nearer ? half_of_it : away;
}

#endif
