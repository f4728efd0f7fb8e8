// Real arithmetic that GLSL leaves inexact or undefined. Every result is that of IEEE 754 with the standard's special cases.
// Where the device's own division and comparisons are exact, they are taken; elsewhere integers give the same results.
// The hardware's reciprocal (a few ULP off, differently on each device) only seeds an integer quotient, which an exact integer
// remainder then corrects: the result does not depend on the seed.
#ifndef LIB_FLOAT32_ARITHMETIC
#define LIB_FLOAT32_ARITHMETIC
#include "lib/float32/bits.glsl"

// As the device multiplies: correctly rounded, and subnormals are kept where it offers DenormPreserve.
float vx_multiply(float a, float b) {
    precise float product = a * b;
    return product;
}

float vx_square(float x) {
    precise float product = x * x;
    return product;
}

float vx_absolute(float x) {
    return uintBitsToFloat(vx_magnitude_bits(x));
}

// By its bit: a device may give every NaN the same bits when it computes with it.
float vx_negative(float x) {
    return vx_flip_sign(x, 0x80000000u);
}

bool vx_signbit(float x) {
    return vx_sign_bits(x) != 0u;
}

float vx_copysign(float magnitude, float sign) {
    return vx_with_sign(magnitude, vx_sign_bits(sign));
}

// 0 for both zeros, NaN for NaN.
float vx_sign(float x) {
    if (vx_is_nan(x)) {
        return VX_FLOAT32_NAN;
    }
    return vx_is_zero(x) ? 0.0 : vx_with_sign(1.0, vx_sign_bits(x));
}

// NaN where either is NaN; +0 is above -0. By bits, so that subnormal numbers count and there is no branch.
float vx_maximum(float a, float b) {
    int larger = max(vx_sortable_bits(floatBitsToInt(a)), vx_sortable_bits(floatBitsToInt(b)));
    return vx_is_nan(a) || vx_is_nan(b) ? VX_FLOAT32_NAN : intBitsToFloat(vx_sortable_bits(larger));
}

float vx_minimum(float a, float b) {
    int smaller = min(vx_sortable_bits(floatBitsToInt(a)), vx_sortable_bits(floatBitsToInt(b)));
    return vx_is_nan(a) || vx_is_nan(b) ? VX_FLOAT32_NAN : intBitsToFloat(vx_sortable_bits(smaller));
}

float vx_clip(float x, float lower, float upper) {
    return vx_minimum(vx_maximum(x, lower), upper);
}

// The next number after x towards target; target itself where they are equal.
float vx_nextafter(float x, float target) {
    if (vx_is_nan(x) || vx_is_nan(target)) {
        return VX_FLOAT32_NAN;
    }
    int from = vx_ordered_bits(x);
    int to = vx_ordered_bits(target);
    if (from == to) {
        return target;
    }
    if (from == 0) {
        return uintBitsToFloat(1u | vx_sign_bits(target));
    }
    bool away_from_zero = (to > from) == (from > 0);
    return uintBitsToFloat(floatBitsToUint(x) + (away_from_zero ? 1u : 0xFFFFFFFFu));
}

// The quotient of two significands of 24 bits, numerator below denominator * 2, as (floor of quotient 2^24, remainder).
// The remainder fits 32 bits, so arithmetic modulo 2^32 gives it exactly.
ivec2 vx_significand_quotient(int numerator, int denominator) {
    precise float reciprocal = 1.0 / float(denominator);
    precise float estimate = float(numerator) * reciprocal * 16777216.0;
    int quotient = int(estimate);
    int remainder = (numerator << 24) - quotient * denominator;
    precise float remainder_quotient = float(remainder) * reciprocal;
    int correction = int(remainder_quotient);
    quotient += correction;
    remainder -= correction * denominator;
    if (remainder < 0) {
        quotient -= 1;
        remainder += denominator;
    }
    if (remainder >= denominator) {
        quotient += 1;
        remainder -= denominator;
    }
    return ivec2(quotient, remainder);
}

