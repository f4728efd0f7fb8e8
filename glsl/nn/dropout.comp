// Elements of a times `scale` where the stream of random numbers keeps them, 0 where it does not, and which it keeps. One
// invocation for a block of four words of the stream.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/philox.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Masks { STORAGE_bool data[]; };

layout(push_constant, scalar) uniform Push {
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
} push;

#ifdef DOUBLE
#define SCALE packDouble2x32(push.scale)
#else
#define SCALE uintBitsToFloat(push.scale.x)
#endif

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = invocation * 4u;
    if (first >= push.skip + push.count) return;
    uvec4 words = vx_block(push.block, invocation, 0u, push.key);
    for (uint k = 0u; k < 4u; ++k) {
        uint place = first + k - push.skip;
        if (place < push.count) {
            bool kept = push.all != 0u || words[k] < push.keep;
            precise T value = A_LOAD(push.a.data[place]) * SCALE;
            push.results.data[place] = A_STORE(kept ? value : T(0));
            push.masks.data[place] = STORE_bool(kept);
        }
    }
}
