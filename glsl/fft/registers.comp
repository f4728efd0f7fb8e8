// A pass of transforms in which each invocation takes a line of LENGTH elements, up to 16, and shares nothing: for CPU
// drivers, where another pass through memory costs less than barriers. The pass itself: lib/fft_pass.glsl.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/fft_pass.glsl"

#define DFT_(length) vx_dft_##length
#define DFT(length) DFT_(length)

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.lines) return;
    Line line = find_line(index);
    COMPLEX v[LENGTH];
    EACH(j, 0, LENGTH) v[j] = load(line, uint(j));
    DFT(LENGTH)(v);
    EACH(k, 0, LENGTH) store(line, uint(k), v[k]);
}
