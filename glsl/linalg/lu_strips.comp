// LU factorisation with partial pivoting of a stack of matrices in strips of COLUMNS columns, each with an invocation for ROWS of
// its rows, whose elements stay in registers. One dispatch works on all strips that remain: a workgroup takes the strip
// before out of its own, and the first one then factors its strip. So all but one have time for the rows of many columns while
// that one searches its pivots, and nothing waits for another workgroup within a dispatch.
//
// Rows are exchanged on the way from one array to the other: in dispatch `number`, a strip goes from the order before panel
// number - 1 into the order after it, from `even` to `odd` or back. What is found stays: in `odd` the rows of U, and a strip of L in
// the order after its own panel; in `even` the same strip in the order of the matrix that was given, for linalg_lu_arrange.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"
#include "lib/lanes.glsl"
#include "lib/pivot.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 even, odd;    // the matrices, the elements of a column side by side; given in `even`
    Integers rows_of;   // for each row, which row of the given matrix it is
    Integers sources;   // for each row, where it was before the last panel: two places, used in turn
    Integers status;    // for each matrix: 1 + the first column without a pivot, or 0; how many rows were exchanged
    uint count;         // matrices
    int order;          // of the matrices
    int number;         // the strip to be factored
} arguments;

#ifdef COMPLEX_T
#define ZERO T(VX_ZERO, VX_ZERO)
#else
#define ZERO VX_ZERO
#endif
#define EACH_ROW [[unroll]] for (int r = 0; r < ROWS; ++r)
#define EACH_COLUMN [[unroll]] for (int c = 0; c < COLUMNS; ++c)
// Columns are stored from the first place, to which the others move: unrolled, NVIDIA's compiler takes seconds for the stores.
#define EACH_STORED_COLUMN(COUNT) [[dont_unroll]] for (int column = 0; column < COUNT; ++column)

shared KEY keys[gl_WorkGroupSize.x];    // of the subgroups
shared int places[gl_WorkGroupSize.x];
shared T upper[COLUMNS][COLUMNS];       // rows of U in this strip, from the strip before
shared T lower[COLUMNS][COLUMNS];       // the triangle of L beside them
shared T pivot_rows[COLUMNS][COLUMNS];  // of this strip, each with L and U as it was when it was found
shared T eliminating_row[COLUMNS];      // the pivot's row without what is L in it
shared int pivots_given[COLUMNS];       // which rows of the given matrix the pivots are

// What an invocation wrote to memory is read by others of its workgroup.
void meet() {
    groupMemoryBarrier();
    barrier();
}

int local, size, matrix, base, first;
int left_column, width;         // of this strip
T own[ROWS][COLUMNS];           // of rows first + local + r * size

int row_of(int r) { return first + local + r * size; }
int at(int row, int column) { return base + column * arguments.order + row; }
int source_of(int row, int panel) { return arguments.sources.data[(2 * matrix + (panel & 1)) * arguments.order + row]; }

void move_left() {
    EACH_ROW [[unroll]] for (int c = 1; c < COLUMNS; ++c) own[r][c - 1] = own[r][c];
}

// The strip as it was before the last panel, its rows in the order after it. Past the end the last row and column are read again,
// for values that are not stored.
void load(Elements before) {
    EACH_ROW {
        int row = min(row_of(r), arguments.order - 1);
        if (arguments.number > 0) row = source_of(row, arguments.number - 1);
        EACH_COLUMN own[r][c] = before.data[at(row, left_column + min(c, width - 1))];
    }
}

