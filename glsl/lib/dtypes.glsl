#ifndef LIB_DTYPES
#define LIB_DTYPES

// How a value of each dtype lies in memory and how it is computed with. For every dtype D:
//   STORAGE_D   the GLSL type of an element of a buffer
//   COMPUTE_D   the GLSL type that kernels compute with
//   LOAD_D(x)   the compute value of a stored value
//   STORE_D(v)  the stored value of a compute value; integers narrower than 32 bits wrap
// The 8- and 16-bit storage types meet nothing but load, store and one conversion to or from 32 bits, so a
// kernel needs the storage capabilities alone and no 8- or 16-bit arithmetic. On a device without 8-bit
// (WIDE8) or 16-bit (WIDE16) storage these elements take one 32-bit word each, sign- or zero-extended.

// Whether the device converts float16 exactly, to nearest even and with subnormal numbers (ARITHMETIC in vkarray/_vk/features.py).
layout(constant_id = 106) const bool VX_EXACT_HALF = false;

// float16 by its bits: unpackHalf2x16 may flush subnormals, and gives NaN the bits that the driver likes.
float vx_float16_from_bits_by_integers(uint bits) {
    uint magnitude = bits & 0x7FFFu;
    uint moved = magnitude << 13;
    // A subnormal number is what its bits add to 2^-14, the smallest normal one.
    precise float subnormal = uintBitsToFloat(moved + 0x38800000u) - 6.103515625e-5;
    uint normal = moved + (magnitude < 0x7C00u ? 0x38000000u : 0x70000000u);
    return uintBitsToFloat((bits & 0x8000u) << 16 | (magnitude < 0x400u ? floatBitsToUint(subnormal) : normal));
}

float vx_float16_from_bits(uint bits) {
    if (!VX_EXACT_HALF) return vx_float16_from_bits_by_integers(bits);
    float number = unpackHalf2x16(bits & 0xFFFFu).x;
    return (bits & 0x7FFFu) > 0x7C00u ? uintBitsToFloat((bits & 0x8000u) << 16 | (bits << 13) | 0x7F800000u) : number;
}

uint vx_float16_to_bits_by_integers(float value) {
    uint bits = floatBitsToUint(value);
    uint magnitude = bits & 0x7FFFFFFFu;
    // Drop the low bits, rounding half to even; a carry runs into the exponent, as it should. For a subnormal result, whose
    // unit is 2^-24, a sum in [0.5, 1) does that.
    precise float sum = uintBitsToFloat(magnitude) + 0.5;
    uint subnormal = floatBitsToUint(sum) - 0x3F000000u;
    uint normal = (magnitude - 0x37FFF001u + (magnitude >> 13 & 1u)) >> 13;
    uint result = magnitude < 0x38800000u ? subnormal : normal;
    if (magnitude >= 0x477FF000u) result = magnitude > 0x7F800000u ? 0x7E00u | (magnitude >> 13 & 0x1FFu) : 0x7C00u;
    return bits >> 16 & 0x8000u | result;
}

uint vx_float16_to_bits(float value) {
    if (!VX_EXACT_HALF) return vx_float16_to_bits_by_integers(value);
    uint number = packHalf2x16(vec2(value, 0.0)), bits = floatBitsToUint(value);
    return (bits & 0x7FFFFFFFu) > 0x7F800000u ? bits >> 16 & 0x8000u | 0x7E00u | (bits >> 13 & 0x1FFu) : number;
}

float vx_bfloat16_from_bits(uint bits) { return uintBitsToFloat(bits << 16); }

