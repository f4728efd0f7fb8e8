#ifndef LIB_COOPERATIVE
#define LIB_COOPERATIVE

// What the kernels of cooperative matrices share: operands in packs of 8 elements, and the way of the sums to the result.
//
// They define the tile of a workgroup, TILE_M x TILE_N, and how many products it is deep in shared memory, A_DEPTH and
// B_DEPTH; the part of a subgroup, PART_M x PART_N; the sizes of fragments; how many tiles lie in shared memory, BUFFERS; and
// B_STRIPS if that is so of a alone.
//
// Operands move as packs of 8 elements: A_ALONG_K and B_ALONG_K say along which dimension elements lie side by side; the
// strides of all others, and the addresses, are multiples of 8 elements. Rows in shared memory are one pack longer than
// the tile, which keeps the 8 rows of a fragment in different banks (2.4 times as fast on an NVIDIA H200).
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#include "lib/cooperative_packs.glsl"
#include "lib/dtypes.glsl"

const int SUBGROUPS = TILE_M / PART_M * (TILE_N / PART_N), SIZE = SUBGROUPS * SUBGROUP;
layout(local_size_x = SIZE) in;
layout(constant_id = 1) const bool A_ALONG_K = true;
layout(constant_id = 2) const bool B_ALONG_K = false;
layout(constant_id = 3) const bool R_PACKED = false;  // rows of r begin at multiples of 16 bytes
layout(constant_id = 4) const bool R_FLOAT32 = false; // r holds the sums, not rounded
layout(constant_id = 11) const bool BIAS_PACKED = false;     // packs of what is added lie beside those of r
layout(constant_id = 12) const bool RESIDUAL_PACKED = false;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer AElements { uvec4 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer BElements { uvec4 data[]; };
layout(buffer_reference, scalar) buffer RElements { uint16_t data[]; };
layout(buffer_reference, scalar) writeonly buffer Sums { float data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer ResultPacks { uvec4 data[]; };

#define T float
#ifdef BFLOAT16
#define R_STORAGE STORAGE_bfloat16
#define R_LOAD(x) LOAD_bfloat16(x)
#define R_STORE(v) STORE_bfloat16(v)
#else
#define R_STORAGE STORAGE_float16
#define R_LOAD(x) LOAD_float16(x)
#define R_STORE(v) STORE_float16(v)
#endif
#include "lib/matmul_arguments.glsl"
#include "lib/stack.glsl"

const int ROW_M = TILE_M / LANES + 1, ROW_N = TILE_N / LANES + 1;
const int A_ROW = A_ALONG_K ? A_DEPTH / LANES + 1 : ROW_M, B_ROW = B_ALONG_K ? B_DEPTH / LANES + 1 : ROW_N;
const int A_SIZE = (A_ALONG_K ? TILE_M : A_DEPTH) * A_ROW, B_SIZE = (B_ALONG_K ? TILE_N : B_DEPTH) * B_ROW;
const int STORE_ROW = FRAGMENT_N / 4 + 1, STORE_SIZE = SUBGROUPS * FRAGMENT_M * STORE_ROW;
const int A_PACKS = TILE_M * A_DEPTH / LANES / SIZE, B_PACKS = TILE_N * B_DEPTH / LANES / SIZE;
const int DOWN = PART_M / FRAGMENT_M, ACROSS = PART_N / FRAGMENT_N;

shared uvec4 a_tile[BUFFERS * A_SIZE > STORE_SIZE ? BUFFERS * A_SIZE : STORE_SIZE];
#if BUFFERS > 0 && !defined(B_STRIPS)
shared uvec4 b_tile[BUFFERS * B_SIZE];
#endif

int local = int(gl_LocalInvocationIndex);
Place place;
int row, column, length;     // where the tile begins in r, and how many products a sum has
int part_row, part_column;   // where the subgroup's part begins in the tile
coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator> sums[DOWN * ACROSS];

#include "lib/matmul_tile.glsl"

// The row of a pack in a tile along k: packs with neighbouring numbers lie in different banks.
int apart(int number, int in_a_row) {
    return number / (8 * in_a_row) * 8 + number / in_a_row % (8 / in_a_row) * in_a_row + number / 8 % in_a_row;
}

// For an operand: NAME_fetch brings packs of its tile at `first` into registers, NAME_put writes them to shared memory.
// Past the edge the last row or column is fetched again, and its sums are not stored. NAME_fetch_end is for tiles that
// may reach past the end of k, where it puts zeros, NAME_fetch for others; unless all are `there`, also for tiles before
// the beginning of k, which nobody needs.
#define OPERAND(NAME, ALONG_K, TILE, DEPTH, ROW, COUNT, SETS, START, EXTENT, STRIDE, STRIDE_K)                       \
    uvec4 NAME##_next[SETS * COUNT];                                                                                 \
    uint NAME##_base[COUNT];                                                                                         \
    uint NAME##_step;                                                                                                \
    ivec2 NAME##_pack(int p) {                                                                                       \
        int number = p * SIZE + local;                                                                               \
        return ALONG_K ? ivec2(apart(number, DEPTH / LANES), number % (DEPTH / LANES) * LANES)                       \
                       : ivec2(number % (TILE / LANES) * LANES, number / (TILE / LANES));                            \
    }                                                                                                                \
    void NAME##_begin() {                                                                                            \
        NAME##_step = uint(STRIDE_K) / LANES;                                                                        \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                                 \
            ivec2 at = NAME##_pack(p);                                                                               \
            uint from = uint(min(START + at.x, int(EXTENT) - 1));                                                    \
            NAME##_base[p] = uint(place.NAME) / LANES + (ALONG_K ? from * (uint(STRIDE) / LANES) + uint(at.y) / LANES\
                                                                 : from / LANES + uint(at.y) * NAME##_step);         \
        }                                                                                                            \
    }                                                                                                                \
    void NAME##_fetch_end(int first, int set) {                                                                      \
        [[unroll]] for (int p = 0; p < COUNT; ++p) {                                                                 \
            int k = NAME##_pack(p).y, safe = min(first + k, length - 1) - k;                                         \
            uint back = NAME##_base[p] + (ALONG_K ? uint((safe + k) / LANES - k / LANES) : uint(safe) * NAME##_step);\
            int count = ALONG_K ? length - first - k : first + k < length ? LANES : 0;                               \
            NAME##_next[set * COUNT + p] = beginning(arguments.NAME.data[back], count);                                   \
        }                                                                                                            \
    }                                                                                                                \
    void NAME##_fetch(int first, int set, int from, int to, bool there) {                                                 \
        uint start = ALONG_K ? uint(first) / LANES : uint(first) * NAME##_step;                                      \
        [[unroll]] for (int p = from; p < to; ++p) {                                                                 \
            uint at = there || first >= 0 ? NAME##_base[p] + start : uint(place.NAME) / LANES;                       \
            NAME##_next[set * COUNT + p] = arguments.NAME.data[at];                                                       \
        }                                                                                                            \
    }                                                                                                                \
    void NAME##_put(int buffer_, int set, int from, int to) {                                                        \
        [[unroll]] for (int p = from; p < to; ++p) {                                                                 \
            ivec2 at = NAME##_pack(p);                                                                               \
            int place_ = ALONG_K ? at.x * ROW + at.y / LANES : at.y * ROW + at.x / LANES;                            \
            NAME##_tile[buffer_ * (ALONG_K ? TILE : DEPTH) * ROW + place_] = NAME##_next[set * COUNT + p];           \
        }                                                                                                            \
    }

