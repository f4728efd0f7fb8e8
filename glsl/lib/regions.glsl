// Regions of pictures: boxes that are cut into bins of one size, and the pixels that a bin takes.
#ifndef LIB_REGIONS
#define LIB_REGIONS

#include "lib/pointwise.glsl"

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) buffer AResult { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Places { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;        // pictures (N, C, H, W), or with a way back the gradient (K, C', bins.x, bins.y)
    AElements regions;  // (K, 5): the number of the picture, and x and y of two corners
    AResult r;
    Places places;      // of the largest elements, or the channels that were taken
    uvec2 scale;        // pixels in a unit of the corners
    uint count;         // elements of r
    ivec4 size;         // N, C, H, W of the pictures
    ivec2 bins;
    int sampling;       // points of a bin along a side, 0 for as many as pixels
    uint begin, end;    // regions that are seen to
} arguments;

#ifdef DOUBLE
#define SCALE packDouble2x32(arguments.scale)
#else
#define SCALE uintBitsToFloat(arguments.scale.x)
#endif

// A region along one of the two axes: where it begins, and how long a bin is.
struct Side {
    T start, bin;
    int points;  // of a bin
};

T vx_corner(uint region, uint place) { return A_LOAD(arguments.regions.data[region * 5u + place]); }

bool vx_is_of(uint region, int picture) { return int(vx_corner(region, 0u)) == picture; }

// The nearest integer, halves away from zero.
T vx_nearest(T x) {
    precise T size = vx_absolute(x), below = vx_floor(size), rest = size - below;
    precise T nearest = rest < T(0.5) ? below : below + T(1);
    return x < T(0) ? -nearest : nearest;
}

// axis 0: y, 1: x.
Side vx_side(uint region, int axis) {
    precise T first = vx_corner(region, 2u - uint(axis)) * SCALE;
    precise T last = vx_corner(region, 4u - uint(axis)) * SCALE;
#ifdef SAMPLES
    if (HALF_PIXEL) {
        first -= T(0.5);
        last -= T(0.5);
    }
    precise T extent = last - first;
    if (!HALF_PIXEL) extent = vx_maximum(extent, T(1));
#else
    first = vx_nearest(first);
    last = vx_nearest(last);
    precise T extent = vx_maximum(last - first + T(OF_CHANNELS ? 0 : 1), T(1));
#endif
    precise T bin = vx_divide(extent, T(arguments.bins[axis]));
    return Side(first, bin, arguments.sampling > 0 ? arguments.sampling : int(vx_ceil(bin)));
}

// The pixels [x, y) of a bin. As in torchvision, bins with channels of their own leave out the last row and column of a
// picture, but not on the way back.
ivec2 vx_pixels(Side side, int bin, int axis) {
    int last = arguments.size[2 + axis] - WITHOUT_LAST, start = int(side.start);
    precise T low = T(bin) * side.bin;
    precise T high = T(bin + 1) * side.bin;
    return clamp(ivec2(int(vx_floor(low)), int(vx_ceil(high))) + start, ivec2(0), ivec2(last));
}

// A point between two pixels of an axis, and the weight of the second one; weights of points outside are 0.
struct Point {
    int low, high;
    T low_weight, high_weight;
};

Point vx_point(Side side, int bin, int number, int axis) {
    precise T step = (T(number) + T(0.5)) * side.bin / T(side.points);
    precise T at = side.start + T(bin) * side.bin + step;
    int last = arguments.size[2 + axis] - 1;
    bool outside = at < T(-1) || at > T(last + 1);
    at = vx_maximum(at, T(0));
    int low = clamp(int(at), 0, last);
    precise T beyond = low == last ? T(0) : at - T(low);
    precise T before = T(1) - beyond;
    return Point(low, min(low + 1, last), outside ? T(0) : before, outside ? T(0) : beyond);
}

#endif
