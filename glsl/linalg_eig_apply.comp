// Takes the transformation Q of a window to the rest of its matrix: Q^H from the left to the columns right of the window, Q from
// the right to the rows above it and, where there are any, to those below H that gather the whole transformation. A workgroup
// takes LINES rows or columns; each becomes its product with Q, columns conjugated before and after.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint WINDOW = 32u;
layout(constant_id = 2) const uint LINES = 16u;
const uint PITCH = WINDOW + 1u;

layout(push_constant, scalar) uniform Push {
    uvec2 h;            // (batch, rows, n)
    uvec2 q;            // (batch, WINDOW, WINDOW)
    uvec2 states;       // (batch, STATE_WORDS)
    uint batch, n, rows;
    uint tiles;         // workgroups of a matrix
} push;

shared T tile[LINES * PITCH];
shared T q[WINDOW * WINDOW];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = group / push.tiles;
    if (matrix >= push.batch) return;
    uint state = matrix * STATE_WORDS, n = push.n;
    uint begin = uint(State(push.states).data[state + BEGIN]), end = uint(State(push.states).data[state + END]);
    if (begin == end) return;
    // Without the rows that gather the transformation, eigenvalues alone are wanted, and a block's own rows and columns do.
    bool whole = push.rows > n;
    uint above = whole ? 0u : min(uint(State(push.states).data[state + LOW]), begin);
    uint right = whole ? n : max(uint(State(push.states).data[state + HIGH]), end);
    uint rows = begin - above + push.rows - n;
    uint lines = rows + right - end;
    uint first = (group - matrix * push.tiles) * LINES;
    if (first >= lines) return;
    uint width = end - begin;
    uvec2 h = vx_address(push.h, matrix, push.rows * n);
    uvec2 matrix_q = vx_address(push.q, matrix, WINDOW * WINDOW);
    for (uint e = gl_LocalInvocationIndex; e < width * width; e += gl_WorkGroupSize.x) {
        uint row = e / width, column = e - row * width;
        q[row * WINDOW + column] = Elements(matrix_q).data[row * WINDOW + column];
    }
    // Neighbouring invocations take neighbours in memory, along a row of H whichever way the lines run.
    bool columns = first >= rows;
    for (int pass = 0; pass < 2; ++pass) {
        for (uint e = gl_LocalInvocationIndex; e < LINES * width; e += gl_WorkGroupSize.x) {
            uint line = columns ? e % LINES : e / width;
            uint k = columns ? e / LINES : e - line * width;
            uint number = first + line;
            if (number >= lines) continue;
            bool is_column = number >= rows;
            uint row = above + number < begin ? above + number : n + number - (begin - above);
            uint place = is_column ? (begin + k) * n + end + number - rows : row * n + begin + k;
            if (pass == 0) {
                T element = Elements(h).data[place];
                tile[line * PITCH + k] = is_column ? vx_conjugate(element) : element;
            } else {
                T sum = T(0);
                for (uint i = 0u; i < width; ++i) {
                    sum = vx_sum(sum, vx_times(tile[line * PITCH + i], q[i * WINDOW + k]));
                }
                Elements(h).data[place] = is_column ? vx_conjugate(sum) : sum;
            }
        }
        if (pass == 0) barrier();
    }
}
