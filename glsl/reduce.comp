// Reductions: FINISH of the COMBINEd states MAP(element) of each row of a reduction.
//
// The order of combination is fixed by the length of a row and the type alone: it is the same on every device, layout and
// access pattern. A row is cut into chunks, a chunk into up to CHUNK_BLOCKS blocks of `block` elements. A block has
// LANES * VECTOR leaves; leaf q joins, one after the other, the elements q, q + LANES * VECTOR, ... of its block. The
// leaves of a chunk are the leaves of a binary tree that joins neighbours. Leaves without elements come last and are left
// out. The chunks' states are written, and reduced in the same way by a further dispatch, whose input is STATES.
//
// SHARED: `members` invocations work on a chunk and meet in shared memory. By rows, each takes a lane of a block, so that
// neighbours read neighbouring elements; by columns (COLUMNS in `mode`), each takes `serial` whole blocks and neighbours
// read neighbouring rows. Otherwise an invocation takes a whole chunk, as suits CPU drivers.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/conversion.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;
// Constants, since CPU drivers run both sides of every branch.
layout(constant_id = 1) const bool PACKED = false;           // an aligned row without gaps
layout(constant_id = 2) const bool TWO_DIMENSIONAL = false;  // the elements of a row lie in two dimensions
layout(constant_id = 3) const uint LANES = 8u;               // a power of two up to 256
const uint CHUNK_BLOCKS = 256u / LANES;

#define STEP (LANES * uint(VECTOR))
#define BATCH 4
#define LEVELS 9

#define COLUMNS 1u
#define LAST 2u

#ifdef INDEXED
// The state of a search: a value and the place where it was found first.
struct State { R_STORAGE index; P_STORAGE value; };
#define STATE State
#define STORED State
#define LOAD_STATE(x) (x)
#define STORE_STATE(x) (x)
#else
#define STATE P_COMPUTE
#define STORED P_STORAGE
#define LOAD_STATE(x) P_LOAD(x)
#define STORE_STATE(x) P_STORE(x)
#endif

#ifdef STATES
#define INPUT STATE
#define INPUT_STORAGE STORED
#define LOAD_INPUT(x) LOAD_STATE(x)
#else
#define INPUT A_COMPUTE
#define INPUT_STORAGE A_STORAGE
#define LOAD_INPUT(x) A_LOAD(x)
#endif

