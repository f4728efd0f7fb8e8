"""Searches and dynamic programs: knapsacks, alignments, coins, tours, queens, A*, components, intervals, spirals."""

import heapq
import itertools


def main(np):
    wt, val, W = np.array([2, 3, 4, 5]), np.array([3, 4, 5, 6]), 8
    K = np.zeros((len(wt) + 1, W + 1), dtype=int)
    for i in range(1, len(wt) + 1):
        K[i] = K[i - 1]
        K[i, wt[i - 1] :] = np.maximum(K[i - 1, wt[i - 1] :], K[i - 1, : W + 1 - wt[i - 1]] + val[i - 1])
    take, w = [], W
    for i in range(len(wt), 0, -1):
        if K[i, w] != K[i - 1, w]:
            take.append(i - 1)
            w -= wt[i - 1]
    a, b = np.array(list(map(ord, "GATTACAGATT"))), np.frombuffer(b"GCATGCAATT", dtype="u1")
    S = np.zeros((len(a) + 1, len(b) + 1), int)
    S[:, 0] = -np.arange(len(a) + 1)
    S[0] = -np.arange(len(b) + 1)
    L = np.zeros_like(S)
    for i, ca in enumerate(a, 1):
        for j, cb in enumerate(b, 1):
            S[i, j] = max(S[i - 1, j - 1] + (1 if ca == cb else -1), S[i - 1, j] - 1, S[i, j - 1] - 1)
            L[i, j] = L[i - 1, j - 1] + 1 if ca == cb else max(L[i - 1, j], L[i, j - 1])
    coins = np.array([1, 5, 12])
    ways = np.zeros(31, dtype=np.int64)
    ways[0] = 1
    fewest = np.r_[0, np.full(30, 10**9)]
    for c in coins:
        for s in range(c, 31):
            ways[s] += ways[s - c]
    for s in range(1, 31):
        fewest[s] = 1 + min(fewest[s - c] for c in coins if c <= s)
    t = np.arange(9)
    P = np.c_[np.cos(t * 4.1), np.sin(t * 2.3)]
    D = np.hypot(*(P[:, None] - P[None]).transpose(2, 0, 1))
    tour = list(range(9))
    length = lambda r: D[r, np.roll(r, -1)].sum()
    improved = True
    while improved:
        improved = False
        for i, j in itertools.combinations(range(1, 9), 2):
            new = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
            if length(new) < length(tour) - 1e-5:
                tour, improved = new, True
    perms = np.array(list(itertools.permutations(range(5))))
    q = perms[[len(np.unique(p + np.arange(5))) == 5 == len(np.unique(p - np.arange(5))) for p in perms]]
    cost = (np.arange(25).reshape(5, 5) * 7) % 11
    tot = cost[np.arange(5), perms].sum(1)
    best = perms[tot.argmin()]
    grid = np.array([[0, 0, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]], bool)
    goal = (3, 3)
    heap = [(0, 0, (0, 0))]
    seen = {(0, 0): 0}
    while heap:
        f, g, (r, c) = heapq.heappop(heap)
        if (r, c) == goal:
            break
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            n = (r + dr, c + dc)
            if 0 <= n[0] < grid.shape[0] and 0 <= n[1] < grid.shape[1] and not grid[n] and g + 1 < seen.get(n, np.inf):
                seen[n] = g + 1
                heapq.heappush(heap, (g + 1 + np.abs(np.subtract(n, goal)).sum(), g + 1, n))
    parent = np.arange(10)

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for u, v in ((0, 1), (2, 3), (1, 3), (5, 6), (8, 9), (6, 8)):
        parent[find(u)] = find(v)
    comps = np.array([find(i) for i in range(10)])
    ring = np.arange(1, 11)
    k = 0
    while ring.size > 1:
        k = (k + 2) % ring.size
        ring = np.delete(ring, k)
    masks = (np.arange(16)[:, None] >> np.arange(4)) & 1
    sub = masks @ wt
    fit = sub <= W
    bestset = np.flatnonzero(masks[np.where(fit, masks @ val, -1).argmax()])
    pas = np.zeros((7, 7), dtype=np.int64)
    pas[:, 0] = 1
    for i in range(1, 7):
        pas[i, 1:] = pas[i - 1, 1:] + pas[i - 1, :-1]
    M = np.array([[1, 1], [1, 0]], dtype=np.uint64)
    fib = np.linalg.matrix_power(M, 90)[0, 1]
    collatz = np.zeros(30, int)
    z = np.arange(30)
    active = z > 1
    while active.any():
        z[active] = np.where(z[active] % 2, 3 * z[active] + 1, z[active] // 2)
        collatz[active] += 1
        active = z > 1
    intervals = np.array([[1, 4], [2, 5], [6, 8], [7, 9], [10, 11]])
    s = intervals[np.argsort(intervals[:, 0], kind="stable")]
    cut = np.flatnonzero(s[1:, 0] > np.maximum.accumulate(s[:, 1])[:-1]) + 1
    merged = [(int(g[0, 0]), int(g[:, 1].max())) for g in np.split(s, cut)]
    spiral, m = [], np.arange(12).reshape(3, 4)
    while m.size:
        spiral += list(m[0])
        m = np.rot90(m[1:])
    return {
        "K": K,
        "take": take,
        "S": S[-1, -1],
        "L": L,
        "ways": ways,
        "fewest": fewest,
        "tour": sorted(tour),
        "len": length(tour),
        "q": q,
        "best": best,
        "tot": tot.min(),
        "dist": seen[goal],
        "comps": comps,
        "ncomp": np.unique(comps).size,
        "left": int(ring[0]),
        "set": bestset,
        "pas": pas,
        "fib": fib,
        "collatz": collatz,
        "merged": merged,
        "spiral": np.array(spiral),
        "max_sub": max(
            int(np.cumsum(np.array([1, -3, 4, -1, 2]))[j] - (np.cumsum(np.array([1, -3, 4, -1, 2]))[i - 1] if i else 0))
            for i in range(5)
            for j in range(i, 5)
        ),
        "water": (
            np.minimum(
                np.maximum.accumulate(h := np.array([0, 1, 0, 2, 1, 0, 1, 3])), np.maximum.accumulate(h[::-1])[::-1]
            )
            - h
        ).sum(),
    }
