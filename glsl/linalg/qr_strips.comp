// Householder QR of a stack of matrices in strips of COLUMNS columns, whose elements stay in registers: invocation c + COLUMNS * lane has
// ROWS rows of column c, by packs of PACK_ROWS. One dispatch works on all strips that remain: a workgroup applies the reflectors of
// the strip before to its own, and the first one then factors its strip. So nothing waits for another workgroup within a dispatch.
//
// The reflectors are applied as 1 - V T V^H, where the inverse of T has 1 / tau on its diagonal and V^H V above it
// (Puglisi, SIAM J. Sci. Stat. Comput. 13, 1992). A column of the strip being factored stays as it is until the end, for it
// is only multiplied by a number to become v: so one pass gives all inner products with it.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Packs { PACK data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, m, n); R is left in its upper triangle
    uvec2 v;            // (batch, m, count): zeros, and V as columns
    uvec2 tau;          // (batch, count)
    uvec2 inner;        // (batch, 2, COLUMNS, COLUMNS): V^H V of the last two strips
    uint batch, m, n, count;
    uint number;        // the strip to be factored
} arguments;

#if PACK_ROWS == 1
#define PART(pack, i) pack
#else
#define PART(pack, i) pack[i]
#endif
#define FAN 8u  // partial sums that one invocation adds up
#define PACKS (ROWS / PACK_ROWS)
#define ACROSS (COLUMNS / PACK_ROWS)
#define EACH_PACK [[unroll]] for (int p = 0; p < PACKS; ++p)
#define EACH_PART [[unroll]] for (int i = 0; i < PACK_ROWS; ++i)
#define EACH_ACROSS [[unroll]] for (int q = 0; q < ACROSS; ++q)

#define LONGER (ACROSS > 2 * PACKS / COLUMNS ? ACROSS : 2 * PACKS / COLUMNS)  // of sums, and of two columns
shared PACK scratch[gl_WorkGroupSize.x * LONGER];
shared T partial[gl_WorkGroupSize.x];
shared T products[COLUMNS][COLUMNS];
shared T crossed[COLUMNS][COLUMNS];     // V^H V above its diagonal
shared T taus[COLUMNS];
shared T upmost[2][COLUMNS];            // the row of the diagonal
shared T factors[COLUMNS];              // v = factor * x
shared T diagonals[COLUMNS];            // of R

uint local, matrix, c, lane, lanes, start, first, column;
bool used;
T own[ROWS];

uint row_of(int p, int i) { return start + (uint(p) * lanes + lane) * PACK_ROWS + uint(i); }

// own = (1 - V T^H V^H) own, V being that of the strip before.
void apply() {
    uvec2 v_address = vx_address(arguments.v, matrix, arguments.m * arguments.count);
    uvec2 inner_address = vx_address(arguments.inner, 2u * matrix + (arguments.number - 1u) % 2u, COLUMNS * COLUMNS);
    Packs v = Packs(v_address);
    Elements inner = Elements(inner_address);
    for (uint place = local; place < COLUMNS * COLUMNS; place += gl_WorkGroupSize.x) {
        crossed[place / COLUMNS][place % COLUMNS] = inner.data[place];
    }
    if (local < COLUMNS) taus[local] = Elements(arguments.tau).data[matrix * arguments.count + first - COLUMNS + local];

    T sums[COLUMNS];
    [[unroll]] for (int k = 0; k < COLUMNS; ++k) sums[k] = T(0);
    EACH_PACK EACH_PART {
        uint at = (min(row_of(p, i), arguments.m - 1u) * arguments.count + first - COLUMNS) / PACK_ROWS;
        EACH_ACROSS {
            PACK factor = v.data[at + q];
            [[unroll]] for (int k = 0; k < PACK_ROWS; ++k) {
                sums[q * PACK_ROWS + k] = vx_multiply_add(vx_conjugate(PART(factor, k)), own[p * PACK_ROWS + i], sums[q * PACK_ROWS + k]);
            }
        }
    }
    EACH_ACROSS {
        PACK sum;
        EACH_PART PART(sum, i) = sums[q * PACK_ROWS + i];
        scratch[(lane * ACROSS + q) * COLUMNS + c] = sum;
    }
    barrier();
    for (uint place = local; place < ACROSS * COLUMNS; place += gl_WorkGroupSize.x) {
        PACK sum = scratch[place];
        for (uint other = 1u; other < lanes; ++other) sum += scratch[other * ACROSS * COLUMNS + place];
        EACH_PART products[place / COLUMNS * PACK_ROWS + i][place % COLUMNS] = PART(sum, i);
    }
    barrier();
    if (local < COLUMNS) {
        T found[COLUMNS];
        [[unroll]] for (int k = 0; k < COLUMNS; ++k) found[k] = products[k][local];
        [[unroll]] for (int k = 0; k < COLUMNS; ++k) {
            found[k] = vx_times(vx_conjugate(taus[k]), found[k]);
            [[unroll]] for (int i = k + 1; i < COLUMNS; ++i) {
                found[i] = vx_multiply_add(-vx_conjugate(crossed[k][i]), found[k], found[i]);
            }
        }
        [[unroll]] for (int k = 0; k < COLUMNS; ++k) products[k][local] = found[k];
    }
    barrier();
    [[unroll]] for (int k = 0; k < COLUMNS; ++k) sums[k] = -products[k][c];
    EACH_PACK EACH_PART {
        uint at = (min(row_of(p, i), arguments.m - 1u) * arguments.count + first - COLUMNS) / PACK_ROWS;
        EACH_ACROSS {
            PACK factor = v.data[at + q];
            [[unroll]] for (int k = 0; k < PACK_ROWS; ++k) {
                own[p * PACK_ROWS + i] = vx_multiply_add(PART(factor, k), sums[q * PACK_ROWS + k], own[p * PACK_ROWS + i]);
            }
        }
    }
}

