// The binary exponent of the largest part of the lower triangle of each matrix of a stack. A workgroup takes one row.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer State { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, n, n)
    uvec2 state;        // (batch, 2): the exponent, below all others at first; whether the method failed
    uint batch, n;
} arguments;

shared int largest[gl_WorkGroupSize.x];

void main() {
    uint row = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = row / arguments.n;
    if (matrix >= arguments.batch) return;
    row -= matrix * arguments.n;
    Elements a = Elements(vx_address(arguments.a, matrix, arguments.n * arguments.n));
    int exponent = -MAXIMUM_EXPONENT * 2;
    EACH(column, gl_LocalInvocationIndex, row + 1u, gl_WorkGroupSize.x) {
        T element = a.data[row * arguments.n + column];
        if (column == row) element = FROM_REAL(vx_real(element));
        exponent = max(exponent, vx_largest_exponent(element));
    }
    largest[gl_LocalInvocationIndex] = exponent;
    barrier();
    if (gl_LocalInvocationIndex != 0u) return;
    for (uint k = 1u; k < gl_WorkGroupSize.x; ++k) exponent = max(exponent, largest[k]);
    atomicMax(State(arguments.state).data[2u * matrix], exponent);
}
