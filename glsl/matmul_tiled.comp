// r = a @ b (or r -= a @ b) for a stack of matrices of any strides: each workgroup makes a TILE_M x TILE_N tile of r,
// walking over k in steps of TILE_K through shared memory (the next step is fetched into registers while one is computed);
// each invocation keeps BLOCK_M x BLOCK_N sums in registers. Every element of r adds its products in the order of k.
//
// Tiles lie in shared memory as packs of LANES elements, k by k, whatever the strides: A_ALONG_K and B_ALONG_K say along
// which dimension neighbouring invocations fetch; A_PACKED, B_PACKED and R_PACKED that the length along it is a multiple
// of LANES and packs can be moved whole.
//
// Measured on an NVIDIA H200: sizes as specialization constants leave the sums in memory, at a tenth of the speed; two
// buffers in shared memory, which save a barrier per step, are 5 to 50% slower than one.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool A_ALONG_K = true;
layout(constant_id = 2) const bool A_PACKED = false;
layout(constant_id = 3) const bool B_ALONG_K = false;
layout(constant_id = 4) const bool B_PACKED = false;
layout(constant_id = 5) const bool R_PACKED = false;
layout(constant_id = 6) const bool SUBTRACT = false;  // r -= a @ b
layout(constant_id = 7) const bool UPPER = false;     // leave out the tiles of r below its diagonal

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer BElements { B_STORAGE data[]; };
layout(buffer_reference, scalar) buffer RElements { R_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Packs { PACK data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer ResultPacks { PACK data[]; };

#include "lib/matmul_push.glsl"
#include "lib/stack.glsl"

#if LANES == 1
#define LANE(PACK_, L) PACK_
#else
#define LANE(PACK_, L) PACK_[L]
#endif
#define BAND 8  // tile rows that are worked on together, so that they find the tiles of b in the cache

const int THREADS_M = TILE_M / BLOCK_M, THREADS_N = TILE_N / BLOCK_N, SIZE = THREADS_M * THREADS_N;
const int BLOCKS_M = BLOCK_M / LANES, BLOCKS_N = BLOCK_N / LANES;
// One pack more per row keeps invocations that scatter a pack along k out of each other's memory banks.
const int A_ROW = TILE_M / LANES + 1, B_ROW = TILE_N / LANES + 1;
const int A_PACKS = TILE_M * TILE_K / LANES / SIZE, B_PACKS = TILE_N * TILE_K / LANES / SIZE;
const int STEPS = TILE_K / LANES;

shared PACK a_tile[TILE_K * A_ROW];
shared PACK b_tile[TILE_K * B_ROW];

int local = int(gl_LocalInvocationIndex);
Place place;
int row, column, length;  // where the tile begins in r, and how many products a sum has

// For an operand: NAME_fetch brings its part of the tile at `first` into registers, NAME_put writes it to shared memory.
// Past the edge the last row or column is fetched again, and its sums are not stored. The first step alone may be cut
// short: NAME_fetch_first, which comes before the others, takes k below 0 as zeros. So nothing in the loop branches or
// waits for what is fetched.
#define OPERAND(NAME, ALONG_K, PACKED, TILE, ROW, COUNT, START, EXTENT, STRIDE, STRIDE_K, LOAD_)           \
    PACK NAME##_next[COUNT];                                                                               \
    int NAME##_base[COUNT];                                                                                \
    ivec2 NAME##_pack(int p) {                                                                             \
        int number = p * SIZE + local;                                                                     \
        return ALONG_K ? ivec2(number / STEPS, number % STEPS * LANES)                                     \
                       : ivec2(number % (TILE / LANES) * LANES, number / (TILE / LANES));                  \
    }                                                                                                      \
    int NAME##_offset(ivec2 at, int last) {                                                                \
        return place.NAME + min(START + at.x, int(EXTENT) - last) * STRIDE + at.y * STRIDE_K;              \
    }                                                                                                      \
    void NAME##_fetch_first(int first) {                                                                   \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                       \
            NAME##_base[p] = NAME##_offset(NAME##_pack(p), PACKED && !ALONG_K ? LANES : 1);                \
        }                                                                                                  \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                       \
            [[unroll]] for (int l = 0; l < LANES; ++l) {                                                   \
                ivec2 at = NAME##_pack(p) + (ALONG_K ? ivec2(0, l) : ivec2(l, 0));                         \
                at.y += first;                                                                             \
                T value = LOAD_(push.NAME.data[NAME##_offset(max(at, 0), 1)]);                             \
                LANE(NAME##_next[p], l) = at.y < 0 ? T(0) : value;                                         \
            }                                                                                              \
        }                                                                                                  \
    }                                                                                                      \
    void NAME##_fetch(int first) {                                                                         \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                       \
            ivec2 at = NAME##_pack(p);                                                                     \
            at.y += first;                                                                                 \
            if (PACKED) {                                                                                  \
                NAME##_next[p] = Packs(uvec2(push.NAME)).data[uint(NAME##_base[p] + first * STRIDE_K) / LANES]; \
            } else {                                                                                       \
                [[unroll]] for (int l = 0; l < LANES; ++l) {                                               \
                    ivec2 one = at + (ALONG_K ? ivec2(0, l) : ivec2(l, 0));                                \
                    LANE(NAME##_next[p], l) = LOAD_(push.NAME.data[NAME##_offset(one, 1)]);                \
                }                                                                                          \
            }                                                                                              \
        }                                                                                                  \
    }                                                                                                      \
    void NAME##_put() {                                                                                    \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                       \
            ivec2 at = NAME##_pack(p);                                                                     \
            int start = at.y * ROW + at.x / LANES;                                                         \
            if (ALONG_K) {                                                                                 \
                [[unroll]] for (int l = 0; l < LANES; ++l) {                                               \
                    LANE(NAME##_tile[start + l * ROW], at.x % LANES) = LANE(NAME##_next[p], l);            \
                }                                                                                          \
            } else {                                                                                       \
                NAME##_tile[start] = NAME##_next[p];                                                       \
            }                                                                                              \
        }                                                                                                  \
    }

