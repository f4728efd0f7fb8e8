// Reductions: FINISH of the COMBINEd states MAP(element) of each row of a reduction.
//
// The order of combination is fixed by the length of a row and the type alone: it is the same on every device, layout and
// access pattern. A row is cut into chunks, a chunk into up to CHUNK_BLOCKS blocks of `block` elements. A block has
// LANES * VECTOR leaves; leaf q joins, one after the other, the elements q, q + LANES * VECTOR, ... of its block. The
// leaves of a chunk are the leaves of a binary tree that joins neighbours. Leaves without elements come last and are left
// out. The chunks' states are written, and reduced in the same way by a further dispatch, whose input is STATES.
//
// SHARED: `members` invocations work on a chunk, on `share` lanes each, and meet in shared memory. By rows, neighbours are the
// members of a chunk with a lane each, and read neighbouring elements; by columns (COLUMNS in `mode`), they read neighbouring
// rows. Otherwise an invocation takes a whole chunk, as suits CPU drivers.
//
// LINKED: the elements of a are never stored: `element` and `pack` are linked to compute them of any number of inputs
// (vkarray/kernels/fused.py). ROW: so is the result, of a row of one chunk: `row_value` is linked into a kernel that goes on with
// it (vkarray/kernels/row_program.py). An element's place is then that in its row. SUBGROUPS: members exchange states within
// subgroups, and only those of subgroups meet in shared memory. SEVERAL: so many sums of the same length are computed at once, and
// an element is a vector of what each adds up; only the states of chunks are stored. PRODUCTS: two sums, of elements of a, and of
// these times the normalized elements of b, which lies as a does.
//
// SHIFT: the elements of a lane are mapped with a `center` in their midst, which the state of the lane then holds.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#include "lib/dtypes.glsl"
#include "lib/conversion.glsl"
#include LIBRARY
#include TEXT

layout(local_size_x_id = 0) in;
// Constants, since CPU drivers run both sides of every branch.
layout(constant_id = 1) const bool PACKED = false;           // an aligned row without gaps
layout(constant_id = 2) const bool TWO_DIMENSIONAL = false;  // the elements of a row lie in two dimensions
layout(constant_id = 3) const uint TURNS = 0u;               // batches of a lane, where all lanes have so many
layout(constant_id = 4) const uint LEVELS = 9u;              // of the stack
layout(constant_id = 11) const bool LEAN = false;            // few registers: lanes are taken one by one
layout(constant_id = 12) const uint SHORT = 0u;              // lanes of a row that has no more than one element for a leaf
layout(constant_id = 13) const bool WHOLE = false;           // which has all elements of its lanes
#ifdef ROW
// Numbers that the linker knows, where other kernels have arguments.
layout(constant_id = 5) const uint BLOCK = 1u;
layout(constant_id = 6) const uint MEMBERS = 1u;
layout(constant_id = 7) const uint OWN_SHARE = 1u;
layout(constant_id = 8) const uint SPACING = 1u;  // invocations between members
layout(constant_id = 9) const uint SUBGROUP = 1u;  // invocations of a subgroup
layout(constant_id = 10) const bool ALL_LANES = false;  // each lane of each member has elements
#endif
const uint LANES = 8u;
const uint CHUNK_LANES = 256u;

#define STEP (LANES * uint(VECTOR))
#define BATCH 4

#define COLUMNS 1u
#define LAST 2u

// A leaf is the state of some elements of a lane.
#if defined(INDEXED)
// A search knows a value and its place in the chunk, and stores the place in the whole row.
struct State { P_COMPUTE value; uint place; };
struct Stored { R_STORAGE index; P_STORAGE value; };
#define STATE State
#define LEAF State
#define STORED Stored
#define STORE_STATE(x) Stored(index, P_STORE((x).value))
#elif defined(SHIFT)
#define STATE VX_MOMENTS
#define STORED VX_MOMENTS
#ifdef STATES
#define LEAF STATE
#else
#define LEAF P_COMPUTE
#define SHIFTED
#endif
#define LOAD_STATE(x) (x)
#define STORE_STATE(x) (x)
#else
#define STATE P_COMPUTE
#define LEAF STATE
#define STORED P_STORAGE
#define LOAD_STATE(x) P_LOAD(x)
#define STORE_STATE(x) P_STORE(x)
#endif

