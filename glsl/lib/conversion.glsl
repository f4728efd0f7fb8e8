#ifndef LIB_CONVERSION
#define LIB_CONVERSION

// vx_to_D(x): the compute value of dtype D for a compute value of any dtype, as astype needs it.
//   integer -> integer   modulo 2^n
//   floating -> integer  truncated towards zero; out of range saturates and NaN gives 0 (C leaves both undefined)
//   -> bool              x != 0, so NaN is true, and so is a complex number with either part nonzero
//   -> floating          rounded once, to nearest even. float16 and bfloat16 are computed with as float32 and
//                        rounded when stored: on the way there a value is rounded to odd, which keeps that exact
//   real -> complex      imaginary part +0; the standard has no complex -> real
// Native conversions serve only where they are exact: how they round, and whether they flush subnormals,
// differs by driver.

// Whole part of the magnitude of a floating-point value as (low, high) words: 0 for NaN, saturated at 2^64 - 1.
uvec2 vx_whole_magnitude(float x) {
    uint bits = floatBitsToUint(x) & 0x7FFFFFFFu;
    if (bits < 0x3F800000u || bits > 0x7F800000u) return uvec2(0u);
    if (bits >= 0x5F800000u) return uvec2(0xFFFFFFFFu);
    precise float magnitude = uintBitsToFloat(bits);
    uint high = uint(magnitude * 2.3283064365386963e-10);
    precise float low = magnitude - float(high) * 4294967296.0;
    return uvec2(uint(low), high);
}

uvec2 vx_whole_magnitude(double x) {
    uvec2 bits = unpackDouble2x32(x);
    bits.y &= 0x7FFFFFFFu;
    if (bits.y < 0x3FF00000u || bits.y > 0x7FF00000u || bits.y == 0x7FF00000u && bits.x != 0u) return uvec2(0u);
    if (bits.y >= 0x43F00000u) return uvec2(0xFFFFFFFFu);
    precise double magnitude = packDouble2x32(bits);
    uint high = uint(magnitude * 2.3283064365386963e-10lf);
    precise double low = magnitude - double(high) * 4294967296.0lf;
    return uvec2(uint(low), high);
}

bool vx_is_negative(float x) { return (floatBitsToUint(x) & 0x80000000u) != 0u; }
bool vx_is_negative(double x) { return (unpackDouble2x32(x).y & 0x80000000u) != 0u; }

int vx_saturate_int(bool negative, uvec2 magnitude, uint highest) {
    uint limit = negative ? highest + 1u : highest;
    uint value = magnitude.y != 0u ? limit : min(magnitude.x, limit);
    return int(negative ? 0u - value : value);
}

uint vx_saturate_uint(bool negative, uvec2 magnitude, uint highest) {
    if (negative) return 0u;
    return magnitude.y != 0u ? highest : min(magnitude.x, highest);
}

int64_t vx_saturate_int64(bool negative, uvec2 magnitude) {
    if (magnitude.y >= 0x80000000u) magnitude = negative ? uvec2(0u, 0x80000000u) : uvec2(0xFFFFFFFFu, 0x7FFFFFFFu);
    int64_t value = int64_t(packUint2x32(magnitude));
    return negative ? -value : value;
}

// Mesa 22.3 compares an int64_t(int) with a constant as if both were unsigned.
int64_t vx_widened(int x) { return packInt2x32(ivec2(x, x >> 31)); }
int64_t vx_widened(uint x) { return int64_t(x); }
int64_t vx_widened(int64_t x) { return x; }
int64_t vx_widened(uint64_t x) { return int64_t(x); }

#define VX_TO_INTEGER(NAME, TYPE, WRAP, SATURATE) \
    TYPE NAME(bool x) { return TYPE(x ? 1 : 0); } \
    TYPE NAME(int x) { return WRAP(x); } \
    TYPE NAME(uint x) { return WRAP(x); } \
    TYPE NAME(int64_t x) { return WRAP(x); } \
    TYPE NAME(uint64_t x) { return WRAP(x); } \
    TYPE NAME(float x) { return SATURATE(vx_is_negative(x), vx_whole_magnitude(x)); } \
    TYPE NAME(double x) { return SATURATE(vx_is_negative(x), vx_whole_magnitude(x)); }

