// Turn the columns of pairs of blocks: x_k becomes the sum over i of x_i J[i, k], in place. An invocation has WIDTH
// elements of each of the SIZE columns, in W and in V, which follows W in the rows of x.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"
#include "lib/block_pairs.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) readonly buffer Words { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 x;            // (batch, rows, pitch)
    uvec2 turns;        // (batch, blocks / 2, chunks, SIZE, SIZE): J^T is the first of the chunks
    uvec2 turned;       // (batch, blocks / 2)
    uint batch, rows, pitch;
    uint blocks, round, chunks;
    uint groups;        // workgroups for a pair of blocks
} arguments;

#define EACH_ELEMENT [[unroll]] for (uint w = 0u; w < WIDTH; ++w)

// On a GPU J is passed on through shared memory; a CPU driver loads a factor once for WIDTH products.
#ifdef SHARED
shared T j[SIZE * SIZE];
#define FACTOR(I, K) j[(K) * SIZE + (I)]
#else
#define FACTOR(I, K) Elements(turns).data[(K) * SIZE + (I)]
#endif

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint pairs = arguments.blocks / 2u;
    uint unit = group / arguments.groups;
    if (unit >= arguments.batch * pairs || Words(arguments.turned).data[unit] == 0) return;
    uvec2 turns = vx_address(arguments.turns, unit, arguments.chunks * SIZE * SIZE);
#ifdef SHARED
    for (uint place = gl_LocalInvocationIndex; place < SIZE * SIZE; place += gl_WorkGroupSize.x) {
        j[place] = Elements(turns).data[place];
    }
    barrier();
#endif
    uint first = group % arguments.groups * (gl_WorkGroupSize.x * WIDTH) + gl_LocalInvocationIndex;
    if (first >= arguments.pitch) return;
    uvec2 met = vx_met(unit % pairs, arguments.round, arguments.blocks);
    uvec2 x = vx_address(arguments.x, unit / pairs, arguments.rows * arguments.pitch);
    uint e[WIDTH];
    T old[SIZE][WIDTH];
    EACH_ELEMENT e[w] = min(first + w * gl_WorkGroupSize.x, arguments.pitch - 1u);
    [[unroll]] for (uint i = 0u; i < SIZE; ++i) {
        uint row = vx_row_of(met, i, SIZE) * arguments.pitch;
        EACH_ELEMENT old[i][w] = Elements(x).data[row + e[w]];
    }
    [[dont_unroll]] for (uint k = 0u; k < SIZE; ++k) {
        T sum[WIDTH];
        EACH_ELEMENT sum[w] = T(0);
        [[unroll]] for (uint i = 0u; i < SIZE; ++i) {
            T factor = FACTOR(i, k);
            EACH_ELEMENT sum[w] = vx_multiply_add(old[i][w], factor, sum[w]);
        }
        uint row = vx_row_of(met, k, SIZE) * arguments.pitch;
        EACH_ELEMENT if (first + w * gl_WorkGroupSize.x < arguments.pitch) Elements(x).data[row + e[w]] = sum[w];
    }
}