#ifdef STATES
#define INPUT_STORAGE STORED
#ifdef INDEXED
#define INPUT P_COMPUTE
#define LOAD_INPUT(x) P_LOAD((x).value)
#else
#define INPUT STATE
#define LOAD_INPUT(x) LOAD_STATE(x)
#endif
#else
#define INPUT A_COMPUTE
#define INPUT_STORAGE A_STORAGE
#define LOAD_INPUT(x) A_LOAD(x)
#endif

#ifdef LINKED
#define LOAD_PACK(target, place) \
    A_COMPUTE values[VECTOR]; \
    pack(uint(place), pack_step, values); \
    EACH target[k] = values[k];
#elif defined(TEXELS)
// Packs are read as texels, four words of PER_WORD elements each, or as halves of these: CPU drivers load them at once.
layout(binding = 0) uniform usamplerBuffer texels;
#define PER_TEXEL (4 * PER_WORD / VECTOR)
#define LOAD_PACK(target, place) \
    uvec4 texel = texelFetch(texels, place / PER_TEXEL); \
    if (PER_TEXEL == 2 && place % PER_TEXEL == 1) texel.xy = texel.zw; \
    EACH target[k] = A_UNPACK(texel[k / PER_WORD], k % PER_WORD);
#elif defined(PER_WORD)
// Several elements at once, PER_WORD of them in 32 bits: CPU drivers load each member of a structure in a loop of its own.
struct Pack { uint64_t words[VECTOR / (2 * PER_WORD)]; };
#define UNPACK(pack, k) A_UNPACK(unpackUint2x32(pack.words[k / (2 * PER_WORD)])[k / PER_WORD % 2], k % PER_WORD)
#ifdef PRODUCTS
#define LOAD_PACK(target, place) \
    Pack pack = Packs(arguments.a).data[place], other = Packs(arguments.b).data[place]; \
    EACH target[k] = gradient_and_product(UNPACK(pack, k), UNPACK(other, k));
#else
#define LOAD_PACK(target, place) \
    Pack pack = Packs(arguments.a).data[place]; \
    EACH target[k] = UNPACK(pack, k);
#endif
#endif
#if !defined(PER_WORD) && !defined(LINKED)
struct Pack { INPUT_STORAGE element[VECTOR]; };
#define OF_PACK(OF, PLACE, K) LOAD_INPUT(Packs(arguments.OF).data[PLACE].element[K])
#ifdef PRODUCTS
#define LOAD_PACK(target, place) EACH target[k] = gradient_and_product(OF_PACK(a, place, k), OF_PACK(b, place, k));
#else
#define LOAD_PACK(target, place) EACH target[k] = OF_PACK(a, place, k);
#endif
#endif
#if defined(PRODUCTS)
#define LOAD_AT(PLACE) \
    gradient_and_product(LOAD_INPUT(Elements(arguments.a).data[PLACE]), LOAD_INPUT(Elements(arguments.b).data[PLACE]))
