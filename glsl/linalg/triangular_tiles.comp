// One block of rows of the solution x of t x = b for a stack of lower triangular t, in place of b, in one dispatch for all tiles of
// BLOCK x BLOCK elements of b that remain. A workgroup takes two tiles of a column of tiles and subtracts from them what the
// block before contributes; the first tile of the first workgroup of a column is then solved by substitution. An upper triangular t
// read backwards, with negative strides from its last element on, is lower triangular here.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"

layout(local_size_x = 256) in;

layout(buffer_reference, scalar) readonly buffer Triangle { T data[]; };
layout(buffer_reference, scalar) buffer Columns { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Triangle t;
    Columns b;
    uint count;         // matrices in the stack
    int rows, columns;  // of b
    int t_first, t_batch, t_row, t_column;  // where the first element is, and strides
    int b_first, b_batch, b_row;            // the elements of a row lie side by side
    uint unit;          // the diagonal of t counts as ones
    int block;          // which block of rows is found
} arguments;

#ifdef COMPLEX_T
#define ZERO T(VX_ZERO, VX_ZERO)
#else
#define ZERO VX_ZERO
#endif
#define SIDE 16  // of the grid of invocations, each of which has every SIDE-th row and column of a tile
#define INVOCATIONS (SIDE * SIDE)
#define TURN (DEPTH < 4 ? DEPTH : 4)  // columns of a block whose products are written out
#define PATCH (BLOCK / SIDE)
#define ROWS (2 * PATCH)
#define EACH_ROW [[unroll]] for (int i = 0; i < ROWS; ++i)
#define EACH_COLUMN [[unroll]] for (int j = 0; j < PATCH; ++j)

// Parts of -t and x for the products, and then the tile on the diagonal of t, its columns as rows: where shared memory is
// what keeps workgroups from a multiprocessor, more of them fit. Rows are longer by one so that columns lie in other banks.
#define ROW_PART(k, place) pool[(k) * (2 * BLOCK + 1) + (place)]
#define COLUMN_PART(k, place) pool[DEPTH * (2 * BLOCK + 1) + (k) * (BLOCK + 1) + (place)]
#define DIAGONAL_TILE(column, row) pool[(column) * (BLOCK + 1) + (row)]
#define PARTS (DEPTH * (3 * BLOCK + 2))
#define TILE (BLOCK * (BLOCK + 1))
shared T pool[PARTS > TILE ? PARTS : TILE];
shared T divisors[BLOCK], inverses[BLOCK];  // the diagonal of t, by powers of two where its reciprocal needs them
shared int shifts[BLOCK];                   // these powers
shared T known[2][BLOCK];                   // the row of x that was found last, and the one before

int t_base, b_base, row_tile, column_tile;
T own[ROWS][PATCH];

int row_of(int place) { return row_tile * BLOCK + place; }
int column_of(int place) { return column_tile * BLOCK + place; }

T triangle_at(int row, int column) {
    T element = arguments.t.data[t_base + min(row, arguments.rows - 1) * arguments.t_row + min(column, arguments.rows - 1) * arguments.t_column];
    return vx_select(ZERO, element, row < arguments.rows && column < arguments.rows);
}

T element_at(int row, int column) {
    T element = arguments.b.data[b_base + min(row, arguments.rows - 1) * arguments.b_row + min(column, arguments.columns - 1)];
    return vx_select(ZERO, element, row < arguments.rows && column < arguments.columns);
}

// own -= t x over the columns of the block before.
void update(int local, int down, int across) {
    int first = (arguments.block - 1) * BLOCK;
    bool along_rows = abs(arguments.t_row) < abs(arguments.t_column);
    for (int depth = 0; depth < BLOCK; depth += DEPTH) {
        barrier();
        for (int index = local; index < 2 * BLOCK * DEPTH; index += INVOCATIONS) {
            int place = along_rows ? index % (2 * BLOCK) : index / DEPTH;
            int k = along_rows ? index / (2 * BLOCK) : index % DEPTH;
            ROW_PART(k, place) = -triangle_at(row_of(place), first + depth + k);
        }
        for (int index = local; index < BLOCK * DEPTH; index += INVOCATIONS) {
            COLUMN_PART(index / BLOCK, index % BLOCK) = element_at(first + depth + index / BLOCK, column_of(index % BLOCK));
        }
        barrier();
        [[dont_unroll]] for (int turn = 0; turn < DEPTH; turn += TURN) [[unroll]] for (int k = turn; k < turn + TURN; ++k) {
            T left[ROWS], right[PATCH];
            EACH_ROW left[i] = ROW_PART(k, down + SIDE * i);
            EACH_COLUMN right[j] = COLUMN_PART(k, across + SIDE * j);
            EACH_ROW EACH_COLUMN own[i][j] = vx_add_product(left[i], right[j], own[i][j]);
        }
    }
}

