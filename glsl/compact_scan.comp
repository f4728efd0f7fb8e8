// Exclusive prefix sums of counts by a tree of 64 branches, without shared memory (CPU drivers have none to speak of).
// Upwards (SUM): sums[i] = the sum of branch i. Downwards: each branch becomes its running sum from sums[i] on.
#include "lib/extensions.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Counts { uint data[]; };

layout(push_constant, scalar) uniform Push {
    Counts counts;
    Counts sums;
    uint count;
} push;

void main() {
    uint branch = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = branch * 64u;
    if (first >= push.count) return;
    uint end = min(first + 64u, push.count);
#ifdef SUM
    uint sum = 0u;
    for (uint place = first; place < end; ++place) sum += push.counts.data[place];
    push.sums.data[branch] = sum;
#else
    uint running = push.sums.data[branch];
    for (uint place = first; place < end; ++place) {
        uint count = push.counts.data[place];
        push.counts.data[place] = running;
        running += count;
    }
#endif
}
