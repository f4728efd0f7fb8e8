#ifndef LIB_PHILOX
#define LIB_PHILOX

// Philox4x32-10: four random words for a counter, so that any invocation makes any part of the stream.
// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
uvec4 vx_philox(uvec4 counter, uvec2 key) {
    for (int pass = 0; pass < 10; ++pass) {
        uint high0, low0, high1, low1;
        umulExtended(0xD2511F53u, counter.x, high0, low0);
        umulExtended(0xCD9E8D57u, counter.z, high1, low1);
        counter = uvec4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key += uvec2(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

// The words of block `first` + `offset`; a later `attempt` gives others, for draws that reject the first ones.
uvec4 vx_block(uvec2 first, uint offset, uint attempt, uvec2 key) {
    uint low = first.x + offset;
    return vx_philox(uvec4(low, first.y + (low < offset ? 1u : 0u), attempt, 0u), key);
}

#endif
