"""A tour of cities by simulated annealing, with numbers from a formula in place of chance, and 2-opt."""


class Random:
    def __init__(self, seed):
        self.state = seed

    def __call__(self):
        self.state = (1103515245 * self.state + 12345) % 2**31
        return self.state / 2**31


def length(np, cities, tour):
    legs = cities[tour] - cities[np.roll(tour, -1)]
    return np.hypot(legs[:, 0], legs[:, 1]).sum()


def main(np):
    n = 12
    random = Random(42)
    cities = np.array([[random(), random()] for _ in range(n)])
    tour = np.arange(n)
    best, best_length = tour.copy(), length(np, cities, tour)
    current = best_length
    T = 1.0
    accepted = 0
    for step in range(150):
        i, j = sorted((int(random() * n), int(random() * n)))
        candidate = tour.copy()
        candidate[i : j + 1] = candidate[i : j + 1][::-1]
        new = length(np, cities, candidate)
        if new < current or random() < np.exp((current - new) / T):
            tour, current = candidate, new
            accepted += 1
            if current < best_length:
                best, best_length = tour.copy(), current
        T *= 0.97
    table = np.sqrt(((cities[:, np.newaxis] - cities) ** 2).sum(axis=2))
    np.fill_diagonal(table, np.inf)
    greedy, here = [0], 0
    left = np.ones(n, dtype=bool)
    left[0] = False
    while left.any():
        here = int(np.where(left, table[here], np.inf).argmin())
        greedy.append(here)
        left[here] = False
    return {
        "cities": cities,
        "valid": sorted(best) == list(range(n)),
        "better": bool(best_length < length(np, cities, np.arange(n))),
        "greedy": greedy,
        "greedy length": length(np, cities, np.array(greedy)),
        "nearest": table.min(axis=1),
        "start": f"{length(np, cities, np.arange(n)):.4f}",
    }
