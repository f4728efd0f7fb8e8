"""Formats of bytes: numbers in both orders, samples, bits, checksums, archives, tables of text."""


def main(np):
    import io
    import struct

    idx = struct.pack(">IIII", 2051, 2, 3, 3) + bytes(range(18))
    magic, n, rows, cols = np.frombuffer(idx, dtype=">i4", count=4)
    f = io.BytesIO(idx)
    dt = np.dtype(np.uint32).newbyteorder(">")
    m = np.frombuffer(f.read(4), dtype=dt)[0]
    imgs = np.frombuffer(idx, np.uint8, offset=16).reshape(n, rows, cols)
    wav = (np.sin(np.arange(32) / 3) * 32767).astype("<i2").tobytes()
    back = np.frombuffer(wav, dtype="<i2").astype(np.float32) / 32768.0
    le = np.frombuffer(idx[:8], dtype="<u4")
    sw = le.byteswap()
    bits = np.unpackbits(np.frombuffer(b"\x0f\xaa", np.uint8)).reshape(2, 8)
    crc = 0
    for b in np.frombuffer(b"hello", dtype=np.uint8):
        crc ^= int(b) << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    buf = io.BytesIO()
    np.save(buf, imgs)
    buf.seek(0)
    again = np.load(buf)
    z = io.BytesIO()
    np.savez(z, a=imgs, b=back)
    z.seek(0)
    arc = np.load(z)
    names = sorted(arc.files)
    txt = io.StringIO()
    np.savetxt(txt, back[:4].reshape(2, 2), fmt="%.3f", delimiter=",", header="x,y")
    lines = txt.getvalue()
    tab = np.loadtxt(io.StringIO("# c\n1,2,3\n4,5,6\n"), delimiter=",", usecols=(0, 2))
    gen = np.genfromtxt(io.StringIO("a b\n1 2\n3 nan\n"), skip_header=1)
    h = np.array([1.5, -2.25], np.float16).view(np.uint16)
    hx = [hex(v) for v in h]
    return dict(
        magic=magic,
        m=m,
        imgs=imgs,
        back=back,
        sw=sw,
        bits=bits,
        crc=crc,
        again=again,
        names=names,
        arc=arc["b"],
        lines=lines,
        tab=tab,
        gen=gen,
        hx=hx,
    )
