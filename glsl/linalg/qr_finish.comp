// R: the upper triangle of the first rows of a stack of matrices, each column scaled back by its power of two.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) readonly buffer Exponents { int data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

layout(push_constant, scalar) uniform Push {
    uvec2 a;            // (batch, m, n)
    uvec2 exponents;    // (batch, n)
    uvec2 r;            // (batch, rows, n)
    uint batch, m, n, rows;
} push;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint tiles = (push.n + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    uint row = group / tiles;
    uint column = (group - row * tiles) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint matrix = row / push.rows;
    if (matrix >= push.batch || column >= push.n) return;
    row -= matrix * push.rows;
    T element = T(0);
    if (row <= column) {
        element = Elements(vx_address(push.a, matrix, push.m * push.n)).data[row * push.n + column];
        element = vx_shifted(element, Exponents(push.exponents).data[matrix * push.n + column]);
    }
    Results(vx_address(push.r, matrix, push.rows * push.n)).data[row * push.n + column] = element;
}
