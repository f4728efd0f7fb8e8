// A pass of transforms whose lines are shared by the invocations of a workgroup: they transform a line in Stockham's pattern
// again, with up to five radices up to 16, and meet in shared memory: with the real parts first and the imaginary parts then,
// since more workgroups find room that way. The radices are powers of two, or with MIXED any. The pass itself:
// lib/fft_pass.glsl.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/address.glsl"
#include "lib/fft_shared.glsl"
#include "lib/fft_pass.glsl"

layout(constant_id = 8) const uint RADIX_0 = 1u;
layout(constant_id = 9) const uint RADIX_1 = 1u;
layout(constant_id = 10) const uint RADIX_2 = 1u;
layout(constant_id = 11) const uint RADIX_3 = 1u;
layout(constant_id = 12) const uint RADIX_4 = 1u;
const uint STAGES = 1u + uint(RADIX_1 > 1u) + uint(RADIX_2 > 1u) + uint(RADIX_3 > 1u) + uint(RADIX_4 > 1u);

// Elements in shared memory, with a gap after each 32 so that strides of powers of two meet different banks. The gaps of
// a sum are the sum of those of its terms where these have no bits in common, and one of them is a constant.
uint padded(uint place) { return place + place / 32u; }
#ifdef MIXED
#define PADDED_SUM(place, step) padded((place) + (step))
#else
#define PADDED_SUM(place, step) (padded(place) + padded(step))
#endif

#define PITCH (LENGTH + LENGTH / 32u | 1u)
shared REAL exchange[PITCH * LINES];

#ifdef DOUBLE
#define COMPLEX_BYTES 16
#else
#define COMPLEX_BYTES 8
#endif

// An invocation holds up to VALUES elements of its line (all of a shorter one). Butterfly number b has value[b radix ...],
// which are the elements member + b MEMBERS + r LENGTH / radix, where there are so many.
#define VALUES 16
COMPLEX value[VALUES];

#define EACH_BUTTERFLY(radix)                                                                \
    [[unroll]] for (uint b = 0u; b < (LENGTH / (radix) + MEMBERS - 1u) / MEMBERS; ++b)       \
        if (LENGTH / (radix) % MEMBERS == 0u || member + b * MEMBERS < LENGTH / (radix))
#define EACH_VALUE(radix) [[unroll]] for (uint r = 0u; r < (radix); ++r)

// Those that are not among the radices are left out by drivers.
#define IN_REGISTERS(N)                                                                                      \
    case N:                                                                                                  \
        if (RADIX_0 == N || RADIX_1 == N || RADIX_2 == N || RADIX_3 == N || RADIX_4 == N) EACH_BUTTERFLY(N) { \
            COMPLEX v[N];                                                                                    \
            EACH(r, 0, N) v[r] = value[b * N + uint(r)];                                                     \
            vx_dft_##N(v);                                                                                   \
            EACH(r, 0, N) value[b * N + uint(r)] = v[r];                                                     \
        }                                                                                                    \
        break;

void transform(uint stage, uint member) {
    switch (stage == 0u ? RADIX_0 : stage == 1u ? RADIX_1 : stage == 2u ? RADIX_2 : stage == 3u ? RADIX_3 : RADIX_4) {
        IN_REGISTERS(2) IN_REGISTERS(4) IN_REGISTERS(8) IN_REGISTERS(16)
#ifdef MIXED
        IN_REGISTERS(3) IN_REGISTERS(5) IN_REGISTERS(6) IN_REGISTERS(7) IN_REGISTERS(9) IN_REGISTERS(10)
        IN_REGISTERS(11) IN_REGISTERS(12) IN_REGISTERS(13) IN_REGISTERS(14) IN_REGISTERS(15)
#endif
    }
}

