"""Linear programs by tableaux, and games of two players by fictitious play: pivots in place, ratios where they are allowed."""


def solve(np, c, a, b):
    rows, columns = a.shape
    table = np.block([[a, np.eye(rows), b[:, None]], [-c, np.zeros(rows + 1)]])
    basis = np.arange(columns, columns + rows)
    for _ in range(20):
        column = table[-1, :-1].argmin()
        if table[-1, column] >= -1e-9:
            break
        positive = table[:-1, column] > 1e-9
        if not positive.any():
            raise ValueError("unbounded")
        ratios = np.divide(table[:-1, -1], table[:-1, column], out=np.full(rows, np.inf), where=positive)
        row = np.argmin(ratios)
        table[row] /= table[row, column]
        others = np.arange(rows + 1) != row
        table[others] -= np.outer(table[others, column], table[row])
        basis[row] = column
    x = np.zeros(columns + rows)
    x[basis] = table[:-1, -1]
    return x[:columns], table[-1, -1]


def main(np):
    x, best = solve(np, np.array([3.0, 5.0]), np.array([[1.0, 0], [0, 2], [3, 2]]), np.array([4.0, 12.0, 18.0]))
    try:
        solve(np, np.ones(2), np.array([[1.0, -1.0]]), np.ones(1))
        ended = "bounded"
    except ValueError as error:
        ended = str(error)
    game = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    scores, counts = np.zeros((2, 3)), np.zeros((2, 3), dtype=int)
    first = second = 0
    for _ in range(60):
        counts[0, first] += 1
        counts[1, second] += 1
        scores[0] += game[:, second]
        scores[1] -= game[first]
        first, second = int(scores[0].argmax()), int(scores[1].argmax())
    wages = np.array([[9, 2, 7], [6, 4, 3], [5, 8, 1]])
    orders = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    costs = np.take_along_axis(wages[None].repeat(6, 0), orders[..., None], axis=2).sum((1, 2))
    saddle = np.argwhere((game == game.min(axis=1, keepdims=True)) & (game == game.max(axis=0, keepdims=True)))
    return {
        "x": x,
        "best": best,
        "ended": ended,
        "counts": counts,
        "frequencies": counts / counts.sum(1)[:, np.newaxis],
        "value": counts[0] @ game @ counts[1],
        "costs": costs,
        "cheapest": orders[costs.argmin()],
        "saddle": saddle,
    }
