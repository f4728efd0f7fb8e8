// The eigenvectors of two joined blocks, in terms of the eigenvectors of each: normalised, with the rotations of the deflation
// undone, in the order of the eigenvalues. One invocation makes one eigenvector, a column.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 poles;        // (pairs, size), as are the others but where said
    uvec2 exact;
    uvec2 slots;
    uvec2 counts;       // (pairs, 2)
    uvec2 origins;
    uvec2 offsets;
    uvec2 places;
    uvec2 rotated;      // (pairs, size, 2)
    uvec2 rotations;    // (pairs, size, 2)
    uvec2 vectors;      // (pairs, size, size)
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
    uint turned = uint(Integers(arguments.counts).data[2u * pair + 1u]);
    Reals d = Reals(vx_address(arguments.poles, pair, arguments.size));
    Reals z = Reals(vx_address(arguments.exact, pair, arguments.size));
    Integers slots = Integers(arguments.slots);
    Reals vectors = Reals(vx_address(arguments.vectors, pair, arguments.size * arguments.size));
    uint column = uint(Integers(arguments.places).data[index]);
    if (own < kept) {
        REAL pole = d.data[Integers(arguments.origins).data[index]];
        REAL mu = Reals(vx_address(arguments.offsets, pair, arguments.size)).data[own];
        precise REAL square = REAL(0);
        EACH(i, 0u, kept, 1u) {
            precise REAL element = z.data[i] / ((d.data[i] - pole) - mu);
            square = square + element * element;
        }
        REAL length_ = sqrt(square);
        EACH(i, 0u, kept, 1u) {
            precise REAL element = z.data[i] / ((d.data[i] - pole) - mu) / length_;
            vectors.data[uint(slots.data[base + i]) * arguments.size + column] = element;
        }
        EACH(i, kept, arguments.size, 1u) vectors.data[uint(slots.data[base + i]) * arguments.size + column] = REAL(0);
    } else {
        EACH(i, 0u, arguments.size, 1u) {
            vectors.data[uint(slots.data[base + i]) * arguments.size + column] = REAL(i == own ? 1 : 0);
        }
    }
    Integers rotated = Integers(arguments.rotated);
    Reals rotations = Reals(vx_address(arguments.rotations, pair, 2u * arguments.size));
    EACH(turn, 0u, turned, 1u) {
        uint k = turned - 1u - turn;
        uint first = uint(rotated.data[2u * (base + k)]) * arguments.size + column;
        uint second = uint(rotated.data[2u * (base + k) + 1u]) * arguments.size + column;
        REAL c = rotations.data[2u * k];
        REAL s = rotations.data[2u * k + 1u];
        precise REAL upper = c * vectors.data[first] - s * vectors.data[second];
        precise REAL lower = s * vectors.data[first] + c * vectors.data[second];
        vectors.data[first] = upper;
        vectors.data[second] = lower;
    }
}
