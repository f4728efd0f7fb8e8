#ifndef LIB_COOPERATIVE_PACKS
#define LIB_COOPERATIVE_PACKS

// Packs of 8 elements of 16 bits.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#define ELEMENT bfloat16_t
#else
#define ELEMENT float16_t
#endif

#define LANES 8 // elements of a pack

// The pack without the elements from `count` on.
uvec4 beginning(uvec4 pack, int count) {
    ivec4 kept = clamp(count - ivec4(0, 2, 4, 6), 0, 2);
    return pack & ((uvec4(1u) << 16 * uvec4(min(kept, 1))) - 1u | -uvec4(equal(kept, ivec4(2))));
}

#endif
