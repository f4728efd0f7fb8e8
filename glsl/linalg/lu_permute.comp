// The rows of right-hand sides in the order of the rows of L and U: x[i] = b[rows_of[i]] for each matrix of a stack, one
// invocation for an element.
#include "lib/extensions.glsl"
#include "lib/element.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Integers { int data[]; };

layout(push_constant, scalar) uniform Push {
    Elements b;
    Elements x;
    Integers rows_of;
    uint count;         // elements
    uint rows, columns;
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    uint row = index / push.columns;
    uint first = row / push.rows * push.rows;  // of the matrix
    uint source = (first + uint(push.rows_of.data[row])) * push.columns + index % push.columns;
    push.x.data[index] = push.b.data[source];
}