OPERAND(a, A_ALONG_K, A_PACKED, TILE_M, A_ROW, A_PACKS, row, push.m, push.a_m, push.a_k, A_LOAD)
OPERAND(b, B_ALONG_K, B_PACKED, TILE_N, B_ROW, B_PACKS, column, push.n, push.b_n, push.b_k, B_LOAD)

// Sets `place`, `row`, `column` and `length` for this workgroup; false past the last one and for a tile left out.
bool find_tile() {
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint across = (push.n + uint(TILE_N) - 1u) / uint(TILE_N), down = (push.m + uint(TILE_M) - 1u) / uint(TILE_M);
    uint product = index / (across * down);
    if (product >= push.count) return false;
    index -= product * across * down;
    uint first = index / (BAND * across) * BAND;
    uint height = min(down - first, BAND);
    index -= first * across;
    row = int(first + index % height) * TILE_M;
    column = int(index / height) * TILE_N;
    if (UPPER && row >= column + TILE_N) return false;
    place = vx_place(product);
    length = int(min(push.part, push.k - uint(place.part) * push.part));
    return true;
}

void main() {
    if (!find_tile()) return;
    int m = local / THREADS_N, n = local % THREADS_N;
    PACK total[BLOCK_M * BLOCKS_N];
    [[unroll]] for (int i = 0; i < BLOCK_M * BLOCKS_N; ++i) total[i] = PACK(0);

    int start = (length - 1) % TILE_K + 1 - TILE_K;
    a_fetch_first(start);
    b_fetch_first(start);
    a_put();
    b_put();
    barrier();
    for (int first = start; first < length; first += TILE_K) {
        bool more = first + TILE_K < length;
        if (more) {
            a_fetch(first + TILE_K);
            b_fetch(first + TILE_K);
        }
        [[unroll]] for (int k = 0; k < TILE_K; ++k) {
            PACK a[BLOCKS_M], b[BLOCKS_N];
            [[unroll]] for (int i = 0; i < BLOCKS_M; ++i) a[i] = a_tile[k * A_ROW + i * THREADS_M + m];
            [[unroll]] for (int j = 0; j < BLOCKS_N; ++j) b[j] = b_tile[k * B_ROW + j * THREADS_N + n];
            [[unroll]] for (int i = 0; i < BLOCK_M; ++i) {
                T one = LANE(a[i / LANES], i % LANES);
                [[unroll]] for (int j = 0; j < BLOCKS_N; ++j) {
                    total[i * BLOCKS_N + j] = vx_multiply_add(one, b[j], total[i * BLOCKS_N + j]);
                }
            }
        }
        barrier();
        if (more) {
            a_put();
            b_put();
        }
        barrier();
    }

    [[unroll]] for (int i = 0; i < BLOCK_M; ++i) {
        int to_row = row + (i / LANES * THREADS_M + m) * LANES + i % LANES;
        [[unroll]] for (int j = 0; j < BLOCKS_N; ++j) {
            int to_column = column + (j * THREADS_N + n) * LANES;
            int offset = place.r + to_row * push.r_m + to_column;
            if (R_PACKED) {
                if (to_row < int(push.m) && to_column < int(push.n)) {
                    uint pack = uint(offset) / LANES;
                    PACK value = total[i * BLOCKS_N + j];
                    if (SUBTRACT) value = ResultPacks(uvec2(push.r)).data[pack] - value;
                    ResultPacks(uvec2(push.r)).data[pack] = value;
                }
            } else {
                [[unroll]] for (int l = 0; l < LANES; ++l) {
                    if (to_row < int(push.m) && to_column + l < int(push.n)) {
                        T value = LANE(total[i * BLOCKS_N + j], l);
                        if (SUBTRACT) value = R_LOAD(push.r.data[offset + l]) - value;
                        push.r.data[offset + l] = R_STORE(value);
                    }
                }
            }
        }
    }
}