// Two rounded results as one word.
uint rounded(float first, float second) {
#ifdef BFLOAT16
    return vx_bfloat16_to_bits(first) | vx_bfloat16_to_bits(second) << 16;
#else
    return packFloat2x16(f16vec2(first, second));
#endif
}

vec2 numbers(uint word) {
#ifdef BFLOAT16
    return uintBitsToFloat(uvec2(word << 16, word & 0xffff0000u));
#else
    return vec2(unpackFloat2x16(word));
#endif
}

// Eight sums in a row.
struct Sums8 { vec4 low, high; };

uvec4 rounded8(Sums8 x) {
    return uvec4(rounded(x.low.x, x.low.y), rounded(x.low.z, x.low.w), rounded(x.high.x, x.high.y), rounded(x.high.z, x.high.w));
}

Sums8 numbers8(uvec4 pack) {
    return Sums8(vec4(numbers(pack.x), numbers(pack.y)), vec4(numbers(pack.z), numbers(pack.w)));
}

// Sums rounded to the type of r, by their bits: drivers leave out conversions that undo one another.
Sums8 rounded_to_type8(Sums8 x) {
    [[unroll]] for (int l = 0; l < 4; ++l) {
        x.low[l] = R_LOAD(R_STORE(x.low[l]));
        x.high[l] = R_LOAD(R_STORE(x.high[l]));
    }
    return x;
}

