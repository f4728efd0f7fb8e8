// Scales each column of a stack of complex matrices to a Euclidean norm of 1. With `real_input` the columns belong to a
// real matrix: those of a real eigenvalue become real, and that of the second of a conjugate pair the conjugate of the first.
// One invocation for a column.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 v;            // (batch, n, n)
    uvec2 t;            // (batch, 2 n, n), with the eigenvalues on its diagonal
    uint batch, n, real_input;
} arguments;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint n = arguments.n, matrix = unit / n;
    if (matrix >= arguments.batch) return;
    uint column = unit - matrix * n;
    uvec2 v = vx_address(arguments.v, matrix, n * n);
    REAL imaginary = Elements(vx_address(arguments.t, matrix, 2u * n * n)).data[column * n + column].y;
    bool real_input = arguments.real_input != 0u;
    bool pair = real_input && imaginary != REAL(0);
    if (pair && imaginary < REAL(0)) return;
    C largest = C(0);
    EACH(i, 0u, n, 1u) {
        C element = abs(Elements(v).data[i * n + column]);
        largest = max(largest, element);
    }
    int shift = -vx_exponent_of(vx_larger_part(largest));
    C squares = C(0);
    EACH(i, 0u, n, 1u) {
        C element = vx_shifted(Elements(v).data[i * n + column], shift);
        precise C square = element * element;
        squares = vx_sum(squares, square);
    }
    // A vector whose eigenvalue is real is a real one times some number, but for rounding: either part will do.
    bool take_real = real_input && !pair && squares.x >= squares.y, take_imaginary = real_input && !pair && !take_real;
    precise REAL sum = take_real ? squares.x : take_imaginary ? squares.y : squares.x + squares.y;
    precise REAL norm = sqrt(sum);
    EACH(i, 0u, n, 1u) {
        precise C element = vx_shifted(Elements(v).data[i * n + column], shift) / norm;
        if (take_real) element.y = REAL(0);
        if (take_imaginary) element = C(element.y, 0);
        Elements(v).data[i * n + column] = element;
        if (pair) Elements(v).data[i * n + column + 1u] = vx_conjugated(element);
    }
}
