"""Pi and the price of an option by random numbers."""


def main(np):
    np.random.seed(42)
    n = 20000
    x = np.random.uniform(-1, 1, n)
    y = np.random.uniform(-1, 1, n)
    inside = x**2 + y**2 <= 1
    pi = 4 * inside.sum() / n

    S0, K, T, r, sigma = 100.0, 105.0, 1.0, 0.05, 0.2
    Z = np.random.standard_normal(n)
    ST = S0 * np.exp((r - 0.5 * sigma**2) * T + sigma * np.sqrt(T) * Z)
    payoff = np.maximum(ST - K, 0)
    price = np.exp(-r * T) * payoff.mean()
    error = payoff.std(ddof=1) / np.sqrt(n)

    rng = np.random.default_rng(1)
    walks = np.cumsum(rng.choice([-1, 1], size=(500, 100)), axis=1)
    dice = rng.integers(1, 7, size=6000)
    counts = np.bincount(dice, minlength=7)[1:]
    cards = rng.permutation(52)
    return {
        "pi": abs(pi - np.pi) < 0.06,
        "price": abs(price - 8.02) < 0.6,
        "error": bool(0.05 < error < 0.2),
        "spread": bool(abs(walks[:, -1].std() - 10) < 1.5),
        "even": bool((walks[:, -1] % 2 == 0).all()),
        "fair": bool((abs(counts - 1000) < 150).all()),
        "dice": (dice.min(), dice.max()),
        "sorted": np.sort(cards),
        "shape": walks.shape,
        "type": np.random.rand(3, 2).shape,
    }
