// Which tile of which product a workgroup makes. A shader may define LEFT_OUT, which tiles of the result are not made, and
// BAND, how many tile rows are worked on together, so that they find the tiles of b in the cache.

#ifndef BAND
#define BAND 8
#endif

// Sets `place`, `row`, `column` and `length` for this workgroup; false past the last one and for a tile left out.
bool find_tile() {
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint across = (arguments.n + uint(TILE_N) - 1u) / uint(TILE_N), down = (arguments.m + uint(TILE_M) - 1u) / uint(TILE_M);
    uint product = index / (across * down);
    if (product >= arguments.count) return false;
    index -= product * across * down;
    uint first = index / (BAND * across) * BAND;
    uint height = min(down - first, BAND);
    index -= first * across;
    row = int(first + index % height) * TILE_M;
    column = int(index / height) * TILE_N;
#ifdef LEFT_OUT
    if (LEFT_OUT) return false;
#endif
    place = vx_place(product);
    length = int(min(arguments.part, arguments.k - uint(place.part) * arguments.part));
    return true;
}
