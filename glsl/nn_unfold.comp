// columns[n, c, tap, o] = source[n, c, the place of that tap in window o], 0 outside of the source: the columns that make a
// convolution a product of matrices. Elements are moved, never computed with.
//
// A workgroup takes neighbouring windows and one tap; each invocation a window, for CHANNELS channels, so that it works out
// once where that is.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/element.glsl"
#include "lib/window.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint CHANNELS = 8u;

layout(push_constant, scalar) uniform Push {
    Elements source;
    Elements columns;
    Table table;
    uint count;     // workgroups
    uint channels;
    uint windows;   // how many, and the groups that they make
    uint groups;
    int n_step, c_step, tap_step, o_step;  // strides of the columns
} push;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group >= push.count) return;
    ivec3 kernel = KERNEL_SIZE;
    uint row = group / push.groups;
    uint window = (group - row * push.groups) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint blocks = (push.channels + CHANNELS - 1u) / CHANNELS, taps = uint(kernel.x * kernel.y * kernel.z);
    uint tap = row % taps;
    row /= taps;
    uint n = row / blocks;
    uint first = (row - n * blocks) * CHANNELS;
    if (window >= push.windows) return;
    ivec3 at = vx_unflat(window, OUTPUT_SIZE) * STRIDE - PADDING + vx_unflat(tap, kernel) * DILATION;
    bool inside = vx_inside(at, INPUT_SIZE);
    int step_ = CHANNEL_STRIDE(0);
    int from = inside ? int(n) * BATCH_STRIDE(0) + int(first) * step_ + vx_sum(at * PLANE_STRIDES(0)) : 0;
    int to = int(n) * push.n_step + int(first) * push.c_step + int(tap) * push.tap_step + int(window) * push.o_step;
    uint count = min(CHANNELS, push.channels - first);
    for (uint c = 0u; c < count; ++c) {
        ELEMENT value = ELEMENT(0);
        if (inside) value = ELEMENT(push.source.data[from + int(c) * step_]);
        push.columns.data[to + int(c) * push.c_step] = ELEMENT_STORAGE(value);
    }
}
