// Cholesky factorisation of a stack of small Hermitian matrices, in place: the lower triangle of a becomes L with
// L conj(L)^T = a; one workgroup for a matrix. Column j of L is made from the columns before it (Golub and Van Loan, Matrix
// Computations, 4th ed., algorithm 4.2.1).
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
    Integers status;    // for each matrix: 1 + the first column whose pivot is not positive, or 0
    uint count;         // matrices
    int order;          // their rows
    int first;          // what their first column counts as in `status`
    int batch, row;     // strides
} push;

shared REAL pivot;

// What an invocation wrote to memory is read by others of its workgroup.
void meet() {
    groupMemoryBarrier();
    barrier();
}

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= push.count) return;
    int local = int(gl_LocalInvocationIndex), size = int(gl_WorkGroupSize.x);
    int base = int(matrix) * push.batch;
    for (int j = 0; j < push.order; ++j) {
        int diagonal = base + j * push.row;
        for (int i = j + local; i < push.order; i += size) {
            int row = base + i * push.row;
            T value = push.a.data[row + j];
            for (int k = 0; k < j; ++k) {
                value = vx_multiply_add(-push.a.data[row + k], vx_conjugate_if(push.a.data[diagonal + k], true), value);
            }
            push.a.data[row + j] = value;
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
        for (int i = j + local; i < push.order; i += size) {
            int at = base + i * push.row + j;
            T value = push.a.data[at];
#ifdef COMPLEX_T
            push.a.data[at] = i == j ? T(root, VX_ZERO) : T(vx_divide(value.x, root), vx_divide(value.y, root));
#else
            push.a.data[at] = i == j ? root : vx_divide(value, root);
#endif
        }
        meet();
    }
}
