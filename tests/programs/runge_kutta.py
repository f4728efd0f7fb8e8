"""Ordinary differential equations by the classical Runge-Kutta method."""


def rk4(np, f, y0, t):
    y = np.zeros((len(t), len(y0)))
    y[0] = y0
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        k1 = f(y[i], t[i])
        k2 = f(y[i] + k1 * h / 2.0, t[i] + h / 2.0)
        k3 = f(y[i] + k2 * h / 2.0, t[i] + h / 2.0)
        k4 = f(y[i] + k3 * h, t[i] + h)
        y[i + 1] = y[i] + (h / 6.0) * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def main(np):
    def pendulum(y, t, b=0.25, c=5.0):
        theta, omega = y
        return np.array([omega, -b * omega - c * np.sin(theta)])

    def lotka_volterra(y, t):
        alpha, beta, delta, gamma = 1.1, 0.4, 0.1, 0.4
        xy = np.array([y[0] * (alpha - beta * y[1]), y[1] * (-gamma + delta * y[0])])
        return xy

    t = np.linspace(0, 2, 21)
    swing = rk4(np, pendulum, [np.pi - 0.5, 0.0], t)
    hunted = rk4(np, lotka_volterra, np.array([10, 5]), t)
    A = np.array([[0, 1], [-1, 0]])
    circle = rk4(np, lambda y, t: A @ y, np.array([1.0, 0.0]), t)
    return {
        "swing": swing,
        "hunted": hunted,
        "error": bool(np.max(np.abs(circle[:, 0] - np.cos(t))) < 1e-5),
        "last": circle[-1],
        "lowest": np.round(hunted.min(axis=0), 3),
        "turns": t[1:][np.diff(np.sign(swing[:, 1])) != 0],
    }
