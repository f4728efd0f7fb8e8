"""Sparse matrices in arrays: compressed rows, products with empty rows, triangular and tridiagonal systems, an order of nodes."""


def main(np):
    r = np.array([0, 0, 1, 3, 3, 3, 1, 0])
    c = np.array([0, 2, 1, 0, 3, 2, 1, 2])
    v = np.array([1.0, 2, 3, 4, 5, 6, -1, 10])
    n = 4
    key = r * n + c
    u, inv = np.unique(key, return_inverse=True)
    d = np.zeros(len(u))
    np.add.at(d, inv, v)
    rows, cols = u // n, u % n
    indptr = np.zeros(n + 1, int)
    np.add.at(indptr, rows + 1, 1)
    indptr = indptr.cumsum()
    x = np.arange(1.0, 5)
    y = np.zeros(n)
    np.add.at(y, rows, d * x[cols])
    prods = d * x[cols]
    nz = np.flatnonzero(np.diff(indptr))
    y2 = np.zeros(n)
    y2[nz] = np.add.reduceat(prods, indptr[:-1][nz])
    y3 = np.bincount(rows, prods, n)
    y4 = np.diff(np.r_[0, prods.cumsum()][indptr])
    D = np.zeros((n, n))
    D[rows, cols] = d
    tr = np.argsort(cols, kind="stable")
    csc = d[tr], rows[tr]
    lens = np.diff(indptr)
    rid = np.repeat(np.arange(n), lens)
    off = np.arange(len(d)) - np.repeat(indptr[:-1], lens)
    ell = np.full((n, lens.max()), -1)
    ell[rid, off] = cols
    L = np.tril(D) + 5 * np.eye(n)
    b = L @ x
    z = b.copy()
    for i in range(n):
        z[i] = (z[i] - L[i, :i] @ z[:i]) / L[i, i]
    lo, di, up, rhs = -np.ones(5), 4 * np.ones(6), -np.ones(5), np.arange(6.0)
    cp, dp = np.zeros(5), np.zeros(6)
    cp[0], dp[0] = up[0] / di[0], rhs[0] / di[0]
    for i in range(1, 6):
        m = di[i] - lo[i - 1] * cp[i - 1]
        if i < 5:
            cp[i] = up[i] / m
        dp[i] = (rhs[i] - lo[i - 1] * dp[i - 1]) / m
    s = dp.copy()
    for i in range(4, -1, -1):
        s[i] -= cp[i] * s[i + 1]
    T = np.diag(di) + np.diag(lo, -1) + np.diag(up, k=1)
    band = np.array([np.pad(np.diagonal(T, k), (max(k, 0), max(-k, 0))) for k in (1, 0, -1)])
    adj = (D + D.T) != 0
    q = [0]
    seen = np.zeros(n, bool)
    seen[0] = True
    for k in q:
        nb = np.where(adj[k] & ~seen)[0]
        nb = nb[np.argsort(adj.sum(1)[nb], kind="mergesort")]
        seen[nb] = True
        q.extend(nb)
    perm = np.array(q)
    bw = np.abs(np.subtract(*np.nonzero(adj))).max()
    P = np.eye(n)[np.r_[perm, np.setdiff1d(np.arange(n), perm)]]
    x0 = np.zeros(6)
    for _ in range(25):
        x0 = (rhs - (T - np.diag(np.diag(T))) @ x0) / np.diag(T)
    return dict(
        u=u,
        d=d,
        indptr=indptr,
        y=y,
        y2=y2,
        y3=y3,
        y4=y4,
        csc=csc,
        ell=ell,
        z=z,
        s=s,
        ok=np.allclose(T @ s, rhs),
        band=band,
        q=[int(k) for k in q],
        bw=bw,
        P=P @ D @ P.T,
        x0=x0,
        dt=indptr.dtype.name,
        sp=np.count_nonzero(D, axis=1),
        arg=np.argwhere(D > 3),
    )
