// T of blocks of COLUMNS reflectors, H_1 H_2 ... = 1 - V T V^H, from V^H V and their tau (LAPACK's xLARFT). One invocation
// finds one row of one T.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

#define TOGETHER 8u

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 32u;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Results { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 products;     // (blocks, COLUMNS, COLUMNS): V^H V
    uvec2 tau;          // (blocks, COLUMNS)
    uvec2 t;            // (blocks, COLUMNS, COLUMNS)
    uint rows;          // of all blocks
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.rows) return;
    uint block = index / COLUMNS;
    uint row = index - block * COLUMNS;
    Elements products = Elements(vx_address(arguments.products, block, COLUMNS * COLUMNS));
    Elements taus = Elements(vx_address(arguments.tau, block, COLUMNS));
    Results t = Results(vx_address(arguments.t, index, COLUMNS));
    // An element is minus tau times a sum over the elements before it. TOGETHER sums are found side by side, whose additions need not
    // wait for one another: first over the elements that are stored, then over those that are found meanwhile.
    for (uint first = 0u; first < COLUMNS; first += TOGETHER) {
        T sums[TOGETHER];
        [[unroll]] for (uint u = 0u; u < TOGETHER; ++u) sums[u] = T(0);
        for (uint k = row; k < first; ++k) {
            T element = t.data[k];
            [[unroll]] for (uint u = 0u; u < TOGETHER; ++u) {
                sums[u] = vx_multiply_add(element, products.data[k * COLUMNS + first + u], sums[u]);
            }
        }
        [[unroll]] for (uint u = 0u; u < TOGETHER; ++u) {
            uint k = first + u;
            T element = T(0);
            if (k >= row) {
                T tau = taus.data[k];
                element = k == row ? tau : -vx_times(tau, sums[u]);
                [[unroll]] for (uint v = u + 1u; v < TOGETHER; ++v) {
                    sums[v] = vx_multiply_add(element, products.data[k * COLUMNS + first + v], sums[v]);
                }
            }
            t.data[k] = element;
        }
    }
}
