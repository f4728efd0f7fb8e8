"""Three bodies under gravity, stepped by leapfrog."""


def accelerations(np, pos, mass, G, softening):
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(np, pos, vel, mass, G):
    KE = 0.5 * np.sum(np.sum(mass * vel**2))
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    inv_r = np.sqrt((x.T - x) ** 2 + (y.T - y) ** 2 + (z.T - z) ** 2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    PE = G * np.sum(np.sum(np.triu(-(mass * mass.T) * inv_r, 1)))
    return KE, PE


def main(np):
    N = 3
    G = 1.0
    dt = 0.01
    mass = 20.0 * np.ones((N, 1)) / N
    pos = np.array([[1.0, 0.0, 0.1], [-0.5, 0.9, 0.0], [-0.5, -0.9, -0.1]])
    vel = np.array([[0.0, 1.5, 0.0], [-1.3, -0.7, 0.0], [1.3, -0.7, 0.1]])
    vel -= np.mean(mass * vel, 0) / np.mean(mass)
    acc = accelerations(np, pos, mass, G, 0.1)
    steps = 20
    pos_save = np.zeros((N, 3, steps + 1))
    pos_save[:, :, 0] = pos
    KE_save = np.zeros(steps + 1)
    PE_save = np.zeros(steps + 1)
    KE_save[0], PE_save[0] = energy(np, pos, vel, mass, G)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = accelerations(np, pos, mass, G, 0.1)
        vel += acc * dt / 2.0
        pos_save[:, :, i + 1] = pos
        KE_save[i + 1], PE_save[i + 1] = energy(np, pos, vel, mass, G)
    total = KE_save + PE_save
    drift = np.abs((total - total[0]) / total[0]).max()
    momentum = (mass * vel).sum(axis=0)
    return {
        "path": pos_save,
        "kinetic": KE_save,
        "total": f"{total[-1]:.2f}",
        "steady": bool(drift < 0.01),
        "still": np.allclose(momentum, 0, atol=1e-4),
    }
