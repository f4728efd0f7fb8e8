// r = softmax(scale * q @ k.T where the mask allows) @ v for 16-bit floating-point types by cooperative matrices, without
// the scores ever in memory: Dao, "FlashAttention-2", https://arxiv.org/abs/2307.08691.
//
// Each subgroup keeps ROWS fragments of rows of q and of their results, and walks over the keys in blocks of KEYS, which the
// workgroup brings into shared memory, one block while it works on another. Scores, powers and sums are float32; the powers are
// rounded to the type before they are multiplied.
//
// Fragments say nothing about which invocation holds which element. With REDUCTIONS, an extension finds the largest of a row
// and makes fragments of scores fragments to multiply with; without, scores become powers in shared memory, and what rows are
// multiplied with comes from there as a fragment of equal columns.
#pragma use_vulkan_memory_model
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef REDUCTIONS
#extension GL_NV_cooperative_matrix2 : require
#else
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_vote : require
#endif
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
#define Sums coopmat<float, gl_ScopeSubgroup, FRAGMENT, FRAGMENT, gl_MatrixUseAccumulator>
#define First coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT, FRAGMENT, gl_MatrixUseA>
#define Second coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT, FRAGMENT, gl_MatrixUseB>

layout(local_size_x_id = 0) in;
const int SIZE = int(gl_WorkGroupSize.x), SUBGROUPS = SIZE / SUBGROUP;
layout(constant_id = 1) const bool MASKED = false; // numbers are added to the scores
layout(constant_id = 2) const bool CAUSAL = false; // row l sees the keys 0 to l
layout(constant_id = 3) const int HEAD = 64;       // elements of a row, rounded up to whole fragments
layout(constant_id = 4) const int KEYS = 64;       // of a block
layout(constant_id = 5) const int ROWS = 1;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Packs { uvec4 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer ResultPacks { uvec4 data[]; };
layout(buffer_reference, scalar) readonly buffer Numbers { uint16_t data[]; };

// Strides are in elements; those of q, k and v, and all addresses but the mask's, are multiples of a pack.
layout(set = 1, binding = 0, scalar) uniform Arguments {
    Packs q, k, v;
    Numbers mask;
    ResultPacks r;         // in memory: batches of rows of heads
    int rows, keys, width; // of q, of k and v, of all of them: a multiple of a pack, HEAD at most
    int heads, group;      // of q, and how many of them share a head of k and v
    int q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row;
    int mask_batch, mask_head, mask_row, mask_key;
    float scale;           // times log2(e)
    uint count;            // workgroups with something to do
} arguments;

const int BLOCK = SUBGROUPS * ROWS * FRAGMENT; // rows of a workgroup
// Rows in shared memory are a pack or two longer than what they hold, which keeps the rows of a fragment in different banks.
const int PACKS = HEAD / LANES, ROW = PACKS + 1, SCORE_ROW = KEYS / 4 + 2, POWER_ROW = KEYS / LANES + 1;
const int RESULT_ROW = FRAGMENT / 4 + 1;
#ifdef REDUCTIONS
const int OWN_ROW = ROW > RESULT_ROW ? ROW : RESULT_ROW;
#else
const int OWN_ROW = ROW > SCORE_ROW ? ROW : SCORE_ROW;
#endif
const int OWN = FRAGMENT * OWN_ROW;                                // what a subgroup has of shared memory
const int MOVED = KEYS * PACKS, MOVES = (MOVED + SIZE - 1) / SIZE; // packs of a block, and of an invocation
const int MEMBERS = SUBGROUP / FRAGMENT;                           // invocations that share a row of scores
const int SCORES = KEYS / 4 / MEMBERS;                             // vectors of them that each takes
const int DEEP = HEAD / FRAGMENT, LONG = KEYS / FRAGMENT;
const float LOG2_E = 1.44269504, NONE = uintBitsToFloat(0xff800000u);

shared uvec4 k_tile[KEYS * ROW], v_tile[KEYS * ROW], own_tile[SUBGROUPS * OWN];

int local = int(gl_LocalInvocationIndex), lane = int(gl_SubgroupInvocationID), own = int(gl_SubgroupID) * OWN;
int k_base, v_base, mask_base, first_row;
uvec4 next_k[MOVES], next_v[MOVES];
First queries[ROWS * DEEP], powers[ROWS * LONG];
Sums scores[ROWS * LONG], sums[ROWS * DEEP];

void meet() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
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
        if (key < arguments.keys && element < arguments.width) {
            next_k[p] = arguments.k.data[(k_base + key * arguments.k_row + element) / LANES];
            next_v[p] = arguments.v.data[(v_base + key * arguments.v_row + element) / LANES];
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

// The score of a row and a key in units of log2, and NONE for what is not seen. Past the end the last row is looked at.
float score(float product, int row, int key) {
    row = min(row, arguments.rows - 1);
    product *= arguments.scale;
    if (key >= arguments.keys || (CAUSAL && key > row)) return NONE;
    if (MASKED) product += LOG2_E * number(uint(arguments.mask.data[mask_base + row * arguments.mask_row + key * arguments.mask_key]));
    return product;
}

// Whether some score of a fragment of rows and a block is more than scaled.
bool is_edge(int row, int first) {
    return MASKED || first + KEYS > arguments.keys || (CAUSAL && first + KEYS > row + 1);
}

void scale_sums(int i, Sums factor) {
    [[unroll]] for (int j = 0; j < DEEP; ++j) sums[i * DEEP + j] = sums[i * DEEP + j] * factor;
}

// `soften` makes powers of the scores of a fragment of rows, and multiplies the sums of these rows so that they go with the
// largest scores that were seen so far; `finish` divides them by the sums of the powers. Rows that have seen nothing are 0.
#ifdef REDUCTIONS

Sums top[ROWS], total[ROWS]; // the largest scores, in all columns, and sums of powers, which columns share

float larger(const in float a, const in float b) { return max(a, b); }
float added(const in float a, const in float b) { return a + b; }
float score_at(const in uint r, const in uint c, const in float x, const in int row, const in int key) {
    return score(x, row + int(r), key + int(c));
}

void begin(int i) {
    top[i] = Sums(NONE);
    total[i] = Sums(0.0);
}

void soften(int i, int first) {
    int row = first_row + i * FRAGMENT;
    bool edge = is_edge(row, first);
    Sums largest = top[i], now, factor;
    [[unroll]] for (int j = 0; j < LONG; ++j) {
        Sums mine = scores[i * LONG + j];
        if (edge) {
            coopMatPerElementNV(mine, mine, score_at, row, first + j * FRAGMENT);
        } else {
            mine = mine * arguments.scale;
        }
        [[unroll]] for (int e = 0; e < mine.length(); ++e) largest[e] = max(largest[e], mine[e]);
        scores[i * LONG + j] = mine;
    }
    coopMatReduceNV(now, largest, gl_CooperativeMatrixReduceRowNV, larger);
    [[unroll]] for (int e = 0; e < now.length(); ++e) {
        largest[e] = now[e] == NONE ? 0.0 : now[e];
        factor[e] = exp2(top[i][e] - largest[e]);
    }
    top[i] = now;
    total[i] = total[i] * factor;
    [[unroll]] for (int j = 0; j < LONG; ++j) {
        Sums power = scores[i * LONG + j];
        [[unroll]] for (int e = 0; e < power.length(); ++e) power[e] = exp2(power[e] - largest[e]);
        total[i] = total[i] + power;
        powers[i * LONG + j] = First(power);
    }
    scale_sums(i, factor);
}

void finish(int i) {
    Sums factor;
    coopMatReduceNV(factor, total[i], gl_CooperativeMatrixReduceRowNV, added);
    [[unroll]] for (int e = 0; e < factor.length(); ++e) factor[e] = factor[e] == 0.0 ? 0.0 : 1.0 / factor[e];
    scale_sums(i, factor);
}

#else

shared float factors[SUBGROUPS * FRAGMENT];
int row_of_lane = lane / MEMBERS, member = lane % MEMBERS, own_factors = int(gl_SubgroupID) * FRAGMENT;
float top[ROWS], total[ROWS]; // of the row of this lane: the largest score, and the sum of the powers that it has seen

void begin(int i) {
    top[i] = NONE;
    total[i] = 0.0;
}

// The factors of rows in shared memory, in all columns.
Sums all_factors() {
    Sums factor;
    coopMatLoad(factor, factors, own_factors, 0, DOWN);
    return factor;
}

void soften(int i, int first) {
    [[unroll]] for (int j = 0; j < LONG; ++j) {
        coopMatStore(scores[i * LONG + j], own_tile, own + j * FRAGMENT / 4, SCORE_ROW, ACROSS);
    }
    meet();
    int row = first_row + i * FRAGMENT;
    bool edge = is_edge(row, first);
    vec4 mine[SCORES];
    float largest = top[i];
    [[unroll]] for (int n = 0; n < SCORES; ++n) {
        int at = n * MEMBERS + member, key = first + 4 * at;
        vec4 x = uintBitsToFloat(own_tile[own + row_of_lane * SCORE_ROW + at]);
        if (edge) {
            x.x = score(x.x, row + row_of_lane, key);
            x.y = score(x.y, row + row_of_lane, key + 1);
            x.z = score(x.z, row + row_of_lane, key + 2);
            x.w = score(x.w, row + row_of_lane, key + 3);
        } else {
            x *= arguments.scale;
        }
        mine[n] = x;
        largest = max(largest, max(max(x.x, x.y), max(x.z, x.w)));
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
        int at = n * MEMBERS + member, to = own + row_of_lane * POWER_ROW + at / 2;
        vec4 power = exp2(mine[n] - base);
        total[i] += (power.x + power.y) + (power.z + power.w);
        own_tile[to][at % 2 * 2] = rounded(power.x, power.y);
        own_tile[to][at % 2 * 2 + 1] = rounded(power.z, power.w);
    }
    meet();
    [[unroll]] for (int j = 0; j < LONG; ++j) {
        coopMatLoad(powers[i * LONG + j], own_tile, own + j * FRAGMENT / LANES, POWER_ROW, ACROSS);
    }
    if (subgroupAny(factor != 1.0)) scale_sums(i, all_factors());
    meet(); // before the next scores
}

void finish(int i) {
    [[unroll]] for (int other = 1; other < MEMBERS; other *= 2) total[i] += subgroupShuffleXor(total[i], uint(other));
    if (member == 0) factors[own_factors + row_of_lane] = total[i] == 0.0 ? 0.0 : 1.0 / total[i];
    meet();
    scale_sums(i, all_factors());
}

#endif

void load_queries(int base) {
    [[unroll]] for (int i = 0; i < ROWS; ++i) {
        [[unroll]] for (int n = 0; n < FRAGMENT * PACKS / SUBGROUP; ++n) {
            int p = n * SUBGROUP + lane, element = p % PACKS * LANES;
            int row = min(first_row + i * FRAGMENT + p / PACKS, arguments.rows - 1);
            uvec4 pack = uvec4(0u);
            if (element < arguments.width) pack = arguments.q.data[(base + row * arguments.q_row + element) / LANES];
            own_tile[own + p / PACKS * ROW + p % PACKS] = pack;
        }
        meet();
        [[unroll]] for (int d = 0; d < DEEP; ++d) {
            coopMatLoad(queries[i * DEEP + d], own_tile, own + d * FRAGMENT / LANES, ROW, ACROSS);
        }
        meet();
    }
}

void multiply_keys() {
    [[unroll]] for (int n = 0; n < ROWS * LONG; ++n) scores[n] = Sums(0.0);
    [[unroll]] for (int d = 0; d < DEEP; ++d) {
        [[unroll]] for (int j = 0; j < LONG; ++j) {
            Second key;
            coopMatLoad(key, k_tile, j * FRAGMENT * ROW + d * FRAGMENT / LANES, ROW, DOWN);
            [[unroll]] for (int i = 0; i < ROWS; ++i) {
                scores[i * LONG + j] = coopMatMulAdd(queries[i * DEEP + d], key, scores[i * LONG + j]);
            }
        }
    }
}

void multiply_values() {
    [[unroll]] for (int k = 0; k < LONG; ++k) {
        [[unroll]] for (int j = 0; j < DEEP; ++j) {
            Second value;
            coopMatLoad(value, v_tile, k * FRAGMENT * ROW + j * FRAGMENT / LANES, ROW, ACROSS);
            [[unroll]] for (int i = 0; i < ROWS; ++i) {
                sums[i * DEEP + j] = coopMatMulAdd(powers[i * LONG + k], value, sums[i * DEEP + j]);
            }
        }
    }
}

// Stores a fragment, a pack for each invocation. No loop here: NVIDIA's compiler then keeps all sums in slow memory.
void store(int number_, int batch, int head, int row, int element) {
    const int PIECES = FRAGMENT / LANES;
    coopMatStore(sums[number_], own_tile, own, RESULT_ROW, ACROSS);
    meet();
    int at = own + lane / PIECES * RESULT_ROW + lane % PIECES * 2;
    row += lane / PIECES;
    element += lane % PIECES * LANES;
    if (lane < FRAGMENT * PIECES && row < arguments.rows && element < arguments.width) {
        vec4 low = uintBitsToFloat(own_tile[at]), high = uintBitsToFloat(own_tile[at + 1]);
        arguments.r.data[(((batch * arguments.rows + row) * arguments.heads + head) * arguments.width + element) / LANES] =
            uvec4(rounded(low.x, low.y), rounded(low.z, low.w), rounded(high.x, high.y), rounded(high.z, high.w));
    }
    meet();
}

void main() {
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index >= arguments.count) return;
    int blocks = (arguments.rows + BLOCK - 1) / BLOCK, block = int(index) % blocks, stack = int(index) / blocks;
    if (CAUSAL) block = blocks - 1 - block; // the ones with most to do come first
    int head = stack % arguments.heads, batch = stack / arguments.heads, key_head = head / arguments.group;
    k_base = batch * arguments.k_batch + key_head * arguments.k_head;
    v_base = batch * arguments.v_batch + key_head * arguments.v_head;
    mask_base = batch * arguments.mask_batch + head * arguments.mask_head;
    first_row = block * BLOCK + int(gl_SubgroupID) * ROWS * FRAGMENT;
    int last = CAUSAL ? min(arguments.keys, (block + 1) * BLOCK) : arguments.keys;
    fetch(0);
    load_queries(batch * arguments.q_batch + head * arguments.q_head);
    [[unroll]] for (int i = 0; i < ROWS; ++i) begin(i);
    [[unroll]] for (int n = 0; n < ROWS * DEEP; ++n) sums[n] = Sums(0.0);
    [[dont_unroll]] for (int first = 0; first < last; first += KEYS) {
        barrier(); // the block before has been multiplied
        put();
        barrier();
        if (first + KEYS < last) fetch(first + KEYS);
        multiply_keys();
        [[unroll]] for (int i = 0; i < ROWS; ++i) soften(i, first);
        multiply_values();
    }
    [[unroll]] for (int i = 0; i < ROWS; ++i) {
        finish(i);
        [[unroll]] for (int j = 0; j < DEEP; ++j) {
            store(i * DEEP + j, batch, head, first_row + i * FRAGMENT, j * FRAGMENT);
        }
    }
}
