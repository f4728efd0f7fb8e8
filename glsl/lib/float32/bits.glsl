// float32 taken apart into bits, so that nothing here depends on how a device treats subnormal numbers.
#ifndef LIB_FLOAT32_BITS
#define LIB_FLOAT32_BITS

// What the device's own arithmetic does: then one instruction gives what integers give elsewhere (ARITHMETIC in
// vkarray/_vk/features.py). Division and roots are exact where no number is subnormal, or subnormal numbers are kept.
layout(constant_id = 100) const bool VX_KEEPS_SUBNORMALS = false;
layout(constant_id = 101) const bool VX_KEEPS_NAN = false;
layout(constant_id = 102) const bool VX_EXACT_DIVISION = false;
layout(constant_id = 103) const bool VX_EXACT_SUBNORMAL_DIVISION = false;
layout(constant_id = 104) const bool VX_EXACT_ROOT = false;
layout(constant_id = 105) const bool VX_FUSED_MULTIPLY_ADD = false;

// A function of parts: what is rare comes after the usual case, which so has no branch in it. Kernels that compute several elements at
// once ask for the parts (glsl/functions/operation.comp), to branch once for all of them.
#define VX_OF_PARTS(NAME) \
    float NAME(float x) { \
        float result = NAME##_usual(x); \
        if (NAME##_is_rare(x)) result = NAME##_rare(x); \
        return result; \
    }

#define VX_FLOAT32_NAN uintBitsToFloat(0x7FC00000u)
#define VX_FLOAT32_INFINITY uintBitsToFloat(0x7F800000u)

uint vx_magnitude_bits(float x) {
    return floatBitsToUint(x) & 0x7FFFFFFFu;
}

uint vx_sign_bits(float x) {
    return floatBitsToUint(x) & 0x80000000u;
}

float vx_with_sign(float magnitude, uint sign_bits) {
    return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7FFFFFFFu) | sign_bits);
}

float vx_flip_sign(float x, uint sign_bits) {
    return uintBitsToFloat(floatBitsToUint(x) ^ sign_bits);
}

bool vx_is_nan(float x) {
    return vx_magnitude_bits(x) > 0x7F800000u;
}

bool vx_is_infinite(float x) {
    return vx_magnitude_bits(x) == 0x7F800000u;
}

bool vx_is_zero(float x) {
    return vx_magnitude_bits(x) == 0u;
}

// Whether |x| is less than a normal number; NaN is not.
bool vx_is_below(float x, float limit) {
    return VX_KEEPS_NAN ? abs(x) < limit : vx_magnitude_bits(x) < floatBitsToUint(limit);
}

// The order of the numbers as that of integers (-0 equals +0), without a float comparison, which may flush subnormals. NaN has no place.
int vx_ordered_bits(float x) {
    int negative = floatBitsToInt(x) >> 31;
    return (int(vx_magnitude_bits(x)) ^ negative) - negative;
}

// The same with -0 below +0. Applied twice, it gives the bits back.
int vx_sortable_bits(int bits) {
    return bits ^ (bits >> 31 & 0x7FFFFFFF);
}

// 2^n for -126 <= n <= 127.
float vx_power_of_two(int n) {
    return intBitsToFloat((n + 127) << 23);
}

// The number of units of 2^-149 of subnormal bits, as a float: no search for the first bit, which takes GPUs long.
float vx_subnormal_units(uint magnitude_bits) {
    precise float units = uintBitsToFloat(magnitude_bits | 0x4B000000u) - 8388608.0;
    return units;
}

// Positive finite bits as (significand of exactly 24 bits, biased exponent); a subnormal gets an exponent below 1.
ivec2 vx_decompose(uint magnitude_bits) {
    bool subnormal = magnitude_bits < 0x00800000u;
    uint bits = subnormal ? floatBitsToUint(vx_subnormal_units(magnitude_bits)) : magnitude_bits;
    return ivec2(int((bits & 0x007FFFFFu) | 0x00800000u), int(bits >> 23) - (subnormal ? 149 : 0));
}

// value / 2^shift rounded half to even, for 1 <= shift and value < 2^30.
uint vx_shift_right_rounded(uint value, int shift) {
    int places = min(shift, 31);
    uint odd = (value >> places) & 1u;
    return (value + ((1u << (places - 1)) - 1u) + odd) >> places;
}

// The bits of (significand / 4) 2^(biased_exponent - 150), 2^25 <= significand < 2^26, its last bit sticky, rounded once: subnormals and overflow too.
uint vx_compose(uint significand, int biased_exponent) {
    int exponent = max(biased_exponent, 1);
    uint rounded = vx_shift_right_rounded(significand, 2 + (exponent - biased_exponent));
    return exponent > 254 ? 0x7F800000u : (uint(exponent - 1) << 23) + rounded;
}

// x 2^n for a normal x, rounded to nearest also where the result is subnormal; x may be zero.
float vx_scale(float x, int n) {
    uint bits = vx_magnitude_bits(x);
    int exponent = int(bits >> 23) + n;
    uint result = bits + (uint(n) << 23);
    if (exponent < 1 || exponent > 254) {
        uint significand = (bits & 0x007FFFFFu) | 0x00800000u;
        result = vx_compose(significand << 2, exponent);
    }
    return uintBitsToFloat((bits == 0u ? 0u : result) | vx_sign_bits(x));
}

// A subnormal x times 2^24; any other x as it is.
float vx_scale_up_subnormal(float x) {
    uint bits = vx_magnitude_bits(x);
    precise float scaled = vx_subnormal_units(bits) * vx_power_of_two(-125);
    return bits < 0x00800000u ? uintBitsToFloat(floatBitsToUint(scaled) | vx_sign_bits(x)) : x;
}

#endif
