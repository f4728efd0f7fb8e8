"""A plucked string: the wave equation in one dimension."""


def main(np):
    n = 41
    x = np.linspace(0, 1, n)
    c, dx = 1.0, x[1] - x[0]
    dt = 0.9 * dx / c
    r = (c * dt / dx) ** 2
    u = np.where(x < 0.3, x / 0.3, (1 - x) / 0.7)
    u[0] = u[-1] = 0
    previous = u.copy()
    u[1:-1] += 0.5 * r * (previous[2:] - 2 * previous[1:-1] + previous[:-2])
    frames = [previous, u]
    for _ in range(40):
        new = np.zeros_like(u)
        new[1:-1] = 2 * u[1:-1] - previous[1:-1] + r * np.diff(u, n=2)
        previous, u = u, new
        frames.append(u)
    film = np.array(frames)
    modes = np.array([np.sum(film[0] * np.sin(k * np.pi * x)) * 2 * dx for k in range(1, 6)])
    return {
        "film": film,
        "middle": film[:, n // 2],
        "modes": modes,
        "crossings": int(np.sum(np.diff(np.sign(film[:, n // 2])) != 0)),
        "shape": film.shape,
        "dx": dx,
    }
