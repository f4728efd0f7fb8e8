// dense[...] = indexed[index arrays]: reading through index arrays. An index out of range gives 0 and is noted.
#include "lib/extensions.glsl"
#include "lib/selection.glsl"

layout(local_size_x_id = 0) in;

void main() {
    uint element = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (element >= arguments.count) return;
    INDEX indexed;
    int dense;
    ELEMENT value = ELEMENT(0);
    if (vx_locate(element, indexed, dense)) value = ELEMENT(INDEXED(indexed));
    DENSE(dense) = ELEMENT_STORAGE(value);
}
