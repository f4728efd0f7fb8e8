// Radix sort of short rows, all passes at once: one invocation for a row. `a` and `b` take the elements in turn; with
// INDICES, the elements' places in their rows move along.
#include "lib/extensions.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint data[]; };

layout(push_constant, scalar) uniform Push {
    Elements source;
    Elements a;         // the last pass ends here
    Elements b;
#ifdef INDICES
    Words a_indices;
    Words b_indices;
#endif
    uint rows;
    uint row_length;
    uint key_bits;
} push;

void main() {
    uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row >= push.rows) return;
    uint first = row * push.row_length;
    uint end = first + push.row_length;
    uint passes = (push.key_bits + DIGIT_BITS - 1u) / DIGIT_BITS;
    Elements elements = push.source;
    Elements target;
#ifdef INDICES
    Words indices = push.b_indices;
    Words target_indices;
#endif
    uint places[BINS];
    for (uint pass = 0u; pass < passes; ++pass) {
        bool to_a = (passes - pass & 1u) != 0u;
        if (to_a) target = push.a; else target = push.b;
#ifdef INDICES
        if (to_a) target_indices = push.a_indices; else target_indices = push.b_indices;
#endif
        uint shift = pass * DIGIT_BITS;
        for (uint digit = 0u; digit < BINS; ++digit) places[digit] = 0u;
        for (uint from = first; from < end; ++from) ++places[vx_digit(ELEMENT(elements.data[from]), shift)];
        uint running = first;
        for (uint digit = 0u; digit < BINS; ++digit) {
            uint count = places[digit];
            places[digit] = running;
            running += count;
        }
        for (uint from = first; from < end; ++from) {
            ELEMENT element = ELEMENT(elements.data[from]);
            uint to = places[vx_digit(element, shift)]++;
            target.data[to] = ELEMENT_STORAGE(element);
#ifdef INDICES
            target_indices.data[to] = pass == 0u ? from - first : indices.data[from];
#endif
        }
        elements = target;
#ifdef INDICES
        indices = target_indices;
#endif
    }
}
