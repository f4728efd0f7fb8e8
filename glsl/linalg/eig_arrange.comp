// Finds an order of the rows and columns of each matrix in which the first and the last ones are upper triangular, as far as there
// is one (LAPACK's xGEBAL): a row with nothing beside the diagonal goes last, a column with nothing beside it first, and both count
// no more. So the eigenvalues of triangular matrices, in any order, are exact. One workgroup works on a matrix.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, n, n)
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 filled;       // (batch, 2, n): elements that count in every row and column; -1 when the row has its place
    uvec2 order;        // (batch, n): the row of `a` for every place
    uint batch, n;
    uint turns;         // rows that are placed in this dispatch, at most
} arguments;

shared int found;

void wait() {
    memoryBarrierBuffer();
    barrier();
}

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= arguments.batch) return;
    uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x, n = arguments.n;
    uint state = matrix * STATE_WORDS, rows = 2u * matrix * n, columns = rows + n, order = matrix * n;
    uvec2 a = vx_address(arguments.a, matrix, n * n);
    if (State(arguments.states).data[state + ARRANGED] != 0) return;
    uint low = uint(State(arguments.states).data[state + LOW]), high = n - uint(State(arguments.states).data[state + HIGH]);
    bool done = false;
    for (uint turn = 0u; turn < arguments.turns && !done; ++turn) {
        // Of the free rows the last, of the free columns the first: what is triangular already stays as it is.
        bool first = false;
        for (int attempt = 0; attempt < 2; ++attempt) {
            wait();
            if (local == 0u) found = -1;
            barrier();
            int own = -1;
            uint counts = first ? columns : rows;
            EACH(i, local, n, size) {
                if (State(arguments.filled).data[counts + i] == 0) own = max(own, int(first ? n - 1u - i : i));
            }
            if (own >= 0) atomicMax(found, own);
            barrier();
            if (found >= 0) break;
            first = !first;
        }
        done = found < 0;
        if (done) break;
        uint row = first ? n - 1u - uint(found) : uint(found);
        uint place = first ? low++ : --high;
        if (local == 0u) State(arguments.order).data[order + place] = int(row);
        EACH(i, local, n, size) {
            int in_row = State(arguments.filled).data[rows + i], in_column = State(arguments.filled).data[columns + i];
            if (i == row) {
                in_row = -1;
                in_column = -1;
            }
            if (in_row > 0 && Elements(a).data[i * n + row] != T(0)) --in_row;
            if (in_column > 0 && Elements(a).data[row * n + i] != T(0)) --in_column;
            State(arguments.filled).data[rows + i] = in_row;
            State(arguments.filled).data[columns + i] = in_column;
        }
    }
    wait();
    if (local != 0u) return;
    State(arguments.states).data[state + ARRANGED] = int(done || low == high);
    State(arguments.states).data[state + LOW] = int(low);
    State(arguments.states).data[state + HIGH] = int(n - high);
    if (!done) return;
    EACH(i, 0u, n, 1u) {
        if (State(arguments.filled).data[rows + i] >= 0) State(arguments.order).data[order + low++] = int(i);
    }
}
