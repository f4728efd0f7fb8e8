"""The largest eigenvalue by power iteration, the others by deflation and by QR steps."""


def main(np):
    A = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], dtype=float)
    eigenvalues = []
    B = A.copy()
    for _ in range(3):
        v = np.ones(3)
        v[0] += 0.5
        for _ in range(60):
            v = B @ v
            v = v / np.linalg.norm(v)
        value = v @ B @ v
        eigenvalues.append(value)
        B -= value * np.outer(v, v)
    T = A
    for _ in range(30):
        Q, R = np.linalg.qr(T)
        T = R @ Q
    w = np.linalg.eigvalsh(A)
    return {
        "eigenvalues": np.array(eigenvalues),
        "qr": np.sort(np.diagonal(T))[::-1],
        "library": w,
        "close": np.allclose(sorted(eigenvalues), w, atol=1e-3),
        "spectral": max(abs(w)),
        "trace": bool(np.isclose(w.sum(), A.trace())),
        "matrix_power": np.linalg.matrix_power(A.astype(int), 3),
    }
