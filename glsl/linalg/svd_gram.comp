// Inner products of the columns of pairs of blocks: G = W^H W, SIZE x SIZE, its upper triangle in tiles of TILE x TILE, for
// one chunk of the columns' height. An invocation makes one tile. With SHARED a workgroup works on one G and passes
// its columns through shared memory; without, for CPU drivers, invocations read them where they are.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"
#include "lib/block_pairs.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint SIZE = 16u;

#define TILE 4u
#define DEPTH 32u

layout(buffer_reference, scalar) buffer Elements { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 x;            // (batch, rows, pitch), of which the first `height` elements of a row are a column of W
    uvec2 gram;         // (batch, blocks / 2, chunks, SIZE, SIZE)
    uint batch, rows, pitch, height;
    uint blocks, round;
    uint chunk, chunks; // elements of a chunk, and their number
} arguments;

#ifdef SHARED
shared T columns[SIZE][DEPTH + 1u];
#endif

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint across = SIZE / TILE;
    uint tiles = across * (across + 1u) / 2u;
#ifdef SHARED
    uint unit = group, tile = gl_LocalInvocationIndex;
#else
    uint index = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint unit = index / tiles, tile = index % tiles;
#endif
    uint pairs = arguments.blocks / 2u;
    if (unit >= arguments.batch * pairs * arguments.chunks) return;
    uint part = unit % arguments.chunks;
    uint pair = unit / arguments.chunks % pairs;
    uvec2 x = vx_address(arguments.x, unit / arguments.chunks / pairs, arguments.rows * arguments.pitch);
    uvec2 met = vx_met(pair, arguments.round, arguments.blocks);
    bool used = tile < tiles;
    uint i = 0u, in_row = across;
    uint k = tile;
    for (; used && k >= in_row; ++i) k -= in_row--;
    k = used ? (k + i) * TILE : 0u;
    i = used ? i * TILE : 0u;

    uint start = part * arguments.chunk, end = min(start + arguments.chunk, arguments.height);
    T total[TILE][TILE];
    uint left[TILE], right[TILE];
    [[unroll]] for (uint a = 0u; a < TILE; ++a) {
#ifdef SHARED
        left[a] = i + a;
        right[a] = k + a;
#else
        left[a] = vx_row_of(met, i + a, SIZE) * arguments.pitch;
        right[a] = vx_row_of(met, k + a, SIZE) * arguments.pitch;
#endif
        [[unroll]] for (uint b = 0u; b < TILE; ++b) total[a][b] = T(0);
    }
#ifdef SHARED
    for (uint first = start; first < end; first += DEPTH) {
        uint depth = min(DEPTH, end - first);
        barrier();
        for (uint place = gl_LocalInvocationIndex; place < SIZE * DEPTH; place += gl_WorkGroupSize.x) {
            uint column = place / DEPTH, e = place % DEPTH;
            if (e < depth) columns[column][e] = Elements(x).data[vx_row_of(met, column, SIZE) * arguments.pitch + first + e];
        }
        barrier();
        for (uint e = 0u; e < depth; ++e) {
#define AT(PLACE) columns[PLACE][e]
#else
    {
        for (uint e = start; e < end; ++e) {
#define AT(PLACE) Elements(x).data[PLACE + e]
#endif
            T a_value[TILE], b_value[TILE];
            [[unroll]] for (uint a = 0u; a < TILE; ++a) {
                a_value[a] = vx_conjugate(AT(left[a]));
                b_value[a] = AT(right[a]);
            }
            [[unroll]] for (uint a = 0u; a < TILE; ++a) {
                [[unroll]] for (uint b = 0u; b < TILE; ++b) {
                    total[a][b] = vx_multiply_add(a_value[a], b_value[b], total[a][b]);
                }
            }
        }
    }
    if (!used) return;
    uvec2 gram = vx_address(arguments.gram, unit, SIZE * SIZE);
    [[unroll]] for (uint a = 0u; a < TILE; ++a) {
        [[unroll]] for (uint b = 0u; b < TILE; ++b) Elements(gram).data[(i + a) * SIZE + k + b] = total[a][b];
    }
}
