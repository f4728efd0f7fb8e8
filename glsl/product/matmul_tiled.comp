// r = a @ b (or r -= a @ b) for a stack of matrices of any strides: each workgroup makes a TILE_M x TILE_N tile of r,
// walking over k in steps of TILE_K through shared memory (the next step is fetched into registers while one is computed);
// each invocation keeps BLOCK_M x BLOCK_N sums in registers. Every element of r adds its products in the order of k.
//
// Tiles lie in shared memory as packs of LANES elements, k by k, whatever the strides: A_ALONG_K and B_ALONG_K say along
// which dimension neighbouring invocations fetch; A_PACKED, B_PACKED and R_PACKED that packs can be moved whole (of a and
// b also the last one of a row, which may be partly outside).
//
// Measured on an NVIDIA H200: sizes as specialization constants leave the sums in memory, at a tenth of the speed; two
// buffers in shared memory, which save a barrier per step, make the best tile no faster and others up to 40% slower; with
// the last step outside of the loop, which then has no branches, tiles are 3 to 10% faster, but short sums of small tiles
// a tenth slower: the code is twice as long, and takes more registers. Multiplications of 8 x 8 sums in this order, with
// no memory at all, get 61 TFLOP/s of the 67 that the device has; loads of packs from shared memory take turns with them.
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

#include "lib/matmul_arguments.glsl"
#include "lib/stack.glsl"

#if LANES == 1
#define LANE(PACK_, L) PACK_
#else
#define LANE(PACK_, L) PACK_[L]
#endif
// The sums are in registers only where all loops over them are unrolled. CPU drivers, which take none of these tiles by
// themselves, compile that for minutes; with ROLLED they do what is asked of them, such as tests, at once.
#ifdef ROLLED
#define UNROLL
#else
#define UNROLL [[unroll]]
#endif

const int THREADS_M = TILE_M / BLOCK_M, THREADS_N = TILE_N / BLOCK_N, SIZE = THREADS_M * THREADS_N;
const int BLOCKS_M = BLOCK_M / LANES, BLOCKS_N = BLOCK_N / LANES;
// 16 bytes more per row keep invocations that scatter packs along k out of each other's memory banks.
const int A_ROW = TILE_M / LANES + PAD, B_ROW = TILE_N / LANES + PAD;
const int STEPS = TILE_K / LANES;
const int A_PACKS = TILE_M * TILE_K / LANES / SIZE, B_PACKS = TILE_N * TILE_K / LANES / SIZE;

// 32 invocations, a subgroup on many devices, stand in a rectangle, so that they read few different packs of a and b;
// neighbours read the same pack of b, which halves the time of such reads.
const int GROUP = 32, GROUP_N = min(8, THREADS_N), GROUP_M = GROUP / GROUP_N, GROUPS_N = THREADS_N / GROUP_N;

shared PACK a_tile[TILE_K * A_ROW];
shared PACK b_tile[TILE_K * B_ROW];

int local = int(gl_LocalInvocationIndex);
Place place;
int row, column, length;  // where the tile begins in r, and how many products a sum has
int m, n;                 // the first pack of this invocation in the rows of a_tile and b_tile
T total[BLOCK_M * BLOCK_N];