// a / b where an operand is zero, infinite or NaN.
float vx_divide_special(float a, float b, uint sign) {
    bool a_infinite = vx_is_infinite(a);
    bool b_infinite = vx_is_infinite(b);
    bool a_zero = vx_is_zero(a);
    bool b_zero = vx_is_zero(b);
    if (vx_is_nan(a) || vx_is_nan(b) || (a_infinite && b_infinite) || (a_zero && b_zero)) {
        return VX_FLOAT32_NAN;
    }
    return uintBitsToFloat(sign | (a_infinite || b_zero ? 0x7F800000u : 0u));
}

bool vx_is_special_division(float a, float b) {
    return vx_magnitude_bits(a) - 1u >= 0x7F7FFFFFu || vx_magnitude_bits(b) - 1u >= 0x7F7FFFFFu;
}

// Correctly rounded, where operands or the result may be zero, subnormal, infinite or NaN.
float vx_divide_rare(float a, float b) {
    uint sign = vx_sign_bits(a) ^ vx_sign_bits(b);
    if (vx_is_special_division(a, b)) {
        return vx_divide_special(a, b, sign);
    }
    ivec2 numerator = vx_decompose(vx_magnitude_bits(a));
    ivec2 denominator = vx_decompose(vx_magnitude_bits(b));
    int doubled = numerator.x < denominator.x ? 1 : 0;
    ivec2 quotient = vx_significand_quotient(numerator.x << doubled, denominator.x);
    uint significand = uint(quotient.x << 1) | (quotient.y != 0 ? 1u : 0u);
    return uintBitsToFloat(sign | vx_compose(significand, numerator.y - denominator.y - doubled + 127));
}

// Whether operands are not normal, or a result may not be.
bool vx_is_rare_division(uint a_bits, uint b_bits) {
    return a_bits - 0x00800000u >= 0x7F000000u || b_bits - 0x00800000u >= 0x7F000000u
        || a_bits - b_bits + 0x3E800000u >= 0x7D000000u;
}

// Correctly rounded. A float quotient, off by some units, is corrected by the exact integer remainder: first by the nearest
// multiple of b, as far as a float division knows it, then by the exact comparison with b / 2, which a remainder never equals.
float vx_divide_by_integers(float a, float b) {
    uint a_bits = vx_magnitude_bits(a);
    uint b_bits = vx_magnitude_bits(b);
    uint numerator = (a_bits & 0x007FFFFFu) | 0x00800000u;
    uint denominator = (b_bits & 0x007FFFFFu) | 0x00800000u;
    uint doubled = numerator < denominator ? 1u : 0u;
    precise float reciprocal = 1.0 / uintBitsToFloat(denominator + 0x3F000000u);
    precise float estimate = uintBitsToFloat(numerator + 0x3F000000u + (doubled << 23)) * reciprocal;
    // 2^23 times the quotient, which is in [1, 2).
    int quotient = floatBitsToInt(estimate) - 0x3F000000;
    int remainder = int((numerator << (23u + doubled)) - uint(quotient) * denominator);
    precise float shifted = float(remainder) * (reciprocal * 1.1920928955078125e-7) + 12582912.0;
    int correction = floatBitsToInt(shifted) - 0x4B400000;
    int twice = 2 * (remainder - correction * int(denominator));
    correction += (twice > int(denominator) ? 1 : 0) - (twice < -int(denominator) ? 1 : 0);
    uint exponents = (a_bits & 0x7F800000u) - (b_bits & 0x7F800000u) - (doubled << 23) + 0x3F000000u;
    float result = uintBitsToFloat((exponents + uint(quotient + correction)) | (vx_sign_bits(a) ^ vx_sign_bits(b)));
    // Apart, so that there is no branch before the usual result.
    if (vx_is_rare_division(a_bits, b_bits)) {
        result = vx_divide_rare(a, b);
    }
    return result;
}

