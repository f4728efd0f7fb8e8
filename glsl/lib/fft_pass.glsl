#ifndef LIB_FFT_PASS
#define LIB_FFT_PASS

// One pass of a discrete Fourier transform: lines of LENGTH elements are transformed, v[k] = sum of v[j] exp(-2 pi i j k / LENGTH).
//
// A transform that is one line is done in a pass. A longer one of n = LENGTH * rest points takes several, each after
// Stockham's pattern (Cochran et al., Proc. IEEE 55, 1967; Van Loan, Computational Frameworks for the FFT, 1992), in which
// no reordering remains: after passes that have transformed L points, line (i, q), q < L, takes the elements
// i L + q + j n / LENGTH, multiplies them by exp(-2 pi i j q / (L LENGTH)), and its results go to (i LENGTH + k) L + q. The
// numbers i and q are dimensions of `layout_` as those of the batch are, so all arrays may have any strides.
// The inverse transform swaps real and imaginary parts on the way in and on the way out.
//
// Real points whose number has the odd factor p meet it in the first pass, where results k and p - k of a line are
// conjugates; then lines q of all further passes are conjugates of lines with -q modulo p in place of q (Sorensen et al.,
// IEEE Trans. ASSP 35, 1987). So those with q modulo p above p / 2 are left out, and the last pass stores half the
// results and the conjugates of half of them. A symmetric spectrum takes the same way back, with p in the last pass.
//
// The template includes this after its constant or define LENGTH.
#include "lib/fft_radix.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LOAD = 0u;
layout(constant_id = 2) const uint STORE = 0u;
layout(constant_id = 3) const uint FACTORS = 0u;  // what elements are multiplied by, on the way in and out, and the like

// How the elements of a transform lie in memory: LOAD
#define COMPLEX_ELEMENTS 0u
#define REAL_ELEMENTS 1u
#define REAL_PAIRS 2u     // element k has the parts 2 k and 2 k + 1
#define HALF_SPECTRUM 3u  // of 2 n real points, made into one of n pairs of them
#define HERMITIAN 4u      // the first half of a spectrum of odd length that is symmetric
#define ONE_SIDED 5u      // the same, but zeros for the second half, and half of element 0
#define CONJUGATES 6u     // the first half of each line: those beyond are conjugates of these
// and STORE: COMPLEX_ELEMENTS, REAL_ELEMENTS (the real parts alone), REAL_PAIRS, HERMITIAN, or HALF_SPECTRUM, the first
// n + 1 results for 2 n real points, which only kernels that hold whole transforms in shared memory can make.

// FACTORS
#define TABLE_IN 1u        // loaded elements are multiplied by a table: the roots between passes, or a chirp
#define TABLES_IN 2u       // by the roots between passes, which are products of two roots from a table
#define TABLE_OUT 4u       // results are multiplied by a table
#define PADDED 8u          // there may be fewer elements than the transform takes: zeros follow them
#define CUT 16u            // there may be fewer results wanted than the transform has
#define SCALED 32u         // results are multiplied by `scale`

// `mode`
#define SWAP_IN 1u
#define SWAP_OUT 2u
#define CONJUGATE_IN 4u
#define CONJUGATE_OUT 8u
#define CONJUGATE_TABLE 16u  // the table of the results
// A constant has the flags where a pipeline for each of their combinations is worth its time.
layout(constant_id = 13) const uint KNOWN_FLAGS = 0xFFFFFFFFu;
// The odd factor p by which lines are left out: of p places that follow each other, the first p / 2 + 1 are taken.
layout(constant_id = 14) const uint ODD = 1u;
// 2 for a convolution: the results are multiplied by out_table, transformed back, and multiplied by in_table again.
layout(constant_id = 15) const uint ROUNDS = 1u;

