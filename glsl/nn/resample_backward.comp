// The gradient of what was resampled: one invocation sums one element, over the places of the result that took from it, in
// order, so the sum is the same in every run. Candidates are looked at generously; those with the weight 0 are left out.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/resample.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer AResult { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;  // the gradient of the result
    AResult r;
    uvec2 scales[3];  // as float32 or float64
    uint count;       // elements of r
    uint channels;
    int words[WINDOW_WORDS];
} arguments;

// The weight with which a place of the result took an element.
T weight_of(int place, int element, Dimension d) {
    if (place < 0 || place >= d.result) return T(0);
    Taps taps = vx_taps(place, d);
    T sum = T(0);
    for (int k = 0; k < TAPS; ++k) {
        if (taps.element[k] == element) sum += taps.weight[k];
    }
    return sum;
}

#if METHOD == REFLECT
// Mirrored at the first element, not mirrored, mirrored at the last element.
ivec2 candidates(int element, Dimension d) {
    return ivec2(element > 0 ? -1 : 0, element < d.size - 1 ? 1 : 0);
}
int place_of(int number, int element, Dimension d) {
    return d.padding + (number < 0 ? -element : number > 0 ? 2 * (d.size - 1) - element : element);
}
#else
// The first and the last place that may have taken an element. Outermost elements also stand for what lies outside.
ivec2 candidates(int element, Dimension d) {
    ivec2 range = ivec2(element + d.padding);
#if METHOD != REPLICATE
    if (d.scale > T(0)) {
        T reach = T(TAPS / 2) + T(1);
        range.x = int(max((T(element) - reach) / d.scale, T(0))) - 1;
        range.y = int(min((T(element) + reach + T(1)) / d.scale, T(d.result))) + 1;
    } else {
        range = ivec2(0, d.result - 1);
    }
#endif
    return ivec2(element == 0 ? 0 : max(range.x, 0), element == d.size - 1 ? d.result - 1 : min(range.y, d.result - 1));
}
int place_of(int number, int element, Dimension d) { return number; }
#endif

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = INPUT_SIZE, steps = PLANE_STRIDES(0);
    uint places = uint(size.x * size.y * size.z), plane = index / places;
    ivec3 at = vx_unflat(index - plane * places, size);
    uint n = plane / arguments.channels, channel = plane - n * arguments.channels;
    int base = int(n) * BATCH_STRIDE(0) + int(channel) * CHANNEL_STRIDE(0);
    Dimension dx = DIMENSION(0), dy = DIMENSION(1), dz = DIMENSION(2);
    ivec2 xs = candidates(at.x, dx), ys = candidates(at.y, dy), zs = candidates(at.z, dz);
    T sum = T(0);
    for (int i = xs.x; i <= xs.y; ++i) {
        int x = place_of(i, at.x, dx);
        T wx = weight_of(x, at.x, dx);
        if (wx == T(0)) continue;
        for (int j = ys.x; j <= ys.y; ++j) {
            int y = place_of(j, at.y, dy);
            T wy = wx * weight_of(y, at.y, dy);
            if (wy == T(0)) continue;
            for (int k = zs.x; k <= zs.y; ++k) {
                int z = place_of(k, at.z, dz);
                T w = wy * weight_of(z, at.z, dz);
                if (w != T(0)) sum += w * A_LOAD(arguments.a.data[base + vx_sum(ivec3(x, y, z) * steps)]);
            }
        }
    }
    arguments.r.data[index] = A_STORE(sum);
}
