"""The Ising model by Metropolis steps, with random numbers of a generator written out."""


def main(np):
    class Generator:
        def __init__(self, seed):
            self.state = seed

        def random(self):
            self.state = (1103515245 * self.state + 12345) % 2**31
            return self.state / 2**31

    rng = Generator(7)
    N = 8
    lattice = np.ones((N, N), dtype=np.int8)
    lattice[::2, 1::2] = -1
    beta = 0.6
    boltzmann = {dE: np.exp(-beta * dE) for dE in (4, 8)}
    magnetisation = []
    for sweep in range(150):
        i, j = int(rng.random() * N), int(rng.random() * N)
        S = lattice[i, j]
        nb = lattice[(i + 1) % N, j] + lattice[i, (j + 1) % N] + lattice[(i - 1) % N, j] + lattice[i, (j - 1) % N]
        cost = int(2 * S * nb)
        if cost <= 0 or rng.random() < boltzmann[cost]:
            lattice[i, j] *= -1
        if sweep % 10 == 0:
            magnetisation.append(lattice.sum())
    energy = -(lattice * (np.roll(lattice, 1, 0) + np.roll(lattice, 1, 1))).sum()
    spins, counts = np.unique(lattice, return_counts=True)
    checker = np.indices((N, N)).sum(axis=0) % 2
    return {
        "lattice": lattice,
        "magnetisation": np.array(magnetisation) / N**2,
        "energy": energy,
        "spins": dict(zip(spins.tolist(), counts.tolist())),
        "staggered": np.abs((lattice * (1 - 2 * checker)).mean()),
        "boltzmann": boltzmann,
        "up": lattice[lattice > 0].size,
    }
