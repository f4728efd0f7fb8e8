#ifndef LIB_ADDRESS
#define LIB_ADDRESS

// The address that lies `offset` elements of `bytes` bytes (a power of two) from another, before it too. An index below
// 0 into `data[]` is undefined, and NVIDIA computes the offset in bytes of any index without a sign, in 32 bits. Made of
// 32-bit words, for a device may lack 64-bit integers.
uvec2 vx_address(uvec2 base, uint offset, int bytes) {
    int shift = findMSB(bytes);
    uint low = base.x + (offset << shift);
    return uvec2(low, base.y + (offset >> 16 >> (16 - shift)) + (low < base.x ? 1u : 0u));
}

uvec2 vx_address(uvec2 base, int offset, int bytes) {
    uvec2 address = vx_address(base, uint(offset), bytes);
    return uvec2(address.x, address.y - (offset < 0 ? uint(bytes) : 0u));
}

#endif
