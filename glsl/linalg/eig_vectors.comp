// The eigenvectors of triangular matrices by back substitution (LAPACK's xTREVC), one invocation for a vector: rows `first` to
// `last` of the solutions x of (T - t I) x = 0 with x[column] = 1. A difference of eigenvalues too small to divide by is
// replaced, and a vector that grows is scaled down by a power of two.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

#define LARGEST_EXPONENT 40

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 t;            // (batch, 2 n, n), the triangle above
    uvec2 x;            // (batch, n, n), a vector in each column
    uint batch, n, first, last;
} arguments;

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint n = arguments.n, matrix = unit / n;
    if (matrix >= arguments.batch) return;
    uint column = unit - matrix * n;
    uvec2 t = vx_address(arguments.t, matrix, 2u * n * n);
    uvec2 x = vx_address(arguments.x, matrix, n * n);
    C eigenvalue = Elements(t).data[column * n + column];
    precise REAL least = max(EPSILON * vx_size(eigenvalue), SMALLEST);
    for (uint i = arguments.last; i-- > arguments.first;) {
        if (i >= column) {
            Elements(x).data[i * n + column] = i == column ? C(1, 0) : C(0);
            continue;
        }
        C sum = C(0);
        EACH(j, i + 1u, column + 1u, 1u) {
            sum = vx_sum(sum, vx_times(Elements(t).data[i * n + j], Elements(x).data[j * n + column]));
        }
        if (vx_larger_part(sum) == REAL(0)) {
            Elements(x).data[i * n + column] = C(0);
            continue;
        }
        C apart = vx_difference(eigenvalue, Elements(t).data[i * n + i]);
        if (vx_size(apart) < least) apart = C(least, 0);
        int growth = vx_exponent_of(vx_larger_part(sum)) - vx_exponent_of(vx_larger_part(apart));
        int shift = 0;
        if (growth > LARGEST_EXPONENT) {
            shift = -growth;
            sum = vx_shifted(sum, shift);
            EACH(j, i + 1u, column + 1u, 1u) {
                Elements(x).data[j * n + column] = vx_shifted(Elements(x).data[j * n + column], shift);
            }
        }
        Elements(x).data[i * n + column] = vx_quotient(sum, apart);
    }
}
