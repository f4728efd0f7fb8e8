// How the elements of a row are read: one by one, or in packs of a lane's neighbours.
#ifndef LIB_REDUCTION_READING
#define LIB_REDUCTION_READING

#ifdef LINKED
#include "lib/computed.glsl"

uint pack_step;  // of all the packs that an invocation asks for, the place of the next one

// To be linked: a pack.
void pack(uint number, uint step, out A_COMPUTE values[VECTOR]) {}
#endif

#ifdef LINKED
#define LOAD_PACK(target, place) \
    A_COMPUTE values[VECTOR]; \
    pack(uint(place), pack_step, values); \
    EACH target[k] = values[k];
#elif defined(TEXELS)
// Elements are read as texels of four words, which CPU drivers load at once: packs are one texel, or half of one.
#include "lib/texels.glsl"
layout(binding = 0) uniform usamplerBuffer texels;
#ifdef ACROSS
// A texel has neighbouring elements of several rows.
#define PER_TEXEL ACROSS
#ifdef PER_WORD
#define UNPACKED(texel, k) A_UNPACK(texel[k], 0)
#else
#define UNPACKED(texel, k) A_TEXEL(texel, k)
#endif
A_COMPUTE texel_element(int place) {
    uvec4 texel = texelFetch(texels, place / ACROSS);
    A_COMPUTE elements;
    [[unroll]] for (int k = 0; k < ACROSS; ++k) elements[k] = UNPACKED(texel, k);
    return elements;
}
#elif defined(PER_WORD)
#define PER_TEXEL (4 * PER_WORD)
#define UNPACKED(texel, k) A_UNPACK(texel[(k) / PER_WORD], (k) % PER_WORD)
A_COMPUTE texel_element(int place) {
    uvec4 texel = texelFetch(texels, place / PER_TEXEL);
    uint word = uint(place) / PER_WORD;
    texel.xy = mix(texel.xy, texel.zw, bvec2((word & 2u) != 0u));
    texel.x = mix(texel.x, texel.y, (word & 1u) != 0u);
    return A_UNPACK(texel.x, place % PER_WORD);
}
#else
#define PER_TEXEL 2
#define UNPACKED(texel, k) A_TEXEL(texel, k)
A_COMPUTE texel_element(int place) {
    uvec4 texel = texelFetch(texels, place / 2);
    texel.xy = mix(texel.xy, texel.zw, bvec2((place & 1) != 0));
    return A_TEXEL(texel, 0);
}
#endif
#ifdef ACROSS
#define LOAD_PACK(target, place)
#else
#define LOAD_PACK(target, place) \
    uvec4 texel = texelFetch(texels, place * VECTOR / PER_TEXEL); \
    if (PER_TEXEL == 2 * VECTOR) texel.xy = mix(texel.xy, texel.zw, bvec2((place & 1) != 0)); \
    EACH target[k] = UNPACKED(texel, k);
#endif
#define WHOLE_PACKS true  // memory ends with a texel
#elif defined(PER_WORD)
// Several elements at once, PER_WORD of them in 32 bits: CPU drivers load each member of a structure in a loop of its own.
struct Pack { uint64_t words[VECTOR / (2 * PER_WORD)]; };
#define UNPACK(pack, k) A_UNPACK(unpackUint2x32(pack.words[k / (2 * PER_WORD)])[k / PER_WORD % 2], k % PER_WORD)
#ifdef PRODUCTS
#define LOAD_PACK(target, place) \
    Pack pack = Packs(arguments.a).data[place], other = Packs(arguments.b).data[place]; \
    EACH target[k] = gradient_and_product(UNPACK(pack, k), UNPACK(other, k));
#else
#define LOAD_PACK(target, place) \
    Pack pack = Packs(arguments.a).data[place]; \
    EACH target[k] = UNPACK(pack, k);
#endif
#endif
#if !(defined(PER_WORD) || defined(LINKED) || defined(TEXELS))
struct Pack { INPUT_STORAGE element[VECTOR]; };
#define OF_PACK(OF, PLACE, K) LOAD_INPUT(Packs(arguments.OF).data[PLACE].element[K])
#ifdef PRODUCTS
#define LOAD_PACK(target, place) EACH target[k] = gradient_and_product(OF_PACK(a, place, k), OF_PACK(b, place, k));
#else
#define LOAD_PACK(target, place) EACH target[k] = OF_PACK(a, place, k);
#endif
#endif
#ifndef WHOLE_PACKS
#define WHOLE_PACKS false
#endif
#if defined(PRODUCTS)
#define LOAD_AT(PLACE) \
    gradient_and_product(LOAD_INPUT(Elements(arguments.a).data[PLACE]), LOAD_INPUT(Elements(arguments.b).data[PLACE]))
#elif defined(LINKED)
#define LOAD_AT(PLACE) load_at(PLACE)
#elif defined(TEXELS)
#define LOAD_AT(PLACE) texel_element(PLACE)
#else
#define LOAD_AT(PLACE) LOAD_INPUT(Elements(arguments.a).data[PLACE])
#endif
#if !defined(TEXELS) && !defined(LINKED)
layout(buffer_reference, scalar) readonly buffer Elements { INPUT_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = ALIGN) readonly buffer Packs { Pack data[]; };
#endif

int row_offset;      // of the row's first element in a
uint chunk_start;    // the chunk's first element in the row

// The offset of an element from the first of its row.
int offset_of(uint place) {
#ifndef ROW
    if (TWO_DIMENSIONAL) {
        uint outer = place / arguments.inner_size;
        return int(outer) * arguments.stride + int(place - outer * arguments.inner_size) * arguments.inner_stride;
    }
#endif
    return int(place) * STRIDE_OF_A;
}

INPUT load(uint element) {
    return LOAD_AT(row_offset + offset_of(chunk_start + element));
}

#endif
