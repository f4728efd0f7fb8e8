// The determinant of each matrix of a stack from its LU factorisation, as value 2^exponent, so that no product on the way
// overflows or vanishes: one invocation for a matrix.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) writeonly buffer Values { T data[]; };
layout(buffer_reference, scalar) readonly buffer Status { int data[]; };
layout(buffer_reference, scalar) writeonly buffer Exponents { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;         // the first factored matrix
    Status status;      // for each matrix two integers, the second how many rows were exchanged
    Values values;
    Exponents exponents;
    uint count;         // matrices
    int order;          // of the matrices
    int batch, step;    // strides of matrices and along their diagonal
    uint whole;         // write the determinant itself to `values`, and no exponents
} arguments;

// x 2^-exponent of about 1, where x is finite and not zero.
T normalised(T x, inout int exponent) {
#ifdef COMPLEX_T
    REAL larger = vx_larger_part(x);
#else
    REAL larger = vx_absolute(x);
#endif
    if (vx_is_zero(larger) || !vx_isfinite(larger)) return x;
    int own = vx_binary_exponent(larger);
    exponent += own;
    return vx_scaled(x, -own);
}

void main() {
    uint matrix = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (matrix >= arguments.count) return;
#ifdef COMPLEX_T
    T value = T(1.0, 0.0);
#else
    T value = T(1.0);
#endif
    int exponent = 0;
    for (int i = 0; i < arguments.order; ++i) {
        T pivot = normalised(arguments.a.data[int(matrix) * arguments.batch + i * arguments.step], exponent);
        precise T product = vx_multiply(value, pivot);
        value = normalised(product, exponent);
    }
    bool negative = (arguments.status.data[2 * matrix + 1] & 1) != 0;
    if (negative && !vx_vanishes(value)) value = -value;
    if (arguments.whole != 0u) {
        arguments.values.data[matrix] = vx_scaled(value, exponent);
    } else {
        arguments.values.data[matrix] = value;
        arguments.exponents.data[matrix] = exponent;
    }
}
