// Radix sort by tiles, last step of a pass: each tile is sorted by the digit, and the elements of a digit are written side by
// side to their place in the row. A workgroup for a tile. With INDICES, the elements' places in their rows move along.
#include "lib/extensions.glsl"
#include "lib/address.glsl"

layout(local_size_x_id = 0) in;
#include "lib/sort_tile.glsl"

layout(constant_id = 9) const bool INDICES = false;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 elements;
    uvec2 target;
    Words counts;       // [row][digit][tile]: elements of the digit in the tiles before
    Words sums;         // [row][digit]: elements of the digit
    uvec2 indices;
    uvec2 target_indices;
    uint rows;
    uint row_length;
    uint tiles;         // of a row
    uint pitch;         // of the counts of a digit
    uint shift;         // of the digit in the key; at the first pass, 0, the indices begin
} arguments;

shared uint targets[BINS];  // where an element of each digit and of rank 0 would belong in the row

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (group >= arguments.rows * arguments.tiles) return;
    uint row = group / arguments.tiles;
    uint tile = group - row * arguments.tiles;
    uint row_first = row * arguments.row_length, tile_first = tile * TILE;
    uint count = min(arguments.row_length - tile_first, TILE);
    uint first = vx_first_place(), lanes = vx_lanes(), member = vx_member();

    Elements elements = Elements(vx_address(arguments.elements, row_first + tile_first, ELEMENT_BYTES));
    EACH_ITEM {
        uint place = first + i * lanes;
        if (place < count) element[i] = ELEMENT(elements.data[place]);
    }
    uint totals[OWN];
    EACH_OWN_DIGIT {
        uint digit = member * OWN + k;
        totals[k] = digit < BINS ? arguments.sums.data[row * BINS + digit] : 0u;
    }
    // What is beyond the row has the last digit, and ranks last.
    EACH_ITEM rank[i] = first + i * lanes < count ? vx_digit(element[i], arguments.shift) : BINS - 1u;
    vx_rank(totals);
    EACH_OWN_DIGIT {
        uint digit = member * OWN + k;
        if (digit < BINS) {
            targets[digit] = totals[k] + arguments.counts.data[(row * BINS + digit) * arguments.pitch + tile] - starts[digit];
        }
    }
    vx_exchange_elements(first, lanes);
    uvec2 target = vx_address(arguments.target, row_first, ELEMENT_BYTES);
    uint goal[ITEMS];
    EACH_ITEM {
        uint place = first + i * lanes;
        if (place < count) {
            goal[i] = targets[vx_digit(element[i], arguments.shift)] + place;
            Elements(vx_address(target, goal[i], ELEMENT_BYTES)).data[0] = ELEMENT_STORAGE(element[i]);
        }
    }
    if (!INDICES) return;
    Words indices = Words(vx_address(arguments.indices, row_first + tile_first, 4));
    EACH_ITEM {
        uint place = first + i * lanes;
        index[i] = tile_first + place;
        if (arguments.shift > 0u && place < count) index[i] = indices.data[place];
    }
    vx_exchange_indices(first, lanes);
    uvec2 target_indices = vx_address(arguments.target_indices, row_first, 4);
    EACH_ITEM {
        if (first + i * lanes < count) Words(vx_address(target_indices, goal[i], 4)).data[0] = index[i];
    }
}
