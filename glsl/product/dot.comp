// r = a sum over k of two rows, one for each place of a stack of rows: from 0 on, sum becomes NEXT, which adds what the
// elements a and b contribute.
//
// LANES invocations share a sum: 1 where rows are many or lie side by side, a workgroup where they are few and long.
// The order of additions depends on LANES and k alone, so a result never changes between runs.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/epilogue.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LANES = 1u;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;
    BElements b;
    RElements r;
    Addends bias, residual; // null where there is none
    uvec2 inputs[INPUTS];   // numbers of an expression that is linked, in their places
    uint count;         // sums
    uint k, part;       // length of the rows, and of the parts they are cut into
    int a_k, b_k;
    uint rank;
    int layout_[388];   // see lib/stack.glsl
} arguments;

#include "lib/stack.glsl"

#define UNROLL 4u
shared T shared_[gl_WorkGroupSize.x];

T next(T sum, int a_offset, int b_offset) {
    T a = A_LOAD(arguments.a.data[a_offset]);
    T b = B_LOAD(arguments.b.data[b_offset]);
    return NEXT;
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint index = group * (gl_WorkGroupSize.x / LANES) + gl_LocalInvocationIndex / LANES;
    uint lane = gl_LocalInvocationIndex % LANES;
    bool inside = index < arguments.count;
    Place place = vx_place(inside ? index : 0u);
    uint length = inside ? min(arguments.part, arguments.k - uint(place.part) * arguments.part) : 0u;

    // Independent sums, so that loads and additions overlap.
    T total[UNROLL];
    [[unroll]] for (uint u = 0u; u < UNROLL; ++u) total[u] = T(0);
    uint k = lane;
    for (; k + (UNROLL - 1u) * LANES < length; k += UNROLL * LANES) {
        [[unroll]] for (uint u = 0u; u < UNROLL; ++u) {
            int at = int(k + u * LANES);
            total[u] = next(total[u], place.a + at * arguments.a_k, place.b + at * arguments.b_k);
        }
    }
    for (; k < length; k += LANES) total[0] = next(total[0], place.a + int(k) * arguments.a_k, place.b + int(k) * arguments.b_k);
    T sum = (total[0] + total[1]) + (total[2] + total[3]);

    if (LANES > 1u) {
        shared_[gl_LocalInvocationIndex] = sum;
        barrier();
        for (uint half_ = LANES / 2u; half_ > 0u; half_ /= 2u) {
            if (lane < half_) shared_[gl_LocalInvocationIndex] += shared_[gl_LocalInvocationIndex + half_];
            barrier();
        }
        sum = shared_[gl_LocalInvocationIndex];
    }
    if (inside && lane == 0u) arguments.r.data[place.r] = R_STORE(vx_finish(sum, place.bias, place.residual));
}
