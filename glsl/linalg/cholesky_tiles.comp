// One block of columns of the Cholesky factor of each Hermitian matrix of a stack, L conj(L)^T = a, in one dispatch for all
// tiles of BLOCK x BLOCK elements that remain. A workgroup takes two tiles of a column of tiles, subtracts from them what the
// block before contributes, and stores them back, or, in the block's own column, eliminates: the tile on the diagonal is worked
// out by each workgroup of the column anew, together with the one tile below it that the workgroup stores. So nothing waits for
// another workgroup within a dispatch (right-looking; Golub and Van Loan, Matrix Computations, 4th ed., section 4.2.6).
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"
#ifdef DOUBLE
#include "lib/float64/power.glsl"
#else
#include "lib/float32/power.glsl"
#endif

layout(local_size_x = 256) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;         // the first matrix, its lower triangle
    Elements l;         // the first factor: zeros, and the columns found before
    Integers status;    // for each matrix: 1 + the first row whose pivot is not positive, or 0
    uint count;         // matrices
    int order;          // their rows
    int block;          // which block of columns is found
} arguments;

#ifdef COMPLEX_T
#define ZERO T(VX_ZERO, VX_ZERO)
#else
#define ZERO VX_ZERO
#endif
#define SIDE 16  // of the grid of invocations, each of which has every SIDE-th row and column of a tile
#define TURN (DEPTH < 4 ? DEPTH : 4)  // columns of a block whose products are written out
#define PATCH (BLOCK / SIDE)
#define ROWS (2 * PATCH)
#define EACH_ROW [[unroll]] for (int i = 0; i < ROWS; ++i)
#define EACH_COLUMN [[unroll]] for (int j = 0; j < PATCH; ++j)

shared T row_parts[DEPTH][2 * BLOCK + 1];   // of -L, for the rows of both tiles; columns lie in other banks
shared T column_parts[DEPTH][BLOCK + 1];
shared T raw[2][2 * BLOCK];                 // the column that is eliminated, and the one before
shared REAL pivots[BLOCK], roots[BLOCK], inverses[BLOCK];
shared int failed;                      // the first column whose pivot is not positive

int base, row_tiles[2], column_tile;
T own[ROWS][PATCH];

int row_of(int place) { return row_tiles[place / BLOCK] * BLOCK + place % BLOCK; }
int column_of(int place) { return column_tile * BLOCK + place; }

T factor_at(int row, int column) {
    return row < arguments.order ? arguments.l.data[base + row * arguments.order + column] : ZERO;
}

void load(int down, int across) {
    EACH_ROW EACH_COLUMN {
        int row = row_of(down + SIDE * i), column = column_of(across + SIDE * j);
        T element = arguments.a.data[base + min(row, arguments.order - 1) * arguments.order + min(column, arguments.order - 1)];
        own[i][j] = vx_select(ZERO, element, row < arguments.order && column < arguments.order);
    }
}

// own -= L conj(L)^T over the columns of the block before.
void update(int local, int down, int across) {
    int first = (arguments.block - 1) * BLOCK;
    for (int depth = 0; depth < BLOCK; depth += DEPTH) {
        barrier();
        int k = local % DEPTH;
        for (int place = local / DEPTH; place < 2 * BLOCK; place += SIDE * SIDE / DEPTH) {
            row_parts[k][place] = -factor_at(row_of(place), first + depth + k);
        }
        for (int place = local / DEPTH; place < BLOCK; place += SIDE * SIDE / DEPTH) {
            column_parts[k][place] = vx_conjugate_if(factor_at(column_of(place), first + depth + k), true);
        }
        barrier();
        [[dont_unroll]] for (int turn = 0; turn < DEPTH; turn += TURN) [[unroll]] for (int k = turn; k < turn + TURN; ++k) {
            T left[ROWS], right[PATCH];
            EACH_ROW left[i] = row_parts[k][down + SIDE * i];
            EACH_COLUMN right[j] = column_parts[k][across + SIDE * j];
            EACH_ROW EACH_COLUMN own[i][j] = vx_add_product(left[i], right[j], own[i][j]);
        }
    }
}

bool is_positive(REAL x) {
#ifdef DOUBLE
    return x > VX_ZERO;
#else
    return floatBitsToInt(x) > 0;  // a comparison may take subnormal numbers for zero
#endif
}

