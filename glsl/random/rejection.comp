// Random numbers of a distribution whose parameters are the elements of arrays. One invocation for an element, and a block of
// the stream, of which it takes as many attempts as it needs.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/rejection.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Parameters { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { A_STORAGE data[]; };

layout(push_constant, scalar) uniform Push {
    Parameters a, b;
    Results results;
    uvec2 key;
    uvec2 block;  // the first one
    uint count;
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    Draw draw = Draw(push.block, index, push.key);
    T drawn = DISTRIBUTION(A_LOAD(push.a.data[index]), A_LOAD(push.b.data[index]), draw);
    push.results.data[index] = A_STORE(drawn);
}
