// The sums of product/dot.comp on CPU drivers, each added up by one invocation in the same order. Both operands are bound, and read in
// texels of PACK elements: these drivers load a texel at once, and through an address lane by lane.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/epilogue.glsl"
#include "lib/texels.glsl"

layout(local_size_x_id = 0) in;
// Texels lie along k, or those of a across PACK rows, which an invocation adds up all. Otherwise each element is found in its texel.
layout(constant_id = 1) const bool A_ALONG_K = false;
layout(constant_id = 2) const bool A_ACROSS = false;
layout(constant_id = 3) const bool B_ALONG_K = false;

layout(binding = 0) uniform usamplerBuffer a_texels;
layout(binding = 1) uniform usamplerBuffer b_texels;
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    int a, b;  // the element of what is bound from which places count
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

const int UNROLL = 4;
const int ROWS = A_ACROSS ? PACK : 1;  // of an invocation

T next(T a, T b, T sum) { return NEXT; }

#define FETCH(NAME, PLACE) texelFetch(NAME##_texels, int(uint(PLACE) / uint(PACK)))
#define ELEMENT(NAME, PLACE) TEXEL(FETCH(NAME, PLACE), int(uint(PLACE) % uint(PACK)))
#define EACH_STEP [[unroll]] for (int u = 0; u < UNROLL; ++u)
#define EACH_ROW [[unroll]] for (int row = 0; row < ROWS; ++row)
#define EACH_TEXEL [[unroll]] for (int t = 0; t < UNROLL / PACK; ++t)
#define EACH_ELEMENT [[unroll]] for (int e = 0; e < PACK; ++e)

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint index = (group * gl_WorkGroupSize.x + gl_LocalInvocationIndex) * uint(ROWS);
    if (index >= arguments.count) return;
    Place place = vx_place(index);
    int length = int(min(arguments.part, arguments.k - uint(place.part) * arguments.part));
    int a_first = arguments.a + place.a, b_first = arguments.b + place.b, a_k = arguments.a_k, b_k = arguments.b_k;

    T total[UNROLL][PACK];
    EACH_STEP EACH_ROW total[u][row] = T(0);
    int k = 0;
    for (; k + UNROLL <= length; k += UNROLL) {
        T a[UNROLL][PACK], b[UNROLL];
        if (A_ALONG_K) {
            EACH_TEXEL {
                uvec4 texel = FETCH(a, a_first + k + t * PACK);
                EACH_ELEMENT a[t * PACK + e][0] = TEXEL(texel, e);
            }
        } else if (A_ACROSS) {
            EACH_STEP {
                uvec4 texel = FETCH(a, a_first + (k + u) * a_k);
                EACH_ELEMENT a[u][e] = TEXEL(texel, e);
            }
        } else {
            EACH_STEP a[u][0] = ELEMENT(a, a_first + (k + u) * a_k);
        }
        if (B_ALONG_K) {
            EACH_TEXEL {
                uvec4 texel = FETCH(b, b_first + k + t * PACK);
                EACH_ELEMENT b[t * PACK + e] = TEXEL(texel, e);
            }
        } else {
            EACH_STEP b[u] = ELEMENT(b, b_first + (k + u) * b_k);
        }
        EACH_STEP EACH_ROW total[u][row] = next(a[u][row], b[u], total[u][row]);
    }
    for (; k < length; ++k) {
        T b = ELEMENT(b, b_first + k * b_k);
        EACH_ROW total[0][row] = next(ELEMENT(a, a_first + k * a_k + row), b, total[0][row]);
    }
    EACH_ROW {
        T sum = (total[0][row] + total[1][row]) + (total[2][row] + total[3][row]);
        if (row > 0) place = vx_place(index + uint(row));
        arguments.r.data[place.r] = R_STORE(vx_finish(sum, place.bias, place.residual));
    }
}
