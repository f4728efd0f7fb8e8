// The eigenvalues of two neighbouring blocks in ascending order, with their weights z: the last row of the eigenvectors of
// the first block and the first row of those of the second, over sqrt(2). One invocation moves one eigenvalue.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Push {
    uvec2 values;       // (batch, merges, 2, half)
    uvec2 vectors;      // (batch, merges, 2, half, half)
    uvec2 off_diagonal; // (batch, n)
    uvec2 poles;        // (batch, merges, 2 half): the values in order
    uvec2 weights;      // likewise
    uvec2 slots;        // likewise: where they were
    uint count;         // batch * merges * 2 half
    uint n, merges, half_;
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    uint size = 2u * push.half_;
    uint pair = index / size;
    uint slot = index - pair * size;
    uint matrix = pair / push.merges;
    bool second = slot >= push.half_;
    Reals values = Reals(vx_address(push.values, pair, size));
    REAL value = values.data[slot];

    // How many of the other block's values come first; of equal ones, the first block's.
    uint other = second ? 0u : push.half_;
    uint low = 0u, high = push.half_;
    while (low < high) {
        uint middle = (low + high) / 2u;
        REAL its = values.data[other + middle];
        if (second ? its <= value : its < value) low = middle + 1u;
        else high = middle;
    }
    uint place = low + (second ? slot - push.half_ : slot);

    uint border = (pair - matrix * push.merges + 1u) * size - push.half_;   // the first row of the second block
    Reals block = Reals(vx_address(push.vectors, 2u * pair + (second ? 1u : 0u), push.half_ * push.half_));
    REAL weight = second ? block.data[slot - push.half_] : block.data[(push.half_ - 1u) * push.half_ + slot];
    if (second && border < push.n && Reals(push.off_diagonal).data[matrix * push.n + border - 1u] < REAL(0)) weight = -weight;
    precise REAL scaled = weight * HALF_ROOT;
    Reals(vx_address(push.poles, pair, size)).data[place] = value;
    Reals(vx_address(push.weights, pair, size)).data[place] = scaled;
    Integers(push.slots).data[pair * size + place] = int(slot);
}
