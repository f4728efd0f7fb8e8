// A pass of transforms whose lines are shared by the invocations of a workgroup: they transform a line in Stockham's pattern
// again, with up to five radices up to 25, and meet in shared memory: with the real parts first and the imaginary parts then,
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

// Elements in shared memory, with gaps so that neighbours meet different banks. Powers of two have one after each 32;
// other lengths some after each block that a radix has transformed, for each exchange as many as are best. The gaps of a sum
// are the sum of those of its terms where one of them has whole blocks, or no bits in common with the other. (As a macro,
// since drivers take long for functions.)
#ifdef MIXED
#define SPACED(place, block, gap) ((place) + (place) / (block) * (gap))
#else
#define SPACED(place, block, gap) ((place) + (place) / 32u)
#endif
layout(constant_id = 16) const uint PITCH = 1u;  // elements of a line, with all gaps
layout(constant_id = 17) const uint GAP_0 = 0u;
layout(constant_id = 18) const uint GAP_1 = 0u;
layout(constant_id = 19) const uint GAP_2 = 0u;
layout(constant_id = 20) const uint GAP_3 = 0u;

// A workgroup takes so many sets of LINES lines, one after the other, and fetches the next one while it transforms.
layout(constant_id = 21) const uint SETS = 1u;

// Whether lines are rows: see row_element and store_in_row.
layout(constant_id = 22) const uint ROWS = 0u;
#define ROWS_IN 1u
#define ROWS_OUT 2u

shared REAL exchange[PITCH * LINES];

#ifdef DOUBLE
#define COMPLEX_BYTES 16
#else
#define COMPLEX_BYTES 8
#endif

// An invocation holds up to VALUES elements of its line (all of a shorter one). Butterfly number b has value[b radix ...],
// which are the elements member + b MEMBERS + r LENGTH / radix, where there are so many.
#define VALUES 25
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
        IN_REGISTERS(11) IN_REGISTERS(12) IN_REGISTERS(13) IN_REGISTERS(14) IN_REGISTERS(15) IN_REGISTERS(25)
#endif
    }
}

// The parts of the results of a radix, after `before` elements have been transformed.
void put(int part, uint radix, uint before, uint gap, uint member, uint own) {
    const uint block = before * radix;
    EACH_BUTTERFLY(radix) {
        uint j = member + b * MEMBERS;
        uint place = j / before * block + j % before;
        place = own * PITCH + SPACED(place, block, gap);
        EACH_VALUE(radix) exchange[place + SPACED(r * before, block, gap)] = value[b * radix + r][part];
    }
}

// The parts of the elements of the next radix.
void take(int part, uint radix, uint block, uint gap, uint member, uint own) {
    EACH_BUTTERFLY(radix) {
        uint place = member + b * MEMBERS;
        place = own * PITCH + SPACED(place, block, gap);
        EACH_VALUE(radix) value[b * radix + r][part] = exchange[place + SPACED(r * (LENGTH / radix), block, gap)];
    }
}

// Short lines that lie side by side come and go as one, element after element: neighbours take neighbours.
#define EACH_FLAT                                                                                       \
    [[unroll]] for (uint n = 0u, place = gl_LocalInvocationIndex; n < (LENGTH + MEMBERS - 1u) / MEMBERS; \
                    ++n, place += MEMBERS * LINES)                                                       \
        if (place < LENGTH * LINES)

void put_flat(int part) { EACH_FLAT exchange[place / LENGTH * PITCH + SPACED(place % LENGTH, LENGTH, 0u)] = value[n][part]; }
void take_flat(int part) { EACH_FLAT value[n][part] = exchange[place / LENGTH * PITCH + SPACED(place % LENGTH, LENGTH, 0u)]; }

// The parts of results k and LENGTH - k, for a half spectrum.
#define EACH_PAIR [[unroll]] for (uint n = 0u, k = member; n <= LENGTH / 2u / MEMBERS; ++n, k += MEMBERS) if (k <= LENGTH / 2u)
COMPLEX near[VALUES / 2 + 1], far[VALUES / 2 + 1], pair_root[VALUES / 2 + 1];

