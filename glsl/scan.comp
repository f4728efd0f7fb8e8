// Scans: element e of a row becomes COMBINE of the elements 0..e, in the compute type T.
//
// Elements are counted in base 16: 16 make a block, 16 blocks a group, 16 groups a tile, 16 tiles a node of a scan of tiles,
// and so on. The state of each joins its 16 members one after the other. A result joins, from the left, what lies before
// the element: of the largest size first, and last the elements of its block up to its own, each size again one after the
// other. This order is fixed: it is the same on every device, layout and access pattern, and its rounding error grows with
// the logarithm.
//
// A chunk of a tile, or of 16, is one unit of work. With TOTALS in `mode` only the states of the chunks are written; a scan
// of these, with EXCLUSIVE, says what lies before each chunk.
//
// LINKED: the elements of a are computed where they are read, of other arrays (lib/computed.glsl).
//
// SHARED: each of MEMBERS invocations takes one block in each step. Between memory and blocks the elements go through
// shared memory, so that neighbours touch neighbouring elements; with COLUMNS these belong to neighbouring rows. Only the
// invocations of a TEAM, all or those of a subgroup, wait for one another there. Otherwise an invocation takes a chunk, for
// CPU drivers and for many columns.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#ifdef SHARED
#extension GL_KHR_shader_subgroup_basic : require
#endif
#include "lib/dtypes.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;

#define BLOCK 16
#define GROUP 256u
#ifdef SHARED
#define HELD BLOCK
#else
layout(constant_id = 1) const int HELD = BLOCK;  // elements that an invocation holds at once: all of a row that is shorter than a block
#endif
#define EACH [[unroll]] for (int k = 0; k < HELD; ++k)
layout(constant_id = 8) const int AT_ONCE = 8;  // LEAN: elements that are loaded before one of them is stored
#define EACH_LEAN [[dont_unroll]] for (int part = 0; part < BLOCK; part += AT_ONCE) [[unroll]] for (int k = 0; k < AT_ONCE; ++k)

#define TOTALS 1u
#define BASE 2u
#define INITIAL 4u    // INITIAL_VALUE comes before the first result
#define EXCLUSIVE 8u  // results without their own element, INITIAL_VALUE for the first

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) buffer PElements { P_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;
    RElements r;
    PElements states;  // one for each row and chunk. TOTALS: the chunks', written; BASE: what lies before them, read
    uint count;        // elements of a row, from the first chunk of this dispatch on
    uint rows;
    uint chunks;       // of this dispatch
    uint first_chunk;
    uint pitch;        // chunks of a whole row
    uint chunk;        // elements of a chunk
    uint mode;
    uint rank;         // of the dimensions that are not scanned
#ifdef LINKED
    uvec2 inputs[56];  // see lib/computed.glsl
    uint axes;
    int walk[25 * 8];
#endif
    int layout_[194];  // strides of a scanned row in a and r; sizes; strides in a; strides in r
} arguments;

#ifdef LINKED
#include "lib/computed.glsl"
#define LOAD_AT(PLACE) load_at(PLACE)
#else
#define LOAD_AT(PLACE) A_LOAD(arguments.a.data[PLACE])
#endif

T combine(T a, T b) {
    precise T result = COMBINE;
    return result;
}

// `value`, which lies after what `before` holds, if that holds anything.
void join(inout T before, inout bool any, T value) {
    before = any ? combine(before, value) : value;
    any = true;
}

bool is_set(uint mode) { return (arguments.mode & mode) != 0u; }

struct Unit {
    int a_offset;
    int r_offset;
    uint count;  // elements of the chunk; 0 beyond the last unit, which is read in its stead
    uint place;  // in `states`
    uint chunk;  // in its row
};

