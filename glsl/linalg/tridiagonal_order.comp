// The eigenvalues of two neighbouring blocks in ascending order, with their weights z: the last row of the eigenvectors of
// the first block and the first row of those of the second, over sqrt(2). One invocation moves one eigenvalue.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 values;       // (batch, merges, 2, half)
    uvec2 vectors;      // (batch, merges, 2, half, half)
    uvec2 off_diagonal; // (batch, n)
    uvec2 poles;        // (batch, merges, 2 half): the values in order
    uvec2 weights;      // likewise
    uvec2 slots;        // likewise: where they were
    uint count;         // batch * merges * 2 half
    uint n, merges, half_;
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint size = 2u * arguments.half_;
    uint pair = index / size;
    uint slot = index - pair * size;
    uint matrix = pair / arguments.merges;
    bool second = slot >= arguments.half_;
    Reals values = Reals(vx_address(arguments.values, pair, size));
    REAL value = values.data[slot];

    // How many of the other block's values come first; of equal ones, the first block's.
    uint other = second ? 0u : arguments.half_;
    uint low = 0u, high = arguments.half_;
    while (low < high) {
        uint middle = (low + high) / 2u;
        REAL its = values.data[other + middle];
        if (second ? its <= value : its < value) low = middle + 1u;
        else high = middle;
    }
    uint place = low + (second ? slot - arguments.half_ : slot);

    uint border = (pair - matrix * arguments.merges + 1u) * size - arguments.half_;   // the first row of the second block
    Reals block = Reals(vx_address(arguments.vectors, 2u * pair + (second ? 1u : 0u), arguments.half_ * arguments.half_));
    REAL weight = second ? block.data[slot - arguments.half_] : block.data[(arguments.half_ - 1u) * arguments.half_ + slot];
    if (second && border < arguments.n && Reals(arguments.off_diagonal).data[matrix * arguments.n + border - 1u] < REAL(0)) weight = -weight;
    precise REAL scaled = weight * HALF_ROOT;
    Reals(vx_address(arguments.poles, pair, size)).data[place] = value;
    Reals(vx_address(arguments.weights, pair, size)).data[place] = scaled;
    Integers(arguments.slots).data[pair * size + place] = int(slot);
}