#elif defined(LINKED)
#define LOAD_AT(PLACE) load_at(PLACE)
#else
#define LOAD_AT(PLACE) LOAD_INPUT(Elements(arguments.a).data[PLACE])
#endif
#ifndef LINKED
layout(buffer_reference, scalar) readonly buffer Elements { INPUT_STORAGE data[]; };
#endif
#if !defined(TEXELS) && !defined(LINKED)
layout(buffer_reference, scalar, buffer_reference_align = ALIGN) readonly buffer Packs { Pack data[]; };
#endif
#ifndef ROW
layout(buffer_reference, scalar) writeonly buffer StoredStates { STORED data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { R_STORAGE data[]; };
#ifdef CENTERED
layout(buffer_reference, scalar) readonly buffer Centers { C_STORAGE data[]; };
#endif
#ifdef PRODUCTS
layout(buffer_reference, scalar) readonly buffer Statistics { T data[]; };
#endif

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;
#ifdef SEVERAL
    uvec2 states[SEVERAL];
#else
    uvec2 result;         // the results with LAST, else the states of the chunks
#endif
    uvec2 center;
    uvec2 parameters[2];  // what FINISH needs; INDEXED: the first is the place of this dispatch's first element
    uint count;           // elements of a row in this dispatch
    uint rows;
    uint chunks;          // of a row in this dispatch
    uint pitch;           // chunks of a whole row
    uint block;           // elements of a block
    uint members;
    uint share;           // lanes of a member
    uint mode;
    uint rank;            // of the rows
    uint inner_size;      // TWO_DIMENSIONAL: of the inner dimension
    int stride;           // between elements in a, in the outer dimension if there are two
    int inner_stride;
#ifdef PRODUCTS
    uvec2 b;
    uvec2 mean;           // of `alike` neighbouring rows each
    uvec2 rstd;           // 1 / standard deviation
    uint first_row;       // of this dispatch
    uint alike;
#endif
#ifdef LINKED
    uvec2 inputs[56];     // addresses, numbers, or where the places of elements begin
    uint axes;            // of a
    int walk[25 * 8];     // sizes of a, strides of each input
#endif
    int layout_[192];     // of the rows: sizes, strides in a, strides in the result
} arguments;

#define PARAMETERS arguments.parameters
#define BLOCK arguments.block
#define STRIDE_OF_A arguments.stride
#else
uvec2 PARAMETERS[2];
const int STRIDE_OF_A = 1;
#endif

#define PARAMETER_FLOAT(k) uintBitsToFloat(PARAMETERS[k].x)
#define PARAMETER_DOUBLE(k) packDouble2x32(PARAMETERS[k])
#ifdef DOUBLE
#define PARAMETER(k) PARAMETER_DOUBLE(k)
#else
#define PARAMETER(k) PARAMETER_FLOAT(k)
#endif

#define EACH [[unroll]] for (int k = 0; k < VECTOR; ++k)

#ifndef ROW
int layout_at(uint place) {
    return arguments.layout_[place];
}
#endif

#ifdef PRODUCTS
T mean, rstd;  // of the row

A_COMPUTE gradient_and_product(T gradient, T element) {
    precise T product = gradient * ((element - mean) * rstd);
    return A_COMPUTE(gradient, product);
}
#endif

#ifdef LINKED
#include "lib/computed.glsl"

uint pack_step;  // of all the packs that an invocation asks for, the place of the next one

// To be linked: a pack.
void pack(uint number, uint step, out A_COMPUTE values[VECTOR]) {}
#endif

#ifndef ROW
// The offsets of a row in a and in the result.
ivec2 row_offsets(uint row) {
    ivec2 offsets = ivec2(0);
    for (uint axis = arguments.rank; axis-- > 0u;) {
        uint position = row;
        if (axis > 0u) {
            uint size = uint(layout_at(axis));
            row = position / size;
            position -= row * size;
        }
        offsets += int(position) * ivec2(layout_at(arguments.rank + axis), layout_at(2u * arguments.rank + axis));
    }
    return offsets;
}
#endif

// The state of the elements of both, the second of which is no longer. In `follow`, all elements of b come after those of a.
#ifdef INDEXED
bool precedes(P_COMPUTE a, P_COMPUTE b) { return COMBINE; }

STATE follow(STATE a, STATE b) {
    if (precedes(b.value, a.value)) a = b;
    return a;
}

STATE combine(STATE a, STATE b) {
    if (precedes(b.value, a.value) || (!precedes(a.value, b.value) && b.place < a.place)) a = b;
    return a;
}
#else
#ifdef SHIFT
STATE combine(STATE a, STATE b) { return JOIN_STATES; }
#endif

