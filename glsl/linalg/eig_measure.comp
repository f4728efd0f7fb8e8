// Looks at each matrix of a stack: the largest exponent, whether it is Hermitian, and how many elements beside the diagonal are
// not zero in every row and column. One invocation for a row and the column of the same number.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, n, n)
    uvec2 states;       // (batch, STATE_WORDS), zeros
    uvec2 filled;       // (batch, 2, n): of rows, then of columns
    uint batch, n;
} arguments;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint n = arguments.n, matrix = unit / n;
    if (matrix >= arguments.batch) return;
    uint row = unit - matrix * n;
    uvec2 a = vx_address(arguments.a, matrix, n * n);
    int exponent = -EXPONENT_BIAS, in_row = 0, in_column = 0;
    bool differs = false;
    EACH(k, 0u, n, 1u) {
        T element = Elements(a).data[row * n + k], mirrored = Elements(a).data[k * n + row];
        exponent = max(exponent, vx_largest_exponent(element));
        differs = differs || element != vx_conjugate(mirrored);
        if (k != row) {
            in_row += int(element != T(0));
            in_column += int(mirrored != T(0));
        }
    }
    uint state = matrix * STATE_WORDS;
    atomicMax(State(arguments.states).data[state + LARGEST], exponent + EXPONENT_BIAS);
    if (differs) atomicMax(State(arguments.states).data[state + DIFFERS], 1);
    State(arguments.filled).data[2u * matrix * n + row] = in_row;
    State(arguments.filled).data[2u * matrix * n + n + row] = in_column;
}
