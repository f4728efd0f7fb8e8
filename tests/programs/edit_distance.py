"""Edit distance, the longest common subsequence and a knapsack: tables filled cell by cell."""


def levenshtein(np, s, t):
    d = np.zeros((len(s) + 1, len(t) + 1), dtype=int)
    d[:, 0] = np.arange(len(s) + 1)
    d[0, :] = np.arange(len(t) + 1)
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i][j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def main(np):
    d = levenshtein(np, "kitten", "sitting")
    a, b = "ABCBDAB", "BDCABA"
    c = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                c[i + 1, j + 1] = c[i, j] + 1
            else:
                c[i + 1, j + 1] = max(c[i + 1, j], c[i, j + 1])
    weights, values, capacity = [1, 3, 4, 5], [1, 4, 5, 7], 7
    best = np.zeros(capacity + 1, dtype=np.int64)
    for w, v in zip(weights, values):
        best[w:] = np.maximum(best[w:], best[:-w] + v)
    return {
        "table": d,
        "distance": d[-1, -1],
        "lcs": int(c[-1][-1]),
        "row": c[3],
        "best": best,
        "same": d[len("kitten")][len("sitting")] == 3,
        "row_min": d.min(axis=1),
    }
