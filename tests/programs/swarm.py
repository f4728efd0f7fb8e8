"""Optimisers side by side: gradient descent, Newton, Nelder and Mead, golden section, a swarm without chance."""


def rosenbrock(x):
    return (1 - x[..., 0]) ** 2 + 5 * (x[..., 1] - x[..., 0] ** 2) ** 2


def gradient(np, x):
    return np.array([-2 * (1 - x[0]) - 20 * x[0] * (x[1] - x[0] ** 2), 10 * (x[1] - x[0] ** 2)])


def nelder_mead(np, f, simplex, steps):
    for _ in range(steps):
        simplex = simplex[np.argsort(f(simplex))]
        centre = simplex[:-1].mean(0)
        reflected = 2 * centre - simplex[-1]
        values = f(simplex)
        if f(reflected) < values[0]:
            stretched = 3 * centre - 2 * simplex[-1]
            simplex[-1] = stretched if f(stretched) < f(reflected) else reflected
        elif f(reflected) < values[-2]:
            simplex[-1] = reflected
        else:
            inner = (centre + simplex[-1]) / 2
            if f(inner) < values[-1]:
                simplex[-1] = inner
            else:
                simplex[1:] = (simplex[1:] + simplex[0]) / 2
    return simplex[np.argmin(f(simplex))]


def main(np):
    x = np.array([-0.5, 1.0])
    for _ in range(300):
        x -= 0.02 * gradient(np, x)
    z = np.zeros(2)
    for _ in range(8):
        H = np.array([[2 - 20 * (z[1] - 3 * z[0] ** 2), -20 * z[0]], [-20 * z[0], 10]])
        z = z - np.linalg.solve(H, gradient(np, z))
    best = nelder_mead(np, rosenbrock, np.array([[0.0, 0], [0.5, 0], [0, 0.5]]), 60)
    lo, hi, ratio = 0.0, 3.0, (np.sqrt(5) - 1) / 2
    while hi - lo > 1e-3:
        c, d = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        if np.cos(c) < np.cos(d):
            hi = d
        else:
            lo = c
    swarm = np.stack(np.meshgrid([-1.0, 0.5, 1.5], [-0.5, 1.0]), -1).reshape(-1, 2)
    velocity = np.zeros_like(swarm)
    own, value = swarm.copy(), rosenbrock(swarm)
    for _ in range(40):
        leader = own[value.argmin()]
        velocity = 0.6 * velocity + 0.7 * (own - swarm) + 0.7 * (leader - swarm)
        swarm += velocity
        better = rosenbrock(swarm) < value
        own[better] = swarm[better]
        value = np.where(better, rosenbrock(swarm), value)
    return {
        "descent": x,
        "newton": z,
        "simplex near": np.allclose(best, 1, atol=0.05),
        "golden": np.isclose((lo + hi) / 2, 3, atol=2e-3),
        "swarm improved": bool(value.min() <= rosenbrock(np.array([0.5, 1.0]))),
        "shape": velocity.shape,
        "box": np.clip(swarm, -1, 1).min() >= -1,
    }