T divided(T value, int row) {
    T scaled = vx_scaled(value, shifts[row]);
    if (shifts[row] != 0) value = scaled;
    return vx_quotient_within(value, divisors[row], inverses[row]);
}

// The first tile becomes its solution, row after row.
void substitute(int local, int down, int across) {
    int first = arguments.block * BLOCK;
    bool along_rows = abs(arguments.t_row) < abs(arguments.t_column);
    barrier();
    for (int index = local; index < BLOCK * BLOCK; index += INVOCATIONS) {
        int row = along_rows ? index % BLOCK : index / BLOCK, column = along_rows ? index / BLOCK : index % BLOCK;
        DIAGONAL_TILE(column, row) = triangle_at(first + row, first + column);
    }
    barrier();
    if (local < BLOCK && arguments.unit == 0u) {
        T divisor = DIAGONAL_TILE(local, local);
        int shift = vx_inverse_shift(divisor);
        if (shift != 0) divisor = vx_scaled(divisor, shift);
        shifts[local] = shift;
        divisors[local] = divisor;
        inverses[local] = vx_rounded_inverse(divisor);
    }
    barrier();
    [[unroll]] for (int part = 0; part < PATCH; ++part) {
        for (int turn = 0; turn < SIDE; ++turn) {
            int row = part * SIDE + turn;
            if (down == turn) {
                // A loop that turns them round, for compilers take long for copies of this.
                [[dont_unroll]] for (int turns = arguments.unit == 0u ? PATCH : 0; turns > 0; --turns) {
                    T quotient = divided(own[part][0], row);
                    [[unroll]] for (int j = 1; j < PATCH; ++j) own[part][j - 1] = own[part][j];
                    own[part][PATCH - 1] = quotient;
                }
                EACH_COLUMN known[turn & 1][across + SIDE * j] = own[part][j];
            }
            barrier();
            T right[PATCH];
            EACH_COLUMN right[j] = -known[turn & 1][across + SIDE * j];
            [[unroll]] for (int i = part; i < PATCH; ++i) {
                T left = DIAGONAL_TILE(row, down + SIDE * i);
                if (i > part || down > turn) EACH_COLUMN own[i][j] = vx_add_product(left, right[j], own[i][j]);
            }
        }
    }
}

void main() {
    int local = int(gl_LocalInvocationIndex);
    int across = local % SIDE, down = local / SIDE;
    int pairs = ((arguments.rows + BLOCK - 1) / BLOCK - arguments.block + 1) / 2;
    int tiles = (arguments.columns + BLOCK - 1) / BLOCK;
    uint groups = uint(arguments.block == 0 ? tiles : pairs * tiles);  // before the first block there is nothing to subtract
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = group / groups;
    if (matrix >= arguments.count) return;
    int number = int(group - matrix * groups);
    column_tile = number % tiles;
    row_tile = arguments.block + number / tiles * 2;
    t_base = arguments.t_first + int(matrix) * arguments.t_batch;
    b_base = arguments.b_first + int(matrix) * arguments.b_batch;

    EACH_ROW EACH_COLUMN own[i][j] = element_at(row_of(down + SIDE * i), column_of(across + SIDE * j));
    if (arguments.block > 0) update(local, down, across);
    if (row_tile == arguments.block) substitute(local, down, across);
    [[dont_unroll]] for (int i = 0; i < ROWS; ++i) {
        EACH_COLUMN {
            int row = row_of(down + SIDE * i), column = column_of(across + SIDE * j);
            if (row < arguments.rows && column < arguments.columns) arguments.b.data[b_base + row * arguments.b_row + column] = own[0][j];
        }
        [[unroll]] for (int k = 1; k < ROWS; ++k) own[k - 1] = own[k];
    }
}
