"""Motion: a double pendulum, Lorenz, Lotka and Volterra by one integrator; Poincare sections, Lyapunov, energies."""


def rk4(np, f, y, t):
    out = np.empty((len(t), *y.shape), dtype=y.dtype)
    out[0] = y
    for i, (a, b) in enumerate(zip(t[:-1], t[1:])):
        h = b - a
        k1 = f(y)
        k2 = f(y + h * k1 / 2)
        k3 = f(y + h * k2 / 2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out[i + 1] = y
    return out


def main(np):
    def lorenz(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 * z / 3])

    def prey(s):
        x, y = s
        return np.stack([x * (1.1 - 0.4 * y), y * (0.1 * x - 0.4)])

    t = np.linspace(0, 1, 51)
    path = rk4(np, lorenz, np.array([1.0, 1, 1]), t)
    near = rk4(np, lorenz, np.array([1.0, 1, 1.01]), t)
    populations = rk4(np, prey, np.array([10.0, 5]), np.linspace(0, 10, 61))
    constant = (
        0.1 * populations[:, 0]
        - 0.4 * np.log(populations[:, 0])
        + 0.4 * populations[:, 1]
        - 1.1 * np.log(populations[:, 1])
    )
    crossing = np.flatnonzero((path[:-1, 2] < 15) & (path[1:, 2] >= 15))
    theta = np.arange(5) * 0.2
    states = np.array([theta, np.zeros(5)])
    swing = rk4(np, lambda s: np.vstack((s[1], -9.81 * np.sin(s[0]))), states, np.arange(0, 1, 0.05))
    energy = swing[:, 1] ** 2 / 2 - 9.81 * np.cos(swing[:, 0])
    turning = np.argwhere(np.diff(np.sign(swing[:, 1, 1:]), axis=0) != 0)
    return {
        "end": path[-1],
        "apart": np.linalg.norm(path[-1] - near[-1]) > 0.01,
        "constant": np.ptp(constant) < 1e-2,
        "peak": populations.max(axis=0),
        "crossing": crossing,
        "energy kept": np.allclose(energy, energy[0], atol=1e-3),
        "shape": swing.shape,
        "turning": turning[:3],
        "speed": np.linalg.norm(np.gradient(path, t, axis=0), axis=1)[::10],
        "angles": swing[-1, 0],
    }