// Takes the strip before, and the rows of U beside it, out of the rows below.
void update(Elements before, Elements odd) {
    int above = first - COLUMNS;  // the first row and column of the strip before
    T found[COLUMNS];
    if (local < width) EACH_COLUMN found[c] = before.data[at(source_of(above + c, arguments.number - 1), left_column + local)];
    for (int place = local; place < COLUMNS * COLUMNS; place += size) {
        int row = place % COLUMNS, column = place / COLUMNS;
        lower[row][column] = odd.data[at(above + row, above + column)];
    }
    meet();  // all that this workgroup has to read of `before` has been read
    if (local < width) {
        EACH_COLUMN [[unroll]] for (int i = c + 1; i < COLUMNS; ++i) {
            found[i] = vx_add_product(-lower[i][c], found[c], found[i]);
        }
        EACH_COLUMN {
            upper[c][local] = found[c];
            odd.data[at(above + c, left_column + local)] = found[c];
        }
    } else if (local < COLUMNS) {
        EACH_COLUMN upper[c][local] = ZERO;
    }
    barrier();
    // A column of L is loaded a turn before it is used: its time passes with the products.
    int rows[ROWS];
    T ahead[ROWS];
    EACH_ROW {
        rows[r] = at(min(row_of(r), arguments.order - 1), above);
        ahead[r] = odd.data[rows[r]];
    }
    [[dont_unroll]] for (int k = 0; k < COLUMNS; ++k) {
        T factor[ROWS];
        EACH_ROW {
            factor[r] = -ahead[r];
            ahead[r] = odd.data[rows[r] + min(k + 1, COLUMNS - 1) * arguments.order];
        }
        EACH_COLUMN {
            T right = upper[k][c];
            EACH_ROW own[r][c] = vx_add_product(factor[r], right, own[r][c]);
        }
    }
}

// The largest of a subgroup's candidates, of equal ones the uppermost.
void subgroup_largest(inout KEY key, inout int row) {
    KEY largest;
#ifdef DOUBLE
    largest.y = subgroupMax(key.y);
    largest.x = subgroupMax(key.y == largest.y ? key.x : 0u);
#else
    largest = subgroupMax(key);
#endif
    row = subgroupMin(key == largest ? row : NOWHERE);
    key = largest;
}

// The row at or below `diagonal` whose element in the first place is the largest, the uppermost of these; `rows` are those of
// this invocation.
int find_pivot(int rows[ROWS], int diagonal) {
    KEY best = NO_KEY;
    int place = NOWHERE;
    EACH_ROW {
        if (rows[r] >= diagonal && rows[r] < arguments.order) vx_take_larger(best, place, key_of(own[r][0]), rows[r]);
    }
    // Of each subgroup and then of all, in one loop, for some compilers take long for copies of it.
    [[dont_unroll]] for (int stage = 0; stage < 2; ++stage) {
        if (stage > 0) {
            if (subgroupElect()) {
                keys[gl_SubgroupID] = best;
                places[gl_SubgroupID] = place;
            }
            barrier();
            best = NO_KEY;
            place = NOWHERE;
            for (uint k = gl_SubgroupInvocationID; k < gl_NumSubgroups; k += vx_lanes()) vx_take_larger(best, place, keys[k], places[k]);
        }
        subgroup_largest(best, place);
    }
    return place;
}

// The invocation that has the pivot's row shows it to all.
void show(int rows[ROWS], int found, int j) {
    bool has_found = false;
    EACH_ROW has_found = has_found || rows[r] == found;
    if (!has_found) return;
    EACH_COLUMN {
        T element = own[0][c];
        EACH_ROW element = vx_select(element, own[r][c], rows[r] == found);
        pivot_rows[j][c] = element;
        eliminating_row[c] = vx_select(ZERO, element, c < COLUMNS - j);
    }
}

