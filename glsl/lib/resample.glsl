#ifndef LIB_RESAMPLE
#define LIB_RESAMPLE
#include "lib/window.glsl"

// Which elements of a dimension make an element of the result: TAPS of them from a first one on, held within the dimension,
// with a weight each. The method is one of these:
#define NEAREST 0        // the element below place * scale
#define NEAREST_EXACT 1  // the element below (place + 0.5) * scale
#define LINEAR 2
#define CUBIC 3
#define REFLECT 4        // padding, mirrored at the outermost element
#define REPLICATE 5      // padding with the outermost element

#if METHOD == LINEAR
#define TAPS 2
#elif METHOD == CUBIC
#define TAPS 4
#else
#define TAPS 1
#endif

layout(constant_id = 1) const bool ALIGNED = false;  // the outermost elements stand at the same place

#ifdef DOUBLE
#define SCALE(AXIS) packDouble2x32(arguments.scales[AXIS])
#else
#define SCALE(AXIS) uintBitsToFloat(arguments.scales[AXIS].x)
#endif

struct Dimension { int size, result, padding; T scale; };
#define DIMENSION(AXIS) Dimension(WORD(AXIS), WORD(3 + (AXIS)), WORD(12 + (AXIS)), SCALE(AXIS))

// Where a place of the result lies between elements.
T vx_source(int place, Dimension d) {
    if (ALIGNED) {
        precise T at = T(place) * d.scale;
        return at;
    }
    precise T middle = (T(place) + T(0.5)) * d.scale - T(0.5);
    return middle;
}

struct Taps { int element[TAPS]; T weight[TAPS]; };

Taps vx_taps(int place, Dimension d) {
    Taps taps;
    int last = d.size - 1;
#if METHOD == NEAREST || METHOD == NEAREST_EXACT
    precise T at = (T(place) + T(METHOD == NEAREST_EXACT ? 0.5 : 0.0)) * d.scale;
    taps.element[0] = min(int(floor(at)), last);
    taps.weight[0] = T(1);
#elif METHOD == LINEAR
    T at = max(vx_source(place, d), T(0));
    int first = min(int(at), last);
    T part = clamp(at - T(first), T(0), T(1));
    taps.element[0] = first;
    taps.element[1] = min(first + 1, last);
    taps.weight[0] = T(1) - part;
    taps.weight[1] = part;
#elif METHOD == CUBIC
    // Keys, "Cubic convolution interpolation for digital image processing" (1981), with a = -0.75.
    T at = vx_source(place, d);
    T below = floor(at);
    T part = at - below;
    for (int k = 0; k < TAPS; ++k) {
        taps.element[k] = clamp(int(below) + k - 1, 0, last);
        T far = k < 2 ? part + T(1 - k) : T(k - 1) - part;
        taps.weight[k] = k == 1 || k == 2 ? (T(1.25) * far - T(2.25)) * far * far + T(1)
                                          : ((T(-0.75) * far + T(3.75)) * far - T(6)) * far + T(3);
    }
#else
    int at = place - d.padding;
#if METHOD == REFLECT
    at = abs(at);
    if (at > last) at = 2 * last - at;
#endif
    taps.element[0] = clamp(at, 0, last);
    taps.weight[0] = T(1);
#endif
    return taps;
}

#endif
