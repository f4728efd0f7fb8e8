// The order of the rows of P A = L U in two notations, one invocation for a matrix: rows[i], the row of A that row i of P A is,
// and pivots[i], LAPACK's: the row, counted from 1, that row i was exchanged with at its turn.
#include "lib/extensions.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Integers rows;      // `order` for each matrix
    Integers pivots;    // `turns` for each matrix
    Integers work;      // 2 `order` for each matrix
    uint count;         // matrices
    int order, turns;
    uint to_pivots;     // find the pivots of rows, or else the rows of pivots
} arguments;

void main() {
    uint matrix = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (matrix >= arguments.count) return;
    int rows = int(matrix) * arguments.order, pivots = int(matrix) * arguments.turns;
    int current = 2 * rows, place = current + arguments.order;  // which row is at a place, and where it is
    for (int i = 0; i < arguments.order; ++i) {
        arguments.work.data[current + i] = i;
        arguments.work.data[place + i] = i;
    }
    for (int i = 0; i < arguments.turns; ++i) {
        int from = arguments.to_pivots != 0u ? arguments.work.data[place + arguments.rows.data[rows + i]] : arguments.pivots.data[pivots + i] - 1;
        int moved = arguments.work.data[current + i], taken = arguments.work.data[current + from];
        arguments.work.data[current + from] = moved;
        arguments.work.data[current + i] = taken;
        arguments.work.data[place + moved] = from;
        arguments.work.data[place + taken] = i;
        if (arguments.to_pivots != 0u) arguments.pivots.data[pivots + i] = from + 1;
    }
    if (arguments.to_pivots != 0u) return;
    for (int i = 0; i < arguments.order; ++i) arguments.rows.data[rows + i] = arguments.work.data[current + i];
}
