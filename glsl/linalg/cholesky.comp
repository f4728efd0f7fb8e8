// Cholesky factorisation of a stack of small Hermitian matrices, in place: the upper triangle of a becomes U with
// conj(U)^T U = a; one workgroup for a matrix, whose invocations take neighbouring columns. Row j of U is made from the rows
// before it (Golub and Van Loan, Matrix Computations, 4th ed., algorithm 4.2.1, transposed).
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"
#ifdef DOUBLE
#include "lib/float64/power.glsl"
#else
#include "lib/float32/power.glsl"
#endif

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(push_constant, scalar) uniform Push {
    Elements a;         // the first matrix
    Integers status;    // for each matrix: 1 + the first row whose pivot is not positive, or 0
    uint count;         // matrices
    int order;          // their rows
    int first;          // what their first row counts as in `status`
    int batch, row;     // strides
} push;

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
    if (matrix >= push.count) return;
    int local = int(gl_LocalInvocationIndex), size = int(gl_WorkGroupSize.x);
    int base = int(matrix) * push.batch;
    for (int j = 0; j < push.order; ++j) {
        int row = base + j * push.row;
        for (int i = j + local; i < push.order; i += size) {
            T value = push.a.data[row + i];
            for (int k = 0; k < j; ++k) {
                int above = base + k * push.row;
                value = vx_add_product(-vx_conjugate_if(push.a.data[above + j], true), push.a.data[above + i], value);
            }
            push.a.data[row + i] = value;
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
        if (!positive && !vx_is_nan(square) && local == 0 && push.status.data[matrix] == 0) push.status.data[matrix] = push.first + j + 1;
        REAL root = vx_sqrt(square);
        REAL inverse = vx_inverse_of(root);
        for (int i = j + local; i < push.order; i += size) {
            T value = push.a.data[row + i];
#ifdef COMPLEX_T
            push.a.data[row + i] = i == j ? T(root, VX_ZERO) : T(by_root(value.x, root, inverse), by_root(value.y, root, inverse));
#else
            push.a.data[row + i] = i == j ? root : by_root(value, root, inverse);
#endif
        }
        meet();
    }
}
