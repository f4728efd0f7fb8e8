"""Bases: Gram-Schmidt twice, Householder by hand, QR iteration, projections, Legendre polynomials from moments."""


def gram_schmidt(np, V):
    Q = np.zeros_like(V)
    for i, v in enumerate(V.T):
        w = v - Q[:, :i] @ (Q[:, :i].T @ v)
        w = w - Q[:, :i] @ (Q[:, :i].T @ w)
        Q[:, i] = w / np.linalg.norm(w)
    return Q


def householder(np, A):
    R, Q = A.copy(), np.eye(len(A))
    for k in range(A.shape[1]):
        x = R[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.linalg.norm(v)
        R[k:] -= 2 * np.outer(v, v @ R[k:])
        Q[:, k:] -= 2 * (Q[:, k:] @ v)[:, None] * v
    return Q, R


def main(np):
    A = np.array([[1.0, 2, 0], [0, 1, 3], [2, 0, 1], [1, 1, 1]])
    Q = gram_schmidt(np, A)
    H, R = householder(np, A)
    S = A.T @ A
    for _ in range(60):
        q, r = np.linalg.qr(S)
        S = r @ q
    b = np.array([1, 2, 3, 4])
    projection = Q @ Q.T @ b
    x, *_ = np.linalg.lstsq(A, b, rcond=None)
    k = np.arange(4)
    moments = 1 / (k[:, None] + k + 1)
    moments[(k[:, None] + k) % 2 == 1] = 0
    L = np.linalg.cholesky(2 * moments)
    basis = np.linalg.inv(L)
    return {
        "orthogonal": np.allclose(Q.T @ Q, np.eye(3), atol=1e-5),
        "signs": np.sign(np.diag(Q.T @ A)),
        "R": np.abs(R),
        "HR": np.allclose(H @ R, A, atol=1e-5),
        "eigenvalues": np.sort(np.diag(S))[::-1],
        "projection": projection,
        "fits": np.allclose(A @ x, projection, atol=1e-4),
        "legendre": (basis / np.diag(basis)[:, np.newaxis]).round(4),
        "null": np.allclose(np.linalg.svd(A.T)[2][-1] @ A, 0, atol=1e-5),
        "rank": np.linalg.matrix_rank(np.hstack([A, A[:, :1]])),
        "volume": np.sqrt(np.linalg.det(A.T @ A)),
        "cross": np.cross(A[0], A[1]),
        "angle": np.degrees(np.arccos(A[0] @ A[1] / (np.linalg.norm(A[0]) * np.linalg.norm(A[1])))),
    }
