"""Points in two rings, clustered by the eigenvectors of a graph's Laplacian."""


def main(np):
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ring = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    points = np.vstack([ring, 3 * ring])
    distance = ((points[:, None, :] - points[None, :, :]) ** 2).sum(-1)
    W = np.exp(-distance / (2 * 0.3**2))
    W[np.diag_indices_from(W)] = 0
    degree = W.sum(axis=1)
    L = np.diag(degree) - W
    scale = 1 / np.sqrt(degree)
    normal = scale[:, None] * L * scale
    values, vectors = np.linalg.eigh((normal + normal.T) / 2)
    embedding = vectors[:, :2] * scale[:, np.newaxis]
    embedding = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
    similar = np.abs(embedding @ embedding[0]) > 0.9
    near = np.argpartition(distance + np.eye(32) * 99, 2, axis=1)[:, :2]
    return {
        "near": np.sort(near, axis=1)[:4],
        "first two vanish": bool(np.all(np.abs(values[:2]) < 1e-3)),
        "third": values[2] > 1e-4,
        "sizes": [int(similar[:16].sum()) % 16, int(similar[16:].sum()) % 16],
        "one ring together": len(set(similar[:16].tolist())),
        "rows": np.allclose(L.sum(0), 0, atol=1e-5),
        "trace": np.trace(normal),
        "volume": degree.sum().item() > 0,
    }
