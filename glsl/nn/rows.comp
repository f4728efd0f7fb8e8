// Layers that look at whole rows: a state of each row, reduced from PHASE_1 of its elements, a second one from PHASE_2, which
// may use the first, and last a result for each element, MAP, which may use both.
//
// MEMBERS invocations work on a row. They take packs of VECTOR neighbours in turn, keep them in registers where ITEMS says how
// many elements each has at most, and read them anew in every phase where it is 0. Their states meet in a tree: through
// subgroups with SUBGROUPS, else in shared memory. A CPU driver has one invocation for a row. With COLUMNS neighbours work on
// neighbouring rows, as suits rows whose elements are not neighbours in memory.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#ifdef HARDWARE_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "lib/dtypes.glsl"
#include "lib/rows.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint MEMBERS = 1u;   // a power of two
layout(constant_id = 2) const uint ITEMS = 0u;     // a multiple of VECTOR
layout(constant_id = 3) const bool COLUMNS = false;
layout(constant_id = 4) const uint PACKED = 0u;    // a bit for a, b, the result: aligned packs without gaps; 8: so are w and v, of whole packs
layout(constant_id = 5) const uint PRESENT = 0u;   // a bit for b, w and v: what is given; 8: w and v are of the type of a
layout(constant_id = 6) const uint SUBGROUP = 1u;  // invocations of a subgroup
layout(constant_id = 7) const bool OPTION = false; // what the expressions call so
layout(constant_id = 8) const bool WHOLE = false;  // rows are made of whole packs
layout(constant_id = 9) const bool SHIFTED = false; // rows begin anywhere in a pack, in the same place for all operands
layout(constant_id = 10) const uint LENGTH = 0u;   // elements of a row, where the code is for that many

#define COUNT (LENGTH > 0u ? LENGTH : arguments.count)
#define EACH [[unroll]] for (uint k = 0u; k < uint(VECTOR); ++k)
// Elements that are joined one after the other before their state joins the row's.
#define BLOCK 16u

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };
layout(buffer_reference, scalar) buffer Reals { T data[]; };

// A pack of a 16-bit type is moved as words.
#ifdef PER_WORD
struct APack { uint word[VECTOR / PER_WORD]; };
#define A_OF(PACK, K) A_UNPACK(PACK.word[(K) / uint(PER_WORD)], int((K) % uint(PER_WORD)))
#else
struct APack { A_STORAGE element[VECTOR]; };
#define A_OF(PACK, K) A_LOAD(PACK.element[K])
#endif
layout(buffer_reference, scalar, buffer_reference_align = ALIGN) buffer APacks { APack data[]; };

