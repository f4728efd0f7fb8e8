"""Values between the points of grids: trilinear, Catmull and Rom, B-splines, periodic angles, gaps that are filled."""


def main(np):
    xs, ys, zs = np.linspace(0, 1, 4), np.linspace(0, 2, 5), np.array([0, 0.5, 2.0])
    X, Y, Z = np.meshgrid(xs, ys, zs, indexing="ij", sparse=True)
    F = X + 2 * Y * Y - 3 * Z
    pts = np.array([[0.1, 0.2, 0.3], [0.9, 1.7, 1.2], [0.5, 1.0, 2.0]])
    idx = [np.clip(np.searchsorted(g, pts[:, k]) - 1, 0, len(g) - 2) for k, g in enumerate((xs, ys, zs))]
    fr = [(pts[:, k] - g[idx[k]]) / (g[idx[k] + 1] - g[idx[k]]) for k, g in enumerate((xs, ys, zs))]
    val = 0
    for corner in np.ndindex(2, 2, 2):
        wt = np.prod([fr[k] if c else 1 - fr[k] for k, c in enumerate(corner)], axis=0)
        val = val + wt * F[tuple(idx[k] + c for k, c in enumerate(corner))]
    p = np.array([0, 1, 0.5, 2, -1, 0.0])
    t = np.linspace(0, 2.999, 10)
    i = t.astype(int) + 1
    u = (t % 1)[:, None] ** np.arange(4)
    cr = 0.5 * np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]])
    curve = np.einsum("ti,ij,tj->t", u, cr, np.take(p, i[:, None] + np.arange(-1, 3)))

    def basis(k, i, x, kn):
        if k == 0:
            return ((kn[i] <= x) & (x < kn[i + 1])).astype(float)
        d1, d2 = kn[i + k] - kn[i], kn[i + k + 1] - kn[i + 1]
        return ((x - kn[i]) / d1 * basis(k - 1, i, x, kn) if d1 else 0) + (
            (kn[i + k + 1] - x) / d2 * basis(k - 1, i + 1, x, kn) if d2 else 0
        )

    kn = np.concatenate(([0] * 3, np.arange(5), [4] * 3)).astype(float)
    B = np.array([basis(3, j, np.linspace(0, 3.99, 9), kn) for j in range(len(kn) - 4)])
    ctl = np.linalg.lstsq(B.T, np.sin(np.linspace(0, 3.99, 9)), rcond=None)[0]
    ang = np.interp([355, 5, -10], [0, 90, 180, 270], [0, 1, 0, -1], period=360)
    holes = np.array([1, np.nan, 3, np.nan, np.nan, 6])
    ok = ~np.isnan(holes)
    filled = holes.copy()
    filled[~ok] = np.interp(np.flatnonzero(~ok), np.flatnonzero(ok), holes[ok])
    ff = np.where(ok, np.arange(6), 0)
    np.maximum.accumulate(ff, out=ff)
    ffill = holes[ff]
    mi = np.ravel_multi_index((idx[0], idx[1], idx[2]), F.shape)
    co = np.array(np.unravel_index(mi, F.shape))
    gz = np.gradient(F, xs, ys, zs)
    lap = np.diff(F, 2, axis=1)
    mg = np.mgrid[0:2:3j, -1:1:2j]
    og = np.ogrid[:3, :2]
    order = np.lexsort((pts[:, 1], pts[:, 0] > 0.3))
    barr = np.broadcast_arrays(X, Y)[1].shape
    return dict(
        val=val,
        shape=F.shape,
        curve=curve,
        B=B,
        ctl=ctl,
        part=B.sum(0),
        ang=ang,
        filled=filled,
        ffill=ffill,
        mi=mi,
        co=co,
        gz=gz,
        lap=lap,
        mg=mg,
        og=og,
        order=order,
        barr=barr,
        nan=np.nanmean(holes),
        nm=np.nanargmax(holes),
        ns=np.nancumsum(holes),
    )
