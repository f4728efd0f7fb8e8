// Copies an operand of a product of 16-bit matrices into the order in which a subgroup keeps its fragments, so that each
// invocation loads what it keeps of a fragment as one pack of 8 elements, and nothing passes through shared memory.
//
// A workgroup copies PART rows of a (or columns of b) by DEPTH products through shared memory. Strips of PART rows follow
// one another; in a strip the steps of k, FRAGMENT_K deep; in a step the fragments; in a fragment the packs of the
// invocations. What lies past the edges is zero.
#pragma use_vulkan_memory_model
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#include "lib/cooperative_packs.glsl"
#include "lib/fragment_words.glsl"

#define SUBGROUPS 4
#define DEPTH (4 * FRAGMENT_K)

const int SIZE = SUBGROUPS * SUBGROUP;
layout(local_size_x = SIZE) in;
layout(constant_id = 1) const bool ALONG_K = true;  // elements lie side by side along k
layout(constant_id = 2) const bool PACKED = true;   // in packs of 8

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Packs { uvec4 data[]; };
layout(buffer_reference, scalar) readonly buffer Elements { uint16_t data[]; };
layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements from;
    Packs to;
    uint extent, k, steps;  // rows of a (columns of b), products of a sum, and steps that are filled
    uint stride, stride_k;
} arguments;

const int ROWS = ALONG_K ? PART : DEPTH, COLUMNS = ALONG_K ? DEPTH : PART, ROW = max(PART, DEPTH) / LANES + 1;
const int FRAGMENTS = PART / FRAGMENT;
shared uvec4 tile[max(PART, DEPTH) * ROW];

void main() {
    int local = int(gl_LocalInvocationIndex);
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, chunks = (arguments.steps + 3u) / 4u;
    uint strip = index / chunks, chunk = index % chunks;
    if (strip * PART >= arguments.extent) return;
    uint first = strip * PART, first_k = chunk * DEPTH;
    uint row = ALONG_K ? first : first_k, column = ALONG_K ? first_k : first;
    uint rows = ALONG_K ? arguments.extent : arguments.k, columns = ALONG_K ? arguments.k : arguments.extent;
    uint across = ALONG_K ? arguments.stride : arguments.stride_k, along = ALONG_K ? arguments.stride_k : arguments.stride;
    [[unroll]] for (int turn = 0; turn < PART * DEPTH / LANES / SIZE; ++turn) {
        int p = turn * SIZE + local;
        uint at_row = row + p / (COLUMNS / LANES), at = column + p % (COLUMNS / LANES) * LANES;
        uint from = at_row * across + at * along;
        int count = at_row < rows ? clamp(int(columns) - int(at), 0, LANES) : 0;
        uvec4 pack = uvec4(0);
        if (PACKED) { // without a condition, so that loads do not wait for one another
            pack = beginning(Packs(uvec2(arguments.from)).data[count > 0 ? from / LANES : 0u], count);
        } else {
            [[unroll]] for (int l = 0; l < LANES; ++l) {
                if (l < count) pack[l / 2] |= uint(arguments.from.data[from + l * along]) << l % 2 * 16;
            }
        }
        tile[p / (COLUMNS / LANES) * ROW + p % (COLUMNS / LANES)] = pack;
    }
    barrier();
    [[unroll]] for (int turn = 0; turn < FRAGMENTS * 4 / SUBGROUPS; ++turn) {
        int f = turn * SUBGROUPS + int(gl_SubgroupID), i = f % FRAGMENTS, s = f / FRAGMENTS;
        uint step = chunk * 4u + s;
        if (step >= arguments.steps) continue;
        int start = ALONG_K ? i * FRAGMENT * ROW + s * FRAGMENT_K / LANES : s * FRAGMENT_K * ROW + i * FRAGMENT / LANES;
#ifdef OF_A
        const int ORDER = ALONG_K ? gl_CooperativeMatrixLayoutRowMajor : gl_CooperativeMatrixLayoutColumnMajor;
        coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT, FRAGMENT_K, gl_MatrixUseA> fragment;
#else
        const int ORDER = ALONG_K ? gl_CooperativeMatrixLayoutColumnMajor : gl_CooperativeMatrixLayoutRowMajor;
        coopmat<ELEMENT, gl_ScopeSubgroup, FRAGMENT_K, FRAGMENT, gl_MatrixUseB> fragment;
#endif
        coopMatLoad(fragment, tile, start, ROW, ORDER);
        uvec4 own;
        [[unroll]] for (int w = 0; w < 4; ++w) own[w] = word_of(TWO(fragment[2 * w], fragment[2 * w + 1]));
        arguments.to.data[((strip * arguments.steps + step) * FRAGMENTS + i) * SUBGROUP + gl_SubgroupInvocationID] = own;
    }
}
