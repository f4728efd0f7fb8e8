"""A series: autocorrelation, Yule-Walker, a fit by least squares, forecasts, periodogram, seasonal means."""


def acf(np, x, lags):
    x = x - x.mean()
    full = np.correlate(x, x, mode="full")[len(x) - 1 :]
    return full[: lags + 1] / full[0]


def main(np):
    t = np.arange(120)
    noise = np.sin(t * 12.9898) * 43758.5453
    noise = noise - np.floor(noise) - 0.5
    noise = np.sin(t**2 * 0.37) * 0.3
    series = np.zeros(120)
    for i in range(2, 120):
        series[i] = 0.6 * series[i - 1] - 0.3 * series[i - 2] + noise[i]
    series = series + 2 * np.cos(2 * np.pi * t / 12)
    r = acf(np, series, 4)
    toeplitz = r[np.abs(np.subtract.outer(np.arange(3), np.arange(3)))]
    yule_walker = np.linalg.solve(toeplitz, r[1:4])
    X = np.lib.stride_tricks.sliding_window_view(series, 4)
    y, lagged = X[:, -1], np.c_[np.ones(len(X)), X[:, -2::-1]]
    coef, residuals, rank, sv = np.linalg.lstsq(lagged, y, rcond=None)
    history = list(series[-3:])
    for _ in range(5):
        history.append(coef[0] + sum(c * h for c, h in zip(coef[1:], history[::-1])))
    power = np.abs(np.fft.rfft(series - series.mean())) ** 2
    frequency = np.fft.rfftfreq(120)
    seasonal = series.reshape(-1, 12).mean(axis=0)
    return {
        "acf": r,
        "yule_walker": yule_walker,
        "coef": coef,
        "rank": int(rank),
        "residuals": residuals,
        "forecast": np.array(history[3:]),
        "period": 1 / frequency[np.argmax(power[1:]) + 1],
        "seasonal": seasonal - seasonal.mean(),
        "smooth": np.convolve(series, np.ones(12) / 12, "valid")[:5],
        "diff": np.diff(series, n=2, prepend=0)[:4],
        "trend": np.polyfit(t, series, 1)[0],
    }
