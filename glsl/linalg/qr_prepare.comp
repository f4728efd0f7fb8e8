// Scales each column of a stack of matrices by a power of two so that its largest part is in [1, 2). A workgroup takes
// COLUMNS columns of one matrix; its invocations share the rows.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 32u;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) writeonly buffer Exponents { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;
    uvec2 exponents;
    uint batch, m, n;
} arguments;

shared int largest[gl_WorkGroupSize.x];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint tiles = (arguments.n + COLUMNS - 1u) / COLUMNS;
    uint matrix = group / tiles;
    if (matrix >= arguments.batch) return;
    uint place = gl_LocalInvocationIndex % COLUMNS;
    uint column = (group - matrix * tiles) * COLUMNS + place;
    uint lane = gl_LocalInvocationIndex / COLUMNS;
    uint lanes = gl_WorkGroupSize.x / COLUMNS;
    Elements a = Elements(vx_address(arguments.a, matrix, arguments.m * arguments.n));
    // Exponents as integers are ordered also where there are infinities and NaN, whose columns stay as they are.
    int exponent = -MAXIMUM_EXPONENT * 2;
    if (column < arguments.n) {
        EACH(i, lane, arguments.m, lanes) exponent = max(exponent, vx_largest_exponent(a.data[i * arguments.n + column]));
    }
    largest[gl_LocalInvocationIndex] = exponent;
    barrier();
    if (column >= arguments.n) return;
    for (uint k = 0u; k < lanes; ++k) exponent = max(exponent, largest[k * COLUMNS + place]);
    if (exponent == MAXIMUM_EXPONENT) exponent = 0;
    if (exponent != 0) {
        EACH(i, lane, arguments.m, lanes) a.data[i * arguments.n + column] = vx_shifted(a.data[i * arguments.n + column], -exponent);
    }
    if (lane == 0u) Exponents(arguments.exponents).data[matrix * arguments.n + column] = exponent;
}
