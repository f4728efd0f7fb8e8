// Rotations that make pairs of blocks of columns more orthogonal: one sweep of Jacobi's method over the Hermitian matrix
// G = W^H W of the SIZE columns of two blocks, one workgroup for each G. J, the product of the rotations, replaces G,
// transposed: what a column becomes lies in a row.
//
// The rotations of a round are of SIZE / 2 pairs of columns and commute. The larger column of a pair becomes the first
// (de Rijk, SIAM J. Sci. Stat. Comput. 10, 1989). Columns shorter than about eps times the longest are left alone: they are
// the rounding errors of a matrix of lower rank, and there is no end to making them orthogonal.
#include "lib/extensions.glsl"
#include "lib/householder.glsl"
#include "lib/block_pairs.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint SIZE = 16u;

#ifdef DOUBLE
#define EPS 2.220446049250313e-16lf
#else
#define EPS 1.1920929e-7
#endif

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Words { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 gram;         // (batch, blocks / 2, chunks, SIZE, SIZE): the chunks' parts of G; J^T takes the place of the first
    uvec2 turned;       // (batch, blocks / 2): whether J is anything but the identity
    uvec2 exponents;    // (2, batch): the binary exponent of the largest G[i, i], of odd and of even sweeps
    uvec2 unfinished;   // (sweeps,): whether a sweep found columns that were not orthogonal
    uint batch, pairs, chunks;
    uint sweep;
    float tolerance;    // the cosine, in units of eps, below which columns are orthogonal
} arguments;

shared T g[SIZE * SIZE];
shared T j[SIZE * SIZE];
shared REAL cosines[SIZE / 2u];
shared T sines[SIZE / 2u];
shared REAL corrections[SIZE];
shared int busy;
shared int rotated;    // the last round with a rotation

REAL diagonal(uint i) { return vx_real(g[i * SIZE + i]); }

// c x - s y and c x + s y.
T vx_less(REAL c, T x, T s, T y) { return vx_multiply_add(-s, y, vx_scaled(x, c)); }
T vx_more(REAL c, T x, T s, T y) { return vx_multiply_add(s, y, vx_scaled(x, c)); }

// Whether columns i and k are neither negligible nor orthogonal to within `tolerance`.
bool is_oblique(uint i, uint k, REAL tolerance, REAL negligible) {
    REAL a = diagonal(i), b = diagonal(k);
    precise REAL bound = tolerance * sqrt(a) * sqrt(b);
    return min(a, b) > negligible && vx_larger_part(g[i * SIZE + k]) > bound;
}

