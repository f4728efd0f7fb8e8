// Random numbers of a distribution whose parameters are the elements of arrays. One invocation for an element, and a block of
// the stream, of which it takes as many attempts as it needs. DISTRIBUTION is an expression of a, b, c and draw.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Parameters { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Parameters a, b, c;
    Results results;
    uvec2 key;
    uvec2 block;   // the first one
    uint a_step;   // from one element to the next: 0 for a single number
    uint b_step;
    uint c_step;
    uint count;
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    T a = A_LOAD(arguments.a.data[index * arguments.a_step]);
    T b = A_LOAD(arguments.b.data[index * arguments.b_step]);
    T c = A_LOAD(arguments.c.data[index * arguments.c_step]);
    Draw draw = Draw(arguments.block, index, arguments.key, 0u);
    arguments.results.data[index] = A_STORE(DISTRIBUTION);
}
