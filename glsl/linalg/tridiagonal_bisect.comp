// Eigenvalues of symmetric tridiagonal matrices by bisection with Sturm sequences (LAPACK's xSTEBZ). One invocation narrows
// the bounds of one eigenvalue, some steps at a time: the state between dispatches is the bounds.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 diagonal;     // (batch, n)
    uvec2 off_diagonal; // (batch, n)
    uvec2 bounds;       // (batch, n, 2)
    uint count;         // batch * n
    uint n;
    uint begins;        // whether there are no bounds yet
    uint steps;
} arguments;

#ifdef DOUBLE
#define SMALLEST_PIVOT 1.1830521861667747e-271lf
#else
#define SMALLEST_PIVOT 7.8886091e-31
#endif

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint matrix = index / arguments.n;
    uint own = index - matrix * arguments.n;
    Reals d = Reals(vx_address(arguments.diagonal, matrix, arguments.n));
    Reals e = Reals(vx_address(arguments.off_diagonal, matrix, arguments.n));
    Reals bounds = Reals(vx_address(arguments.bounds, index, 2u));
    REAL low = bounds.data[0], high = bounds.data[1];
    if (arguments.begins != 0u) {
        // Beyond all eigenvalues; and the first number in the middle is 0, which is then found exactly.
        precise REAL beyond = vx_tridiagonal_norm(d, e, arguments.n) * (REAL(1) + REAL(4) * EPSILON);
        high = beyond;
        low = -beyond;
    }
    for (uint step_ = 0u; step_ < arguments.steps; ++step_) {
        precise REAL middle = low + (high - low) * REAL(0.5);
        if (!(middle > low && middle < high)) break;
        // The number of eigenvalues below the middle is that of negative pivots.
        uint below = 0u;
        precise REAL pivot = REAL(1);
        EACH(i, 0u, arguments.n, 1u) {
            REAL before = i == 0u ? REAL(0) : e.data[i - 1u];
            pivot = (d.data[i] - middle) - before * before / pivot;
            if (abs(pivot) < SMALLEST_PIVOT) pivot = -SMALLEST_PIVOT;
            below += uint(pivot < REAL(0));
        }
        if (below <= own) low = middle;
        else high = middle;
    }
    bounds.data[0] = low;
    bounds.data[1] = high;
}
