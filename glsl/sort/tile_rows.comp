// Radix sort of rows that fit into a tile, all passes at once. A workgroup takes ROWS rows that lie side by side, sorts all
// their elements together and then, where there are several, by the rows they belong to.
#include "lib/extensions.glsl"
#include "lib/address.glsl"

layout(local_size_x_id = 0) in;
#include "lib/sort_tile.glsl"

layout(constant_id = 9) const bool INDICES = false;  // the elements' places in their rows are wanted
layout(constant_id = 10) const uint ROWS = 1u;       // no more than there are digits

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Words { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 elements;
    uvec2 target;
    uvec2 target_indices;
    uint rows;
    uint row_length;
    uint key_bits;
} arguments;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group * ROWS >= arguments.rows) return;
    uint tile_first = group * ROWS * arguments.row_length;
    uint count = min(arguments.rows - group * ROWS, ROWS) * arguments.row_length;
    uint first = vx_first_place(), lanes = vx_lanes();

    Elements elements = Elements(vx_address(arguments.elements, tile_first, ELEMENT_BYTES));
    EACH_ITEM {
        uint place = first + i * lanes;
        index[i] = place;
        if (place < count) element[i] = ELEMENT(elements.data[place]);
    }
    uint beside[OWN];
    // What is beyond the rows has the last digit in all passes, and stays last.
    for (uint shift = 0u; shift < arguments.key_bits; shift += DIGIT_BITS) {
        EACH_ITEM rank[i] = first + i * lanes < count ? vx_digit(element[i], shift) : BINS - 1u;
        vx_rank(beside);
        vx_exchange_elements(first, lanes);
        if (INDICES || ROWS > 1u) vx_exchange_indices(first, lanes);
    }
    if (ROWS > 1u) {
        EACH_ITEM rank[i] = min(index[i] / arguments.row_length, BINS - 1u);
        vx_rank(beside);
        vx_exchange_elements(first, lanes);
        if (INDICES) vx_exchange_indices(first, lanes);
    }
    Elements target = Elements(vx_address(arguments.target, tile_first, ELEMENT_BYTES));
    Words target_indices = Words(vx_address(arguments.target_indices, tile_first, 4));
    EACH_ITEM {
        uint place = first + i * lanes;
        if (place < count) {
            target.data[place] = ELEMENT_STORAGE(element[i]);
            if (INDICES) target_indices.data[place] = ROWS > 1u ? index[i] % arguments.row_length : index[i];
        }
    }
}