// What is added beside eight sums: `count` elements from `first` on.
Sums8 addends8(Addends from, int first, int step_, int count, bool packed) {
    uvec4 pack = uvec4(0u);
    if (packed && count >= LANES) {
        pack = AElements(uvec2(from)).data[first / LANES];
    } else {
        [[unroll]] for (int l = 0; l < LANES; ++l) {
            pack[l / 2] |= uint(from.data[first + min(l, count - 1) * step_]) << l % 2 * 16;
        }
    }
    return numbers8(pack);
}

Sums8 plus8(Sums8 x, Sums8 other) {
    precise vec4 low = x.low + other.low, high = x.high + other.high;
    return Sums8(low, high);
}

// Sums as they are to be stored, as vx_finish has it; of what is linked, as they are stored before that, or read again then.
Sums8 finished8(Sums8 x, int to_row, int to_column, ivec2 bias_steps, ivec2 residual_steps, bool again) {
    int count = int(arguments.n) - to_column;
    Sums8 bias = Sums8(vec4(0.0), vec4(0.0)), residual = bias;
    if (BIASED) {
        bias = addends8(arguments.bias, vx_beside(place.bias, bias_steps, to_row, to_column), bias_steps.y, count, BIAS_PACKED);
    }
    if (RESIDUAL) {
        int first = vx_beside(place.residual, residual_steps, to_row, to_column);
        residual = addends8(arguments.residual, first, residual_steps.y, count, RESIDUAL_PACKED);
    }
    if (LINKED) {
        if (WIDE && !again) x = plus8(x, bias);
        x = rounded_to_type8(x);
        if (!again && !R_FLOAT32) return x;
        [[unroll]] for (int l = 0; l < LANES; ++l) {
            float value = l < 4 ? x.low[l % 4] : x.high[l % 4];
            vx_linked(value, l < 4 ? bias.low[l % 4] : bias.high[l % 4], l < 4 ? residual.low[l % 4] : residual.high[l % 4]);
            if (l < 4) x.low[l % 4] = value; else x.high[l % 4] = value;
        }
        return x;
    }
    if (BIASED) x = plus8(WIDE ? x : rounded_to_type8(x), bias);
    return RESIDUAL ? plus8(rounded_to_type8(x), residual) : x;
}

// A pack of r, and to store one.
uvec4 got8(int offset, int to_column) {
    if (R_PACKED && to_column + LANES <= int(arguments.n)) return ResultPacks(uvec2(arguments.r)).data[offset / LANES];
    uvec4 pack = uvec4(0u);
    [[unroll]] for (int l = 0; l < LANES; ++l) {
        if (to_column + l < int(arguments.n)) pack[l / 2] |= uint(arguments.r.data[offset + l]) << l % 2 * 16;
    }
    return pack;
}

