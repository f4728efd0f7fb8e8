// The QR algorithm with Francis double shifts on Hessenberg matrices, real and complex alike: a bulge needs but the trace and
// the determinant of a 2 x 2 matrix whose eigenvalues are its shifts. One workgroup works on a matrix, in a diagonal window of
// at most WINDOW rows in shared memory: a block that fits is brought to triangular form (but for 2 x 2 blocks); else a chain of
// bulges, three rows apart, moves from the window's top to its bottom. The window's unitary transformation is left for
// linalg_eig_apply, which takes it to the rest of the matrix, and the state for the next dispatch.
//
// Chains and windows: Braman, Byers and Mathias, SIAM J. Matrix Anal. Appl. 23 (2002). Deflation: Ahues and Tisseur, LAPACK
// Working Note 122.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint WINDOW = 32u;
const uint PITCH = WINDOW + 1u;
const uint BULGES = WINDOW / 8u;    // of a chain

#define EXCEPTIONAL 6u   // every so many sweeps without success other shifts are tried
#define TURNS (2u * WINDOW)     // sweeps of a small block in a dispatch: llvmpipe leaves its loops after 65,535 turns in all

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 h;            // (batch, rows, n)
    uvec2 q;            // (batch, WINDOW, WINDOW): the window's transformation
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 counts;
    uint batch, n, rows;
    uint limit;         // sweeps after which a matrix counts as stuck
} arguments;

shared T tile[2u * WINDOW * PITCH];     // the window, then its transformation
shared uint found;
shared T pairs[4u * BULGES];            // 2 x 2 matrices whose eigenvalues are shifts, row by row
// The reflectors of a step, one for each bulge: I - tau u u^H with u = (1, v, w); tau = 0 where a bulge is out of the block.
shared T v[BULGES], w[BULGES];
shared REAL tau[BULGES];

uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
uvec2 address;
uint begin = 0u, end = 0u;      // of the window, or of all that may be looked at
bool resident = false;          // whether the window is in shared memory and the whole block inside it

#define AT(r, c) tile[((r) - begin) * PITCH + (c) - begin]

T entry(uint row, uint column) {
    return resident ? AT(row, column) : Elements(address).data[row * arguments.n + column];
}

void wait() {
    memoryBarrierBuffer();
    barrier();
}

// Whether the subdiagonal entry of a row may be taken for zero.
bool negligible(uint row, uint high) {
    REAL below = vx_size(entry(row, row - 1u));
    if (below <= SMALLEST) return true;
    T upper = entry(row - 1u, row - 1u), lower = entry(row, row);
    precise REAL sum = vx_size(upper) + vx_size(lower);
    if (sum == REAL(0)) {
        if (row >= begin + 2u) sum = sum + vx_size(entry(row - 1u, row - 2u));
        if (row + 1u < high) sum = sum + vx_size(entry(row + 1u, row));
    }
    precise REAL limit = EPSILON * sum;
    if (!(below <= limit)) return false;
    REAL above = vx_size(entry(row - 1u, row)), apart = vx_size(vx_difference(upper, lower)), corner = vx_size(lower);
    REAL larger = max(above, below), lesser = min(above, below);
    REAL greater = max(corner, apart), smaller = min(corner, apart);
    precise REAL scale = greater + larger;
    precise REAL product = lesser * (larger / scale);
    precise REAL bound = EPSILON * (smaller * (greater / scale));
    return product <= max(bound, SMALLEST);
}

// The first row of the unreduced block whose last row is before `high`.
uint block_start(uint high) {
    for (uint top = high; ; top -= size) {
        wait();
        if (local == 0u) found = begin;
        barrier();
        if (begin + 1u + local < top && negligible(top - 1u - local, high)) atomicMax(found, top - 1u - local);
        barrier();
        if (found > begin || top <= begin + 1u + size) return found;
    }
}

