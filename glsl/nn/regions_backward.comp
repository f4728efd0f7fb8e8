// The way back of `nn/regions.comp`: adds to each pixel what the regions arguments.begin to arguments.end give it, in their order, so
// that sums are the same in every run. One invocation sees to one pixel of one channel.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool OF_CHANNELS = false;
layout(constant_id = 2) const bool HALF_PIXEL = false;

#define WITHOUT_LAST 0
#include "lib/regions.glsl"

#ifdef SAMPLES
// The first and the last bin of which points may touch a pixel.
ivec2 vx_bins(Side side, int pixel, int axis) {
    if (side.bin <= T(0)) return ivec2(0, arguments.bins[axis] - 1);
    T first = vx_clip((T(pixel - 1) - side.start) / side.bin - T(1), T(0), T(arguments.bins[axis]));
    T last = vx_clip((T(pixel + 1) - side.start) / side.bin + T(1), T(-1), T(arguments.bins[axis] - 1));
    return ivec2(int(vx_floor(first)), int(vx_floor(last)));
}

// The weight of a pixel in a bin, along one axis.
T vx_weight(Side side, int bin, int pixel, int axis) {
    precise T sum = T(0);
    // Only points less than a pixel away count.
    T step = side.bin / T(side.points);
    int first = 0, last = side.points - 1;
    if (arguments.sampling <= 0 && side.points > 8) {
        T offset = (T(pixel) - side.start - T(bin) * side.bin) / step;
        T reach = T(2) / step;
        first = int(vx_floor(vx_clip(offset - reach, T(0), T(side.points))));
        last = int(vx_ceil(vx_clip(offset + reach, T(0), T(side.points - 1))));
    }
    for (int i = first; i <= last; ++i) {
        Point point = vx_point(side, bin, i, axis);
        if (point.low == pixel) sum += point.low_weight;
        if (point.high == pixel && point.high != point.low) sum += point.high_weight;
    }
    return sum;
}
#endif

T vx_gradient(uint region, int channels, int channel, ivec2 bin) {
    uint plane = region * uint(channels) + uint(channel);
    return A_LOAD(arguments.a.data[(plane * uint(arguments.bins.x) + uint(bin.x)) * uint(arguments.bins.y) + uint(bin.y)]);
}

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint area = uint(arguments.size.z * arguments.size.w);
    uint plane = index / area;
    int at = int(index - plane * area), picture = int(plane / uint(arguments.size.y)), channel = int(plane % uint(arguments.size.y));
    ivec2 pixel = ivec2(at / arguments.size.w, at % arguments.size.w);
    int all = arguments.bins.x * arguments.bins.y, channels = arguments.size.y;
    ivec2 own = ivec2(0);
    if (OF_CHANNELS) {
        own = ivec2(channel % all / arguments.bins.y, channel % arguments.bins.y);
        channels /= all;
        channel /= all;
    }
    precise T sum = arguments.begin == 0u ? T(0) : A_LOAD(arguments.r.data[index]);
    for (uint region = arguments.begin; region < arguments.end; ++region) {
        if (!vx_is_of(region, picture)) continue;
        Side y = vx_side(region, 0), x = vx_side(region, 1);
#ifdef SAMPLES
        T count = T(OF_CHANNELS ? y.points * x.points : max(y.points * x.points, 1));
        ivec2 rows = OF_CHANNELS ? own.xx : vx_bins(y, pixel.x, 0), columns = OF_CHANNELS ? own.yy : vx_bins(x, pixel.y, 1);
        for (int i = rows.x; i <= rows.y; ++i) {
            T row = vx_weight(y, i, pixel.x, 0);
            if (row == T(0)) continue;
            for (int j = columns.x; j <= columns.y; ++j) {
                T column = vx_weight(x, j, pixel.y, 1);
                if (column != T(0)) sum += vx_divide(vx_gradient(region, channels, channel, ivec2(i, j)), count) * (row * column);
            }
        }
#else
        ivec2 rows = vx_pixels(y, own.x, 0), columns = vx_pixels(x, own.y, 1);
        if (pixel.x >= rows.x && pixel.x < rows.y && pixel.y >= columns.x && pixel.y < columns.y) {
            sum += vx_divide(vx_gradient(region, channels, channel, own), T((rows.y - rows.x) * (columns.y - columns.x)));
        }
#endif
    }
    arguments.r.data[index] = A_STORE(sum);
}
