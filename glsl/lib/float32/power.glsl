// Powers and roots of float32.
#ifndef LIB_FLOAT32_POWER
#define LIB_FLOAT32_POWER
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"

// The root of the bits of a positive normal number, correctly rounded. Newton's iteration for 1 / sqrt(m) from a seed of the bits,
// m in [0.5, 2) with the significand of x and its exponent's last bit, gives the root within 3 ULP; with the exact remainder it
// rounds right for each of the 2^24 m.
uint vx_root_of_normal(uint bits) {
    uint m_bits = (bits & 0x00FFFFFFu) | 0x3F000000u;
    precise float m = uintBitsToFloat(m_bits);
    precise float half_m = 0.5 * m;
    precise float y = uintBitsToFloat(0x5F3759DFu - (m_bits >> 1));
    y = y * (1.5 - half_m * y * y);
    y = y * (1.5 - half_m * y * y);
    y = y * (1.5 - half_m * y * y);
    precise float root = m * y;
    vec2 part = vx_split(root);
    precise float twice = -2.0 * part.x;
    float remainder = vx_add_exact_product(m, -part.x, part.x);
    remainder = vx_add_exact_product(vx_add_exact_product(remainder, twice, part.y), -part.y, part.y);
    root = root + remainder * (0.5 * y);
    return floatBitsToUint(root) + uint(int(bits - m_bits) >> 1);
}

// Markstein 1990: an approximation of 1 / sqrt(x), of which fused products leave exact remainders, where none of them is subnormal.
float vx_sqrt_by_remainders(float x) {
    precise float y = inversesqrt(x);
    precise float root = x * y;
    precise float half_y = 0.5 * y;
    float error = fma(-half_y, root, 0.5);
    root = fma(root, error, root);
    half_y = fma(half_y, error, half_y);
    return fma(fma(-root, root, x), half_y, root);
}

float vx_sqrt_usual(float x) {
    precise float root = 0.0;
    if (VX_EXACT_ROOT) {
        root = sqrt(x);
    } else {
        root = VX_FUSED_MULTIPLY_ADD ? vx_sqrt_by_remainders(x) : uintBitsToFloat(vx_root_of_normal(floatBitsToUint(x)));
    }
    return root;
}

bool vx_sqrt_is_rare(float x) {
    uint bits = floatBitsToUint(x);
    if (VX_EXACT_ROOT) return bits - (VX_KEEPS_SUBNORMALS ? 1u : 0x00800000u) >= (VX_KEEPS_SUBNORMALS ? 0x7F800000u : 0x7F000001u);
    return VX_FUSED_MULTIPLY_ADD ? !(x >= 1.3234890e-23 && x <= 8.507059e37) : bits - 0x00800000u >= 0x7F000000u;
}

float vx_sqrt_rare(float x) {
    uint bits = floatBitsToUint(x);
    float result = vx_is_zero(x) || bits == 0x7F800000u ? x : VX_FLOAT32_NAN;
    if (!(VX_EXACT_ROOT && VX_KEEPS_SUBNORMALS) && bits - 1u < 0x7F7FFFFFu) {
        uint root = vx_root_of_normal(floatBitsToUint(vx_scale_up_subnormal(x)));
        result = uintBitsToFloat(bits < 0x00800000u ? root - (12u << 23) : root);
    }
    return result;
}

VX_OF_PARTS(vx_sqrt)  // correctly rounded

// sqrt(a^2 + b^2) without overflow or underflow on the way; infinite where either is infinite. 0.76 ULP on samples, 0.51 where the result is normal.
float vx_hypot(float a, float b) {
    uint larger = max(vx_magnitude_bits(a), vx_magnitude_bits(b));
    uint smaller = min(vx_magnitude_bits(a), vx_magnitude_bits(b));
    if (larger >= 0x7F800000u) {
        return vx_is_infinite(a) || vx_is_infinite(b) ? VX_FLOAT32_INFINITY : VX_FLOAT32_NAN;
    }
    if (smaller == 0u) {
        return uintBitsToFloat(larger);
    }
    // Scaled by bits so that the larger is in [1, 2).
    ivec2 above = vx_decompose(larger);
    ivec2 below = vx_decompose(smaller);
    precise float x = uintBitsToFloat((uint(above.x) & 0x007FFFFFu) | 0x3F800000u);
    precise float y = uintBitsToFloat((uint(below.x) & 0x007FFFFFu) | (uint(127 - min(above.y - below.y, 30)) << 23));
    vec2 root = vx_pair_sqrt(vx_pair_add(vx_split_square(x), vx_split_square(y)));
    return vx_scale(root.x, above.y - 127);
}

