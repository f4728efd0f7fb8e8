"""Conjugate gradients, Jacobi and Gauss-Seidel for a system of equations."""


def main(np):
    n = 10
    A = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    b = np.arange(1.0, n + 1)
    x = np.zeros(n)
    r = b - A.dot(x)
    p = r
    rsold = r.T @ r
    for i in range(len(b)):
        Ap = A @ p
        alpha = rsold / (p.T @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rsnew = r.T @ r
        if np.sqrt(rsnew) < 1e-4:
            break
        p = r + (rsnew / rsold) * p
        rsold = rsnew

    D = np.diag(A)
    rest = A - np.diagflat(D)
    jacobi = np.zeros_like(b)
    for _ in range(25):
        jacobi = (b - np.dot(rest, jacobi)) / D
    seidel = np.zeros(n)
    for _ in range(8):
        for row in range(n):
            s = A[row, :row] @ seidel[:row] + A[row, row + 1 :] @ seidel[row + 1 :]
            seidel[row] = (b[row] - s) / A[row, row]
    dominant = np.all(2 * np.abs(D) > np.sum(np.abs(A), axis=1))
    return {
        "x": x,
        "fast": i < 10,
        "jacobi": jacobi,
        "seidel": seidel,
        "solved": np.allclose(A @ x, b, atol=1e-3),
        "exact": np.linalg.solve(A, b),
        "dominant": dominant,
        "residual": bool(np.linalg.norm(b - A @ jacobi, np.inf) < 1e-3),
    }
