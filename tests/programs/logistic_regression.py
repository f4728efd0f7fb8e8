"""Logistic regression, its confusion matrix, and nearest neighbours."""


def main(np):
    t = np.arange(40)
    X = np.stack([np.sin(t * 1.3) + (t % 2), np.cos(t * 0.7) - (t % 2) * 0.8], axis=1)
    y = t % 2
    X = (X - X.mean(0)) / X.std(0)
    X = np.insert(X, 0, 1, axis=1)
    n_train = int(0.75 * len(X))
    X_train, X_test = X[:n_train], X[n_train:]
    y_train, y_test = y[:n_train], y[n_train:]
    w = np.zeros(X.shape[1])
    losses = []
    for i in range(100):
        p = 1.0 / (1.0 + np.exp(-X_train @ w))
        grad = X_train.T @ (p - y_train) / y_train.size
        w -= 0.5 * grad
        if i % 25 == 0:
            losses.append((-y_train * np.log(p) - (1 - y_train) * np.log(1 - p)).mean())
    pred = (X_test @ w > 0).astype(int)
    accuracy = (pred == y_test).mean()
    confusion = np.zeros((2, 2), dtype=int)
    for actual, guess in zip(y_test, pred):
        confusion[actual, guess] += 1
    tp, fp, fn = confusion[1, 1], confusion[0, 1], confusion[1, 0]
    f1 = 2 * tp / (2 * tp + fp + fn)
    d = np.linalg.norm(X_test[:, None, :] - X_train[None, :, :], axis=2)
    neighbours = np.argsort(d, axis=1)[:, :3]
    votes = y_train[neighbours]
    knn = np.array([np.bincount(row, minlength=2).argmax() for row in votes])
    return {
        "w": w,
        "losses": losses,
        "pred": pred,
        "accuracy": accuracy,
        "confusion": confusion,
        "f1": f1,
        "knn": knn,
        "text": f"accuracy: {accuracy:.1%}",
        "batches": [len(part) for part in np.array_split(t, 7)],
    }
