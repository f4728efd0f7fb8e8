"""Hashes, checksums, codes and random generators by hand, in integers of 8 to 64 bits that wrap around."""


def main(np):
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, np.uint32(0xEDB88320) ^ (table >> np.uint32(1)), table >> np.uint32(1))
    data = np.frombuffer(b"The quick brown fox jumps over the lazy dog", dtype=np.uint8)
    crc = np.uint32(0xFFFFFFFF)
    for b in data:
        crc = table[(crc ^ b) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    crc = crc ^ np.uint32(0xFFFFFFFF)
    h = np.array(0xCBF29CE484222325, dtype=np.uint64)
    prime = np.uint64(0x100000001B3)
    with np.errstate(over="ignore"):  # NumPy warns of scalars that wrap, though not of arrays
        for b in data:
            h = (h ^ np.uint64(b)) * prime
    a, bb = 1, 0
    for v in data.tolist():
        a = (a + v) % 65521
        bb = (bb + a) % 65521
    adler_v = np.uint32(np.cumsum(np.r_[1, data.astype(np.int64)])[-1] % 65521)
    s = np.array([1, 2, 3, 4], dtype=np.uint32)
    out = []
    for _ in range(6):
        t = s[3].copy()
        t ^= t << np.uint32(11)
        t ^= t >> np.uint32(8)
        s[1:] = s[:-1].copy()
        t ^= s[1] ^ (s[1] >> np.uint32(19))
        s[0] = t
        out.append(int(t))
    x = np.uint64(88172645463325252)
    seq = []
    for _ in range(5):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        seq.append(x)
    lcg = np.zeros(10, dtype=np.uint32)
    lcg[0] = 42
    mt = np.zeros(624, dtype=np.uint32)
    mt[0] = 5489
    with np.errstate(over="ignore"):
        for i in range(1, 10):
            lcg[i] = lcg[i - 1] * np.uint32(1664525) + np.uint32(1013904223)
        for i in range(1, 30):
            mt[i] = np.uint32(1812433253) * (mt[i - 1] ^ (mt[i - 1] >> np.uint32(30))) + np.uint32(i)
    y = mt[:30].copy()
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    k = np.arange(8, dtype=np.uint32)
    k *= np.uint32(0xCC9E2D51)
    k = (k << np.uint32(15)) | (k >> np.uint32(17))
    k *= np.uint32(0x1B873593)
    bits = np.unpackbits(data[:6])
    six = bits.reshape(-1, 6) @ (1 << np.arange(5, -1, -1))
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    b64 = "".join(alphabet[i] for i in six)
    G = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    H = np.array([[1, 0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]])
    words = np.array([[int(c) for c in f"{i:04b}"] for i in range(16)])
    codes = words @ G.T % 2
    noisy = codes.copy()
    noisy[np.arange(16), np.arange(16) % 7] ^= 1
    syndrome = noisy @ H.T % 2 @ [1, 2, 4]
    noisy[np.flatnonzero(syndrome), syndrome[syndrome > 0] - 1] ^= 1
    exp, log = np.zeros(512, dtype=int), np.zeros(256, dtype=int)
    v = 1
    for i in range(255):
        exp[i] = v
        log[v] = i
        v <<= 1
        if v & 0x100:
            v ^= 0x11D
    exp[255:] = exp[:257]
    mul = lambda p, q: np.where((p == 0) | (q == 0), 0, exp[log[p] + log[q]])
    A = np.arange(256)
    inv = exp[255 - log[A[1:]]]
    gray = A ^ (A >> 1)
    pop = np.array([bin(i).count("1") for i in range(256)], dtype=np.uint8)[data]
    parity = np.bitwise_xor.reduce(bits.reshape(-1, 8), axis=1)
    rev = np.packbits(np.unpackbits(data[:, None], axis=1)[:, ::-1], axis=1).ravel()
    bloom = np.zeros(64, dtype=bool)
    for w in ("vulkan", "array"):
        bloom[[place % 64 for place in (sum(map(ord, w)) * p for p in (3, 7, 11))]] = True
    nibbles = np.stack([data >> 4, data & 15], axis=-1)
    hexa = "".join("0123456789abcdef"[n] for n in nibbles.ravel())[:16]
    return {
        "table": table,
        "crc": crc,
        "hex": f"{int(crc):08x}",
        "hex2": hex(crc),
        "fnv": h,
        "fnvhex": format(int(h), "x"),
        "adler": (bb << 16) | a,
        "adler_v": adler_v,
        "out": out,
        "seq": seq,
        "lcg": lcg,
        "mt": y,
        "k": k,
        "b64": b64,
        "fixed": bool((noisy == codes).all()),
        "mul": mul(A[:, None], A[None, :20])[::37],
        "inv": (mul(A[1:], inv) == 1).all(),
        "gray": gray,
        "pop": pop,
        "parity": parity,
        "rev": rev,
        "bloom": np.flatnonzero(bloom),
        "hexa": hexa,
        "view": data[:8].view("<u8"),
        "viewf": np.array([1.0], np.float32).view(np.uint32),
        "hash_mask": np.uint8(0xF0) & ~np.uint8(0x3C),
        "signed": np.array([200, 100], np.uint8).view(np.int8),
        "swap": np.array([1, 256], dtype=np.uint16).byteswap(),
    }
