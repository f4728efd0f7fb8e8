// Elements of a times `scale` where the stream of random numbers keeps them, 0 where it does not, and which it keeps. One
// invocation for a block of four words of the stream.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/philox.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Masks { STORAGE_bool data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;
    Results results;
    Masks masks;
    uvec2 key;
    uvec2 block;   // the first one
    uvec2 scale;
    uint skip;     // words of the first block that come before the first element
    uint count;
    uint keep;     // words below are kept
    uint all;      // whether every element is
} arguments;

#ifdef DOUBLE
#define SCALE packDouble2x32(arguments.scale)
#else
#define SCALE uintBitsToFloat(arguments.scale.x)
#endif

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = invocation * 4u;
    if (first >= arguments.skip + arguments.count) return;
    uvec4 words = vx_block(arguments.block, invocation, 0u, arguments.key);
    for (uint k = 0u; k < 4u; ++k) {
        uint place = first + k - arguments.skip;
        if (place < arguments.count) {
            bool kept = arguments.all != 0u || words[k] < arguments.keep;
            precise T value = A_LOAD(arguments.a.data[place]) * SCALE;
            arguments.results.data[place] = A_STORE(kept ? value : T(0));
            arguments.masks.data[place] = STORE_bool(kept);
        }
    }
}
