"""Bits counted, set and packed; Gray codes, hashes and parities."""


def main(np):
    x = np.array([0, 1, 7, 8, 255, 1023], dtype=np.uint32)
    count = np.zeros_like(x)
    y = x.copy()
    while y.any():
        count += y & 1
        y >>= 1
    swar = x - ((x >> 1) & 0x55555555)
    swar = (swar & 0x33333333) + ((swar >> 2) & 0x33333333)
    swar = (swar + (swar >> 4)) & 0x0F0F0F0F
    swar = (swar * np.uint32(0x01010101)) >> 24
    n = np.arange(8)
    gray = n ^ (n >> 1)
    table = (gray[:, None] >> np.arange(2, -1, -1)) & 1
    flags = np.array([[1, 0, 1, 1, 0, 0, 1, 0]], dtype=np.uint8)
    packed = np.packbits(flags)
    power = (x & (x - 1)) == 0
    h = np.uint32(2166136261)
    data = np.array([104, 101, 108, 108, 111], dtype=np.uint32)
    hashes = (data * 16777619) ^ h
    mask = np.zeros(8, dtype=bool)
    mask[[1, 5]] = True
    mask ^= True
    return {
        "count": count,
        "swar": swar,
        "same": (count == swar).all(),
        "gray": gray,
        "table": table,
        "packed": packed,
        "unpacked": np.unpackbits(packed),
        "power": power,
        "hashes": hashes,
        "parity": np.bitwise_xor.reduce(x),
        "all": np.bitwise_or.reduce(x),
        "mask": mask,
        "inverted": ~np.array([0, 5], dtype=np.int16),
        "bit_count": np.bitwise_count(x),
        "number": int("".join(str(b) for b in table[5]), 2),
        "int8": np.array([127], dtype=np.int8) + np.array([1], dtype=np.int8),
    }
