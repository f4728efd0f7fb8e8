"""Shortest paths between all nodes, and the reach of a graph."""


def main(np):
    INF = np.inf
    graph = [
        [0, 3, INF, 7],
        [8, 0, 2, INF],
        [5, INF, 0, 1],
        [2, INF, INF, 0],
    ]
    dist = np.array(graph)
    n = dist.shape[0]
    nxt = np.where(np.isfinite(dist), np.arange(n), -1)
    for k in range(n):
        through = dist[:, k, None] + dist[None, k, :]
        better = through < dist
        nxt = np.where(better, nxt[:, k][:, None], nxt)
        dist = np.minimum(dist, through)
    path = [1]
    while path[-1] != 3:
        path.append(int(nxt[path[-1], 3]))
    adjacency = (np.array(graph) < INF).astype(int) - np.eye(n, dtype=int)
    walks = np.linalg.matrix_power(adjacency, 3)
    upper = np.triu(dist, k=1)
    i, j = np.triu_indices(n, 1)
    visited, queue = {0}, [0]
    while queue:
        for node in np.nonzero(adjacency[queue.pop(0)])[0]:
            if node not in visited:
                visited.add(int(node))
                queue.append(node)
    return {
        "dist": dist,
        "next": nxt,
        "path": path,
        "walks": walks,
        "upper": upper,
        "pairs": dist[i, j],
        "visited": sorted(visited),
        "diameter": dist.max(),
        "farthest": tuple(map(int, np.unravel_index(dist.argmax(), dist.shape))),
    }
