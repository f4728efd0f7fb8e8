// What a function `evaluate` makes of the elements of the inputs and, INDEXED, of the place of the element in C order: an element of
// each result. LINKED, it gets its body later, and operands are carriers (vkarray/kernels/operation.py). Otherwise it comes as text.
//
// EACH_INPUT(DO) is DO of each input, EACH_RESULT(DO) of each result: its name, its variable and its number among the operands.
//
// An input may be a number that stands in the arguments in place of an address (a bit of IMMEDIATE).
//
// Two access patterns. FLAT: every operand is contiguous and aligned, or one element for all (a bit of ONE_FOR_ALL);
// an invocation handles PACKS packs of VECTOR elements, so that the widest operand moves 16 bytes at a time. Otherwise:
// any strides and any rank; a workgroup handles a tile of the last axis, x, and the one before it, y, an invocation
// ELEMENTS elements of it. An input that is contiguous along y is turned: read along y and handed over in shared memory,
// so that invocations next to each other always meet elements next to each other. Where x and y are both short, elements
// are numbered in C order instead.
// `vkarray/kernels/walk.py` plans all that.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/coefficients.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 6) const uint IMMEDIATE = 0u;

#ifdef INDEXED
#define OPERANDS (INPUTS + RESULTS + 1)  // the last one is the place in C order: an operand without memory
#else
#define OPERANDS (INPUTS + RESULTS)
#endif

#ifdef FLAT

// Constants, since CPU drivers run both sides of every branch.
layout(constant_id = 1) const int PACKS = 1;          // of an invocation
layout(constant_id = 2) const bool WHOLE = false;     // every invocation has PACKS whole packs
layout(constant_id = 3) const bool SINGLE = false;    // an invocation handles one element instead
layout(constant_id = 4) const uint ONE_FOR_ALL = 0u;  // the operands that are one element
layout(constant_id = 5) const bool APART = false;     // packs of an invocation are a workgroup apart, else side by side

#include "lib/packs.glsl"

#define BUFFER(NAME, ACCESS, ALIGN)                                                              \
    struct NAME##Pack { JOIN(NAME##_AS, _FIELD)(NAME) };                                         \
    layout(buffer_reference, scalar) ACCESS buffer NAME##Elements { NAME##_STORAGE data[]; };    \
    layout(buffer_reference, scalar, buffer_reference_align = ALIGN) ACCESS buffer NAME##Packs { NAME##Pack data[]; };

#define INPUT_BINDING(NAME, VARIABLE, NUMBER) JOIN(NAME##_AS, _BINDING)(NUMBER, VARIABLE)
EACH_INPUT(INPUT_BINDING)

#else

#define BUFFER(NAME, ACCESS, ALIGN) \
    layout(buffer_reference, scalar) ACCESS buffer NAME##Elements { NAME##_STORAGE data[]; };

#endif

#define INPUT_BUFFER(NAME, VARIABLE, NUMBER) BUFFER(NAME, readonly, NAME##_ALIGN)
#define RESULT_BUFFER(NAME, VARIABLE, NUMBER) BUFFER(NAME, writeonly, NAME##_ALIGN)
EACH_INPUT(INPUT_BUFFER)
EACH_RESULT(RESULT_BUFFER)

// Addresses are pairs of words: a driver (SwiftShader) may lack the cast from one buffer reference to another.
#define FIELD(NAME, VARIABLE, NUMBER) uvec2 VARIABLE;
layout(set = 1, binding = 0, scalar) uniform Arguments {
    EACH_INPUT(FIELD)
    EACH_RESULT(FIELD)
#ifdef FIELDS
    FIELDS  // of `evaluate`
#endif
#ifdef INDEXED
    uint origin;  // the place of the first element
#endif
    uint count;
#ifdef FLAT
    uint first;  // element
#else
    uint plan;
    int layout_[(OPERANDS + 1) * 64 + OPERANDS];
#endif
} arguments;

// What comes as text may write to memory by itself: it runs for elements that exist alone.
#ifdef LINKED
#define WHERE(CONDITION)
#else
#define WHERE(CONDITION) if (CONDITION)
#endif