// The sum over the lanes of one column, from `partial`, whose first `left` lanes hold what is left to add.
T total(uint of_column, uint left) {
    T sum = partial[of_column];
    for (uint k = 1u; k < left; ++k) sum += partial[k * COLUMNS + of_column];
    return sum;
}

// Adds up the invocations' sums until few are left; how many.
uint add_up(T sum) {
    partial[local] = sum;
    barrier();
    uint left = lanes;
    for (; left > FAN; left /= FAN) {
        uint part = left / FAN;
        if (lane < part) {
            [[unroll]] for (uint k = 1u; k < FAN; ++k) sum += partial[local + k * part * COLUMNS];
            partial[local] = sum;
        }
        barrier();
    }
    return left;
}

// Column j of the strip, and the row of its diagonal, for all invocations; the column before it stays in place.
void publish(uint j) {
    uint diagonal = first + j, part = j % 2u;
    if (c == j) {
        EACH_PACK {
            PACK below;
            // The diagonal is among the first rows of the lanes.
            EACH_PART PART(below, i) = p > 0 || row_of(p, i) > diagonal ? own[p * PACK_ROWS + i] : T(0);
            scratch[part * PACKS * lanes + p * lanes + lane] = below;
        }
    }
    EACH_PART if (row_of(0, i) == diagonal) upmost[part][c] = own[i];
}

// The inner product of the column at `place` in `scratch` with the invocation's own, or with itself.
T inner_product(uint place, bool with_itself) {
    T sum = T(0);
    EACH_PACK {
        PACK pack = scratch[place + p * lanes + lane];
        EACH_PART {
            T x = PART(pack, i), other = own[p * PACK_ROWS + i];
            if (with_itself) other = x;
            sum = vx_multiply_add(vx_conjugate(x), other, sum);
        }
    }
    return sum;
}

// Multiplies the column at `place` in `scratch` by a power of two that brings it to moderate size; which one.
int shift_column(uint place) {
    int exponent = -2 * MAXIMUM_EXPONENT;
    for (uint p = 0u; p < PACKS; ++p) {
        EACH_PART exponent = max(exponent, vx_largest_exponent(PART(scratch[place + p * lanes + lane], i)));
    }
    barrier();
    partial[local] = FROM_REAL(REAL(exponent));
    barrier();
    for (uint k = 0u; k < gl_WorkGroupSize.x; ++k) exponent = max(exponent, int(vx_real(partial[k])));
    int shift = clamp(-exponent, 0, LARGEST_SHIFT);
    for (uint at = place + local; at < place + PACKS * lanes; at += gl_WorkGroupSize.x) {
        EACH_PART PART(scratch[at], i) = vx_scaled(PART(scratch[at], i), vx_two_to_the(shift));
    }
    barrier();
    return shift;
}

