// Radix sort, first step of a pass: how often each digit occurs in each chunk of each row. One invocation for a chunk.
// Counts lie as [row][digit][chunk], so that their running sums, over everything, are the places of the elements.
#include "lib/extensions.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Counts { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements elements;
    Counts counts;
    uint rows;
    uint row_length;
    uint chunk_length;
    uint chunks;        // of a row, in this dispatch
    uint pitch;         // chunks of a whole row
    uint shift;         // of the digit in the key
} arguments;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (unit >= arguments.rows * arguments.chunks) return;
    uint row = unit / arguments.chunks;
    uint chunk = unit - row * arguments.chunks;
    uint first = row * arguments.row_length + chunk * arguments.chunk_length;
    uint end = min(first + arguments.chunk_length, (row + 1u) * arguments.row_length);
    uint counts[BINS];
    for (uint digit = 0u; digit < BINS; ++digit) counts[digit] = 0u;
    for (uint place = first; place < end; ++place) ++counts[vx_digit(ELEMENT(arguments.elements.data[place]), arguments.shift)];
    uint target = row * BINS * arguments.pitch + chunk;
    for (uint digit = 0u; digit < BINS; ++digit) arguments.counts.data[target + digit * arguments.pitch] = counts[digit];
}
