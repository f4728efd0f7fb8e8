"""Orthogonal vectors, and factors by hand."""


def gram_schmidt(np, A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j]
        for i in range(j):
            R[i, j] = np.dot(Q[:, i], A[:, j])
            v = v - R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return Q, R


def lu(np, A):
    n = len(A)
    U = A.astype(float).copy()
    L = np.eye(n)
    P = np.arange(n)
    for k in range(n - 1):
        pivot = k + np.abs(U[k:, k]).argmax()
        if pivot != k:
            U[[k, pivot]] = U[[pivot, k]]
            P[k], P[pivot] = P[pivot], P[k]
            L[[k, pivot], :k] = L[[pivot, k], :k]
        factor = U[k + 1 :, k] / U[k, k]
        L[k + 1 :, k] = factor
        U[k + 1 :] -= np.outer(factor, U[k])
    return P, L, U


def main(np):
    A = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [2.0, -1.0, 3.0]])
    Q, R = gram_schmidt(np, A)
    q, r = np.linalg.qr(A)
    B = np.array([[2, 1, 1], [4, 3, 3], [8, 7, 9]])
    P, L, U = lu(np, B)
    det = np.prod(np.diag(U))
    return {
        "Q": Q,
        "R": R,
        "orthogonal": np.allclose(Q.T @ Q, np.eye(3), atol=1e-5),
        "same": np.allclose(np.abs(r), np.abs(R), atol=1e-4),
        "P": P,
        "L": L,
        "U": U,
        "whole": np.allclose(L @ U, B[P], atol=1e-4),
        "det": abs(det),
        "determinant": np.linalg.det(B),
        "trace": np.trace(B),
        "rank": np.linalg.matrix_rank(A),
        "cholesky": np.linalg.cholesky(A.T @ A),
    }
