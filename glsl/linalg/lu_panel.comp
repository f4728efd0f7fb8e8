// LU factorisation with partial pivoting of a panel, some columns of all remaining rows, of each matrix of a stack: one
// workgroup for a matrix, whose invocations take neighbouring rows. Crout's order: column j of L and U is made from the columns before it, its largest element is
// exchanged to the diagonal, then row j of U follows (Golub and Van Loan, Matrix Computations, 4th ed., section 3.2).
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"
#include "lib/pivot.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;         // the panel of the first matrix
    Integers rows_of;   // for each row of a matrix, which row of the original it is
    Integers pivots;    // for each column, with which row its own was exchanged
    Integers status;    // for each matrix: 1 + the first column without a pivot, or 0; how many rows were exchanged
    uint count;         // matrices
    int rows, columns;  // of the panel
    int first;          // its first column
    int order;          // of the matrices
    int batch, row, column;  // strides
} arguments;

shared KEY keys[gl_WorkGroupSize.x];
shared int places[gl_WorkGroupSize.x];

// What an invocation wrote to memory is read by others of its workgroup.
void meet() {
    groupMemoryBarrier();
    barrier();
}

int base;
int at(int row, int column) { return base + row * arguments.row + column * arguments.column; }

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= arguments.count) return;
    int local = int(gl_LocalInvocationIndex), size = int(gl_WorkGroupSize.x);
    base = int(matrix) * arguments.batch;
    int marks = int(matrix) * arguments.order + arguments.first;  // of this panel in rows_of and pivots
    if (arguments.first == 0) {
        for (int i = local; i < arguments.order; i += size) arguments.rows_of.data[marks + i] = i;
        if (local < 2) arguments.status.data[2 * matrix + local] = 0;
        meet();
    }

    for (int j = 0; j < arguments.columns; ++j) {
        // Column j, from the diagonal down.
        KEY best = NO_KEY;
        int place = NOWHERE;
        for (int i = j + local; i < arguments.rows; i += size) {
            T value = arguments.a.data[at(i, j)];
            for (int k = 0; k < j; ++k) value = vx_add_product(-arguments.a.data[at(i, k)], arguments.a.data[at(k, j)], value);
            arguments.a.data[at(i, j)] = value;
            vx_take_larger(best, place, key_of(value), i);
        }
        keys[local] = best;
        places[local] = place;
        for (int half_ = size / 2; half_ > 0; half_ /= 2) {
            barrier();
            if (local < half_) vx_take_larger(keys[local], places[local], keys[local + half_], places[local + half_]);
        }
        meet();
        int pivot_row = places[0];

        if (pivot_row != j) {
            for (int k = local; k < arguments.columns; k += size) {
                int here = at(j, k), there = at(pivot_row, k);
                T value = arguments.a.data[here];
                arguments.a.data[here] = arguments.a.data[there];
                arguments.a.data[there] = value;
            }
        }
        if (local == 0) {
            arguments.pivots.data[marks + j] = arguments.first + pivot_row;
            if (pivot_row != j) {
                int value = arguments.rows_of.data[marks + j];
                arguments.rows_of.data[marks + j] = arguments.rows_of.data[marks + pivot_row];
                arguments.rows_of.data[marks + pivot_row] = value;
                arguments.status.data[2 * matrix + 1] += 1;
            }
        }
        meet();

        // Row j of U, right of the diagonal, and column j of L below it.
        for (int c = j + 1 + local; c < arguments.columns; c += size) {
            T value = arguments.a.data[at(j, c)];
            for (int k = 0; k < j; ++k) value = vx_add_product(-arguments.a.data[at(j, k)], arguments.a.data[at(k, c)], value);
            arguments.a.data[at(j, c)] = value;
        }
        T pivot = arguments.a.data[at(j, j)];
        if (vx_vanishes(pivot)) {
            if (local == 0 && arguments.status.data[2 * matrix] == 0) arguments.status.data[2 * matrix] = arguments.first + j + 1;
        } else {
            T inverse = vx_inverse(pivot);
            for (int i = j + 1 + local; i < arguments.rows; i += size) {
                arguments.a.data[at(i, j)] = vx_quotient(arguments.a.data[at(i, j)], pivot, inverse);
            }
        }
        meet();
    }
}
