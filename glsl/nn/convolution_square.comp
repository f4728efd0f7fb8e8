// A convolution of few channels per group, for windows WIDTH high and wide that move by STEP: each invocation sums BLOCK neighbours
// of a column of r, so that it reads a weight once for all of them and an element of a once for those whose windows share it;
// neighbouring invocations read neighbouring elements.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#ifdef HARDWARE_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"
#include "lib/convolution_arguments.glsl"

#define EACH [[unroll]] for (int j = 0; j < BLOCK; ++j)
#define EACH_TAP [[unroll]] for (int k = 0; k < WIDTH; ++k)
const int SPAN = (BLOCK - 1) * STEP + WIDTH;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = OUTPUT_SIZE, other = INPUT_SIZE;
    ivec3 blocks = ivec3(size.x, (size.y + BLOCK - 1) / BLOCK, size.z), steps = PLANE_STRIDES(0);
    uint plane = index / uint(blocks.x * blocks.y * blocks.z);
    ivec3 at = vx_unflat(index - plane * uint(blocks.x * blocks.y * blocks.z), blocks);
    at.y *= BLOCK;
    Channel to = vx_channel(plane);
    ivec3 first = at * STRIDE - PADDING;
    int depth = KERNEL_SIZE.x, dilation = DILATION.x;
    T sum[BLOCK];
    EACH sum[j] = T(0);
    for (uint c = 0u; c < arguments.from; ++c) {
        int from = to.from + int(c) * CHANNEL_STRIDE(0), weights = to.weights + int(c) * arguments.weight_from;
        for (int tap = 0; tap < depth; ++tap) {
            int x = first.x + tap * dilation;
            if (x < 0 || x >= other.x) continue;
            T weight[WIDTH * WIDTH];
            [[unroll]] for (int k = 0; k < WIDTH * WIDTH; ++k) {
                weight[k] = A_LOAD(arguments.weight.data[weights + tap * WIDTH * WIDTH + k]);
            }
            int start = from + x * steps.x;
            [[unroll]] for (int row = 0; row < SPAN; ++row) {
                int y = first.y + row;
                if (y >= 0 && y < other.y) {
                    T line[WIDTH];
                    EACH_TAP {
                        int z = first.z + k;
                        line[k] = T(0);
                        if (z >= 0 && z < other.z) line[k] = A_LOAD(arguments.a.data[start + y * steps.y + z * steps.z]);
                    }
                    EACH {
                        int tap_row = row - j * STEP;
                        if (tap_row >= 0 && tap_row < WIDTH) {
                            EACH_TAP sum[j] = vx_multiply_add(line[k], weight[tap_row * WIDTH + k], sum[j]);
                        }
                    }
                }
            }
        }
    }
    T bias = T(0);
    if (BIAS) bias = A_LOAD(arguments.bias.data[to.bias]);
    ivec3 r_steps = PLANE_STRIDES(1);
    int target = to.r + vx_sum(at * r_steps);
    EACH if (at.y + j < size.y) arguments.r.data[target + j * r_steps.y] = A_STORE(BIAS ? sum[j] + bias : sum[j]);
}