// The rotation (x_i, x_k) -> (c x_i - conj(s) x_k, s x_i + c x_k) that makes G[i, k] zero, and what the diagonal becomes.
void rotation(T between, inout REAL a, inout REAL b, out REAL c, out T s) {
    REAL larger = vx_larger_part(between);
    T scaled = between / larger;
    REAL modulus = sqrt(vx_squared(scaled));
    T phase = scaled / modulus;
    REAL size = modulus * larger;
    REAL difference = b - a;
    REAL t;
    if (abs(difference) >= size) {
        REAL twice = 2.0 * (size / difference);
        t = twice / (REAL(1) + sqrt(REAL(1) + twice * twice));
    } else {
        REAL half_ratio = 0.5 * (difference / size);
        t = REAL(1) / (abs(half_ratio) + sqrt(REAL(1) + half_ratio * half_ratio));
        if (half_ratio < REAL(0)) t = -t;
    }
    c = REAL(1) / sqrt(REAL(1) + t * t);
    REAL sine = t * c;
    precise REAL change = t * size;
    REAL first = a - change, second = b + change;
    if (first < second) {
        REAL other = c;
        c = -sine;
        sine = other;
        a = second;
        b = first;
    } else {
        a = first;
        b = second;
    }
    s = phase * sine;
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group >= arguments.batch * arguments.pairs) return;
    uint local = gl_LocalInvocationIndex, width = gl_WorkGroupSize.x, half_size = SIZE / 2u;
    uint matrix = group / arguments.pairs;
    uvec2 gram = vx_address(arguments.gram, group, arguments.chunks * SIZE * SIZE);
    for (uint place = local; place < SIZE * SIZE; place += width) {
        uint i = place / SIZE, k = place % SIZE;
        uint source = min(i, k) * SIZE + max(i, k);
        T sum = T(0);
        for (uint part = 0u; part < arguments.chunks; ++part) sum += Elements(gram).data[part * SIZE * SIZE + source];
        g[place] = i > k ? vx_conjugate(sum) : sum;
        j[place] = FROM_REAL(REAL(i == k ? 1 : 0));
    }
    if (local == 0u) {
        busy = 0;
        rotated = -1;
    }
    barrier();

    uint known = arguments.sweep % 2u * arguments.batch + matrix, found = (arguments.sweep + 1u) % 2u * arguments.batch + matrix;
    REAL negligible = vx_two_to_the(Words(arguments.exponents).data[known]) * (REAL(EPS) * REAL(EPS));
    int largest = 0;
    for (uint i = local; i < SIZE; i += width) largest = max(largest, vx_exponent_of(diagonal(i)));
    if (largest > 0) atomicMax(Words(arguments.exponents).data[found], largest);
    REAL tolerance = REAL(arguments.tolerance) * REAL(EPS);
    for (uint place = local; place < SIZE * SIZE; place += width) {
        uint i = place / SIZE, k = place % SIZE;
        if (i < k && is_oblique(i, k, tolerance, negligible)) busy = 1;
    }
    barrier();
    bool turns = busy != 0;
    if (local == 0u) {
        Words(arguments.turned).data[group] = turns ? 1 : 0;
        if (turns) atomicOr(Words(arguments.unfinished).data[arguments.sweep], 1);
    }
    if (!turns) return;

    for (uint round = 0u; round < SIZE - 1u; ++round) {
        for (uint pair = local; pair < half_size; pair += width) {
            uvec2 met = vx_met(pair, round, SIZE);
            REAL c = REAL(1);
            T s = T(0);
            if (is_oblique(met.x, met.y, REAL(EPS), negligible)) {
                REAL a = diagonal(met.x), b = diagonal(met.y);
                rotation(g[met.x * SIZE + met.y], a, b, c, s);
                g[met.x * SIZE + met.x] = FROM_REAL(a);
                g[met.y * SIZE + met.y] = FROM_REAL(b);
                g[met.x * SIZE + met.y] = T(0);
                g[met.y * SIZE + met.x] = T(0);
                rotated = int(round);
            }
            cosines[pair] = c;
            sines[pair] = s;
        }
        barrier();
        if (rotated != int(round)) continue;
        // Every block of 2 x 2 that two pairs of columns meet in, but for a pair with itself, which is done.
        for (uint place = local; place < half_size * half_size; place += width) {
            uint above = place / half_size, beside = place % half_size;
            if (above == beside) continue;
            uvec2 i = vx_met(above, round, SIZE) * SIZE, k = vx_met(beside, round, SIZE);
            REAL c = cosines[above];
            T s = sines[above];
            T xx = g[i.x + k.x], xy = g[i.x + k.y], yx = g[i.y + k.x], yy = g[i.y + k.y];
            T ux = vx_less(c, xx, s, yx), uy = vx_less(c, xy, s, yy);
            T lx = vx_more(c, yx, vx_conjugate(s), xx), ly = vx_more(c, yy, vx_conjugate(s), xy);
            c = cosines[beside];
            s = sines[beside];
            g[i.x + k.x] = vx_less(c, ux, vx_conjugate(s), uy);
            g[i.x + k.y] = vx_more(c, uy, s, ux);
            g[i.y + k.x] = vx_less(c, lx, vx_conjugate(s), ly);
            g[i.y + k.y] = vx_more(c, ly, s, lx);
        }
        for (uint place = local; place < half_size * SIZE; place += width) {
            uint i = place / half_size * SIZE, pair = place % half_size;
            uvec2 k = vx_met(pair, round, SIZE);
            REAL c = cosines[pair];
            T s = sines[pair], x = j[i + k.x], y = j[i + k.y];
            j[i + k.x] = vx_less(c, x, vx_conjugate(s), y);
            j[i + k.y] = vx_more(c, y, s, x);
        }
        barrier();
    }

    // Thousands of rotations would let the norms drift: the columns of J get the norm 1 to within the rounding of J.
    for (uint k = local; k < SIZE; k += width) {
        REAL square = REAL(0);
        for (uint i = 0u; i < SIZE; ++i) square += vx_squared(j[i * SIZE + k]);
        precise REAL correction = (REAL(1) - square) * REAL(0.5);
        corrections[k] = correction;
    }
    barrier();
    for (uint place = local; place < SIZE * SIZE; place += width) {
        uint source = place % SIZE * SIZE + place / SIZE;
        precise T corrected = j[source] + j[source] * corrections[place / SIZE];
        Elements(gram).data[place] = corrected;
    }
}
