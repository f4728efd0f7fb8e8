"""Tables: linear, Lagrange, Newton's differences, natural splines, bilinear, integrals by Simpson and Gauss."""


def divided(np, x, y):
    coefficients = y.astype(float).copy()
    for j in range(1, len(x)):
        coefficients[j:] = (coefficients[j:] - coefficients[j - 1 : -1]) / (x[j:] - x[:-j])
    return coefficients


def horner(np, c, nodes, t):
    result = np.full_like(t, c[-1])
    for coefficient, node in zip(c[-2::-1], nodes[-2::-1]):
        result = result * (t - node) + coefficient
    return result


def spline(np, x, y, t):
    n = len(x)
    h = np.diff(x)
    A = np.diag(np.r_[1, 2 * (h[:-1] + h[1:]), 1]) + np.diag(np.append(0, h[1:]), 1) + np.diag(np.append(h[:-1], 0), -1)
    slope = np.diff(y) / h
    b = np.concatenate(([0], 3 * np.diff(slope), [0]))
    c = np.linalg.solve(A, b)
    d = np.diff(c) / (3 * h)
    m = slope - h * (2 * c[:-1] + c[1:]) / 3
    k = np.clip(np.searchsorted(x, t) - 1, 0, n - 2)
    u = t - x[k]
    return y[k] + u * (m[k] + u * (c[k] + u * d[k]))


def main(np):
    x = np.array([0, 1, 2.5, 3.5, 4, 6])
    y = np.sin(x)
    t = np.linspace(0.1, 5.9, 7)
    weights = np.array([1 / np.prod(x[i] - np.delete(x, i)) for i in range(len(x))])
    terms = weights / (t[:, None] - x)
    barycentric = (terms * y).sum(1) / terms.sum(1)
    c = divided(np, x, y)
    grid = np.linspace(0, np.pi, 9)
    simpson = (grid[1] - grid[0]) / 3 * (np.sin(grid) * np.r_[1, np.tile([4, 2], 4)[:-1], 1]).sum()
    nodes, gauss = np.polynomial.legendre.leggauss(5)
    half = np.pi / 2
    table = np.add.outer(np.arange(3.0), 10 * np.arange(4.0))
    chebyshev = np.cos((np.arange(6) + 0.5) * np.pi / 6)
    return {
        "linear": np.interp(t, x, y),
        "newton": horner(np, c, x, t),
        "barycentric": barycentric,
        "agree": np.allclose(horner(np, c, x, t), barycentric, atol=1e-4),
        "spline": spline(np, x, y, t),
        "simpson": simpson,
        "gauss": half * (gauss * np.sin(half * (nodes + 1))).sum(),
        "bilinear": (table[:-1, :-1] + table[1:, :-1] + table[:-1, 1:] + table[1:, 1:]) / 4,
        "fit": np.polynomial.chebyshev.chebfit(chebyshev, np.exp(chebyshev), 3),
        "series": np.polynomial.Chebyshev([1, 0.5, 0.25])(np.array([-1, 0, 0.5])),
        "inverse": np.interp([0.2, 0.7], y[:3], x[:3]),
    }
