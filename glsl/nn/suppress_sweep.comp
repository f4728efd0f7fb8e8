// The boxes that none suppresses which is kept itself: blocks of 32 boxes in the order of their scores, by one workgroup. All
// invocations decide about a block; then each adds what its boxes suppress to some words of those behind it.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Words { uint data[]; };
layout(buffer_reference, scalar) coherent buffer Suppressed { uint data[]; };
layout(buffer_reference, scalar) writeonly buffer Kept { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Words words;
    Suppressed suppressed;  // one bit for each box
    Kept kept;              // 1 or 0 for each box
    uint count;
    uint width;
    uint begin, end;  // blocks
} arguments;

void main() {
    uint lane = gl_LocalInvocationIndex;
    for (uint block = arguments.begin; block < arguments.end; ++block) {
        uint suppressed = arguments.suppressed.data[block], kept = 0u;
        [[unroll]] for (uint k = 0u; k < 32u; ++k) {
            uint box = min(32u * block + k, arguments.count - 1u);
            uint row = arguments.words.data[box * arguments.width + block];
            bool keep = (suppressed >> k & 1u) == 0u && 32u * block + k < arguments.count;
            kept |= keep ? 1u << k : 0u;
            suppressed |= keep ? row : 0u;
        }
        if (lane < 32u && 32u * block + lane < arguments.count) arguments.kept.data[32u * block + lane] = int(kept >> lane & 1u);
        for (uint word = block + 1u + lane; word < arguments.width; word += gl_WorkGroupSize.x) {
            uint bits = arguments.suppressed.data[word];
            [[unroll]] for (uint k = 0u; k < 32u; ++k) {
                uint box = min(32u * block + k, arguments.count - 1u);
                uint row = arguments.words.data[box * arguments.width + word];
                bits |= (kept >> k & 1u) != 0u ? row : 0u;
            }
            arguments.suppressed.data[word] = bits;
        }
        memoryBarrierBuffer();
        barrier();
    }
}
