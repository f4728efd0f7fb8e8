// Eigenvalues scaled back by the power of two of their matrix.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) readonly buffer State { int data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 values;
    uvec2 state;        // (batch, 2)
    uvec2 result;       // (batch, n)
    uint count;         // batch * n
    uint n;
    uint pitch, step_;  // between the values of a matrix and the next, and of one value and the next
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint matrix = index / arguments.n;
    T value = Elements(vx_address(arguments.values, matrix, arguments.pitch)).data[(index - matrix * arguments.n) * arguments.step_];
    Results(arguments.result).data[index] = vx_shifted(value, State(arguments.state).data[2u * matrix]);
}