Unit unit_of(uint number) {
    uint last = arguments.rows * arguments.chunks - 1u;
    uint chunk = min(number, last) / arguments.rows;
    uint row = min(number, last) - chunk * arguments.rows;
    uint start = chunk * arguments.chunk;
    Unit unit;
    unit.count = number <= last ? min(arguments.count - start, arguments.chunk) : 0u;
    unit.chunk = arguments.first_chunk + chunk;
    unit.place = row * arguments.pitch + unit.chunk;
    unit.a_offset = int(start) * arguments.layout_[0];
    unit.r_offset = int(start + (is_set(INITIAL) ? 1u : 0u)) * arguments.layout_[1];
    for (uint axis = arguments.rank; axis-- > 0u;) {
        int position = int(row);
        if (axis > 0u) {
            uint size = uint(arguments.layout_[2u + axis]);
            uint quotient = row / size;
            position = int(row - quotient * size);
            row = quotient;
        }
        unit.a_offset += position * arguments.layout_[2u + arguments.rank + axis];
        unit.r_offset += position * arguments.layout_[2u + 2u * arguments.rank + axis];
    }
    return unit;
}

void store_initial(Unit unit) {
    if (is_set(INITIAL) && unit.chunk == 0u && unit.count > 0u) {
        arguments.r.data[unit.r_offset - arguments.layout_[1]] = R_STORE(T(INITIAL_VALUE));
    }
}

// The results of a block from the states of its elements and what lies before it, if anything does.
#define FINISH(LOCAL, BEFORE, ANY) \
    if (ANY) { \
        EACH LOCAL[k] = combine(BEFORE, LOCAL[k]); \
    } \
    if (is_set(EXCLUSIVE)) { \
        [[unroll]] for (int k = HELD - 1; k > 0; --k) LOCAL[k] = LOCAL[k - 1]; \
        LOCAL[0] = ANY ? BEFORE : T(INITIAL_VALUE); \
    }

#ifdef SHARED

#define INVOCATIONS 256u
#define SLOTS (INVOCATIONS * uint(BLOCK))

layout(constant_id = 1) const uint MEMBERS = INVOCATIONS;  // a power of two; less than all only for chunks of a tile or less
layout(constant_id = 2) const bool COLUMNS = false;
layout(constant_id = 3) const bool PACKED = false;  // rows without gaps in a and r
layout(constant_id = 4) const uint PIECES = 1u;     // of the elements of a step, which share the memory
layout(constant_id = 5) const uint TEAM = INVOCATIONS;  // that exchange elements: all with COLUMNS or PIECES, or a subgroup
// Few registers: no step is loaded ahead of time, and its elements go from memory to shared memory AT_ONCE at a time.
layout(constant_id = 6) const bool LEAN = false;
// With LEAN and no more pieces than MEMBERS: blocks stay in shared memory, and but for the last piece are loaded again to be finished.
layout(constant_id = 7) const bool IN_PLACE = false;
const uint UNITS = INVOCATIONS / MEMBERS;
const uint LANES = MEMBERS < uint(BLOCK) ? MEMBERS : uint(BLOCK);  // blocks of a group
const uint GROUPS = MEMBERS / LANES;                               // of a unit
const uint PIECE = SLOTS / PIECES;
const uint ROW = MEMBERS * uint(BLOCK);  // elements of a unit in a step
const bool EVEN = LEAN && PIECES == 1u && TEAM == INVOCATIONS;

// With a gap after every SPACING elements neither access, in the order of memory or by blocks, meets a bank twice.
shared T exchange[PIECE + PIECE / SPACING];
shared T block_states[INVOCATIONS + INVOCATIONS / uint(BLOCK)];
shared T before_block[INVOCATIONS + INVOCATIONS / uint(BLOCK)];  // in its group
shared T group_states[BLOCK];
shared T before_group[BLOCK];
shared Unit units[UNITS];

bool is_in(uint piece, uint slot) { return PIECES == 1u || slot / PIECE == piece; }

uint exchange_place(uint slot) {
    if (PIECES > 1u) slot %= PIECE;
    return slot + slot / SPACING;
}

