// The sums of dot.comp where the rows of a lie side by side, as those of a transposed matrix, or as parts of a sum that
// were computed apart: each invocation adds up a pack of LANES neighbouring rows. b is one row for all of them.
//
// The products of a sum are added in their order.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool HAS_B = true;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Packs { PACK data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer ResultPacks { PACK data[]; };

layout(push_constant, scalar) uniform Push {
    Packs a;
    BElements b;
    RElements r;
    uint count, packs;  // packs of all parts, and of one
    uint k, part;       // length of the sums, and of the parts they are cut into
    uint a_k;           // in packs
    int b_k;
} push;

#ifndef AT_ONCE
#define AT_ONCE 8u // loads
#endif

T next(T a, T b, T sum) { return NEXT; }

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    uint first = index / push.packs * push.part, end = min(first + push.part, push.k), column = index % push.packs;
    PACK total = PACK(0);
    for (uint k = first; k < end; k += AT_ONCE) {
        PACK pack[AT_ONCE];
        [[unroll]] for (uint u = 0u; u < AT_ONCE; ++u) {
            pack[u] = push.a.data[column + min(k + u, end - 1u) * push.a_k];
        }
        [[unroll]] for (uint u = 0u; u < AT_ONCE; ++u) {
            if (k + u >= end) continue;
            T b = HAS_B ? B_LOAD(push.b.data[int(k + u) * push.b_k]) : T(0);
            [[unroll]] for (int l = 0; l < LANES; ++l) total[l] = next(pack[u][l], b, total[l]);
        }
    }
#ifdef R_PACKED
    ResultPacks(uvec2(push.r)).data[index] = total;
#else
    [[unroll]] for (int l = 0; l < LANES; ++l) push.r.data[index * LANES + l] = R_STORE(total[l]);
#endif
}