// The columns of both tiles become those of L, the first tile being the one on the diagonal. Until the end they lack the division by the
// root of the pivot, so that no root has to be waited for: what they take out of the rest is column * conj(column)^T / pivot.
void eliminate(int local, int down, int across) {
    int columns = min(BLOCK, arguments.order - column_tile * BLOCK);
    if (local == 0) failed = columns;
    [[unroll]] for (int part = 0; part < PATCH; ++part) {
        for (int turn = 0; turn < SIDE && part * SIDE + turn < columns; ++turn) {
            int in_use = turn & 1;
            if (across == turn) {
                EACH_ROW raw[in_use][down + SIDE * i] = own[i][part];
                if (down == turn) pivots[part * SIDE + turn] = VX_REAL_PART(own[part][part]);
            }
            barrier();
            // The pivot as 4^n times a number near 1: neither its reciprocal nor a quotient overflows.
            REAL pivot = VX_REAL_PART(raw[in_use][part * SIDE + turn]);
            REAL scale = vx_two_to_the(-(vx_binary_exponent(pivot) >> 1));
            precise REAL inverse = vx_reciprocal_approximation(pivot * scale * scale) * scale;
            T right[PATCH];
            EACH_COLUMN right[j] = vx_conjugate_if(raw[in_use][across + SIDE * j], true) * inverse;
            EACH_ROW {
                precise T left = -raw[in_use][down + SIDE * i] * scale;
                if (across > turn) own[i][part] = vx_add_product(left, right[part], own[i][part]);
                [[unroll]] for (int j = part + 1; j < PATCH; ++j) own[i][j] = vx_add_product(left, right[j], own[i][j]);
            }
        }
    }
    barrier();
    if (local < columns) {
        // NaN goes on into the result.
        if (!is_positive(pivots[local]) && !vx_is_nan(pivots[local])) atomicMin(failed, local);
        REAL root = vx_sqrt(pivots[local]);
        roots[local] = root;
        inverses[local] = vx_inverse_of(root);
    }
    barrier();
}

// What was eliminated at places in a tile, as it is in the factor.
T finished(T value, int row, int column, REAL root, REAL inverse) {
#ifdef COMPLEX_T
    if (row == column) return T(root, VX_ZERO);
    return T(vx_quotient_by(value.x, root, inverse), vx_quotient_by(value.y, root, inverse));
#else
    return row == column ? root : vx_quotient_by(value, root, inverse);
#endif
}

void main() {
    int local = int(gl_LocalInvocationIndex);
    int across = local % SIDE, down = local / SIDE;
    int left = (arguments.order + BLOCK - 1) / BLOCK - arguments.block;  // columns of tiles from the block on
    int own_groups = max(left - 1, 1), pairs = left / 2;
    uint groups = uint(own_groups + (arguments.block == 0 ? 0 : (left - 1) * pairs));
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = group / groups;
    if (matrix >= arguments.count) return;
    int number = int(group - matrix * groups);
    base = int(matrix) * arguments.order * arguments.order;

    bool eliminates = number < own_groups, first = number == 0;
    if (eliminates) {
        column_tile = arguments.block;
        row_tiles = int[2](arguments.block, arguments.block + 1 + number);
    } else {
        number -= own_groups;
        column_tile = arguments.block + 1 + number / pairs;
        int row = column_tile + number % pairs * 2;
        if (row >= arguments.block + left) return;
        row_tiles = int[2](row, row + 1);
    }
    load(down, across);
    if (arguments.block > 0) update(local, down, across);
    if (eliminates) eliminate(local, down, across);
    if (first && local == 0 && column_of(failed) < min(arguments.order, (arguments.block + 1) * BLOCK) && arguments.status.data[matrix] == 0) {
        arguments.status.data[matrix] = column_of(failed) + 1;
    }
    REAL root[PATCH], inverse[PATCH];
    EACH_COLUMN {
        root[j] = roots[across + SIDE * j];
        inverse[j] = inverses[across + SIDE * j];
    }
    [[dont_unroll]] for (int i = 0; i < ROWS; ++i) {
        EACH_COLUMN {
            int row = row_of(down + SIDE * i), column = column_of(across + SIDE * j);
            if (row >= arguments.order || column > row) continue;
            int at = base + row * arguments.order + column;
            if (!eliminates) arguments.a.data[at] = own[0][j];
            else if (first || i >= PATCH) arguments.l.data[at] = finished(own[0][j], down + SIDE * i, across + SIDE * j, root[j], inverse[j]);
        }
        [[unroll]] for (int k = 1; k < ROWS; ++k) own[k - 1] = own[k];
    }
}
