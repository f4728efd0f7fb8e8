// Which boxes, in the order of their scores, each box suppresses: bit k of word w of row i says that box 32 w + k comes after
// box i and shares more of their joint area with it than `threshold`. One invocation makes one word.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/pointwise.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Boxes { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Words { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Boxes boxes;  // x and y of two corners
    Words words;
    uvec2 threshold;
    uint count;
    uint width;  // words of a row
} arguments;

#ifdef DOUBLE
#define THRESHOLD packDouble2x32(arguments.threshold)
#else
#define THRESHOLD uintBitsToFloat(arguments.threshold.x)
#endif
#define CORNER(BOX, PLACE) A_LOAD(arguments.boxes.data[4u * (BOX) + (PLACE)])

T vx_area(uint box) {
    precise T area = (CORNER(box, 2u) - CORNER(box, 0u)) * (CORNER(box, 3u) - CORNER(box, 1u));
    return area;
}

T vx_overlap(uint box, uint other, uint axis) {
    precise T length = vx_minimum(CORNER(box, axis + 2u), CORNER(other, axis + 2u))
        - vx_maximum(CORNER(box, axis), CORNER(other, axis));
    return vx_maximum(length, T(0));
}

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint box = index / arguments.width;
    if (box >= arguments.count) return;
    uint first = (index - box * arguments.width) * 32u, word = 0u;
    T area = vx_area(box);
    for (uint k = 0u; k < 32u; ++k) {
        uint other = first + k;
        if (other <= box || other >= arguments.count) continue;
        precise T both = vx_overlap(box, other, 0u) * vx_overlap(box, other, 1u);
        precise T joint = area + vx_area(other) - both;
        if (vx_divide(both, joint) > THRESHOLD) word |= 1u << k;
    }
    arguments.words.data[index] = word;
}
