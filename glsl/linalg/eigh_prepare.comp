// Hermitian matrices from their lower triangles, scaled by a power of two so that the largest part is in [1, 2); zeros
// for a matrix that has a NaN or an infinity.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) readonly buffer State { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;
    uvec2 state;
    uint batch, n;
} arguments;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint tiles = (arguments.n + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    uint row = group / tiles;
    uint column = (group - row * tiles) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint matrix = row / arguments.n;
    row -= matrix * arguments.n;
    if (matrix >= arguments.batch || column > row) return;
    Elements a = Elements(vx_address(arguments.a, matrix, arguments.n * arguments.n));
    int exponent = State(arguments.state).data[2u * matrix];
    T element = T(0);
    if (exponent != MAXIMUM_EXPONENT) element = vx_shifted(a.data[row * arguments.n + column], -exponent);
    if (row == column) element = FROM_REAL(vx_real(element));
    a.data[row * arguments.n + column] = element;
    a.data[column * arguments.n + row] = vx_conjugate(element);
}