uint vx_bfloat16_to_bits(float value) {
    uint bits = floatBitsToUint(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return bits >> 16 | 0x40u;
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

#ifdef WIDE8
#define STORAGE_bool uint
#define STORAGE_int8 int
#define STORAGE_uint8 uint
#define STORE_int8(v) bitfieldExtract(int(v), 0, 8)
#define STORE_uint8(v) (uint(v) & 0xFFu)
#else
#define STORAGE_bool uint8_t
#define STORAGE_int8 int8_t
#define STORAGE_uint8 uint8_t
#define STORE_int8(v) int8_t(int(v))
#define STORE_uint8(v) uint8_t(uint(v))
#endif

#ifdef WIDE16
#define STORAGE_int16 int
#define STORAGE_uint16 uint
#define STORE_int16(v) bitfieldExtract(int(v), 0, 16)
#define STORE_uint16(v) (uint(v) & 0xFFFFu)
#else
#define STORAGE_int16 int16_t
#define STORAGE_uint16 uint16_t
#define STORE_int16(v) int16_t(int(v))
#define STORE_uint16(v) uint16_t(uint(v))
#endif

#define STORAGE_int32 int
#define STORAGE_int64 int64_t
#define STORAGE_uint32 uint
#define STORAGE_uint64 uint64_t
#define STORAGE_float16 STORAGE_uint16
#define STORAGE_bfloat16 STORAGE_uint16
#define STORAGE_float32 float
#define STORAGE_float64 double
#define STORAGE_complex64 vec2
#define STORAGE_complex128 dvec2

#define COMPUTE_bool bool
#define COMPUTE_int8 int
#define COMPUTE_int16 int
#define COMPUTE_int32 int
#define COMPUTE_int64 int64_t
#define COMPUTE_uint8 uint
#define COMPUTE_uint16 uint
#define COMPUTE_uint32 uint
#define COMPUTE_uint64 uint64_t
#define COMPUTE_float16 float
#define COMPUTE_bfloat16 float
#define COMPUTE_float32 float
#define COMPUTE_float64 double
#define COMPUTE_complex64 vec2
#define COMPUTE_complex128 dvec2

#define LOAD_bool(x) (uint(x) != 0u)
// Not int(x) alone: NVIDIA's compiler turns a difference with the floating-point number of x into a sum with that of -x, which
// it negates in 8 bits, so that -128 stays what it is.
#define LOAD_int8(x) bitfieldExtract(int(x), 0, 8)
#define LOAD_int16(x) bitfieldExtract(int(x), 0, 16)
#define LOAD_int32(x) (x)
#define LOAD_int64(x) (x)
#define LOAD_uint8(x) uint(x)
#define LOAD_uint16(x) uint(x)
#define LOAD_uint32(x) (x)
#define LOAD_uint64(x) (x)
#define LOAD_float16(x) vx_float16_from_bits(uint(x))
#define LOAD_bfloat16(x) vx_bfloat16_from_bits(uint(x))
#define LOAD_float32(x) (x)
#define LOAD_float64(x) (x)
#define LOAD_complex64(x) (x)
#define LOAD_complex128(x) (x)

#define STORE_bool(v) STORE_uint8((v) ? 1u : 0u)
#define STORE_int32(v) (v)
#define STORE_int64(v) (v)
#define STORE_uint32(v) (v)
#define STORE_uint64(v) (v)
#define STORE_float16(v) STORE_uint16(vx_float16_to_bits(v))
#define STORE_bfloat16(v) STORE_uint16(vx_bfloat16_to_bits(v))
#define STORE_float32(v) (v)
#define STORE_float64(v) (v)
#define STORE_complex64(v) (v)
#define STORE_complex128(v) (v)


// Elements of a word or less, several of them moved as one: for such a dtype D
//   UNPACK_D(w, k)   the compute value of element k of a word
//   BITS_D(v)        the stored bits of a compute value, in the low part of a word
#define UNPACK_int32(w, k) int(w)
#define UNPACK_uint32(w, k) (w)
#define UNPACK_float32(w, k) uintBitsToFloat(w)
#define UNPACK_int8(w, k) bitfieldExtract(int(w), 8 * (k), 8)
#define UNPACK_uint8(w, k) bitfieldExtract(w, 8 * (k), 8)
#define UNPACK_bool(w, k) (UNPACK_uint8(w, k) != 0u)
#define UNPACK_int16(w, k) bitfieldExtract(int(w), 16 * (k), 16)
#define UNPACK_uint16(w, k) bitfieldExtract(w, 16 * (k), 16)
#define UNPACK_float16(w, k) vx_float16_from_bits(UNPACK_uint16(w, k))
#define UNPACK_bfloat16(w, k) vx_bfloat16_from_bits(UNPACK_uint16(w, k))

// A value that travels in the arguments, by its stored bits. Those of complex128 are too many.
#define IMMEDIATE_bool(bits) UNPACK_bool((bits).x, 0)
#define IMMEDIATE_int8(bits) UNPACK_int8((bits).x, 0)
#define IMMEDIATE_int16(bits) UNPACK_int16((bits).x, 0)
#define IMMEDIATE_int32(bits) int((bits).x)
#define IMMEDIATE_int64(bits) int64_t(packUint2x32(bits))
#define IMMEDIATE_uint8(bits) UNPACK_uint8((bits).x, 0)
#define IMMEDIATE_uint16(bits) UNPACK_uint16((bits).x, 0)
#define IMMEDIATE_uint32(bits) (bits).x
#define IMMEDIATE_uint64(bits) packUint2x32(bits)
#define IMMEDIATE_float16(bits) UNPACK_float16((bits).x, 0)
#define IMMEDIATE_bfloat16(bits) UNPACK_bfloat16((bits).x, 0)
#define IMMEDIATE_float32(bits) uintBitsToFloat((bits).x)
#define IMMEDIATE_float64(bits) packDouble2x32(bits)
#define IMMEDIATE_complex64(bits) uintBitsToFloat(bits)
#define IMMEDIATE_complex128(bits) dvec2(0.0)

#define BITS_int32(v) uint(v)
#define BITS_uint32(v) (v)
#define BITS_float32(v) floatBitsToUint(v)
#define BITS_int8(v) (uint(v) & 0xFFu)
#define BITS_uint8(v) ((v) & 0xFFu)
#define BITS_bool(v) ((v) ? 1u : 0u)
#define BITS_int16(v) (uint(v) & 0xFFFFu)
#define BITS_uint16(v) ((v) & 0xFFFFu)
#define BITS_float16(v) vx_float16_to_bits(v)
#define BITS_bfloat16(v) vx_bfloat16_to_bits(v)

// The bits of a compute value of two words, as IMMEDIATE_D takes them.
#define WORDS_int64(v) unpackUint2x32(uint64_t(v))
#define WORDS_uint64(v) unpackUint2x32(v)
#define WORDS_float64(v) unpackDouble2x32(v)
#define WORDS_complex64(v) floatBitsToUint(v)

#endif
