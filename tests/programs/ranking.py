"""Sorting, ranking, and the best of a table."""


def main(np):
    scores = np.array([88, 92, 75, 92, 60, 88, 99])
    ages = np.array([21, 25, 22, 20, 30, 19, 24])
    names = ["ann", "bob", "cem", "dan", "eve", "fay", "gil"]
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), dtype=int)
    ranks[order] = np.arange(1, len(scores) + 1)
    unique, inverse = np.unique(scores, return_inverse=True)
    dense = len(unique) - inverse
    keys = np.lexsort((ages, -scores))
    top3 = np.argpartition(scores, -3)[-3:]
    a = np.array([5, 2, 9, 1, 7])
    for i in range(len(a)):
        for j in range(len(a) - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    b = np.array([3, 1, 2])
    b.sort()
    swapped = np.array([[1, 2], [3, 4]])
    swapped[[0, 1]] = swapped[[1, 0]]
    heap = sorted(scores, reverse=True)
    matrix = np.array([[3, 1, 2], [9, 7, 8]])
    matrix[:, 0], matrix[:, 2] = matrix[:, 2].copy(), matrix[:, 0].copy()
    return {
        "order": order,
        "podium": [names[i] for i in order[:3]],
        "ranks": ranks,
        "dense": dense,
        "keys": keys,
        "top3": np.sort(scores[top3]),
        "bubble": a,
        "b": b,
        "swapped": swapped,
        "heap": [int(v) for v in heap],
        "matrix": matrix,
        "columns": np.sort(matrix, axis=0),
        "along": np.take_along_axis(matrix, np.argsort(matrix, axis=1), axis=1),
        "median": np.median(scores),
        "percentile": (scores < 90).mean() * 100,
        "ordered": bool(np.all(a[:-1] <= a[1:])),
        "max": max(scores),
    }
