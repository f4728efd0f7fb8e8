// indexed[index arrays] = dense[...]: writing through index arrays. An index out of range writes nothing and is noted.
#include "lib/extensions.glsl"
#include "lib/selection.glsl"

layout(local_size_x_id = 0) in;

void main() {
    uint element = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (element >= arguments.count) return;
    INDEX indexed;
    int dense;
    if (vx_locate(element, indexed, dense)) INDEXED(indexed) = ELEMENT_STORAGE(ELEMENT(DENSE(dense)));
}
