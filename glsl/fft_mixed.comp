// A pass of transforms whose lines are shared by the invocations of a workgroup, as fft_shared.comp, for lengths that are no
// powers of two: up to eight radices, each of which goes from one half of the shared memory to the other. The
// radices are found at run time, so that a driver has each of them to compile once. The pass itself: lib/fft_pass.glsl.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/fft_shared.glsl"
#include "lib/fft_pass.glsl"

layout(constant_id = 8) const uint RADICES = 0u;  // less one each, four bits each, the first one lowest

#define PITCH (LENGTH | 1u)
shared COMPLEX exchange[2u * PITCH * LINES];

#define RADIX(N)                                                                                      \
    case N:                                                                                           \
        for (uint j = member; j < LENGTH / N; j += MEMBERS) {                                         \
            COMPLEX v[N];                                                                             \
            uint q = j % before;                                                                      \
            EACH(r, 0, N) v[r] = exchange[from + j + uint(r) * (LENGTH / N)];                         \
            if (before > 1u) {                                                                        \
                EACH(r, 1, N) v[r] = vx_product(v[r], Complexes(push.line_roots).data[roots + uint(r) * before + q]); \
            }                                                                                         \
            vx_dft_##N(v);                                                                            \
            EACH(r, 0, N) exchange[to + (j - q) * N + q + uint(r) * before] = v[r];                   \
        }                                                                                             \
        break;

void main() {
    uint first = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * LINES;
    uint member, own;
    find_member(COLUMNS & COLUMNS_IN, member, own);
    if (first + own < push.lines) {
        Line line = find_line(first + own);
        for (uint j = member; j < LENGTH; j += MEMBERS) exchange[own * PITCH + j] = load(line, j);
    }
    find_member(COLUMNS & COLUMNS_OUT, member, own);
    uint from = own * PITCH, to = (LINES + own) * PITCH, before = 1u, roots = 0u;
    for (uint rest = RADICES; rest != 0u; rest >>= 4) {
        uint radix = (rest & 15u) + 1u;
        barrier();
        switch (radix) {
            RADIX(2) RADIX(3) RADIX(4) RADIX(5) RADIX(6) RADIX(7) RADIX(8) RADIX(9) RADIX(11) RADIX(13)
        }
        uint other = from;
        from = to;
        to = other;
        if (before > 1u) roots += before * radix;
        before *= radix;
    }
    barrier();
    if (first + own >= push.lines) return;
    Line line = find_line(first + own);
    if (STORE == HALF_SPECTRUM) {
        for (uint k = member; k <= LENGTH / 2u; k += MEMBERS) {
            store_half(line, k, exchange[from + k], exchange[from + (LENGTH - k) % LENGTH]);
        }
    } else {
        for (uint k = member; k < LENGTH; k += MEMBERS) store(line, k, exchange[from + k]);
    }
}
