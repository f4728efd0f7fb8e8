// Reduction to Hessenberg form, last step of three for a column: a row of H first takes its part of the reflection from the
// left, then, as the rows below H that gather the product of all reflectors do, the one from the right. LANES invocations
// share a row.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LANES = 8u;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 h;            // (batch, rows, n)
    uvec2 v;            // (batch, n)
    uvec2 z;            // (batch, n)
    uvec2 taus;         // (batch,)
    uint batch, n, rows, column;
} arguments;

shared T sums[gl_WorkGroupSize.x];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint n = arguments.n, first = arguments.column + 1u;
    uint rows = gl_WorkGroupSize.x / LANES;
    uint tiles = (arguments.rows + rows - 1u) / rows;
    uint matrix = group / tiles;
    if (matrix >= arguments.batch) return;
    REAL tau = Reals(arguments.taus).data[matrix];
    if (tau == REAL(0)) return;
    uint local = gl_LocalInvocationIndex, lane = local % LANES;
    uint row = (group - matrix * tiles) * rows + local / LANES;
    bool inside = row < arguments.rows;
    uvec2 h = vx_address(arguments.h, matrix, arguments.rows * n);
    uvec2 v = vx_address(arguments.v, matrix, n);
    uvec2 z = vx_address(arguments.z, matrix, n);
    T sum = T(0);
    if (inside) {
        bool reflected = row >= first && row < n;
        T own = reflected ? Elements(v).data[row] : T(0);
        EACH(j, first + lane, n, LANES) {
            T element = Elements(h).data[row * n + j];
            if (reflected) {
                element = vx_difference(element, vx_times(own, Elements(z).data[j]));
                Elements(h).data[row * n + j] = element;
            }
            sum = vx_sum(sum, vx_times(element, Elements(v).data[j]));
        }
    }
    sums[local] = sum;
    for (uint half_ = LANES / 2u; half_ > 0u; half_ /= 2u) {
        barrier();
        if (lane < half_) {
            sum = vx_sum(sum, sums[local + half_]);
            sums[local] = sum;
        }
    }
    barrier();
    sum = vx_scaled(sums[local - lane], tau);
    if (!inside) return;
    EACH(j, first + lane, n, LANES) {
        T taken = vx_times(sum, vx_conjugate(Elements(v).data[j]));
        Elements(h).data[row * n + j] = vx_difference(Elements(h).data[row * n + j], taken);
    }
}
