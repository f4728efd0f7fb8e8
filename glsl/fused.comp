// An elementwise kernel without a meaning: `element` and `pack` get theirs when it is linked (vkarray/kernels/fused.py). It says
// which elements an invocation handles, and where these lie in each operand: the inputs come first, then the results.
//
// FLAT: every operand is contiguous, or one element for all; an invocation handles PACKS packs of VECTOR elements. Otherwise: any
// strides and any rank, as `elementwise.comp` walks them, without turning; an invocation handles ELEMENTS elements, its strip.
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
void pair(uint number, uint step) {}  // two packs, which are both loaded before one is stored
#else
void strip() {}  // all elements of an invocation
#endif

#ifdef FLAT

// Constants, since CPU drivers run both sides of every branch.
layout(constant_id = 1) const int PACKS = 1;        // of an invocation
layout(constant_id = 2) const bool WHOLE = false;   // every invocation has PACKS whole packs
layout(constant_id = 3) const bool SINGLE = false;  // an invocation handles one element instead
layout(constant_id = 4) const uint VECTOR = 1u;
layout(constant_id = 5) const bool APART = false;   // packs of an invocation are a workgroup apart, else side by side
layout(constant_id = 6) const bool PAIRED = false;  // both packs of an invocation are loaded first

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
    if (PAIRED && (number + step + 1u) * VECTOR <= arguments.count) {
        pair(number, step);
        return;
    }
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
#define PLAN_WIDTH 8       // the tile has 2^WIDTH elements along x
#define PLAN_HEIGHT 12     // and 2^HEIGHT along y
#define PLAN_BAND 16       // workgroups go through bands of 2^BAND tiles along y
#define PLAN_FOLDED 24     // too many tiles for the limits of a dispatch: their number is in one dimension
#define PLAN_BACKWARD 25   // strides below 0: addresses are those of the lowest elements, the last row says where the first are
#define PLAN(FIRST, BITS) bitfieldExtract(arguments.plan, FIRST, BITS)

layout(constant_id = 1) const int OPERANDS = 1;
layout(constant_id = 2) const int RANK = 2;
layout(constant_id = 3) const bool NUMBERED = false;
layout(constant_id = 4) const uint ELEMENTS = 1u;  // of an invocation: its strip
layout(constant_id = 5) const int APART = 0;       // how these lie: neighbours, a workgroup apart along x, or along y
layout(constant_id = 6) const uint UNIT = 0u;      // operands whose elements are neighbours along x, by bits

#define BESIDE 0
#define WIDE 1
#define TALL 2

int place[OPERANDS];  // of this invocation's first element in each operand
int step[OPERANDS];   // from one of its elements to the next

uint place_of(uint operand, uint index) { return uint(place[operand] + int(index) * step[operand]); }

// Row 0 has the length of each axis, the others the strides of each operand.
int layout_at(int row, int axis) { return arguments.layout_[row * RANK + axis]; }

#define EACH_OPERAND [[unroll]] for (int operand = 0; operand < OPERANDS; ++operand)

// Move each operand to position `number`, in C order, of the first `axes` axes.
void move_along(uint number, int axes) {
    [[unroll]] for (int axis = axes - 1; axis >= 0; --axis) {
        int position = int(number);
        if (axis > 0) {
            uint size = uint(layout_at(0, axis));
            uint quotient = number / size;
            position = int(number - quotient * size);
            number = quotient;
        }
        EACH_OPERAND place[operand] += position * layout_at(operand + 1, axis);
    }
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint lanes = gl_WorkGroupSize.x;
    ivec2 bits = ivec2(PLAN(PLAN_WIDTH, 4), PLAN(PLAN_HEIGHT, 4));
    uvec2 extent = NUMBERED ? uvec2(arguments.count, 1u) : uvec2(layout_at(0, RANK - 1), layout_at(0, RANK - 2));
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

    // The first element of this invocation, and how many follow it.
    uint along = APART == BESIDE ? ELEMENTS : 1u;
    uint in_row = (1u << bits.x) / (APART == TALL ? 1u : ELEMENTS);  // invocations along x
    uvec2 at = tile + uvec2((lane & (in_row - 1u)) * along, lane / in_row);
    if (any(greaterThan(at, edge))) return;
    uint apart = APART == BESIDE ? 1u : APART == WIDE ? lanes : lanes >> bits.x;
    uint room = APART != TALL ? edge.x - at.x : edge.y - at.y;

    EACH_OPERAND place[operand] = step[operand] = 0;
    if (PLAN(PLAN_BACKWARD, 1) != 0u) {
        EACH_OPERAND place[operand] = layout_at(OPERANDS + 1, operand);
    }
    if (NUMBERED) {
        move_along(at.x, RANK);
    } else {
        if (RANK > 2) move_along(outer, RANK - 2);
        EACH_OPERAND {
            int x = (UNIT >> operand & 1u) != 0u ? 1 : layout_at(operand + 1, RANK - 1);
            int y = layout_at(operand + 1, RANK - 2);
            place[operand] += int(at.x) * x + int(at.y) * y;
            step[operand] = int(apart) * (APART != TALL ? x : y);
        }
    }
    if (ELEMENTS == 1u) {
        element(0u);
        return;
    }
    bool whole = apart * (ELEMENTS - 1u) <= room;
    if (whole) strip();
    for (uint index = whole ? ELEMENTS : 0u; index < ELEMENTS && index * apart <= room; ++index) element(index);
}

#endif
