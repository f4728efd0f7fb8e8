"""A sudoku checked and filled where only one number fits; queens on a board."""


def is_valid(np, grid):
    for i in range(9):
        row = grid[i][grid[i] != 0]
        col = grid[:, i][grid[:, i] != 0]
        r, c = 3 * (i // 3), 3 * (i % 3)
        box = grid[r : r + 3, c : c + 3].ravel()
        box = box[box > 0]
        if any(len(np.unique(part)) != len(part) for part in (row, col, box)):
            return False
    return True


def main(np):
    puzzle = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
    grid = np.array([int(ch) for ch in puzzle]).reshape(9, 9)
    start = grid.copy()
    digits = np.arange(1, 10)
    changed = True
    while changed:
        changed = False
        for r, c in np.argwhere(grid == 0):
            br, bc = r // 3 * 3, c // 3 * 3
            used = np.concatenate([grid[r], grid[:, c], grid[br : br + 3, bc : bc + 3].ravel()])
            free = digits[~np.isin(digits, used)]
            if len(free) == 1:
                grid[r, c] = free[0]
                changed = True
    wrong = grid.copy()
    wrong[0, 0] = wrong[0, 1]
    boxes = grid.reshape(3, 3, 3, 3).swapaxes(1, 2).reshape(9, 9)
    queens = np.array([0, 4, 7, 5, 2, 6, 1, 3])
    rows = np.arange(8)
    safe = len(set((queens + rows).tolist())) == 8 and len(np.unique(queens - rows)) == 8
    return {
        "valid": is_valid(np, grid),
        "wrong": is_valid(np, wrong),
        "grid": grid,
        "filled": (start == 0).sum() - (grid == 0).sum(),
        "complete": bool(np.all(np.sort(boxes, axis=1) == digits)),
        "sums": grid.sum(axis=0),
        "safe": safe,
        "line": "".join(map(str, grid[0])),
    }
