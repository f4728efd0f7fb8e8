// Random shares of a number among categories, which add up to it: those of each category in turn, given what is left, are
// binomial (SHARE(left, share, rest, draw) of the weight of a category and that of it and all after it) or hypergeometric. One
// invocation for a row of categories, and a block of the stream, a part of it for each category.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/drawn_counts.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Parameters { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Parameters counts;    // what each row shares out
    Parameters weights;   // of the categories
    Parameters rests;     // the sums of the weights from each category on
    Results results;
    uvec2 key;
    uvec2 block;          // the first one
    uint counts_step;     // from one row to the next: 0 for one number
    uint weights_step;
    uint categories;
    uint count;           // of rows
} arguments;

T share_by_chance(T left, T weight, T rest, Draw draw) {
    return rest > weight ? vx_draw_binomial(left, vx_divide(weight, rest), draw) : left;
}

T share_without_replacement(T left, T weight, T rest, Draw draw) {
    precise T others = rest - weight;
    return vx_draw_hypergeometric(weight, others, left, draw);
}

void main() {
    uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row >= arguments.count) return;
    uint first = row * arguments.weights_step, target = row * arguments.categories;
    precise T left = A_LOAD(arguments.counts.data[row * arguments.counts_step]);
    for (uint k = 0u; k < arguments.categories; ++k) {
        T weight = A_LOAD(arguments.weights.data[first + k]), rest = A_LOAD(arguments.rests.data[first + k]), share = left;
        if (k + 1u < arguments.categories && left != T(0)) {
            share = SHARE(left, weight, rest, Draw(arguments.block, row, arguments.key, k));
        }
        arguments.results.data[target + k] = A_STORE(share);
        left -= share;
    }
}
