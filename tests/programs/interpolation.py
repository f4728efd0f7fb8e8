"""Linear, nearest and cubic interpolation; integrals by rules."""


def main(np):
    x = np.linspace(0, 10, 11)
    y = np.cos(-(x**2) / 9.0)
    xnew = np.linspace(0, 10, 23)
    linear = np.interp(xnew, x, y)
    outside = np.interp([-1.0, 11.0], x, y, left=-9, right=9)
    nearest = y[np.abs(x[:, None] - xnew).argmin(axis=0)]
    i = np.clip(np.searchsorted(x, xnew) - 1, 0, len(x) - 2)
    t = (xnew - x[i]) / (x[i + 1] - x[i])
    slopes = np.gradient(y, x)
    h = x[1] - x[0]
    cubic = (
        (1 + 2 * t) * (1 - t) ** 2 * y[i]
        + t * (1 - t) ** 2 * h * slopes[i]
        + t**2 * (3 - 2 * t) * y[i + 1]
        + t**2 * (t - 1) * h * slopes[i + 1]
    )
    simpson = h / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1])
    grid = np.arange(12.0).reshape(3, 4)
    r, c = 1.25, 2.5
    r0, c0 = int(np.floor(r)), int(np.floor(c))
    bilinear = np.array([1 - (r - r0), r - r0]) @ grid[r0 : r0 + 2, c0 : c0 + 2] @ np.array([1 - (c - c0), c - c0])
    return {
        "linear": linear,
        "outside": outside,
        "nearest": nearest,
        "cubic": cubic,
        "trapezoid": np.trapezoid(y, x),
        "simpson": simpson,
        "bilinear": bilinear,
        "bins": np.digitize([0.5, 3.3, 9.9], x),
        "geometric": np.geomspace(1, 1000, 4),
        "logarithmic": np.logspace(0, 2, 5),
    }