struct Quad { T element[4]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Quads { Quad data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;
    uvec2 b;
    uvec2 w;        // one number for each element of a row
    uvec2 v;
    uvec2 first;    // one number for each row, read or written
    uvec2 second;
    uvec2 result;
    uvec2 parameters[2];
    uint count;     // elements of a row
    uint rows;
    uint first_row; // of this dispatch
    int steps[3];   // along a row in a, b and the result
    uint rank;
    int matrix[2];  // rows of a matrix and, with OPTION, how many more elements than its place a row may see
    int layout_[256]; // the sizes of `rank` dimensions of rows, then their strides in a, b and the result
} arguments;

#ifdef DOUBLE
#define PARAMETER(k) packDouble2x32(arguments.parameters[k])
#else
#define PARAMETER(k) uintBitsToFloat(arguments.parameters[k].x)
#endif

shared STATE_1 exchange_1[SHARED_STATES];
#ifdef PHASE_2
shared STATE_2 exchange_2[SHARED_STATES];
#endif

// The offsets of a row in a, b and the result.
ivec3 offsets_of(uint row) {
    uint rank = arguments.rank;
    ivec3 offsets = ivec3(0);
    for (uint axis = rank; axis-- > 0u;) {
        uint position = row;
        if (axis > 0u) {
            uint size = uint(arguments.layout_[axis]);
            row = position / size;
            position -= row * size;
        }
        ivec3 strides = ivec3(
            arguments.layout_[rank + axis], arguments.layout_[2u * rank + axis], arguments.layout_[3u * rank + axis]
        );
        offsets += int(position) * strides;
    }
    return offsets;
}

uint row;
uint member;
uint own;     // the place of the invocation in its workgroup
uint spacing; // from a member to the next
ivec3 offset;
uint shift;   // elements between the begin of a pack and of the row: places are counted from the former
T inverse_N;  // of the elements of a row
T mean, rstd;

// The numbers of an element; those of its place in the row are read where they are used.
struct Element { A_COMPUTE a; B_COMPUTE b; };

// Whether a place, or a pack, lies in the row.
bool is_inside(uint place) { return WHOLE || place - shift < COUNT; }
bool is_whole(uint place) { return WHOLE || (place >= shift && place + uint(VECTOR) <= COUNT + shift); }
// The element of a place; of one beyond an end, some element.
uint element_of(uint place) { return WHOLE ? place : min(max(place, shift) - shift, COUNT - 1u); }

// The elements from `place` on, which is a multiple of VECTOR; those beyond an end are whatever the first or last one is.
void load(out Element elements[VECTOR], uint place) {
    bool whole = is_whole(place);
    if (whole && (PACKED & 1u) != 0u) {
        APack pack = APacks(arguments.a).data[(uint(offset.x) + place - shift) / uint(VECTOR)];
        EACH elements[k].a = A_OF(pack, k);
    } else {
        EACH elements[k].a = A_LOAD(AElements(arguments.a).data[offset.x + int(element_of(place + k)) * arguments.steps[0]]);
    }
    EACH elements[k].b = B_COMPUTE(0);
    if ((PRESENT & 1u) != 0u) {
#ifdef B_PACKS
        if (whole && (PACKED & 2u) != 0u) {
            APack pack = APacks(arguments.b).data[(uint(offset.y) + place - shift) / uint(VECTOR)];
            EACH elements[k].b = A_OF(pack, k);
        } else
#endif
        EACH elements[k].b = B_LOAD(BElements(arguments.b).data[offset.y + int(element_of(place + k)) * arguments.steps[1]]);
    }
}

// The numbers of the elements' places in their row.
#define LOAD_REALS(NAME, ADDRESS, BIT, MISSING) \
    T NAME[VECTOR]; \
    EACH NAME[k] = T(MISSING); \
    if ((PRESENT & BIT) != 0u) { \
        if ((PRESENT & 8u) != 0u && (PACKED & 8u) != 0u) { \
            APack pack = APacks(ADDRESS).data[place / uint(VECTOR)]; \
            EACH NAME[k] = T(A_OF(pack, k)); \
        } else if ((PRESENT & 8u) != 0u) { \
            EACH NAME[k] = T(A_LOAD(AElements(ADDRESS).data[element_of(place + k)])); \
        } else if ((PACKED & 8u) != 0u) { \
            [[unroll]] for (uint q = 0u; q < uint(VECTOR) / 4u; ++q) { \
                Quad quad = Quads(ADDRESS).data[place / 4u + q]; \
                [[unroll]] for (uint k = 0u; k < 4u; ++k) NAME[q * 4u + k] = quad.element[k]; \
            } \
        } else { \
            EACH NAME[k] = Reals(ADDRESS).data[element_of(place + k)]; \
        } \
    }

void store(uint place, T values[VECTOR]) {
    if (is_whole(place) && (PACKED & 4u) != 0u) {
        APack pack;
#ifdef PER_WORD
        [[unroll]] for (uint w = 0u; w < uint(VECTOR / PER_WORD); ++w) {
            uint bits = 0u;
            [[unroll]] for (uint k = 0u; k < uint(PER_WORD); ++k) {
                bits |= R_BITS(values[w * uint(PER_WORD) + k]) << (32u / uint(PER_WORD) * k);
            }
            pack.word[w] = bits;
        }
#else
        EACH pack.element[k] = R_STORE(values[k]);
#endif
        APacks(arguments.result).data[(uint(offset.z) + place - shift) / uint(VECTOR)] = pack;
    } else {
        EACH {
            if (is_inside(place + k)) {
                RElements(arguments.result).data[offset.z + int(place + k - shift) * arguments.steps[2]] = R_STORE(values[k]);
            }
        }
    }
}

STATE_1 phase_1(Element one, uint element, T w) {
    A_COMPUTE a = one.a;
    B_COMPUTE b = one.b;
    precise STATE_1 result = PHASE_1;
    return result;
}

STATE_1 combine_1(STATE_1 x, STATE_1 y) {
    precise STATE_1 result = COMBINE_1;
    return result;
}

#ifdef PHASE_2
STATE_2 phase_2(Element one, uint element, T w, STATE_1 s) {
    A_COMPUTE a = one.a;
    B_COMPUTE b = one.b;
    precise STATE_2 result = PHASE_2;
    return result;
}
#endif

STATE_2 combine_2(STATE_2 x, STATE_2 y) {
    precise STATE_2 result = x + y;
    return result;
}

T map_of(Element one, uint element, T w, T v, STATE_1 s, STATE_2 t, STATE_2 c) {
    A_COMPUTE a = one.a;
    B_COMPUTE b = one.b;
    precise T result = MAP;
    return result;
}

// The state of all members, joined as a tree of neighbours; all of them get it.
#ifdef SUBGROUPS
#define MEET(TYPE, COMBINE, STATE_, exchange) \
    [[unroll]] for (uint width = 1u; width < MEMBERS && width < SUBGROUP; width *= 2u) { \
        TYPE other = subgroupShuffleXor(STATE_, width); \
        STATE_ = (member & width) == 0u ? COMBINE(STATE_, other) : COMBINE(other, STATE_); \
    } \
    if (MEMBERS > SUBGROUP) { \
        barrier(); \
        if (gl_SubgroupInvocationID == 0u) exchange[gl_SubgroupID] = STATE_; \
        barrier(); \
        uint begin = own / MEMBERS * (MEMBERS / SUBGROUP); \
        STATE_ = exchange[begin]; \
        for (uint k = 1u; k < MEMBERS / SUBGROUP; ++k) STATE_ = COMBINE(STATE_, exchange[begin + k]); \
    }
#else
#define MEET(TYPE, COMBINE, STATE_, exchange) \
    if (MEMBERS > 1u) { \
        for (uint width = 1u; width < MEMBERS; width *= 2u) { \
            barrier(); \
            exchange[own] = STATE_; \
            barrier(); \
            if ((member & (2u * width - 1u)) == 0u) STATE_ = COMBINE(STATE_, exchange[own + width * spacing]); \
        } \
        barrier(); \
        exchange[own] = STATE_; \
        barrier(); \
        STATE_ = exchange[own - member * spacing]; \
    }
#endif

// Where the code is for one length, no zero that compilers know begins a sum: those of CPU drivers take it as without a sign.
#define REDUCE(TYPE, STATE_, IDENTITY, CONTRIBUTION, COMBINE, KEEP, EXCHANGE) \
    TYPE STATE_ = IDENTITY; \
    if (LENGTH > 0u && !inside) STATE_ = TYPE(1); \
    if (ITEMS > 0u) { \
        [[unroll]] for (uint j = 0u; j < ITEMS / uint(VECTOR); ++j) { \
            uint place = (j * MEMBERS + member) * uint(VECTOR); \
            if (place < end) { \
                LOAD_REALS(w, arguments.w, 2u, 1) \
                EACH { \
                    if (is_inside(place + k)) { \
                        TYPE next = CONTRIBUTION(one[j][k], place + k); \
                        KEEP(j * uint(VECTOR) + k, next) \
                        STATE_ = COMBINE(STATE_, next); \
                    } \
                } \
            } \
        } \
    } else { \
        uint stride = MEMBERS * uint(VECTOR); \
        for (uint start = member * uint(VECTOR); start < end; start += BLOCK * stride) { \
            TYPE part = IDENTITY; \
            for (uint place = start; place < min(start + BLOCK * stride, end); place += stride) { \
                Element elements[VECTOR]; \
                load(elements, place); \
                LOAD_REALS(w, arguments.w, 2u, 1) \
                EACH if (is_inside(place + k)) part = COMBINE(part, CONTRIBUTION(elements[k], place + k)); \
            } \
            STATE_ = COMBINE(STATE_, part); \
        } \
    } \
    MEET(TYPE, COMBINE, STATE_, EXCHANGE)

// The last contributions are what MAP knows as c.
#define FORGET(PLACE, VALUE)
#define KEEP(PLACE, VALUE) kept[PLACE] = VALUE;
#define CONTRIBUTION_1(ONE, PLACE) phase_1(ONE, PLACE - shift, w[k])
#define CONTRIBUTION_2(ONE, PLACE) phase_2(ONE, PLACE - shift, w[k], s)
#ifdef PHASE_2
#define LAST_CONTRIBUTION(ONE, PLACE) phase_2(ONE, PLACE - shift, w[k], s)
#else
#define LAST_CONTRIBUTION(ONE, PLACE) STATE_2(0)
#endif

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint units = gl_WorkGroupSize.x / MEMBERS;
#ifdef SUBGROUPS
    own = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
    member = own % MEMBERS;
    uint unit = group * units + own / MEMBERS;
    spacing = 1u;
#else
    own = gl_LocalInvocationIndex;
    member = COLUMNS ? own / units : own % MEMBERS;
    uint unit = group * units + (COLUMNS ? own % units : own / MEMBERS);
    spacing = COLUMNS ? units : 1u;
#endif
    bool inside = unit < arguments.rows;
    unit = min(unit, arguments.rows - 1u);
    row = arguments.first_row + unit;
    offset = offsets_of(unit);
    shift = SHIFTED ? uint(offset.x) % uint(VECTOR) : 0u;
    uint end = inside ? COUNT + shift : 0u;  // of the places
    inverse_N = vx_fast_reciprocal(T(arguments.count));
#ifdef ROW_INPUTS
    mean = OPTION ? T(0) : Reals(arguments.first).data[unit];
    rstd = Reals(arguments.second).data[unit];
#endif