// Rows stay where they are in registers; exchanging two exchanges their numbers.
void factor() {
    int rows[ROWS], exchanges = 0;
    EACH_ROW rows[r] = row_of(r);
    // In each turn the strip moves to the left by one, and the column of L that was found comes in at its right end. What becomes
    // of the rows of pivots does not matter, they have been shown.
    for (int j = 0; j < width; ++j) {
        int diagonal = first + j, found = find_pivot(rows, diagonal);
        show(rows, found, j);
        EACH_ROW rows[r] = rows[r] == found ? diagonal : rows[r] == diagonal ? found : rows[r];
        exchanges += int(found != diagonal);
        barrier();
        T pivot = eliminating_row[0];
        bool vanishes = vx_vanishes(pivot);
        if (vanishes && local == 0 && arguments.status.data[2 * matrix] == 0) arguments.status.data[2 * matrix] = diagonal + 1;
        int shift = vx_inverse_shift(pivot);
        T factors[ROWS];
        EACH_ROW factors[r] = own[r][0];
        // A loop that turns them round, for compilers take long for copies of this.
        [[dont_unroll]] for (int turns = shift != 0 ? ROWS : 0; turns > 0; --turns) {
            T scaled = vx_scaled(factors[0], shift);
            [[unroll]] for (int r = 1; r < ROWS; ++r) factors[r - 1] = factors[r];
            factors[ROWS - 1] = scaled;
        }
        T inverse = vanishes ? ZERO : vx_rounded_inverse(shift != 0 ? vx_scaled(pivot, shift) : pivot);
        EACH_ROW {
            T factor = vx_multiply(factors[r], inverse);
            [[unroll]] for (int c = 1; c < COLUMNS; ++c) {
                own[r][c - 1] = vx_add_product(-factor, eliminating_row[c], own[r][c]);
            }
            own[r][COLUMNS - 1] = factor;
        }
    }
    int given[ROWS];
    EACH_ROW {
        if (row_of(r) < arguments.order) given[r] = arguments.rows_of.data[matrix * arguments.order + row_of(r)];
        if (rows[r] < first + width) pivots_given[rows[r] - first] = given[r];
    }
    meet();
    EACH_ROW {
        if (rows[r] >= arguments.order) continue;
        arguments.rows_of.data[matrix * arguments.order + rows[r]] = given[r];
        arguments.sources.data[(2 * matrix + (arguments.number & 1)) * arguments.order + rows[r]] = row_of(r);
    }
    Elements even = Elements(arguments.even), odd = Elements(arguments.odd);
    for (int place = local; place < COLUMNS * width; place += size) {
        int row = place % COLUMNS, column = place / COLUMNS;
        if (row >= width) continue;
        T element = pivot_rows[row][(column - row + COLUMNS) % COLUMNS];
        odd.data[at(first + row, left_column + column)] = element;
        even.data[at(pivots_given[row], left_column + column)] = element;
    }
    // Where a strip is narrower, all rows are those of pivots.
    EACH_STORED_COLUMN(COLUMNS) {
        EACH_ROW {
            if (rows[r] < first + COLUMNS || rows[r] >= arguments.order) continue;
            odd.data[at(rows[r], left_column + column)] = own[r][0];
            even.data[at(given[r], left_column + column)] = own[r][0];
        }
        move_left();
    }
    if (local == 0) arguments.status.data[2 * matrix + 1] += exchanges;
}

void main() {
    int strips = (arguments.order + COLUMNS - 1) / COLUMNS;
    uint groups = uint(arguments.number == 0 ? 1 : strips - arguments.number);  // before the first panel there is nothing to take out
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    matrix = int(group / groups);
    if (matrix >= arguments.count) return;
    int strip = arguments.number + int(group % groups);
    local = int(gl_LocalInvocationIndex);
    size = int(gl_WorkGroupSize.x);
    base = matrix * arguments.order * arguments.order;
    first = arguments.number * COLUMNS;
    left_column = strip * COLUMNS;
    width = min(COLUMNS, arguments.order - left_column);

    bool from_odd = arguments.number > 1 && arguments.number % 2 == 0;
    uvec2 address = from_odd ? arguments.odd : arguments.even;
    Elements before = Elements(address);
    load(before);
    if (arguments.number > 0) update(before, Elements(arguments.odd));
    if (strip == arguments.number) {
        factor();
        return;
    }
    address = from_odd ? arguments.even : arguments.odd;
    Elements after = Elements(address);
    EACH_STORED_COLUMN(width) {
        EACH_ROW if (row_of(r) < arguments.order) after.data[at(row_of(r), left_column + column)] = own[r][0];
        move_left();
    }
}