// Splits off what has converged at the bottom: `high` moves up past blocks of 1 and 2 rows. False when nothing is left.
bool deflate(inout uint high, inout uint low, inout uint iterations) {
    while (high > begin) {
        low = block_start(high);
        if (local == 0u && low > begin) {
            if (resident) AT(low, low - 1u) = T(0);
            else Elements(address).data[low * arguments.n + low - 1u] = T(0);
        }
        if (high - low > 2u) return true;
        high = low;
        iterations = 0u;
    }
    return false;
}

void set_pair(uint bulge, T a, T b, T c, T d) {
    pairs[4u * bulge] = a;
    pairs[4u * bulge + 1u] = b;
    pairs[4u * bulge + 2u] = c;
    pairs[4u * bulge + 3u] = d;
}

void pair_of_entries(uint bulge, uint row) {
    set_pair(bulge, entry(row - 1u, row - 1u), entry(row - 1u, row), entry(row, row - 1u), entry(row, row));
}

// LAPACK's exceptional shifts, for every sixth time: some matrices, such as permutations, make no progress with others.
void exceptional_pair(uint bulge, uint row) {
    precise REAL sum = vx_size(entry(row, row - 1u)) + vx_size(entry(row - 1u, row - 2u));
    precise REAL distance = REAL(0.75) * sum, product = REAL(-0.4375) * sum;
    T a = vx_sum(entry(row, row), FROM_REAL(distance));
    set_pair(bulge, a, FROM_REAL(product), FROM_REAL(sum), a);
}

// Shifts from the triangular form of a block's last rows, from the bottom up: the eigenvalues of a 2 x 2 block, two that stand
// alone, or one twice where there is a block above it.
void pairs_of_blocks(uint high) {
    uint row = high - 1u;
    for (uint bulge = 0u; bulge < BULGES; ++bulge) {
        bool block = entry(row, row - 1u) != T(0);
        bool alone = !block && row >= begin + 2u && entry(row - 1u, row - 2u) != T(0);
        T one = entry(row, row);
        if (block) pair_of_entries(bulge, row);
        else set_pair(bulge, alone ? one : entry(row - 1u, row - 1u), T(0), T(0), one);
        row -= alone ? 1u : 2u;
    }
}

// What the first reflector of a bulge takes to a multiple of the first unit vector: the first column of (H - s I) (H - t I) for
// the block that begins at `low`, by a factor; s and t are the eigenvalues of the bulge's pair.
void start(uint bulge, uint low, out T x, out T y, out T z) {
    T a = pairs[4u * bulge], b = pairs[4u * bulge + 1u], c = pairs[4u * bulge + 2u], d = pairs[4u * bulge + 3u];
    T first = AT(low, low), right = AT(low, low + 1u), below = AT(low + 1u, low), second = AT(low + 1u, low + 1u);
    // Products of small numbers must not vanish.
    REAL largest = max(max(vx_size(a), vx_size(d)), max(vx_size(b), vx_size(c)));
    largest = max(largest, max(vx_size(first), max(vx_size(second), vx_size(below))));
    int shift = -vx_exponent_of(largest);
    first = vx_shifted(first, shift);
    T r = vx_difference(vx_shifted(d, shift), first), s = vx_difference(vx_shifted(a, shift), first);
    T product = vx_difference(vx_times(r, s), vx_times(vx_shifted(b, shift), vx_shifted(c, shift)));
    below = vx_shifted(below, shift);
    x = vx_shifted(right, shift);
    // A block that was split in the meantime has nothing to divide by, and its own first column will do.
    if (vx_larger_part(below) > REAL(0)) x = vx_sum(x, vx_quotient(product, below));
    y = vx_difference(vx_difference(vx_difference(vx_shifted(second, shift), first), r), s);
    z = vx_shifted(AT(low + 2u, low + 1u), shift);
}