void factor(uint width) {
    for (uint j = 0u; j < width; ++j) {
        publish(j);
        uint diagonal = first + j, part = j % 2u, place = part * PACKS * lanes;
        barrier();
        uint left = add_up(inner_product(place, false));
        T product = total(c, left);
        REAL square = vx_real(total(j, left));
        int shift = 0;
        if (square < SMALL_SQUARE) {  // NaN is not below anything
            shift = shift_column(place);
            left = add_up(inner_product(place, c == j));
            product = total(c, left);
            square = vx_real(total(j, left));
        }

        T alpha = upmost[part][j], above = upmost[part][c];
        T tau = T(0), scale = T(0);
        REAL beta = REAL(0);
        bool reflects = !(square < SMALL_SQUARE);
        if (reflects) vx_reflector(vx_scaled(alpha, vx_two_to_the(shift)), square, beta, tau, scale);
        T factor = vx_scaled(scale, vx_two_to_the(shift));
        if (c > j && reflects) {
            precise T inner = above + vx_times(vx_conjugate(scale), product);
            T taken = vx_times(vx_conjugate(tau), inner);
            T step_ = vx_times(scale, taken);
            EACH_PACK {
                PACK pack = scratch[place + p * lanes + lane];
                EACH_PART {
                    precise T updated = own[p * PACK_ROWS + i] - vx_times(PART(pack, i), step_);
                    if (p > 0 || row_of(p, i) > diagonal) own[p * PACK_ROWS + i] = updated;
                    else if (row_of(p, i) == diagonal) own[p * PACK_ROWS + i] = above - taken;
                }
            }
        }
        if (lane == 0u && c < j) {
            T earlier = factors[c];
            precise T inner = vx_times(above, earlier);
            inner = vx_conjugate(inner) + vx_times(vx_times(vx_conjugate(earlier), scale), vx_conjugate(product));
            crossed[c][j] = inner;
        }
        if (lane == 0u && c == j) {
            factors[j] = factor;
            taus[j] = tau;
            diagonals[j] = reflects ? FROM_REAL(beta * vx_two_to_the(-shift)) : alpha;
        }
    }
    barrier();
}

void main() {
    uint strips = (arguments.n + COLUMNS - 1u) / COLUMNS;
    uint groups = arguments.number == 0u ? 1u : strips - arguments.number;  // before the first strip there is nothing to apply
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    matrix = group / groups;
    if (matrix >= arguments.batch) return;
    uint strip = arguments.number + group % groups;
    local = gl_LocalInvocationIndex;
    c = local % COLUMNS;
    lane = local / COLUMNS;
    lanes = gl_WorkGroupSize.x / COLUMNS;
    first = arguments.number * COLUMNS;
    start = arguments.number == 0u ? 0u : first - COLUMNS;
    column = strip * COLUMNS + c;
    used = column < arguments.n;
    uvec2 a_address = vx_address(arguments.a, matrix, arguments.m * arguments.n);
    Elements a = Elements(a_address);
    EACH_PACK EACH_PART {
        uint row = row_of(p, i);
        T element = a.data[min(row, arguments.m - 1u) * arguments.n + min(column, arguments.n - 1u)];
        own[p * PACK_ROWS + i] = row < arguments.m ? element : T(0);
    }
    if (arguments.number > 0u) apply();
    // Past the end the last row of V was taken. What comes of columns past the end is not stored.
    EACH_PACK EACH_PART if (row_of(p, i) >= arguments.m) own[p * PACK_ROWS + i] = T(0);

    uint rank = min(arguments.m, arguments.n);
    uint width = strip == arguments.number && first < rank ? min(rank - first, COLUMNS) : 0u;
    if (width > 0u) {
        barrier();
        factor(width);
        uvec2 v_address = vx_address(arguments.v, matrix, arguments.m * arguments.count);
        uvec2 inner_address = vx_address(arguments.inner, 2u * matrix + arguments.number % 2u, COLUMNS * COLUMNS);
        Elements inner = Elements(inner_address);
        for (uint place = local; place < COLUMNS * COLUMNS; place += gl_WorkGroupSize.x) {
            uint i = place / COLUMNS, j = place % COLUMNS;
            inner.data[place] = i < j && j < width ? crossed[i][j] : T(0);
        }
        if (local < width) Elements(arguments.tau).data[matrix * arguments.count + first + local] = taus[local];
    }
    Elements v = Elements(vx_address(arguments.v, matrix, arguments.m * arguments.count));
    [[dont_unroll]] for (int p = 0; p < PACKS; ++p) {
        EACH_PART {
            uint row = row_of(p, i);
            T element = own[i];
            if (c < width && row >= column && row < arguments.m) {
                v.data[row * arguments.count + column] = row > column ? vx_times(element, factors[c]) : FROM_REAL(REAL(1));
                if (row == column) element = diagonals[c];
            }
            if (used && row < arguments.m) a.data[row * arguments.n + column] = element;
        }
        [[unroll]] for (int q = PACK_ROWS; q < ROWS; ++q) own[q - PACK_ROWS] = own[q];
    }
}
