// Inclusive scans: element e of a row becomes COMBINE of the elements 0..e, in the compute type T.
//
// A row is cut into chunks of CHUNK_BLOCKS blocks of BLOCK elements. An element's result is base + (prefix + local):
// `local` runs through its block, `prefix` joins the blocks before it in the chunk by the binary digits of their number
// (aligned subtrees, largest first, folded from the right), `base` is the scan of the chunks before. This order is fixed:
// it is the same on every device, layout and access pattern, and its rounding error grows with the logarithm.
//
// SHARED: an invocation takes a block, and those of a chunk meet in shared memory (Sklansky 1960). Otherwise an
// invocation takes a chunk, for CPU drivers and for many rows. With TOTALS in `mode` only the chunks' totals are written.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;

#define BLOCK 16u
#define CHUNK_BLOCKS 256u
#define LEVELS 9

#define TOTALS 1u
#define BASE 2u
#define INITIAL 4u
#define COLUMNS 8u

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) buffer PElements { P_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Metadata { int data[]; };

layout(push_constant, scalar) uniform Push {
    AElements a;
    RElements r;
    PElements chunks_scan;  // TOTALS: written, one per row and chunk; BASE: read, their inclusive scan
    uint count;             // elements of a row, from the first chunk of this dispatch on
    uint rows;
    uint chunks;            // of this dispatch
    uint first_chunk;
    uint pitch;             // chunks of a whole row
    uint members;           // invocations that share a chunk, a power of two
    uint mode;
    uint rank;              // of the dimensions that are not scanned
    int layout_[18];        // strides of a scanned row in a and r; sizes; strides in a; strides in r
} push;

#define CAPACITY 5u

int layout_at(uint place) {
    if (push.rank <= CAPACITY) return push.layout_[place];
    return Metadata(uvec2(push.layout_[0], push.layout_[1])).data[place];
}

T combine(T a, T b) {
    precise T result = COMBINE;
    return result;
}

#ifdef SHARED
shared T totals[gl_WorkGroupSize.x];
#endif

bool is_set(uint mode) { return (push.mode & mode) != 0u; }

T stack[LEVELS];

// The blocks counted by the binary digits of `blocks`, the subtree of each digit on the stack.
T fold(uint blocks) {
    int level = findLSB(blocks);
    T value = stack[level];
    for (uint rest = blocks >> (level + 1); rest != 0u; rest >>= 1) {
        ++level;
        if ((rest & 1u) != 0u) value = combine(stack[level], value);
    }
    return value;
}

void append(uint blocks, T value) {
    int level = 0;
    for (; (blocks & 1u) != 0u; blocks >>= 1) value = combine(stack[level++], value);
    stack[level] = value;
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint units = gl_WorkGroupSize.x / push.members;
    bool columns = is_set(COLUMNS);
    uint member = columns ? gl_LocalInvocationIndex / units : gl_LocalInvocationIndex % push.members;
    uint unit = group * units + (columns ? gl_LocalInvocationIndex % units : gl_LocalInvocationIndex / push.members);
    bool inside = unit < push.rows * push.chunks;
    uint chunk = unit / push.rows;
    uint row = unit - chunk * push.rows;
    uint start = chunk * (BLOCK * CHUNK_BLOCKS);
    uint end = inside ? min(push.count, start + BLOCK * CHUNK_BLOCKS) : 0u;

    int a_stride = layout_at(0u);
    int r_stride = layout_at(1u);
    int a_offset = int(start) * a_stride;
    int r_offset = int(start + (is_set(INITIAL) ? 1u : 0u)) * r_stride;
    uint rest = row;
    for (uint axis = push.rank; axis-- > 0u;) {
        int position = int(rest);
        if (axis > 0u) {
            uint size = uint(layout_at(2u + axis));
            uint quotient = rest / size;
            position = int(rest - quotient * size);
            rest = quotient;
        }
        a_offset += position * layout_at(2u + push.rank + axis);
        r_offset += position * layout_at(2u + 2u * push.rank + axis);
    }
    uint chunk_place = row * push.pitch + push.first_chunk + chunk;
    bool based = is_set(BASE) && chunk + push.first_chunk > 0u && inside;
    T base;
    if (based) base = P_LOAD(push.chunks_scan.data[chunk_place - 1u]);
    bool store = !is_set(TOTALS);
    if (is_set(INITIAL) && store && inside) {
        if (chunk + push.first_chunk == 0u && member == 0u) push.r.data[r_offset - r_stride] = R_STORE(T(INITIAL_VALUE));
    }

#ifdef SHARED
    uint first = start + member * BLOCK;
    uint last_block = end > start ? (end - 1u - start) / BLOCK : 0u;
    {
        uint block = member;
#else
    uint last_block = end > start ? (end - 1u - start) / BLOCK : 0u;
    for (uint block = 0u, first = start; first < end; ++block, first += BLOCK) {
#endif
        uint present = first < end ? min(end - first, BLOCK) : 0u;
        int in_chunk = int(block * BLOCK);
        T local[BLOCK];
        if (present > 0u) {
            local[0] = A_LOAD(push.a.data[a_offset + in_chunk * a_stride]);
            [[unroll]] for (int k = 1; k < int(BLOCK); ++k) {
                if (k < int(present)) {
                    local[k] = combine(local[k - 1], A_LOAD(push.a.data[a_offset + (in_chunk + k) * a_stride]));
                } else {
                    local[k] = local[k - 1];
                }
            }
        }
        T prefix;
#ifdef SHARED
        // Sklansky: at every level the right half of each subtree takes in the total of its left half.
        uint spacing = columns ? units : 1u;
        T total = local[BLOCK - 1u];
        for (uint level = 1u; level < push.members; level *= 2u) {
            totals[gl_LocalInvocationIndex] = total;
            barrier();
            if ((member & level) != 0u && present > 0u) {
                uint left = (member & ~(level - 1u)) - 1u;
                total = combine(totals[gl_LocalInvocationIndex - (member - left) * spacing], total);
            }
            barrier();
        }
        totals[gl_LocalInvocationIndex] = total;
        barrier();
        if (member > 0u) prefix = totals[gl_LocalInvocationIndex - spacing];
        if (!store && present > 0u && member == last_block) push.chunks_scan.data[chunk_place] = P_STORE(total);
#else
        if (block > 0u && store) prefix = fold(block);
        append(block, local[BLOCK - 1u]);
        if (!store && block == last_block) push.chunks_scan.data[chunk_place] = P_STORE(fold(block + 1u));
#endif
        if (store) {
            [[unroll]] for (int k = 0; k < int(BLOCK); ++k) {
                if (k < int(present)) {
                    T value = local[k];
                    if (block > 0u) value = combine(prefix, value);
                    if (based) value = combine(base, value);
                    push.r.data[r_offset + (in_chunk + k) * r_stride] = R_STORE(value);
                }
            }
        }
    }
}