#if !defined(SHIFT) || defined(SHIFTED)
LEAF combine(LEAF a, LEAF b) {
    precise LEAF result = COMBINE;
    return result;
}
#endif

#define follow combine
#endif

int row_offset;      // of the row's first element in a
uint chunk_start;    // the chunk's first element in the row
#if defined(CENTERED) || defined(SHIFTED)
C_COMPUTE center;
#endif

LEAF leaf_of(INPUT a, uint element) {
#ifdef INDEXED
    return LEAF(MAP, element);
#else
    return MAP;
#endif
}

// The offset of an element from the first of its row.
int offset_of(uint place) {
#ifndef ROW
    if (TWO_DIMENSIONAL) {
        uint outer = place / arguments.inner_size;
        return int(outer) * arguments.stride + int(place - outer * arguments.inner_size) * arguments.inner_stride;
    }
#endif
    return int(place) * STRIDE_OF_A;
}

INPUT load(uint element) {
    return LOAD_AT(row_offset + offset_of(chunk_start + element));
}

#ifdef SHIFTED
C_COMPUTE shift_of(INPUT a) { return SHIFT; }

// A center from the first elements of a lane.
C_COMPUTE center_of(uint first, uint end) {
    C_COMPUTE shift = shift_of(load(first));
    precise C_COMPUTE sum = C_COMPUTE(0);
    uint count = 0u;
    for (uint element = first; element < min(end, first + uint(BATCH) * STEP); element += STEP) {
        EACH {
            if (element + uint(k) < end) {
                sum += shift_of(load(element + uint(k))) - shift;
                ++count;
            }
        }
    }
    return vx_center(shift, sum, count);
}
#endif

#define JOIN(WIDTH) \
    EACH if (k % (2 * WIDTH) == 0 && (TURNS > 0u || first + uint(k + WIDTH) < end)) leaf[k] = combine(leaf[k], leaf[k + WIDTH]);

// The state of a lane from those of its leaves, some of which may lie beyond `end`.
STATE joined(LEAF leaf[VECTOR], uint first, uint end) {
    // Written out: drivers do not unroll a loop whose counter doubles, and then keep the leaves in memory.
#if VECTOR > 1
    JOIN(1)
#endif
#if VECTOR > 2
    JOIN(2)
#endif
#if VECTOR > 4
    JOIN(4)
#endif
#ifdef SHIFTED
    uint turns = (end - first) / STEP;
    uint count = turns * uint(VECTOR) + min(end - first - turns * STEP, uint(VECTOR));
    return STATE(center, leaf[0], C_COMPUTE(count));
#else
    return leaf[0];
#endif
}

