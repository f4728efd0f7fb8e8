"""Functions in pieces: taxes, grades, window functions, splines with a tridiagonal system, choices by masks."""


def spline(np, x, y, at):
    n, h = len(x), np.diff(x)
    a = np.zeros((n, n))
    a[[0, -1], [0, -1]] = 1
    inner = np.arange(1, n - 1)
    a[inner, inner - 1], a[inner, inner], a[inner, inner + 1] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    right = np.zeros(n)
    right[1:-1] = 6 * np.diff(np.diff(y) / h)
    m = np.linalg.solve(a, right)
    i = np.clip(np.searchsorted(x, at) - 1, 0, n - 2)
    left, rest = x[i + 1] - at, at - x[i]
    return (
        (m[i] * left**3 + m[i + 1] * rest**3) / (6 * h[i])
        + (y[i] / h[i] - m[i] * h[i] / 6) * left
        + (y[i + 1] / h[i] - m[i + 1] * h[i] / 6) * rest
    )


def main(np):
    x = np.linspace(-2.0, 2.0, 9)
    hat = np.piecewise(x, [x < -1, (x >= -1) & (x < 1), x >= 1], [0.0, lambda t: 1 - np.abs(t), 0.0])
    chosen = np.select([x < -1, x > 1], [x**2, x + 10], default=-1.0)
    income = np.array([5_000, 20_000, 60_000, 150_000])
    edges, rates = np.array([0, 10_000, 40_000, 100_000]), np.array([0.0, 0.1, 0.2, 0.4])
    tax = (np.clip(income[:, None] - edges, 0, np.append(np.diff(edges), np.inf)) * rates).sum(-1)
    marks = np.array([55, 91, 78, 60, 100, 12])
    letters = "".join("FDCBA"[k] for k in np.digitize(marks, [60, 70, 80, 90]))
    grades = np.choose(np.digitize(marks, [60, 90]), [0, marks // 10, 10])
    clipped = marks.copy()
    np.putmask(clipped, clipped < 60, 60)
    np.place(clipped, clipped > 90, [90, 89])
    np.put(clipped, [0, -1], [1, 2])
    knots = np.array([0.0, 1.0, 2.0, 3.5, 5.0])
    values = np.sin(knots)
    heaviside = np.heaviside(x, 0.5)
    square = np.vectorize(lambda t, p=2: t**p if t > 0 else 0.0)
    return {
        "hat": hat,
        "chosen": chosen,
        "tax": tax,
        "letters": letters,
        "grades": grades,
        "clipped": clipped,
        "steps": heaviside,
        "spline": spline(np, knots, values, np.array([0.0, 0.5, 1.7, 3.0, 4.9])),
        "extracted": np.extract(x > 0, x),
        "squares": square(x),
        "compressed": np.compress([True, False, True], np.arange(12).reshape(4, 3), axis=1),
        "sinc": np.sinc(x).round(6),
        "lookup": np.take(np.array([10, 20, 30]), [[0, 4], [-1, 1]], mode="wrap"),
        "clamped": np.interp([-9, 0.5, 9], x, x**2, left=-1, right=-2),
        "where": np.where([[True, False], [False, True]], [[1, 2], [3, 4]], 0.5),
        "ranges": np.unwrap(np.array([0.0, 3.0, -3.0, 0.5])),
    }
