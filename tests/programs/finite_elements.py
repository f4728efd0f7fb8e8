"""Finite elements on a line and on triangles: matrices gathered by index, fixed borders, the edges that one triangle has."""


def main(np):
    n = 8
    x = np.linspace(0, 1, n + 1) ** 1.3
    h = np.diff(x)
    K = np.zeros((n + 1, n + 1))
    M = np.zeros_like(K)
    k = np.array([[1.0, -1], [-1, 1]])
    m = np.array([[2.0, 1], [1, 2]]) / 6
    for e in range(n):
        d = np.r_[e : e + 2]
        K[np.ix_(d, d)] += k / h[e]
        M[np.ix_(d, d)] += m * h[e]
    conn = np.stack((np.arange(n), np.arange(1, n + 1)), axis=-1)
    K2 = np.zeros((n + 1, n + 1))
    np.add.at(K2, (conn[:, :, None], conn[:, None, :]), k[None] / h[:, None, None])
    f = M @ np.sin(np.pi * x)
    free = np.delete(np.arange(n + 1), [0, n])
    u = np.zeros(n + 1)
    u[free] = np.linalg.solve(K[free][:, free], f[free])
    w = np.linalg.eigvals(np.linalg.solve(M[1:-1, 1:-1], K[1:-1, 1:-1]))
    # triangles
    gx, gy = np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 3), indexing="xy")
    P = np.column_stack([gx.ravel(), gy.ravel()])
    idx = np.arange(12).reshape(3, 4)
    quads = np.stack([idx[:-1, :-1], idx[:-1, 1:], idx[1:, 1:], idx[1:, :-1]], -1).reshape(-1, 4)
    T = np.vstack((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))
    E1, E2 = P[T[:, 1]] - P[T[:, 0]], P[T[:, 2]] - P[T[:, 0]]
    area = 0.5 * (E1[:, 0] * E2[:, 1] - E1[:, 1] * E2[:, 0])
    J = np.stack([E1, E2], axis=2)
    Jinv = np.linalg.inv(J)
    grads = np.einsum("ij,tjk->tik", np.array([[-1.0, -1], [1, 0], [0, 1]]), Jinv)
    ke = area[:, None, None] * grads @ grads.swapaxes(-1, -2)
    A = np.zeros((12, 12))
    np.add.at(A, (T[:, :, None], T[:, None, :]), ke)
    bnd = (P == 0).any(axis=1) | (P == 1).any(1)
    b = np.bincount(T.ravel(), weights=np.repeat(area / 3, 3), minlength=12)
    A[bnd] = 0
    A[bnd, bnd] = 1
    b[bnd] = 0
    sol = np.linalg.solve(A, b)
    edges = np.sort(np.concatenate([T[:, [0, 1]], T[:, [1, 2]], T[:, [2, 0]]]), axis=1)
    ue, cnt = np.unique(edges, axis=0, return_counts=True)
    return dict(
        u=u,
        same=np.allclose(K, K2),
        w=np.sort(w.real),
        T=T,
        area=area,
        sol=sol,
        border=ue[cnt == 1],
        ne=len(ue),
        cond=np.linalg.cond(A) < 100,
    )
