"""Principal components by covariance and by singular values."""


def main(np):
    t = np.linspace(0, 6, 40)
    X = np.column_stack([3 * np.sin(t), np.cos(2 * t) + np.sin(t), 0.1 * t, np.sin(5 * t) * 0.3])
    X_centered = X - np.mean(X, axis=0)
    cov = np.cov(X_centered, rowvar=False)
    eigenvalues, eigenvectors = np.linalg.eigh(cov)
    idx = np.argsort(eigenvalues)[::-1]
    eigenvalues = eigenvalues[idx]
    eigenvectors = eigenvectors[:, idx]
    signs = np.sign(eigenvectors[np.abs(eigenvectors).argmax(axis=0), range(eigenvectors.shape[1])])
    eigenvectors = eigenvectors * signs
    scores = X_centered @ eigenvectors[:, :2]
    U, S, Vt = np.linalg.svd(X_centered, full_matrices=False)
    explained = eigenvalues / eigenvalues.sum()
    k = np.searchsorted(np.cumsum(explained), 0.95) + 1
    restored = (U[:, :k] * S[:k]) @ Vt[:k]
    return {
        "eigenvalues": eigenvalues,
        "eigenvectors": eigenvectors,
        "scores": scores,
        "same": np.allclose(S**2 / (len(X) - 1), eigenvalues, rtol=1e-3, atol=1e-5),
        "explained": explained,
        "k": int(k),
        "error": float(np.linalg.norm(X_centered - restored)),
        "whitened": np.allclose(np.cov((scores / np.sqrt(eigenvalues[:2])).T), np.eye(2), atol=1e-3),
    }
