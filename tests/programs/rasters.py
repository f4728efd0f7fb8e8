"""Pictures cell by cell: rays that march to surfaces, lines, filled shapes, a depth buffer, contours, noise, box sums."""


def main(np):
    g = np.linspace(-1, 1, 9)
    X, Y = np.meshgrid(g, -g)
    O = np.zeros((9, 9, 3))
    O[..., 2] = -3
    D = np.dstack([X, Y, np.full_like(X, 2)])
    D /= np.sqrt((D * D).sum(-1))[..., None]

    def sdf(p):
        return np.minimum(np.linalg.norm(p, axis=-1) - 0.8, np.max(np.abs(p - [0.9, 0, 0]) - 0.3, axis=-1))

    t = np.zeros(X.shape)
    act = np.ones_like(t, dtype=bool)
    for _ in range(25):
        d = sdf(O[act] + t[act, None] * D[act])
        t[act] += d
        act[act] = (np.abs(d) > 1e-3) & (t[act] < 8)
        if not act.any():
            break
    hit = t < 8
    P = O + t[..., None] * D
    e = 1e-4 * np.eye(3)
    N = np.stack([sdf(P + k) - sdf(P - k) for k in e], -1)
    N /= np.maximum(np.linalg.norm(N, axis=-1, keepdims=True), 1e-12)
    sh = np.where(hit, np.clip(N @ (np.array([1, 1, -1]) / 3**0.5), 0.1, 1), 0).round(2)
    art = ["".join(" .:-=+*#%@"[int(v * 9)] for v in row) for row in sh]
    img = np.zeros((8, 10), np.uint8)

    def line(x0, y0, x1, y1):
        n = max(abs(x1 - x0), abs(y1 - y0)) + 1
        xs = np.round(np.linspace(x0, x1, n)).astype(int)
        ys = np.rint(np.linspace(y0, y1, n)).astype(np.intp)
        img[ys, xs] = 1

    line(1, 1, 8, 2)
    line(8, 2, 5, 7)
    line(5, 7, 1, 1)
    fl = img.copy()
    st = [(3, 4)]
    while st:
        y, x = st.pop()
        if fl[y, x] == 0:
            fl[y, x] = 2
            st += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    yy, xx = np.mgrid[:8, :10]
    poly = np.array([[1, 1], [8, 2], [5, 7]])
    ins = np.zeros((8, 10), bool)
    for (x0, y0), (x1, y1) in zip(poly, np.roll(poly, -1, 0)):
        with np.errstate(divide="ignore", invalid="ignore"):
            ins ^= ((y0 > yy) != (y1 > yy)) & (xx < (x1 - x0) * (yy - y0) / (y1 - y0) + x0)
    z = np.full((8, 10), np.inf)
    col = np.zeros((8, 10), int)
    for k, (dep, m) in enumerate([(3 + xx * 0.1, ins), (4 - yy * 0.2, (xx - 5) ** 2 + (yy - 4) ** 2 < 9)], 1):
        near = m & (dep < z)
        z[near] = dep[near]
        col[near] = k
    f = np.sin(xx * 0.7) + np.cos(yy * 0.5)
    b = f > 0
    case = b[:-1, :-1] * 1 + b[:-1, 1:] * 2 + b[1:, 1:] * 4 + b[1:, :-1] * 8
    cnt = np.bincount(case.ravel(), minlength=16)
    perm = np.array([3, 1, 2, 0])
    gr = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])
    px = np.linspace(0, 3, 7)[:-1]
    ix, fx = np.floor(px).astype(int), px % 1
    fade = fx**3 * (fx * (fx * 6 - 15) + 10)
    h = lambda i, j: gr[perm[(perm[i % 4] + j) % 4]]
    dot = lambda i, j: (h(i, j) * np.stack(np.broadcast_arrays(px[:, None] - i, px[None] - j), -1)).sum(-1)
    i, j = ix[:, None], ix[None]
    lerp = lambda a, b, w: a + w * (b - a)
    noise = lerp(
        lerp(dot(i, j), dot(i + 1, j), fade[:, None]), lerp(dot(i, j + 1), dot(i + 1, j + 1), fade[:, None]), fade
    )
    sat = np.pad(img.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    box = sat[3:, 3:] - sat[:-3, 3:] - sat[3:, :-3] + sat[:-3, :-3]
    hsv = np.stack([col * 60 % 360, np.where(col, 1, 0), z.clip(max=4) / 4], 2)
    pal = np.array([[0, 0, 0], [255, 0, 0], [0, 0, 255]], np.uint8)[col]
    lum = (pal @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    mip = pal[::2, ::2].astype(np.uint16) + pal[1::2, 1::2]
    return dict(
        art=art,
        hit=hit.sum(),
        fl=fl,
        ins=ins,
        col=col,
        z=z,
        cnt=cnt,
        noise=noise,
        box=box,
        hsv=hsv,
        lum=lum,
        mip=mip,
        ed=sat.dtype.name,
    )