struct Pack { INPUT_STORAGE element[VECTOR]; };
layout(buffer_reference, scalar) readonly buffer Elements { INPUT_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = ALIGN) readonly buffer Packs { Pack data[]; };
layout(buffer_reference, scalar) writeonly buffer StoredStates { STORED data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { R_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Metadata { int data[]; };
#ifdef CENTERED
layout(buffer_reference, scalar) readonly buffer Centers { C_STORAGE data[]; };
#endif

layout(push_constant, scalar) uniform Push {
    uvec2 a;
    uvec2 result;         // the results with LAST, else the states of the chunks
    uvec2 center;
    uvec2 parameters[2];  // what FINISH needs; INDEXED: the first is the place of this dispatch's first element
    uint count;           // elements of a row in this dispatch
    uint rows;
    uint chunks;          // of a row in this dispatch
    uint pitch;           // chunks of a whole row
    uint block;           // elements of a block
    uint members;
    uint serial;
    uint mode;
    uint rank;            // of the rows
    uint inner_size;      // TWO_DIMENSIONAL: of the inner dimension
    int stride;           // between elements in a, in the outer dimension if there are two
    int inner_stride;
    int layout_[10];      // of the rows: sizes, strides in a, strides in the result
} push;

#define PARAMETER_FLOAT(k) uintBitsToFloat(push.parameters[k].x)
#define PARAMETER_DOUBLE(k) packDouble2x32(push.parameters[k])
#ifdef DOUBLE
#define PARAMETER(k) PARAMETER_DOUBLE(k)
#else
#define PARAMETER(k) PARAMETER_FLOAT(k)
#endif

#define EACH [[unroll]] for (int k = 0; k < VECTOR; ++k)

int layout_at(uint place) {
    if (3u * push.rank <= 10u) return push.layout_[place];
    return Metadata(uvec2(push.layout_[0], push.layout_[1])).data[place];
}

// The offsets of a row in a and in the result.
ivec2 row_offsets(uint row) {
    ivec2 offsets = ivec2(0);
    for (uint axis = push.rank; axis-- > 0u;) {
        uint position = row;
        if (axis > 0u) {
            uint size = uint(layout_at(axis));
            row = position / size;
            position -= row * size;
        }
        offsets += int(position) * ivec2(layout_at(push.rank + axis), layout_at(2u * push.rank + axis));
    }
    return offsets;
}

#ifdef INDEXED
bool precedes(P_COMPUTE a, P_COMPUTE b) { return COMBINE; }

STATE combine(STATE a, STATE b) {
    P_COMPUTE left = P_LOAD(a.value);
    P_COMPUTE right = P_LOAD(b.value);
    if (precedes(right, left) || (!precedes(left, right) && b.index < a.index)) a = b;
    return a;
}
#else
STATE combine(STATE a, STATE b) {
    precise STATE result = COMBINE;
    return result;
}
#endif

int row_offset;      // of the row's first element in a
uint chunk_start;    // the chunk's first element in the row
#ifdef CENTERED
C_COMPUTE center;
#endif

STATE state_of(INPUT a, uint element) {
#ifdef STATES
    return a;
#elif defined(INDEXED)
#if R_BITS == 64
    return State(int64_t(packUint2x32(push.parameters[0])) + int64_t(chunk_start + element), P_STORE(MAP));
#else
    return State(int(push.parameters[0].x + chunk_start + element), P_STORE(MAP));
#endif
#else
    return MAP;
#endif
}

STATE load(uint element) {
    uint place = chunk_start + element;
    int offset = int(place) * push.stride;
    if (TWO_DIMENSIONAL) {
        uint outer = place / push.inner_size;
        offset = int(outer) * push.stride + int(place - outer * push.inner_size) * push.inner_stride;
    }
    return state_of(LOAD_INPUT(Elements(push.a).data[row_offset + offset]), element);
}

#define JOIN(WIDTH) \
    EACH if (k % (2 * WIDTH) == 0 && first + uint(k + WIDTH) < end) leaf[k] = combine(leaf[k], leaf[k + WIDTH]);

// The state of the leaves of one lane: elements from `first` on, below `end`, which is the end of the block or the chunk.
STATE lane_state(uint first, uint end, bool whole) {
    STATE leaf[VECTOR];
    if (whole) {
        for (uint element = first; element < end; element += uint(BATCH) * STEP) {
            INPUT value[BATCH][VECTOR];
            int pack = (row_offset + int(chunk_start + element)) / VECTOR;
            [[unroll]] for (int j = 0; j < BATCH; ++j) {
                EACH value[j][k] = LOAD_INPUT(Packs(push.a).data[pack + j * int(LANES)].element[k]);
            }
            [[unroll]] for (int j = 0; j < BATCH; ++j) {
                EACH {
                    STATE state = state_of(value[j][k], element + uint(j) * STEP + uint(k));
                    if (j == 0 && element == first) leaf[k] = state;
                    else leaf[k] = combine(leaf[k], state);
                }
            }
        }
    } else {
        for (uint element = first; element < end; element += STEP) {
            EACH {
                if (element + uint(k) < end) {
                    STATE state = load(element + uint(k));
                    if (element == first) leaf[k] = state;
                    else leaf[k] = combine(leaf[k], state);
                }
            }
        }
    }
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
    return leaf[0];
}

#ifdef SHARED
shared STATE exchange[gl_WorkGroupSize.x];
#endif

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint units = gl_WorkGroupSize.x / push.members;
    bool columns = (push.mode & COLUMNS) != 0u;
    uint member = columns ? gl_LocalInvocationIndex / units : gl_LocalInvocationIndex % push.members;
    uint unit = group * units + (columns ? gl_LocalInvocationIndex % units : gl_LocalInvocationIndex / push.members);
    bool inside = unit < push.rows * push.chunks;
    uint chunk = unit / push.rows;
    uint row = unit - chunk * push.rows;

    chunk_start = chunk * (CHUNK_BLOCKS * push.block);
    uint count = inside ? min(push.count - chunk_start, CHUNK_BLOCKS * push.block) : 0u;
    ivec2 offsets = row_offsets(row);
    row_offset = offsets.x;
    int result_offset = offsets.y;
#ifdef CENTERED
    center = C_LOAD(Centers(push.center).data[inside ? result_offset : 0]);
#endif

#ifdef SHARED
    // By rows: one lane of one block.
    uint lane = columns ? 0u : member % LANES;
    uint lanes = columns ? LANES : 1u;
    uint block = columns ? member * push.serial : member / LANES;
    uint blocks = columns ? push.serial : 1u;
#else
    const uint lane = 0u, lanes = LANES, block = 0u, blocks = CHUNK_BLOCKS;
#endif

    // Lanes are counted in binary: before lane n is added, `state` is the subtree of n's lowest digit, and the subtrees of
    // the others wait on the stack.
    STATE stack[LEVELS];
    STATE state;
    uint done = 0u;
    for (uint b = block; b < block + blocks && b * push.block < count; ++b) {
        uint start = b * push.block;
        uint end = min(start + push.block, count);
        bool whole = PACKED && start + push.block <= count;
        for (uint l = lane; l < lane + lanes; ++l) {
            uint first = start + l * uint(VECTOR);
            if (first >= end) break;
            STATE next = lane_state(first, end, whole);
            if (done > 0u) stack[findLSB(done)] = state;
            for (uint digit = 0u; (done >> digit & 1u) != 0u; ++digit) next = combine(stack[digit], next);
            state = next;
            ++done;
        }
    }
    if (done > 0u) {
        uint digit = uint(findLSB(done)) + 1u;
        for (; done >> digit != 0u; ++digit) {
            if ((done >> digit & 1u) != 0u) state = combine(stack[digit], state);
        }
    }

#ifdef SHARED
    uint spacing = columns ? units : 1u;
    for (uint width = 1u; width < push.members; width *= 2u) {
        exchange[gl_LocalInvocationIndex] = state;
        barrier();
        uint partner = member + width;
        uint partner_first = columns ? partner * push.serial * push.block
                                     : partner / LANES * push.block + partner % LANES * uint(VECTOR);
        if ((member & (2u * width - 1u)) == 0u && partner_first < count) {
            state = combine(state, exchange[gl_LocalInvocationIndex + width * spacing]);
        }
        barrier();
    }
#endif

    if (inside && member == 0u) {
        if ((push.mode & LAST) != 0u) {
            STATE a = state;
            Results(push.result).data[result_offset] = R_STORE(FINISH);
        } else {
            StoredStates(push.result).data[row * push.pitch + chunk] = STORE_STATE(state);
        }
    }
}
