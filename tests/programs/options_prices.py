"""Finance: trees and formulas of options, cash flows, bonds, drawdowns, portfolios, a moving correlation, rates by Newton."""

import math


def main(np):
    normal = np.vectorize(lambda d: 0.5 * (1 + math.erf(d / math.sqrt(2))))
    strikes, spot, rate, spread, years = np.arange(80.0, 125.0, 10), 100.0, 0.03, 0.2, 0.5
    d1 = (np.log(spot / strikes) + (rate + spread**2 / 2) * years) / (spread * np.sqrt(years))
    calls = spot * normal(d1) - strikes * np.exp(-rate * years) * normal(d1 - spread * np.sqrt(years))
    steps = 50
    up = np.exp(spread * np.sqrt(years / steps))
    chance = (np.exp(rate * years / steps) - 1 / up) / (up - 1 / up)
    ends = spot * up ** np.arange(steps, -steps - 1, -2.0)
    put = np.maximum(strikes[:, np.newaxis] - ends, 0)
    for step in range(steps - 1, -1, -1):
        put = np.exp(-rate * years / steps) * (chance * put[:, :-1] + (1 - chance) * put[:, 1:])
        put = np.fmax(put, strikes[:, None] - spot * up ** np.arange(step, -step - 1, -2.0))
    flows = np.array([-1000.0, 300, 400, 500, 200])
    periods = np.arange(flows.size)
    r = 0.1
    for _ in range(30):
        r = r - np.sum(flows / (1 + r) ** periods) / np.sum(-periods * flows / (1 + r) ** (periods + 1))
    roots = np.roots(flows[::-1])
    real = np.sort(roots[np.isreal(roots)].real)
    prices = np.array([100, 104, 99, 107, 110, 95, 97, 103, 112, 108], dtype=np.float64)
    returns = prices[1:] / prices[:-1] - 1
    drawdown = 1 - prices / np.maximum.accumulate(prices)
    market = np.array([0.01, -0.02, 0.03, 0.02, -0.05, 0.01, 0.02, 0.03, -0.01])
    beta = np.cov(returns, market)[0, 1] / np.var(market, ddof=1)
    window = np.lib.stride_tricks.sliding_window_view(np.vstack([returns, market]), 5, axis=1)
    moving = np.array([np.corrcoef(window[0, i], window[1, i])[0, 1] for i in range(window.shape[1])])
    cover = np.array([[0.04, 0.006, 0.01], [0.006, 0.09, 0.02], [0.01, 0.02, 0.16]])
    smallest = np.linalg.solve(cover, np.ones(3))
    smallest /= smallest.sum()
    smooth = np.empty_like(prices)
    smooth[0] = prices[0]
    for t in range(1, len(prices)):
        smooth[t] = 0.3 * prices[t] + 0.7 * smooth[t - 1]
    bins, edges = np.histogram(returns, bins=[-0.2, -0.05, 0, 0.05, 0.2])
    return {
        "calls": calls,
        "puts": put[:, 0],
        "rate": r,
        "root": real[(real > 0) & (real < 1)],
        "worst": drawdown.max(),
        "when": drawdown.argmax(),
        "beta": beta,
        "moving": moving,
        "weights": smallest,
        "risk": np.sqrt(smallest @ cover @ smallest),
        "smooth": smooth,
        "bins": bins,
        "edges": edges,
        "tail": np.percentile(returns, [5, 50], method="lower"),
        "growth": np.cumprod(1 + returns)[-1],
        "log": np.log1p(returns).sum(),
        "ranks": prices.argsort().argsort(),
        "best": np.partition(prices, -3)[-3:].sum(),
        "mean": np.exp(np.mean(np.log(prices))),
    }