// The state of the leaves of one lane: elements from `first` on, below `end`, which is the end of the block or the chunk.
STATE lane_state(uint first, uint end) {
    LEAF leaf[VECTOR];
    uint element = first;
    // All loads of a batch are under way together.
    if (!TWO_DIMENSIONAL) {
        for (uint turn = 0u; TURNS > 0u ? turn < TURNS : element + uint(BATCH - 1) * STEP + uint(VECTOR) <= end; ++turn) {
            INPUT value[BATCH][VECTOR];
            int offset = row_offset + int(chunk_start + element) * (PACKED ? 1 : STRIDE_OF_A);
            [[unroll]] for (int j = 0; j < BATCH; ++j) {
                if (PACKED) {
                    int place = offset / VECTOR + j * int(LANES);
#ifdef LINKED
                    pack_step = turn * uint(BATCH) + uint(j);
#endif
                    LOAD_PACK(value[j], place)
                } else {
                    EACH value[j][k] = LOAD_AT(offset + (j * int(STEP) + k) * STRIDE_OF_A);
                }
            }
#ifdef SHIFTED
            if (turn == 0u) {
                C_COMPUTE shift = shift_of(value[0][0]);
                precise C_COMPUTE sum = C_COMPUTE(0);
                [[unroll]] for (int j = 0; j < BATCH; ++j) {
                    EACH sum += shift_of(value[j][k]) - shift;
                }
                center = vx_center(shift, sum, uint(BATCH * VECTOR));
            }
#endif
            [[unroll]] for (int j = 0; j < BATCH; ++j) {
                EACH {
                    LEAF next = leaf_of(value[j][k], element + uint(j) * STEP + uint(k));
                    if (j == 0 && turn == 0u) leaf[k] = next;
                    else leaf[k] = follow(leaf[k], next);
                }
            }
            element += uint(BATCH) * STEP;
        }
    }
#ifdef SHIFTED
    if (element == first) center = center_of(first, end);
#endif
    for (; TURNS == 0u && element < end; element += STEP) {
        if (PACKED && element + uint(VECTOR) <= end) {
            INPUT value[VECTOR];
            int place = (row_offset + int(chunk_start + element)) / VECTOR;
            LOAD_PACK(value, place)
            EACH {
                LEAF next = leaf_of(value[k], element + uint(k));
                if (element == first) leaf[k] = next;
                else leaf[k] = follow(leaf[k], next);
            }
            continue;
        }
        EACH {
            if (element + uint(k) < end) {
                LEAF next = leaf_of(load(element + uint(k)), element + uint(k));
                if (element == first) leaf[k] = next;
                else leaf[k] = follow(leaf[k], next);
            }
        }
    }
    return joined(leaf, first, end);
}

// The first element of a lane in the chunk.
uint first_of(uint lane) { return lane / LANES * BLOCK + lane % LANES * uint(VECTOR); }

// A strip is some neighbouring lanes that an invocation takes together where all of their elements are there. By columns it
// has their loads under way together; of texels, those that it reads lie side by side, which a CPU fetches ahead.
#if defined(TEXELS) || (defined(LINKED) && !defined(SHARED))
#define PACKED_STRIPS
#endif
#if defined(SHIFTED) || !(defined(SHARED) || defined(PACKED_STRIPS))
#define STRIP 1
#elif defined(PACKED_STRIPS)
#define STRIP 8
#define STEPS (TURNS * uint(BATCH))
#define STRIDE 1
#define LOAD_LANE int place = offset / VECTOR + lane; LOAD_PACK(value[lane], place)
#else
#define STRIP 4
#define STEPS (BLOCK / STEP)
#define STRIDE STRIDE_OF_A
#define LOAD_LANE EACH value[lane][k] = LOAD_AT(offset + (lane * VECTOR + k) * STRIDE);
#endif

#if STRIP > 1
#define EACH_LANE [[unroll]] for (int lane = 0; lane < STRIP; ++lane)
#define TAKE(NEXT) { \
    INPUT value[STRIP][VECTOR]; \
    EACH_LANE { LOAD_LANE } \
    EACH_LANE EACH { \
        const int q = lane * VECTOR + k; \
        LEAF next = leaf_of(value[lane][k], element + uint(q)); \
        leaf[q] = NEXT; \
    } \
    element += STEP; \
    offset += int(STEP) * STRIDE; \
}
#define JOIN_LEAVES(WIDTH) \
    [[unroll]] for (int q = 0; q < STRIP * VECTOR; q += 2 * WIDTH) { \
        if (q + WIDTH < STRIP * VECTOR) leaf[q] = combine(leaf[q], leaf[q + WIDTH]); \
    }

// The state of the strip whose first element is `first`.
STATE strip_state(uint first) {
    LEAF leaf[STRIP * VECTOR];
    uint element = first;
    int offset = row_offset + int(chunk_start + first) * STRIDE;
    TAKE(next)
    for (uint step = 1u; step < STEPS; ++step) TAKE(follow(leaf[q], next))
    JOIN_LEAVES(1)
    JOIN_LEAVES(2)
    JOIN_LEAVES(4)
    JOIN_LEAVES(8)
    JOIN_LEAVES(16)
    JOIN_LEAVES(32)
    return leaf[0];
}
#endif

