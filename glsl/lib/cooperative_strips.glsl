#ifndef LIB_COOPERATIVE_STRIPS
#define LIB_COOPERATIVE_STRIPS

// Operands that product/matmul_cooperative_pack.comp has copied into the order of fragments: strips of PART rows of a or columns of
// b, in which the steps of k follow one another, and in a step the fragments, of which each invocation loads a pack.
// Before the first and past the last step things are loaded that nobody needs; there is memory for them.
#include "lib/fragment_words.glsl"

#define LEAD 8 // steps before the first strip, as in fragments.py

// For an operand whose fragments of some steps are NAME[][COUNT]: NAME_strip finds the strip of the subgroup at `first_row`
// (or column), strips being STRIDE steps apart, and NAME_load loads a fragment of a step.
#define STRIPS(NAME, COUNT, PART, STRIDE)                                                                             \
    layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer NAME##Strips {                      \
        uvec4 data[][COUNT][SUBGROUP];                                                                                \
    };                                                                                                                \
    uint NAME##_first;                                                                                                \
    void NAME##_strip(int first_row) {                                                                                \
        NAME##_first = LEAD + uint(place.NAME) / (PART * FRAGMENT_K) + uint(first_row) / PART * uint(STRIDE);         \
    }                                                                                                                 \
    void NAME##_load(int set, int number, int step) {                                                                 \
        uvec4 pack = NAME##Strips(uvec2(arguments.NAME)).data[NAME##_first + step][number][gl_SubgroupInvocationID];       \
        [[unroll]] for (int w = 0; w < 4; ++w) {                                                                      \
            TWO two = two_of(pack[w]);                                                                                \
            NAME[set][number][2 * w] = two.x;                                                                         \
            NAME[set][number][2 * w + 1] = two.y;                                                                     \
        }                                                                                                             \
    }

#endif
