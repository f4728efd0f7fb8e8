// The QR algorithm with Francis double shifts on Hessenberg matrices, real and complex alike: a sweep needs but the trace
// and the determinant of the last 2 x 2 block. One workgroup works on a matrix, in a diagonal window of at most WINDOW rows in
// shared memory: a block that fits is brought to triangular form (but for 2 x 2 blocks), else a bulge moves from the window's
// top to its bottom. The window's unitary transformation is left for linalg_eig_apply, which takes it to the rest of the
// matrix, and the state for the next dispatch.
//
// Deflation: Ahues and Tisseur (LAPACK Working Note 122). Windows: Braman, Byers and Mathias, SIAM J. Matrix Anal. 23 (2002).
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint WINDOW = 32u;
const uint PITCH = WINDOW + 1u;

#define TURNS (4u * WINDOW)     // sweeps of a small block in a dispatch

layout(push_constant, scalar) uniform Push {
    uvec2 h;            // (batch, rows, n)
    uvec2 q;            // (batch, WINDOW, WINDOW): the window's transformation
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 counts;
    uint batch, n, rows;
    uint limit;         // sweeps after which a matrix counts as stuck
} push;

shared T tile[2u * WINDOW * PITCH];     // the window, then its transformation
shared uint found;

uint local = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
uvec2 address;
uint begin = 0u, end = 0u;      // of the window, or of all that may be looked at
bool resident = false;          // whether the window is in shared memory and the whole block inside it

#define AT(r, c) tile[((r) - begin) * PITCH + (c) - begin]

T entry(uint row, uint column) {
    return resident ? AT(row, column) : Elements(address).data[row * push.n + column];
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
            else Elements(address).data[low * push.n + low - 1u] = T(0);
        }
        if (high - low > 2u) return true;
        high = low;
        iterations = 0u;
    }
    return false;
}

// The first column of (H - s I) (H - t I) by a factor, s and t the eigenvalues of the last 2 x 2 block; every tenth time others,
// for some matrices make no progress with these.
void start(uint low, uint high, uint iterations, out T x, out T y, out T z) {
    T a = entry(high - 2u, high - 2u), b = entry(high - 2u, high - 1u);
    T c = entry(high - 1u, high - 2u), d = entry(high - 1u, high - 1u);
    T first = entry(low, low), right = entry(low, low + 1u), below = entry(low + 1u, low), second = entry(low + 1u, low + 1u);
    z = entry(low + 2u, low + 1u);
    if (iterations % 10u == 0u) {
        bool above = iterations % 20u == 10u;
        precise REAL sum = vx_size(above ? below : c) + vx_size(above ? z : entry(high - 2u, high - 3u));
        precise REAL distance = REAL(0.75) * sum, product = REAL(-0.4375) * sum;
        a = vx_sum(above ? first : d, FROM_REAL(distance));
        b = FROM_REAL(product);
        c = FROM_REAL(sum);
        d = a;
    }
    // Products of small numbers must not vanish.
    REAL largest = max(max(vx_size(a), vx_size(d)), max(vx_size(b), vx_size(c)));
    largest = max(largest, max(vx_size(first), max(vx_size(second), vx_size(below))));
    int shift = -vx_exponent_of(largest);
    first = vx_shifted(first, shift);
    T r = vx_difference(vx_shifted(d, shift), first), s = vx_difference(vx_shifted(a, shift), first);
    T product = vx_difference(vx_times(r, s), vx_times(vx_shifted(b, shift), vx_shifted(c, shift)));
    x = vx_sum(vx_quotient(product, vx_shifted(below, shift)), vx_shifted(right, shift));
    y = vx_difference(vx_difference(vx_difference(vx_shifted(second, shift), first), r), s);
    z = vx_shifted(z, shift);
}

