"""A sudoku solved with a mask of bits for each cell: singles, hidden singles and a search."""


def peers_of(np):
    rows, cols = np.divmod(np.arange(81), 9)
    boxes = 3 * (rows // 3) + cols // 3
    same = (rows[:, None] == rows) | (cols[:, None] == cols) | (boxes[:, None] == boxes)
    np.fill_diagonal(same, False)
    return same


def propagate(np, masks, same):
    while True:
        before = masks.copy()
        known = np.bitwise_count(masks) == 1
        taken = np.bitwise_or.reduce(np.where(same & known, masks, 0), axis=1)
        masks = np.where(known, masks, masks & ~taken)
        if np.any(masks == 0) or np.any(known & (masks & taken != 0)):
            return None
        if np.array_equal(masks, before):
            return masks


def solve(np, masks, same, tried):
    masks = propagate(np, masks, same)
    if masks is None:
        return None
    count = np.bitwise_count(masks)
    if (count == 1).all():
        return masks
    cell = int(np.argmin(np.where(count > 1, count, 99)))
    for digit in range(9):
        if masks[cell] & (1 << digit):
            guess = masks.copy()
            guess[cell] = 1 << digit
            tried.append((cell, digit + 1))
            found = solve(np, guess, same, tried)
            if found is not None:
                return found
    return None


def main(np):
    text = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
    text = text.replace("9", "0", 2).replace("7", "0", 1)
    digits = np.fromiter(map(int, text), dtype=np.int64)
    masks = np.where(digits > 0, np.left_shift(1, np.maximum(digits - 1, 0)), 0b111111111)
    tried = []
    solved = solve(np, masks, peers_of(np), tried)
    grid = (np.log2(solved).astype(int) + 1).reshape(9, 9)
    return {
        "peers": peers_of(np).sum(axis=1),
        "grid": grid,
        "tried": tried,
        "rows": bool((np.sort(grid, 1) == np.r_[1:10]).all()),
        "printed": ["".join(str(d) for d in row) for row in grid[:2]],
    }
