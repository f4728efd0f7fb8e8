// Inverse trigonometric functions of float32: odd minimax polynomials on [0, 1] (atan) and [0, 1/2] (asin), larger arguments through
// a quotient or a root kept as a pair.
#ifndef LIB_FLOAT32_INVERSE_TRIGONOMETRIC
#define LIB_FLOAT32_INVERSE_TRIGONOMETRIC
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/arithmetic.glsl"

// (asin(x) - x) / x for z = x^2 <= 1/4.
float vx_asin_polynomial(float z) {
    precise float p = 0.0143501768 + z * 0.0376403071;
    p = 0.0318312719 + z * p;
    p = 0.0445140898 + z * p;
    p = 0.075005196 + z * p;
    p = 0.166666597 + z * p;
    p = z * p;
    return p;
}

// asin(sqrt((1 - |x|) / 2)) as a pair, for 1/2 <= |x| <= 1: half of acos(|x|).
vec2 vx_asin_complement(float magnitude) {
    precise float z = 0.5 * (1.0 - magnitude);
    vec2 root = vx_root_approximation(z);
    precise float square = root.x * root.x;
    // z is 0 or 2^-25 at least, so no error is subnormal: fma gives it, where it rounds once.
    vec2 exact = VX_FUSED_MULTIPLY_ADD ? vec2(square, fma(root.x, root.x, -square)) : vx_two_product(root.x, root.x);
    root = vx_pair_root(vec2(z, 0.0), root, exact);
    precise float tail = root.y + root.x * vx_asin_polynomial(z);
    return vec2(root.x, tail);
}

float vx_asin_usual(float x) {
    precise float result = x + x * vx_asin_polynomial(x * x);
    return vx_is_below(x, 0.00006103515625) ? x : result;
}

bool vx_asin_is_rare(float x) { return !vx_is_below(x, 0.5); }

float vx_asin_rare(float x) {
    vec2 half_angle = vx_asin_complement(uintBitsToFloat(vx_magnitude_bits(x)));
    vec2 sum = vx_fast_two_sum_of_product(1.57079637, half_angle.x, -2.0);
    precise float result = sum.x + (sum.y + vx_add_exact_product(-4.37113883e-8, half_angle.y, -2.0));
    return vx_magnitude_bits(x) > 0x3F800000u ? VX_FLOAT32_NAN : vx_flip_sign(result, vx_sign_bits(x));
}

VX_OF_PARTS(vx_asin)  // 0.65 ULP over all inputs

// 0.63 ULP over all inputs.
float vx_acos(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits > 0x3F800000u) {
        return VX_FLOAT32_NAN;
    }
    if (bits < 0x3F000000u) {
        vec2 sum = vx_fast_two_sum(1.57079637, -x);
        precise float result = sum.x + (sum.y + (-4.37113883e-8 - x * vx_asin_polynomial(x * x)));
        return result;
    }
    vec2 half_angle = vx_asin_complement(uintBitsToFloat(bits));
    if (vx_sign_bits(x) == 0u) {
        precise float result = 2.0 * (half_angle.x + half_angle.y);
        return result;
    }
    vec2 sum = vx_fast_two_sum_of_product(3.14159274, half_angle.x, -2.0);
    precise float result = sum.x + (sum.y + vx_add_exact_product(-8.74227766e-8, half_angle.y, -2.0));
    return result;
}

// atan(t.x + t.y) for |t.x| <= tan(pi / 8), as t.x and the rest.
vec2 vx_atan_reduced(vec2 t) {
    precise float z = t.x * t.x;
    precise float p = 0.106000684 + z * -0.0609232895;
    p = -0.142445043 + z * p;
    p = 0.199985325 + z * p;
    p = -0.333333164 + z * p;
    precise float tail = t.x * z * p + (t.y - t.y * z);
    return vec2(t.x, tail);
}

