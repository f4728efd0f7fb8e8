"""Returns, drawdowns and portfolios."""


def main(np):
    prices = np.array(
        [[100.0, 50.0, 20.0], [101.5, 49.0, 20.4], [99.8, 50.5, 21.0], [103.2, 51.2, 20.1], [104.0, 50.1, 19.9],
         [102.7, 52.3, 20.8], [106.1, 53.0, 21.5]]
    )  # fmt: skip
    returns = prices[1:] / prices[:-1] - 1
    log_returns = np.diff(np.log(prices), axis=0)
    cumulative = np.cumprod(1 + returns, axis=0) - 1
    peak = np.maximum.accumulate(prices, axis=0)
    drawdown = (prices - peak) / peak
    weights = np.array([0.5, 0.3, 0.2])
    cov = np.cov(returns.T) * 252
    volatility = np.sqrt(weights.T @ cov @ weights)
    sharpe = (returns @ weights).mean() / (returns @ weights).std() * np.sqrt(252)
    inverse = np.linalg.inv(cov)
    minimum = inverse.sum(axis=1) / inverse.sum()
    var_95 = np.percentile(returns @ weights, 5)
    cash = np.array([-1000.0, 300, 400, 500])
    years = np.arange(cash.size)
    npv = lambda rate: np.sum(cash / (1 + rate) ** years)  # noqa: E731
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        if npv(middle) > 0:
            low = middle
        else:
            high = middle
    return {
        "returns": returns,
        "log": log_returns.sum(axis=0),
        "cumulative": cumulative,
        "drawdown": drawdown.min(axis=0),
        "volatility": volatility,
        "sharpe": sharpe,
        "minimum": minimum,
        "var": var_95,
        "irr": round(low, 2),
        "best": returns.argmax(0),
        "up": (returns > 0).sum(axis=0),
        "average": np.average(prices[-1], weights=weights),
        "text": [f"{r:+.2%}" for r in cumulative[-1]],
    }
