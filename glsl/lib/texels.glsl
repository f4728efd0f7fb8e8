#ifndef LIB_TEXELS
#define LIB_TEXELS

// Elements of 4 and 8 bytes in texels of four words. TEXEL_D(t, k): element k of texel t, for such a dtype D
#define TEXEL_int32(t, k) int(t[k])
#define TEXEL_uint32(t, k) t[k]
#define TEXEL_float32(t, k) uintBitsToFloat(t[k])
#define TEXEL_int64(t, k) packInt2x32(ivec2(t[2 * k], t[2 * k + 1]))
#define TEXEL_uint64(t, k) packUint2x32(uvec2(t[2 * k], t[2 * k + 1]))
#define TEXEL_float64(t, k) packDouble2x32(uvec2(t[2 * k], t[2 * k + 1]))
#define TEXEL_complex64(t, k) uintBitsToFloat(uvec2(t[2 * k], t[2 * k + 1]))

#endif