// Moves the bulge of the block [low, high) from row `first` on: the reflectors of the rows up to `last`. (x, y, z) is what the
// reflector of row `low` takes to a multiple of the first unit vector.
void chase(uint low, uint high, uint first, uint last, T x, T y, T z) {
    for (uint k = first; k <= last; ++k) {
        bool three = k + 2u < high;
        if (k > low) {
            x = AT(k, k - 1u);
            y = AT(k + 1u, k - 1u);
            z = three ? AT(k + 2u, k - 1u) : T(0);
        }
        if (!three) z = T(0);
        REAL largest = max(vx_larger_part(x), max(vx_larger_part(y), vx_larger_part(z)));
        int shift = -vx_exponent_of(largest);
        T beta = x, factor = T(0);
        REAL tau = REAL(0);
        T v = vx_shifted(y, shift), w = vx_shifted(z, shift);
        precise REAL rest = vx_squared(v) + vx_squared(w);
        if (rest > REAL(0)) vx_hermitian_reflector(vx_shifted(x, shift), rest, beta, tau, factor);
        beta = tau == REAL(0) ? x : vx_shifted(beta, -shift);
        v = vx_times(factor, v);
        w = vx_times(factor, w);
        T v_conjugate = vx_conjugate(v), w_conjugate = vx_conjugate(w);
        barrier();
        for (uint c = k + local; c < end; c += size) {
            T a = AT(k, c), b = AT(k + 1u, c), d = three ? AT(k + 2u, c) : T(0);
            T sum = vx_sum(a, vx_sum(vx_times(v_conjugate, b), vx_times(w_conjugate, d)));
            sum = vx_scaled(sum, tau);
            AT(k, c) = vx_difference(a, sum);
            AT(k + 1u, c) = vx_difference(b, vx_times(v, sum));
            if (three) AT(k + 2u, c) = vx_difference(d, vx_times(w, sum));
        }
        barrier();
        if (local == 0u && k > low) {
            AT(k, k - 1u) = beta;
            AT(k + 1u, k - 1u) = T(0);
            if (three) AT(k + 2u, k - 1u) = T(0);
        }
        uint rows = min(k + 4u, high) - begin;
        for (uint line = local; line < rows + (end - begin); line += size) {
            uint place = (line < rows ? line : WINDOW + line - rows) * PITCH + k - begin;
            T a = tile[place], b = tile[place + 1u], d = three ? tile[place + 2u] : T(0);
            T sum = vx_sum(a, vx_sum(vx_times(b, v), vx_times(d, w)));
            sum = vx_scaled(sum, tau);
            tile[place] = vx_difference(a, sum);
            tile[place + 1u] = vx_difference(b, vx_times(sum, v_conjugate));
            if (three) tile[place + 2u] = vx_difference(d, vx_times(sum, w_conjugate));
        }
        barrier();
    }
}

// Moves the window between the matrix and shared memory, and its transformation to memory; or begins it as the identity.
void transfer(bool inwards) {
    uint width = end - begin;
    wait();
    for (uint e = local; e < width * width; e += size) {
        uint row = e / width, column = e - row * width;
        uint place = (begin + row) * push.n + begin + column;
        uint q_place = (WINDOW + row) * PITCH + column;
        if (inwards) {
            tile[row * PITCH + column] = Elements(address).data[place];
            tile[q_place] = FROM_REAL(REAL(row == column ? 1 : 0));
        } else {
            Elements(address).data[place] = tile[row * PITCH + column];
            uvec2 q = vx_address(push.q, gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, WINDOW * WINDOW);
            Elements(q).data[row * WINDOW + column] = tile[q_place];
        }
    }
    wait();
}

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= push.batch) return;
    address = vx_address(push.h, matrix, push.rows * push.n);
    uint state = matrix * STATE_WORDS;
    int status = State(push.states).data[state + STATUS];
    uint high = uint(State(push.states).data[state + HIGH]);
    uint low = uint(State(push.states).data[state + LOW]);
    uint position = uint(State(push.states).data[state + POSITION]);
    uint iterations = uint(State(push.states).data[state + ITERATIONS]);
    uint total = uint(State(push.states).data[state + TOTAL]);
    barrier();  // all have read
    if (status != RUNNING) {
        if (local == 0u) {
            State(push.states).data[state + BEGIN] = 0;
            State(push.states).data[state + END] = 0;
        }
        return;
    }
    if (position == 0u && !deflate(high, low, iterations)) status = CONVERGED;
    else if (position == 0u && total >= push.limit) status = STUCK;
    if (status == RUNNING) {
        bool small = position == 0u && high - low <= WINDOW;
        T x = T(0), y = T(0), z = T(0);
        if (position == 0u && !small) {
            ++iterations;
            ++total;
            start(low, high, iterations, x, y, z);
        }
        begin = position == 0u ? low : position - 1u;
        end = min(begin + WINDOW, high);
        transfer(true);
        if (small) {
            resident = true;
            bool left = true;
            for (uint turn = 0u; turn < TURNS; ++turn) {
                left = deflate(high, low, iterations);
                if (!left || total >= push.limit) break;
                ++iterations;
                ++total;
                start(low, high, iterations, x, y, z);
                chase(low, high, low, high - 2u, x, y, z);
            }
            if (!left) high = begin;
            low = begin;
            if (high == 0u) status = CONVERGED;
        } else {
            uint last = end == high ? high - 2u : end - 4u;
            chase(low, high, position == 0u ? low : position, last, x, y, z);
            position = end == high ? 0u : last + 1u;
        }
        transfer(false);
    }
    if (local == 0u) {
        State(push.states).data[state + STATUS] = status;
        State(push.states).data[state + HIGH] = int(high);
        State(push.states).data[state + LOW] = int(low);
        State(push.states).data[state + POSITION] = int(position);
        State(push.states).data[state + ITERATIONS] = int(iterations);
        State(push.states).data[state + TOTAL] = int(total);
        State(push.states).data[state + BEGIN] = int(begin);
        State(push.states).data[state + END] = int(end);
        if (status != RUNNING) atomicAdd(State(push.counts).data[status], 1);
    }
}