// The place among the blocks of a member of a unit.
uint block_place(uint unit, uint member) {
    uint block = COLUMNS ? member * UNITS + unit : unit * MEMBERS + member;
    return block + block / uint(BLOCK);
}

// Slots are the elements of a step in the order in which neighbours touch them: those that an invocation moves from or to
// memory, and those of its block.
uint own, first_slot, slot_step;
uint slot_in_memory(int k) { return own / TEAM * (TEAM * uint(BLOCK)) + uint(k) * TEAM + own % TEAM; }
uint slot_in_block(int k) { return first_slot + uint(k) * slot_step; }

// What invocation `own` moves from or to memory as its element k: the unit, the element of the unit's row, the place in `exchange`.
// All numbers are powers of two, so with EVEN the part of k can be added last.
uint unit_in_memory(int k) {
    uint slot = EVEN ? own : slot_in_memory(k), more = EVEN ? uint(k) * INVOCATIONS : 0u;
    return UNITS == 1u ? 0u : COLUMNS ? slot % UNITS : slot / ROW + more / ROW;
}

uint element_in_memory(int k) {
    uint slot = EVEN ? own : slot_in_memory(k), more = EVEN ? uint(k) * INVOCATIONS : 0u;
    return COLUMNS ? slot / UNITS + more / UNITS : slot % ROW + more % ROW;
}

uint place_in_memory(int k) {
    return EVEN ? exchange_place(own) + exchange_place(uint(k) * INVOCATIONS) : exchange_place(slot_in_memory(k));
}

// The place in `exchange` of element k of the invocation's block.
uint place_in_block(int k) {
    return EVEN ? exchange_place(first_slot) + exchange_place(uint(k) * slot_step) : exchange_place(slot_in_block(k));
}

#define MEET { if (TEAM < INVOCATIONS) subgroupBarrier(); else barrier(); }

// The elements of the invocation's block, in shared memory, become the states of all up to them. Returns the last one.
T join_in_place() {
    T last = exchange[place_in_block(0)];
    [[dont_unroll]] for (int k = 1; k < BLOCK; ++k) {
        last = combine(last, exchange[place_in_block(k)]);
        exchange[place_in_block(k)] = last;
    }
    return last;
}

// FINISH of the invocation's block in shared memory.
void finish_in_place(T before, bool any) {
    [[dont_unroll]] for (int k = BLOCK - 1; k >= 0; --k) {
        int source = is_set(EXCLUSIVE) ? k - 1 : k;
        T value = any ? before : T(INITIAL_VALUE);
        if (source >= 0) {
            value = exchange[place_in_block(source)];
            if (any) value = combine(before, value);
        }
        exchange[place_in_block(k)] = value;
    }
}

// What an invocation moves from memory as element k of the step that begins at the element `start` of the chunks.
T load_one(int k, uint start, int stride) {
    uint unit = unit_in_memory(k);
    // Whatever lies beyond the end takes part in no result.
    uint element = min(start + element_in_memory(k), max(units[unit].count, 1u) - 1u);
    return LOAD_AT(units[unit].a_offset + int(element) * stride);
}

void load(out T value[BLOCK], uint start, int stride) {
    EACH value[k] = load_one(k, start, stride);
}

// LEAN: moves the elements of a step that are in a piece to shared memory.
void move(uint piece, uint start, int stride) {
    EACH_LEAN {
        int own_k = part + k;
        if (is_in(piece, slot_in_memory(own_k))) exchange[place_in_memory(own_k)] = load_one(own_k, start, stride);
    }
}

// Writes the result that an invocation moves to memory as element k of a step.
void store_one(int k, uint start, int stride) {
    uint unit = unit_in_memory(k);
    uint element = start + element_in_memory(k);
    if (element < units[unit].count) {
        arguments.r.data[units[unit].r_offset + int(element) * stride] = R_STORE(exchange[place_in_memory(k)]);
    }
}

