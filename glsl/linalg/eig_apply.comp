// Takes the transformation Q of a window to the rest of its matrix: Q^H from the left to the columns right of the window, Q from
// the right to the rows above it and, where there are any, to those below H that gather the whole transformation. A workgroup
// takes LINES rows or columns; each becomes its product with Q, columns conjugated before and after.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint WINDOW = 32u;
layout(constant_id = 2) const uint LINES = 32u;
const uint PITCH = WINDOW + 1u;
#define BLOCK 4u    // WINDOW is a multiple

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 h;            // (batch, rows, n)
    uvec2 q;            // (batch, WINDOW, WINDOW)
    uvec2 states;       // (batch, STATE_WORDS)
    uint batch, n, rows;
    uint tiles;         // workgroups of a matrix
} arguments;

shared T tile[LINES * PITCH];
shared T q[WINDOW * WINDOW];

uint n = arguments.n;
uint begin, end;    // of the window
uint above, rows;   // how many rows are taken above it, and in all

// Where in the matrix element k of a line lies.
uint place_of(uint line, uint k) {
    if (line >= rows) return (begin + k) * n + end + line - rows;
    uint row = line < begin - above ? above + line : n + line - (begin - above);
    return row * n + begin + k;
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = group / arguments.tiles;
    if (matrix >= arguments.batch) return;
    uint state = matrix * STATE_WORDS;
    begin = uint(State(arguments.states).data[state + BEGIN]);
    end = uint(State(arguments.states).data[state + END]);
    if (begin == end) return;
    // Without the rows that gather the transformation, eigenvalues alone are wanted, and a block's own rows and columns do.
    bool whole = arguments.rows > n;
    above = whole ? 0u : min(uint(State(arguments.states).data[state + LOW]), begin);
    uint right = whole ? n : max(uint(State(arguments.states).data[state + HIGH]), end);
    rows = begin - above + arguments.rows - n;
    uint lines = rows + right - end;
    uint first = (group - matrix * arguments.tiles) * LINES;
    if (first >= lines) return;
    uint width = end - begin;
    uvec2 h = vx_address(arguments.h, matrix, arguments.rows * n);
    uvec2 matrix_q = vx_address(arguments.q, matrix, WINDOW * WINDOW);
    for (uint e = gl_LocalInvocationIndex; e < width * WINDOW; e += gl_WorkGroupSize.x) q[e] = Elements(matrix_q).data[e];
    // Neighbouring invocations move neighbours in memory, whichever way the lines run, along a row of H.
    bool columns = first >= rows;
    uint items = LINES * width;
    for (uint e = gl_LocalInvocationIndex; e < items; e += gl_WorkGroupSize.x) {
        uint line = columns ? e % LINES : e / width;
        uint k = columns ? e / LINES : e - line * width;
        if (first + line < lines) {
            T element = Elements(h).data[place_of(first + line, k)];
            tile[line * PITCH + k] = first + line < rows ? element : vx_conjugate(element);
        }
    }
    barrier();
    // An invocation makes BLOCK elements of each of two lines, of what it loads once.
    for (uint e = gl_LocalInvocationIndex; e < LINES / 2u * ((width + BLOCK - 1u) / BLOCK); e += gl_WorkGroupSize.x) {
        uint line = e % (LINES / 2u), k = e / (LINES / 2u) * BLOCK;
        T sums[2u * BLOCK];
        [[unroll]] for (uint j = 0u; j < 2u * BLOCK; ++j) sums[j] = T(0);
        for (uint i = 0u; i < width; ++i) {
            T one = tile[line * PITCH + i], other = tile[(line + LINES / 2u) * PITCH + i];
            [[unroll]] for (uint j = 0u; j < BLOCK; ++j) {
                T factor = q[i * WINDOW + k + j];
                sums[j] = vx_sum(sums[j], vx_times(one, factor));
                sums[BLOCK + j] = vx_sum(sums[BLOCK + j], vx_times(other, factor));
            }
        }
        [[unroll]] for (uint j = 0u; j < 2u * BLOCK; ++j) {
            uint number = first + line + (j < BLOCK ? 0u : LINES / 2u), column = k + j % BLOCK;
            if (number < lines && column < width) {
                T element = number < rows ? sums[j] : vx_conjugate(sums[j]);
                Elements(h).data[place_of(number, column)] = element;
            }
        }
    }
}
