"""Geometry: a small ray tracer, a convex hull, Bezier curves, transforms, registration of points, RANSAC, contours, rotations."""


def main(np):
    def norm(v):
        return v / np.linalg.norm(v, axis=-1, keepdims=True)

    h, w = 12, 16
    x, y = np.meshgrid(np.linspace(-1, 1, w), np.linspace(0.75, -0.75, h))
    D = norm(np.dstack((x, y, -np.ones_like(x))))
    O = np.zeros_like(D)
    spheres = [
        (np.array([0, 0, -3.0]), 1.0, np.array([1.0, 0, 0])),
        (np.array([1.0, 0.5, -4.0]), 1.0, np.array([0, 1.0, 0])),
        (np.array((0, -101.0, -3)), 100.0, np.ones(3) * 0.5),
    ]
    tmin = np.full((h, w), np.inf)
    color = np.zeros((h, w, 3))
    light = norm(np.array([1, 1, 1.0]))
    who = -np.ones((h, w), dtype=np.int8)
    for i, (c, r, col) in enumerate(spheres):
        oc = O - c
        b = np.sum(oc * D, axis=2)
        disc = b**2 - (np.einsum("ijk,ijk->ij", oc, oc) - r * r)
        sq = np.sqrt(np.maximum(0, disc))
        t = np.where(-b - sq > 1e-4, -b - sq, -b + sq)
        hit = (disc > 0) & (t > 1e-4) & (t < tmin)
        P = O + t[..., None] * D
        N = (P - c) / r
        shade = np.clip(N @ light, 0.1, 1)
        color = np.where(hit[:, :, np.newaxis], shade[:, :, None] * col, color)
        tmin = np.where(hit, t, tmin)
        who[hit] = i
    img = (np.clip(color, 0, 1) * 255 + 0.5).astype(np.uint8)
    k = np.arange(25)
    pts = np.c_[np.cos(k * 2.4) * np.sqrt(k), np.sin(k * 2.4) * np.sqrt(k)]
    order = np.lexsort((pts[:, 1], pts[:, 0]))
    cross2 = lambda o, a, b: (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    def half(points):
        out = []
        for p in points:
            while len(out) >= 2 and cross2(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]

    hull = np.array(half(pts[order]) + half(pts[order[::-1]]))
    nxt = np.roll(hull, -1, axis=0)
    area = 0.5 * np.abs(np.sum(hull[:, 0] * nxt[:, 1] - nxt[:, 0] * hull[:, 1]))
    per = np.linalg.norm(hull - nxt, axis=1).sum()

    def inside(poly, q):
        xs, ys = poly.T
        xn, yn = np.roll(xs, -1), np.roll(ys, -1)
        cond = ((ys > q[1]) != (yn > q[1])) & (
            q[0] < (xn - xs) * (q[1] - ys) / np.where(yn == ys, np.inf, yn - ys) + xs
        )
        return np.count_nonzero(cond) % 2 == 1

    cp = np.array([[0, 0], [1, 2], [3, 3], [4, 0]], float)
    tt = np.linspace(0, 1, 6)[:, None]
    bez = (1 - tt) ** 3 * cp[0] + 3 * (1 - tt) ** 2 * tt * cp[1] + 3 * (1 - tt) * tt**2 * cp[2] + tt**3 * cp[3]
    work = np.broadcast_to(cp, (6, 4, 2)).copy()
    for s in range(3, 0, -1):
        work = (1 - tt[..., None]) * work[:, :s] + tt[..., None] * work[:, 1 : s + 1]
    th = np.deg2rad(30)
    R = np.array([[np.cos(th), -np.sin(th), 0], [np.sin(th), np.cos(th), 0], [0, 0, 1]])
    Tm = np.eye(3)
    Tm[:2, 2] = [2, -1]
    M = Tm @ R
    hom = np.hstack([cp, np.ones((4, 1))])
    moved = (M @ hom.T).T[:, :2]
    back = np.linalg.inv(M)[:2] @ np.vstack((moved.T, np.ones(4)))
    src, dst = pts, pts @ R[:2, :2].T + [0.3, -0.2]
    for _ in range(15):
        dd = np.linalg.norm(src[:, None] - dst, axis=2)
        match = dst[dd.argmin(1)]
        cs, cd = src.mean(0), match.mean(0)
        U, S, Vt = np.linalg.svd((src - cs).T @ (match - cd))
        Rot = Vt.T @ np.diag([1, np.sign(np.linalg.det(Vt.T @ U.T))]) @ U.T
        src = (src - cs) @ Rot.T + cd
    xs = np.arange(20.0)
    ys = 2 * xs + 1
    ys[::5] += 15
    best = (0, None)
    for i in range(19):
        m = (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i])
        c0 = ys[i] - m * xs[i]
        inl = np.abs(ys - (m * xs + c0)) < 0.5
        if inl.sum() > best[0]:
            best = (int(inl.sum()), (float(m), float(c0)))
    F = np.add.outer(np.linspace(-1, 1, 6) ** 2, np.linspace(-1, 1, 6) ** 2) - 0.5
    sgn = F > 0
    case = sgn[:-1, :-1] + 2 * sgn[:-1, 1:] + 4 * sgn[1:, 1:] + 8 * sgn[1:, :-1]
    cz = np.argwhere(np.diff(np.sign(F), axis=1) != 0)
    frac = F[cz[:, 0], cz[:, 1]] / (F[cz[:, 0], cz[:, 1]] - F[cz[:, 0], cz[:, 1] + 1])
    tri = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 2, 0], [0, 0, 2]]], float)
    nrm = np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    areas = np.linalg.norm(nrm, axis=1) / 2
    vox = np.unique(np.floor(np.c_[pts, k % 3] / 1.5).astype(int), axis=0, return_counts=True)[1]
    q = np.array([np.cos(0.3), *(np.sin(0.3) * norm(np.array([1.0, 2, 2])))])
    w_, x_, y_, z_ = q
    Q = np.array(
        [
            [1 - 2 * (y_**2 + z_**2), 2 * (x_ * y_ - z_ * w_), 2 * (x_ * z_ + y_ * w_)],
            [2 * (x_ * y_ + z_ * w_), 1 - 2 * (x_**2 + z_**2), 2 * (y_ * z_ - x_ * w_)],
            [2 * (x_ * z_ - y_ * w_), 2 * (y_ * z_ + x_ * w_), 1 - 2 * (x_**2 + y_**2)],
        ]
    )
    return {
        "img": img.astype(int).sum(axis=(0, 1)) // 1000,
        "who": who,
        "t": tmin[who >= 0].min(),
        "hull": hull,
        "area": area,
        "per": per,
        "in": [bool(inside(hull, q_)) for q_ in ([0, 0], [9, 9])],
        "bez": bez,
        "same": np.allclose(bez, work[:, 0]),
        "moved": moved,
        "back": back.T,
        "icp": np.abs(np.sort(src, axis=0) - np.sort(dst, axis=0)).max() < 1e-3,
        "ransac": best,
        "case": case,
        "frac": frac,
        "nrm": nrm,
        "areas": areas,
        "vox": vox,
        "Q": Q,
        "det": round(float(np.linalg.det(Q)), 6),
        "angle": np.degrees(np.arccos(np.clip((np.trace(Q) - 1) / 2, -1, 1))),
        "bary": np.linalg.solve(np.vstack([tri[0, :, :2].T, np.ones(3)]), [0.2, 0.3, 1]),
    }
