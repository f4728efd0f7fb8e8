#ifndef LIB_POOL
#define LIB_POOL
#include "lib/window.glsl"

// The places of a window: from `first` on, those before `end`; with ADAPTIVE the part of the input that a place of the output
// stands for.
layout(constant_id = 1) const bool ADAPTIVE = false;
layout(constant_id = 2) const bool COUNT_PADDING = false;  // an average counts the places in the padding

struct Extent { ivec3 first, end; };

Extent vx_part(ivec3 at, ivec3 size, ivec3 parts) {
    return Extent(at * size / parts, ((at + 1) * size + parts - 1) / parts);
}

#define WINDOW(AT) (ADAPTIVE ? vx_part(AT, INPUT_SIZE, OUTPUT_SIZE) : \
    Extent((AT) * STRIDE - PADDING, min((AT) * STRIDE - PADDING + KERNEL_SIZE, INPUT_SIZE + PADDING)))

// What the sum over a window is divided by; `given` where it is not 0.
int vx_divisor(Extent window, ivec3 size, int given) {
    if (given != 0) return given;
    ivec3 length = window.end - window.first;
    if (!COUNT_PADDING) length = min(window.end, size) - max(window.first, ivec3(0));
    return length.x * length.y * length.z;
}

#endif
