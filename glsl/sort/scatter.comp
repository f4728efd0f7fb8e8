// Radix sort, last step of a pass: each element moves to the place of its digit, those of one digit in their order.
// One invocation for a chunk. With INDICES, the elements' places in their rows move along.
#include "lib/extensions.glsl"
#include "lib/address.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint data[]; };

layout(push_constant, scalar) uniform Push {
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
} push;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (unit >= push.rows * push.chunks) return;
    uint row = unit / push.chunks;
    uint chunk = unit - row * push.chunks;
    uint row_start = row * push.row_length;
    uint first = row_start + chunk * push.chunk_length;
    uint end = min(first + push.chunk_length, row_start + push.row_length);
    uint source = row * BINS * push.pitch + chunk;
    uint places[BINS];
    for (uint digit = 0u; digit < BINS; ++digit) places[digit] = push.places.data[source + digit * push.pitch];
    for (uint from = first; from < end; ++from) {
        ELEMENT element = ELEMENT(push.elements.data[from]);
        uint to = places[vx_digit(element, push.shift)]++;
#ifdef INDICES
        uint index = push.shift == 0u ? push.first + from - row_start : push.indices.data[from];
#endif
        Elements(vx_address(push.target, to, ELEMENT_BYTES)).data[0] = ELEMENT_STORAGE(element);
#ifdef INDICES
        Words(vx_address(push.target_indices, to, 4)).data[0] = index;
#endif
    }
}
