"""Sets of numbers, duplicates, runs and gaps."""


def main(np):
    a = np.array([7, 1, 2, 3, 2, 4, 7, 9])
    b = np.array([2, 3, 5, 7, 7, 11])
    common, in_a, in_b = np.intersect1d(a, b, return_indices=True)
    values, first, counts = np.unique(a, return_index=True, return_counts=True)
    duplicates = values[counts > 1]
    kept = a[np.sort(first)]
    bits = np.array([0, 1, 1, 1, 0, 0, 1, 1, 0, 1])
    edges = np.diff(np.concatenate(([0], bits, [0])))
    starts, ends = np.where(edges == 1)[0], np.where(edges == -1)[0]
    days = np.array([1, 2, 3, 7, 8, 12])
    groups = np.split(days, np.where(np.diff(days) != 1)[0] + 1)
    rows = np.array([[1, 2], [3, 4], [1, 2], [0, 9]])
    jaccard = len(np.intersect1d(a, b)) / len(np.union1d(a, b))
    return {
        "common": common,
        "in_a": in_a,
        "in_b": in_b,
        "union": np.union1d(a, b),
        "difference": np.setdiff1d(a, b),
        "xor": np.setxor1d(a, b),
        "member": np.isin(a, b),
        "duplicates": duplicates,
        "kept": kept,
        "longest": (ends - starts).max(),
        "runs": list(zip(starts.tolist(), (ends - starts).tolist())),
        "groups": [g.tolist() for g in groups],
        "rows": np.unique(rows, axis=0),
        "jaccard": jaccard,
        "five": 5 in a,
        "two": 2 in b,
        "python": sorted(set(a.tolist()) - set(b.tolist())),
    }