#define VX_WRAP_INT8(x) bitfieldExtract(int(x), 0, 8)
#define VX_WRAP_INT16(x) bitfieldExtract(int(x), 0, 16)
#define VX_WRAP_UINT8(x) (uint(x) & 0xFFu)
#define VX_WRAP_UINT16(x) (uint(x) & 0xFFFFu)
#define VX_WRAP_UINT64(x) uint64_t(vx_widened(x))
#define VX_SATURATE_INT8(n, m) vx_saturate_int(n, m, 0x7Fu)
#define VX_SATURATE_INT16(n, m) vx_saturate_int(n, m, 0x7FFFu)
#define VX_SATURATE_INT32(n, m) vx_saturate_int(n, m, 0x7FFFFFFFu)
#define VX_SATURATE_UINT8(n, m) vx_saturate_uint(n, m, 0xFFu)
#define VX_SATURATE_UINT16(n, m) vx_saturate_uint(n, m, 0xFFFFu)
#define VX_SATURATE_UINT32(n, m) vx_saturate_uint(n, m, 0xFFFFFFFFu)
#define VX_SATURATE_UINT64(n, m) (n ? uint64_t(0) : packUint2x32(m))

VX_TO_INTEGER(vx_to_int8, int, VX_WRAP_INT8, VX_SATURATE_INT8)
VX_TO_INTEGER(vx_to_int16, int, VX_WRAP_INT16, VX_SATURATE_INT16)
VX_TO_INTEGER(vx_to_int32, int, int, VX_SATURATE_INT32)
VX_TO_INTEGER(vx_to_int64, int64_t, vx_widened, vx_saturate_int64)
VX_TO_INTEGER(vx_to_uint8, uint, VX_WRAP_UINT8, VX_SATURATE_UINT8)
VX_TO_INTEGER(vx_to_uint16, uint, VX_WRAP_UINT16, VX_SATURATE_UINT16)
VX_TO_INTEGER(vx_to_uint32, uint, uint, VX_SATURATE_UINT32)
VX_TO_INTEGER(vx_to_uint64, uint64_t, VX_WRAP_UINT64, VX_SATURATE_UINT64)

bool vx_to_bool(bool x) { return x; }
bool vx_to_bool(int x) { return x != 0; }
bool vx_to_bool(uint x) { return x != 0u; }
bool vx_to_bool(int64_t x) { return x != int64_t(0); }
bool vx_to_bool(uint64_t x) { return x != uint64_t(0); }
bool vx_to_bool(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) != 0u; }
bool vx_to_bool(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return (bits.x | bits.y & 0x7FFFFFFFu) != 0u;
}
bool vx_to_bool(vec2 x) { return vx_to_bool(x.x) || vx_to_bool(x.y); }
bool vx_to_bool(dvec2 x) { return vx_to_bool(x.x) || vx_to_bool(x.y); }

// A significand of up to 32 bits times 2^exponent as float32. Every part below is exact but one: the sum.
float vx_round_to_float32(uint significand, int exponent, bool to_odd) {
    if (to_odd && significand >> 24 != 0u) {
        int drop = findMSB(significand) - 23;
        uint kept = significand >> drop;
        significand = (kept << drop != significand ? kept | 1u : kept) << drop;
    }
    precise float value = float(significand >> 16) * 65536.0 + float(significand & 0xFFFFu);
    return value * uintBitsToFloat(uint(127 + exponent) << 23);
}

float vx_round_to_float32(uint64_t x, bool to_odd) {
    uvec2 words = unpackUint2x32(x);
    if (words.y == 0u) return vx_round_to_float32(words.x, 0, to_odd);
    // The highest 32 bits, the last of which also says whether anything follows.
    int shift = findMSB(words.y) + 1;
    uint64_t kept = x >> shift;
    uint significand = unpackUint2x32(kept).x;
    return vx_round_to_float32(kept << shift == x ? significand : significand | 1u, shift, to_odd);
}

