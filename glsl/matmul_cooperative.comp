// r = a @ b for a stack of products of 16-bit floating-point matrices by cooperative matrices, summed in float32.
//
// A workgroup makes a TILE_M x TILE_N tile of r, walking over k in steps of TILE_K through shared memory (the next step is
// fetched into registers while one is computed); each subgroup keeps a PART_M x PART_N part of it in fragments. The steps
// go from the end of k to its beginning, so that only the first one, which may be cut short, has to look at what lies
// past the end.
//
// Operands move as packs of 8 elements: A_ALONG_K and B_ALONG_K say along which dimension elements lie side by side; the
// strides of all others, and the addresses, are multiples of 8 elements. Rows in shared memory are one pack longer than
// the tile, which keeps the 8 rows of a fragment in different banks (2.4 times as fast on an NVIDIA H200).
//
// Measured there, in TFLOP/s for n = 8192: one step in shared memory and tiles of 128 x 128, 291; two steps there, which
// save a barrier for each, 150 to 240, as a processor holds two workgroups only where they use less than 24 KiB each;
// tensor loads of VK_NV_cooperative_matrix2 up to 230; fragments alone, nothing fetched, 560, and 525 from shared memory.
#pragma use_vulkan_memory_model
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#define ELEMENT bfloat16_t
#else
#define ELEMENT float16_t
#endif
#include "lib/dtypes.glsl"

const int SUBGROUPS = TILE_M / PART_M * (TILE_N / PART_N), SIZE = SUBGROUPS * SUBGROUP;
layout(local_size_x = SIZE) in;
layout(constant_id = 1) const bool A_ALONG_K = true;
layout(constant_id = 2) const bool B_ALONG_K = false;
layout(constant_id = 3) const bool R_PACKED = false;  // rows of r begin at multiples of 16 bytes
layout(constant_id = 4) const bool R_FLOAT32 = false; // r holds the sums, not rounded

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer AElements { uvec4 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer BElements { uvec4 data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { uint16_t data[]; };
layout(buffer_reference, scalar) writeonly buffer Sums { float data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer ResultPacks { uvec4 data[]; };

#include "lib/matmul_push.glsl"
#include "lib/stack.glsl"

#define LANES 8 // elements of a pack

const int ROW_K = TILE_K / LANES + 1, ROW_M = TILE_M / LANES + 1, ROW_N = TILE_N / LANES + 1;
const int A_ROW = A_ALONG_K ? ROW_K : ROW_M, B_ROW = B_ALONG_K ? ROW_K : ROW_N;
const int A_SIZE = A_ALONG_K ? TILE_M * ROW_K : TILE_K * ROW_M, B_SIZE = B_ALONG_K ? TILE_N * ROW_K : TILE_K * ROW_N;
const int STORE_ROW = FRAGMENT_N / 4 + 1, STORE_SIZE = SUBGROUPS * FRAGMENT_M * STORE_ROW;
const int A_PACKS = TILE_M * TILE_K / LANES / SIZE, B_PACKS = TILE_N * TILE_K / LANES / SIZE;
const int DOWN = PART_M / FRAGMENT_M, ACROSS = PART_N / FRAGMENT_N;

shared uvec4 a_tile[A_SIZE > STORE_SIZE ? A_SIZE : STORE_SIZE];
shared uvec4 b_tile[B_SIZE];

int local = int(gl_LocalInvocationIndex);
Place place;
int row, column, length;     // where the tile begins in r, and how many products a sum has
int part_row, part_column;   // where the subgroup's part begins in the tile
coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator> sums[DOWN * ACROSS];

// The pack without the elements from `count` on.
uvec4 beginning(uvec4 pack, int count) {
    ivec4 kept = clamp(count - ivec4(0, 2, 4, 6), 0, 2);
    return pack & ((uvec4(1u) << 16 * uvec4(min(kept, 1))) - 1u | -uvec4(equal(kept, ivec4(2))));
}

// For an operand: NAME_fetch brings its part of the tile at `first` into registers, NAME_put writes it to shared memory.
// Past the edge the last row or column is fetched again, and its sums are not stored.
#define OPERAND(NAME, ALONG_K, TILE, ROW, COUNT, START, EXTENT, STRIDE, STRIDE_K)                       \
    uvec4 NAME##_next[COUNT];                                                                                  \
    int NAME##_base[COUNT];                                                                                    \
    ivec2 NAME##_pack(int p) {                                                                                 \
        int number = p * SIZE + local;                                                                         \
        return ALONG_K ? ivec2(number / (TILE_K / LANES), number % (TILE_K / LANES) * LANES)                   \
                       : ivec2(number % (TILE / LANES) * LANES, number / (TILE / LANES));                      \
    }                                                                                                          \
    void NAME##_begin() {                                                                                      \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                           \
            ivec2 at = NAME##_pack(p);                                                                         \
            int last = int(EXTENT) - 1;                                                                        \
            NAME##_base[p] = place.NAME / LANES + (ALONG_K ? min(START + at.x, last) * (STRIDE / LANES)        \
                                                           : min(START + at.x, last) / LANES);                 \
        }                                                                                                      \
    }                                                                                                          \
    void NAME##_fetch(int first, bool whole) {                                                                 \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                           \
            int k = first + NAME##_pack(p).y, safe = whole ? k : min(k, length - 1);                           \
            uvec4 pack = push.NAME.data[NAME##_base[p] + (ALONG_K ? safe / LANES : safe * (STRIDE_K / LANES))]; \
            int count = ALONG_K ? length - k : k < length ? LANES : 0;                                         \
            NAME##_next[p] = whole ? pack : beginning(pack, count);                                            \
        }                                                                                                      \
    }                                                                                                          \
    void NAME##_put() {                                                                                        \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                           \
            ivec2 at = NAME##_pack(p);                                                                         \
            NAME##_tile[ALONG_K ? at.x * ROW + at.y / LANES : at.y * ROW + at.x / LANES] = NAME##_next[p];     \
        }                                                                                                      \
    }

