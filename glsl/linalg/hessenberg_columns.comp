// Reduction to Hessenberg form, second step of three for a column: z = tau v^H H, what the reflector I - tau v v^H takes off
// the rows of H is v z. LANES invocations share a column of H.
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
    uint columns = gl_WorkGroupSize.x / LANES;
    uint tiles = (n - first + columns - 1u) / columns;
    uint matrix = group / tiles;
    if (matrix >= arguments.batch) return;
    uvec2 h = vx_address(arguments.h, matrix, arguments.rows * n);
    uvec2 v = vx_address(arguments.v, matrix, n);
    uint place = gl_LocalInvocationIndex % columns, lane = gl_LocalInvocationIndex / columns;
    uint column = first + (group - matrix * tiles) * columns + place;
    T sum = T(0);
    if (column < n) {
        EACH(i, first + lane, n, LANES) {
            sum = vx_sum(sum, vx_times(vx_conjugate(Elements(v).data[i]), Elements(h).data[i * n + column]));
        }
    }
    sums[gl_LocalInvocationIndex] = sum;
    for (uint half_ = LANES / 2u; half_ > 0u; half_ /= 2u) {
        barrier();
        if (lane < half_) {
            sum = vx_sum(sum, sums[gl_LocalInvocationIndex + half_ * columns]);
            sums[gl_LocalInvocationIndex] = sum;
        }
    }
    if (lane == 0u && column < n) {
        Elements(vx_address(arguments.z, matrix, n)).data[column] = vx_scaled(sum, Reals(arguments.taus).data[matrix]);
    }
}
