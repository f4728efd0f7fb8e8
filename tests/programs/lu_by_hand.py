"""LU with row exchanges by hand, its determinant, inverse and solution, and iterative refinement."""


def lu(np, A):
    A = A.astype(float).copy()
    n = A.shape[0]
    perm = np.arange(n)
    sign = 1
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            perm[[k, p]] = perm[[p, k]]
            sign = -sign
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A, perm, sign


def solve(np, LU, perm, b):
    n = len(b)
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[perm[i]] - LU[i, :i] @ y[:i]
    x = np.zeros_like(y)
    for i in reversed(range(n)):
        x[i] = (y[i] - np.dot(LU[i, i + 1 :], x[i + 1 :])) / LU[i, i]
    return x


def main(np):
    A = np.array([[2, 1, 1, 0], [4, 3, 3, 1], [8, 7, 9, 5], [6, 7, 9, 8]])
    b = np.array([1, -2, 3, 0.5])
    LU, perm, sign = lu(np, A)
    L = np.tril(LU, -1) + np.eye(4)
    U = np.triu(LU)
    x = solve(np, LU, perm, b)
    x += solve(np, LU, perm, b - A @ x)
    inverse = np.column_stack([solve(np, LU, perm, e) for e in np.eye(4)])
    P = np.eye(4, dtype=int)[perm]
    return {
        "L": L,
        "U": U,
        "perm": perm,
        "product": np.allclose(P @ A, L @ U, atol=1e-5),
        "x": x,
        "residual is small": np.linalg.norm(A @ x - b) < 1e-4,
        "determinant": sign * np.prod(np.diag(LU)),
        "inverse": inverse,
        "agrees": np.allclose(inverse, np.linalg.inv(A), atol=1e-4),
        "identity": np.round(inverse @ A).astype(int),
    }