void main() {
    own = TEAM < INVOCATIONS ? gl_SubgroupID * TEAM + gl_SubgroupInvocationID : gl_LocalInvocationIndex;
    uint first_unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * UNITS;
    uint number = COLUMNS ? own % UNITS : own / MEMBERS;
    uint member = COLUMNS ? own / UNITS : own % MEMBERS;
    uint group = member / LANES;
    slot_step = COLUMNS ? UNITS : 1u;
    first_slot = COLUMNS ? member * uint(BLOCK) * UNITS + number : own * uint(BLOCK);

    Unit unit = unit_of(first_unit + number);
    if (member == 0u) units[number] = unit;
    barrier();
    bool store = !is_set(TOTALS);
    bool based = is_set(BASE) && unit.chunk > 0u;
    // The first invocation of a unit keeps what lies before the chunk and, in it, before the tiles and groups of a step.
    T base, tiles, groups;
    if (member == 0u) {
        if (store) store_initial(unit);
        if (based) base = P_LOAD(arguments.states.data[unit.place]);
    }
    int a_stride = PACKED ? 1 : arguments.layout_[0];
    int r_stride = PACKED ? 1 : arguments.layout_[1];
    uint end = UNITS == 1u ? unit.count : min(arguments.count, arguments.chunk);
    uint next = 0u;
    T value[BLOCK];
    if (!LEAN) load(value, next, a_stride);
    for (uint start = 0u; start < end; start = next) {
        T local[BLOCK], last;
        for (uint piece = 0u; piece < PIECES; ++piece) {
            if (piece > 0u) MEET
            if (LEAN) {
                move(piece, start, a_stride);
            } else {
                EACH if (is_in(piece, slot_in_memory(k))) exchange[place_in_memory(k)] = value[k];
            }
            MEET
            if (IN_PLACE) {
                if (is_in(piece, slot_in_block(0))) last = join_in_place();
            } else {
                EACH if (is_in(piece, slot_in_block(k))) local[k] = exchange[place_in_block(k)];
            }
        }
        next = start + MEMBERS * uint(BLOCK);
        if (!LEAN && next < end) load(value, next, a_stride);
        if (!IN_PLACE) {
            [[unroll]] for (int k = 1; k < BLOCK; ++k) local[k] = combine(local[k - 1], local[k]);
            last = local[BLOCK - 1];
        }

        // One invocation for each group finds what lies before its blocks, one for each unit what lies before its groups.
        block_states[block_place(number, member)] = last;
        barrier();
        if (own < INVOCATIONS / LANES) {
            T sum;
            if (LEAN) {
                sum = block_states[block_place(own / GROUPS, own % GROUPS * LANES)];
                [[dont_unroll]] for (uint k = 1u; k < LANES; ++k) {
                    uint place = block_place(own / GROUPS, own % GROUPS * LANES + k);
                    before_block[place] = sum;
                    sum = combine(sum, block_states[place]);
                }
            } else {
                T state[BLOCK];
                EACH if (uint(k) < LANES) state[k] = block_states[block_place(own / GROUPS, own % GROUPS * LANES + uint(k))];
                [[unroll]] for (int k = 1; k < BLOCK; ++k) {
                    if (uint(k) < LANES) {
                        before_block[block_place(own / GROUPS, own % GROUPS * LANES + uint(k))] = state[k - 1];
                        state[k] = combine(state[k - 1], state[k]);
                    }
                }
                sum = state[BLOCK - 1];
            }
            if (MEMBERS >= uint(BLOCK)) group_states[own] = sum;
        }
        barrier();
        if (MEMBERS >= uint(BLOCK) && member == 0u) {
            bool tile = MEMBERS == INVOCATIONS;
            T outer = base;
            bool any = based;
            if (tile && start > 0u) join(outer, any, tiles);
            bool some = !tile && start > 0u;
            if (LEAN) {
                [[dont_unroll]] for (uint k = 0u; k < GROUPS; ++k) {
                    T before = groups;
                    join(groups, some, group_states[number * GROUPS + k]);
                    if (any) before = k == 0u && (tile || start == 0u) ? outer : combine(outer, before);
                    before_group[number * GROUPS + k] = before;
                }
            } else {
                T before[BLOCK];
                before[0] = groups;
                join(groups, some, group_states[number * GROUPS]);
                [[unroll]] for (int k = 1; k < BLOCK; ++k) {
                    if (uint(k) < GROUPS) {
                        before[k] = groups;
                        groups = combine(groups, group_states[number * GROUPS + uint(k)]);
                    }
                }
                if (any) {
                    EACH before[k] = combine(outer, before[k]);
                    if (tile || start == 0u) before[0] = outer;
                }
                EACH if (uint(k) < GROUPS) before_group[number * GROUPS + uint(k)] = before[k];
            }
            some = start > 0u;
            if (tile) join(tiles, some, groups);
        }
        if (store) {
            barrier();
            T before;
            bool preceded = based || start > 0u || group > 0u;
            if (preceded) before = before_group[number * GROUPS + group];
            if (member % LANES > 0u) join(before, preceded, before_block[block_place(number, member)]);
            if (!IN_PLACE) {
                FINISH(local, before, preceded)
            }
            for (uint piece = PIECES; piece-- > 0u;) {  // the last one is still there
                bool gone = piece < PIECES - 1u;
                if (gone) MEET
                if (IN_PLACE) {
                    if (gone) {
                        move(piece, start, a_stride);
                        MEET
                    }
                    if (is_in(piece, slot_in_block(0))) {
                        if (gone) join_in_place();
                        finish_in_place(before, preceded);
                    }
                } else {
                    EACH if (is_in(piece, slot_in_block(k))) exchange[place_in_block(k)] = local[k];
                }
                MEET
                if (LEAN) {
                    EACH_LEAN if (is_in(piece, slot_in_memory(part + k))) store_one(part + k, start, r_stride);
                } else {
                    EACH if (is_in(piece, slot_in_memory(k))) store_one(k, start, r_stride);
                }
            }
            MEET
        }
    }
    if (!store && member == 0u && unit.count > 0u) {
        arguments.states.data[unit.place] = P_STORE(MEMBERS == INVOCATIONS ? tiles : groups);
    }
}

