// A convolution of few channels per group, for windows of a common WIDTH and STEP: each invocation sums BLOCK neighbours of a
// row of r, so that an element of a is read once for all taps of a row, and a weight once for all of them.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"
#include "lib/convolution_arguments.glsl"

#define EACH [[unroll]] for (int j = 0; j < BLOCK; ++j)
const int SPAN = (BLOCK - 1) * STEP + WIDTH;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = OUTPUT_SIZE, other = INPUT_SIZE, kernel = KERNEL_SIZE, dilation = DILATION;
    ivec3 blocks = ivec3(size.xy, (size.z + BLOCK - 1) / BLOCK), steps = PLANE_STRIDES(0);
    uint plane = index / uint(blocks.x * blocks.y * blocks.z);
    ivec3 at = vx_unflat(index - plane * uint(blocks.x * blocks.y * blocks.z), blocks);
    at.z *= BLOCK;
    Channel to = vx_channel(plane);
    ivec3 first = at * STRIDE - PADDING;
    T sum[BLOCK];
    EACH sum[j] = T(0);
    ivec2 tap;
    for (uint c = 0u; c < arguments.from; ++c) {
        int from = to.from + int(c) * CHANNEL_STRIDE(0), weights = to.weights + int(c) * arguments.weight_from;
        for (tap.x = 0; tap.x < kernel.x; ++tap.x) {
            int x = first.x + tap.x * dilation.x;
            if (x < 0 || x >= other.x) continue;
            for (tap.y = 0; tap.y < kernel.y; ++tap.y) {
                int y = first.y + tap.y * dilation.y;
                if (y < 0 || y >= other.y) continue;
                int row = from + x * steps.x + y * steps.y, row_weights = weights + (tap.x * kernel.y + tap.y) * WIDTH;
                T line[SPAN];
                [[unroll]] for (int k = 0; k < SPAN; ++k) {
                    int z = first.z + k;
                    line[k] = T(0);
                    if (z >= 0 && z < other.z) line[k] = A_LOAD(arguments.a.data[row + z * steps.z]);
                }
                [[unroll]] for (int k = 0; k < WIDTH; ++k) {
                    T weight = A_LOAD(arguments.weight.data[row_weights + k]);
                    EACH sum[j] = vx_multiply_add(line[j * STEP + k], weight, sum[j]);
                }
            }
        }
    }
    T bias = T(0);
    if (BIAS) bias = A_LOAD(arguments.bias.data[to.bias]);
    ivec3 r_steps = PLANE_STRIDES(1);
    int target = to.r + vx_sum(at * r_steps);
    EACH if (at.z + j < size.z) arguments.r.data[target + j * r_steps.z] = A_STORE(BIAS ? sum[j] + bias : sum[j]);
}
