"""Polynomials: fitted, evaluated, multiplied, derived, their roots; Newton's method."""


def main(np):
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    y = np.array([0.0, 0.8, 0.9, 0.1, -0.8, -1.0])
    z = np.polyfit(x, y, 3)
    fitted = np.polyval(z, x)
    V = np.vander(x, 4)
    coefficients = np.linalg.lstsq(V, y, rcond=None)[0]
    p = [1, -6, 11, -6]
    root = 3.4
    derived = np.polyder(p)
    for _ in range(6):
        root = root - np.polyval(p, root) / np.polyval(derived, root)
    quotient, remainder = np.polydiv([1.0, -3.0, 2.0], [1.0, -1.0])
    nodes = np.cos((2 * np.arange(5) + 1) * np.pi / 10)

    def lagrange(xs, ys, at):
        total = 0
        for i in range(len(xs)):
            term = ys[i]
            for j in range(len(xs)):
                if i != j:
                    term = term * (at - xs[j]) / (xs[i] - xs[j])
            total += term
        return total

    return {
        "z": z,
        "fitted": fitted,
        "coefficients": coefficients,
        "product": np.polymul([1, 2], [1, -2]),
        "sum": np.polyadd([1, 2, 3], [4, 5]),
        "integral": np.polyint([3, 2, 1]),
        "derived": derived,
        "roots": np.sort(np.roots(p).real),
        "root": float(root),
        "division": (quotient, remainder),
        "lagrange": lagrange(nodes, np.exp(nodes), 0.3),
        "from_roots": np.poly([1, 2, 3]),
    }
