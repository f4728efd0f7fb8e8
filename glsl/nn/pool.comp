// The average of each window, or with MAXIMUM its largest element (the last NaN where there is one, else the first of those
// that are equal) and the place of that in its plane. One invocation makes one element and takes a window in order.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#ifdef MAXIMUM
#if defined(BITS)
#define ABOVE(A, B) ((A) > (B))
#elif defined(DOUBLE)
#include "lib/float64/bits.glsl"
#define ABOVE(A, B) (vx_is_nan(A) || (A) > (B))
#else
#include "lib/float32/comparison.glsl"
#define ABOVE(A, B) (vx_is_nan(A) || vx_less(B, A))
#endif
#endif
#include "lib/pool.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer AResult { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Words { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;
    AResult r;
    Words indices;
    uint count;        // elements of r
    uint channels;
    uint index_words;  // of an index, 1 or 2
    int divisor;       // of all sums, 0 for the number of places
    int words[WINDOW_WORDS];
} arguments;

#define BLOCK 8  // places at a time: llvmpipe ends all loops of an invocation after 65,535 turns together

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = INPUT_SIZE, outputs = OUTPUT_SIZE, steps = PLANE_STRIDES(0);
    uint windows = uint(outputs.x * outputs.y * outputs.z);
    uint plane = index / windows;
    ivec3 at = vx_unflat(index - plane * windows, outputs);
    uint n = plane / arguments.channels, channel = plane - n * arguments.channels;
    int base = int(n) * BATCH_STRIDE(0) + int(channel) * CHANNEL_STRIDE(0);
    Extent window = WINDOW(at);
    ivec3 first = max(window.first, ivec3(0)), end = min(window.end, size), gap = ivec3(1);
#ifdef MAXIMUM
    if (!ADAPTIVE) {
        gap = DILATION;
        end = min(window.first + (KERNEL_SIZE - 1) * gap + 1, size);
        first = window.first + vx_ceil_divide(max(-window.first, ivec3(0)), gap) * gap;
    }
    ivec3 best_place = first;
    T best = A_LOAD(arguments.a.data[base + vx_sum(first * steps)]);
#else
    T sum = T(0);
#endif
    ivec3 place;
    for (place.x = first.x; place.x < end.x; place.x += gap.x) {
        for (place.y = first.y; place.y < end.y; place.y += gap.y) {
            for (int block = first.z; block < end.z; block += BLOCK * gap.z) {
                [[unroll]] for (int k = 0; k < BLOCK; ++k) {
                    place.z = block + k * gap.z;
                    if (place.z >= end.z) break;
                    T value = A_LOAD(arguments.a.data[base + vx_sum(place * steps)]);
#ifdef MAXIMUM
                    if (ABOVE(value, best)) {
                        best = value;
                        best_place = place;
                    }
#else
                    sum += value;
#endif
                }
            }
        }
    }
#ifdef MAXIMUM
    arguments.r.data[index] = A_STORE(best);
    arguments.indices.data[index * arguments.index_words] = uint(vx_flat(best_place, size));
    if (arguments.index_words > 1u) arguments.indices.data[index * arguments.index_words + 1u] = 0u;
#else
    bool some = all(lessThan(first, end));
    arguments.r.data[index] = A_STORE(some ? sum / T(vx_divisor(window, size, arguments.divisor)) : T(0));
#endif
}
