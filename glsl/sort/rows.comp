// Radix sort of short rows, all passes at once: one invocation for a row. `a` and `b` take the elements in turn; with
// INDICES, the elements' places in their rows move along.
#include "lib/extensions.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint data[]; };

// Addresses are pairs of words: SwiftShader crashes on variables that hold buffer references.
layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 source;
    uvec2 a;            // the last pass ends here
    uvec2 b;
#ifdef INDICES
    uvec2 a_indices;
    uvec2 b_indices;
#endif
    uint rows;
    uint row_length;
    uint key_bits;
} arguments;

void main() {
    uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row >= arguments.rows) return;
    uint first = row * arguments.row_length;
    uint end = first + arguments.row_length;
    uint passes = (arguments.key_bits + DIGIT_BITS - 1u) / DIGIT_BITS;
    uvec2 elements = arguments.source;
#ifdef INDICES
    uvec2 indices = arguments.b_indices;
#endif
    uint places[BINS];
    for (uint pass = 0u; pass < passes; ++pass) {
        bool to_a = (passes - pass & 1u) != 0u;
        uvec2 target = to_a ? arguments.a : arguments.b;
#ifdef INDICES
        uvec2 target_indices = to_a ? arguments.a_indices : arguments.b_indices;
#endif
        uint shift = pass * DIGIT_BITS;
        for (uint digit = 0u; digit < BINS; ++digit) places[digit] = 0u;
        for (uint from = first; from < end; ++from) ++places[vx_digit(ELEMENT(Elements(elements).data[from]), shift)];
        uint running = first;
        for (uint digit = 0u; digit < BINS; ++digit) {
            uint count = places[digit];
            places[digit] = running;
            running += count;
        }
        for (uint from = first; from < end; ++from) {
            ELEMENT element = ELEMENT(Elements(elements).data[from]);
            uint to = places[vx_digit(element, shift)]++;
            Elements(target).data[to] = ELEMENT_STORAGE(element);
#ifdef INDICES
            Words(target_indices).data[to] = pass == 0u ? from - first : Words(indices).data[from];
#endif
        }
        elements = target;
#ifdef INDICES
        indices = target_indices;
#endif
    }
}
