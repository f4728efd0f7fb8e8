// A convolution of few channels per group: one invocation sums one element of r, over the channels of its group and the
// taps in order. TRANSPOSED: r is what the windows slide over (the input of a convolution), a what they made.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool TRANSPOSED = false;
layout(constant_id = 2) const bool BIAS = false;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };

layout(push_constant, scalar) uniform Push {
    AElements a;
    AElements weight;
    AElements bias;
    RElements r;
    Table table;
    uint count;     // elements of r
    uint channels;  // of r
    uint from, to;  // channels of a and of r in a group
    int weight_from, weight_to, weight_tap;  // strides of the weight along channels of a, channels of r in a group, taps
    int weight_group;
    int bias_step;
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    ivec3 size = OUTPUT_SIZE, other = INPUT_SIZE, kernel = KERNEL_SIZE, stride = STRIDE, dilation = DILATION;
    if (TRANSPOSED) {
        size = INPUT_SIZE;
        other = OUTPUT_SIZE;
    }
    ivec3 steps = PLANE_STRIDES(0);
    uint plane = index / uint(size.x * size.y * size.z);
    ivec3 at = vx_unflat(index - plane * uint(size.x * size.y * size.z), size);
    uint n = plane / push.channels, channel = plane - n * push.channels;
    uint group = channel / push.to;
    int base = int(n) * BATCH_STRIDE(0) + int(group * push.from) * CHANNEL_STRIDE(0);
    int weights = int(group) * push.weight_group + int(channel - group * push.to) * push.weight_to;
    ivec3 first = TRANSPOSED ? at + PADDING : at * stride - PADDING;
    T sum = T(0);
    ivec3 tap;
    for (uint c = 0u; c < push.from; ++c) {
        int flat_tap = 0;
        for (tap.x = 0; tap.x < kernel.x; ++tap.x) {
            for (tap.y = 0; tap.y < kernel.y; ++tap.y) {
                for (tap.z = 0; tap.z < kernel.z; ++tap.z, ++flat_tap) {
                    ivec3 place = TRANSPOSED ? first - tap * dilation : first + tap * dilation;
                    bool inside = true;
                    if (TRANSPOSED) {
                        inside = all(greaterThanEqual(place, ivec3(0)));
                        ivec3 window = place / stride;
                        inside = inside && window * stride == place;
                        place = window;
                    }
                    if (inside && vx_inside(place, other)) {
                        T one = A_LOAD(push.a.data[base + int(c) * CHANNEL_STRIDE(0) + vx_sum(place * steps)]);
                        T weight = A_LOAD(push.weight.data[weights + int(c) * push.weight_from + flat_tap * push.weight_tap]);
                        sum = vx_multiply_add(one, weight, sum);
                    }
                }
            }
        }
    }
    if (BIAS) sum += A_LOAD(push.bias.data[int(channel) * push.bias_step]);
    int to = int(n) * BATCH_STRIDE(1) + int(channel) * CHANNEL_STRIDE(1) + vx_sum(at * PLANE_STRIDES(1));
    push.r.data[to] = R_STORE(sum);
}
