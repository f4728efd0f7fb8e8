// One pass of a discrete Fourier transform: lines of LENGTH elements are transformed, v[k] = sum of v[j] exp(-2 pi i j k / LENGTH).
//
// A transform that is one line is done in a pass. A longer one of n = LENGTH * rest points takes several, each after
// Stockham's pattern (Cochran et al., Proc. IEEE 55, 1967; Van Loan, Computational Frameworks for the FFT, 1992), in which
// no reordering remains: after passes that have transformed BEFORE = L points, line (i, q), q < L, takes the elements
// i L + q + j n / LENGTH, multiplies them by exp(-2 pi i j q / (L LENGTH)), and its results go to (i LENGTH + k) L + q. The
// numbers i and q are dimensions of `layout_` as those of the batch are, so all arrays may have any strides.
//
// SHARED: MEMBERS invocations share a line, which they transform in the same pattern with radices up to 16, meeting in
// shared memory. Otherwise an invocation takes a line of up to 16 elements, for CPU drivers.
// The inverse transform swaps real and imaginary parts on the way in and on the way out.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/fft_roots.glsl"
#include "lib/fft_radix.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LOAD = 0u;
layout(constant_id = 2) const uint STORE = 0u;
layout(constant_id = 3) const uint FACTORS = 0u;  // what elements are multiplied by, on the way in and out
#ifdef SHARED
layout(constant_id = 4) const uint LENGTH = 1u;
layout(constant_id = 5) const uint MEMBERS = 1u;
layout(constant_id = 6) const uint LINES = 1u;    // of a workgroup
layout(constant_id = 7) const uint COLUMNS = 0u;  // on the way in and out: lines lie closer together than their elements
layout(constant_id = 8) const uint RADIX_0 = 1u;
layout(constant_id = 9) const uint RADIX_1 = 1u;
layout(constant_id = 10) const uint RADIX_2 = 1u;
layout(constant_id = 11) const uint RADIX_3 = 1u;
#endif

// How the elements of a transform lie in memory: LOAD
#define COMPLEX_ELEMENTS 0u
#define REAL_ELEMENTS 1u
#define REAL_PAIRS 2u     // element k has the parts 2 k and 2 k + 1
#define HALF_SPECTRUM 3u  // of 2 n real points, made into one of n pairs of them
#define HERMITIAN 4u      // the first half of a spectrum that is symmetric
// and STORE: COMPLEX_ELEMENTS, REAL_ELEMENTS (the real parts alone) or REAL_PAIRS.

// FACTORS
#define TABLE_IN 1u        // loaded elements are multiplied by a table: the roots between passes, or a chirp
#define TWIDDLES_FOUND 2u  // by the roots between passes, computed on the spot
#define TABLE_OUT 4u       // results are multiplied by a table

// `mode`
#define SWAP_IN 1u
#define SWAP_OUT 2u
#define CONJUGATE_IN 4u
#define CONJUGATE_OUT 8u
#define CONJUGATE_TABLE 16u  // the table of the results

layout(buffer_reference, scalar) buffer Reals { REAL data[]; };
layout(buffer_reference, scalar) buffer Complexes { COMPLEX data[]; };
layout(buffer_reference, scalar) readonly buffer Metadata { int data[]; };

#define LAYOUT_WORDS 10
layout(push_constant, scalar) uniform Push {
    uvec2 a, r;
    uvec2 line_roots;     // between the radices of a line
    uvec2 in_table, out_table;
    uvec2 spectrum_roots; // exp(-2 pi i k / (2 n)) for a HALF_SPECTRUM
    REAL scale;
    uint lines;
    uint points;          // n of the transform whose elements are loaded and stored
    uint a_count;         // elements of a that there are: the transform takes zeros beyond them
    uint r_count;         // elements of r that are wanted
    uint places;          // lines of a transform in its first pass, L in all others
    uint mode;            // flags; in the second byte the dimension of `layout_` that counts places, in the third the rank
    int a_step, r_step;   // between the elements of a line
    int layout_[LAYOUT_WORDS];  // sizes of the dimensions of the batch of lines; strides in a; strides in r
} push;

uint rank() { return push.mode >> 16; }

int layout_at(uint row, uint axis) {
    uint at = row * rank() + axis;
    if (3u * rank() <= uint(LAYOUT_WORDS)) return push.layout_[at];
    return Metadata(uvec2(push.layout_[0], push.layout_[1])).data[at];
}

struct Line { int a, r; uint place; };

Line find_line(uint index) {
    Line line = Line(0, 0, 0u);
    for (int axis = int(rank()) - 1; axis >= 0; --axis) {
        uint position = index;
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = index / size;
            position = index - quotient * size;
            index = quotient;
        }
        line.a += int(position) * layout_at(1u, uint(axis));
        line.r += int(position) * layout_at(2u, uint(axis));
        if (axis == int(push.mode >> 8 & 0xFFu)) line.place = position;
    }
    return line;
}