// The parts of the results of a radix, after `before` elements have been transformed.
void put(int part, uint radix, uint before, uint member, uint own) {
    EACH_BUTTERFLY(radix) {
        uint j = member + b * MEMBERS;
        uint place = j / before * (before * radix) + j % before;
        EACH_VALUE(radix) exchange[own * PITCH + PADDED_SUM(place, r * before)] = value[b * radix + r][part];
    }
}

// The parts of the elements of the next radix.
void take(int part, uint radix, uint member, uint own) {
    EACH_BUTTERFLY(radix) {
        uint place = member + b * MEMBERS;
        EACH_VALUE(radix) value[b * radix + r][part] = exchange[own * PITCH + PADDED_SUM(place, r * (LENGTH / radix))];
    }
}

// Short lines that lie side by side come and go as one, element after element: neighbours take neighbours.
#define EACH_FLAT                                                                                       \
    [[unroll]] for (uint n = 0u, place = gl_LocalInvocationIndex; n < (LENGTH + MEMBERS - 1u) / MEMBERS; \
                    ++n, place += MEMBERS * LINES)                                                       \
        if (place < LENGTH * LINES)

void put_flat(int part) { EACH_FLAT exchange[place / LENGTH * PITCH + padded(place % LENGTH)] = value[n][part]; }
void take_flat(int part) { EACH_FLAT value[n][part] = exchange[place / LENGTH * PITCH + padded(place % LENGTH)]; }

// The parts of results k and LENGTH - k, for a half spectrum.
#define EACH_PAIR [[unroll]] for (uint n = 0u, k = member; n <= LENGTH / 2u / MEMBERS; ++n, k += MEMBERS) if (k <= LENGTH / 2u)
COMPLEX near[VALUES / 2 + 1], far[VALUES / 2 + 1], pair_root[VALUES / 2 + 1];

void take_pairs(int part, uint member, uint own) {
    EACH_PAIR {
        near[n][part] = exchange[own * PITCH + padded(k)];
        far[n][part] = exchange[own * PITCH + padded((LENGTH - k) % LENGTH)];
    }
}

#define EXCHANGE(PUT, TAKE) \
    barrier();              \
    PUT(0);                 \
    barrier();              \
    TAKE(0);                \
    barrier();              \
    PUT(1);                 \
    barrier();              \
    TAKE(1);

#define PUT_RESULTS(part) put(part, radix, before, member, own)
#define TAKE_ELEMENTS(part) take(part, next, to_member, to_own)
#define TAKE_PAIRS(part) take_pairs(part, member, own)

// The roots between radices.
COMPLEX root[VALUES];

void fetch_roots(uint radix, uint before, uint roots, uint member) {
    EACH_BUTTERFLY(radix) {
        // From an address of their own, the roots lie at constant distances.
        uvec2 own_roots = vx_address(push.line_roots, roots + (member + b * MEMBERS) % before, COMPLEX_BYTES);
        [[unroll]] for (uint r = 1u; r < radix; ++r) root[b * radix + r] = Complexes(own_roots).data[r * before];
    }
}

void turn(uint radix, uint member) {
    EACH_BUTTERFLY(radix) {
        [[unroll]] for (uint r = 1u; r < radix; ++r) {
            value[b * radix + r] = vx_product(value[b * radix + r], root[b * radix + r]);
        }
    }
}

// The elements times the spectrum of what a convolution is with, their parts swapped for the inverse transform.
void convolve(uint radix, uint member) {
    EACH_BUTTERFLY(radix) {
        EACH_VALUE(radix) {
            uint k = member + b * MEMBERS + r * (LENGTH / radix);
            value[b * radix + r] = vx_product(value[b * radix + r], Complexes(push.out_table).data[k]).yx;
        }
    }
}

// Lines of mixed lengths and doubles lack the registers to have roots fetched before they meet.
#if !defined(MIXED) && !defined(DOUBLE)
#define FETCH_EARLY(X) X
#define FETCH_LATE(X)
#else
#define FETCH_EARLY(X)
#define FETCH_LATE(X) X
#endif

