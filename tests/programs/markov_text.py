"""Chains: letters that follow letters, steady states, absorbing states, entropy, a hidden chain by Viterbi."""


def viterbi(np, start, move, emit, seen):
    score = np.log(start) + np.log(emit[:, seen[0]])
    back = []
    for o in seen[1:]:
        step = score[:, None] + np.log(move)
        back.append(step.argmax(0))
        score = step.max(axis=0) + np.log(emit[:, o])
    path = [int(np.argmax(score))]
    for pointers in back[::-1]:
        path.append(int(pointers[path[-1]]))
    return path[::-1], score.max()


def main(np):
    text = "the rain in spain stays mainly in the plain and then again in the lane"
    letters = sorted(set(text))
    index = {c: i for i, c in enumerate(letters)}
    codes = np.array([index[c] for c in text])
    counts = np.zeros((len(letters),) * 2, dtype=int)
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    P = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    share = np.bincount(codes) / codes.size
    entropy = -np.sum(share * np.log2(share))
    weather = np.array([[0.9, 0.1], [0.5, 0.5]])
    values, vectors = np.linalg.eig(weather.T)
    steady = vectors[:, np.argmax(values.real)].real
    steady = steady / steady.sum()
    gambler = np.diag(np.full(4, 0.6), 1) + np.diag([0.4] * 4, -1)
    gambler[[0, -1]] = np.eye(5)[[0, -1]]
    Q, R = gambler[1:-1, 1:-1], gambler[1:-1][:, [0, 4]]
    N = np.linalg.inv(np.eye(3) - Q)
    path, best = viterbi(
        np,
        np.array([0.6, 0.4]),
        np.array([[0.7, 0.3], [0.4, 0.6]]),
        np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]),
        [0, 1, 2],
    )
    return {
        "after i": [letters[j] for j in np.argsort(-P[index["i"]], kind="stable")[:2]],
        "rows": np.unique(P.sum(1).round(6)),
        "entropy": entropy,
        "steady": steady,
        "power": np.linalg.matrix_power(weather, 50)[0],
        "ruin": N @ R,
        "expected": N.sum(axis=1),
        "path": path,
        "best": best,
        "pairs": int((counts > 0).sum()),
        "commonest": divmod(int(counts.argmax()), len(letters)),
        "unravel": np.unravel_index(counts.argmax(), counts.shape),
    }
