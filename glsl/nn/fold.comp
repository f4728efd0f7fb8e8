// r[n, c, i] = bias[c] + the sum of columns[n, c, tap, o] over the windows o and taps that are place i: what unfold takes
// apart, added up again. One invocation makes one element, and adds in the order of the taps.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/window.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool BIAS = false;

layout(buffer_reference, scalar) readonly buffer Columns { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Bias { R_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Result { R_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Columns columns;
    Bias bias;
    Result r;
    uint count;  // elements of r
    uint channels;
    int bias_step;
    ivec4 steps;  // strides of the columns: batch, channel, tap, window
    int words[WINDOW_WORDS];
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = INPUT_SIZE, outputs = OUTPUT_SIZE, kernel = KERNEL_SIZE, stride = STRIDE, dilation = DILATION;
    uint plane = index / uint(size.x * size.y * size.z);
    ivec3 at = vx_unflat(index - plane * uint(size.x * size.y * size.z), size);
    uint n = plane / arguments.channels, c = plane - n * arguments.channels;
    int base = int(n) * arguments.steps.x + int(c) * arguments.steps.y;
    T sum = T(0);
    ivec3 moved = at + PADDING, tap, window;
    for (tap.x = vx_first_tap(moved.x, stride.x, dilation.x); tap.x < kernel.x; tap.x += vx_tap_step(stride.x, dilation.x)) {
        window.x = vx_window(moved.x - tap.x * dilation.x, stride.x, outputs.x);
        if (window.x < 0) continue;
        for (tap.y = vx_first_tap(moved.y, stride.y, dilation.y); tap.y < kernel.y; tap.y += vx_tap_step(stride.y, dilation.y)) {
            window.y = vx_window(moved.y - tap.y * dilation.y, stride.y, outputs.y);
            if (window.y < 0) continue;
            tap.z = vx_first_tap(moved.z, stride.z, dilation.z);
            for (; tap.z < kernel.z; tap.z += vx_tap_step(stride.z, dilation.z)) {
                window.z = vx_window(moved.z - tap.z * dilation.z, stride.z, outputs.z);
                if (window.z < 0) continue;
                int from = base + vx_flat(tap, kernel) * arguments.steps.z + vx_flat(window, outputs) * arguments.steps.w;
                sum += A_LOAD(arguments.columns.data[from]);
            }
        }
    }
    if (BIAS) sum += R_LOAD(arguments.bias.data[int(c) * arguments.bias_step]);
    int to = int(n) * BATCH_STRIDE(0) + int(c) * CHANNEL_STRIDE(0) + vx_sum(at * PLANE_STRIDES(0));
    arguments.r.data[to] = R_STORE(sum);
}
