// r = softmax(scale * q @ k.T where the mask allows) @ v for 16-bit floating-point types by cooperative matrices, without
// the scores ever in memory: Dao, "FlashAttention-2", https://arxiv.org/abs/2307.08691.
//
// Each subgroup keeps ROWS fragments of rows of q and of their results, and walks over the keys in blocks of KEYS, which the
// workgroup brings into shared memory, one block while it works on another. Scores, powers and sums are float32; the powers are
// rounded to the type before they are multiplied. Fragments say nothing about which invocation holds which element, so scores
// become powers in shared memory, and what the rows are multiplied with comes from there as a fragment of equal columns.
#pragma use_vulkan_memory_model
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_vote : require
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#define ELEMENT bfloat16_t
#else
#define ELEMENT float16_t
#endif
#include "lib/dtypes.glsl"

#define LANES 8 // elements of a pack
#define ACROSS gl_CooperativeMatrixLayoutRowMajor
#define DOWN gl_CooperativeMatrixLayoutColumnMajor
const int SIZE = SUBGROUPS * SUBGROUP;
layout(local_size_x = SIZE) in;
layout(constant_id = 1) const bool MASKED = false; // numbers are added to the scores
layout(constant_id = 2) const bool CAUSAL = false; // row l sees the keys 0 to l
#ifndef HEAD
layout(constant_id = 3) const int HEAD = 64; // elements of a row, rounded up to whole fragments
layout(constant_id = 4) const int KEYS = 64; // of a block
layout(constant_id = 5) const int ROWS = 1;
#endif

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Packs { uvec4 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer ResultPacks { uvec4 data[]; };
layout(buffer_reference, scalar) readonly buffer Numbers { uint16_t data[]; };

// Strides are in elements; those of q, k, v and r, and the addresses, are multiples of a pack.
layout(push_constant, scalar) uniform Push {
    Packs q, k, v;
    Numbers mask;
    ResultPacks r;
    int rows, keys, width; // of q, of k and v, of all of them: a multiple of a pack, HEAD at most
    int heads, group;      // of q, and how many of them share a head of k and v
    int q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row;
    int mask_batch, mask_head, mask_row, mask_key;
    float scale;           // times log2(e)
    uint count;            // workgroups with something to do
} push;                    // r lies in memory as batches of rows of heads

const int BLOCK = SUBGROUPS * ROWS * FRAGMENT_M; // rows of a workgroup
// Rows in shared memory are a pack or two longer than what they hold, which keeps the rows of a fragment in different banks.
const int PACKS = HEAD / LANES, ROW = PACKS + 1, SCORE_ROW = KEYS / 4 + 2, POWER_ROW = KEYS / LANES + 1;
const int RESULT_ROW = FRAGMENT_N / 4 + 1;
const int OWN_ROW = SCORE_ROW > ROW ? SCORE_ROW : ROW, OWN = FRAGMENT_M * OWN_ROW;
const int MOVED = KEYS * PACKS, MOVES = (MOVED + SIZE - 1) / SIZE; // packs of a block, and of an invocation
const int MEMBERS = SUBGROUP / FRAGMENT_M;                         // invocations that share a row of scores
const int SCORES = KEYS / 4 / MEMBERS;                             // vectors of them that each takes
const int DEEP = HEAD / FRAGMENT_K, WIDE = HEAD / FRAGMENT_N, LONG = KEYS / FRAGMENT_N, STEPS = KEYS / FRAGMENT_K;
const float LOG2_E = 1.44269504, NONE = uintBitsToFloat(0xff800000u);

shared uvec4 k_tile[KEYS * ROW], v_tile[KEYS * ROW], own_tile[SUBGROUPS * OWN];
shared float factors[SUBGROUPS * FRAGMENT_M];

int local = int(gl_LocalInvocationIndex), lane = int(gl_SubgroupInvocationID), subgroup = int(gl_SubgroupID);
int own = subgroup * OWN, own_factors = subgroup * FRAGMENT_M;
int row_of_lane = lane / MEMBERS, member = lane % MEMBERS;
int k_base, v_base, mask_base, first_row;
uvec4 next_k[MOVES], next_v[MOVES];
coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_K, gl_MatrixUseA> queries[ROWS * DEEP], powers[ROWS * STEPS];
coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator> scores[ROWS * LONG], sums[ROWS * WIDE];
float top[ROWS], total[ROWS]; // of the row of this lane: the largest score, and the sum of powers that it has seen

void meet() {
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

// Two rounded numbers as one word.
uint rounded(float first, float second) {
#ifdef BFLOAT16
    return vx_bfloat16_to_bits(first) | vx_bfloat16_to_bits(second) << 16;
#else
    return packFloat2x16(f16vec2(first, second));
#endif
}

float number(uint bits) {
#ifdef BFLOAT16
    return vx_bfloat16_from_bits(bits);
#else
    return unpackHalf2x16(bits).x;
#endif
}

// Keys past the end and elements past the width are zeros.
void fetch(int first) {
    [[unroll]] for (int p = 0; p < MOVES; ++p) {
        int at = p * SIZE + local, key = first + at / PACKS, element = at % PACKS * LANES;
        next_k[p] = next_v[p] = uvec4(0u);
        if (key < push.keys && element < push.width) {
            next_k[p] = push.k.data[(k_base + key * push.k_row + element) / LANES];
            next_v[p] = push.v.data[(v_base + key * push.v_row + element) / LANES];
        }
    }
}

void put() {
    [[unroll]] for (int p = 0; p < MOVES; ++p) {
        int at = p * SIZE + local, to = at / PACKS * ROW + at % PACKS;
        if (MOVED % SIZE == 0 || at < MOVED) {
            k_tile[to] = next_k[p];
            v_tile[to] = next_v[p];
        }
    }
}

// The score of a row and a key in units of log2, and NONE for what is not seen.
float score(float product, int row, int key) {
    if (key >= push.keys || (CAUSAL && key > row)) return NONE;
    product *= push.scale;
    if (MASKED) product += LOG2_E * number(uint(push.mask.data[mask_base + row * push.mask_row + key * push.mask_key]));
    return product;
}

// Multiplies the rows of sums with their factors.
void scale_sums(int i) {
    coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator> factor;
    coopMatLoad(factor, factors, own_factors, 0, DOWN);
    [[unroll]] for (int j = 0; j < WIDE; ++j) sums[i * WIDE + j] = sums[i * WIDE + j] * factor;
}

// Makes powers of the scores of fragments of rows, as fragments, and multiplies the sums of these rows so that they go with
// the largest score that was seen so far.
void soften(int i, int first) {
    [[unroll]] for (int j = 0; j < LONG; ++j) {
        coopMatStore(scores[i * LONG + j], own_tile, own + j * FRAGMENT_N / 4, SCORE_ROW, ACROSS);
    }
    meet();
    // The last row again for those past the end, which are not stored: their masks are not read.
    int row = min(first_row + i * FRAGMENT_M + row_of_lane, push.rows - 1);
    vec4 mine[SCORES];
    float largest = top[i];
    [[unroll]] for (int n = 0; n < SCORES; ++n) {
        int place = n * MEMBERS + member;
        mine[n] = uintBitsToFloat(own_tile[own + row_of_lane * SCORE_ROW + place]);
        [[unroll]] for (int l = 0; l < 4; ++l) mine[n][l] = score(mine[n][l], row, first + 4 * place + l);
        largest = max(largest, max(max(mine[n].x, mine[n].y), max(mine[n].z, mine[n].w)));
    }
    [[unroll]] for (int other = 1; other < MEMBERS; other *= 2) {
        largest = max(largest, subgroupShuffleXor(largest, uint(other)));
    }
    float base = largest == NONE ? 0.0 : largest, factor = exp2(top[i] - base);
    top[i] = largest;
    total[i] *= factor;
    if (member == 0) factors[own_factors + row_of_lane] = factor;
    meet(); // all scores have been read: powers take their place
    [[unroll]] for (int n = 0; n < SCORES; ++n) {
        int place = n * MEMBERS + member, to = own + row_of_lane * POWER_ROW + place / 2;
        vec4 power = exp2(mine[n] - base);
        total[i] += (power.x + power.y) + (power.z + power.w);
        uvec2 words = uvec2(rounded(power.x, power.y), rounded(power.z, power.w));
        own_tile[to][place % 2 * 2] = words.x;
        own_tile[to][place % 2 * 2 + 1] = words.y;
    }
    meet();
    [[unroll]] for (int k = 0; k < STEPS; ++k) {
        coopMatLoad(powers[i * STEPS + k], own_tile, own + k * FRAGMENT_K / LANES, POWER_ROW, ACROSS);
    }
    if (subgroupAny(factor != 1.0)) scale_sums(i);
    meet(); // before the next scores
}

void load_queries(int base) {
    [[unroll]] for (int i = 0; i < ROWS; ++i) {
        for (int p = lane; p < FRAGMENT_M * PACKS; p += SUBGROUP) {
            int row = min(first_row + i * FRAGMENT_M + p / PACKS, push.rows - 1), element = p % PACKS * LANES;
            uvec4 pack = uvec4(0u);
            if (element < push.width) pack = push.q.data[(base + row * push.q_row + element) / LANES];
            own_tile[own + p / PACKS * ROW + p % PACKS] = pack;
        }
        meet();
        [[unroll]] for (int d = 0; d < DEEP; ++d) {
            coopMatLoad(queries[i * DEEP + d], own_tile, own + d * FRAGMENT_K / LANES, ROW, ACROSS);
        }
        meet();
    }
}

void multiply_keys() {
    [[unroll]] for (int n = 0; n < ROWS * LONG; ++n) {
        scores[n] = coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator>(0.0);
    }
    [[unroll]] for (int d = 0; d < DEEP; ++d) {
        [[unroll]] for (int j = 0; j < LONG; ++j) {
            coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT_N, gl_MatrixUseB> key;
            coopMatLoad(key, k_tile, j * FRAGMENT_N * ROW + d * FRAGMENT_K / LANES, ROW, DOWN);
            [[unroll]] for (int i = 0; i < ROWS; ++i) {
                scores[i * LONG + j] = coopMatMulAdd(queries[i * DEEP + d], key, scores[i * LONG + j]);
            }
        }
    }
}

void multiply_values() {
    [[unroll]] for (int k = 0; k < STEPS; ++k) {
        [[unroll]] for (int j = 0; j < WIDE; ++j) {
            coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT_N, gl_MatrixUseB> value;
            coopMatLoad(value, v_tile, k * FRAGMENT_K * ROW + j * FRAGMENT_N / LANES, ROW, ACROSS);
            [[unroll]] for (int i = 0; i < ROWS; ++i) {
                sums[i * WIDE + j] = coopMatMulAdd(powers[i * STEPS + k], value, sums[i * WIDE + j]);
            }
        }
    }
}

// Divides the rows by the sums of their powers and stores them; rows that have seen nothing are 0.
void store(int i, int batch, int head) {
    [[unroll]] for (int other = 1; other < MEMBERS; other *= 2) total[i] += subgroupShuffleXor(total[i], uint(other));
    if (member == 0) factors[own_factors + row_of_lane] = total[i] == 0.0 ? 0.0 : 1.0 / total[i];
    meet();
    scale_sums(i);
    const int PIECES = FRAGMENT_N / LANES;
    [[unroll]] for (int j = 0; j < WIDE; ++j) {
        coopMatStore(sums[i * WIDE + j], own_tile, own, RESULT_ROW, ACROSS);
        meet();
        for (int p = lane; p < FRAGMENT_M * PIECES; p += SUBGROUP) {
            int row = first_row + i * FRAGMENT_M + p / PIECES, element = j * FRAGMENT_N + p % PIECES * LANES;
            int at = own + p / PIECES * RESULT_ROW + p % PIECES * 2;
            vec4 low = uintBitsToFloat(own_tile[at]), high = uintBitsToFloat(own_tile[at + 1]);
            if (row < push.rows && element < push.width) {
                push.r.data[(((batch * push.rows + row) * push.heads + head) * push.width + element) / LANES] = uvec4(
                    rounded(low.x, low.y), rounded(low.z, low.w), rounded(high.x, high.y), rounded(high.z, high.w)
                );
            }
        }
        meet();
    }
}

void main() {
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= push.count) return;
    int blocks = (push.rows + BLOCK - 1) / BLOCK, block = int(index) % blocks, stack = int(index) / blocks;
    if (CAUSAL) block = blocks - 1 - block; // the ones with most to do come first
    int head = stack % push.heads, batch = stack / push.heads, key_head = head / push.group;
    k_base = batch * push.k_batch + key_head * push.k_head;
    v_base = batch * push.v_batch + key_head * push.v_head;
    mask_base = batch * push.mask_batch + head * push.mask_head;
    first_row = block * BLOCK + subgroup * ROWS * FRAGMENT_M;
    int last = CAUSAL ? min(push.keys, (block + 1) * BLOCK) : push.keys;
    fetch(0);
    load_queries(batch * push.q_batch + head * push.q_head);
    [[unroll]] for (int i = 0; i < ROWS; ++i) {
        top[i] = NONE;
        total[i] = 0.0;
    }
    [[unroll]] for (int n = 0; n < ROWS * WIDE; ++n) {
        sums[n] = coopmat<float, gl_ScopeSubgroup, FRAGMENT_M, FRAGMENT_N, gl_MatrixUseAccumulator>(0.0);
    }
    [[dont_unroll]] for (int first = 0; first < last; first += KEYS) {
        barrier(); // the block before has been multiplied
        put();
        barrier();
        if (first + KEYS < last) fetch(first + KEYS);
        multiply_keys();
        [[unroll]] for (int i = 0; i < ROWS; ++i) soften(i, first);
        multiply_values();
    }
    [[unroll]] for (int i = 0; i < ROWS; ++i) store(i, batch, head);
}
