"""Exercises of broadcasting and indexing: boards, borders, nearest values, unique rows, pairs, running windows."""


def main(np):
    board = np.indices((8, 8)).sum(axis=0) % 2
    border = np.pad(np.zeros((3, 3)), pad_width=1, mode="constant", constant_values=1)
    z = np.arange(10) / 10
    nearest = z.flat[np.abs(z - 0.47).argmin()]
    x, y = np.ogrid[-3:4, -3:4]
    cone = np.hypot(x, y) <= 2.5
    cauchy = 1 / np.subtract.outer(np.arange(4) + 0.5, np.arange(4))
    rows = np.array([[0, 1], [1, 0], [0, 1], [2, 2], [1, 0]])
    unique, first, inverse, counts = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    onehot = np.eye(4, dtype=int)[np.array([2, 0, 3])]
    cube = np.arange(24).reshape(2, 3, 4)
    swapped = cube.swapaxes(0, 2)[::-1, ..., 1]
    a = np.arange(25).reshape(5, 5)
    a[[0, 1]] = a[[1, 0]]
    a[:, [1, 2]] = a[:, [2, 1]]
    diagonals = [np.trace(a, offset=k) for k in range(-4, 5)]
    blocks = np.add.reduceat(
        np.add.reduceat(np.ones((16, 16)), np.arange(0, 16, 4), axis=0), np.arange(0, 16, 4), axis=1
    )
    triangles = np.roll(np.repeat(np.arange(6).reshape(3, 2), 2, axis=1), -1, axis=1)
    segments = np.sort(triangles.reshape(-1, 2), axis=1)
    vector = np.array([1, 2, 3])
    spaced = np.zeros(len(vector) + 3 * (len(vector) - 1), dtype=int)
    spaced[:: 3 + 1] = vector
    leap = np.arange(1890, 1910)
    leap = leap[(leap % 4 == 0) & ((leap % 100 != 0) | (leap % 400 == 0))]
    magic = np.zeros((5, 5), int)
    n, i, j = 1, 0, 2
    while n <= 25:
        magic[i, j] = n
        n, ni, nj = n + 1, (i - 1) % 5, (j + 1) % 5
        (i, j) = ((i + 1) % 5, j) if magic[ni, nj] else (ni, nj)
    spiral, order = np.arange(12).reshape(3, 4), []
    while spiral.size:
        order.append(spiral[0])
        spiral = np.rot90(spiral[1:])
    grid = np.dstack(np.meshgrid(np.arange(3), np.arange(2), indexing="ij")).reshape(-1, 2)
    weights = np.tri(3, 4, 1)
    runs = np.split(z, np.where(np.diff(np.floor(z * 3)) > 0)[0] + 1)
    lower = a[np.tril_indices(5, -3)]
    views = a[1:].flags["C_CONTIGUOUS"], a.T.flags.c_contiguous
    return {
        "board": board,
        "border": border,
        "nearest": nearest,
        "cone": cone,
        "det": np.linalg.det(cauchy),
        "unique": unique,
        "first": first,
        "inverse": inverse.reshape(-1),
        "counts": counts,
        "onehot": onehot,
        "swapped": swapped,
        "rows": a,
        "diagonals": diagonals,
        "blocks": blocks,
        "segments": np.unique(segments, axis=0),
        "spaced": spaced,
        "leap": leap,
        "magic": magic,
        "spiral": np.hstack(order),
        "sums": [magic.sum(0), magic.sum(1), np.diagonal(magic).sum(), np.fliplr(magic).diagonal().sum()],
        "grid": grid,
        "weights": weights,
        "runs": runs,
        "lower": lower,
        "contiguous": views,
        "most": np.bincount(rows.ravel()).argmax(),
        "shape": cube.T.shape,
        "equal": np.array_equal(np.sort(magic, axis=None), np.arange(1, 26)),
        "moved": np.moveaxis(cube, 0, -1).shape,
        "size": cube[:, 1:].nbytes,
    }