void take_pairs(int part, uint member, uint own) {
    EACH_PAIR {
        near[n][part] = exchange[own * PITCH + SPACED(k, LENGTH, 0u)];
        far[n][part] = exchange[own * PITCH + SPACED((LENGTH - k) % LENGTH, LENGTH, 0u)];
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

#define PUT_RESULTS(part) put(part, radix, before, gap, member, own)
#define TAKE_ELEMENTS(part) take(part, next, before * radix, gap, to_member, to_own)
#define TAKE_FIRST(part) take(part, RADIX_0, LENGTH, 0u, to_member, to_own)
#define TAKE_PAIRS(part) take_pairs(part, member, own)

// The roots between radices.
COMPLEX root[VALUES];

void fetch_roots(uint radix, uint before, uint roots, uint member) {
    EACH_BUTTERFLY(radix) {
        // From an address of their own, the roots lie at constant distances.
        uvec2 own_roots = vx_address(arguments.line_roots, roots + (member + b * MEMBERS) % before, COMPLEX_BYTES);
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
            value[b * radix + r] = vx_product(value[b * radix + r], Complexes(arguments.out_table).data[k]).yx;
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
#define MEET(STAGE, RADIX, BEFORE, GAP, NEXT, ROOTS)                           \
    case STAGE:                                                                \
        if (NEXT > 1u) {                                                       \
            const uint radix = RADIX, before = BEFORE, gap = GAP, next = NEXT; \
            FETCH_EARLY(fetch_roots(next, before * radix, ROOTS, to_member);)  \
            EXCHANGE(PUT_RESULTS, TAKE_ELEMENTS)                               \
            member = to_member;                                                \
            own = to_own;                                                      \
            FETCH_LATE(fetch_roots(next, before * radix, ROOTS, member);)      \
            turn(next, member);                                                \
        }                                                                      \
        break;

// The elements of the next set of lines.
COMPLEX coming[VALUES];

void fetch(uint first, uint member, uint own) {
    if ((COLUMNS & FLAT) != 0u) {
        EACH_FLAT if (first + place / LENGTH < arguments.lines) coming[n] = load(find_line(first + place / LENGTH), place % LENGTH);
    } else if (first + own < arguments.lines) {
        Line line = find_line(first + own);
        EACH_BUTTERFLY(RADIX_0) {
            uint j = member + b * MEMBERS;
            if ((ROWS & ROWS_IN) != 0u) {
                uvec2 from = vx_address(arguments.a, line.a + int(j), COMPLEX_BYTES);
                EACH_VALUE(RADIX_0) coming[b * RADIX_0 + r] = row_element(from, r * (LENGTH / RADIX_0));
            } else {
                EACH_VALUE(RADIX_0) coming[b * RADIX_0 + r] = load(line, j + r * (LENGTH / RADIX_0));
            }
        }
    }
}

void main() {
    uint first = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * (LINES * SETS);
    uint from_member, from_own, to_member, to_own;
    find_member(COLUMNS & COLUMNS_IN, from_member, from_own);
    find_member(COLUMNS & COLUMNS_OUT, to_member, to_own);
    const uint radix =
        RADIX_4 > 1u ? RADIX_4 : RADIX_3 > 1u ? RADIX_3 : RADIX_2 > 1u ? RADIX_2 : RADIX_1 > 1u ? RADIX_1 : RADIX_0;
    const uint before = LENGTH / radix, gap = 0u;
    fetch(first, from_member, from_own);
    [[dont_unroll]] for (uint set = 0u; set < SETS; ++set, first += LINES) {
        uint member = from_member, own = from_own;
        EACH_VALUE(VALUES) value[r] = coming[r];
        if ((COLUMNS & FLAT) != 0u) {
            EXCHANGE(put_flat, TAKE_FIRST)
        }
        // A loop, so that a driver has each radix to compile once; where it is unrolled, as is better, only those that are used.
        [[unroll]] for (uint step = 0u; step < STAGES * ROUNDS; ++step) {
            uint stage = step % STAGES;
            switch (stage) {
                MEET(1u, RADIX_0, 1u, GAP_0, RADIX_1, 0u)
                MEET(2u, RADIX_1, RADIX_0, GAP_1, RADIX_2, RADIX_0 * RADIX_1)
                MEET(3u, RADIX_2, RADIX_0 * RADIX_1, GAP_2, RADIX_3, RADIX_0 * RADIX_1 * (1u + RADIX_2))
                MEET(4u, RADIX_3, RADIX_0 * RADIX_1 * RADIX_2, GAP_3, RADIX_4, RADIX_0 * RADIX_1 * (1u + RADIX_2 * (1u + RADIX_3)))
            }
            if (ROUNDS > 1u && step == STAGES) {
                EXCHANGE(PUT_RESULTS, TAKE_FIRST)
                member = to_member;
                own = to_own;
                convolve(RADIX_0, member);
            }
            // After the first meeting, since memory is busy with this set until then.
            if (SETS > 1u && step == 1u && set + 1u < SETS) fetch(first + LINES, from_member, from_own);
            transform(stage, member);
        }
        if (STORE == HALF_SPECTRUM) {
            EXCHANGE(PUT_RESULTS, TAKE_PAIRS)
            EACH_PAIR pair_root[n] = Complexes(arguments.spectrum_roots).data[k];
        } else if ((COLUMNS & FLAT) != 0u) {
            EXCHANGE(PUT_RESULTS, take_flat)
            EACH_FLAT if (first + place / LENGTH < arguments.lines) store(find_line(first + place / LENGTH), place % LENGTH, value[n]);
            continue;
        }
        if (first + own >= arguments.lines) continue;
        Line line = find_line(first + own);
        if (STORE == HALF_SPECTRUM) {
            EACH_PAIR store_half(line, k, near[n], far[n], pair_root[n]);
            continue;
        }
        EACH_BUTTERFLY(radix) {
            uint k = member + b * MEMBERS;
            if ((ROWS & ROWS_OUT) != 0u) {
                uvec2 to = vx_address(arguments.r, line.r + int(k), COMPLEX_BYTES);
                EACH_VALUE(radix) store_in_row(to, r * (LENGTH / radix), value[b * radix + r]);
            } else {
                EACH_VALUE(radix) store(line, k + r * (LENGTH / radix), value[b * radix + r]);
            }
        }
    }
}
