// T of blocks of COLUMNS reflectors, H_1 H_2 ... = 1 - V T V^H, from V^H V and their tau (LAPACK's xLARFT). One invocation
// finds one row of one T.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 32u;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

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
    // Each element, as soon as it is found, is taken into the sums of all that follow: these additions need not wait for one another.
    T sums[COLUMNS];
    for (uint j = 0u; j < COLUMNS; ++j) sums[j] = T(0);
    for (uint j = 0u; j < row; ++j) t.data[j] = T(0);
    for (uint k = row; k < COLUMNS; ++k) {
        T tau = taus.data[k];
        T element = k == row ? tau : -vx_times(tau, sums[k]);
        t.data[k] = element;
        for (uint first = (k + 1u) / UNROLL * UNROLL; first < COLUMNS; first += UNROLL) {
            [[unroll]] for (uint u = 0u; u < UNROLL; ++u) {
                uint j = first + u;
                sums[j] = vx_multiply_add(element, products.data[k * COLUMNS + j], sums[j]);
            }
        }
    }
}