OPERAND(a, A_ALONG_K, TILE_M, A_ROW, A_PACKS, row, push.m, push.a_m, push.a_k)
OPERAND(b, B_ALONG_K, TILE_N, B_ROW, B_PACKS, column, push.n, push.b_n, push.b_k)

#include "lib/matmul_tile.glsl"

void put_and_wait() {
    a_put();
    b_put();
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

// Two rounded results as one word.
uint rounded(float first, float second) {
#ifdef BFLOAT16
    return vx_bfloat16_to_bits(first) | vx_bfloat16_to_bits(second) << 16;
#else
    return packFloat2x16(f16vec2(first, second));
#endif
}

// Stores a fragment through the subgroup's own part of a_tile: only so is it known which invocation holds which element.
void store(int number, int first_row, int first_column) {
    const int OWN = int(gl_SubgroupID) * FRAGMENT_M * STORE_ROW, PACKS = FRAGMENT_N / LANES;
    coopMatStore(sums[number], a_tile, OWN, STORE_ROW, gl_CooperativeMatrixLayoutRowMajor);
    subgroupMemoryBarrierShared();
    subgroupBarrier();
    for (int p = int(gl_SubgroupInvocationID); p < FRAGMENT_M * PACKS; p += SUBGROUP) {
        int to_row = first_row + p / PACKS, to_column = first_column + p % PACKS * LANES;
        int offset = place.r + to_row * push.r_m + to_column, at = OWN + p / PACKS * STORE_ROW + p % PACKS * 2;
        if (to_row >= int(push.m)) continue;
        vec4 low = uintBitsToFloat(a_tile[at]), high = uintBitsToFloat(a_tile[at + 1]);
        if (R_FLOAT32) {
            [[unroll]] for (int l = 0; l < LANES; ++l) {
                if (to_column + l < int(push.n)) Sums(uvec2(push.r)).data[offset + l] = l < 4 ? low[l % 4] : high[l % 4];
            }
            continue;
        }
        uvec4 pack = uvec4(rounded(low.x, low.y), rounded(low.z, low.w), rounded(high.x, high.y), rounded(high.z, high.w));
        if (R_PACKED && to_column + LANES <= int(push.n)) {
            ResultPacks(uvec2(push.r)).data[offset / LANES] = pack;
        } else {
            [[unroll]] for (int l = 0; l < LANES; ++l) {
                if (to_column + l < int(push.n)) push.r.data[offset + l] = uint16_t(pack[l / 2] >> l % 2 * 16);
            }
        }
    }
    subgroupMemoryBarrierShared();
    subgroupBarrier();
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
    a_fetch(first, false);
    b_fetch(first, false);
    [[dont_unroll]] for (; first > 0; first -= TILE_K) {
        put_and_wait();
        a_fetch(first - TILE_K, true);
        b_fetch(first - TILE_K, true);
        multiply();
        barrier();
    }
    put_and_wait();
    multiply();
    barrier(); // store writes over the tile of a
    [[unroll]] for (int i = 0; i < DOWN; ++i) {
        [[unroll]] for (int j = 0; j < ACROSS; ++j) {
            store(i * ACROSS + j, row + part_row + i * FRAGMENT_M, column + part_column + j * FRAGMENT_N);
        }
    }
}
