// Random numbers of a distribution whose parameters are the elements of arrays. One invocation for an element, and a block of
// the stream, of which it takes as many attempts as it needs.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/rejection.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Parameters { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Parameters a, b;
    Results results;
    uvec2 key;
    uvec2 block;  // the first one
    uint count;
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    Draw draw = Draw(arguments.block, index, arguments.key);
    T drawn = DISTRIBUTION(A_LOAD(arguments.a.data[index]), A_LOAD(arguments.b.data[index]), draw);
    arguments.results.data[index] = A_STORE(drawn);
}
