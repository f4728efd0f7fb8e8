// The complex Schur form: makes the diagonal blocks of 2 rows triangular by the matrices of linalg_eig_split, and gathers them in
// the transformation. An invocation makes an element of either; what is below the diagonal stays unwritten.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Blocks { C data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { C data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 h;            // (batch, rows, n), rows = 2 n
    uvec2 blocks;       // (batch, n, 3)
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 r;            // (batch, rows, n)
    uint batch, n, rows;
} arguments;

uint blocks_of;

// The members (first, count) of a row's block, and what they weigh in the column of the block's matrix that has its number.
void block_of(uint row, out uint first, out uint count, out C one, out C other) {
    uint place = blocks_of + 3u * row;
    first = row;
    count = 1u;
    one = C(1, 0);
    other = C(0);
    C g = Blocks(arguments.blocks).data[place + 1u], h = Blocks(arguments.blocks).data[place + 2u];
    bool begins = vx_larger_part(g) > REAL(0) || vx_larger_part(h) > REAL(0);
    if (begins) {
        count = 2u;
        one = g;
        other = h;
    } else if (row > 0u) {
        g = Blocks(arguments.blocks).data[place - 2u];
        h = Blocks(arguments.blocks).data[place - 1u];
        if (vx_larger_part(g) > REAL(0) || vx_larger_part(h) > REAL(0)) {
            first = row - 1u;
            count = 2u;
            one = -vx_conjugated(h);
            other = vx_conjugated(g);
        }
    }
}

void main() {
    uint tiles = (arguments.rows * arguments.n + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = group / tiles;
    uint element = (group - matrix * tiles) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (matrix >= arguments.batch || element >= arguments.rows * arguments.n) return;
    uint n = arguments.n, row = element / n, column = element - row * n;
    if (row < n && row > column) return;
    uvec2 h = vx_address(arguments.h, matrix, arguments.rows * n);
    uvec2 r = vx_address(arguments.r, matrix, 2u * arguments.rows * n);  // in elements of T
#ifdef COMPLEX
    r = vx_address(arguments.r, matrix, arguments.rows * n);
#endif
    blocks_of = 3u * n * matrix;
    uint first, count, left_first = row, left_count = 1u;
    C one, other, left_one = C(1, 0), left_other = C(0);
    block_of(column, first, count, one, other);
    if (row < n) block_of(row, left_first, left_count, left_one, left_other);
    C result = C(0);
    for (uint i = 0u; i < left_count; ++i) {
        C sum = C(0);
        for (uint j = 0u; j < count; ++j) {
            C entry = vx_complex(Elements(h).data[(left_first + i) * n + first + j]);
            sum = vx_sum(sum, vx_times(entry, j == 0u ? one : other));
        }
        result = vx_sum(result, vx_times(vx_conjugated(i == 0u ? left_one : left_other), sum));
    }
    if (row == column) result = Blocks(arguments.blocks).data[blocks_of + 3u * row];
    // Schur's form of a Hermitian matrix is diagonal: what is beside that is rounding.
    bool hermitian = State(arguments.states).data[matrix * STATE_WORDS + DIFFERS] == 0;
    if (hermitian && row < column) result = C(0);
    Results(r).data[element] = result;
}