#else

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    Unit unit = unit_of(group * gl_WorkGroupSize.x + gl_LocalInvocationIndex);
    if (unit.count == 0u) return;
    bool store = !is_set(TOTALS);
    if (store) store_initial(unit);
    T base;
    bool based = is_set(BASE) && unit.chunk > 0u;
    if (based) base = P_LOAD(arguments.states.data[unit.place]);
    int a_stride = arguments.layout_[0];
    int r_stride = arguments.layout_[1];
    T groups;  // before this one
    bool some = false;
    for (uint start = 0u; start < unit.count; start += GROUP) {
        uint end = min(start + GROUP, unit.count);
        T outer = base;
        bool outside = based;
        if (some) join(outer, outside, groups);
        T blocks;  // before this one in the group
        bool any = false;
        for (uint first = start; first < end; first += uint(BLOCK)) {
            int present = HELD < BLOCK ? HELD : int(min(end - first, uint(BLOCK)));
            T local[HELD];
            local[0] = LOAD_AT(unit.a_offset + int(first) * a_stride);
            [[unroll]] for (int k = 1; k < HELD; ++k) {
                local[k] = local[k - 1];
                if (k < present) {
                    local[k] = combine(local[k], LOAD_AT(unit.a_offset + (int(first) + k) * a_stride));
                }
            }
            T state = local[HELD - 1];
            if (store) {
                T before = outer;
                bool preceded = outside;
                if (any) join(before, preceded, blocks);
                FINISH(local, before, preceded)
                EACH if (k < present) arguments.r.data[unit.r_offset + (int(first) + k) * r_stride] = R_STORE(local[k]);
            }
            join(blocks, any, state);
        }
        join(groups, some, blocks);
    }
    if (!store) arguments.states.data[unit.place] = P_STORE(groups);
}

#endif