// Correctly rounded.
float vx_divide(float a, float b) {
    if (VX_EXACT_DIVISION) {
        precise float quotient = a / b;
        bool keeps = VX_KEEPS_SUBNORMALS || VX_EXACT_SUBNORMAL_DIVISION;
        if (!keeps && vx_is_rare_division(vx_magnitude_bits(a), vx_magnitude_bits(b))) {
            quotient = vx_divide_rare(a, b);
        }
        return (VX_KEEPS_NAN ? quotient != quotient : vx_is_nan(quotient)) ? VX_FLOAT32_NAN : quotient;
    }
    return vx_divide_by_integers(a, b);
}

// a / b of numbers of float16, so near that float16 rounds it right. The first 12 bits of the quotient leave an exact rest. A quotient of
// numbers of 11 bits is where rounding changes, and then has 12 bits, or is further from there than 2^-23 times itself.
float vx_divide_float16_by_products(float a, float b) {
    float dividend = uintBitsToFloat(vx_magnitude_bits(a)), divisor = uintBitsToFloat(vx_magnitude_bits(b));
    uint sign = vx_sign_bits(a) ^ vx_sign_bits(b);
    precise float reciprocal = 1.0 / divisor;
    precise float estimate = dividend * reciprocal;
    float head = uintBitsToFloat(floatBitsToUint(estimate) & 0xFFFFF000u);
    precise float rest = dividend - head * divisor;
    precise float quotient = head + rest * reciprocal;
    float result = uintBitsToFloat(floatBitsToUint(quotient) | sign);
    if (vx_is_special_division(a, b)) {
        result = vx_divide_special(a, b, sign);
    }
    return result;
}

float vx_divide_float16(float a, float b) {
    return VX_EXACT_DIVISION ? vx_divide(a, b) : vx_divide_float16_by_products(a, b);
}

float vx_reciprocal(float x) {
    return vx_divide(1.0, x);
}

// The floor of the exact quotient, rounded once. Special cases as the standard's table, floor(a / b): an infinite dividend
// gives an infinity, an infinite divisor a zero.
float vx_floor_divide(float a, float b) {
    uint sign = vx_sign_bits(a) ^ vx_sign_bits(b);
    if (vx_is_special_division(a, b)) {
        return vx_divide_special(a, b, sign);
    }
    ivec2 numerator = vx_decompose(vx_magnitude_bits(a));
    ivec2 denominator = vx_decompose(vx_magnitude_bits(b));
    int doubled = numerator.x < denominator.x ? 1 : 0;
    int exponent = numerator.y - denominator.y - doubled;
    if (exponent < 0) {
        // By bits: Mesa turns a choice between -1.0 and 0.0 into the negative of one between 1.0 and 0.0, hence -0.0.
        return uintBitsToFloat(uint(int(sign) >> 31) & 0xBF800000u);
    }
    // quotient.x / 2^24 times 2^exponent: the bits below 1, if any, only decide whether a negative result moves down.
    ivec2 quotient = vx_significand_quotient(numerator.x << doubled, denominator.x);
    if (exponent >= 24) {
        // Beyond 2^24: rounding must see the floored quotient, whose bits below those of quotient.x come from the remainder.
        int bits_below = min(exponent - 24, 24);
        int unit = (denominator.x + (1 << bits_below) - 1) >> bits_below;
        bool carry = sign != 0u && quotient.y != 0 && denominator.x - quotient.y < unit;
        bool sticky = !carry && (sign != 0u ? quotient.y != 0 : quotient.y >= unit);
        uint significand = uint(quotient.x + (carry ? 1 : 0)) << 1 | (sticky ? 1u : 0u);
        return uintBitsToFloat(sign | vx_compose(significand, exponent + 127));
    }
    int places = 24 - exponent;
    bool inexact = quotient.y != 0 || (quotient.x & ((1 << places) - 1)) != 0;
    precise float whole = float((quotient.x >> places) + (inexact && sign != 0u ? 1 : 0));
    return vx_flip_sign(whole, sign);
}

