"""PageRank of a small web."""


def main(np):
    links = {0: [1, 2], 1: [2], 2: [0], 3: [0, 2], 4: [3, 1, 2], 5: []}
    n = len(links)
    A = np.zeros((n, n))
    for source, targets in links.items():
        for target in targets:
            A[target, source] += 1
    out = A.sum(axis=0)
    M = np.where(out > 0, A / np.where(out == 0, 1, out), 1.0 / n)
    d = 0.85
    rank = np.ones(n) / n
    for iteration in range(100):
        last = rank
        rank = d * M @ rank + (1 - d) / n
        if np.linalg.norm(rank - last, 1) < 1e-5:
            break
    order = np.argsort(-rank)
    exact = np.linalg.solve(np.eye(n) - d * M, np.full(n, (1 - d) / n))
    w, v = np.linalg.eig(M)
    return {
        "M": M,
        "rank": rank,
        "order": order,
        "iterations": iteration > 5,
        "sum": round(float(rank.sum()), 4),
        "exact": exact,
        "top": [(int(i), round(float(rank[i]), 3)) for i in order[:3]],
        "columns": M.sum(0),
        "largest": np.round(np.max(np.abs(w)), 4),
        "degree": dict(enumerate(A.sum(axis=1).astype(int).tolist())),
        "dangling": np.where(~A.any(axis=0))[0],
    }