// For an operand: NAME_fetch brings its part of the tile at `first` into registers, NAME_put writes it to shared memory.
// Past the edge the last row or column is fetched again, and its sums are not stored. The first step alone may be cut
// short: there, k below 0 counts as zeros. So nothing in the loop branches or waits for what is fetched. Places in a tile
// are pairs of a row (or column) and k.
#define OPERAND(NAME, ALONG_K, PACKED, TILE, ROW, COUNT, START, EXTENT, STRIDE, STRIDE_K, LOAD_)           \
    PACK NAME##_next[COUNT];                                                                               \
    int NAME##_base[COUNT];                                                                                \
    ivec2 NAME##_pack(int p) {                                                                             \
        int number = p * SIZE + local;                                                                     \
        return ALONG_K ? ivec2(number / STEPS, number % STEPS * LANES)                                     \
                       : ivec2(number % (TILE / LANES) * LANES, number / (TILE / LANES));                  \
    }                                                                                                      \
    ivec2 NAME##_element(int e) {                                                                          \
        int number = e * SIZE + local;                                                                     \
        return ALONG_K ? ivec2(number / TILE_K, number % TILE_K) : ivec2(number % TILE, number / TILE);    \
    }                                                                                                      \
    int NAME##_offset(ivec2 at, int width) {                                                               \
        return place.NAME + min(START + at.x, (int(EXTENT) - 1) / width * width) * STRIDE + at.y * STRIDE_K; \
    }                                                                                                      \
    void NAME##_begin() {                                                                                  \
        UNROLL for (int p = 0; p < COUNT; ++p) {                                                           \
            NAME##_base[p] = NAME##_offset(NAME##_pack(p), ALONG_K ? 1 : LANES);                           \
        }                                                                                                  \
    }                                                                                                      \
    void NAME##_fetch(int first, bool cut) {                                                               \
        if (PACKED) {                                                                                      \
            UNROLL for (int p = 0; p < COUNT; ++p) {                                                       \
                int k = NAME##_pack(p).y;                                                                  \
                bool outside = cut && first + k < 0;                                                       \
                int offset = NAME##_base[p] + (outside ? -k : first) * STRIDE_K;                           \
                PACK value = Packs(uvec2(arguments.NAME)).data[uint(offset) / LANES];                           \
                NAME##_next[p] = outside ? PACK(0) : value;                                                \
            }                                                                                              \
        } else {                                                                                           \
            UNROLL for (int e = 0; e < COUNT * LANES; ++e) {                                               \
                ivec2 at = NAME##_element(e) + ivec2(0, first);                                            \
                bool outside = cut && at.y < 0;                                                            \
                T value = LOAD_(arguments.NAME.data[NAME##_offset(outside ? ivec2(at.x, 0) : at, 1)]);          \
                LANE(NAME##_next[e / LANES], e % LANES) = outside ? T(0) : value;                          \
            }                                                                                              \
        }                                                                                                  \
    }                                                                                                      \
    void NAME##_put() {                                                                                    \
        if (PACKED && !ALONG_K) {                                                                          \
            UNROLL for (int p = 0; p < COUNT; ++p) {                                                       \
                ivec2 at = NAME##_pack(p);                                                                 \
                NAME##_tile[at.y * ROW + at.x / LANES] = NAME##_next[p];                                   \
            }                                                                                              \
        } else {                                                                                           \
            UNROLL for (int e = 0; e < COUNT * LANES; ++e) {                                               \
                ivec2 at = PACKED ? NAME##_pack(e / LANES) + ivec2(0, e % LANES) : NAME##_element(e);      \
                LANE(NAME##_tile[at.y * ROW + at.x / LANES], at.x % LANES) = LANE(NAME##_next[e / LANES], e % LANES); \
            }                                                                                              \
        }                                                                                                  \
    }

OPERAND(a, A_ALONG_K, A_PACKED, TILE_M, A_ROW, A_PACKS, row, arguments.m, arguments.a_m, arguments.a_k, A_LOAD)
OPERAND(b, B_ALONG_K, B_PACKED, TILE_N, B_ROW, B_PACKS, column, arguments.n, arguments.b_n, arguments.b_k, B_LOAD)

#define LEFT_OUT (UPPER && row >= column + TILE_N)
#include "lib/matmul_tile.glsl"

// Adds the products of the tiles in shared memory, so that neighbouring additions share an element of a or of b: strips
// of columns of sums, back and forth along their rows. What moves in packs takes two columns at a time, wide types all.
const int STRIP = LANES == 1 ? BLOCK_N : 2;

void add_tiles() {
    UNROLL for (int k = 0; k < TILE_K; ++k) {
        PACK a[BLOCKS_M], b[BLOCKS_N];
        UNROLL for (int i = 0; i < BLOCKS_M; ++i) a[i] = a_tile[k * A_ROW + m + i * GROUP_M];
        UNROLL for (int j = 0; j < BLOCKS_N; ++j) b[j] = b_tile[k * B_ROW + n + j * GROUP_N];
        UNROLL for (int strip = 0; strip < BLOCK_N; strip += STRIP) {
            UNROLL for (int s = 0; s < BLOCK_M; ++s) {
                int i = strip / STRIP % 2 == 0 ? s : BLOCK_M - 1 - s;
                UNROLL for (int l = 0; l < STRIP; ++l) {
                    int j = strip + (s % 2 == 0 ? l : STRIP - 1 - l);
                    T one = LANE(a[i / LANES], i % LANES), other = LANE(b[j / LANES], j % LANES);
                    total[i * BLOCK_N + j] = vx_multiply_add(one, other, total[i * BLOCK_N + j]);
                }
            }
        }
    }
}

ivec2 bias_steps, residual_steps;

// A sum as it is to be stored at a row and column; of what is linked, as it is stored before that.
T finished(int number, int to_row, int to_column) {
    int bias = vx_beside(place.bias, bias_steps, to_row, to_column);
    if (LINKED) {
        precise T value = total[number];
        if (WIDE) value += R_LOAD(arguments.bias.data[bias]);
        return value;
    }
    return vx_finish(total[number], bias, vx_beside(place.residual, residual_steps, to_row, to_column));
}

// What is linked makes of an element that is stored at a row and column.
T linked(T value, int to_row, int to_column) {
    T bias = T(0), residual = T(0);
    if (BIASED) bias = R_LOAD(arguments.bias.data[vx_beside(place.bias, bias_steps, to_row, to_column)]);
    if (RESIDUAL) residual = R_LOAD(arguments.residual.data[vx_beside(place.residual, residual_steps, to_row, to_column)]);
    vx_linked(value, bias, residual);
    return value;
}

// Computes what is linked of all elements that this invocation has stored. What is linked may be long: in the loops over the sums,
// drivers would no longer unroll these, and keep the sums in memory.
void link_stored() {
    [[dont_unroll]] for (int number = 0; number < BLOCK_M * BLOCKS_N; ++number) {
        int i = number / BLOCKS_N, j = number % BLOCKS_N;
        int to_row = row + (m + i / LANES * GROUP_M) * LANES + i % LANES;
        int to_column = column + (n + j * GROUP_N) * LANES;
        int offset = place.r + to_row * arguments.r_m + to_column;
        if (to_row >= int(arguments.m)) break;
        if (R_PACKED) {
            if (to_column >= int(arguments.n)) continue;
            PACK value = ResultPacks(uvec2(arguments.r)).data[uint(offset) / LANES];
            UNROLL for (int l = 0; l < LANES; ++l) LANE(value, l) = linked(LANE(value, l), to_row, to_column + l);
            ResultPacks(uvec2(arguments.r)).data[uint(offset) / LANES] = value;
        } else {
            for (int l = 0; l < LANES; ++l) {
                if (to_column + l >= int(arguments.n)) break;
                arguments.r.data[offset + l] = R_STORE(linked(R_LOAD(arguments.r.data[offset + l]), to_row, to_column + l));
            }
        }
    }
}

void main() {
    if (!find_tile()) return;
    int group = local / GROUP, lane = local % GROUP;
    m = group / GROUPS_N * BLOCKS_M * GROUP_M + lane / (2 * GROUP_N) * 2 + lane % 2;
    n = group % GROUPS_N * BLOCKS_N * GROUP_N + lane / 2 % GROUP_N;
    UNROLL for (int i = 0; i < BLOCK_M * BLOCK_N; ++i) total[i] = T(0);

    int first = (length - 1) % TILE_K + 1 - TILE_K;
    a_begin();
    b_begin();
    a_fetch(first, true);
    b_fetch(first, true);
    a_put();
    b_put();
    barrier();
#if PEELED  // the last step is outside of the loop
    for (; first + TILE_K < length; first += TILE_K) {
        a_fetch(first + TILE_K, false);
        b_fetch(first + TILE_K, false);
        add_tiles();
        barrier();
        a_put();
        b_put();
        barrier();
    }
    add_tiles();
#else
    while (true) {
        bool more = first + TILE_K < length;
        if (more) {
            a_fetch(first + TILE_K, false);
            b_fetch(first + TILE_K, false);
        }
        add_tiles();
        if (!more) break;
        barrier();
        a_put();
        b_put();
        barrier();
        first += TILE_K;
    }
#endif

    bias_steps = vx_bias_steps();
    residual_steps = vx_residual_steps();
    UNROLL for (int i = 0; i < BLOCK_M; ++i) {
        int to_row = row + (m + i / LANES * GROUP_M) * LANES + i % LANES;
        UNROLL for (int j = 0; j < BLOCKS_N; ++j) {
            int to_column = column + (n + j * GROUP_N) * LANES;
            int offset = place.r + to_row * arguments.r_m + to_column;
            if (R_PACKED) {
                if (to_row < int(arguments.m) && to_column < int(arguments.n)) {
                    PACK value;
                    UNROLL for (int l = 0; l < LANES; ++l) LANE(value, l) = finished(i * BLOCK_N + j * LANES + l, to_row, to_column + l);
                    if (SUBTRACT) value = ResultPacks(uvec2(arguments.r)).data[uint(offset) / LANES] - value;
                    ResultPacks(uvec2(arguments.r)).data[uint(offset) / LANES] = value;
                }
            } else {
                UNROLL for (int l = 0; l < LANES; ++l) {
                    if (to_row < int(arguments.m) && to_column + l < int(arguments.n)) {
                        T value = finished(i * BLOCK_N + j * LANES + l, to_row, to_column + l);
                        if (SUBTRACT) value = R_LOAD(arguments.r.data[offset + l]) - value;
                        arguments.r.data[offset + l] = R_STORE(value);
                    }
                }
            }
        }
    }
    if (LINKED) link_stored();
}
