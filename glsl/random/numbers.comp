// Random floating-point numbers: DISTRIBUTION of the words of each block of the stream. One invocation for a block.
#include "lib/extensions.glsl"
#include "lib/philox.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) writeonly buffer Results { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Results results;
    uvec2 key;
    uvec2 block;  // the first one
    uint skip;    // numbers of the first block that come before the first result
    uint count;
} arguments;

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = invocation * SAMPLES_OF_BLOCK;
    if (first >= arguments.skip + arguments.count) return;
    SAMPLES samples = DISTRIBUTION(vx_block(arguments.block, invocation, 0u, arguments.key));
    for (uint k = 0u; k < SAMPLES_OF_BLOCK; ++k) {
        uint place = first + k - arguments.skip;
        if (place < arguments.count) arguments.results.data[place] = samples[k];
    }
}