layout(buffer_reference, scalar) buffer Reals { REAL data[]; };
layout(buffer_reference, scalar) buffer Complexes { COMPLEX data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a, r;
    uvec2 line_roots;     // between the radices of a line
    uvec2 in_table, out_table;
    uvec2 spectrum_roots; // exp(-2 pi i k / (2 n)) of a HALF_SPECTRUM
    REAL scale;
    uint lines;
    uint points;          // n of the transform whose elements are loaded and stored
    uint a_count;         // elements of a that there are
    uint r_count;         // elements of r that are wanted
    uint places;          // lines of a transform in its first pass, L in all others
    uint mode;            // flags
    int a_step, r_step;   // between the elements of a line
    uint place_axis;      // the dimension of `layout_` that counts places
    uint rank;
    int layout_[195];     // sizes of the dimensions of the batch of lines; strides in a; strides in r
} arguments;

int layout_at(uint row, uint axis) { return arguments.layout_[row * arguments.rank + axis]; }

struct Line { int a, r; uint place; };

Line find_line(uint index) {
    Line line = Line(0, 0, 0u);
    for (int axis = int(arguments.rank) - 1; axis >= 0; --axis) {
        uint position = index;
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = index / size;
            position = index - quotient * size;
            index = quotient;
        }
        uint from = position, to = position;
        if (axis == int(arguments.place_axis)) {
            line.place = position / (ODD / 2u + 1u) * ODD + position % (ODD / 2u + 1u);
            if (LOAD == HERMITIAN) from = line.place;
            if (STORE == HERMITIAN) to = line.place;
        }
        line.a += int(from) * layout_at(1u, uint(axis));
        line.r += int(to) * layout_at(2u, uint(axis));
    }
    return line;
}

bool is_set(uint flag) { return ((KNOWN_FLAGS == 0xFFFFFFFFu ? arguments.mode : KNOWN_FLAGS) & flag) != 0u; }

// Whether element k of a exists.
bool is_there(uint k) { return (FACTORS & PADDED) == 0u || k < arguments.a_count; }

COMPLEX complex_at(int offset, bool present) {
    COMPLEX z = present ? Complexes(arguments.a).data[offset] : COMPLEX(0.0);
    return is_set(CONJUGATE_IN) ? vx_conjugate(z) : z;
}

REAL real_at(int offset, bool present) { return present ? Reals(arguments.a).data[offset] : REAL(0.0); }

// Element j of a line, which is element k of the transform.
COMPLEX element(Line line, uint j, uint k) {
    int at = line.a + int(j) * arguments.a_step;
    if (LOAD == REAL_ELEMENTS) return COMPLEX(real_at(at, is_there(k)), 0.0);
    if (LOAD == REAL_PAIRS) {
        int next = at + arguments.a_step / int(2u * arguments.places);
        return COMPLEX(real_at(at, is_there(2u * k)), real_at(next, is_there(2u * k + 1u)));
    }
    if (LOAD == COMPLEX_ELEMENTS || LOAD == CONJUGATES) return complex_at(at, is_there(k));
    if (LOAD == ONE_SIDED) {
        COMPLEX z = complex_at(at, is_there(k));
        return k == 0u ? COMPLEX(vx_scaled(z, REAL(0.5)).x, 0.0) : z;
    }
    bool mirrored = LOAD == HALF_SPECTRUM || 2u * k > arguments.points;
    uint other = mirrored ? arguments.points - k : k;
    COMPLEX far = complex_at(at + (int(other) - int(k)) * (arguments.a_step / int(arguments.places)), is_there(other));
    if (k == 0u) far.y = REAL(0.0);
    if (mirrored) far.y = -far.y;
    if (LOAD == HERMITIAN) return far;
    // X[k] + X[n + k] is the spectrum of the even points and, turned by the root, X[k] - X[n + k] that of the odd ones;
    // X[n + k] is the conjugate of X[n - k].
    COMPLEX near = complex_at(at, is_there(k));
    if (k == 0u) near.y = REAL(0.0);
    COMPLEX odd = vx_product(near - far, vx_conjugate(Complexes(arguments.spectrum_roots).data[k]));
    return COMPLEX(near.x + far.x - odd.y, near.y + far.y + odd.x);
}

// exp(-2 pi i k / n) for n = places * LENGTH: the table has the roots of k = 0, FINE, 2 FINE, ... after those below FINE.
#define FINE 4096u
COMPLEX root_between_passes(uint k) {
    return vx_product(Complexes(arguments.in_table).data[k % FINE], Complexes(arguments.in_table).data[FINE + k / FINE]);
}

