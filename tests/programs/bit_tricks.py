"""Words of bits: Gray codes, parity, reversed bits, checksums, a sieve in bits, hashing, xorshift, Hamming codes."""


def crc8(np, data):
    table = np.arange(256, dtype=np.uint8)
    for _ in range(8):
        table = np.where(table & 0x80, (table << 1) ^ 0x07, table << 1).astype(np.uint8)
    crc = np.uint8(0)
    for byte in data:
        crc = table[crc ^ byte]
    return crc


def main(np):
    n = np.arange(16, dtype=np.uint8)
    gray = n ^ (n >> 1)
    parity = np.bitwise_xor.reduce(np.unpackbits(n[:, None], axis=1), axis=1)
    backwards = np.packbits(np.unpackbits(n[:, None], axis=1)[:, ::-1], axis=1).ravel()
    state = np.uint32(2463534242)
    stream = []
    for _ in range(5):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
        stream.append(int(state))
    h = np.full(3, 2166136261, dtype=np.uint32)
    for column in np.frombuffer(b"abcabdxyz", dtype=np.uint8).reshape(3, 3).T:
        h = (h ^ column) * np.uint32(16777619)
    G = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    H = np.array([[1, 0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]])
    word = G @ [1, 0, 1, 1] % 2
    received = word.copy()
    received[4] ^= 1
    place = int((H @ received % 2) @ [1, 2, 4]) - 1
    received[place] ^= 1
    signed = np.array([-1, -128, 127], dtype=np.int8)
    bits = np.array([1, 0, 1, 1, 0, 0, 1, 0], bool)
    return {
        "gray": gray,
        "one bit apart": bool((np.bitwise_count(gray[1:] ^ gray[:-1]) == 1).all()),
        "parity": parity,
        "backwards": backwards,
        "stream": stream,
        "fnv": h,
        "crc": crc8(np, np.frombuffer(b"123456789", dtype="u1")),
        "corrected": np.array_equal(received, word),
        "unsigned": signed.view(np.uint8),
        "float": np.array([1.0, -2.5], dtype=np.float32).view(np.int32),
        "value": bits @ (1 << np.arange(8)[::-1]),
        "binary": [np.binary_repr(v, width=4) for v in (3, 10)],
        "rotated": (n << 3 | n >> 5)[:9],
        "lowest": n & -n.astype(np.int8).astype(np.uint8),
        "power of two": n[(n > 0) & (n & (n - 1) == 0)],
    }
