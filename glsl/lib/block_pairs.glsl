// Which columns a workgroup of the block Jacobi method works on: the rows of x are the columns of the matrix, in `blocks`
// blocks; a round joins every block with one other, and each pair of them meets once in blocks - 1 rounds (the "circle"
// of round-robin tournaments). A shader's arguments have `blocks` and `round`.
#ifndef LIB_BLOCK_PAIRS
#define LIB_BLOCK_PAIRS

// The pair with this number in a round for `players`, an even number of them, the smaller first.
uvec2 vx_met(uint pair, uint round, uint players) {
    uint others = players - 1u;
    uint first = pair == 0u ? others : (round + pair) % others;
    uint second = (round + others - pair) % others;
    return uvec2(min(first, second), max(first, second));
}

// The row of x of a workgroup's column i, 0 <= i < size, for blocks of size / 2.
uint vx_row_of(uvec2 met, uint i, uint size) {
    uint width = size / 2u;
    return i < width ? met.x * width + i : met.y * width + (i - width);
}

#endif
