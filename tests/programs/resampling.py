"""Bootstrap and permutations from fixed tables: intervals, a test of difference, jackknife, cross validation, ROC."""


def main(np):
    a = np.array([12.1, 9.8, 11.4, 13.2, 10.9, 12.7])
    b = np.array([9.1, 10.2, 8.7, 9.9, 11.0])
    table = (np.arange(200 * 6).reshape(200, 6) * 7919 % 104729) % 6
    means = a[table].mean(axis=1)
    interval = np.quantile(means, [0.025, 0.975])
    pooled = np.concatenate([a, b])
    shuffles = np.argsort(np.sin(np.arange(300 * 11).reshape(300, 11) ** 1.5), axis=1)
    groups = pooled[shuffles]
    difference = groups[:, :6].mean(1) - groups[:, 6:].mean(1)
    observed = a.mean() - b.mean()
    jack = np.array([np.delete(a, i).var(ddof=1) for i in range(len(a))])
    error = np.sqrt((len(a) - 1) / len(a) * ((jack - jack.mean()) ** 2).sum())
    x = np.linspace(0, 3, 12)
    y = x**2 - x + np.sin(5 * x) * 0.1
    folds = np.array_split(np.arange(12), 4)
    scores = {}
    for degree in (1, 2):
        errors = []
        for fold in folds:
            train = np.setdiff1d(np.arange(12), fold)
            p = np.polyfit(x[train], y[train], degree)
            errors.append(((np.polyval(p, x[fold]) - y[fold]) ** 2).mean())
        scores[degree] = np.mean(errors)
    truth = np.array([0, 0, 1, 1, 0, 1, 1, 0])
    score = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.7, 0.55, 0.5])
    order = np.argsort(-score)
    tpr = np.cumsum(truth[order]) / truth.sum()
    fpr = np.cumsum(1 - truth[order]) / (truth == 0).sum()
    area = np.trapezoid(np.r_[0, tpr], np.r_[0, fpr])
    confusion = np.zeros((2, 2), int)
    np.add.at(confusion, (truth, (score > 0.45).astype(int)), 1)
    return {
        "interval": interval,
        "t": observed / np.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size),
        "middle": np.abs(np.median(difference)) < 1,
        "jackknife": error,
        "scores": scores,
        "better": scores[2] < scores[1],
        "tpr": tpr,
        "area": area,
        "confusion": confusion,
        "precision": confusion[1, 1] / confusion[:, 1].sum(),
        "kept": sorted(np.concatenate(folds).tolist()) == list(range(12)),
        "spread": np.std(means, ddof=1),
    }
