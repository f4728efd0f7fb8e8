// The tables of the transforms: exp(-2 pi i k / n) for exponents k that follow from the place in the table.
//
// A table of products holds k = row * column, the roots between the passes of a transform; one of squares, for Bluestein's
// algorithm, k = j^2 with j = 0, 1, ... in the first `ahead` places, and j = ..., 2, 1 at its end; zeros for j >= `numbers`.
#include "lib/extensions.glsl"
#include "lib/fft_roots.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) writeonly buffer Elements { COMPLEX data[]; };

#define PRODUCTS 0u
#define SQUARES 1u

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements table;
    uint count;
    uint kind;
    uint first_row;
    uint columns;
    uint order;   // n
    uint ahead, numbers; // of a table of squares
} arguments;

// a^2 modulo n, for a < n < 2^31, by doubling.
uint square_modulo(uint a, uint n) {
    uint result = 0u;
    for (int bit = findMSB(a); bit >= 0; --bit) {
        result *= 2u;
        if (result >= n) result -= n;
        if ((a >> bit & 1u) != 0u) {
            result += a;
            if (result >= n) result -= n;
        }
    }
    return result;
}

void main() {
    uint place = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (place >= arguments.count) return;
    COMPLEX root = COMPLEX(0.0);
    if (arguments.kind == PRODUCTS) {
        uint row = place / arguments.columns;
        root = vx_root((arguments.first_row + row) * (place - row * arguments.columns), arguments.order);
    } else {
        uint j = place < arguments.ahead ? place : arguments.count - place;
        if (j < arguments.numbers) root = vx_root(square_modulo(j, arguments.order), arguments.order);
    }
    arguments.table.data[place] = root;
}
