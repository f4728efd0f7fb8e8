// The gradient of what windows cover, from that of their averages or, with MAXIMUM, of their largest elements: one invocation
// sums one element, over the windows that cover it in order, so the result is the same in every run.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/pool.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer AResult { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Words { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;       // the gradient of what windows made
    AResult r;
    Words indices;
    uint count;        // elements of r
    uint channels;
    uint index_words;  // of an index, 1 or 2
    int divisor;       // of all sums, 0 for the number of places
    int words[WINDOW_WORDS];
} arguments;

#define BLOCK 4  // windows at a time: llvmpipe ends all loops of an invocation after 65,535 turns together

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = INPUT_SIZE, outputs = OUTPUT_SIZE, steps = PLANE_STRIDES(0);
    uint places = uint(size.x * size.y * size.z);
    uint plane = index / places, own = index - plane * places;
    ivec3 at = vx_unflat(own, size);
    uint n = plane / arguments.channels, channel = plane - n * arguments.channels;
    int base = int(n) * BATCH_STRIDE(0) + int(channel) * CHANNEL_STRIDE(0);
    ivec3 first, last, window;
    if (ADAPTIVE) {
        Extent windows = vx_part(at, outputs, size);
        first = windows.first;
        last = windows.end - 1;
    } else {
        first = FIRST_COVERING(at);
        last = LAST_COVERING(at);
    }
    T sum = T(0);
    for (window.x = first.x; window.x <= last.x; ++window.x) {
        for (window.y = first.y; window.y <= last.y; ++window.y) {
            for (int block = first.z; block <= last.z; block += BLOCK) {
                [[unroll]] for (int k = 0; k < BLOCK; ++k) {
                    window.z = block + k;
                    if (window.z > last.z) break;
#ifdef MAXIMUM
                    int from = int(n) * BATCH_STRIDE(1) + int(channel) * CHANNEL_STRIDE(1) + vx_sum(window * PLANE_STRIDES(1));
                    if (arguments.indices.data[uint(from) * arguments.index_words] != own) continue;
#endif
                    T value = A_LOAD(arguments.a.data[base + vx_sum(window * steps)]);
#ifndef MAXIMUM
                    value /= T(vx_divisor(WINDOW(window), size, arguments.divisor));
#endif
                    sum += value;
                }
            }
        }
    }
    arguments.r.data[index] = A_STORE(sum);
}
