// r = a @ b as product/matmul_cooperative.comp gives it, for large results: fragments are loaded while others are multiplied.
//
// Two tiles of each operand lie in shared memory. A step is one fragment deep; in it the fragments of the next one are
// loaded, a tile of b (and half a tile of a, which is two steps deep) is written to shared memory in place of the one that
// all fragments have been loaded from, and packs are fetched that are written two steps later.
//
// Measured on an NVIDIA H200, in TFLOP/s for n = 8192 and tiles of 128 x 256: 329, with a transposed 351. In a trial kernel
// without edges: 348; with packs of b fetched one step later 309, with tiles of a one step deep, in pieces of 32 bytes of a
// row, 221; nothing fetched, 467; no barriers either, 519.
#pragma use_vulkan_memory_model
#define A_DEPTH (2 * FRAGMENT_K)
#define B_DEPTH FRAGMENT_K
#define BUFFERS 2
#include "lib/cooperative.glsl"

OPERAND(a, A_ALONG_K, TILE_M, A_DEPTH, A_ROW, A_PACKS, 1, row, arguments.m, arguments.a_m, arguments.a_k)
OPERAND(b, B_ALONG_K, TILE_N, B_DEPTH, B_ROW, B_PACKS, 2, column, arguments.n, arguments.b_n, arguments.b_k)

// The fragments of two steps.
coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_K, gl_MatrixUseA> a[2][DOWN];
coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT_N, gl_MatrixUseB> b[2][ACROSS];

void load_a(int i, int step) {
    int m = part_row + i * FRAGMENT_M, k = step % 2 * FRAGMENT_K, from = step / 2 % 2 * A_SIZE;
    if (A_ALONG_K) {
        coopMatLoad(a[step % 2][i], a_tile, from + m * A_ROW + k / LANES, A_ROW, gl_CooperativeMatrixLayoutRowMajor);
    } else {
        coopMatLoad(a[step % 2][i], a_tile, from + k * A_ROW + m / LANES, A_ROW, gl_CooperativeMatrixLayoutColumnMajor);
    }
}

void load_b(int j, int step) {
    int n = part_column + j * FRAGMENT_N, from = step % 2 * B_SIZE;
    if (B_ALONG_K) {
        coopMatLoad(b[step % 2][j], b_tile, from + n * B_ROW, B_ROW, gl_CooperativeMatrixLayoutColumnMajor);
    } else {
        coopMatLoad(b[step % 2][j], b_tile, from + n / LANES, B_ROW, gl_CooperativeMatrixLayoutRowMajor);
    }
}

// Where the tiles of a step begin, counted from step 0 at `first`; below 0 past the last one.
int a_at(int first, int step) { return first - step / 2 * A_DEPTH; }
int b_at(int first, int step) { return a_at(first, step) + step % 2 * B_DEPTH; }

// Writes what step + 2 needs of b, and half of what the step after the next pair needs of a, and fetches what follows.
void move_a(int first, int step) {
    int half_ = (step + 1) % 2, from = half_ * A_PACKS / 2, to = from + A_PACKS / 2, next = (step + 1) / 2 + 1;
    a_put(next % 2, 0, from, to);
    a_fetch(a_at(first, 2 * next + 2), 0, from, to, false);
}

void move_b(int first, int step) {
    b_put(step % 2, step % 2, 0, B_PACKS);
    b_fetch(b_at(first, step + 4), step % 2, 0, B_PACKS, false);
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
    b_begin();
    // Four steps at a time, of which the first ones may lie past the end: all of them are fetched here.
    int first = (length - 1) / (2 * A_DEPTH) * (2 * A_DEPTH) + A_DEPTH;
    a_fetch_end(first, 0);
    a_put(0, 0, 0, A_PACKS);
    a_fetch_end(first - A_DEPTH, 0);
    move_a(first, -1);
    [[unroll]] for (int step = 0; step < 2; ++step) {
        b_fetch_end(b_at(first, step), step);
        b_put(step, step, 0, B_PACKS);
        b_fetch_end(b_at(first, step + 2), step);
    }
    barrier();
    [[unroll]] for (int i = 0; i < DOWN; ++i) load_a(i, 0);
    [[unroll]] for (int j = 0; j < ACROSS; ++j) load_b(j, 0);
    [[dont_unroll]] for (; first > 0; first -= 2 * A_DEPTH) {
        [[unroll]] for (int step = 0; step < 4; ++step) {
            barrier();
            [[unroll]] for (int i = 0; i < DOWN; ++i) load_a(i, step + 1);
            [[unroll]] for (int j = 0; j < ACROSS; ++j) {
                load_b(j, step + 1);
                [[unroll]] for (int i = 0; i < DOWN; ++i) {
                    sums[i * ACROSS + j] = coopMatMulAdd(a[step % 2][i], b[step % 2][j], sums[i * ACROSS + j]);
                }
                if (j == 0) move_b(first, step);
                if (j == ACROSS - 1) move_a(first, step);
            }
        }
    }
    barrier(); // store writes over the tiles of a
    store_sums(row + part_row, column + part_column);
}