    const uint packs = ITEMS > 0u ? ITEMS / uint(VECTOR) : 1u;
    Element one[packs][VECTOR];
    STATE_2 kept[packs * uint(VECTOR)];
    if (ITEMS > 0u) {
        [[unroll]] for (uint j = 0u; j < packs; ++j) {
            uint place = (j * MEMBERS + member) * uint(VECTOR);
            if (place < end) load(one[j], place);
        }
    }

    REDUCE(STATE_1, s, IDENTITY_1, CONTRIBUTION_1, combine_1, FORGET, exchange_1)
    { precise STATE_1 finished = FINISH_1; s = finished; }
#ifdef PHASE_2
    REDUCE(STATE_2, t, STATE_2(0), CONTRIBUTION_2, combine_2, KEEP, exchange_2)
    { precise STATE_2 finished = FINISH_2; t = finished; }
#else
    STATE_2 t = s;
#endif
#ifdef ROW_OUTPUTS
    if (inside && member == 0u) {
        if (!OPTION) Reals(arguments.first).data[unit] = FIRST_OUTPUT;
        Reals(arguments.second).data[unit] = SECOND_OUTPUT;
    }
#endif

    T values[VECTOR];
    if (ITEMS > 0u) {
        [[unroll]] for (uint j = 0u; j < packs; ++j) {
            uint place = (j * MEMBERS + member) * uint(VECTOR);
            if (place < end) {
                LOAD_REALS(w, arguments.w, 2u, 1)
                LOAD_REALS(v, arguments.v, 4u, 0)
                EACH values[k] = map_of(one[j][k], place + k - shift, w[k], v[k], s, t, kept[j * uint(VECTOR) + k]);
                store(place, values);
            }
        }
    } else {
        uint stride = MEMBERS * uint(VECTOR);
        for (uint start = member * uint(VECTOR); start < end; start += BLOCK * stride) {
            for (uint place = start; place < min(start + BLOCK * stride, end); place += stride) {
                Element elements[VECTOR];
                load(elements, place);
                LOAD_REALS(w, arguments.w, 2u, 1)
                LOAD_REALS(v, arguments.v, 4u, 0)
                EACH values[k] = map_of(
                    elements[k], place + k - shift, w[k], v[k], s, t, LAST_CONTRIBUTION(elements[k], place + k)
                );
                store(place, values);
            }
        }
    }
}
