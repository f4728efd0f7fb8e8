// r = a @ b for a stack of products of 16-bit floating-point matrices by cooperative matrices, summed in float32.
//
// A workgroup makes a TILE_M x TILE_N tile of r, walking over k in steps of TILE_K through shared memory (the next step is
// fetched into registers while one is computed); each subgroup keeps a PART_M x PART_N part of it in fragments. The steps
// go from the end of k to its beginning, so that only the first one, which may be cut short, has to look at what lies
// past the end.
#pragma use_vulkan_memory_model
#define A_DEPTH TILE_K
#define B_DEPTH TILE_K
#define BUFFERS 1
#include "lib/cooperative.glsl"

OPERAND(a, A_ALONG_K, TILE_M, A_DEPTH, A_ROW, A_PACKS, 1, row, arguments.m, arguments.a_m, arguments.a_k)
OPERAND(b, B_ALONG_K, TILE_N, B_DEPTH, B_ROW, B_PACKS, 1, column, arguments.n, arguments.b_n, arguments.b_k)

void put_and_wait() {
    a_put(0, 0, 0, A_PACKS);
    b_put(0, 0, 0, B_PACKS);
    barrier();
}

void multiply() {
    [[unroll]] for (int k = 0; k < TILE_K; k += FRAGMENT_K) {
        coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_K, gl_MatrixUseA> a[DOWN];
        [[unroll]] for (int i = 0; i < DOWN; ++i) {
            int m = part_row + i * FRAGMENT_M;
            if (A_ALONG_K) {
                coopMatLoad(a[i], a_tile, m * A_ROW + k / LANES, A_ROW, gl_CooperativeMatrixLayoutRowMajor);
            } else {
                coopMatLoad(a[i], a_tile, k * A_ROW + m / LANES, A_ROW, gl_CooperativeMatrixLayoutColumnMajor);
            }
        }
        [[unroll]] for (int j = 0; j < ACROSS; ++j) {
            int n = part_column + j * FRAGMENT_N;
            coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT_N, gl_MatrixUseB> b;
            if (B_ALONG_K) {
                coopMatLoad(b, b_tile, n * B_ROW + k / LANES, B_ROW, gl_CooperativeMatrixLayoutColumnMajor);
            } else {
                coopMatLoad(b, b_tile, k * B_ROW + n / LANES, B_ROW, gl_CooperativeMatrixLayoutRowMajor);
            }
            [[unroll]] for (int i = 0; i < DOWN; ++i) {
                sums[i * ACROSS + j] = coopMatMulAdd(a[i], b, sums[i * ACROSS + j]);
            }
        }
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
    b_begin();
    int first = (length - 1) / TILE_K * TILE_K;
    a_fetch_end(first, 0);
    b_fetch_end(first, 0);
    [[dont_unroll]] for (; first > 0; first -= TILE_K) {
        put_and_wait();
        a_fetch(first - TILE_K, 0, 0, A_PACKS, true);
        b_fetch(first - TILE_K, 0, 0, B_PACKS, true);
        multiply();
        barrier();
    }
    put_and_wait();
    multiply();
    barrier(); // store writes over the tile of a
    store_sums(row + part_row, column + part_column);
}
