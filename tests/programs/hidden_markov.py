"""Hidden Markov models, forwards, backwards and by Viterbi; a Gaussian process; a particle filter."""


def main(np):
    A = np.array([[0.7, 0.3], [0.4, 0.6]])
    B = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    pi = np.array((0.6, 0.4))
    obs = np.array([0, 1, 2, 2, 1, 0, 0, 2])

    def logsumexp(a, axis=None, keepdims=False):
        m = np.amax(a, axis=axis, keepdims=True)
        m = np.where(np.isfinite(m), m, 0)
        out = np.log(np.sum(np.exp(a - m), axis=axis, keepdims=keepdims))
        return out + (m if keepdims else np.squeeze(m, axis=axis))

    T, N = len(obs), A.shape[0]
    alpha = np.empty((T, N))
    alpha[0] = pi * B[:, obs[0]]
    scale = np.zeros(T)
    scale[0] = alpha[0].sum()
    alpha[0] /= scale[0]
    for t in range(1, T):
        alpha[t] = alpha[t - 1] @ A * B[:, obs[t]]
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    beta = np.ones((T, N))
    for t in reversed(range(T - 1)):
        beta[t] = (A * B[:, obs[t + 1]] * beta[t + 1]).sum(axis=1) / scale[t + 1]
    gamma = alpha * beta
    gamma /= gamma.sum(1, keepdims=True)
    ll = np.log(scale).sum()
    la = np.log(pi) + np.log(B[:, obs[0]])
    for o in obs[1:]:
        la = logsumexp(la[:, None] + np.log(A), axis=0) + np.log(B[:, o])
    V = np.log(pi) + np.log(B)[:, obs[0]]
    back = []
    for o in obs[1:]:
        s = V[:, np.newaxis] + np.log(A)
        back.append(s.argmax(0))
        V = s.max(0) + np.log(B[:, o])
    path = [V.argmax()]
    for bp in back[::-1]:
        path.append(bp[path[-1]])
    path = path[::-1]
    xi = np.einsum("ti,ij,tj,tj->ij", alpha[:-1], A, B.T[obs[1:]], beta[1:] / scale[1:, None])
    A2 = xi / xi.sum(1)[:, None]
    B2 = np.zeros_like(B)
    for k in range(3):
        B2[:, k] = gamma[obs == k].sum(axis=0)
    B2 /= gamma.sum(0)[:, None]
    X = np.linspace(-3, 3, 7)[:, None]
    yv = np.sin(X).ravel()
    Xs = np.linspace(-4, 4, 9).reshape(-1, 1)

    def kernel(a, b, l=1.0):
        sq = np.sum(a**2, 1).reshape(-1, 1) + np.sum(b**2, 1) - 2 * np.dot(a, b.T)
        return np.exp(-0.5 / l**2 * sq)

    K = kernel(X, X) + 1e-6 * np.eye(7)
    L = np.linalg.cholesky(K)
    al = np.linalg.solve(L.T, np.linalg.solve(L, yv))
    Ks = kernel(X, Xs)
    mu = Ks.T @ al
    v = np.linalg.solve(L, Ks)
    var = np.diag(kernel(Xs, Xs) - v.T @ v)
    lml = -0.5 * yv.dot(al) - np.log(np.diagonal(L)).sum() - 0.5 * len(X) * np.log(2 * np.pi)
    P = np.linspace(-2, 2, 41)
    w = np.full(P.shape, 1 / 41)
    ests = []
    for k, z in enumerate([0.1, 0.4, 0.9, 1.2]):
        P = P + 0.3 + 0.05 * np.cos(np.arange(41) * (k + 1))
        w = w * np.exp(-0.5 * ((z - P) / 0.4) ** 2)
        w += 1e-300
        w /= w.sum()
        ests.append(np.average(P, weights=w))
        neff = 1.0 / np.sum(np.square(w))
        if neff < 20:
            positions = (0.5 + np.arange(41)) / 41
            cs = np.cumsum(w)
            cs[-1] = 1.0
            idx = np.searchsorted(cs, positions)
            P, w = P[idx], np.ones(41) / 41
    chain = np.linalg.matrix_power(A, 50)
    ev, evec = np.linalg.eig(A.T)
    st = evec[:, np.argmax(ev.real)].real
    st = st / st.sum()
    return {
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
        "ll": ll,
        "ll2": logsumexp(la),
        "close": bool(np.isclose(ll, logsumexp(la))),
        "path": np.array(path),
        "states": "".join("HC"[i] for i in path),
        "A2": A2,
        "B2": B2,
        "mu": mu,
        "sd": np.sqrt(np.maximum(var, 0)) > 0.1,
        "lml": lml,
        "ests": ests,
        "chain": chain[0],
        "st": st,
        "ent": -(gamma * np.log(gamma)).sum(axis=-1),
        "best": np.array2string(gamma.round(2), separator=","),
    }
