#ifndef LIB_ADDRESS
#define LIB_ADDRESS

// The address that lies `offset` elements of `bytes` bytes (a power of two) from another, before it too. An index below
// 0 into `data[]` is undefined, and NVIDIA takes it for one beyond 2^31. No 64-bit integers: a device may lack them.
uvec2 vx_address(uvec2 base, int offset, int bytes) {
    int shift = findMSB(bytes);
    uint low = base.x + (uint(offset) << shift);
    uint carry = low < base.x ? 1u : 0u;
    return uvec2(low, base.y + uint(offset >> 16 >> (16 - shift)) + carry);
}

#endif
