// Hermitian matrices from their lower triangles, scaled by a power of two so that the largest part is in [1, 2); zeros
// for a matrix that has a NaN or an infinity.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) readonly buffer State { int data[]; };

layout(push_constant, scalar) uniform Push {
    uvec2 a;
    uvec2 state;
    uint batch, n;
} push;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint tiles = (push.n + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    uint row = group / tiles;
    uint column = (group - row * tiles) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint matrix = row / push.n;
    row -= matrix * push.n;
    if (matrix >= push.batch || column > row) return;
    Elements a = Elements(vx_address(push.a, matrix, push.n * push.n));
    int exponent = State(push.state).data[2u * matrix];
    T element = T(0);
    if (exponent != MAXIMUM_EXPONENT) element = vx_shifted(a.data[row * push.n + column], -exponent);
    if (row == column) element = FROM_REAL(vx_real(element));
    a.data[row * push.n + column] = element;
    a.data[column * push.n + row] = vx_conjugate(element);
}
