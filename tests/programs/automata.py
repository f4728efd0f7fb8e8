"""Cellular automata: elementary rules, a sandpile, an ant, a forest fire, reaction and diffusion, wires, a maze, gliders."""


def main(np):
    def rule(number, steps, width=31):
        table = np.array([int(b) for b in np.binary_repr(number, width=8)[::-1]], dtype=np.uint8)
        rows = np.zeros((steps, width), dtype=np.uint8)
        rows[0, width // 2] = 1
        for i in range(1, steps):
            rows[i] = table[4 * np.roll(rows[i - 1], 1) + 2 * rows[i - 1] + np.roll(rows[i - 1], -1)]
        return rows

    sand = np.zeros((9, 9), int)
    sand[4, 4] = 120
    while (sand > 3).any():
        over = sand > 3
        sand[over] -= 4
        sand[1:, :] += over[:-1, :]
        sand[:-1, :] += over[1:, :]
        sand[:, 1:] += over[:, :-1]
        sand[:, :-1] += over[:, 1:]
    ant = np.zeros((21, 21), bool)
    pos, d = [10, 10], 0
    moves = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
    for _ in range(120):
        d = (d + (1 if not ant[pos[0], pos[1]] else -1)) % 4
        ant[tuple(pos)] ^= True
        pos = (pos + moves[d]) % 21
    fire = (np.add.outer(np.arange(10) * 3, np.arange(10) * 7) % 5 > 0).astype(np.int8)
    fire[5, 0] = 2
    burnt = []
    for _ in range(12):
        p = np.pad(fire == 2, 1)
        near = p[:-2, 1:-1] | p[2:, 1:-1] | p[1:-1, :-2] | p[1:-1, 2:]
        nxt = fire.copy()
        nxt[fire == 2] = 0
        nxt[(fire == 1) & near] = 2
        fire = nxt
        burnt.append((fire == 2).sum())
    U, V = np.ones((20, 20)), np.zeros((20, 20))
    U[8:12, 8:12], V[8:12, 8:12] = 0.5, 0.25

    def lap(Z):
        return np.roll(Z, 1, 0) + np.roll(Z, -1, 0) + np.roll(Z, (1, 0), (1, 0)) + np.roll(Z, -1, axis=1) - 4 * Z

    for _ in range(40):
        uvv = U * V * V
        U += 0.16 * lap(U) - uvv + 0.035 * (1 - U)
        V += 0.08 * lap(V) + uvv - (0.035 + 0.06) * V
    wire = np.array([[0, 3, 3, 3, 0], [2, 0, 0, 0, 3], [0, 1, 3, 3, 0]])

    def wstep(w):
        heads = w == 1
        q = np.pad(heads, 1).astype(int)
        n = sum(q[1 + i : 4 + i, 1 + j : 6 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        return np.select([w == 1, w == 2, (w == 3) & ((n == 1) | (n == 2))], [2, 3, 1], default=w)

    w = [wire]
    for _ in range(3):
        w.append(wstep(w[-1]))
    maze = np.array([list(map(int, row)) for row in ("0010", "1010", "0000", "0111")])
    dist = np.full(maze.shape, -1)
    dist[0, 0] = 0
    front = np.zeros(maze.shape, dtype="?")
    front[0, 0] = True
    step = 0
    while front.any():
        step += 1
        g = np.zeros_like(front)
        g[1:] |= front[:-1]
        g[:-1] |= front[1:]
        g[:, 1:] |= front[:, :-1]
        g[:, :-1] |= front[:, 1:]
        front = g & (dist < 0) & (maze == 0)
        dist[front] = step
    life = np.zeros((8, 8), np.uint8)
    life[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for _ in range(9):
        N = sum(np.roll(np.roll(life, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - life
        life = ((N == 3) | (life & (N == 2))).astype(life.dtype)
    picture = "\n".join("".join(" #"[c] for c in row) for row in rule(90, 8))
    pic2 = "\n".join("".join("#" if c else "." for c in row) for row in life)
    return {
        "30": rule(30, 10),
        "110": rule(110, 10).sum(axis=1),
        "sand": sand,
        "ant": ant,
        "pos": [int(v) for v in pos],
        "burnt": burnt,
        "fire": fire,
        "V": V,
        "wire": w,
        "dist": dist,
        "life": life,
        "picture": picture,
        "pic2": pic2,
        "entropy": -np.sum([p * np.log2(p) for p in np.unique(sand, return_counts=True)[1] / sand.size]),
        "runs": np.diff(
            np.where(np.concatenate(([rule(30, 10)[-1][0]], rule(30, 10)[-1][:-1] != rule(30, 10)[-1][1:], [True])))[0]
        ),
    }
