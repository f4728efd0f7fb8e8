// The gradient of a convolution's weight where groups have few channels: r[part, m, c, tap] is the sum of gradient[n, m, o]
// times the element of x under that tap of window o, over the windows and the elements n of a part of the batch.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"
#include "lib/convolution_weight.glsl"

void main() {
    ivec3 size = INPUT_SIZE, outputs = OUTPUT_SIZE, kernel = KERNEL_SIZE, stride = STRIDE;
    ivec3 x_steps = PLANE_STRIDES(0), gradient_steps = PLANE_STRIDES(1);
    Sum own = vx_sum_of_invocation(uint(kernel.x * kernel.y * kernel.z), uint(outputs.x * outputs.y * outputs.z));
    ivec3 moved = vx_unflat(own.tap, kernel) * DILATION - PADDING;
    T sum = T(0);
    for (uint n = own.first; n < own.end; ++n) {
        int x_base = int(n) * BATCH_STRIDE(0) + int(own.c) * CHANNEL_STRIDE(0);
        int gradient_base = int(n) * BATCH_STRIDE(1) + int(own.m) * CHANNEL_STRIDE(1);
        for (uint o = own.window + own.lane; o < own.last; o += LANES) {
            ivec3 window = vx_unflat(o, outputs);
            ivec3 place = window * stride + moved;
            if (vx_inside(place, size)) {
                T one = A_LOAD(arguments.x.data[x_base + vx_sum(place * x_steps)]);
                T other = A_LOAD(arguments.gradient.data[gradient_base + vx_sum(window * gradient_steps)]);
                sum = vx_multiply_add(one, other, sum);
            }
        }
    }
    T total = vx_total(sum, own.lane);
    if (own.inside && own.lane == 0u) arguments.r.data[own.index] = R_STORE(total);
}