// A level of the tree of so many parts as are present, 8 at most.
#define JOIN_PARTS(WIDTH) \
    [[unroll]] for (uint k = 0u; k < 8u; k += 2u * WIDTH) if (k + WIDTH < present) part[k] = combine(part[k], part[k + WIDTH]);

#ifndef ROW
// The state of a short row, whose elements are all loaded before the first is used.
STATE short_state(uint count) {
    INPUT value[LANES][VECTOR];
    STATE part[8];  // of each lane
    [[unroll]] for (int lane = 0; lane < int(LANES); ++lane) {
        if (uint(lane) >= SHORT) continue;
        if (PACKED && WHOLE) {
            int place = row_offset / VECTOR + lane;
            LOAD_PACK(value[lane], place)
        } else {
            EACH value[lane][k] = load(WHOLE ? uint(lane * VECTOR + k) : min(uint(lane * VECTOR + k), count - 1u));
        }
    }
    [[unroll]] for (int lane = 0; lane < int(LANES); ++lane) {
        if (uint(lane) >= SHORT) continue;
        uint first = uint(lane * VECTOR);
        uint end = WHOLE ? SHORT * uint(VECTOR) : count;
#ifdef SHIFTED
        C_COMPUTE shift = shift_of(value[lane][0]);
        precise C_COMPUTE sum = C_COMPUTE(0);
        EACH if (first + uint(k) < end) sum += shift_of(value[lane][k]) - shift;
        center = vx_center(shift, sum, min(end - first, uint(VECTOR)));
#endif
        LEAF leaf[VECTOR];
        EACH leaf[k] = leaf_of(value[lane][k], first + uint(k));
        part[lane] = joined(leaf, first, end);
    }
    const uint present = SHORT;
    JOIN_PARTS(1u)
    JOIN_PARTS(2u)
    JOIN_PARTS(4u)
    return part[0];
}
#endif

// What is done with the stack of subtrees (see `main`). A GPU has registers for small states, if loops name all levels.
#if defined(SHARED) && !defined(INDEXED) && !defined(SHIFT)
#define EACH_LEVEL [[unroll]] for (int level = 0; level < int(LEVELS); ++level)
#define PUT_STATE EACH_LEVEL if (level == findLSB(done)) stack[level] = state;
#define JOIN_NEXT \
    int unset = findLSB(~(done | (width - 1u))); \
    EACH_LEVEL if (level >= findLSB(width) && level < unset) next = combine(stack[level], next);
#define JOIN_REST EACH_LEVEL if (level > findLSB(done) && (done >> level & 1u) != 0u) state = combine(stack[level], state);
#else
#define PUT_STATE stack[findLSB(done)] = state;
#define JOIN_NEXT for (int level = findLSB(width); (done >> level & 1u) != 0u; ++level) next = combine(stack[level], next);
#define JOIN_REST \
    for (int level = findLSB(done) + 1; done >> level != 0u; ++level) { \
        if ((done >> level & 1u) != 0u) state = combine(stack[level], state); \
    }
#endif

#ifdef SHARED
shared STATE exchange[gl_WorkGroupSize.x];
#endif

#ifdef SUBGROUPS
STATE of_other(STATE state, uint distance) {
#ifdef INDEXED
    return State(subgroupShuffleXor(state.value, distance), subgroupShuffleXor(state.place, distance));
#else
    return subgroupShuffleXor(state, distance);
#endif
}

// A level of the tree: the later of two subtrees may have no elements.
#define MEET(WIDTH) \
    if (MEMBERS > WIDTH && SUBGROUP > WIDTH) { \
        STATE other = of_other(state, WIDTH); \
        bool both = ALL_LANES || first_of(((member | WIDTH) & ~(WIDTH - 1u)) * share) < count; \
        if ((member & WIDTH) == 0u) { \
            if (both) state = combine(state, other); \
        } else { \
            if (both) state = combine(other, state); \
            else state = other; \
        } \
    }

