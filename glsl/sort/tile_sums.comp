// Radix sort by tiles, second step of a pass: the counts of a digit in the tiles of a row become those in all tiles before,
// and the sum of them is noted. A workgroup for a digit, or where there are few tiles (ALONE) an invocation.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/workgroup_scan.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 8) const bool ALONE = false;

#define FOURS 4u  // that an invocation takes at once

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Counts { uvec4 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Sums { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Counts counts;
    Sums sums;
    uint digits;        // of all rows
    uint fours;         // counts of a digit, four by four
} arguments;

// Replaces four counts by those before them, and adds them to `sum`.
uvec4 add(uvec4 four, inout uint sum) {
    uvec4 before = uvec4(sum, sum + four.x, sum + four.x + four.y, sum + four.x + four.y + four.z);
    sum = before.w + four.w;
    return before;
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (ALONE) {
        uint digit = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex, sum = 0u;
        if (digit >= arguments.digits) return;
        for (uint at = digit * arguments.fours; at < (digit + 1u) * arguments.fours; ++at) {
            arguments.counts.data[at] = add(arguments.counts.data[at], sum);
        }
        arguments.sums.data[digit] = sum;
        return;
    }
    if (group >= arguments.digits) return;
    uint member = vx_member(), done = 0u;
    for (uint start = 0u; start < arguments.fours; start += gl_WorkGroupSize.x * FOURS) {
        uint first = start + member * FOURS, base = group * arguments.fours + first, sum = 0u;
        uvec4 four[FOURS];
        [[unroll]] for (uint k = 0u; k < FOURS; ++k) {
            four[k] = first + k < arguments.fours ? arguments.counts.data[base + k] : uvec4(0u);
        }
        [[unroll]] for (uint k = 0u; k < FOURS; ++k) four[k] = add(four[k], sum);
        uvec2 total, running = vx_running_sum(uvec2(sum, 0u), total);
        [[unroll]] for (uint k = 0u; k < FOURS; ++k) {
            if (first + k < arguments.fours) arguments.counts.data[base + k] = four[k] + (done + running.x);
        }
        done += total.x;
        barrier();
    }
    if (member == 0u) arguments.sums.data[group] = done;
}
