// The rows of right-hand sides in the order of the rows of L and U: x[i] = b[rows_of[i]] for each matrix of a stack, one
// invocation for an element.
#include "lib/extensions.glsl"
#include "lib/element.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements b;
    Elements x;
    Integers rows_of;
    uint count;         // elements
    uint rows, columns;
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint row = index / arguments.columns;
    uint first = row / arguments.rows * arguments.rows;  // of the matrix
    uint source = (first + uint(arguments.rows_of.data[row])) * arguments.columns + index % arguments.columns;
    arguments.x.data[index] = arguments.b.data[source];
}
