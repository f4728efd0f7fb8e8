// The strips of L that linalg_lu_strips left in the order of the given matrix, in the order after all exchanges: one invocation for
// an element of a matrix.
#include "lib/extensions.glsl"
#include "lib/element.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Integers { int data[]; };

layout(push_constant, scalar) uniform Push {
    Elements given;     // L; the elements of a column side by side
    Elements lu;
    Integers rows_of;
    uint count;         // elements
    uint order;         // of the matrices
    uint width;         // of a strip
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    uint line = index / push.order, row = index - line * push.order;
    uint matrix = line / push.order, column = line - matrix * push.order;
    // The rows of U and of the triangle beside them are where they belong.
    if (row < (column / push.width + 1u) * push.width) return;
    push.lu.data[index] = push.given.data[line * push.order + uint(push.rows_of.data[matrix * push.order + row])];
}
