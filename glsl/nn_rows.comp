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
layout(constant_id = 4) const uint PACKED = 0u;    // a bit for a, b and the result: aligned packs without gaps
layout(constant_id = 5) const uint PRESENT = 0u;   // a bit for b, w and v: what is given
layout(constant_id = 6) const uint SUBGROUP = 1u;  // invocations of a subgroup
layout(constant_id = 7) const bool OPTION = false; // what the expressions call so
layout(constant_id = 8) const bool WHOLE = false;  // rows are made of whole packs

#define EACH [[unroll]] for (uint k = 0u; k < uint(VECTOR); ++k)
// Elements that are joined one after the other before their state joins the row's.
#define BLOCK 16u

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };
layout(buffer_reference, scalar) buffer Reals { T data[]; };
layout(buffer_reference, scalar) readonly buffer Metadata { int data[]; };

// A pack of a 16-bit type is moved as words.
#ifdef PER_WORD
struct APack { uint word[VECTOR / PER_WORD]; };
#define A_OF(PACK, K) A_UNPACK(PACK.word[(K) / uint(PER_WORD)], int((K) % uint(PER_WORD)))
#else
struct APack { A_STORAGE element[VECTOR]; };
#define A_OF(PACK, K) A_LOAD(PACK.element[K])
#endif
layout(buffer_reference, scalar, buffer_reference_align = ALIGN) buffer APacks { APack data[]; };

layout(push_constant, scalar) uniform Push {
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
    int layout_[3]; // the strides of the rows in a, b and the result; or where sizes and strides lie, if they have dimensions
} push;

#ifdef DOUBLE
#define PARAMETER(k) packDouble2x32(push.parameters[k])
#else
#define PARAMETER(k) uintBitsToFloat(push.parameters[k].x)
#endif

shared STATE exchange[SHARED_STATES];

int table_at(uint place) { return Metadata(uvec2(push.layout_[0], push.layout_[1])).data[place]; }

// The offsets of a row in a, b and the result.
ivec3 offsets_of(uint row) {
    if (push.rank == 0u) return ivec3(0);
    if (push.rank == 1u) return int(row) * ivec3(push.layout_[0], push.layout_[1], push.layout_[2]);
    ivec3 offsets = ivec3(0);
    for (uint axis = push.rank; axis-- > 0u;) {
        uint position = row;
        if (axis > 0u) {
            uint size = uint(table_at(axis));
            row = position / size;
            position -= row * size;
        }
        ivec3 strides = ivec3(table_at(push.rank + axis), table_at(2u * push.rank + axis), table_at(3u * push.rank + axis));
        offsets += int(position) * strides;
    }
    return offsets;
}

uint row;
uint member;
uint own;     // the place of the invocation in its workgroup
uint spacing; // from a member to the next
ivec3 offset;
T N;
T mean, rstd;

// The numbers of an element; those of its place in the row are read where they are used.
struct Element { A_COMPUTE a; B_COMPUTE b; };

T weight_at(uint place) { return (PRESENT & 2u) != 0u ? Reals(push.w).data[place] : T(1); }
T bias_at(uint place) { return (PRESENT & 4u) != 0u ? Reals(push.v).data[place] : T(0); }

bool is_inside(uint place, uint count) { return WHOLE || place < count; }

// The elements from `place` on, which is a multiple of VECTOR; those beyond the end are whatever the last one is.
void load(out Element elements[VECTOR], uint place) {
    uint last = push.count - 1u;
    bool whole = is_inside(place + uint(VECTOR) - 1u, push.count);
    if (whole && (PACKED & 1u) != 0u) {
        APack pack = APacks(push.a).data[(uint(offset.x) + place) / uint(VECTOR)];
        EACH elements[k].a = A_OF(pack, k);
    } else {
        EACH elements[k].a = A_LOAD(AElements(push.a).data[offset.x + int(min(place + k, last)) * push.steps[0]]);
    }
    EACH elements[k].b = B_COMPUTE(0);
    if ((PRESENT & 1u) != 0u) {
#ifdef B_PACKS
        if (whole && (PACKED & 2u) != 0u) {
            APack pack = APacks(push.b).data[(uint(offset.y) + place) / uint(VECTOR)];
            EACH elements[k].b = A_OF(pack, k);
        } else
#endif
        EACH elements[k].b = B_LOAD(BElements(push.b).data[offset.y + int(min(place + k, last)) * push.steps[1]]);
    }
}

void store(uint place, T values[VECTOR]) {
    if (is_inside(place + uint(VECTOR) - 1u, push.count) && (PACKED & 4u) != 0u) {
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
        APacks(push.result).data[(uint(offset.z) + place) / uint(VECTOR)] = pack;
    } else {
        EACH {
            if (is_inside(place + k, push.count)) {
                RElements(push.result).data[offset.z + int(place + k) * push.steps[2]] = R_STORE(values[k]);
            }
        }
    }
}

STATE phase_1(Element one, uint element) {
    A_COMPUTE a = one.a;
    B_COMPUTE b = one.b;
    T w = weight_at(element);
    precise STATE result = PHASE_1;
    return result;
}

