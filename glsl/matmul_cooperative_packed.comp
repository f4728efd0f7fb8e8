// r = a @ b as matmul_cooperative.comp gives it, for large results, of operands that matmul_cooperative_pack.comp has copied
// into the order of fragments: subgroups load fragments from memory (mostly the first-level cache, for neighbours need
// the same ones), without shared memory and barriers.
//
// The fragments of a step are loaded while those of the step before are multiplied. That is too late for what lies beyond
// the first-level cache: so the workgroup also loads a word of each of the 32 bytes that it needs TOUCHED steps later,
// which nobody uses. Past the last step things are loaded that nobody needs; there is memory for them.
//
// Measured on an NVIDIA H200, in TFLOP/s for n = 8192 and tiles of 128 x 128, without the copies: 378, and 363, 383, 392,
// 378, 343 and 303 with words of 2, 3, 4, 5, 6 and 8 steps later; 358 with 8 subgroups instead of 4; with fragments loaded two
// steps ahead, 297 (in place of those multiplied last) and 234 (in registers of their own), for registers do not suffice;
// with one operand read as it lies in rows along k, by invocations that know which elements they keep, 297, with words 238.
#pragma use_vulkan_memory_model
#define A_DEPTH FRAGMENT_K
#define B_DEPTH FRAGMENT_K
#define BUFFERS 0
#include "lib/cooperative.glsl"
#include "lib/fragment_words.glsl"

#define TOUCHED 4 // steps
#define SECTOR 32 // bytes that caches load

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer AStrips { uvec4 data[][DOWN][SUBGROUP]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer BStrips { uvec4 data[][ACROSS][SUBGROUP]; };

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Words { uint data[]; };

// The fragments of two steps.
coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_K, gl_MatrixUseA> a[2][DOWN];
coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT_N, gl_MatrixUseB> b[2][ACROSS];

void load_a(int set, int i, uint step) {
    uvec4 pack = AStrips(uvec2(push.a)).data[step][i][gl_SubgroupInvocationID];
    [[unroll]] for (int w = 0; w < 4; ++w) {
        TWO two = two_of(pack[w]);
        a[set][i][2 * w] = two.x;
        a[set][i][2 * w + 1] = two.y;
    }
}

void load_b(int set, int j, uint step) {
    uvec4 pack = BStrips(uvec2(push.b)).data[step][j][gl_SubgroupInvocationID];
    [[unroll]] for (int w = 0; w < 4; ++w) {
        TWO two = two_of(pack[w]);
        b[set][j][2 * w] = two.x;
        b[set][j][2 * w + 1] = two.y;
    }
}

// For an operand: NAME_touch loads words of a step that nobody uses, of all strips of the workgroup.
#define TOUCH(NAME, TILE, PART, START, ADDRESS)                                                          \
    const int NAME##_SECTORS = TILE * FRAGMENT_K * 2 / SECTOR, NAME##_TOUCHES = (NAME##_SECTORS + SIZE - 1) / SIZE; \
    uint NAME##_words[NAME##_TOUCHES], NAME##_at[NAME##_TOUCHES];                                        \
    void NAME##_touch_begin(uint first) {                                                                \
        const int OF_PART = PART * FRAGMENT_K * 2 / SECTOR;                                              \
        [[unroll]] for (int p = 0; p < NAME##_TOUCHES; ++p) {                                            \
            uint number = uint(p * SIZE + local) % NAME##_SECTORS;                                       \
            uint strip = uint(START) / PART + number / OF_PART;                                          \
            NAME##_at[p] = ((strip * uint(push.a_m) + first) * OF_PART + number % OF_PART) * (SECTOR / 4); \
            NAME##_words[p] = 0u;                                                                        \
        }                                                                                                \
    }                                                                                                    \
    void NAME##_touch(uint step) {                                                                       \
        [[unroll]] for (int p = 0; p < NAME##_TOUCHES; ++p) {                                            \
            unused ^= NAME##_words[p];                                                                   \
            NAME##_words[p] = Words(uvec2(ADDRESS)).data[NAME##_at[p] + step * (PART * FRAGMENT_K / 2)]; \
        }                                                                                                \
    }

uint unused = 0u;
TOUCH(a, TILE_M, PART_M, row, push.a)
TOUCH(b, TILE_N, PART_N, column, push.b)

void main() {
    if (!find_tile()) return;
    int subgroup = int(gl_SubgroupID);
    part_row = subgroup / (TILE_N / PART_N) * PART_M;
    part_column = subgroup % (TILE_N / PART_N) * PART_N;
    [[unroll]] for (int i = 0; i < DOWN * ACROSS; ++i) {
        sums[i] = coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator>(0.0);
    }
    // The first steps of this part of k in the strips of the subgroup; a_m is how many steps a strip has.
    uint first_a = uint(place.a) / (PART_M * FRAGMENT_K), first_b = uint(place.b) / (PART_N * FRAGMENT_K);
    a_touch_begin(first_a);
    b_touch_begin(first_b);
    first_a += uint(row + part_row) / PART_M * uint(push.a_m);
    first_b += uint(column + part_column) / PART_N * uint(push.a_m);
    [[unroll]] for (int i = 0; i < DOWN; ++i) load_a(0, i, first_a);
    [[unroll]] for (int j = 0; j < ACROSS; ++j) load_b(0, j, first_b);
    uint steps = uint(length) / FRAGMENT_K;
    [[dont_unroll]] for (uint step = 0; step < steps; step += 2) {
        [[unroll]] for (int set = 0; set < 2; ++set) {
            a_touch(step + set + TOUCHED);
            b_touch(step + set + TOUCHED);
            [[unroll]] for (int i = 0; i < DOWN; ++i) load_a(1 - set, i, first_a + step + set + 1);
            [[unroll]] for (int j = 0; j < ACROSS; ++j) load_b(1 - set, j, first_b + step + set + 1);
            [[unroll]] for (int j = 0; j < ACROSS; ++j) {
                [[unroll]] for (int i = 0; i < DOWN; ++i) {
                    sums[i * ACROSS + j] = coopMatMulAdd(a[set][i], b[set][j], sums[i * ACROSS + j]);
                }
            }
        }
    }
    if (unused == 0x9E3779B9u && push.count == 0u) push.r.data[0] = uint16_t(0u); // never, but so the words are loaded
    [[unroll]] for (int i = 0; i < DOWN; ++i) {
        [[unroll]] for (int j = 0; j < ACROSS; ++j) {
            store(i * ACROSS + j, row + part_row + i * FRAGMENT_M, column + part_column + j * FRAGMENT_N);
        }
    }
}
