"""What walks and distributions have in common, whatever the seed."""


def main(np):
    np.random.seed(123)
    steps = np.random.randn(2000)
    walk = np.cumsum(steps)
    shuffled = np.arange(20)
    np.random.shuffle(shuffled)
    counts, edges = np.histogram(steps, bins=20, range=(-5, 5))
    density, _ = np.histogram(steps, bins=10, density=True)
    poisson = np.random.poisson(4.0, 2000)
    coin = np.random.binomial(10, 0.5, size=(100, 4))
    exponential = np.random.exponential(scale=2.0, size=3000)
    x = np.random.normal(loc=10, scale=2, size=(50, 3))
    np.random.seed(5)
    first = np.random.rand(4)
    np.random.seed(5)
    again = np.random.rand(4)
    rng = np.random.default_rng(seed=7)
    picked = rng.choice(np.arange(10), size=4, replace=False)
    return {
        "mean": bool(abs(steps.mean()) < 0.15),
        "std": bool(abs(steps.std() - 1) < 0.1),
        "walk": walk.shape,
        "returns": bool(np.isclose(walk[-1], steps.sum(), atol=1e-2)),
        "counts": counts.sum(),
        "edges": edges,
        "density": bool(len(density) == 10),
        "permuted": np.sort(shuffled),
        "poisson": bool(abs(poisson.mean() - 4) < 0.3 and poisson.min() >= 0),
        "coin": bool(((coin >= 0) & (coin <= 10)).all()),
        "exponential": bool(abs(exponential.mean() - 2) < 0.25),
        "normal": bool((np.abs(x.mean(axis=0) - 10) < 1.5).all()),
        "again": np.array_equal(first, again),
        "distinct": len(np.unique(picked)),
        "within": bool(0 <= rng.random() < 1),
        "integers": bool((rng.integers(5, size=100) < 5).all()),
    }