// The results of one radix go to shared memory from where `member` and `own` say, then come as the next radix wants them.
#define MEET(STAGE, RADIX, BEFORE, NEXT, ROOTS)                     \
    case STAGE:                                                     \
        if (NEXT > 1u) {                                            \
            const uint radix = RADIX, before = BEFORE, next = NEXT; \
            FETCH_EARLY(fetch_roots(next, before * radix, ROOTS, to_member);) \
            EXCHANGE(PUT_RESULTS, TAKE_ELEMENTS)                    \
            member = to_member;                                     \
            own = to_own;                                           \
            FETCH_LATE(fetch_roots(next, before * radix, ROOTS, member);) \
            turn(next, member);                                     \
        }                                                           \
        break;

void main() {
    uint first = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * LINES;
    uint member, own, to_member, to_own;
    find_member(COLUMNS & COLUMNS_IN, member, own);
    find_member(COLUMNS & COLUMNS_OUT, to_member, to_own);
    if ((COLUMNS & FLAT) != 0u) {
        const uint next = RADIX_0;
        EACH_FLAT if (first + place / LENGTH < push.lines) value[n] = load(find_line(first + place / LENGTH), place % LENGTH);
        EXCHANGE(put_flat, TAKE_ELEMENTS)
    } else if (first + own < push.lines) {
        Line line = find_line(first + own);
        EACH_BUTTERFLY(RADIX_0) {
            EACH_VALUE(RADIX_0) value[b * RADIX_0 + r] = load(line, member + b * MEMBERS + r * (LENGTH / RADIX_0));
        }
    }
    const uint radix =
        RADIX_4 > 1u ? RADIX_4 : RADIX_3 > 1u ? RADIX_3 : RADIX_2 > 1u ? RADIX_2 : RADIX_1 > 1u ? RADIX_1 : RADIX_0;
    const uint before = LENGTH / radix;
    // A loop, so that a driver has each radix to compile once; where it is unrolled, as is better, only those that are used.
    [[unroll]] for (uint step = 0u; step < STAGES * ROUNDS; ++step) {
        uint stage = step % STAGES;
        switch (stage) {
            MEET(1u, RADIX_0, 1u, RADIX_1, 0u)
            MEET(2u, RADIX_1, RADIX_0, RADIX_2, RADIX_0 * RADIX_1)
            MEET(3u, RADIX_2, RADIX_0 * RADIX_1, RADIX_3, RADIX_0 * RADIX_1 * (1u + RADIX_2))
            MEET(4u, RADIX_3, RADIX_0 * RADIX_1 * RADIX_2, RADIX_4, RADIX_0 * RADIX_1 * (1u + RADIX_2 * (1u + RADIX_3)))
        }
        if (ROUNDS > 1u && step == STAGES) {
            const uint next = RADIX_0;
            EXCHANGE(PUT_RESULTS, TAKE_ELEMENTS)
            member = to_member;
            own = to_own;
            convolve(next, member);
        }
        transform(stage, member);
    }
    if (STORE == HALF_SPECTRUM) {
        EXCHANGE(PUT_RESULTS, TAKE_PAIRS)
        EACH_PAIR pair_root[n] = Complexes(push.spectrum_roots).data[k];
    } else if ((COLUMNS & FLAT) != 0u) {
        EXCHANGE(PUT_RESULTS, take_flat)
        EACH_FLAT if (first + place / LENGTH < push.lines) store(find_line(first + place / LENGTH), place % LENGTH, value[n]);
        return;
    }
    if (first + own >= push.lines) return;
    Line line = find_line(first + own);
    if (STORE == HALF_SPECTRUM) {
        EACH_PAIR store_half(line, k, near[n], far[n], pair_root[n]);
        return;
    }
    EACH_BUTTERFLY(radix) {
        EACH_VALUE(radix) store(line, member + b * MEMBERS + r * (LENGTH / radix), value[b * radix + r]);
    }
}