bool is_set(uint flag) { return (push.mode & flag) != 0u; }

COMPLEX complex_at(int offset, bool present) {
    COMPLEX z = present ? Complexes(push.a).data[offset] : COMPLEX(0.0);
    return is_set(CONJUGATE_IN) ? vx_conjugate(z) : z;
}

REAL real_at(int offset, bool present) { return present ? Reals(push.a).data[offset] : REAL(0.0); }

// Element j of a line, which is element k of the transform.
COMPLEX element(Line line, uint j, uint k) {
    int at = line.a + int(j) * push.a_step;
    if (LOAD == REAL_ELEMENTS) return COMPLEX(real_at(at, k < push.a_count), 0.0);
    if (LOAD == REAL_PAIRS) {
        int next = at + push.a_step / int(2u * push.places);
        return COMPLEX(real_at(at, 2u * k < push.a_count), real_at(next, 2u * k + 1u < push.a_count));
    }
    if (LOAD == COMPLEX_ELEMENTS) return complex_at(at, k < push.a_count);
    if (k >= push.points) return COMPLEX(0.0);
    bool mirrored = LOAD == HALF_SPECTRUM || 2u * k > push.points;
    uint other = mirrored ? push.points - k : k;
    COMPLEX far = complex_at(at + (int(other) - int(k)) * (push.a_step / int(push.places)), other < push.a_count);
    if (k == 0u) far.y = REAL(0.0);
    if (mirrored) far.y = -far.y;
    if (LOAD == HERMITIAN) return far;
    // X[k] + X[n + k] is the spectrum of the even points and, turned by the root, X[k] - X[n + k] that of the odd ones;
    // X[n + k] is the conjugate of X[n - k].
    COMPLEX near = complex_at(at, k < push.a_count);
    if (k == 0u) near.y = REAL(0.0);
    COMPLEX odd = vx_product(near - far, vx_conjugate(Complexes(push.spectrum_roots).data[k]));
    return COMPLEX(near.x + far.x - odd.y, near.y + far.y + odd.x);
}

COMPLEX load(Line line, uint j) {
    uint k = line.place + j * push.places;
    COMPLEX z = element(line, j, k);
    if (is_set(SWAP_IN)) z = z.yx;
    if ((FACTORS & TABLE_IN) != 0u) z = vx_product(z, Complexes(push.in_table).data[k]);
    if ((FACTORS & TWIDDLES_FOUND) != 0u) z = vx_product(z, vx_root(j * line.place, push.places * LENGTH));
    return z;
}

void store(Line line, uint j, COMPLEX z) {
    uint k = line.place + j * push.places;
    if ((STORE == REAL_PAIRS ? 2u * k : k) >= push.r_count) return;
    if ((FACTORS & TABLE_OUT) != 0u) {
        COMPLEX factor = Complexes(push.out_table).data[k];
        z = vx_product(z, is_set(CONJUGATE_TABLE) ? vx_conjugate(factor) : factor);
    }
    z = vx_scaled(z, push.scale);
    if (is_set(SWAP_OUT)) z = z.yx;
    if (is_set(CONJUGATE_OUT)) z = vx_conjugate(z);
    int at = line.r + int(j) * push.r_step;
    if (STORE == COMPLEX_ELEMENTS) {
        Complexes(push.r).data[at] = z;
    } else {
        Reals(push.r).data[at] = z.x;
        if (STORE == REAL_PAIRS && 2u * k + 1u < push.r_count) {
            Reals(push.r).data[at + push.r_step / int(2u * push.places)] = z.y;
        }
    }
}

#define EACH_VALUE(radix) [[unroll]] for (uint r = 0u; r < (radix); ++r)

#ifndef SHARED
#define DFT_(length) vx_dft_##length
#define DFT(length) DFT_(length)

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.lines) return;
    Line line = find_line(index);
    COMPLEX value[LENGTH];
    EACH_VALUE(LENGTH) value[r] = load(line, r);
    DFT(LENGTH)(value);
    EACH_VALUE(LENGTH) store(line, r, value[r]);
}
#else
// Elements of a line in shared memory, with a gap after each 16 so that strides of powers of two meet different banks.
uint padded(uint place) { return place + place / 16u; }

#define PITCH (LENGTH + LENGTH / 16u | 1u)
shared COMPLEX exchange[PITCH * LINES];

// Butterfly number b of an invocation holds value[b radix ... b radix + radix - 1], which are of the elements of its line
// those with numbers member + b MEMBERS + r LENGTH / radix.
COMPLEX value[32];

