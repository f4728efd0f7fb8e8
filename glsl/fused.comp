// An elementwise kernel without a meaning: `element` and `pack` get theirs when it is linked (vkarray/kernels/fused.py). It says
// which elements an invocation handles, and where these lie in each operand: the inputs come first, then the results.
//
// FLAT: every operand is contiguous, or one element for all; an invocation handles PACKS packs of VECTOR elements. Otherwise: any
// strides and any rank, as `elementwise.comp` walks them, without turning.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;

#define INPUTS 56
#define RESULTS 8
#define WALKED (24 + RESULTS)  // operands that lie somewhere: numbers do not

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 inputs[INPUTS];  // addresses, numbers, or where the places of elements begin
    uvec2 results[RESULTS];
    uint count;
#ifdef FLAT
    uint first;  // element
#else
    uint plan;
    int layout_[(WALKED + 1) * 64 + WALKED];
#endif
} arguments;

uvec2 input_at(uint number) { return arguments.inputs[number]; }
uvec2 result_at(uint number) { return arguments.results[number]; }

uint place_of(uint operand, uint index);  // of those that lie somewhere

// To be linked: what happens to one element, and to one pack. The compiler drops functions that nothing calls.
void element(uint index) {
    input_at(0u);
    result_at(0u);
    place_of(0u, index);
}
#ifdef FLAT
void pack(uint number) {}
#endif

#ifdef FLAT

// Constants, since CPU drivers run both sides of every branch.
layout(constant_id = 1) const int PACKS = 1;        // of an invocation
layout(constant_id = 2) const bool WHOLE = false;   // every invocation has PACKS whole packs
layout(constant_id = 3) const bool SINGLE = false;  // an invocation handles one element instead
layout(constant_id = 4) const uint VECTOR = 1u;
layout(constant_id = 5) const bool APART = false;   // packs of an invocation are a workgroup apart, else side by side

uint place_of(uint operand, uint index) { return index; }

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (SINGLE) {
        uint index = arguments.first + group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
        if (index < arguments.count) element(index);
        return;
    }
    uint step = APART ? gl_WorkGroupSize.x : 1u;
    uint number = arguments.first / VECTOR + group * gl_WorkGroupSize.x * uint(PACKS)
        + gl_LocalInvocationIndex * (APART ? 1u : uint(PACKS));
    [[unroll]] for (int p = 0; p < PACKS; ++p, number += step) {
        if (WHOLE || (number + 1u) * VECTOR <= arguments.count) {
            pack(number);
        } else {
            for (uint index = number * VECTOR; index < arguments.count; ++index) element(index);
        }
    }
}

#else

// The fields of `plan`, by their first bits.
#define PLAN_RANK 0
#define PLAN_WIDTH 8       // the tile has 2^WIDTH elements along x
#define PLAN_HEIGHT 12     // and 2^HEIGHT along y
#define PLAN_BAND 16       // workgroups go through bands of 2^BAND tiles along y
#define PLAN_FOLDED 24     // too many tiles for the limits of a dispatch: their number is in one dimension
#define PLAN_BACKWARD 25   // strides below 0: addresses are those of the lowest elements, the last row says where the first are
#define PLAN(FIRST, BITS) bitfieldExtract(arguments.plan, FIRST, BITS)

layout(constant_id = 1) const int OPERANDS = 1;
layout(constant_id = 2) const bool NUMBERED = false;

int place[OPERANDS];  // of this invocation's element in each operand

uint place_of(uint operand, uint index) { return uint(place[operand]); }

int layout_at(uint at) { return arguments.layout_[at]; }

// Row 0 has the length of each axis, the others the strides of each operand.
int layout_at(uint row, uint axis) { return layout_at(row * PLAN(PLAN_RANK, 8) + axis); }

#define EACH_OPERAND [[unroll]] for (int operand = 0; operand < OPERANDS; ++operand)

// Move each operand to position `number`, in C order, of the first `axes` axes.
void move_along(uint number, uint axes) {
    for (int axis = int(axes) - 1; axis >= 0; --axis) {
        int position = int(number);
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = number / size;
            position = int(number - quotient * size);
            number = quotient;
        }
        EACH_OPERAND place[operand] += position * layout_at(uint(operand) + 1u, uint(axis));
    }
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint rank = PLAN(PLAN_RANK, 8);
    ivec2 bits = ivec2(PLAN(PLAN_WIDTH, 4), PLAN(PLAN_HEIGHT, 4));
    uvec2 extent = NUMBERED ? uvec2(arguments.count, 1u) : uvec2(layout_at(0u, rank - 1u), layout_at(0u, rank - 2u));
    uvec2 edge = extent - 1u;

    // The tile of this workgroup, and the position on the axes before y.
    uvec2 tile = gl_WorkGroupID.xy;
    uint outer = gl_WorkGroupID.z;
    if (PLAN(PLAN_FOLDED, 1) != 0u) {
        uvec2 tiles = (edge >> bits) + 1u;
        uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        uint row = group / tiles.x;
        outer = row / tiles.y;
        tile = uvec2(group - row * tiles.x, row - outer * tiles.y);
    } else {
        uint band = PLAN(PLAN_BAND, 4);
        tile = uvec2(tile.x >> band, (tile.y << band) + (tile.x & ((1u << band) - 1u)));
    }
    tile <<= bits;
    if (any(greaterThan(tile, edge)) || outer >= (NUMBERED ? 1u : arguments.count)) return;
    uvec2 at = tile + uvec2(lane & ((1u << bits.x) - 1u), lane >> bits.x);
    if (any(greaterThan(at, edge))) return;

    EACH_OPERAND place[operand] = 0;
    if (PLAN(PLAN_BACKWARD, 1) != 0u) {
        EACH_OPERAND place[operand] = layout_at(uint(OPERANDS + 1) * rank + uint(operand));
    }
    if (NUMBERED) {
        move_along(at.x, rank);
    } else {
        if (rank > 2u) move_along(outer, rank - 2u);
        EACH_OPERAND place[operand] += int(at.x) * layout_at(uint(operand) + 1u, rank - 1u)
            + int(at.y) * layout_at(uint(operand) + 1u, rank - 2u);
    }
    element(0u);
}

#endif
