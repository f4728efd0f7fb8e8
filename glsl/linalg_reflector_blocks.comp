// T of blocks of COLUMNS reflectors, H_1 H_2 ... = 1 - V T V^H, from V^H V and their tau (LAPACK's xLARFT). One invocation
// finds one row of one T.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 32u;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

layout(push_constant, scalar) uniform Push {
    uvec2 products;     // (blocks, COLUMNS, COLUMNS): V^H V
    uvec2 tau;          // (blocks, COLUMNS)
    uvec2 t;            // (blocks, COLUMNS, COLUMNS)
    uint rows;          // of all blocks
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.rows) return;
    uint block = index / COLUMNS;
    uint row = index - block * COLUMNS;
    Elements products = Elements(vx_address(push.products, block, COLUMNS * COLUMNS));
    Elements taus = Elements(vx_address(push.tau, block, COLUMNS));
    Results t = Results(vx_address(push.t, index, COLUMNS));
    T own[COLUMNS];
    for (uint j = 0u; j < COLUMNS; ++j) {
        T tau = taus.data[j];
        T sum = T(0);
        for (uint k = row; k < j; ++k) sum = vx_multiply_add(own[k], products.data[k * COLUMNS + j], sum);
        T element = T(0);
        if (j == row) element = tau;
        if (j > row) element = -vx_times(tau, sum);
        own[j] = element;
        t.data[j] = element;
    }
}
