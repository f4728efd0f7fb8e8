"""Moving means, medians, extremes and crossings of a series."""


def main(np):
    t = np.arange(60)
    price = 100 + 0.2 * t + 5 * np.sin(t / 4.0)

    def moving_average(a, n=3):
        ret = np.cumsum(a, dtype=float)
        ret[n:] = ret[n:] - ret[:-n]
        return ret[n - 1 :] / n

    fast, slow = moving_average(price, 5), moving_average(price, 15)
    fast = fast[-len(slow) :]
    signal = np.where(fast > slow, 1, -1)
    crossings = np.where(np.diff(signal))[0] + 1
    ema = np.empty_like(price)
    ema[0] = price[0]
    alpha = 2 / (10 + 1)
    for i in range(1, len(price)):
        ema[i] = alpha * price[i] + (1 - alpha) * ema[i - 1]
    windows = np.lib.stride_tricks.sliding_window_view(price, 7)
    upper = windows.mean(axis=-1) + 2 * windows.std(axis=-1)
    gaps = price.copy()
    gaps[::9] = np.nan
    filled = gaps.copy()
    nans = np.isnan(filled)
    filled[nans] = np.interp(np.flatnonzero(nans), np.flatnonzero(~nans), filled[~nans])
    return {
        "fast": fast,
        "slow": slow,
        "signal": signal,
        "crossings": crossings,
        "ema": ema,
        "median": np.median(windows, axis=1),
        "upper": upper,
        "nanmean": np.nanmean(gaps),
        "nanmax": np.nanmax(gaps),
        "filled": filled,
        "trend": np.polyfit(t, price, 1)[0],
        "percent": f"{(price[-1] / price[0] - 1):.1%}",
        "peaks": np.flatnonzero((price[1:-1] > price[:-2]) & (price[1:-1] > price[2:])) + 1,
    }
