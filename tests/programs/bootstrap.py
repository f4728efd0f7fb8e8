"""Confidence by bootstrapping, a permutation test and a jackknife."""


def main(np):
    np.random.seed(0)
    data = np.array([23.1, 25.4, 21.8, 30.2, 26.6, 24.9, 27.7, 22.4, 28.3, 25.0])
    other = np.array([27.0, 29.4, 31.2, 28.8, 30.1, 26.5, 32.0, 29.9])
    means = np.zeros(300)
    for i in range(300):
        sample = np.random.choice(data, size=len(data), replace=True)
        means[i] = sample.mean()
    low, high = np.percentile(means, [2.5, 97.5])

    observed = np.mean(other) - np.mean(data)
    pooled = np.concatenate((data, other))
    count = 0
    for _ in range(200):
        np.random.shuffle(pooled)
        if pooled[: len(other)].mean() - pooled[len(other) :].mean() >= observed:
            count += 1
    n = len(data)
    jackknife = np.array([np.delete(data, i).mean() for i in range(n)])
    error = np.sqrt((n - 1) * np.mean((jackknife - jackknife.mean()) ** 2))
    indices = np.random.randint(0, n, size=(100, n))
    medians = np.median(data[indices], axis=1)
    return {
        "covers": bool(low < data.mean() < high),
        "width": bool(1 < high - low < 5),
        "significant": count / 200 < 0.05,
        "kept": bool(np.isclose(pooled.sum(), data.sum() + other.sum())),
        "jackknife": jackknife,
        "error": error,
        "classical": data.std(ddof=1) / np.sqrt(n),
        "medians": bool((medians >= data.min()).all() and (medians <= data.max()).all()),
        "quartiles": np.percentile(data, (25, 50, 75)),
        "z": (data - data.mean()) / data.std(),
    }
