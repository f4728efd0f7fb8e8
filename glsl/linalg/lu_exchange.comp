// The row exchanges of a panel in the columns left and right of it: one invocation for a column of a matrix.
#include "lib/extensions.glsl"
#include "lib/element.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;         // the first matrix
    Integers pivots;    // for each column, with which row its own was exchanged
    uint count;         // matrices
    int order;          // of the matrices
    int first, columns; // of the panel
    int batch, row, column;  // strides
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint others = uint(arguments.order - arguments.columns);
    uint matrix = index / others;
    if (matrix >= arguments.count) return;
    int column = int(index - matrix * others);
    if (column >= arguments.first) column += arguments.columns;
    int at = int(matrix) * arguments.batch + column * arguments.column;
    for (int j = arguments.first; j < arguments.first + arguments.columns; ++j) {
        int pivot_row = arguments.pivots.data[int(matrix) * arguments.order + j];
        if (pivot_row != j) {
            int here = at + j * arguments.row, there = at + pivot_row * arguments.row;
            ELEMENT_STORAGE value = arguments.a.data[here];
            arguments.a.data[here] = arguments.a.data[there];
            arguments.a.data[there] = value;
        }
    }
}
