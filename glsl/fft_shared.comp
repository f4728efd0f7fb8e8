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

// An invocation holds up to 16 elements of its line (all of a shorter one). Butterfly number b has value[b radix ...], which
// are the elements member + b MEMBERS + r LENGTH / radix, where there are so many.
COMPLEX value[16];

#define EACH_BUTTERFLY(radix)                                                                \
    [[unroll]] for (uint b = 0u; b < (LENGTH / (radix) + MEMBERS - 1u) / MEMBERS; ++b)       \
        if (LENGTH / (radix) % MEMBERS == 0u || member + b * MEMBERS < LENGTH / (radix))
#define EACH_VALUE(radix) [[unroll]] for (uint r = 0u; r < (radix); ++r)

#define IN_REGISTERS(N)                                                                              \
    case N: {                                                                                        \
        COMPLEX v[N];                                                                                \
        EACH(r, 0, N) v[r] = value[first + uint(r)];                                                 \
        vx_dft_##N(v);                                                                               \
        EACH(r, 0, N) value[first + uint(r)] = v[r];                                                 \
        break;                                                                                       \
    }

void transform(uint radix, uint member) {
    EACH_BUTTERFLY(radix) {
        uint first = b * radix;
        switch (radix) {
            IN_REGISTERS(2) IN_REGISTERS(4) IN_REGISTERS(8) IN_REGISTERS(16)
#ifdef MIXED
            IN_REGISTERS(3) IN_REGISTERS(5) IN_REGISTERS(6) IN_REGISTERS(7) IN_REGISTERS(9) IN_REGISTERS(10)
            IN_REGISTERS(11) IN_REGISTERS(12) IN_REGISTERS(13) IN_REGISTERS(14) IN_REGISTERS(15)
#endif
        }
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

// The parts of results k and LENGTH - k, for a half spectrum.
#define EACH_PAIR [[unroll]] for (uint n = 0u, k = member; n <= LENGTH / 2u / MEMBERS; ++n, k += MEMBERS) if (k <= LENGTH / 2u)
COMPLEX near[9], far[9];

void take_pairs(int part, uint member, uint own) {
    EACH_PAIR {
        near[n][part] = exchange[own * PITCH + padded(k)];
        far[n][part] = exchange[own * PITCH + padded((LENGTH - k) % LENGTH)];
    }
}

#define EXCHANGE(PUT, TAKE) \
    PUT(0);                 \
    barrier();              \
    TAKE(0);                \
    barrier();              \
    PUT(1);                 \
    barrier();              \
    TAKE(1);

void turn(uint radix, uint before, uint roots, uint member) {
    EACH_BUTTERFLY(radix) {
        // From an address of their own, the roots lie at constant distances.
        uvec2 own_roots = vx_address(push.line_roots, roots + (member + b * MEMBERS) % before, COMPLEX_BYTES);
        [[unroll]] for (uint r = 1u; r < radix; ++r) {
            value[b * radix + r] = vx_product(value[b * radix + r], Complexes(own_roots).data[r * before]);
        }
    }
}

// The results of one radix go to shared memory from where `member` and `own` say, then come as the next radix wants them.
#define PUT_RESULTS(part) put(part, radix, before, member, own)
#define TAKE_ELEMENTS(part) take(part, next, to_member, to_own)
#define TAKE_PAIRS(part) take_pairs(part, member, own)
#define MEET(NEXT, RADIX, BEFORE, ROOTS)                        \
    if (NEXT > 1u) {                                            \
        const uint next = NEXT, radix = RADIX, before = BEFORE; \
        uint to_member, to_own;                                 \
        find_member(COLUMNS & COLUMNS_OUT, to_member, to_own);  \
        EXCHANGE(PUT_RESULTS, TAKE_ELEMENTS)                    \
        member = to_member;                                     \
        own = to_own;                                           \
        turn(next, before * radix, ROOTS, member);              \
        transform(next, member);                                \
    }

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint member, own;
    find_member(COLUMNS & COLUMNS_IN, member, own);
    uint index = group * LINES + own;
    if (index < push.lines) {
        Line line = find_line(index);
        EACH_BUTTERFLY(RADIX_0) {
            EACH_VALUE(RADIX_0) value[b * RADIX_0 + r] = load(line, member + b * MEMBERS + r * (LENGTH / RADIX_0));
        }
    }
    transform(RADIX_0, member);
    MEET(RADIX_1, RADIX_0, 1u, 0u)
    barrier();
    MEET(RADIX_2, RADIX_1, RADIX_0, RADIX_0 * RADIX_1)
    barrier();
    MEET(RADIX_3, RADIX_2, RADIX_0 * RADIX_1, RADIX_0 * RADIX_1 * (1u + RADIX_2))
    barrier();
    MEET(RADIX_4, RADIX_3, RADIX_0 * RADIX_1 * RADIX_2, RADIX_0 * RADIX_1 * (1u + RADIX_2 * (1u + RADIX_3)))
    index = group * LINES + own;
    const uint radix =
        RADIX_4 > 1u ? RADIX_4 : RADIX_3 > 1u ? RADIX_3 : RADIX_2 > 1u ? RADIX_2 : RADIX_1 > 1u ? RADIX_1 : RADIX_0;
    if (STORE == HALF_SPECTRUM) {
        const uint before = LENGTH / radix;
        barrier();
        EXCHANGE(PUT_RESULTS, TAKE_PAIRS)
    }
    if (index >= push.lines) return;
    Line line = find_line(index);
    if (STORE == HALF_SPECTRUM) {
        EACH_PAIR store_half(line, k, near[n], far[n]);
        return;
    }
    EACH_BUTTERFLY(radix) {
        EACH_VALUE(radix) store(line, member + b * MEMBERS + r * (LENGTH / radix), value[b * radix + r]);
    }
}
