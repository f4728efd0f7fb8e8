// A pass of transforms whose lines, of powers of two, are shared by the invocations of a workgroup: they transform a line in
// Stockham's pattern again, with up to three radices up to 16, and meet in shared memory. The pass itself: lib/fft_pass.glsl.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/fft_shared.glsl"
#include "lib/fft_pass.glsl"

layout(constant_id = 8) const uint RADIX_0 = 1u;
layout(constant_id = 9) const uint RADIX_1 = 1u;
layout(constant_id = 10) const uint RADIX_2 = 1u;

// Elements in shared memory, with a gap after each 16 so that strides of powers of two meet different banks.
uint padded(uint place) { return place + place / 16u; }

#define PITCH (LENGTH + LENGTH / 16u | 1u)
shared COMPLEX exchange[PITCH * LINES];

// An invocation holds 16 elements of its line (all of a shorter one). Butterfly number b has value[b radix ...], which are
// the elements member + b MEMBERS + r LENGTH / radix.
COMPLEX value[16];

#define EACH_BUTTERFLY(radix) [[unroll]] for (uint b = 0u; b < LENGTH / (radix) / MEMBERS; ++b)
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
        switch (radix) { IN_REGISTERS(2) IN_REGISTERS(4) IN_REGISTERS(8) IN_REGISTERS(16) }
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

// The results of one radix go to shared memory from where `member` and `own` say, then come as the next radix wants them.
#define MEET(NEXT, RADIX, BEFORE, ROOTS)                                     \
    if (NEXT > 1u) {                                                         \
        put(RADIX, BEFORE, member, own * PITCH);                             \
        barrier();                                                           \
        find_member(COLUMNS & COLUMNS_OUT, member, own);                     \
        take(NEXT, (BEFORE) * RADIX, ROOTS, member, own * PITCH);            \
        transform(NEXT, member);                                             \
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
    index = group * LINES + own;
    uint radix = RADIX_2 > 1u ? RADIX_2 : RADIX_1 > 1u ? RADIX_1 : RADIX_0;
    if (STORE == HALF_SPECTRUM) {
        barrier();
        put(radix, LENGTH / radix, member, own * PITCH);
        barrier();
    }
    if (index >= push.lines) return;
    Line line = find_line(index);
    if (STORE == HALF_SPECTRUM) {
        for (uint k = member; k <= LENGTH / 2u; k += MEMBERS) {
            uint start = own * PITCH;
            store_half(line, k, exchange[start + padded(k)], exchange[start + padded((LENGTH - k) % LENGTH)]);
        }
        return;
    }
    EACH_BUTTERFLY(radix) {
        EACH_VALUE(radix) store(line, member + b * MEMBERS + r * (LENGTH / radix), value[b * radix + r]);
    }
}
