// The eigenvectors of two joined blocks, in terms of the eigenvectors of each: normalised, with the rotations of the deflation
// undone, in the order of the eigenvalues. One invocation makes one eigenvector, a column.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Push {
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
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    uint pair = index / push.size;
    uint own = index - pair * push.size;
    uint base = pair * push.size;
    uint kept = uint(Integers(push.counts).data[2u * pair]);
    uint turned = uint(Integers(push.counts).data[2u * pair + 1u]);
    Reals d = Reals(vx_address(push.poles, pair, push.size));
    Reals z = Reals(vx_address(push.exact, pair, push.size));
    Integers slots = Integers(push.slots);
    Reals vectors = Reals(vx_address(push.vectors, pair, push.size * push.size));
    uint column = uint(Integers(push.places).data[index]);
    if (own < kept) {
        REAL pole = d.data[Integers(push.origins).data[index]];
        REAL mu = Reals(vx_address(push.offsets, pair, push.size)).data[own];
        precise REAL square = REAL(0);
        EACH(i, 0u, kept, 1u) {
            precise REAL element = z.data[i] / ((d.data[i] - pole) - mu);
            square = square + element * element;
        }
        REAL length_ = sqrt(square);
        EACH(i, 0u, kept, 1u) {
            precise REAL element = z.data[i] / ((d.data[i] - pole) - mu) / length_;
            vectors.data[uint(slots.data[base + i]) * push.size + column] = element;
        }
        EACH(i, kept, push.size, 1u) vectors.data[uint(slots.data[base + i]) * push.size + column] = REAL(0);
    } else {
        EACH(i, 0u, push.size, 1u) {
            vectors.data[uint(slots.data[base + i]) * push.size + column] = REAL(i == own ? 1 : 0);
        }
    }
    Integers rotated = Integers(push.rotated);
    Reals rotations = Reals(vx_address(push.rotations, pair, 2u * push.size));
    EACH(turn, 0u, turned, 1u) {
        uint k = turned - 1u - turn;
        uint first = uint(rotated.data[2u * (base + k)]) * push.size + column;
        uint second = uint(rotated.data[2u * (base + k) + 1u]) * push.size + column;
        REAL c = rotations.data[2u * k];
        REAL s = rotations.data[2u * k + 1u];
        precise REAL upper = c * vectors.data[first] - s * vectors.data[second];
        precise REAL lower = s * vectors.data[first] + c * vectors.data[second];
        vectors.data[first] = upper;
        vectors.data[second] = lower;
    }
}