#ifdef LINKED
#define INPUT(NAME, VARIABLE, NUMBER) , NAME##_COMPUTE VARIABLE
#define RESULT(NAME, VARIABLE, NUMBER) , out NAME##_COMPUTE VARIABLE
void evaluate(uint index EACH_INPUT(INPUT) EACH_RESULT(RESULT)) {}
#else
#include TEXT
#endif

#ifdef INDEXED
#define EVALUATE(INDEX, ARGUMENT) evaluate(arguments.origin + (INDEX) EACH_INPUT(ARGUMENT) EACH_RESULT(ARGUMENT));
#else
#define EVALUATE(INDEX, ARGUMENT) evaluate(0u EACH_INPUT(ARGUMENT) EACH_RESULT(ARGUMENT));
#endif

#ifdef FLAT

#define READ(NAME, VARIABLE, NUMBER)                                                             \
    NAME##_COMPUTE VARIABLE[PACKS][VECTOR];                                                      \
    if ((ONE_FOR_ALL & (1u << NUMBER)) != 0u) {                                                  \
        NAME##_COMPUTE value;                                                                    \
        if ((IMMEDIATE & (1u << NUMBER)) != 0u) value = NAME##_IMMEDIATE(arguments.VARIABLE);    \
        else value = NAME##_LOAD(NAME##Elements(arguments.VARIABLE).data[0]);                    \
        EACH_PACK EACH VARIABLE[p][k] = value;                                                   \
    } else if (WHOLE || whole) {                                                                 \
        EACH_PACK EACH VARIABLE[p][k] = JOIN(NAME##_AS, _GET)(NAME, VARIABLE, pack + uint(p) * step); \
    } else {                                                                                     \
        EACH_PACK EACH VARIABLE[p][k] = NAME##_LOAD(NAME##Elements(arguments.VARIABLE).data[min(INDEX, arguments.count - 1u)]); \
    }
#define READ_SINGLE(NAME, VARIABLE, NUMBER)                                                      \
    NAME##_COMPUTE VARIABLE;                                                                     \
    if ((IMMEDIATE & (1u << NUMBER)) != 0u) VARIABLE = NAME##_IMMEDIATE(arguments.VARIABLE);     \
    else VARIABLE = NAME##_LOAD(NAME##Elements(arguments.VARIABLE).data[(ONE_FOR_ALL & (1u << NUMBER)) != 0u ? 0u : index]);

#define EACH_PACK [[unroll]] for (int p = 0; p < PACKS; ++p)
#define EACH [[unroll]] for (int k = 0; k < VECTOR; ++k)
#define INDEX ((pack + uint(p) * step) * uint(VECTOR) + uint(k))
#define ELEMENT(NAME, VARIABLE, NUMBER) , VARIABLE[p][k]
#define SINGLE_ELEMENT(NAME, VARIABLE, NUMBER) , VARIABLE
#define DECLARE(NAME, VARIABLE, NUMBER) NAME##_COMPUTE VARIABLE[PACKS][VECTOR];
#define DECLARE_SINGLE(NAME, VARIABLE, NUMBER) NAME##_COMPUTE VARIABLE;
#define WRITE_SINGLE(NAME, VARIABLE, NUMBER) NAME##Elements(arguments.VARIABLE).data[index] = NAME##_STORE(VARIABLE);
#define WRITE_PACKS(NAME, VARIABLE, NUMBER)                                                      \
    EACH_PACK { JOIN(NAME##_AS, _PUT)(NAME, NAME##Packs(arguments.VARIABLE).data[pack + uint(p) * step], VARIABLE[p]) }
#define WRITE_ELEMENTS(NAME, VARIABLE, NUMBER)                                                   \
    EACH_PACK EACH if (INDEX < arguments.count) NAME##Elements(arguments.VARIABLE).data[INDEX] = NAME##_STORE(VARIABLE[p][k]);

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (SINGLE) {
        uint index = arguments.first + group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
        if (index >= arguments.count) return;
        EACH_INPUT(READ_SINGLE)
        EACH_RESULT(DECLARE_SINGLE)
        EVALUATE(index, SINGLE_ELEMENT)
        EACH_RESULT(WRITE_SINGLE)
        return;
    }
    uint step = APART ? gl_WorkGroupSize.x : 1u;
    uint pack = arguments.first / uint(VECTOR) + group * gl_WorkGroupSize.x * uint(PACKS)
        + gl_LocalInvocationIndex * (APART ? 1u : uint(PACKS));
    bool whole = (pack + uint(PACKS - 1) * step + 1u) * uint(VECTOR) <= arguments.count;
    EACH_INPUT(READ)
    EACH_RESULT(DECLARE)
    EACH_PACK EACH WHERE(INDEX < arguments.count) EVALUATE(INDEX, ELEMENT)
    if (WHOLE || whole) {
        EACH_RESULT(WRITE_PACKS)
    } else {
        EACH_RESULT(WRITE_ELEMENTS)
    }
}

#else

// The fields of `plan`, by their first bits.
#define PLAN_RANK 0
#define PLAN_WIDTH 8       // the tile has 2^WIDTH elements along x
#define PLAN_HEIGHT 12     // and 2^HEIGHT along y
#define PLAN_BAND 16       // workgroups go through bands of 2^BAND tiles along y
#define PLAN_TURNED 20     // a bit for each input
#define PLAN_FOLDED 24     // too many tiles for the limits of a dispatch: their number is in one dimension
#define PLAN_BACKWARD 25   // strides below 0: addresses are those of the lowest elements, the last row says where the first are
#define PLAN(FIRST, BITS) bitfieldExtract(arguments.plan, FIRST, BITS)

#define EACH_OPERAND [[unroll]] for (int operand = 0; operand < OPERANDS; ++operand)

layout(constant_id = 1) const int ELEMENTS = 1;
layout(constant_id = 2) const bool NUMBERED = false;
layout(constant_id = 3) const bool TURNS = false;      // whether any input is turned

int layout_at(uint place) { return arguments.layout_[place]; }

// Row 0 has the length of each axis, the others the strides of each operand (inputs, then the result).
int layout_at(uint row, uint axis) { return layout_at(row * PLAN(PLAN_RANK, 8) + axis); }

// How far each operand moves to position `number`, in C order, of the first `axes` axes.
#if OPERANDS > 4
#define OFFSETS int[OPERANDS]
#else
#define OFFSETS ivec4
#endif

OFFSETS offsets_of(uint number, uint axes) {
    OFFSETS offsets;
    EACH_OPERAND offsets[operand] = 0;
    for (int axis = int(axes) - 1; axis >= 0; --axis) {
        int position = int(number);
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = number / size;
            position = int(number - quotient * size);
            number = quotient;
        }
        EACH_OPERAND offsets[operand] += position * layout_at(uint(operand) + 1u, uint(axis));
    }
    return offsets;
}

// A turned operand comes through here. Rows are longer than the tile by one element, so that a column lies in all banks.
#define TILE(NAME, VARIABLE, NUMBER) \
    shared NAME##_TILE VARIABLE##_tile[TURNS ? gl_WorkGroupSize.x * ELEMENTS / 4u * 5u : 1u];
#ifdef TURNABLE
#define TURNED(NUMBER) (TURNS && PLAN(PLAN_TURNED + NUMBER, 1) != 0u)
#else
#define TURNED(NUMBER) false
#endif
#define READ(NAME, VARIABLE, NUMBER) \
    NAME##_COMPUTE VARIABLE[ELEMENTS]; \
    if ((IMMEDIATE & (1u << NUMBER)) != 0u) EACH VARIABLE[k] = NAME##_IMMEDIATE(arguments.VARIABLE); \
    else EACH VARIABLE[k] = NAME##_LOAD(NAME##Elements(arguments.VARIABLE).data[uint(place[NUMBER][k])]);
#define TO_TILE(NAME, VARIABLE, NUMBER) \
    if (TURNED(NUMBER)) EACH VARIABLE##_tile[turned_place + uint(k) * turned_step.x] = NAME##_TILE(VARIABLE[k]);
#define FROM_TILE(NAME, VARIABLE, NUMBER) \
    if (TURNED(NUMBER)) EACH VARIABLE[k] = NAME##_COMPUTE(VARIABLE##_tile[tile_place + uint(k) * step.y * pitch]);
#define DECLARE(NAME, VARIABLE, NUMBER) NAME##_COMPUTE VARIABLE[ELEMENTS];
#define WRITE(NAME, VARIABLE, NUMBER) \
    EACH if (uint(k) <= last) NAME##Elements(arguments.VARIABLE).data[uint(place[NUMBER][k])] = NAME##_STORE(VARIABLE[k]);
#define EACH [[unroll]] for (int k = 0; k < ELEMENTS; ++k)
#define ELEMENT(NAME, VARIABLE, NUMBER) , VARIABLE[k]

#ifdef TURNABLE
EACH_INPUT(TILE)
#endif

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint lanes = gl_WorkGroupSize.x;
    int lane_bits = findMSB(lanes);
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

    // Invocations lie along x; each handles ELEMENTS elements, `step` apart, of which `last` is the last one inside.
    bool wide = bits.x > lane_bits;
    uvec2 first = tile + uvec2(lane & ((1u << bits.x) - 1u), lane >> bits.x);
    bool inside = all(lessThanEqual(first, edge));
    uvec2 step = wide ? uvec2(lanes, 0u) : uvec2(0u, lanes >> bits.x);
    uvec2 room = edge - min(first, edge);
    uint last = wide ? room.x >> lane_bits : room.y >> max(lane_bits - bits.x, 0);

    // For a turned operand they lie along y.
    uvec2 turned_first = tile + uvec2(lane >> bits.y, lane & ((1u << bits.y) - 1u));
    uvec2 turned_step = uvec2(lanes >> bits.y, 0u);
    uint turned_last = (edge.x - min(turned_first.x, edge.x)) >> (lane_bits - bits.y);

    int place[OPERANDS][ELEMENTS];
    OFFSETS base;
    EACH_OPERAND base[operand] = 0;
    if (PLAN(PLAN_BACKWARD, 1) != 0u) {
        EACH_OPERAND base[operand] = layout_at(uint(OPERANDS + 1) * rank + uint(operand));
    }
    if (NUMBERED) {
        EACH {
            OFFSETS offsets = offsets_of(min(first.x + uint(k) * lanes, edge.x), rank);
            EACH_OPERAND place[operand][k] = base[operand] + offsets[operand];
        }
    } else {
        if (rank > 2u) {
            OFFSETS offsets = offsets_of(outer, rank - 2u);
            EACH_OPERAND base[operand] += offsets[operand];
        }
        EACH_OPERAND {
            bool turned = TURNED(operand);
            ivec2 stride = ivec2(layout_at(uint(operand) + 1u, rank - 1u), layout_at(uint(operand) + 1u, rank - 2u));
            ivec2 start = ivec2(min(turned ? turned_first : first, edge)) * stride;
            ivec2 move = ivec2(turned ? turned_step : step) * stride;
            uint end = turned ? turned_last : last;
            EACH place[operand][k] = base[operand] + start.x + start.y + int(min(uint(k), end)) * (move.x + move.y);
        }
    }
    EACH_INPUT(READ)
#ifdef TURNABLE
    if (TURNS && PLAN(PLAN_TURNED, INPUTS) != 0u) {
        uint pitch = (1u << bits.x) + 1u;
        uint tile_place = (lane >> bits.x) * pitch + (lane & ((1u << bits.x) - 1u));
        uint turned_place = (lane & ((1u << bits.y) - 1u)) * pitch + (lane >> bits.y);
        EACH_INPUT(TO_TILE)
        barrier();
        EACH_INPUT(FROM_TILE)
    }
#endif
    EACH_RESULT(DECLARE)
    EACH WHERE(inside && uint(k) <= last) EVALUATE(uint(place[OPERANDS - 1][k]), ELEMENT)
    if (inside) {
        EACH_RESULT(WRITE)
    }
}

#endif
