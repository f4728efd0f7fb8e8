// The sums of convolution_square.comp on CPU drivers, in the same order. What windows slide over and the weight are bound, and read in
// texels of four elements: these drivers load a texel at once, and through an address lane by lane. Each invocation sums ROWS x COLUMNS
// neighbours of r: as many columns as share the elements that three texels have wherever the first of them lies.
#define TEXELS
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/product.glsl"
#include "lib/window.glsl"
#include "lib/convolution_arguments.glsl"
#include "lib/texels.glsl"

layout(binding = 0) uniform usamplerBuffer a_texels;
layout(binding = 1) uniform usamplerBuffer weight_texels;

#define EACH(NAME, COUNT) [[unroll]] for (int NAME = 0; NAME < (COUNT); ++NAME)
const int SPAN = (ROWS - 1) * STEP + WIDTH, LINE = (COLUMNS - 1) * STEP + WIDTH;

// TARGET = the COUNT elements from a place on. Those beyond the texels that are bound are others, and not to be used.
#define LOAD(NAME, PLACE, COUNT, TARGET)                                                                            \
    {                                                                                                               \
        int texel = (PLACE) >> 2;                                                                                   \
        T read[((COUNT) + 6) / 4 * 4];                                                                              \
        EACH(t, ((COUNT) + 6) / 4) {                                                                                \
            uvec4 four = texelFetch(NAME##_texels, clamp(texel + t, 0, arguments.NAME##_last));                     \
            EACH(e, 4) read[4 * t + e] = TEXEL_float32(four, e);                                                    \
        }                                                                                                           \
        bool two = ((PLACE) & 2) != 0, odd = ((PLACE) & 1) != 0;                                                    \
        EACH(e, (COUNT) + 1) read[e] = two ? read[e + 2] : read[e];                                                 \
        EACH(e, COUNT) TARGET[e] = odd ? read[e + 1] : read[e];                                                     \
    }

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    ivec3 size = OUTPUT_SIZE, other = INPUT_SIZE;
    ivec3 blocks = ivec3(size.x, (size.y + ROWS - 1) / ROWS, (size.z + COLUMNS - 1) / COLUMNS), steps = PLANE_STRIDES(0);
    uint plane = index / uint(blocks.x * blocks.y * blocks.z);
    ivec3 at = vx_unflat(index - plane * uint(blocks.x * blocks.y * blocks.z), blocks) * ivec3(1, ROWS, COLUMNS);
    Channel to = vx_channel(plane);
    ivec3 first = at * STRIDE - PADDING;
    int depth = KERNEL_SIZE.x, dilation = DILATION.x;
    T sum[ROWS][COLUMNS];
    EACH(j, ROWS) EACH(i, COLUMNS) sum[j][i] = T(0);
    for (uint c = 0u; c < arguments.from; ++c) {
        int from = arguments.a + to.from + int(c) * CHANNEL_STRIDE(0);
        int weights = arguments.weight + to.weights + int(c) * arguments.weight_from;
        for (int tap = 0; tap < depth; ++tap) {
            int x = first.x + tap * dilation;
            if (x < 0 || x >= other.x) continue;
            T weight[WIDTH * WIDTH];
            LOAD(weight, weights + tap * WIDTH * WIDTH, WIDTH * WIDTH, weight)
            int start = from + x * steps.x + first.z;
            EACH(row, SPAN) {
                int y = first.y + row;
                bool inside = y >= 0 && y < other.y;
                T line[LINE];
                LOAD(a, start + clamp(y, 0, other.y - 1) * steps.y, LINE, line)
                EACH(e, LINE) line[e] = first.z + e >= 0 && first.z + e < other.z ? line[e] : T(0);
                EACH(j, ROWS) {
                    int tap_row = row - j * STEP;
                    if (tap_row >= 0 && tap_row < WIDTH) {
                        EACH(i, COLUMNS) {
                            T next = sum[j][i];
                            EACH(k, WIDTH) next = vx_multiply_add(line[i * STEP + k], weight[tap_row * WIDTH + k], next);
                            sum[j][i] = inside ? next : sum[j][i];
                        }
                    }
                }
            }
        }
    }
    T bias = T(0);
    if (BIAS) bias = A_LOAD(arguments.bias.data[to.bias]);
    ivec3 r_steps = PLANE_STRIDES(1);
    int target = to.r + vx_sum(at * r_steps);
    EACH(j, ROWS) EACH(i, COLUMNS) {
        T value = BIAS ? sum[j][i] + bias : sum[j][i];
        if (at.y + j < size.y && at.z + i < size.z) arguments.r.data[target + j * r_steps.y + i * r_steps.z] = A_STORE(value);
    }
}
