// The order of the rows of P A = L U in two notations, one invocation for a matrix: rows[i], the row of A that row i of P A is,
// and pivots[i], LAPACK's: the row, counted from 1, that row i was exchanged with at its turn.
#include "lib/extensions.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(push_constant, scalar) uniform Push {
    Integers rows;      // `order` for each matrix
    Integers pivots;    // `turns` for each matrix
    Integers work;      // 2 `order` for each matrix
    uint count;         // matrices
    int order, turns;
    uint to_pivots;     // find the pivots of rows, or else the rows of pivots
} push;

void main() {
    uint matrix = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (matrix >= push.count) return;
    int rows = int(matrix) * push.order, pivots = int(matrix) * push.turns;
    int current = 2 * rows, place = current + push.order;  // which row is at a place, and where it is
    for (int i = 0; i < push.order; ++i) {
        push.work.data[current + i] = i;
        push.work.data[place + i] = i;
    }
    for (int i = 0; i < push.turns; ++i) {
        int from = push.to_pivots != 0u ? push.work.data[place + push.rows.data[rows + i]] : push.pivots.data[pivots + i] - 1;
        int moved = push.work.data[current + i], taken = push.work.data[current + from];
        push.work.data[current + from] = moved;
        push.work.data[current + i] = taken;
        push.work.data[place + moved] = from;
        push.work.data[place + taken] = i;
        if (push.to_pivots != 0u) push.pivots.data[pivots + i] = from + 1;
    }
    if (push.to_pivots != 0u) return;
    for (int i = 0; i < push.order; ++i) push.rows.data[rows + i] = push.work.data[current + i];
}
