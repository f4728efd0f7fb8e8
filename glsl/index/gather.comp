// dense[...] = indexed[index arrays]: reading through index arrays. An index out of range gives 0 and is noted.
//
// LINKED: what is stored is any expression of that element, of up to two arrays that lie as dense does, and of numbers
// (vkarray/kernels/product/linked.py).
#include "lib/extensions.glsl"
#ifdef LINKED
#include "lib/dtypes.glsl"
layout(buffer_reference, scalar) readonly buffer Addends { R_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { R_STORAGE data[]; };
layout(constant_id = 8) const bool BIASED = false;
layout(constant_id = 9) const bool RESIDUAL = false;
#endif
#include "lib/selection.glsl"

layout(local_size_x_id = 0) in;

#ifdef LINKED
uvec2 input_at(uint number) { return arguments.inputs[number]; }
void vx_linked(inout T value, T bias, T residual) { input_at(0u); }  // to be linked
#endif

void main() {
    uint element = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (element >= arguments.count) return;
    INDEX indexed;
    int dense;
#ifdef LINKED
    T value = T(0), first = T(0), second = T(0);
    if (vx_locate(element, indexed, dense)) value = R_LOAD(Addends(INDEXED_ADDRESS(indexed)).data[0]);
    if (BIASED) first = R_LOAD(arguments.bias.data[uint(dense) % arguments.bias_count]);
    if (RESIDUAL) second = R_LOAD(arguments.residual.data[uint(dense) % arguments.residual_count]);
    vx_linked(value, first, second);
    Results(arguments.dense).data[dense] = R_STORE(value);
#else
    ELEMENT value = ELEMENT(0);
    if (vx_locate(element, indexed, dense)) value = ELEMENT(INDEXED(indexed));
    DENSE(dense) = ELEMENT_STORAGE(value);
#endif
}
