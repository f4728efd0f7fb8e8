// The row exchanges of a panel in the columns left and right of it: one invocation for a column of a matrix.
#include "lib/extensions.glsl"
#include "lib/element.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Integers { int data[]; };

layout(push_constant, scalar) uniform Push {
    Elements a;         // the first matrix
    Integers pivots;    // for each column, with which row its own was exchanged
    uint count;         // matrices
    int order;          // of the matrices
    int first, columns; // of the panel
    int batch, row, column_step;  // strides
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint others = uint(push.order - push.columns);
    uint matrix = index / others;
    if (matrix >= push.count) return;
    int column = int(index - matrix * others);
    if (column >= push.first) column += push.columns;
    int at = int(matrix) * push.batch + column * push.column_step;
    for (int j = push.first; j < push.first + push.columns; ++j) {
        int pivot_row = push.pivots.data[int(matrix) * push.order + j];
        if (pivot_row != j) {
            int here = at + j * push.row, there = at + pivot_row * push.row;
            ELEMENT_STORAGE value = push.a.data[here];
            push.a.data[here] = push.a.data[there];
            push.a.data[there] = value;
        }
    }
}
