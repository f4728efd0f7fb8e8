// The weights z of which the computed roots are the exact ones (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 15, 1994), which
// makes the eigenvectors orthogonal; and the place of every eigenvalue in ascending order. One invocation for each.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 poles;        // (pairs, size), as are the others but counts
    uvec2 weights;
    uvec2 counts;       // (pairs, 2)
    uvec2 origins;
    uvec2 offsets;
    uvec2 values;
    uvec2 exact;        // the new weights
    uvec2 places;
    uvec2 ordered;      // the eigenvalues in ascending order
    uint count;         // pairs * size
    uint size;
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint pair = index / arguments.size;
    uint own = index - pair * arguments.size;
    uint base = pair * arguments.size;
    uint kept = uint(Integers(arguments.counts).data[2u * pair]);
    Reals d = Reals(vx_address(arguments.poles, pair, arguments.size));
    Reals offsets = Reals(vx_address(arguments.offsets, pair, arguments.size));
    Integers origins = Integers(arguments.origins);
    if (own < kept) {
        // Every factor is between 0 and 1, so that nothing is lost on the way.
        REAL pole = d.data[own];
        precise REAL square = (d.data[origins.data[base + kept - 1u]] - pole) + offsets.data[kept - 1u];
        EACH(j, 0u, kept - 1u, 1u) {
            precise REAL distance_ = (d.data[origins.data[base + j]] - pole) + offsets.data[j];
            square = square * (distance_ / (d.data[j < own ? j : j + 1u] - pole));
        }
        REAL root = sqrt(abs(square));
        REAL weight = Reals(vx_address(arguments.weights, pair, arguments.size)).data[own];
        Reals(vx_address(arguments.exact, pair, arguments.size)).data[own] = weight < REAL(0) ? -root : root;
    }
    Reals values = Reals(vx_address(arguments.values, pair, arguments.size));
    REAL value = values.data[own];
    uint place = 0u;
    EACH(j, 0u, arguments.size, 1u) {
        REAL other = values.data[j];
        place += uint(other < value || other == value && j < own);
    }
    Integers(arguments.places).data[index] = int(place);
    Reals(vx_address(arguments.ordered, pair, arguments.size)).data[place] = value;
}
