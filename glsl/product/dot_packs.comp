// The sums of product/dot.comp where the rows of a lie side by side, as those of a transposed matrix, or as parts of a sum that
// were computed apart: each invocation adds up a pack of LANES neighbouring rows, or, where those are few, a range of
// their products. b is one row for all of them.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/epilogue.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool HAS_B = true;
layout(constant_id = 2) const uint GROUPS = 1u; // invocations of a workgroup that share a sum, each a range of k
layout(constant_id = 3) const uint AT_ONCE = 16u; // loads, MOST at most

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Packs { PACK data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer ResultPacks { PACK data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) writeonly buffer ResultPairs { uvec2 data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Packs a;
    BElements b;
    RElements r;
    Addends bias, residual; // null where there is none
    uvec2 inputs[INPUTS];   // numbers of an expression that is linked, in their places
    uint count, packs;  // packs of all parts, and of one
    uint k, part;       // length of the sums, and of the parts they are cut into
    uint a_k;           // in packs
    int b_k;
    uint rank;          // of the stack of results, as in lib/stack.glsl, where something is added
    int layout_[388];
} arguments;

#include "lib/stack.glsl"

const int MOST = 16;
const uint COLUMNS = gl_WorkGroupSize.x / GROUPS;
shared PACK shared_[gl_WorkGroupSize.x];

T next(T a, T b, T sum) { return NEXT; }

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint index = group * COLUMNS + gl_LocalInvocationIndex % COLUMNS, share = gl_LocalInvocationIndex / COLUMNS;
    uint column = index % arguments.packs, first = index / arguments.packs * arguments.part, last = min(first + arguments.part, arguments.k);
    uint length = (arguments.part + GROUPS - 1u) / GROUPS, end = min(first + (share + 1u) * length, last);
    PACK total = PACK(0);
    for (uint k = first + share * length; k < end && index < arguments.count; k += AT_ONCE) {
        PACK pack[MOST];
        [[unroll]] for (uint u = 0u; u < AT_ONCE; ++u) {
            pack[u] = arguments.a.data[column + min(k + u, end - 1u) * arguments.a_k];
        }
        [[unroll]] for (uint u = 0u; u < AT_ONCE; ++u) {
            if (k + u < end) {
                T b = HAS_B ? B_LOAD(arguments.b.data[int(k + u) * arguments.b_k]) : T(0);
                [[unroll]] for (int l = 0; l < LANES; ++l) total[l] = next(pack[u][l], b, total[l]);
            }
        }
    }
    if (GROUPS > 1u) {
        shared_[gl_LocalInvocationIndex] = total;
        barrier();
        if (share > 0u) return;
        for (uint g = 1u; g < GROUPS; ++g) total += shared_[g * COLUMNS + gl_LocalInvocationIndex];
    }
    if (index >= arguments.count) return;
    [[unroll]] for (int l = 0; l < LANES; ++l) {
        Place place = Place(0, 0, 0, 0, 0, 0);
        if (BIASED || RESIDUAL) place = vx_place(index * LANES + uint(l));
        total[l] = vx_finish(total[l], place.bias, place.residual);
    }
#ifdef R_PACKED
    ResultPacks(uvec2(arguments.r)).data[index] = total;
#elif defined(R_BITS) && !defined(WIDE16) // two 16-bit numbers to a word
    uvec4 bits = uvec4(R_BITS(total[0]), R_BITS(total[1]), R_BITS(total[2]), R_BITS(total[3]));
    ResultPairs(uvec2(arguments.r)).data[index] = bits.xz | bits.yw << 16;
#else
    [[unroll]] for (int l = 0; l < LANES; ++l) arguments.r.data[index * LANES + l] = R_STORE(total[l]);
#endif
}
