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

layout(push_constant, scalar) uniform Push {
    Triangle t;
    Columns b;
    uint count;         // matrices in the stack
    int rows, columns;  // of b
    int t_first, t_batch, t_row, t_column;  // where the first element is, and strides
    int b_first, b_batch, b_row, b_column;
    uint unit;          // the diagonal of t counts as ones
    uint conjugate;     // t counts as its conjugate
} push;

#define ROWS 4  // that are solved together, so that an element of x is loaded once for all of them
#define EACH [[unroll]] for (int r = 0; r < ROWS; ++r)

T triangle(int base, int row, int column) {
    // Past the edge the last row is read again, for values that are not stored.
    int last = push.rows - 1;
    T value = push.t.data[base + min(row, last) * push.t_row + min(column, last) * push.t_column];
    return vx_conjugate_if(value, push.conjugate != 0u);
}

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint matrix = index / uint(push.columns);
    if (matrix >= push.count) return;
    int column = int(index - matrix * uint(push.columns));
    int t = push.t_first + int(matrix) * push.t_batch;
    int b = push.b_first + int(matrix) * push.b_batch + column * push.b_column;
    for (int first = 0; first < push.rows; first += ROWS) {
        T x[ROWS];
        EACH x[r] = push.b.data[b + min(first + r, push.rows - 1) * push.b_row];
        for (int k = 0; k < first; ++k) {
            T known = -push.b.data[b + k * push.b_row];
            EACH x[r] = vx_add_product(triangle(t, first + r, k), known, x[r]);
        }
        EACH {
            if (push.unit == 0u) {
                T diagonal = triangle(t, first + r, first + r);
                x[r] = vx_quotient(x[r], diagonal, vx_inverse(diagonal));
            }
            if (first + r < push.rows) push.b.data[b + (first + r) * push.b_row] = x[r];
            [[unroll]] for (int s = r + 1; s < ROWS; ++s) {
                x[s] = vx_add_product(triangle(t, first + s, first + r), -x[r], x[s]);
            }
        }
    }
}
