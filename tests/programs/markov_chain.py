"""A Markov chain of the weather: stationary shares, absorption, paths."""


def main(np):
    P = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.45, 0.35]])
    assert np.allclose(P.sum(axis=1), 1)
    state = np.array([1.0, 0.0, 0.0])
    states = [state]
    for _ in range(10):
        state = np.dot(state, P)
        states.append(state)
    history = np.vstack(states)
    A = np.append(P.T - np.eye(3), [[1, 1, 1]], axis=0)
    stationary = np.linalg.lstsq(A, np.array([0, 0, 0, 1.0]), rcond=None)[0]
    values, vectors = np.linalg.eig(P.T)
    one = np.argmin(np.abs(values - 1))
    vector = np.real(vectors[:, one])
    vector = vector / vector.sum()
    Q = P[:2, :2]
    fundamental = np.linalg.inv(np.eye(2) - Q)
    np.random.seed(3)
    path = [0]
    for _ in range(200):
        path.append(int(np.random.choice(3, p=P[path[-1]])))
    path = np.array(path)
    counts = np.zeros((3, 3), dtype=int)
    np.add.at(counts, (path[:-1], path[1:]), 1)
    sequence = [0, 1, 1, 2, 0, 0]
    log_likelihood = np.log(P[sequence[:-1], sequence[1:]]).sum()
    return {
        "history": history,
        "stationary": stationary,
        "vector": vector,
        "far": np.linalg.matrix_power(P, 20)[0],
        "absorption": fundamental @ np.ones(2),
        "counted": counts.sum(),
        "log_likelihood": log_likelihood,
        "likeliest": P.argmax(axis=1),
        "reached": bool(np.isin([0, 1, 2], path).all()),
    }