// The state of the elements of all members, for each of them.
STATE met_state(STATE state, uint count, uint own, uint member, uint share) {
    MEET(1u)
    MEET(2u)
    MEET(4u)
    MEET(8u)
    MEET(16u)
    MEET(32u)
    if (MEMBERS > SUBGROUP) {
        barrier();
        if (own % SUBGROUP == 0u) exchange[own / SUBGROUP] = state;
        barrier();
        uint begin = own / MEMBERS * (MEMBERS / SUBGROUP);
        STATE part[8];
        uint present = 0u;
        [[unroll]] for (uint k = 0u; k < 8u; ++k) {
            if (k < MEMBERS / SUBGROUP && (ALL_LANES || first_of(k * SUBGROUP * share) < count)) {
                part[k] = exchange[begin + k];
                present = k + 1u;
            }
        }
        JOIN_PARTS(1u)
        JOIN_PARTS(2u)
        JOIN_PARTS(4u)
        state = part[0];
    }
    return state;
}
#endif

// The state of so many elements of the chunk, for the first of its members, which lie `spacing` invocations apart, or with
// SUBGROUPS for each of them. `own` is the number of the invocation in its workgroup.
STATE chunk_state(uint count, uint own, uint member, uint members, uint share, uint spacing) {
    // Lanes are counted in binary: before lane n is added, `state` is the subtree of n's lowest digit, and the subtrees of
    // the others wait on the stack.
    STATE stack[LEVELS];
    STATE state;
    uint done = 0u;
    for (uint lane = member * share; done < share && first_of(lane) < count;) {
        uint end = (lane / LANES + 1u) * BLOCK;
        uint width = 1u;
        STATE next;
#ifdef PACKED_STRIPS
        const bool strip = STRIP > 1 && TURNS > 0u;
#else
        bool strip = STRIP > 1 && !LEAN && !TWO_DIMENSIONAL && share >= uint(STRIP) && end <= count;
#endif
#if STRIP > 1
        if (strip) {
            width = uint(STRIP);
            next = strip_state(first_of(lane));
        } else
#endif
        next = lane_state(first_of(lane), min(end, count));
        if (done > 0u) PUT_STATE
        JOIN_NEXT
        state = next;
        lane += width;
        done += width;
    }
    if (done > 0u) {
        JOIN_REST
    }

#ifdef SUBGROUPS
    state = met_state(state, count, own, member, share);
#elif defined(SHARED)
    // Three levels of the tree at a time.
    for (uint width = 1u; width < members; width *= 8u) {
        exchange[own] = state;
        barrier();
        if (member % (8u * width) == 0u) {
            STATE part[8];
            part[0] = state;
            uint present = 1u;
            [[unroll]] for (uint k = 1u; k < 8u; ++k) {
                uint other = member + k * width;
                if (other < members && first_of(other * share) < count) {
                    part[k] = exchange[own + k * width * spacing];
                    present = k + 1u;
                }
            }
            JOIN_PARTS(1u)
            JOIN_PARTS(2u)
            JOIN_PARTS(4u)
            state = part[0];
        }
        barrier();
    }
#endif
    return state;
}

#ifdef ROW

// A compute value as it is once it was stored: the storage types of 8 and 16 bits are for what lies in memory alone.
#define NARROW_int8(v) UNPACK_int8(BITS_int8(v), 0)
#define NARROW_uint8(v) UNPACK_uint8(BITS_uint8(uint(v)), 0)
#define NARROW_bool(v) (v)
#define NARROW_int16(v) UNPACK_int16(BITS_int16(v), 0)
#define NARROW_uint16(v) UNPACK_uint16(BITS_uint16(uint(v)), 0)
#define NARROW_float16(v) UNPACK_float16(BITS_float16(v), 0)
#define NARROW_bfloat16(v) UNPACK_bfloat16(BITS_bfloat16(v), 0)

