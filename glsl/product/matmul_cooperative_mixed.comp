// r = a @ b as product/matmul_cooperative.comp gives it, where b has been copied into the order of fragments by
// product/matmul_cooperative_pack.comp and a lies as it is: fragments of a come from shared memory, those of b from memory.
//
// Two tiles of a lie in shared memory, each four fragments deep, so that there is one barrier in four steps. Steps go from
// the end of k to its beginning. The fragments of a step of b are loaded SETS - 1 steps before they are multiplied, those of
// a one after the other, a fragment ahead: shared memory is near.
#pragma use_vulkan_memory_model
#define A_DEPTH (4 * FRAGMENT_K)
#define B_DEPTH FRAGMENT_K
#define BUFFERS 2
#define B_STRIPS
#define BAND 32
#include "lib/cooperative.glsl"
#include "lib/cooperative_strips.glsl"

#define STEPS 4 // of a tile of a
#define SETS 4  // of fragments of b

coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_K, gl_MatrixUseA> a[2];
coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT_N, gl_MatrixUseB> b[SETS][ACROSS];

OPERAND(a, A_ALONG_K, TILE_M, A_DEPTH, A_ROW, A_PACKS, 1, row, arguments.m, arguments.a_m, arguments.a_k)
STRIPS(b, ACROSS, PART_N, arguments.b_k)

// Loads a fragment of a, counted from the first one of the last step of the tile at the end.
void load_a(int number) {
    int step = number / DOWN, k = (STEPS - 1 - step % STEPS) * FRAGMENT_K, from = step / STEPS % 2 * A_SIZE;
    int m = part_row + number % DOWN * FRAGMENT_M;
    if (A_ALONG_K) {
        coopMatLoad(a[number % 2], a_tile, from + m * A_ROW + k / LANES, A_ROW, gl_CooperativeMatrixLayoutRowMajor);
    } else {
        coopMatLoad(a[number % 2], a_tile, from + k * A_ROW + m / LANES, A_ROW, gl_CooperativeMatrixLayoutColumnMajor);
    }
}

void main() {
    if (!find_tile()) return;
    int subgroup = int(gl_SubgroupID);
    part_row = subgroup / (TILE_N / PART_N) * PART_M;
    part_column = subgroup % (TILE_N / PART_N) * PART_N;
    [[unroll]] for (int i = 0; i < DOWN * ACROSS; ++i) {
        sums[i] = coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator>(0.0);
    }
    a_begin();
    b_strip(column + part_column);
    // Two tiles of a at a time, of which the first one may lie past the end: both are fetched here.
    int first = (length - 1) / (2 * A_DEPTH) * (2 * A_DEPTH) + A_DEPTH, last_step = first / FRAGMENT_K + STEPS - 1;
    a_fetch_end(first, 0);
    a_put(0, 0, 0, A_PACKS);
    a_fetch_end(first - A_DEPTH, 0);
    barrier();
    load_a(0);
    [[unroll]] for (int set = 0; set < SETS - 1; ++set) {
        [[unroll]] for (int j = 0; j < ACROSS; ++j) b_load(set, j, last_step - set);
    }
    [[dont_unroll]] for (; first > 0; first -= 2 * A_DEPTH, last_step -= 2 * STEPS) {
        [[unroll]] for (int step = 0; step < 2 * STEPS; ++step) {
            [[unroll]] for (int i = 0; i < DOWN; ++i) {
                int next = step * DOWN + i + 1, ahead = step + SETS - 1;
                if (next % (STEPS * DOWN) == 0) barrier();
                load_a(next);
                [[unroll]] for (int j = i * ACROSS / DOWN; j < (i + 1) * ACROSS / DOWN; ++j) {
                    b_load(ahead % SETS, j, last_step - ahead);
                }
                [[unroll]] for (int turn = 0; turn < ACROSS; ++turn) {
                    int j = i % 2 == 0 ? turn : ACROSS - 1 - turn, number = i * ACROSS + j;
                    sums[number] = coopMatMulAdd(a[(next + 1) % 2], b[step % SETS][j], sums[number]);
                }
                if (step % STEPS == 0 && i == 0) {
                    a_put((step / STEPS + 1) % 2, 0, 0, A_PACKS);
                    a_fetch(first - (step / STEPS + 2) * A_DEPTH, 0, 0, A_PACKS, false);
                }
            }
        }
    }
    barrier(); // store writes over the tiles of a
    store_sums(row + part_row, column + part_column);
}
