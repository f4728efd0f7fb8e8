// Radix sort, first step of a pass: how often each digit occurs in each chunk of each row. One invocation for a chunk.
// Counts lie as [row][digit][chunk], so that their running sums, over everything, are the places of the elements.
#include "lib/extensions.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Counts { uint data[]; };

layout(push_constant, scalar) uniform Push {
    Elements elements;
    Counts counts;
    uint rows;
    uint row_length;
    uint chunk_length;
    uint chunks;        // of a row, in this dispatch
    uint pitch;         // chunks of a whole row
    uint shift;         // of the digit in the key
} push;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (unit >= push.rows * push.chunks) return;
    uint row = unit / push.chunks;
    uint chunk = unit - row * push.chunks;
    uint first = row * push.row_length + chunk * push.chunk_length;
    uint end = min(first + push.chunk_length, (row + 1u) * push.row_length);
    uint counts[BINS];
    for (uint digit = 0u; digit < BINS; ++digit) counts[digit] = 0u;
    for (uint place = first; place < end; ++place) ++counts[vx_digit(ELEMENT(push.elements.data[place]), push.shift)];
    uint target = row * BINS * push.pitch + chunk;
    for (uint digit = 0u; digit < BINS; ++digit) push.counts.data[target + digit * push.pitch] = counts[digit];
}
