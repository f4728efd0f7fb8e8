"""Newton's fractal of z^3 - 1, a Julia set, and roots of polynomials by Durand and Kerner."""


def durand_kerner(np, coefficients, steps=60):
    n = len(coefficients) - 1
    roots = (0.4 + 0.9j) ** np.arange(n)
    for _ in range(steps):
        differences = roots[:, None] - roots
        np.fill_diagonal(differences, 1)
        roots = roots - np.polyval(coefficients, roots) / differences.prod(axis=1)
    return roots


def main(np):
    x = np.linspace(-1.5, 1.5, 24)
    z = x + 1j * x[:, np.newaxis][::-1]
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    steps = np.zeros(z.shape, dtype=int)
    for _ in range(25):
        moving = np.abs(z**3 - 1) > 1e-4
        steps += moving
        z = np.where(moving, z - (z**3 - 1) / (3 * z**2), z)
    basin = np.abs(z[..., None] - roots).argmin(axis=-1)
    c = -0.4 + 0.6j
    w = np.array([0.1 + 0.2j, 1 + 1j, -0.5j])
    alive = np.ones(3, bool)
    for _ in range(20):
        w[alive] = w[alive] ** 2 + c
        alive &= np.abs(w) < 2
    found = durand_kerner(np, [1, -6, 11, -6])
    order = np.lexsort((found.imag.round(3), found.real.round(3)))
    return {
        "basin": np.bincount(basin.ravel(), minlength=3).sum(),
        "symmetric": np.array_equal(basin[:, -1] == 0, basin[::-1, -1] == 0),
        "corner": int(basin[0, 0]),
        "most": bool(steps.max() <= 25),
        "settled": np.abs(z**3 - 1).max() < 1e-3,
        "alive": alive,
        "roots": found[order].real.round(3),
        "real": np.isreal(np.real_if_close(found[order].round(3))).all(),
        "numpy": np.sort(np.roots([1, -6, 11, -6]).real).round(3),
    }