// atan(numerator / denominator), 0 <= numerator <= denominator, as an angle and its rest and the multiple of pi / 4 they are added to:
// beyond tan(pi / 8), atan(q) = pi / 4 + atan((q - 1) / (q + 1)).
vec3 vx_atan_of_quotient(float numerator, float denominator) {
    precise float threshold = 0.414213 * denominator;
    bool wide = numerator > threshold;
    vec2 above = wide ? vx_fast_two_sum(-denominator, numerator) : vec2(numerator, 0.0);
    vec2 below = wide ? vx_fast_two_sum(denominator, numerator) : vec2(denominator, 0.0);
    vec2 angle = vx_atan_reduced(vx_pair_divide(above, below));
    return vec3(angle.x, angle.y, wide ? 1.0 : 0.0);
}

// The angle of a point from that within its octant: right_angles pi / 2 plus it, or less it.
float vx_angle(vec3 octant, float right_angles, bool less) {
    precise float angle = less ? -octant.x : octant.x;
    precise float rest = less ? -octant.y : octant.y;
    precise float eighths = 2.0 * right_angles + (less ? -octant.z : octant.z);
    // 3 pi / 4 is the one multiple that is not exact in float32.
    bool three = eighths == 3.0;
    vec2 sum = vx_fast_two_sum(three ? 2.3561945 : eighths * 0.785398185, angle);
    precise float low = three ? -5.96244032e-9 : eighths * -2.18556941e-8;
    precise float result = sum.x + (sum.y + (low + rest));
    return result;
}

// 0.67 ULP over all inputs.
float vx_atan(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits < 0x3ED40000u) {
        vec2 angle = vx_atan_reduced(vec2(x, 0.0));
        precise float small = angle.x + angle.y;
        return bits < 0x38800000u ? x : small;
    }
    // Beyond 2^30 the angle is pi / 2 to within rounding.
    float magnitude = uintBitsToFloat(min(bits, 0x4E800000u));
    bool steep = bits > 0x3F800000u;
    vec3 octant = vx_atan_of_quotient(steep ? 1.0 : magnitude, steep ? magnitude : 1.0);
    precise float result = vx_angle(octant, steep ? 1.0 : 0.0, steep);
    return bits > 0x7F800000u ? VX_FLOAT32_NAN : vx_flip_sign(result, vx_sign_bits(x));
}

// The angle of the point (x, y). Quotients below 2^-14 are the angle themselves, correctly rounded where subnormal. 0.67 ULP on samples.
float vx_atan2(float y, float x) {
    if (vx_is_nan(x) || vx_is_nan(y)) {
        return VX_FLOAT32_NAN;
    }
    uint sign = vx_sign_bits(y);
    uint y_bits = vx_magnitude_bits(y);
    uint x_bits = vx_magnitude_bits(x);
    bool left = vx_sign_bits(x) != 0u;
    uint larger = max(x_bits, y_bits);
    uint smaller = min(x_bits, y_bits);
    bool steep = y_bits > x_bits;
    vec3 octant = vec3(0.0, 0.0, 0.0);
    if (smaller == 0x7F800000u) {
        octant.z = 1.0;
    } else if (smaller != 0u && larger != 0x7F800000u) {
        ivec2 above = vx_decompose(smaller);
        ivec2 below = vx_decompose(larger);
        int difference = below.y - above.y;
        if (difference > 14 && !steep && !left) {
            return vx_flip_sign(vx_divide(uintBitsToFloat(y_bits), uintBitsToFloat(x_bits)), sign);
        }
        // Scaled by bits so that the denominator is in [1, 2).
        precise float numerator = uintBitsToFloat((uint(above.x) & 0x007FFFFFu) | (uint(127 - min(difference, 60)) << 23));
        precise float denominator = uintBitsToFloat((uint(below.x) & 0x007FFFFFu) | 0x3F800000u);
        octant = vx_atan_of_quotient(numerator, denominator);
    }
    precise float result = vx_angle(octant, steep ? 1.0 : (left ? 2.0 : 0.0), steep != left);
    return vx_flip_sign(result, sign);
}

#endif