// The logarithm of a positive normal number of these bits times 2^scale, as a pair whose first number has 12 bits, relative error mostly
// below 2^-34 (after Sun's fdlibm): with x = 2^e 2 m, f = m - 1/2 and s = f / (m + 1/2), it is e log(2) + 2/3 s (3 + s^2 + s^4 (3/5 + s^2
// (3/7 + ...))), where s, what is in parentheses and their product are numbers of 12 bits, whose products are exact, and a rest.
vec2 vx_pow_logarithm(uint bits, int scale, out float e) {
    uint exponent = (bits - 0x3F3504F3u) & 0xFF800000u;
    precise float m = uintBitsToFloat(bits - exponent - 0x00800000u);
    e = float(int(exponent) + scale * 0x00800000);  // times 2^23
    precise float f = m - 0.5;
    precise float d = m + 0.5;
    precise float t = m - 1.01460785;
    precise float guess = t * t + 0.73546237;  // 2^-9 off
    precise float error = 1.0 - d * guess;
    precise float reciprocal = guess + guess * (error + error * error);
    precise float rounded = f * reciprocal;
    float s_high = vx_split(rounded).x;
    vec2 halves = vx_split(m);
    float remainder = vx_add_exact_product(vx_add_exact_product(f, s_high, -0.5), -s_high, halves.x);
    precise float s_low = reciprocal * vx_add_exact_product(remainder, -s_high, halves.y);
    precise float s = s_high + s_low;
    precise float z = s * s;
    precise float p = 0.60000228 + z * (0.42820693 + z * 0.35128051);
    precise float rest = z * z * p + s_low * (s_high + s);
    float factor_high = vx_split(vx_add_exact_product(3.0, s_high, s_high)).x;
    precise float beyond = factor_high - 3.0;
    precise float factor_low = rest - vx_add_exact_product(beyond, -s_high, s_high);
    precise float w = s_low * factor_high + s * factor_low;
    float product_high = vx_split(vx_add_exact_product(w, s_high, factor_high)).x;
    precise float product_low = w - vx_add_exact_product(product_high, -s_high, factor_high);
    // Times 2/3, of which the first 12 bits are 2/3 (1 - 2^-12); 15 and 16 bits of log(2), times 2^-23.
    precise float share = vx_add_exact_product(product_low, product_high, 0.000244140625) * 0.6666667;
    float low = vx_add_exact_product(share, e, 1.7030474e-13);
    float sum = vx_add_exact_product(vx_add_exact_product(low, product_high, 0.666503906), e, 8.26294129e-8);
    float logarithm = vx_split(sum).x;
    float part = vx_add_exact_product(logarithm, e, -8.26294129e-8);
    precise float logarithm_low = low - vx_add_exact_product(part, product_high, -0.666503906);
    return vec2(logarithm, logarithm_low);
}

// 0 for a y that is no integer, 1 for an odd one, 2 for an even one (infinities too).
int vx_integer_parity(float y) {
    uint bits = vx_magnitude_bits(y);
    if (bits < 0x3F800000u) {
        return bits == 0u ? 2 : 0;
    }
    int places = max(150 - int(bits >> 23), 0);
    uint significand = (bits & 0x007FFFFFu) | 0x00800000u;
    if ((significand & ((1u << places) - 1u)) != 0u) {
        return 0;
    }
    return bits < 0x4B800000u && ((significand >> places) & 1u) == 1u ? 1 : 2;
}

