// Radix sort, last step of a pass: each element moves to the place of its digit, those of one digit in their order.
// One invocation for a chunk. With INDICES, the elements' places in their rows move along.
#include "lib/extensions.glsl"
#include "lib/address.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements elements;
    uvec2 target;
    Words places;       // [row][digit][chunk]: where the first element of this digit in this chunk belongs
#ifdef INDICES
    Words indices;
    uvec2 target_indices;
#endif
    uint rows;
    uint row_length;
    uint chunk_length;
    uint chunks;        // of a row, in this dispatch
    uint pitch;         // chunks of a whole row
    uint shift;         // of the digit in the key; at the first pass, 0, the indices begin
    uint first;         // place in its row of the first element of this dispatch
} arguments;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (unit >= arguments.rows * arguments.chunks) return;
    uint row = unit / arguments.chunks;
    uint chunk = unit - row * arguments.chunks;
    uint row_start = row * arguments.row_length;
    uint first = row_start + chunk * arguments.chunk_length;
    uint end = min(first + arguments.chunk_length, row_start + arguments.row_length);
    uint source = row * BINS * arguments.pitch + chunk;
    uint places[BINS];
    for (uint digit = 0u; digit < BINS; ++digit) places[digit] = arguments.places.data[source + digit * arguments.pitch];
    for (uint from = first; from < end; ++from) {
        ELEMENT element = ELEMENT(arguments.elements.data[from]);
        uint to = places[vx_digit(element, arguments.shift)]++;
#ifdef INDICES
        uint index = arguments.shift == 0u ? arguments.first + from - row_start : arguments.indices.data[from];
#endif
        Elements(vx_address(arguments.target, to, ELEMENT_BYTES)).data[0] = ELEMENT_STORAGE(element);
#ifdef INDICES
        Words(vx_address(arguments.target_indices, to, 4)).data[0] = index;
#endif
    }
}