float vx_round_to_float32(double x, bool to_odd) {
    uvec2 bits = unpackDouble2x32(x);
    uint sign = bits.y & 0x80000000u;
    bits.y &= 0x7FFFFFFFu;
    if (bits.y >= 0x7FF00000u) {
        bool nan = bits.y > 0x7FF00000u || bits.x != 0u;
        return uintBitsToFloat(sign | (nan ? 0x7FC00000u | bits.y << 3 & 0x3FFFFFu | bits.x >> 29 : 0x7F800000u));
    }
    int exponent = int(bits.y >> 20) - 896;
    if (exponent > 254) return uintBitsToFloat(sign | (to_odd ? 0x7F7FFFFFu : 0x7F800000u));
    // The highest 31 bits, the last of which also says whether anything follows.
    uint significand = (bits.y & 0xFFFFFu | 0x100000u) << 10 | bits.x >> 22 | ((bits.x & 0x3FFFFFu) != 0u ? 1u : 0u);
    if (exponent < -23) significand = (bits.x | bits.y) != 0u ? 1u : 0u;
    int drop = exponent > 0 ? 7 : min(8 - exponent, 31);
    uint kept = significand >> drop;
    if (to_odd) {
        if (kept << drop != significand) kept |= 1u;
    } else {
        kept = (significand + (1u << (drop - 1)) - 1u + (kept & 1u)) >> drop;
    }
    return uintBitsToFloat(sign | kept + (exponent > 0 ? uint(exponent - 1) << 23 : 0u));
}

float vx_round_to_float32(int x, bool to_odd) {
    float magnitude = vx_round_to_float32(uint(x < 0 ? -x : x), 0, to_odd);
    return x < 0 ? -magnitude : magnitude;
}

float vx_round_to_float32(int64_t x, bool to_odd) {
    float magnitude = vx_round_to_float32(uint64_t(x < int64_t(0) ? -x : x), to_odd);
    return x < int64_t(0) ? -magnitude : magnitude;
}

#define VX_TO_FLOAT(NAME, TO_ODD) \
    float NAME(bool x) { return x ? 1.0 : 0.0; } \
    float NAME(int x) { return vx_round_to_float32(x, TO_ODD); } \
    float NAME(uint x) { return vx_round_to_float32(x, 0, TO_ODD); } \
    float NAME(int64_t x) { return vx_round_to_float32(x, TO_ODD); } \
    float NAME(uint64_t x) { return vx_round_to_float32(x, TO_ODD); } \
    float NAME(float x) { return x; } \
    float NAME(double x) { return vx_round_to_float32(x, TO_ODD); }

VX_TO_FLOAT(vx_to_float16, true)
VX_TO_FLOAT(vx_to_bfloat16, true)
VX_TO_FLOAT(vx_to_float32, false)

double vx_to_float64(bool x) { return x ? 1.0lf : 0.0lf; }
double vx_to_float64(int x) { return double(x); }
double vx_to_float64(uint x) { return double(x); }
double vx_to_float64(uint64_t x) {
    uvec2 words = unpackUint2x32(x);
    precise double value = double(words.y) * 4294967296.0lf + double(words.x);
    return value;
}
double vx_to_float64(int64_t x) {
    double magnitude = vx_to_float64(uint64_t(x < int64_t(0) ? -x : x));
    return x < int64_t(0) ? -magnitude : magnitude;
}
double vx_to_float64(float x) {
    uint bits = floatBitsToUint(x);
    uint sign = bits & 0x80000000u;
    bits &= 0x7FFFFFFFu;
    if (bits == 0u) return packDouble2x32(uvec2(0u, sign));
    uint exponent = bits >> 23;
    bits &= 0x7FFFFFu;
    if (exponent == 255u) {
        exponent = 2047u;
    } else if (exponent == 0u) {
        int top = findMSB(bits);
        bits = bits << (23 - top) & 0x7FFFFFu;
        exponent = uint(874 + top);
    } else {
        exponent += 896u;
    }
    return packDouble2x32(uvec2(bits << 29, sign | exponent << 20 | bits >> 3));
}
double vx_to_float64(double x) { return x; }

#define VX_TO_COMPLEX(TYPE) \
    vec2 vx_to_complex64(TYPE x) { return vec2(vx_to_float32(x), 0.0); } \
    dvec2 vx_to_complex128(TYPE x) { return dvec2(vx_to_float64(x), 0.0lf); }

VX_TO_COMPLEX(bool)
VX_TO_COMPLEX(int)
VX_TO_COMPLEX(uint)
VX_TO_COMPLEX(int64_t)
VX_TO_COMPLEX(uint64_t)
VX_TO_COMPLEX(float)
VX_TO_COMPLEX(double)

vec2 vx_to_complex64(vec2 x) { return x; }
vec2 vx_to_complex64(dvec2 x) { return vec2(vx_to_float32(x.x), vx_to_float32(x.y)); }
dvec2 vx_to_complex128(vec2 x) { return dvec2(vx_to_float64(x.x), vx_to_float64(x.y)); }
dvec2 vx_to_complex128(dvec2 x) { return x; }

#endif
