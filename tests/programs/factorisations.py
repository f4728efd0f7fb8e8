"""Factors of matrices: non-negative ones, by least squares with gaps, by soft thresholds, reduced bases, unfolded tensors."""


def main(np):
    V = np.array([[5, 3, 0, 1], [4, 0, 0, 1], [1, 1, 0, 5], [1, 0, 0, 4], [0, 1, 5, 4]], dtype=np.float64)
    W = 1 + np.arange(10).reshape(5, 2) % 3 / 4
    H = 1 + np.arange(8).reshape(2, 4) % 5 / 4
    loss = []
    for _ in range(40):
        H *= (W.T @ V) / (W.T @ W @ H + 1e-9)
        W *= (V @ H.T) / (W @ H @ H.T + 1e-9)
        loss.append(np.linalg.norm(V - W @ H))
    M = V > 0
    U = np.ones((5, 2))
    U[:, 1] = np.arange(5) / 5
    Z = np.cos(np.arange(8)).reshape(2, 4)
    lam = 0.1 * np.eye(2)
    for _ in range(5):
        for j in range(4):
            m = M[:, j]
            Z[:, j] = np.linalg.solve(U[m].T @ U[m] + lam, U[m].T @ V[m, j])
        for i, m in enumerate(M):
            U[i] = np.linalg.solve(Z[:, m] @ Z[:, m].T + lam, Z[:, m] @ V[i, m])
    rmse = np.sqrt(np.mean((V - U @ Z)[M] ** 2))
    X = np.where(M, V, 0)
    for _ in range(10):
        u, s, vt = np.linalg.svd(np.where(M, V, X), full_matrices=False)
        X = (u * np.maximum(s - 0.5, 0)) @ vt
    B = np.array([[1, 1, 1], [-1, 0, 2], [3, 5, 6]])
    b = B.astype(float)

    def gso(b):
        q = b.copy()
        mu = np.eye(len(b))
        for i in range(len(b)):
            for j in range(i):
                mu[i, j] = b[i] @ q[j] / (q[j] @ q[j])
                q[i] -= mu[i, j] * q[j]
        return q, mu

    k = 1
    while k < 3:
        q, mu = gso(b)
        for j in range(k - 1, -1, -1):
            if abs(mu[k, j]) > 0.5:
                b[k] -= np.rint(mu[k, j]) * b[j]
                q, mu = gso(b)
        if q[k] @ q[k] >= (0.75 - mu[k, k - 1] ** 2) * (q[k - 1] @ q[k - 1]):
            k += 1
        else:
            b[[k, k - 1]] = b[[k - 1, k]]
            k = max(k - 1, 1)
    kr = np.einsum("ir,jr->ijr", W, H.T).reshape(-1, 2)
    T = np.einsum("ir,jr,kr->ijk", W, H.T, H.T[:3])
    unf = np.moveaxis(T, 1, 0).reshape(4, -1)
    hosvd = np.linalg.svd(unf, compute_uv=False)
    td = np.tensordot(T, V, axes=([0, 1], [0, 1]))
    path = np.einsum_path("ij,jk,kl->il", W, H, H.T)[0]
    md = np.linalg.multi_dot([W, H, H.T, H])
    ip = np.inner(W, H.T[:, :2])
    vd = np.vdot(W[:2], H[:, :2])
    ou = np.outer(W[0], H[:, 0])
    col = V / np.linalg.norm(V, axis=0, keepdims=True)
    sim = col.T @ col
    top = np.argpartition(-sim, 1, axis=1)[:, :1]
    cho = np.linalg.cholesky(sim + np.eye(4))
    sl = np.linalg.solve(sim + np.eye(4), np.ones((4, 1)))
    return dict(
        W=W,
        H=H,
        loss=loss[::13],
        rmse=rmse,
        X=X,
        b=b,
        kr=kr,
        hosvd=hosvd[:2],
        td=td,
        path=path,
        md=md,
        ip=ip,
        vd=vd,
        ou=ou,
        sim=sim,
        top=top,
        cho=cho,
        sl=sl,
        mono=all(p >= q - 1e-12 for p, q in zip(loss, loss[1:])),
        G=B @ B.T,
    )
