// columns[n, c, tap, o] = source[n, c, the place of that tap in window o], 0 outside of the source: the columns that make a
// convolution a product of matrices. Elements are moved, never computed with.
//
// A workgroup takes neighbouring windows and one tap; each invocation a window, or with PACKED as many as 16 bytes hold, for
// CHANNELS channels, so that it works out once where they are.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/element.glsl"
#include "lib/window.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint CHANNELS = 8u;
layout(constant_id = 2) const bool PACKED = false;  // the strides of the columns are multiples of 16 bytes, that of windows 1

layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer Packs { uvec4 data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements source;
    Elements columns;
    uint count;     // workgroups
    uint channels;
    uint windows;   // how many, and the groups that they make
    uint groups;
    ivec4 steps;  // strides of the columns: batch, channel, tap, window
    int words[WINDOW_WORDS];
} arguments;

#define PACK (16 / ELEMENT_BYTES)

// Element k of a pack.
void put(inout uvec4 pack, int k, ELEMENT value) {
#if ELEMENT_BYTES < 4
    pack[k * ELEMENT_BYTES / 4] |= value << 8 * (k * ELEMENT_BYTES % 4);
#elif ELEMENT_BYTES == 4
    pack[k] = value;
#elif ELEMENT_BYTES == 8
    pack[2 * k] = value.x;
    pack[2 * k + 1] = value.y;
#else
    pack = value;
#endif
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group >= arguments.count) return;
    ivec3 kernel = KERNEL_SIZE, size = INPUT_SIZE, outputs = OUTPUT_SIZE, stride = STRIDE, steps = PLANE_STRIDES(0);
    uint row = group / arguments.groups;
    uint window = ((group - row * arguments.groups) * gl_WorkGroupSize.x + gl_LocalInvocationIndex) * (PACKED ? PACK : 1u);
    uint blocks = (arguments.channels + CHANNELS - 1u) / CHANNELS, taps = uint(kernel.x * kernel.y * kernel.z);
    uint tap = row % taps;
    row /= taps;
    uint n = row / blocks;
    uint first = (row - n * blocks) * CHANNELS;
    if (window >= arguments.windows) return;
    ivec3 at = vx_unflat(window, outputs), moved = vx_unflat(tap, kernel) * DILATION - PADDING;
    int step_ = CHANNEL_STRIDE(0);
    int from = int(n) * BATCH_STRIDE(0) + int(first) * step_;
    int to = int(n) * arguments.steps.x + int(first) * arguments.steps.y + int(tap) * arguments.steps.z + int(window) * arguments.steps.w;
    uint count = min(CHANNELS, arguments.channels - first);
    if (PACKED) {
        int places[PACK];  // -1 outside of the source
        [[unroll]] for (int k = 0; k < PACK; ++k) {
            ivec3 place = at * stride + moved;
            places[k] = vx_inside(place, size) && at.x < outputs.x ? vx_sum(place * steps) : -1;
            if (++at.z == outputs.z) {
                at.z = 0;
                if (++at.y == outputs.y) {
                    at.y = 0;
                    ++at.x;
                }
            }
        }
        for (uint c = 0u; c < count; ++c) {
            uvec4 pack = uvec4(0u);
            [[unroll]] for (int k = 0; k < PACK; ++k) {
                if (places[k] >= 0) put(pack, k, ELEMENT(arguments.source.data[from + int(c) * step_ + places[k]]));
            }
            Packs(uvec2(arguments.columns)).data[uint(to + int(c) * arguments.steps.y) / PACK] = pack;
        }
        return;
    }
    ivec3 place = at * stride + moved;
    bool inside = vx_inside(place, size);
    from += inside ? vx_sum(place * steps) : 0;
    for (uint c = 0u; c < count; ++c) {
        ELEMENT value = ELEMENT(0);
        if (inside) value = ELEMENT(arguments.source.data[from + int(c) * step_]);
        arguments.columns.data[to + int(c) * arguments.steps.y] = ELEMENT_STORAGE(value);
    }
}
