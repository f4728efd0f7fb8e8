"""A genetic algorithm with numbers drawn by hand: tournaments, crossover by masks, mutation, elitism, a knapsack and a string."""


def generator(np, seed):
    state = seed
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield state / 2**31


def main(np):
    draws = generator(np, 42)
    uniform = lambda *shape: np.fromiter(draws, dtype=float, count=int(np.prod(shape))).reshape(shape)  # noqa: E731
    weights, values = np.array([12, 2, 1, 4, 1, 7, 3]), np.array([4, 2, 1, 10, 2, 6, 5])
    population = uniform(12, 7) < 0.5
    best = []
    for _ in range(15):
        load = population @ weights
        fitness = np.where(load <= 15, population.dot(values), 0)
        best.append(fitness.max())
        elite = population[np.argsort(-fitness, kind="stable")[:2]].copy()
        pairs = (uniform(2, 12, 2) * 12).astype(np.intp)
        parents = np.take_along_axis(pairs, fitness[pairs].argmax(-1, keepdims=True), axis=-1)[..., 0]
        cut = (1 + uniform(12) * 6).astype(int)
        mask = np.arange(7) < cut[:, np.newaxis]
        children = np.where(mask, population[parents[0]], population[parents[1]])
        children ^= uniform(*children.shape) < 0.05
        children[: len(elite)] = elite
        population = children
    target = np.array([ord(c) for c in "ARRAYS"], dtype=np.uint8)
    guess = np.full(6, ord("A"), dtype=np.uint8)
    rounds = 0
    while (guess != target).any() and rounds < 2000:
        place, letter = int(next(draws) * 6), 65 + int(next(draws) * 26)
        changed = guess.copy()
        changed[place] = letter
        if np.sum(changed == target) >= np.sum(guess == target):
            guess = changed
        rounds += 1
    wheel = np.cumsum(values) / values.sum()
    spins = np.searchsorted(wheel, uniform(20), side="right")
    order = np.argsort(uniform(8))
    tour = np.roll(order, -int(order.argmin()))
    return {
        "best": np.array(best),
        "improving": bool((np.diff(best) >= 0).all()),
        "text": guess.tobytes().decode(),
        "rounds": rounds,
        "counts": np.bincount(spins, minlength=7),
        "tour": tour,
        "inverse": np.argsort(tour),
        "diversity": population.mean(axis=0).round(3),
        "unique": len(np.unique(population, axis=0)),
        "packed": np.packbits(population[0]),
    }
