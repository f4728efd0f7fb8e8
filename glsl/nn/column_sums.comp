// For each column of a matrix of gradients, over a chunk of its rows: the sum of the gradients times the normalized elements of
// another matrix, and the sum of the gradients. An invocation for each column and chunk; neighbours read neighbouring columns.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool CENTERED = true;

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) buffer Reals { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 gradients;
    uvec2 elements;
    uvec2 mean;  // of each row
    uvec2 rstd;
    uvec2 sums;  // of a chunk: all columns of the first sum, then of the second
    uint rows;
    uint columns;
    uint chunk;
} arguments;

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint chunk = invocation / arguments.columns;
    uint column = invocation - chunk * arguments.columns;
    uint first = chunk * arguments.chunk;
    if (first >= arguments.rows) return;
    precise T products = T(0);
    precise T gradients = T(0);
    for (uint row = first; row < min(first + arguments.chunk, arguments.rows); ++row) {
        uint place = row * arguments.columns + column;
        T gradient = A_LOAD(Elements(arguments.gradients).data[place]);
        precise T deviation = A_LOAD(Elements(arguments.elements).data[place]);
        if (CENTERED) deviation -= Reals(arguments.mean).data[row];
        products += gradient * (deviation * Reals(arguments.rstd).data[row]);
        gradients += gradient;
    }
    uint target = 2u * chunk * arguments.columns + column;
    Reals(arguments.sums).data[target] = products;
    Reals(arguments.sums).data[target + arguments.columns] = gradients;
}
