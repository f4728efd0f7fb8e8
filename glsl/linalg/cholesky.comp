// Cholesky factorisation of a stack of small Hermitian matrices: the upper triangle of a becomes U with
// conj(U)^T U = a; one workgroup for a matrix, whose invocations take neighbouring columns. Row j of U is made from the rows
// before it (Golub and Van Loan, Matrix Computations, 4th ed., algorithm 4.2.1, transposed).
//
// IN_PLACE: a is a block of a larger matrix. Otherwise the matrix is copied from the source first, and what is left in a is
// UPPER, U and zeros, or LOWER, its transpose and zeros.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"
#ifdef DOUBLE
#include "lib/float64/power.glsl"
#else
#include "lib/float32/power.glsl"
#endif

layout(local_size_x_id = 0) in;

#define IN_PLACE 0
#define UPPER 1
#define LOWER 2

layout(buffer_reference, scalar) buffer Elements { T data[]; };
#ifdef DOUBLE
#define PART_BYTES 8
#else
#define PART_BYTES 4
#endif
layout(buffer_reference, scalar, buffer_reference_align = PART_BYTES) readonly buffer Source { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;         // the first matrix
    Integers status;    // for each matrix: 1 + the first row whose pivot is not positive, or 0
    uint count;         // matrices
    int order;          // their rows
    int first;          // what their first row counts as in `status`
    int batch, row;     // strides
    int form;
    Source source;
    int source_first, source_batch, source_row, source_column;  // where the first element is, and strides
} arguments;

shared REAL pivot;

// What an invocation wrote to memory is read by others of its workgroup.
void meet() {
    groupMemoryBarrier();
    barrier();
}

REAL by_root(REAL value, REAL root, REAL inverse) {
    return vx_is_zero(inverse) ? vx_divide(value, root) : vx_quotient_by(value, root, inverse);
}

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= arguments.count) return;
    int local = int(gl_LocalInvocationIndex), size = int(gl_WorkGroupSize.x);
    int base = int(matrix) * arguments.batch;
    if (arguments.form != IN_PLACE) {
        if (local == 0) arguments.status.data[matrix] = 0;
        int from = arguments.source_first + int(matrix) * arguments.source_batch;
        for (int place = local; place < arguments.order * arguments.order; place += size) {
            int i = place / arguments.order, k = place - i * arguments.order;
            if (i <= k) arguments.a.data[base + i * arguments.row + k] = arguments.source.data[from + i * arguments.source_row + k * arguments.source_column];
        }
        meet();
    }
    for (int j = 0; j < arguments.order; ++j) {
        int row = base + j * arguments.row;
        for (int i = j + local; i < arguments.order; i += size) {
            T value = arguments.a.data[row + i];
            for (int k = 0; k < j; ++k) {
                int above = base + k * arguments.row;
                value = vx_add_product(-vx_conjugate_if(arguments.a.data[above + j], true), arguments.a.data[above + i], value);
            }
            arguments.a.data[row + i] = value;
            if (i == j) pivot = VX_REAL_PART(value);
        }
        meet();
        REAL square = pivot;
#ifdef DOUBLE
        bool positive = square > VX_ZERO;
#else
        bool positive = floatBitsToInt(square) > 0;  // a comparison may take subnormal numbers for zero
#endif
        // NaN goes on into the result.
        if (!positive && !vx_is_nan(square) && local == 0 && arguments.status.data[matrix] == 0) arguments.status.data[matrix] = arguments.first + j + 1;
        REAL root = vx_sqrt(square);
        REAL inverse = vx_inverse_of(root);
        for (int i = j + local; i < arguments.order; i += size) {
            T value = arguments.a.data[row + i];
#ifdef COMPLEX_T
            arguments.a.data[row + i] = i == j ? T(root, VX_ZERO) : T(by_root(value.x, root, inverse), by_root(value.y, root, inverse));
#else
            arguments.a.data[row + i] = i == j ? root : by_root(value, root, inverse);
#endif
        }
        meet();
    }
    if (arguments.form != IN_PLACE) {
        for (int place = local; place < arguments.order * arguments.order; place += size) {
            int i = place / arguments.order, k = place - i * arguments.order;
            if (i >= k) continue;
            int above = base + i * arguments.row + k, below = base + k * arguments.row + i;
            if (arguments.form == LOWER) {
                arguments.a.data[below] = arguments.a.data[above];
                arguments.a.data[above] = T(VX_ZERO);
            } else {
                arguments.a.data[below] = T(VX_ZERO);
            }
        }
    }
}