void put8(int offset, int to_column, uvec4 pack) {
    if (R_PACKED && to_column + LANES <= int(arguments.n)) {
        ResultPacks(uvec2(arguments.r)).data[offset / LANES] = pack;
        return;
    }
    [[unroll]] for (int l = 0; l < LANES; ++l) {
        if (to_column + l < int(arguments.n)) arguments.r.data[offset + l] = uint16_t(pack[l / 2] >> l % 2 * 16);
    }
}

// Stores a fragment through the subgroup's own part of a_tile: only so is it known which invocation holds which element.
void store(int number, int first_row, int first_column) {
    ivec2 bias_steps = vx_bias_steps(), residual_steps = vx_residual_steps();
    const int OWN = int(gl_SubgroupID) * FRAGMENT_M * STORE_ROW, PACKS = FRAGMENT_N / LANES;
    coopMatStore(sums[number], a_tile, OWN, STORE_ROW, gl_CooperativeMatrixLayoutRowMajor);
    subgroupMemoryBarrierShared();
    subgroupBarrier();
    for (int p = int(gl_SubgroupInvocationID); p < FRAGMENT_M * PACKS; p += SUBGROUP) {
        int to_row = first_row + p / PACKS, to_column = first_column + p % PACKS * LANES;
        int offset = place.r + to_row * arguments.r_m + to_column, at = OWN + p / PACKS * STORE_ROW + p % PACKS * 2;
        if (to_row >= int(arguments.m) || to_column >= int(arguments.n)) continue;
        Sums8 x = Sums8(uintBitsToFloat(a_tile[at]), uintBitsToFloat(a_tile[at + 1]));
        x = finished8(x, to_row, to_column, bias_steps, residual_steps, false);
        if (R_FLOAT32 && R_PACKED && to_column + LANES <= int(arguments.n)) {
            ResultPacks(uvec2(arguments.r)).data[offset / 4] = floatBitsToUint(x.low);
            ResultPacks(uvec2(arguments.r)).data[offset / 4 + 1] = floatBitsToUint(x.high);
            continue;
        }
        if (R_FLOAT32) {
            [[unroll]] for (int l = 0; l < LANES; ++l) {
                if (to_column + l < int(arguments.n)) Sums(uvec2(arguments.r)).data[offset + l] = l < 4 ? x.low[l % 4] : x.high[l % 4];
            }
            continue;
        }
        put8(offset, to_column, rounded8(x));
    }
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

// Computes what is linked of the elements of a fragment that this invocation has stored.
void link_stored(int first_row, int first_column) {
    ivec2 bias_steps = vx_bias_steps(), residual_steps = vx_residual_steps();
    const int PACKS = FRAGMENT_N / LANES;
    for (int p = int(gl_SubgroupInvocationID); p < FRAGMENT_M * PACKS; p += SUBGROUP) {
        int to_row = first_row + p / PACKS, to_column = first_column + p % PACKS * LANES;
        if (to_row >= int(arguments.m) || to_column >= int(arguments.n)) continue;
        int offset = place.r + to_row * arguments.r_m + to_column;
        Sums8 x = finished8(numbers8(got8(offset, to_column)), to_row, to_column, bias_steps, residual_steps, true);
        put8(offset, to_column, rounded8(x));
    }
}

// Stores all fragments. What is linked may be long: among the fragments, drivers would no longer unroll these loops, and keep the sums in
// memory.
void store_sums(int first_row, int first_column) {
    [[unroll]] for (int i = 0; i < DOWN; ++i) {
        [[unroll]] for (int j = 0; j < ACROSS; ++j) {
            store(i * ACROSS + j, first_row + i * FRAGMENT_M, first_column + j * FRAGMENT_N);
        }
    }
    if (LINKED && !R_FLOAT32) {
        [[dont_unroll]] for (int number = 0; number < DOWN * ACROSS; ++number) {
            link_stored(first_row + number / ACROSS * FRAGMENT_M, first_column + number % ACROSS * FRAGMENT_N);
        }
    }
}

#endif
