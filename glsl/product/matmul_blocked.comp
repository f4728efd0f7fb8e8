// r = a @ b (or r -= a @ b) for a stack of matrices of any strides: each invocation keeps a block of ROWS x COLUMNS sums
// in registers and shares nothing. For CPU drivers, where shared memory and barriers cost far more than they save, and for matrices
// too small to fill a tile.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 6) const bool SUBTRACT = false;  // r -= a @ b
layout(constant_id = 7) const bool UPPER = false;     // leave out the blocks of r below its diagonal

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) buffer RElements { R_STORAGE data[]; };

#include "lib/matmul_arguments.glsl"
#include "lib/stack.glsl"

#define EACH_ROW [[unroll]] for (int i = 0; i < ROWS; ++i)
#define EACH_COLUMN [[unroll]] for (int j = 0; j < COLUMNS; ++j)
#define EACH_STEP [[unroll]] for (int k = 0; k < DEPTH; ++k)

#ifdef TEXELS
#include "lib/texels.glsl"
// Both operands are bound, and lie in texels of DEPTH elements, along k or along the rows and columns of the result: CPU drivers
// load a texel at once, and through an address lane by lane.
layout(constant_id = 1) const bool A_ALONG_K = false;
layout(constant_id = 3) const bool B_ALONG_K = false;
layout(binding = 0) uniform usamplerBuffer a_texels;
layout(binding = 1) uniform usamplerBuffer b_texels;
#define FETCH(NAME, COUNT, ALONG_K, STEP)                                                        \
    if (ALONG_K) {                                                                               \
        [[unroll]] for (int i = 0; i < COUNT; ++i) {                                             \
            uvec4 texel = texelFetch(NAME##_texels, (NAME##_offset[i] + first) / DEPTH);         \
            EACH_STEP NAME[k][i] = TEXEL(texel, k);                                              \
        }                                                                                        \
    } else {                                                                                     \
        EACH_STEP [[unroll]] for (int i = 0; i < COUNT; i += DEPTH) {                            \
            uvec4 texel = texelFetch(NAME##_texels, (NAME##_offset[i] + (first + k) * STEP) / DEPTH); \
            [[unroll]] for (int j = 0; j < DEPTH; ++j) NAME[k][i + j] = TEXEL(texel, j);         \
        }                                                                                        \
    }
#endif

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint across = (arguments.n + uint(COLUMNS) - 1u) / uint(COLUMNS);
    uint down = (arguments.m + uint(ROWS) - 1u) / uint(ROWS);
    int column = int(index % across) * COLUMNS;
    index /= across;
    int row = int(index % down) * ROWS;
    index /= down;
    if (index >= arguments.count || UPPER && row >= column + COLUMNS) return;
    Place place = vx_place(index);
    int length = int(min(arguments.part, arguments.k - uint(place.part) * arguments.part));

    // Past the edge the last row or column is read again, and its sums are not stored.
    int a_offset[ROWS], b_offset[COLUMNS];
    EACH_ROW a_offset[i] = place.a + min(row + i, int(arguments.m) - 1) * arguments.a_m;
    EACH_COLUMN b_offset[j] = place.b + min(column + j, int(arguments.n) - 1) * arguments.b_n;
    T total[ROWS][COLUMNS];
    EACH_ROW EACH_COLUMN total[i][j] = T(0);
    // Past the end of k zeros are added; of texels there is a whole number.
    for (int first = 0; first < length; first += DEPTH) {
        T a[DEPTH][ROWS], b[DEPTH][COLUMNS];
#ifdef TEXELS
        FETCH(a, ROWS, A_ALONG_K, arguments.a_k)
        FETCH(b, COLUMNS, B_ALONG_K, arguments.b_k)
#else
        EACH_STEP {
            bool inside = first + k < length;
            int at = inside ? first + k : 0;
            EACH_ROW a[k][i] = A_LOAD(arguments.a.data[a_offset[i] + at * arguments.a_k]);
            EACH_COLUMN b[k][j] = B_LOAD(arguments.b.data[b_offset[j] + at * arguments.b_k]);
            if (DEPTH > 1 && !inside) {
                EACH_ROW a[k][i] = T(0);
                EACH_COLUMN b[k][j] = T(0);
            }
        }
#endif
        EACH_ROW EACH_COLUMN EACH_STEP total[i][j] = vx_multiply_add(a[k][i], b[k][j], total[i][j]);
    }
    ivec2 bias_steps = vx_bias_steps(), residual_steps = vx_residual_steps();
#ifdef ROLLED
    // CPU drivers store lane by lane, in loops and branches of their own, in the square of whose number they compile: there is one
    // store for all sums. A copy of them is indexed and lies in memory, the sums themselves stay where they are.
    T sums[ROWS * COLUMNS];
    EACH_ROW EACH_COLUMN sums[i * COLUMNS + j] = total[i][j];
    [[dont_unroll]] for (int number = 0; number < ROWS * COLUMNS; ++number) {
        int to_row = row + number / COLUMNS, to_column = column + number % COLUMNS;
        if (to_row < int(arguments.m) && to_column < int(arguments.n)) {
            int offset = place.r + to_row * arguments.r_m + to_column;
            int bias = vx_beside(place.bias, bias_steps, to_row, to_column);
            int residual = vx_beside(place.residual, residual_steps, to_row, to_column);
            T value = vx_finish(sums[number], bias, residual);
            arguments.r.data[offset] = R_STORE(SUBTRACT ? R_LOAD(arguments.r.data[offset]) - value : value);
        }
    }
#else
    // All is read before anything is stored, for what is added may lie where the result does. What is past the edge has the value of
    // the last row or column, and is stored there again: hundreds of branches would cost drivers more than that.
    int last_row = int(arguments.m) - 1, last_column = int(arguments.n) - 1;
#define AT_ROW min(row + i, last_row)
#define AT_COLUMN min(column + j, last_column)
    EACH_ROW EACH_COLUMN {
        int bias = vx_beside(place.bias, bias_steps, AT_ROW, AT_COLUMN);
        int residual = vx_beside(place.residual, residual_steps, AT_ROW, AT_COLUMN);
        total[i][j] = vx_finish(total[i][j], bias, residual);
        if (SUBTRACT) total[i][j] = R_LOAD(arguments.r.data[place.r + AT_ROW * arguments.r_m + AT_COLUMN]) - total[i][j];
    }
    EACH_COLUMN if (column + j <= last_column) {
        EACH_ROW arguments.r.data[place.r + AT_ROW * arguments.r_m + column + j] = R_STORE(total[i][j]);
    }
#endif
}