// x^y, where something is special: x is negative, zero, infinite or NaN, y is zero, infinite or NaN, or the result is no normal number.
// Where |x| is finite and not 0, |x|^y is 2^exponent, and part.x + part.y times 2^n for the n nearest to it, of which the last bits of
// `shifted` tell. The special cases are those of C99 Annex F.
float vx_pow_rare(float x, float y, float exponent, vec2 part, float shifted) {
    uint x_bits = vx_magnitude_bits(x);
    uint y_bits = vx_magnitude_bits(y);
    if (y_bits == 0u || floatBitsToUint(x) == 0x3F800000u) {
        return 1.0;
    }
    if (x_bits > 0x7F800000u || y_bits > 0x7F800000u) {
        return VX_FLOAT32_NAN;
    }
    int parity = vx_integer_parity(y);
    uint sign = parity == 1 ? vx_sign_bits(x) : 0u;
    bool inverse = vx_sign_bits(y) != 0u;
    if (x_bits == 0u || x_bits == 0x7F800000u) {
        return uintBitsToFloat(sign | ((x_bits == 0u) == inverse ? 0x7F800000u : 0u));
    }
    if (y_bits == 0x7F800000u) {
        uint limit = (x_bits < 0x3F800000u) == inverse ? 0x7F800000u : 0u;
        return x_bits == 0x3F800000u ? 1.0 : uintBitsToFloat(limit);
    }
    if (vx_sign_bits(x) != 0u && parity == 0) {
        return VX_FLOAT32_NAN;
    }
    if (exponent > 111.0 || exponent < -111.0) {
        return uintBitsToFloat(sign | (exponent > 0.0 ? 0x7F800000u : 0u));
    }
    // Rounded once where the result is subnormal: what is left of the significand decides beyond its last bit.
    vec2 power = vx_fast_two_sum(part.x, part.y);
    uint significand = ((floatBitsToUint(power.x) & 0x007FFFFFu) | 0x00800000u) << 2;
    significand += power.y > 0.0 ? 1u : (power.y < 0.0 ? 0xFFFFFFFFu : 0u);
    return uintBitsToFloat(sign | vx_compose(significand, int(floatBitsToUint(power.x) >> 23) + vx_exp_exponent(shifted)));
}

// |x|^y from the logarithm of |x|, a pair: the logarithm of the power, `exponent`, and part.x + part.y times 2^n, of which the last bits of
// `shifted` tell.
void vx_pow_parts(vec2 logarithm, float y, out float exponent, out vec2 part, out float shifted) {
    vec2 power = vx_split(y);
    precise float high = power.x * logarithm.x;
    precise float rest = y * logarithm.y;
    float low = vx_add_exact_product(rest, power.y, logarithm.x);
    precise float sum = high + low;
    exponent = sum;
    // n log(2) + r with r from -0.292 to 0.402: below 0 powers have twice the relative error of those above.
    precise float far = (sum - 0.055) * 1.44269502 + 12582912.0;
    precise float n = far - 12582912.0;
    float r = vx_add_exact_product(high, n, -0.693145752);
    float r_low = vx_add_exact_product(low, n, -1.4286197e-6);
    // exp(r) = 1 + r + r^2 q, the polynomial q by its odd root, as in `vx_tanh_above`.
    precise float reduced = r + r_low;
    precise float square = reduced * reduced;
    precise float q = (square + 19.93516) * (0.0123999134 + reduced * (0.008360391 + reduced * 0.0014676356)) + 0.25280597;
    precise float tail = r + (r_low + square * q);
    part = vec2(1.0, tail);
    shifted = far;
}

// exp(y log |x|) from pairs. 0.92 ULP on samples.
float vx_pow(float x, float y) {
    if (y == 2.0) {  // as `square`, and on a GPU at once where all exponents are 2
        precise float square = x * x;
        return square;
    }
    float exponent, shifted, e;
    vec2 part;
    vx_pow_parts(vx_pow_logarithm(floatBitsToUint(x), 0, e), y, exponent, part, shifted);
    precise float significand = part.x + part.y;
    float result = uintBitsToFloat(floatBitsToUint(significand) + (floatBitsToUint(shifted) << 23));
    // Whatever is special in y makes the exponent great or NaN, but for x = 1 and y = 0, where the result is 1 as it should be.
    // e tells x that are negative or not finite, and some others: those below 2^-125 or above 2^125.
    bool usual = abs(e) < 1052770304.0 && abs(exponent) < 85.9;
    if (!usual) {
        // |log x| is 2^-25 at least, or 0: the result no longer changes with |y| beyond 2^40.
        uint bits = vx_magnitude_bits(x);
        float power = uintBitsToFloat(min(vx_magnitude_bits(y), 0x53800000u) | vx_sign_bits(y));
        int scale = bits < 0x00800000u ? -24 : 0;
        uint normal = floatBitsToUint(vx_scale_up_subnormal(uintBitsToFloat(bits)));
        vx_pow_parts(vx_pow_logarithm(normal, scale, e), power, exponent, part, shifted);
        result = vx_pow_rare(x, y, exponent, part, shifted);
    }
    return result;
}

#endif
