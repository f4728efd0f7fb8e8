// The strips of L that linalg_lu_strips left in the order of the given matrix, in the order after all exchanges: one invocation for
// an element of a matrix.
#include "lib/extensions.glsl"
#include "lib/element.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements given;     // L; the elements of a column side by side
    Elements lu;
    Integers rows_of;
    uint count;         // elements
    uint order;         // of the matrices
    uint width;         // of a strip
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint line = index / arguments.order, row = index - line * arguments.order;
    uint matrix = line / arguments.order, column = line - matrix * arguments.order;
    // The rows of U and of the triangle beside them are where they belong.
    if (row < (column / arguments.width + 1u) * arguments.width) return;
    arguments.lu.data[index] = arguments.given.data[line * arguments.order + uint(arguments.rows_of.data[matrix * arguments.order + row])];
}
