"""Chemistry: balanced equations by a null space, decay chains, titration by bisection, distances of atoms."""


def main(np):
    # C3H8 + O2 -> CO2 + H2O: columns of atoms
    atoms = np.array([[3, 0, -1, 0], [8, 0, 0, -2], [0, 2, -2, -1]], dtype=float)
    _, sizes, right = np.linalg.svd(atoms)
    null = right[-1] / right[-1, 0]
    rates = np.array([0.3, 0.1, 0.0])
    chain = np.diag(-rates) + np.diag(rates[:-1], k=-1)
    steps = [np.array([100.0, 0.0, 0.0])]
    for _ in range(50):
        y, h = steps[-1], 0.2
        k1 = chain @ y
        k2 = chain @ (y + h / 2 * k1)
        steps.append(y + h * k2)
    history = np.stack(steps, axis=1)
    volume = np.linspace(0.0, 40.0, 9)
    low, high = np.full(volume.shape, 1e-14), np.ones_like(volume)
    for _ in range(60):
        middle = np.sqrt(low * high)
        acid, base = 0.1 * 20 / (20 + volume), 0.1 * volume / (20 + volume)
        excess = middle + base - 1e-14 / middle - acid * 1.8e-5 / (middle + 1.8e-5)
        low, high = np.where(excess > 0, [low, middle], [middle, high])
    ph = -np.log10(middle)
    water = np.array([[0.0, 0.0, 0.1173], [0.0, 0.7572, -0.4692], [0.0, -0.7572, -0.4692]])
    masses = np.array([15.999, 1.008, 1.008])
    centre = np.average(water, axis=0, weights=masses)
    moved = water - centre
    inertia = (
        masses[:, None, None]
        * (np.eye(3) * np.square(moved).sum(1)[:, None, None] - moved[:, :, None] * moved[:, None, :])
    ).sum(0)
    distances = np.linalg.norm(water[:, None] - water[None], axis=-1)
    bonds = [tuple(map(int, pair)) for pair in np.argwhere(np.triu((distances > 0) & (distances < 1.2)))]
    first, second = water[1:] - water[0]
    angle = np.degrees(np.arccos(first @ second / np.prod(np.linalg.norm([first.tolist(), second.tolist()], axis=1))))
    z = np.array([0.2, 0.3])
    for _ in range(20):
        f = np.array([z[0] * z[1] - 0.12, z[0] ** 2 + z[1] - 0.5])
        z = z - np.linalg.solve(np.array([[z[1], z[0]], [2 * z[0], np.float64(1)]]), f)
    formula = {"C": 12.011, "H": 1.008, "O": 15.999}
    weights = np.dot([[6, 12, 6], [0, 2, 1]], list(formula.values()))
    return {
        "null": null,
        "sizes": sizes,
        "history": history[:, ::10],
        "total": history.sum(axis=0),
        "peak": history[1].argmax(),
        "ph": ph,
        "centre": centre,
        "moments": np.linalg.eigvalsh(inertia),
        "bonds": bonds,
        "angle": angle,
        "z": z,
        "weights": weights,
        "steepest": np.gradient(ph, volume).argmax(),
        "half": np.searchsorted(-history[0], -50.0),
    }
