"""A table of marks: percentiles, ranks with ties, z-scores, outliers, letter grades."""


def ranks(np, values):
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(values))
    rank[order] = np.arange(1, len(values) + 1)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    sums = np.bincount(inverse, weights=rank)
    return (sums / counts)[inverse]


def main(np):
    marks = np.array(
        [[67, 81, 90, 55], [72, 81, 64, 59], [58, 99, 77, 61], [91, 45, 88, 70], [67, 62, 71, 99], [30, 88, 90, 62]]
    )
    levels = [5, 25, 50, 75, 95]
    table = np.percentile(marks, levels, axis=0)
    low, high = np.percentile(marks, [25, 75])
    spread = high - low
    outliers = (marks < low - 1.5 * spread) | (marks > high + 1.5 * spread)
    means = marks.mean(axis=1)
    edges = np.array([60, 70, 80, 90])
    letters = np.array(list(map(ord, "FDCBA")))[np.digitize(marks, edges)]
    z = (marks - marks.mean(0)) / marks.std(0, ddof=1)
    masked = np.where(outliers, np.nan, marks)
    return {
        "table": table,
        "lower": np.percentile(marks, 30, method="lower"),
        "weighted": np.average(marks, axis=1, weights=[1, 2, 2, 1]),
        "ranks": ranks(np, marks[:, 2]),
        "outliers": np.argwhere(outliers).tolist(),
        "letters": [chr(c) for c in letters[0]],
        "z": z.round(3),
        "best": marks.argmax(axis=0),
        "order": np.lexsort((means, marks[:, 0])),
        "without": np.nanmean(masked, axis=0),
        "median": np.nanmedian(masked),
        "iqr": f"{spread:.1f}",
        "count": np.count_nonzero(marks >= 60, axis=0),
        "histogram": np.histogram(marks, bins=np.arange(30, 101, 10))[0],
        "correlation": np.corrcoef(marks, rowvar=False).round(2),
    }
