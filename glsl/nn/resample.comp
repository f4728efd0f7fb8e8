// r = x at other places: each element is a sum over the elements near its place, along each dimension by METHOD.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/resample.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer AResult { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;
    AResult r;
    uvec2 scales[3];  // as float32 or float64
    uint count;       // elements of r
    uint channels;
    int words[WINDOW_WORDS];
} arguments;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = OUTPUT_SIZE, steps = PLANE_STRIDES(0);
    uint places = uint(size.x * size.y * size.z), plane = index / places;
    ivec3 at = vx_unflat(index - plane * places, size);
    uint n = plane / arguments.channels, channel = plane - n * arguments.channels;
    int base = int(n) * BATCH_STRIDE(0) + int(channel) * CHANNEL_STRIDE(0);
    Taps x = vx_taps(at.x, DIMENSION(0)), y = vx_taps(at.y, DIMENSION(1)), z = vx_taps(at.z, DIMENSION(2));
    T sum = T(0);
    for (int i = 0; i < TAPS; ++i) {
        if (x.weight[i] == T(0)) continue;
        T plane_sum = T(0);
        for (int j = 0; j < TAPS; ++j) {
            if (y.weight[j] == T(0)) continue;
            T row = T(0);
            for (int k = 0; k < TAPS; ++k) {
                if (z.weight[k] == T(0)) continue;
                row += z.weight[k] * A_LOAD(arguments.a.data[base + vx_sum(ivec3(x.element[i], y.element[j], z.element[k]) * steps)]);
            }
            plane_sum += y.weight[j] * row;
        }
        sum += x.weight[i] * plane_sum;
    }
    arguments.r.data[index] = A_STORE(sum);
}
