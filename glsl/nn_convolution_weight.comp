// The gradient of a convolution's weight where groups have few channels: r[part, m, c, tap] is the sum of gradient[n, m, o]
// times the element of x under that tap of window o, over the windows and the elements n of a part of the batch.
//
// LANES invocations share a sum: 1 on CPU drivers, up to a workgroup on a GPU. Windows are taken in blocks, for llvmpipe
// leaves a loop after 65,535 turns.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LANES = 1u;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };

layout(push_constant, scalar) uniform Push {
    AElements x;
    AElements gradient;
    RElements r;
    Table table;
    uint count;           // sums, of all parts
    uint sums;            // of a part: elements of the weight
    uint batch, part;     // elements of the batch, in all and in a part
    uint from, to;        // channels of x and of the gradient in a group
} push;

#define BLOCK 32768u
shared T shared_[gl_WorkGroupSize.x];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint index = group * (gl_WorkGroupSize.x / LANES) + gl_LocalInvocationIndex / LANES;
    uint lane = gl_LocalInvocationIndex % LANES;
    bool inside = index < push.count;
    uint which = inside ? index : 0u;
    ivec3 size = INPUT_SIZE, outputs = OUTPUT_SIZE, kernel = KERNEL_SIZE, stride = STRIDE;
    ivec3 x_steps = PLANE_STRIDES(0), gradient_steps = PLANE_STRIDES(1);
    uint taps = uint(kernel.x * kernel.y * kernel.z);
    uint part = which / push.sums;
    uint rest = which - part * push.sums;
    uint tap = rest % taps;
    rest /= taps;
    uint m = rest / push.from;
    uint c = rest - m * push.from + m / push.to * push.from;
    ivec3 moved = vx_unflat(tap, kernel) * DILATION - PADDING;
    uint windows = uint(outputs.x * outputs.y * outputs.z);
    uint first = part * push.part, end = inside ? min(first + push.part, push.batch) : first;
    T sum = T(0);
    for (uint n = first; n < end; ++n) {
        int x_base = int(n) * BATCH_STRIDE(0) + int(c) * CHANNEL_STRIDE(0);
        int gradient_base = int(n) * BATCH_STRIDE(1) + int(m) * CHANNEL_STRIDE(1);
        for (uint block = 0u; block < windows; block += BLOCK) {
            for (uint o = block + lane; o < min(windows, block + BLOCK); o += LANES) {
                ivec3 window = vx_unflat(o, outputs);
                ivec3 place = window * stride + moved;
                if (vx_inside(place, size)) {
                    T one = A_LOAD(push.x.data[x_base + vx_sum(place * x_steps)]);
                    T other = A_LOAD(push.gradient.data[gradient_base + vx_sum(window * gradient_steps)]);
                    sum = vx_multiply_add(one, other, sum);
                }
            }
        }
    }
    if (LANES > 1u) {
        shared_[gl_LocalInvocationIndex] = sum;
        barrier();
        for (uint half_ = LANES / 2u; half_ > 0u; half_ /= 2u) {
            if (lane < half_) shared_[gl_LocalInvocationIndex] += shared_[gl_LocalInvocationIndex + half_];
            barrier();
        }
        sum = shared_[gl_LocalInvocationIndex];
    }
    if (inside && lane == 0u) push.r.data[index] = R_STORE(sum);
}
