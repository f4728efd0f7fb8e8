// Reduction to Hessenberg form, first step of three for a column: the reflector that clears it below the subdiagonal.
// One workgroup works on a matrix.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 h;            // (batch, rows, n)
    uvec2 v;            // (batch, n)
    uvec2 taus;         // (batch,)
    uint batch, n, rows, column;
} arguments;

shared int exponent;
shared REAL sums[gl_WorkGroupSize.x];

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= arguments.batch) return;
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint n = arguments.n, column = arguments.column, first = column + 1u;
    uvec2 h = vx_address(arguments.h, matrix, arguments.rows * n);
    uvec2 v = vx_address(arguments.v, matrix, n);
    if (local == 0u) exponent = -2 * MAXIMUM_EXPONENT;
    barrier();
    int own = -2 * MAXIMUM_EXPONENT;
    EACH(i, first + local, n, size) own = max(own, vx_exponent_of(vx_larger_part(Elements(h).data[i * n + column])));
    atomicMax(exponent, own);
    barrier();
    int shift = -exponent;
    precise REAL sum = REAL(0);
    EACH(i, first + 1u + local, n, size) sum = sum + vx_squared(vx_shifted(Elements(h).data[i * n + column], shift));
    sums[local] = sum;
    barrier();
    for (uint half_ = size / 2u; half_ > 0u; half_ /= 2u) {
        if (local < half_) {
            precise REAL pair = sums[local] + sums[local + half_];
            sums[local] = pair;
        }
        barrier();
    }
    REAL rest = sums[0];
    T alpha = Elements(h).data[first * n + column];
    T beta = alpha, factor = T(0);
    REAL tau = REAL(0);
    if (rest > REAL(0)) {
        vx_hermitian_reflector(vx_shifted(alpha, shift), rest, beta, tau, factor);
        beta = vx_shifted(beta, -shift);
    }
    barrier();  // all have read alpha
    EACH(i, first + local, n, size) {
        T element = vx_times(factor, vx_shifted(Elements(h).data[i * n + column], shift));
        Elements(v).data[i] = i == first ? FROM_REAL(REAL(1)) : element;
        Elements(h).data[i * n + column] = i == first ? beta : T(0);
    }
    if (local == 0u) Reals(arguments.taus).data[matrix] = tau;
}
