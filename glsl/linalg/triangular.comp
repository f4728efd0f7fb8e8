// b becomes the solution x of t x = b for a stack of lower triangular t of up to a few dozen rows: one invocation for a
// column of b, from the first row to the last. An upper triangular t read backwards, with negative strides from its last
// element on, is lower triangular here.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Triangle { T data[]; };
layout(buffer_reference, scalar) buffer Columns { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Triangle t;
    Columns b;
    uint count;         // matrices in the stack
    int rows, columns;  // of b
    int t_first, t_batch, t_row, t_column;  // where the first element is, and strides
    int b_first, b_batch, b_row, b_column;
    uint unit;          // the diagonal of t counts as ones
    uint conjugate;     // t counts as its conjugate
} arguments;

#define ROWS 4  // that are solved together, so that an element of x is loaded once for all of them
#define EACH [[unroll]] for (int r = 0; r < ROWS; ++r)

T triangle(int base, int row, int column) {
    // Past the edge the last row is read again, for values that are not stored.
    int last = arguments.rows - 1;
    T value = arguments.t.data[base + min(row, last) * arguments.t_row + min(column, last) * arguments.t_column];
    return vx_conjugate_if(value, arguments.conjugate != 0u);
}

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint matrix = index / uint(arguments.columns);
    if (matrix >= arguments.count) return;
    int column = int(index - matrix * uint(arguments.columns));
    int t = arguments.t_first + int(matrix) * arguments.t_batch;
    int b = arguments.b_first + int(matrix) * arguments.b_batch + column * arguments.b_column;
    for (int first = 0; first < arguments.rows; first += ROWS) {
        T x[ROWS];
        EACH x[r] = arguments.b.data[b + min(first + r, arguments.rows - 1) * arguments.b_row];
        for (int k = 0; k < first; ++k) {
            T known = -arguments.b.data[b + k * arguments.b_row];
            EACH x[r] = vx_add_product(triangle(t, first + r, k), known, x[r]);
        }
        EACH {
            if (arguments.unit == 0u) {
                T diagonal = triangle(t, first + r, first + r);
                x[r] = vx_quotient(x[r], diagonal, vx_inverse(diagonal));
            }
            if (first + r < arguments.rows) arguments.b.data[b + (first + r) * arguments.b_row] = x[r];
            [[unroll]] for (int s = r + 1; s < ROWS; ++s) {
                x[s] = vx_add_product(triangle(t, first + s, first + r), -x[r], x[s]);
            }
        }
    }
}