COMPLEX load(Line line, uint j) {
    bool mirrored = LOAD == CONJUGATES && 2u * j > LENGTH;
    if (mirrored) j = LENGTH - j;
    uint k = line.place + j * arguments.places;
    if ((FACTORS & PADDED) != 0u && k >= arguments.points) return COMPLEX(0.0);
    COMPLEX z = element(line, j, k);
    if (is_set(SWAP_IN)) z = z.yx;
    if ((FACTORS & TABLE_IN) != 0u) z = vx_product(z, Complexes(arguments.in_table).data[k]);
    if ((FACTORS & TABLES_IN) != 0u) z = vx_product(z, root_between_passes(j * line.place));
    return mirrored ? vx_conjugate(z) : z;
}

// An element of a row: of complex elements side by side, all of which there are and which are loaded as they are. Several
// of them at constant distances from one address take fewer registers than an offset for each.
COMPLEX row_element(uvec2 from, uint distance) {
    COMPLEX z = Complexes(from).data[distance];
    if (is_set(CONJUGATE_IN)) z = vx_conjugate(z);
    return is_set(SWAP_IN) ? z.yx : z;
}

void store_in_row(uvec2 to, uint distance, COMPLEX z) {
    if ((FACTORS & SCALED) != 0u) z = vx_scaled(z, arguments.scale);
    if (is_set(SWAP_OUT)) z = z.yx;
    Complexes(to).data[distance] = is_set(CONJUGATE_OUT) ? vx_conjugate(z) : z;
}

void store(Line line, uint j, COMPLEX z) {
    uint k = line.place + j * arguments.places;
    if ((FACTORS & CUT) != 0u && (STORE == REAL_PAIRS ? 2u * k : k) >= arguments.r_count) return;
    bool mirrored = STORE == HERMITIAN && 2u * k > arguments.points;
    if (mirrored && k % ODD == 0u) return;  // the conjugate is there too
    if ((FACTORS & TABLE_OUT) != 0u) {
        COMPLEX factor = Complexes(ROUNDS > 1u ? arguments.in_table : arguments.out_table).data[k];
        z = vx_product(z, is_set(CONJUGATE_TABLE) ? vx_conjugate(factor) : factor);
    }
    if ((FACTORS & SCALED) != 0u) z = vx_scaled(z, arguments.scale);
    if (is_set(SWAP_OUT)) z = z.yx;
    if (is_set(CONJUGATE_OUT) != mirrored) z = vx_conjugate(z);
    int at = line.r + int(j) * arguments.r_step;
    if (mirrored) at += (int(arguments.points) - 2 * int(k)) * (arguments.r_step / int(arguments.places));
    if (STORE == COMPLEX_ELEMENTS || STORE == HERMITIAN) {
        Complexes(arguments.r).data[at] = z;
    } else {
        Reals(arguments.r).data[at] = z.x;
        if (STORE == REAL_PAIRS && ((FACTORS & CUT) == 0u || 2u * k + 1u < arguments.r_count)) {
            Reals(arguments.r).data[at + arguments.r_step / int(2u * arguments.places)] = z.y;
        }
    }
}

// Results k and LENGTH - k of a half spectrum from elements k and LENGTH - k of the transform of pairs.
void store_half(Line line, uint k, COMPLEX near, COMPLEX far, COMPLEX root) {
    COMPLEX both[2];
    vx_unfold(near, far, root, both[0], both[1]);
    if (k == 0u) both[0].y = both[1].y = REAL(0);  // real, whatever the signs of zeros
    EACH(end, 0, 2) {
        COMPLEX z = both[end];
        if ((FACTORS & SCALED) != 0u) z = vx_scaled(z, arguments.scale);
        int at = line.r + int(end == 0 ? k : LENGTH - k) * arguments.r_step;
        Complexes(arguments.r).data[at] = is_set(CONJUGATE_OUT) ? vx_conjugate(z) : z;
    }
}

#endif