// a modulo the finite b, 0 <= |result| < |b|, magnitudes only: exact long division, 8 bits of the exponents' difference a step.
uint vx_remainder_magnitude(uint a_bits, uint b_bits) {
    if (a_bits < b_bits) {
        return a_bits;
    }
    ivec2 dividend = vx_decompose(a_bits);
    ivec2 divisor = vx_decompose(b_bits);
    uint remainder = uint(dividend.x);
    for (int left = dividend.y - divisor.y; left > 0; left -= 8) {
        remainder = (remainder % uint(divisor.x)) << min(left, 8);
    }
    remainder %= uint(divisor.x);
    if (remainder == 0u) {
        return 0u;
    }
    int shift = 25 - findMSB(remainder);
    return vx_compose(remainder << shift, divisor.y + 2 - shift);
}

// Python's %: a - b floor(a / b), with the sign of b. The standard's special cases.
float vx_remainder_by_integers(float a, float b) {
    uint sign = vx_sign_bits(b);
    uint b_bits = vx_magnitude_bits(b);
    uint a_bits = vx_magnitude_bits(a);
    if (a_bits >= 0x7F800000u || b_bits > 0x7F800000u || b_bits == 0u) {
        return VX_FLOAT32_NAN;
    }
    uint remainder = b_bits == 0x7F800000u ? a_bits : vx_remainder_magnitude(a_bits, b_bits);
    if (remainder == 0u || vx_sign_bits(a) == sign || b_bits == 0x7F800000u) {
        return uintBitsToFloat(sign | (remainder != 0u && vx_sign_bits(a) != sign ? b_bits : remainder));
    }
    // |b| - remainder, in a range without subnormals. Where the result is subnormal the difference is exact.
    int scale = b_bits < 0x30000000u ? 64 : 0;
    precise float larger = vx_scale(vx_scale_up_subnormal(uintBitsToFloat(b_bits)), scale - (b_bits < 0x00800000u ? 24 : 0));
    precise float smaller = vx_scale(vx_scale_up_subnormal(uintBitsToFloat(remainder)), scale - (remainder < 0x00800000u ? 24 : 0));
    precise float difference = larger - smaller;
    return vx_with_sign(vx_scale(difference, -scale), sign);
}

// The same of the device's own quotient, where it is at most 2^22 and no number is subnormal: rounded, its whole part
// is at most 1 too large, and what it leaves is exact.
float vx_remainder(float a, float b) {
    uint a_bits = vx_magnitude_bits(a), b_bits = vx_magnitude_bits(b);
    bool apart = b_bits < 0x0D000000u || a_bits > b_bits + 0x0B000000u || b_bits > 0x7E000000u || a_bits - 0x00800000u > 0x7EFFFFFFu;
    if (!VX_FUSED_MULTIPLY_ADD || !VX_EXACT_DIVISION || apart) return vx_remainder_by_integers(a, b);
    float dividend = uintBitsToFloat(a_bits), divisor = uintBitsToFloat(b_bits);
    precise float quotient = floor(dividend / divisor);
    float rest = fma(-quotient, divisor, dividend);
    precise float other = divisor - abs(rest);
    bool beyond = floatBitsToInt(rest) < 0 && rest != 0.0, opposite = vx_sign_bits(a) != vx_sign_bits(b);
    float found = rest == 0.0 ? 0.0 : beyond != opposite ? other : abs(rest);
    return vx_with_sign(found, vx_sign_bits(b));
}

// nextafter of 16-bit formats on their bits; `infinity` has the bits of the format's infinity.
uint vx_nextafter16(uint from, uint to, uint infinity) {
    uint from_magnitude = from & 0x7FFFu;
    uint to_magnitude = to & 0x7FFFu;
    if (from_magnitude > infinity) return from;
    if (to_magnitude > infinity || (from_magnitude | to_magnitude) == 0u || from == to) return to;
    if (from_magnitude == 0u) return (to & 0x8000u) | 1u;
    // As integers ordered like the values.
    int from_order = (from & 0x8000u) != 0u ? -int(from_magnitude) : int(from_magnitude);
    int to_order = (to & 0x8000u) != 0u ? -int(to_magnitude) : int(to_magnitude);
    bool away = (from_order < to_order) == (from_order > 0);
    return from + (away ? 1u : 0xFFFFFFFFu);
}

#endif
