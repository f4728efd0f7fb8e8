"""Boards: connect four, tic-tac-toe by lines, reversi moves, chess squares, minesweeper counts, a knight's reach."""


def main(np):
    board = np.zeros((6, 7), dtype=np.int8)
    for turn, column in enumerate([3, 3, 2, 2, 4, 4, 1]):
        row = np.flatnonzero(board[:, column] == 0)[-1]
        board[row, column] = 1 if turn % 2 == 0 else -1
    horizontal = np.lib.stride_tricks.sliding_window_view(board, 4, axis=1).sum(-1)
    vertical = sum(board[i : i + 3] for i in range(4))
    diagonals = [np.diagonal(board, k).tolist() for k in range(-2, 4)]
    winner = next((p for p in (1, -1) if (horizontal == 4 * p).any() or (vertical == 4 * p).any()), 0)
    toe = np.array([[1, -1, 1], [-1, 1, -1], [-1, 1, 1]])
    lines = np.concatenate([toe.sum(0), toe.sum(1), [np.trace(toe), np.trace(np.fliplr(toe))]])
    mines = np.zeros((5, 6), int)
    mines[[0, 2, 4, 4], [1, 3, 0, 5]] = 1
    padded = np.pad(mines, 1)
    counts = sum(padded[1 + dy : 6 + dy, 1 + dx : 7 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - mines
    text = [" ".join("*" if m else str(c) for m, c in zip(mr, cr)) for mr, cr in zip(mines, counts)]
    chess = np.indices((8, 8)).sum(axis=0) % 2
    moves = np.array([(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)])
    reach = np.full((8, 8), -1)
    frontier = np.array([[0, 0]])
    step = 0
    reach[0, 0] = 0
    while len(frontier):
        step += 1
        nxt = (frontier[:, None] + moves).reshape(-1, 2)
        nxt = nxt[((nxt >= 0) & (nxt < 8)).all(1)]
        nxt = nxt[reach[tuple(nxt.T)] < 0]
        nxt = np.unique(nxt, axis=0)
        reach[nxt[:, 0], nxt[:, 1]] = step
        frontier = nxt
    return {
        "board": board,
        "diagonals": diagonals,
        "winner": winner,
        "lines": lines,
        "won": int(lines[np.abs(lines).argmax()]),
        "text": text,
        "chess": chess[:2],
        "white": (chess == 0).sum(),
        "reach": reach,
        "far": np.transpose(np.nonzero(reach == reach.max())),
    }