// The reflector that moves a bulge on from row k, and what it leaves in the column before.
void reflect(uint bulge, uint k, uint low, uint high) {
    bool three = k + 2u < high;
    T x, y, z;
    if (k == low) {
        start(bulge, low, x, y, z);
    } else {
        x = AT(k, k - 1u);
        y = AT(k + 1u, k - 1u);
        z = T(0);
        if (three) z = AT(k + 2u, k - 1u);
    }
    int shift = -vx_exponent_of(max(vx_larger_part(x), max(vx_larger_part(y), vx_larger_part(z))));
    T second = vx_shifted(y, shift), third = vx_shifted(z, shift);
    precise REAL rest = vx_squared(second) + vx_squared(third);
    if (rest > REAL(0)) {
        T beta, factor;
        vx_hermitian_reflector(vx_shifted(x, shift), rest, beta, tau[bulge], factor);
        v[bulge] = vx_times(factor, second);
        w[bulge] = vx_times(factor, third);
        x = vx_shifted(beta, -shift);
    }
    if (k == low) return;
    AT(k, k - 1u) = x;
    AT(k + 1u, k - 1u) = T(0);
    if (three) AT(k + 2u, k - 1u) = T(0);
}

// Moves `count` bulges of the block [low, high), the first of them from row `lead` to `last`, each of the others three rows behind.
// The reflectors of a step touch different rows from the left, different columns from the right.
void chase(uint low, uint high, uint lead, uint last, uint count) {
    for (; lead <= last; ++lead) {
        if (local < count) {
            uint k = lead - 3u * local;
            bool inside = lead >= low + 3u * local && k + 1u < high;
            tau[local] = REAL(0);
            if (inside) reflect(local, k, low, high);
        }
        barrier();
        for (uint item = local; item < count * WINDOW; item += size) {
            uint bulge = item / WINDOW, k = lead - 3u * bulge, c = begin + item % WINDOW;
            if (tau[bulge] == REAL(0) || c < k || c >= end) continue;
            bool three = k + 2u < high;
            T a = AT(k, c), b = AT(k + 1u, c), d = T(0);
            if (three) d = AT(k + 2u, c);
            T sum = vx_sum(vx_times(vx_conjugate(v[bulge]), b), vx_times(vx_conjugate(w[bulge]), d));
            sum = vx_scaled(vx_sum(a, sum), tau[bulge]);
            AT(k, c) = vx_difference(a, sum);
            AT(k + 1u, c) = vx_difference(b, vx_times(v[bulge], sum));
            if (three) AT(k + 2u, c) = vx_difference(d, vx_times(w[bulge], sum));
        }
        barrier();
        for (uint item = local; item < count * 2u * WINDOW; item += size) {
            uint bulge = item / (2u * WINDOW), k = lead - 3u * bulge, line = item % (2u * WINDOW);
            bool in_window = line < WINDOW;
            if (tau[bulge] == REAL(0) || begin + line >= (in_window ? min(k + 4u, high) : WINDOW + end)) continue;
            bool three = k + 2u < high;
            uint place = line * PITCH + k - begin;
            T a = tile[place], b = tile[place + 1u], d = T(0);
            if (three) d = tile[place + 2u];
            T sum = vx_scaled(vx_sum(a, vx_sum(vx_times(b, v[bulge]), vx_times(d, w[bulge]))), tau[bulge]);
            tile[place] = vx_difference(a, sum);
            tile[place + 1u] = vx_difference(b, vx_times(sum, vx_conjugate(v[bulge])));
            if (three) tile[place + 2u] = vx_difference(d, vx_times(sum, vx_conjugate(w[bulge])));
        }
        barrier();
    }
}

// Sweeps over the window, which holds all of a block, until it is triangular but for blocks of 2 rows. False where it is not so far
// after all the turns, or `total` has come to the limit.
bool settle(inout uint high, inout uint low, inout uint iterations, inout uint total) {
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (!deflate(high, low, iterations)) return true;
        if (total >= arguments.limit) return false;
        ++iterations;
        ++total;
        if (local == 0u) {
            if (iterations % EXCEPTIONAL == 0u) exceptional_pair(0u, iterations % (2u * EXCEPTIONAL) == 0u ? high - 1u : low + 2u);
            else pair_of_entries(0u, high - 1u);
        }
        barrier();
        chase(low, high, low, high - 2u, 1u);
    }
    return false;
}

