// For each column of a matrix of gradients, over a chunk of its rows: the sum of the gradients times the normalized elements of
// another matrix, and the sum of the gradients. An invocation for each column and chunk; neighbours read neighbouring columns.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool CENTERED = true;

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) buffer Reals { T data[]; };

layout(push_constant, scalar) uniform Push {
    uvec2 gradients;
    uvec2 elements;
    uvec2 mean;  // of each row
    uvec2 rstd;
    uvec2 sums;  // of a chunk: all columns of the first sum, then of the second
    uint rows;
    uint columns;
    uint chunk;
} push;

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint chunk = invocation / push.columns;
    uint column = invocation - chunk * push.columns;
    uint first = chunk * push.chunk;
    if (first >= push.rows) return;
    precise T products = T(0);
    precise T gradients = T(0);
    for (uint row = first; row < min(first + push.chunk, push.rows); ++row) {
        uint place = row * push.columns + column;
        T gradient = A_LOAD(Elements(push.gradients).data[place]);
        precise T deviation = A_LOAD(Elements(push.elements).data[place]);
        if (CENTERED) deviation -= Reals(push.mean).data[row];
        products += gradient * (deviation * Reals(push.rstd).data[row]);
        gradients += gradient;
    }
    uint target = 2u * chunk * push.columns + column;
    Reals(push.sums).data[target] = products;
    Reals(push.sums).data[target + push.columns] = gradients;
}
