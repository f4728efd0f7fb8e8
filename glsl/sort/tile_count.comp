// Radix sort by tiles, first step of a pass: how often each digit occurs in each tile of each row. A workgroup for a tile.
// Counts lie as [row][digit][tile].
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/address.glsl"
#include "lib/sort_key.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 8) const uint ITEMS = 1u;  // elements of an invocation

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Counts { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 elements;
    Counts counts;
    uint rows;
    uint row_length;
    uint tiles;         // of a row
    uint pitch;         // of the counts of a digit: as many as tiles, and up to three zeros
    uint shift;         // of the digit in the key
} arguments;

shared uint counters[BINS];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group >= arguments.rows * arguments.tiles) return;
    uint row = group / arguments.tiles;
    uint tile = group - row * arguments.tiles;
    uint first = tile * (gl_WorkGroupSize.x * ITEMS);
    uint count = min(arguments.row_length - first, gl_WorkGroupSize.x * ITEMS);
    Elements elements = Elements(vx_address(arguments.elements, row * arguments.row_length + first, ELEMENT_BYTES));
    for (uint digit = gl_LocalInvocationIndex; digit < BINS; digit += gl_WorkGroupSize.x) counters[digit] = 0u;
    ELEMENT element[ITEMS];
    [[unroll]] for (uint i = 0u; i < ITEMS; ++i) {
        uint place = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        if (place < count) element[i] = ELEMENT(elements.data[place]);
    }
    barrier();
    [[unroll]] for (uint i = 0u; i < ITEMS; ++i) {
        if (gl_LocalInvocationIndex + i * gl_WorkGroupSize.x < count) {
            atomicAdd(counters[vx_digit(element[i], arguments.shift)], 1u);
        }
    }
    barrier();
    for (uint digit = gl_LocalInvocationIndex; digit < BINS; digit += gl_WorkGroupSize.x) {
        uint first_count = (row * BINS + digit) * arguments.pitch;
        arguments.counts.data[first_count + tile] = counters[digit];
        if (tile + 1u < arguments.tiles) continue;
        for (uint beyond = arguments.tiles; beyond < arguments.pitch; ++beyond) arguments.counts.data[first_count + beyond] = 0u;
    }
}
