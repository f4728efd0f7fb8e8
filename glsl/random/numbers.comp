// Random floating-point numbers: DISTRIBUTION of the words of each block of the stream. One invocation for a block.
#include "lib/extensions.glsl"
#include "lib/philox.glsl"
#include "lib/distributions.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

layout(push_constant, scalar) uniform Push {
    Results results;
    uvec2 key;
    uvec2 block;  // the first one
    uint skip;    // numbers of the first block that come before the first result
    uint count;
} push;

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = invocation * SAMPLES_OF_BLOCK;
    if (first >= push.skip + push.count) return;
    SAMPLES samples = DISTRIBUTION(vx_block(push.block, invocation, 0u, push.key));
    for (uint k = 0u; k < SAMPLES_OF_BLOCK; ++k) {
        uint place = first + k - push.skip;
        if (place < push.count) push.results.data[place] = samples[k];
    }
}
