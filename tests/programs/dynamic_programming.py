"""Dynamic programming over tables: a knapsack, coins, longest common subsequences, the best path, time warping, cutting rods."""


def main(np):
    weights, values, limit = np.array([1, 3, 4, 5]), np.array([1, 4, 5, 7]), 7
    table = np.zeros((len(weights) + 1, limit + 1), dtype=np.int32)
    for i, (w, v) in enumerate(zip(weights, values), start=1):
        table[i] = table[i - 1]
        np.maximum(table[i, w:], table[i - 1, : limit + 1 - w] + v, out=table[i, w:])
    taken, room = [], limit
    for i in range(len(weights), 0, -1):
        if table[i, room] != table[i - 1, room]:
            taken.append(i - 1)
            room -= int(weights[i - 1])
    ways = np.zeros(51, dtype=np.int64)
    ways[0] = 1
    for coin in (1, 5, 10, 25):
        for amount in range(coin, 51):
            ways[amount] += ways[amount - coin]
    one, other = "AGCATGC", "GAC"
    length = np.zeros((len(one) + 1, len(other) + 1), np.uint16)
    for i, j in np.ndindex(len(one), len(other)):
        length[i + 1, j + 1] = length[i, j] + 1 if one[i] == other[j] else max(length[i, j + 1], length[i + 1, j])
    costs = np.array([[1, 3, 1], [1, 5, 1], [4, 2, 1]])
    best = np.full((4, 4), np.iinfo(int).max)
    best[0, 1] = 0
    for i in range(3):
        for j in range(3):
            best[i + 1, j + 1] = costs[i, j] + min(best[i, j + 1], best[i + 1, j])
    a, b = np.array([1.0, 2, 3, 4, 2]), np.array([1.0, 1, 2, 4])
    warp = np.full((len(a) + 1, len(b) + 1), np.inf)
    warp[0, 0] = 0
    gaps = np.abs(a[:, None] - b[None, :])
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            warp[i, j] = gaps[i - 1, j - 1] + np.min([warp[i - 1, j], warp[i, j - 1], warp[i - 1, j - 1]])
    series = np.array([-2, 1, -3, 4, -1, 2, 1, -5, 4])
    sums = np.concatenate(([0], series.cumsum()))
    largest = (sums[1:] - np.minimum.accumulate(sums)[:-1]).max()
    towers = np.array([3, 0, 2, 0, 4])
    water = np.minimum(np.maximum.accumulate(towers), np.maximum.accumulate(towers[::-1])[::-1]) - towers
    pascal = np.zeros((6, 6), dtype=np.int64)
    pascal[:, 0] = 1
    for i in range(1, 6):
        pascal[i, 1:] = pascal[i - 1, 1:] + pascal[i - 1, :-1]
    catalan = [1]
    for n in range(1, 8):
        catalan.append(int(np.dot(catalan, catalan[::-1])))
    matrix = np.array([[1, 1], [1, 0]], dtype=np.uint64)
    result, power, n = np.identity(2, dtype=np.uint64), matrix, 60
    while n:
        if n & 1:
            result = result @ power
        power, n = power @ power, n >> 1
    return {
        "table": table,
        "taken": taken,
        "room": room,
        "ways": ways[[10, 25, 50]],
        "length": length,
        "best": best[-1, -1],
        "warp": warp[1:, 1:],
        "largest": largest,
        "water": water.sum(),
        "pascal": pascal,
        "catalan": catalan,
        "fibonacci": result[0, 1],
        "trail": np.unravel_index(np.argmin(warp[1:, -1] + 1, axis=0), (5,)),
        "most": table.max(axis=1),
    }
