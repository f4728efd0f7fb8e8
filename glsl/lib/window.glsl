#ifndef LIB_WINDOW
#define LIB_WINDOW

// Windows that slide over three dimensions (depth, height, width). `arguments.words`, the last of the arguments, holds, three words
// each: the sizes of input, output and kernel, stride, padding, dilation; then the strides of up to two operands, five words each
// (batch, channel, depth, height, width). Window o covers the places o * stride - padding + tap * dilation.
#define WINDOW_WORDS 28
#define WORD(AT) arguments.words[AT]
#define TRIPLE(AT) ivec3(WORD(AT), WORD(AT + 1), WORD(AT + 2))
#define INPUT_SIZE TRIPLE(0)
#define OUTPUT_SIZE TRIPLE(3)
#define KERNEL_SIZE TRIPLE(6)
#define STRIDE TRIPLE(9)
#define PADDING TRIPLE(12)
#define DILATION TRIPLE(15)
#define OPERAND_WORDS 5
#define OPERAND_AT(NUMBER) (18 + (NUMBER) * OPERAND_WORDS)
#define BATCH_STRIDE(NUMBER) WORD(OPERAND_AT(NUMBER))
#define CHANNEL_STRIDE(NUMBER) WORD(OPERAND_AT(NUMBER) + 1)
#define PLANE_STRIDES(NUMBER) TRIPLE(OPERAND_AT(NUMBER) + 2)

int vx_sum(ivec3 v) { return v.x + v.y + v.z; }
int vx_flat(ivec3 at, ivec3 size) { return (at.x * size.y + at.y) * size.z + at.z; }

ivec3 vx_unflat(uint index, ivec3 size) {
    uint row = index / uint(size.z);
    uint plane = row / uint(size.y);
    return ivec3(plane, row - plane * uint(size.y), index - row * uint(size.z));
}

bool vx_inside(ivec3 at, ivec3 size) {
    return all(lessThan(uvec3(at), uvec3(size)));
}

// The smallest integer that is no less than a / b, for b > 0.
ivec3 vx_ceil_divide(ivec3 a, ivec3 b) {
    return ivec3(a.x > 0 ? (a.x + b.x - 1) / b.x : -(-a.x / b.x), a.y > 0 ? (a.y + b.y - 1) / b.y : -(-a.y / b.y),
                 a.z > 0 ? (a.z + b.z - 1) / b.z : -(-a.z / b.z));
}

// Walking back from a place of the input to windows, along one dimension: the first tap to look at and the step between taps
// that may meet a window. Where taps are neighbours these are the ones that do.
int vx_first_tap(int moved, int stride, int dilation) { return dilation == 1 ? moved % stride : 0; }
int vx_tap_step(int stride, int dilation) { return dilation == 1 ? stride : 1; }

// The window whose tap lies at a place, given that place less the tap's own; -1 where there is none.
int vx_window(int moved, int stride, int windows) {
    int window = moved / stride;
    return moved >= 0 && window * stride == moved && window < windows ? window : -1;
}

// The first and the last window that may cover a place; a dilated one may step over it.
#define FIRST_COVERING(PLACE) \
    max(vx_ceil_divide((PLACE) + PADDING - (KERNEL_SIZE - 1) * DILATION, STRIDE), ivec3(0))
#define LAST_COVERING(PLACE) min(((PLACE) + PADDING) / STRIDE, OUTPUT_SIZE - 1)

#endif
