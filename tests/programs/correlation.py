"""Correlation and covariance of variables, ranks, distances and standard scores."""


def main(np):
    t = np.arange(20)
    X = np.array([np.sin(t), np.sin(t) + 0.3 * np.cos(3 * t), -t / 5.0, (t * 7) % 5])
    R = np.corrcoef(X)
    np.fill_diagonal(R, 0)
    i, j = divmod(int(np.abs(np.triu(R)).argmax()), R.shape[1])
    ranks = X.argsort(axis=1).argsort(axis=1)
    d = ranks[0] - ranks[1]
    n = len(t)
    spearman = 1 - 6 * (d**2).sum() / (n * (n**2 - 1))
    z = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    distance = np.linalg.norm(X[:, None] - X[None], axis=-1)
    lags = np.correlate(z[0], z[1], mode="full") / n
    skew = np.mean(z**3, axis=1)
    mahalanobis = np.einsum("ij,jk,ik->i", z.T, np.linalg.inv(np.cov(z)), z.T)
    return {
        "R": R,
        "pair": (i, j),
        "spearman": spearman,
        "cov": np.cov(X[0], X[1]),
        "cov0": np.cov(X, bias=True),
        "z": z,
        "distance": distance,
        "lag": int(lags.argmax() - (n - 1)),
        "skew": skew,
        "mahalanobis": mahalanobis,
        "range": np.ptp(X, axis=1),
        "lower": R[np.tril_indices(4, -1)],
        "pearson": np.corrcoef(X[0], X[2])[0, 1],
    }