STATE combine_1(STATE x, STATE y) {
    precise STATE result = COMBINE_1;
    return result;
}

#ifdef PHASE_2
STATE phase_2(Element one, uint element, STATE s) {
    A_COMPUTE a = one.a;
    B_COMPUTE b = one.b;
    T w = weight_at(element);
    precise STATE result = PHASE_2;
    return result;
}
#endif

STATE combine_2(STATE x, STATE y) {
    precise STATE result = x + y;
    return result;
}

T map_of(Element one, uint element, STATE s, STATE t, STATE c) {
    A_COMPUTE a = one.a;
    B_COMPUTE b = one.b;
    T w = weight_at(element);
    T v = bias_at(element);
    precise T result = MAP;
    return result;
}

// The state of all members, joined as a tree of neighbours; all of them get it.
#ifdef SUBGROUPS
#define MEET(COMBINE, STATE_) \
    [[unroll]] for (uint width = 1u; width < MEMBERS && width < SUBGROUP; width *= 2u) { \
        STATE other = subgroupShuffleXor(STATE_, width); \
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
#define MEET(COMBINE, STATE_) \
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

#define REDUCE(STATE_, IDENTITY, CONTRIBUTION, COMBINE) \
    STATE STATE_ = IDENTITY; \
    if (ITEMS > 0u) { \
        [[unroll]] for (uint j = 0u; j < ITEMS / uint(VECTOR); ++j) { \
            uint place = (j * MEMBERS + member) * uint(VECTOR); \
            EACH { \
                if (WHOLE ? place < count : place + k < count) { \
                    kept[j * uint(VECTOR) + k] = CONTRIBUTION(one[j][k], place + k); \
                    STATE_ = COMBINE(STATE_, kept[j * uint(VECTOR) + k]); \
                } \
            } \
        } \
    } else { \
        uint stride = MEMBERS * uint(VECTOR); \
        for (uint start = member * uint(VECTOR); start < count; start += BLOCK * stride) { \
            STATE part = IDENTITY; \
            for (uint place = start; place < min(start + BLOCK * stride, count); place += stride) { \
                Element elements[VECTOR]; \
                load(elements, place); \
                EACH if (is_inside(place + k, count)) part = COMBINE(part, CONTRIBUTION(elements[k], place + k)); \
            } \
            STATE_ = COMBINE(STATE_, part); \
        } \
    } \
    MEET(COMBINE, STATE_)

#define CONTRIBUTION_1(ONE, PLACE) phase_1(ONE, PLACE)
#define CONTRIBUTION_2(ONE, PLACE) phase_2(ONE, PLACE, s)
#ifdef PHASE_2
#define LAST_CONTRIBUTION(ONE, PLACE) phase_2(ONE, PLACE, s)
#else
#define LAST_CONTRIBUTION(ONE, PLACE) STATE(0)
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
    bool inside = unit < push.rows;
    uint count = inside ? push.count : 0u;
    unit = min(unit, push.rows - 1u);
    row = push.first_row + unit;
    offset = offsets_of(unit);
    N = T(push.count);
#ifdef ROW_INPUTS
    mean = OPTION ? T(0) : Reals(push.first).data[unit];
    rstd = Reals(push.second).data[unit];
#endif

    const uint packs = ITEMS > 0u ? ITEMS / uint(VECTOR) : 1u;
    Element one[packs][VECTOR];
    STATE kept[packs * uint(VECTOR)];
    if (ITEMS > 0u) {
        [[unroll]] for (uint j = 0u; j < packs; ++j) {
            uint place = (j * MEMBERS + member) * uint(VECTOR);
            if (place < count) load(one[j], place);
        }
    }

    REDUCE(s, IDENTITY_1, CONTRIBUTION_1, combine_1)
    { precise STATE finished = FINISH_1; s = finished; }
#ifdef PHASE_2
    REDUCE(t, STATE(0), CONTRIBUTION_2, combine_2)
    { precise STATE finished = FINISH_2; t = finished; }
#else
    STATE t = s;
#endif
#ifdef ROW_OUTPUTS
    if (inside && member == 0u) {
        if (!OPTION) Reals(push.first).data[unit] = FIRST_OUTPUT;
        Reals(push.second).data[unit] = SECOND_OUTPUT;
    }
#endif

    uint last = push.count - 1u;
    T values[VECTOR];
    if (ITEMS > 0u) {
        [[unroll]] for (uint j = 0u; j < packs; ++j) {
            uint place = (j * MEMBERS + member) * uint(VECTOR);
            if (place < count) {
                EACH values[k] = map_of(one[j][k], min(place + k, last), s, t, kept[j * uint(VECTOR) + k]);
                store(place, values);
            }
        }
    } else {
        uint stride = MEMBERS * uint(VECTOR);
        for (uint start = member * uint(VECTOR); start < count; start += BLOCK * stride) {
            for (uint place = start; place < min(start + BLOCK * stride, count); place += stride) {
                Element elements[VECTOR];
                load(elements, place);
                EACH values[k] = map_of(elements[k], min(place + k, last), s, t, LAST_CONTRIBUTION(elements[k], min(place + k, last)));
                store(place, values);
            }
        }
    }
}
