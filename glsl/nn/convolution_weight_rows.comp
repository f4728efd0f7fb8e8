// The gradient of a convolution's weight as in nn_convolution_weight, for windows of a common WIDTH and STEP: a sum here is one
// row of taps, and each invocation takes BLOCK neighbouring windows at a time, so that an element is read once for all of them.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"
#include "lib/convolution_weight.glsl"

#define EACH [[unroll]] for (int j = 0; j < BLOCK; ++j)
#define EACH_TAP [[unroll]] for (int k = 0; k < WIDTH; ++k)
const int SPAN = (BLOCK - 1) * STEP + WIDTH;

void main() {
    ivec3 size = INPUT_SIZE, outputs = OUTPUT_SIZE, kernel = ivec3(KERNEL_SIZE.xy, 1), stride = STRIDE;
    ivec3 x_steps = PLANE_STRIDES(0), gradient_steps = PLANE_STRIDES(1);
    ivec3 blocks = ivec3(outputs.xy, (outputs.z + BLOCK - 1) / BLOCK);
    Sum own = vx_sum_of_invocation(uint(kernel.x * kernel.y), uint(blocks.x * blocks.y * blocks.z));
    ivec3 moved = vx_unflat(own.tap, kernel) * DILATION - PADDING;
    T sum[WIDTH];
    EACH_TAP sum[k] = T(0);
    for (uint n = own.first; n < own.end; ++n) {
        int x_base = int(n) * BATCH_STRIDE(0) + int(own.c) * CHANNEL_STRIDE(0);
        int gradient_base = int(n) * BATCH_STRIDE(1) + int(own.m) * CHANNEL_STRIDE(1);
        for (uint o = own.window + own.lane; o < own.last; o += LANES) {
            ivec3 window = vx_unflat(o, blocks);
            window.z *= BLOCK;
            ivec3 place = window * stride + moved;
            if (!vx_inside(ivec3(place.xy, 0), size)) continue;
            int row = x_base + place.x * x_steps.x + place.y * x_steps.y;
            int gradient_row = gradient_base + vx_sum(window * gradient_steps);
            T line[SPAN];
            [[unroll]] for (int k = 0; k < SPAN; ++k) {
                int z = place.z + k;
                line[k] = T(0);
                if (z >= 0 && z < size.z) line[k] = A_LOAD(arguments.x.data[row + z * x_steps.z]);
            }
            EACH {
                if (window.z + j < outputs.z) {
                    T other = A_LOAD(arguments.gradient.data[gradient_row + j * gradient_steps.z]);
                    EACH_TAP sum[k] = vx_multiply_add(line[j * STEP + k], other, sum[k]);
                }
            }
        }
    }
    EACH_TAP {
        T total = vx_total(sum[k], own.lane);
        if (own.inside && own.lane == 0u) arguments.r.data[own.index * WIDTH + k] = R_STORE(total);
    }
}
