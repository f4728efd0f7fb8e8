// A convolution of few channels per group: one invocation sums one element of r, over the channels of its group and the
// taps in order. TRANSPOSED: r is what the windows slide over (the input of a convolution), a what they made.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"
#include "lib/convolution_arguments.glsl"

layout(constant_id = 1) const bool TRANSPOSED = false;

// The place of `a` under a tap along one dimension, below 0 where there is none.
int place_of(int first, int tap, int stride, int dilation, int size) {
    if (TRANSPOSED) return vx_window(first - tap * dilation, stride, size);
    int place = first + tap * dilation;
    return place < size ? place : -1;
}

#define FIRST(D) (TRANSPOSED ? vx_first_tap(first.D, stride.D, dilation.D) : 0)
#define NEXT(D) (TRANSPOSED ? vx_tap_step(stride.D, dilation.D) : 1)

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = OUTPUT_SIZE, other = INPUT_SIZE, kernel = KERNEL_SIZE, stride = STRIDE, dilation = DILATION;
    if (TRANSPOSED) {
        size = INPUT_SIZE;
        other = OUTPUT_SIZE;
    }
    ivec3 steps = PLANE_STRIDES(0);
    uint plane = index / uint(size.x * size.y * size.z);
    ivec3 at = vx_unflat(index - plane * uint(size.x * size.y * size.z), size);
    Channel to = vx_channel(plane);
    ivec3 first = TRANSPOSED ? at + PADDING : at * stride - PADDING, tap;
    T sum = T(0);
    for (uint c = 0u; c < arguments.from; ++c) {
        int from = to.from + int(c) * CHANNEL_STRIDE(0), weights = to.weights + int(c) * arguments.weight_from;
        for (tap.x = FIRST(x); tap.x < kernel.x; tap.x += NEXT(x)) {
            int x = place_of(first.x, tap.x, stride.x, dilation.x, other.x);
            if (x < 0) continue;
            for (tap.y = FIRST(y); tap.y < kernel.y; tap.y += NEXT(y)) {
                int y = place_of(first.y, tap.y, stride.y, dilation.y, other.y);
                if (y < 0) continue;
                for (tap.z = FIRST(z); tap.z < kernel.z; tap.z += NEXT(z)) {
                    int z = place_of(first.z, tap.z, stride.z, dilation.z, other.z);
                    if (z < 0) continue;
                    T one = A_LOAD(arguments.a.data[from + vx_sum(ivec3(x, y, z) * steps)]);
                    T weight = A_LOAD(arguments.weight.data[weights + vx_flat(tap, kernel)]);
                    sum = vx_multiply_add(one, weight, sum);
                }
            }
        }
    }
    if (BIAS) sum += A_LOAD(arguments.bias.data[to.bias]);
    arguments.r.data[to.r + vx_sum(at * PLANE_STRIDES(1))] = A_STORE(sum);
}
