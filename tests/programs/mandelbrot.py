"""The Mandelbrot and Julia sets."""


def main(np):
    x = np.linspace(-2, 0.5, 26)
    y = np.linspace(-1.2, 1.2, 17)
    X, Y = np.meshgrid(x, y)
    C = X + 1j * Y
    Z = np.zeros_like(C)
    counts = np.zeros(C.shape, dtype=int)
    mask = np.ones(C.shape, dtype=bool)
    for _ in range(20):
        Z[mask] = Z[mask] ** 2 + C[mask]
        mask &= np.abs(Z) <= 2
        counts[mask] += 1

    yy, xx = np.ogrid[-1.5:1.5:9j, -1.5:1.5:9j]
    z = xx + yy * 1j
    fractal = np.full(z.shape, 255, dtype=np.uint8)
    for i in range(10):
        z = z * z - 0.4
        diverged = (np.abs(z) > 4) & (fractal == 255)
        fractal[diverged] = i
        z[diverged] = 0
    rows = ["".join(" .:-=+*#%@"[min(int(v) // 2, 9)] for v in row) for row in counts[::4, ::2]]
    return {
        "area": mask.mean(),
        "inside": int(np.count_nonzero(counts == 20)),
        "picture": rows[2],
        "symmetric": np.array_equal(counts, counts[::-1]),
        "fractal": fractal,
        "kind": C.dtype.kind,
        "values": np.unique(fractal),
    }
