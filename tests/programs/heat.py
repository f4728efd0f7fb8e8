"""Heat in a plate, an explicit scheme with fixed edges."""


def main(np):
    nx, ny = 16, 12
    alpha = 0.1
    dx = dy = 1.0 / nx
    dt = dx**2 * dy**2 / (2 * alpha * (dx**2 + dy**2))
    u = np.zeros((ny, nx))
    u[0, :] = 100
    u[-1] = np.linspace(0, 50, nx)
    u[:, 0] = u[:, -1] = 25.0
    history = []
    for step in range(60):
        un = u.copy()
        u[1:-1, 1:-1] = un[1:-1, 1:-1] + alpha * dt * (
            (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2]) / dx**2
            + (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1]) / dy**2
        )
        if step % 20 == 0:
            history.append(np.mean(u))
        change = np.max(np.abs(u - un))
        if change < 1e-3:
            break
    hottest = np.unravel_index(np.argmax(u[1:-1, 1:-1]), u[1:-1, 1:-1].shape)
    gy, gx = np.gradient(u, dy, dx)
    return {
        "plate": u,
        "history": np.array(history),
        "hottest": tuple(int(i) for i in hottest),
        "steps": step,
        "gx": gx,
        "gy": gy,
        "report": f"mean {u.mean():.2f}, min {u.min():.1f}, max {u.max():.1f}",
    }
