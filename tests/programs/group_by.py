"""Sums, means and largest values by group, without pandas."""


def main(np):
    region = np.array([2, 0, 1, 2, 2, 0, 1, 1, 0, 2])
    sales = np.array([10.0, 20.5, 7.25, 3.0, 8.5, 1.0, 12.0, 6.5, 9.0, 4.0])
    quantity = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    keys, inverse, counts = np.unique(region, return_inverse=True, return_counts=True)
    totals = np.bincount(inverse, weights=sales)
    means = totals / counts
    largest = np.full(len(keys), -np.inf)
    np.maximum.at(largest, inverse, sales)
    table = np.zeros((3, 2))
    np.add.at(table, (region, quantity % 2), sales)
    by_key = {int(k): sales[region == k].sum() for k in keys}
    names = {k: v for k, v in zip(keys.tolist(), ["north", "south", "west"])}
    order = np.argsort(region, kind="stable")
    starts = np.r_[0, np.flatnonzero(np.diff(region[order])) + 1]
    reduced = np.add.reduceat(sales[order], starts)
    groups = np.split(sales[order], starts[1:])
    report = [f"{names[int(k)]:>6}: {m:6.2f} ({c})" for k, m, c in zip(keys, means, counts)]
    return {
        "keys": keys,
        "totals": totals,
        "means": means,
        "largest": largest,
        "table": table,
        "by_key": by_key,
        "reduced": reduced,
        "medians": [np.median(g) for g in groups],
        "report": report,
        "best": names[int(keys[np.argmax(totals)])],
        "columns": np.sum(table, axis=0),
    }
