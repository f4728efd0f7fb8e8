// R: the upper triangle of the first rows of a stack of matrices, each column scaled back by its power of two.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) readonly buffer Exponents { int data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, m, n)
    uvec2 exponents;    // (batch, n)
    uvec2 r;            // (batch, rows, n)
    uint batch, m, n, rows;
} arguments;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint tiles = (arguments.n + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    uint row = group / tiles;
    uint column = (group - row * tiles) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint matrix = row / arguments.rows;
    if (matrix >= arguments.batch || column >= arguments.n) return;
    row -= matrix * arguments.rows;
    T element = T(0);
    if (row <= column) {
        element = Elements(vx_address(arguments.a, matrix, arguments.m * arguments.n)).data[row * arguments.n + column];
        element = vx_shifted(element, Exponents(arguments.exponents).data[matrix * arguments.n + column]);
    }
    Results(vx_address(arguments.r, matrix, arguments.rows * arguments.n)).data[row * arguments.n + column] = element;
}
