// indexed[index arrays] = dense[...]: writing through index arrays. An index out of range writes nothing and is noted.
//
// With `later`, of several elements for one place the last is written: each looks at those after it.
// LATEST: the places take the largest of the numbers of the elements that name them, counted in steps of `later`.
#include "lib/extensions.glsl"
#define SCATTER
#include "lib/selection.glsl"

layout(local_size_x_id = 0) in;

#ifdef LATEST
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Numbers { int data[]; };
#endif

void main() {
    uint element = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (element >= arguments.count) return;
    INDEX indexed;
    int dense;
    if (!vx_locate(element, indexed, dense)) return;
#ifdef LATEST
    atomicMax(Numbers(INDEXED_ADDRESS(indexed)).data[0], int(element / arguments.later));
#else
    if (arguments.later != 0u) {
        for (uint next = element + arguments.later; next < arguments.count; next += arguments.later) {
            INDEX other;
            int unused;
            if (vx_locate(next, other, unused) && other == indexed) return;
        }
    }
    INDEXED(indexed) = ELEMENT_STORAGE(ELEMENT(DENSE(dense)));
#endif
}