// Moves the window between the matrix and shared memory, and its transformation to memory; or begins it as the identity.
void transfer(bool inwards) {
    uint width = end - begin;
    wait();
    for (uint e = local; e < width * width; e += size) {
        uint row = e / width, column = e - row * width;
        uint place = (begin + row) * arguments.n + begin + column;
        uint q_place = (WINDOW + row) * PITCH + column;
        if (inwards) {
            tile[row * PITCH + column] = Elements(address).data[place];
            tile[q_place] = FROM_REAL(REAL(row == column ? 1 : 0));
        } else {
            Elements(address).data[place] = tile[row * PITCH + column];
            uvec2 q = vx_address(arguments.q, gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, WINDOW * WINDOW);
            Elements(q).data[row * WINDOW + column] = tile[q_place];
        }
    }
    wait();
}

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= arguments.batch) return;
    address = vx_address(arguments.h, matrix, arguments.rows * arguments.n);
    uint state = matrix * STATE_WORDS;
    int status = State(arguments.states).data[state + STATUS];
    uint high = uint(State(arguments.states).data[state + HIGH]);
    uint low = uint(State(arguments.states).data[state + LOW]);
    uint position = uint(State(arguments.states).data[state + POSITION]);
    uint iterations = uint(State(arguments.states).data[state + ITERATIONS]);
    uint total = uint(State(arguments.states).data[state + TOTAL]);
    barrier();  // all have read
    if (status != RUNNING) {
        if (local == 0u) {
            State(arguments.states).data[state + BEGIN] = 0;
            State(arguments.states).data[state + END] = 0;
        }
        return;
    }
    if (position == 0u && !deflate(high, low, iterations)) status = CONVERGED;
    else if (position == 0u && total >= arguments.limit) status = STUCK;
    if (status == RUNNING && position == 0u && high - low > WINDOW) {
        // A chain begins. Its shifts are the eigenvalues of the block's last rows, found in a window that is not kept.
        ++iterations;
        ++total;
        begin = high - 2u * BULGES;
        end = high;
        transfer(true);
        resident = true;
        if (iterations % EXCEPTIONAL == 0u) {
            if (local < BULGES) exceptional_pair(local, max(high - 1u - 2u * local, begin + 2u));
        } else {
            uint last = high, first = begin, own_iterations = 0u, own_total = 0u;
            settle(last, first, own_iterations, own_total);
            if (local == 0u) pairs_of_blocks(high);
        }
        barrier();
    }
    if (status == RUNNING) {
        bool small = position == 0u && high - low <= WINDOW;
        begin = position == 0u ? low : position - 3u * (BULGES - 1u) - 1u;
        end = min(begin + WINDOW, high);
        transfer(true);
        resident = true;
        if (small) {
            if (settle(high, low, iterations, total)) high = begin;
            low = begin;
            if (high == 0u) status = CONVERGED;
        } else {
            uint last = end == high ? high - 2u + 3u * (BULGES - 1u) : end - 4u;
            chase(low, high, position == 0u ? low : position, last, BULGES);
            position = end == high ? 0u : last + 1u;
        }
        transfer(false);
    }
    if (local == 0u) {
        State(arguments.states).data[state + STATUS] = status;
        State(arguments.states).data[state + HIGH] = int(high);
        State(arguments.states).data[state + LOW] = int(low);
        State(arguments.states).data[state + POSITION] = int(position);
        State(arguments.states).data[state + ITERATIONS] = int(iterations);
        State(arguments.states).data[state + TOTAL] = int(total);
        State(arguments.states).data[state + BEGIN] = int(begin);
        State(arguments.states).data[state + END] = int(end);
        if (status != RUNNING) atomicAdd(State(arguments.counts).data[status], 1);
    }
}
