"""k-means by Lloyd's iterations."""


def kmeans(np, X, k, max_iters=20):
    centroids = X[:k].copy()
    for iteration in range(max_iters):
        distances = np.sqrt(((X[:, np.newaxis, :] - centroids[np.newaxis, :, :]) ** 2).sum(axis=2))
        labels = np.argmin(distances, axis=1)
        new_centroids = np.array([X[labels == i].mean(axis=0) for i in range(k)])
        if np.all(centroids == new_centroids):
            break
        centroids = new_centroids
    return centroids, labels, iteration


def main(np):
    t = np.arange(30)
    group = t % 3
    centers = np.array([[0, 0], [5, 5], [0, 6]])
    X = centers[group] + 0.7 * np.c_[np.sin(3.1 * t), np.cos(1.7 * t)]
    centroids, labels, iterations = kmeans(np, X, 3)
    inertia = 0.0
    for c, center in enumerate(centroids):
        inertia += ((X[labels == c] - center) ** 2).sum()
    sizes = {int(label): int(count) for label, count in zip(*np.unique(labels, return_counts=True))}
    return {
        "centroids": centroids,
        "labels": labels,
        "inertia": inertia,
        "sizes": sizes,
        "agree": len(set(zip(labels.tolist(), group.tolist()))) == 3,
        "iterations": iterations,
    }
