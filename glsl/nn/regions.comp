// One number for each bin of each region and channel. With SAMPLES the mean of points between pixels, else the largest pixel
// and its place, or with OF_CHANNELS the mean of pixels. With OF_CHANNELS each bin has channels of its own.
// One invocation makes one element.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool OF_CHANNELS = false;
layout(constant_id = 2) const bool HALF_PIXEL = false;  // corners lie half a pixel further

#define WITHOUT_LAST (OF_CHANNELS ? 1 : 0)
#include "lib/regions.glsl"

#define BLOCK 16  // pixels at a time: llvmpipe ends all loops of an invocation after 65,535 turns together

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    int all = arguments.bins.x * arguments.bins.y;
    uint plane = index / uint(all);
    int bin = int(index - plane * uint(all));
    ivec2 bins = ivec2(bin / arguments.bins.y, bin % arguments.bins.y);
    int channels = OF_CHANNELS ? arguments.size.y / all : arguments.size.y;
    uint region = plane / uint(channels);
    int channel = int(plane - region * uint(channels));
    if (OF_CHANNELS) channel = channel * all + bin;
    int picture = int(vx_corner(region, 0u));
    if (picture < 0 || picture >= arguments.size.x) {
        arguments.r.data[index] = A_STORE(VX_NAN);
        arguments.places.data[index] = OF_CHANNELS ? channel : -1;
        return;
    }
    uint base = uint(picture * arguments.size.y + channel) * uint(arguments.size.z * arguments.size.w);
    Side y = vx_side(region, 0), x = vx_side(region, 1);
#ifdef SAMPLES
    T sum = T(0);
    for (int i = 0; i < y.points; ++i) {
        Point row = vx_point(y, bins.x, i, 0);
        for (int block = 0; block < x.points; block += BLOCK) {
            [[unroll]] for (int k = 0; k < BLOCK; ++k) {
                if (block + k >= x.points) break;
                Point column = vx_point(x, bins.y, block + k, 1);
                uint low = base + uint(row.low * arguments.size.w), high = base + uint(row.high * arguments.size.w);
                precise T inside = row.low_weight * (column.low_weight * A_LOAD(arguments.a.data[low + uint(column.low)]))
                    + row.low_weight * (column.high_weight * A_LOAD(arguments.a.data[low + uint(column.high)]))
                    + row.high_weight * (column.low_weight * A_LOAD(arguments.a.data[high + uint(column.low)]))
                    + row.high_weight * (column.high_weight * A_LOAD(arguments.a.data[high + uint(column.high)]));
                if (row.low_weight + row.high_weight != T(0) && column.low_weight + column.high_weight != T(0)) sum += inside;
            }
        }
    }
    int count = y.points * x.points;
    arguments.r.data[index] = A_STORE(vx_divide(sum, T(OF_CHANNELS ? count : max(count, 1))));
    if (OF_CHANNELS) arguments.places.data[index] = channel;
#else
    ivec2 rows = vx_pixels(y, bins.x, 0), columns = vx_pixels(x, bins.y, 1);
    bool none = rows.y <= rows.x || columns.y <= columns.x;
    T value = none || OF_CHANNELS ? T(0) : T(-3.4028234663852886e38);
    int place = -1;
    for (int i = rows.x; i < rows.y; ++i) {
        for (int block = columns.x; block < columns.y; block += BLOCK) {
            [[unroll]] for (int k = 0; k < BLOCK; ++k) {
                if (block + k >= columns.y) break;
                int at = i * arguments.size.w + block + k;
                T pixel = A_LOAD(arguments.a.data[base + uint(at)]);
                if (OF_CHANNELS) {
                    value += pixel;
                } else if (pixel > value) {
                    value = pixel;
                    place = at;
                }
            }
        }
    }
    if (OF_CHANNELS && !none) value = vx_divide(value, T((rows.y - rows.x) * (columns.y - columns.x)));
    arguments.r.data[index] = A_STORE(value);
    arguments.places.data[index] = OF_CHANNELS ? channel : place;
#endif
}