#define EACH_BUTTERFLY(radix)                                                                        \
    [[unroll]] for (uint b = 0u; b < (LENGTH / (radix) + MEMBERS - 1u) / MEMBERS; ++b)               \
        if (LENGTH / (radix) % MEMBERS == 0u || member + b * MEMBERS < LENGTH / (radix))

#define IN_REGISTERS(N)                                                                              \
    case N: {                                                                                        \
        COMPLEX v[N];                                                                                \
        EACH(r, 0, N) v[r] = value[first + uint(r)];                                                 \
        vx_dft_##N(v);                                                                               \
        EACH(r, 0, N) value[first + uint(r)] = v[r];                                                 \
        break;                                                                                       \
    }

void transform(uint radix, uint first) {
    switch (radix) {
        IN_REGISTERS(2) IN_REGISTERS(4) IN_REGISTERS(8) IN_REGISTERS(16)
#ifndef POWER_OF_TWO
        IN_REGISTERS(3) IN_REGISTERS(5) IN_REGISTERS(6) IN_REGISTERS(7) IN_REGISTERS(9) IN_REGISTERS(10)
        IN_REGISTERS(11) IN_REGISTERS(12) IN_REGISTERS(13) IN_REGISTERS(14) IN_REGISTERS(15)
#endif
    }
}

void put(uint radix, uint before, uint member, uint start) {
    EACH_BUTTERFLY(radix) {
        uint j = member + b * MEMBERS;
        uint place = j / before * (before * radix) + j % before;
        EACH_VALUE(radix) exchange[start + padded(place + r * before)] = value[b * radix + r];
    }
}

void take(uint radix, uint before, uint roots, uint member, uint start) {
    EACH_BUTTERFLY(radix) {
        uint j = member + b * MEMBERS;
        EACH_VALUE(radix) {
            COMPLEX z = exchange[start + padded(j + r * (LENGTH / radix))];
            if (r > 0u) z = vx_product(z, Complexes(push.line_roots).data[roots + r * before + j % before]);
            value[b * radix + r] = z;
        }
    }
}

void transform_all(uint radix, uint member) {
    EACH_BUTTERFLY(radix) transform(radix, b * radix);
}

// The first radix's results go to shared memory from where `member` and `start` say, then come as the second radix wants them.
#define MEET(NEXT, RADIX, BEFORE, ROOTS)                                     \
    if (NEXT > 1u) {                                                         \
        put(RADIX, BEFORE, member, start);                                   \
        barrier();                                                           \
        find_member(COLUMNS & COLUMNS_OUT, member, own, start);              \
        take(NEXT, (BEFORE) * RADIX, ROOTS, member, start);                  \
        transform_all(NEXT, member);                                         \
        barrier();                                                           \
    }

#define COLUMNS_IN 1u
#define COLUMNS_OUT 2u

void find_member(uint columns, out uint member, out uint own, out uint start) {
    uint local = gl_LocalInvocationIndex;
    member = columns != 0u ? local / LINES : local % MEMBERS;
    own = columns != 0u ? local % LINES : local / MEMBERS;
    start = own * PITCH;
}

const uint BEFORE_1 = RADIX_0, BEFORE_2 = BEFORE_1 * RADIX_1, BEFORE_3 = BEFORE_2 * RADIX_2;
const uint ROOTS_2 = BEFORE_2, ROOTS_3 = ROOTS_2 + BEFORE_3;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint member, own, start;
    find_member(COLUMNS & COLUMNS_IN, member, own, start);
    uint index = group * LINES + own;
    if (index < push.lines) {
        Line line = find_line(index);
        EACH_BUTTERFLY(RADIX_0) {
            EACH_VALUE(RADIX_0) value[b * RADIX_0 + r] = load(line, member + b * MEMBERS + r * (LENGTH / RADIX_0));
        }
    }
    transform_all(RADIX_0, member);
    MEET(RADIX_1, RADIX_0, 1u, 0u)
    MEET(RADIX_2, RADIX_1, BEFORE_1, ROOTS_2)
#ifndef POWER_OF_TWO
    MEET(RADIX_3, RADIX_2, BEFORE_2, ROOTS_3)
#endif
    index = group * LINES + own;
    if (index >= push.lines) return;
    Line line = find_line(index);
    uint radix = RADIX_3 > 1u ? RADIX_3 : RADIX_2 > 1u ? RADIX_2 : RADIX_1 > 1u ? RADIX_1 : RADIX_0;
    EACH_BUTTERFLY(radix) {
        EACH_VALUE(radix) store(line, member + b * MEMBERS + r * (LENGTH / radix), value[b * radix + r]);
    }
}
#endif
