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
// these times the normalized elements of b, which lies as a does. ACROSS: an invocation adds up so many neighbouring rows, which
// lie side by side in texels; an element is a vector of what each adds up, and `rows` counts such groups of them.
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
layout(constant_id = 4) const uint LEVELS = 9u;              // of the stack; unless SHARED, 1 for a row of one block
layout(constant_id = 11) const bool LEAN = false;            // few registers: lanes are taken one by one
layout(constant_id = 17) const bool SINGLE = false;          // fewer still: packs, too
#ifdef LINKED
layout(constant_id = 18) const bool ONE_BY_ONE = false;      // and the elements of a pack, of which much is computed
#endif
layout(constant_id = 12) const uint SHORT = 0u;              // lanes of a row that has no more than one element for a leaf
layout(constant_id = 13) const bool WHOLE = false;           // lanes have all elements of their packs
#ifdef SHARED
const bool FURTHER_STEPS = false;
#else
layout(constant_id = 14) const bool FURTHER_STEPS = true;    // some leaves of a block have several elements
#ifndef ROW
layout(constant_id = 15) const bool ONE_CHUNK = false;       // a row is one chunk
layout(constant_id = 16) const uint RANK = 1u;               // of the rows
#endif
#endif
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

#include "lib/reduction/states.glsl"

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
#ifdef SHARED
#define RANK arguments.rank
#endif
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

#include "lib/reduction/reading.glsl"
#include "lib/reduction/leaves.glsl"

#ifndef ROW
// The offsets of a row in a and in the result.
ivec2 row_offsets(uint row) {
    ivec2 offsets = ivec2(0);
    for (uint axis = RANK; axis-- > 0u;) {
        uint position = row;
        if (axis > 0u) {
            uint size = uint(layout_at(axis));
            row = position / size;
            position -= row * size;
        }
        offsets += int(position) * ivec2(layout_at(RANK + axis), layout_at(2u * RANK + axis));
    }
    return offsets;
}
#endif

#include "lib/reduction/stack.glsl"
#include "lib/reduction/serial.glsl"
#ifdef SHARED
#include "lib/reduction/lanes.glsl"
#include "lib/reduction/members.glsl"
#endif

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
    STATE a = chunk_state(max(count, 1u));  // where there is no row, an element of another one
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
#ifdef SHARED
    uint units = gl_WorkGroupSize.x / arguments.members;
    bool columns = (arguments.mode & COLUMNS) != 0u;
    uint member = columns ? gl_LocalInvocationIndex / units : gl_LocalInvocationIndex % arguments.members;
    uint unit = group * units + (columns ? gl_LocalInvocationIndex % units : gl_LocalInvocationIndex / arguments.members);
    uint chunk = unit / arguments.rows;
#else
    const uint member = 0u;
    uint unit = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint chunk = 0u;
    if (!ONE_CHUNK) chunk = unit / arguments.rows;
#endif
    bool inside = unit < arguments.rows * arguments.chunks;
    uint row = unit - chunk * arguments.rows;
#ifdef ACROSS
    row *= ACROSS;
#endif

    uint chunk_size = CHUNK_LANES / LANES * arguments.block;
    chunk_start = chunk * chunk_size;
    uint count = inside ? min(arguments.count - chunk_start, chunk_size) : 0u;
    ivec2 offsets = row_offsets(row);
    row_offset = offsets.x;
#ifdef TEXELS
    row_offset += int(arguments.a.x % 16u) * PER_TEXEL / 16;  // the first texel may begin before the row
#endif
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
    STATE state;
    if (SHORT > 0u) {
        if (!inside) return;
        state = short_state(count);
    } else {
        uint members = arguments.members;
        state = chunk_state(count, gl_LocalInvocationIndex, member, members, arguments.share, columns ? units : 1u);
    }
#else
    if (!inside) return;
    STATE state = chunk_state(count);
#endif

    if (inside && member == 0u) {
#ifdef SEVERAL
        [[unroll]] for (int k = 0; k < SEVERAL; ++k) StoredStates(arguments.states[k]).data[row * arguments.pitch + chunk] = state[k];
    }
}
#elif defined(ACROSS)
        [[unroll]] for (int k = 0; k < ACROSS; ++k) {
            ELEMENT a = state[k];
            if ((arguments.mode & LAST) != 0u) {
                Results(arguments.result).data[row_offsets(row + uint(k)).y] = R_STORE(FINISH);
            } else {
                StoredStates(arguments.result).data[(row + uint(k)) * arguments.pitch + chunk] = STORE_STATE(a);
            }
        }
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