// What the result holds of a row of so many elements, as it is read again, for each of the row's members.
void row_value(
    uint count, uint own, uint member, uvec2 first_parameter, uvec2 second_parameter, out R_COMPUTE value
) {
    PARAMETERS[0] = first_parameter;
    PARAMETERS[1] = second_parameter;
    chunk_start = 0u;
    row_offset = 0;
#ifdef SHARED
    STATE a = chunk_state(count, own, member, MEMBERS, OWN_SHARE, SPACING);
#else
    STATE a = chunk_state(count, 0u, 0u, 1u, CHUNK_LANES, 1u);
#endif
#if defined(SHARED) && !defined(SUBGROUPS)
    if (MEMBERS > 1u) {
        exchange[own] = a;
        barrier();
        a = exchange[own - member * SPACING];
        barrier();
    }
#endif
#ifdef INDEXED
#if R_BITS == 64
    value = R_LOAD(int64_t(a.place));
#else
    value = R_LOAD(int(a.place));
#endif
#else
#ifdef R_NARROW
    value = R_NARROW(FINISH);
#else
    value = R_LOAD(R_STORE(FINISH));
#endif
#endif
}

// The compiler drops functions that nothing calls.
void main() {
    R_COMPUTE value;
    row_value(gl_NumWorkGroups.x, gl_LocalInvocationIndex, gl_LocalInvocationIndex, uvec2(0u), uvec2(0u), value);
}

#else

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint units = gl_WorkGroupSize.x / arguments.members;
    bool columns = (arguments.mode & COLUMNS) != 0u;
    uint member = columns ? gl_LocalInvocationIndex / units : gl_LocalInvocationIndex % arguments.members;
    uint unit = group * units + (columns ? gl_LocalInvocationIndex % units : gl_LocalInvocationIndex / arguments.members);
    bool inside = unit < arguments.rows * arguments.chunks;
    uint chunk = unit / arguments.rows;
    uint row = unit - chunk * arguments.rows;

    uint chunk_size = CHUNK_LANES / LANES * arguments.block;
    chunk_start = chunk * chunk_size;
    uint count = inside ? min(arguments.count - chunk_start, chunk_size) : 0u;
    ivec2 offsets = row_offsets(row);
    row_offset = offsets.x;
    int result_offset = offsets.y;
#ifdef CENTERED
    center = C_LOAD(Centers(arguments.center).data[inside ? result_offset : 0]);
#endif
#ifdef PRODUCTS
    uint statistic = (arguments.first_row + (inside ? row : 0u)) / arguments.alike;
    mean = Statistics(arguments.mean).data[statistic];
    rstd = Statistics(arguments.rstd).data[statistic];
#endif

#ifdef SHARED
    uint share = arguments.share;
#else
    const uint share = CHUNK_LANES;
#endif
    STATE state;
    if (SHORT > 0u) {
        if (!inside) return;
        state = short_state(count);
    } else {
        state = chunk_state(count, gl_LocalInvocationIndex, member, arguments.members, share, columns ? units : 1u);
    }

    if (inside && member == 0u) {
#ifdef SEVERAL
        [[unroll]] for (int k = 0; k < SEVERAL; ++k) StoredStates(arguments.states[k]).data[row * arguments.pitch + chunk] = state[k];
    }
}
#else
#ifdef INDEXED
#ifdef STATES
        R_STORAGE index = Elements(arguments.a).data[row_offset + int(chunk_start + state.place)].index;
#elif R_BITS == 64
        R_STORAGE index = int64_t(packUint2x32(arguments.parameters[0])) + int64_t(chunk_start + state.place);
#else
        R_STORAGE index = int(arguments.parameters[0].x + chunk_start + state.place);
#endif
#endif
        if ((arguments.mode & LAST) != 0u) {
#ifdef INDEXED
            Results(arguments.result).data[result_offset] = index;
#else
            STATE a = state;
            Results(arguments.result).data[result_offset] = R_STORE(FINISH);
#endif
        } else {
            StoredStates(arguments.result).data[row * arguments.pitch + chunk] = STORE_STATE(state);
        }
    }
}
#endif

#endif
