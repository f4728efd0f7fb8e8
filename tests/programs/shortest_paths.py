"""Paths in a graph of edges in arrays: Bellman-Ford, breadth first by levels, components, triangles, a topological order."""


def bellman_ford(np, n, u, v, w, source):
    dist = np.full(n, np.inf)
    dist[source] = 0
    for _ in range(n - 1):
        old = dist.copy()
        np.minimum.at(dist, v, dist[u] + w)
        if (dist == old).all():
            break
    return dist


def levels(np, adjacency, start):
    level = -np.ones(len(adjacency), dtype=int)
    frontier = np.zeros(len(adjacency), bool)
    frontier[start] = True
    depth = 0
    while frontier.any():
        level[frontier] = depth
        frontier = adjacency[frontier].any(axis=0) & (level < 0)
        depth += 1
    return level


def main(np):
    edges = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [4, 5], [1, 4], [6, 7], [2, 5]])
    u, v = edges.T
    w = np.array([7.0, 2, 1, 3.5, 1, 4, 9, 1, 20])
    n = edges.max() + 1
    dist = bellman_ford(np, int(n), u, v, w, 0)
    A = np.zeros((n, n), dtype=bool)
    A[u, v] = True
    both = A | A.T
    labels = np.arange(n)
    while True:
        new = np.where(both, labels, n).min(axis=1)
        new = np.minimum(new, labels)
        if np.array_equal(new, labels):
            break
        labels = new
    order, indegree, left = [], A.sum(axis=0), A.copy()
    ready = [int(i) for i in np.flatnonzero(indegree == 0)]
    while ready:
        node = ready.pop(0)
        order.append(node)
        for other in np.nonzero(left[node])[0]:
            left[node, other] = False
            if not left[:, other].any():
                ready.append(int(other))
    return {
        "dist": dist,
        "reached": np.isfinite(dist).tolist(),
        "levels": levels(np, A, 0),
        "labels": labels,
        "components": len(np.unique(labels)),
        "degree": np.bincount(edges.ravel()),
        "triangles": np.trace(np.linalg.matrix_power(both.astype(int), 3)) // 6,
        "order": order,
        "closure": (np.linalg.matrix_power(A + np.eye(n, dtype=int), int(n)) > 0).sum(1),
        "edges": list(zip(*np.where(np.triu(both)))) == [tuple(e) for e in edges[np.lexsort((v, u))]],
    }
