// How often each of the integers below `bins` occurs, added to `counts`. A workgroup takes PER_INVOCATION elements for each of
// its invocations, neighbours side by side. With SHARED it counts in its own memory first, so that few bins do not make
// everybody wait for the same words. Additions of integers give the same in any order.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;

#define PER_INVOCATION 32u
#define AT_ONCE 8u

layout(buffer_reference, scalar) readonly buffer Places { int data[]; };
layout(buffer_reference, scalar) buffer Counts { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Places places;
    Counts counts;
    uint count;
    uint bins;  // with SHARED at most SHARED_BINS
} arguments;

#ifdef SHARED
shared uint own[SHARED_BINS];
#endif

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint size = gl_WorkGroupSize.x;
    uint first = group * size * PER_INVOCATION + gl_LocalInvocationIndex;
#ifdef SHARED
    for (uint bin = gl_LocalInvocationIndex; bin < arguments.bins; bin += size) own[bin] = 0u;
    barrier();
#endif
    // A few at a time: Mesa would write all of them out, which llvmpipe compiles for a quarter of a second.
    [[dont_unroll]] for (uint turn = 0u; turn < PER_INVOCATION; turn += AT_ONCE) [[unroll]] for (uint k = 0u; k < AT_ONCE; ++k) {
        uint element = first + (turn + k) * size;
        if (element < arguments.count) {
            uint bin = uint(arguments.places.data[element]);
#ifdef SHARED
            atomicAdd(own[bin], 1u);
#else
            atomicAdd(arguments.counts.data[bin], 1u);
#endif
        }
    }
#ifdef SHARED
    barrier();
    for (uint bin = gl_LocalInvocationIndex; bin < arguments.bins; bin += size) {
        uint counted = own[bin];
        if (counted != 0u) atomicAdd(arguments.counts.data[bin], counted);
    }
#endif
}
