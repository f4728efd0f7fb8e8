"""Learners by hand: a decision tree, a perceptron, a linear SVM, AdaBoost, DBSCAN, an LSTM, numerical gradients, Adam."""


def main(np):
    t = np.arange(60)
    X = np.column_stack((np.sin(t * 1.1) * 2, np.cos(t * 0.7) * 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, 0)

    def gini(labels):
        if labels.size == 0:
            return 0.0
        p = np.bincount(labels) / labels.size
        return 1 - np.sum(p**2)

    def build(X, y, depth=0, limit=3):
        if depth == limit or len(np.unique(y)) == 1:
            return int(np.bincount(y).argmax())
        best = (np.inf, None, None)
        for f in range(X.shape[1]):
            vals = np.unique(X[:, f])
            for thr in ((vals[:-1] + vals[1:]) / 2)[::6]:
                m = X[:, f] <= thr
                g = (m.sum() * gini(y[m]) + (~m).sum() * gini(y[~m])) / len(y)
                if g < best[0] - 1e-12:
                    best = (g, f, thr)
        _, f, thr = best
        if f is None:
            return int(np.bincount(y).argmax())
        m = X[:, f] <= thr
        return {
            "f": f,
            "thr": round(float(thr), 4),
            "l": build(X[m], y[m], depth + 1, limit),
            "r": build(X[~m], y[~m], depth + 1, limit),
        }

    tree = build(X, y)

    def predict(node, row):
        while isinstance(node, dict):
            node = node["l"] if row[node["f"]] <= node["thr"] else node["r"]
        return node

    acc = np.mean([predict(tree, r) == c for r, c in zip(X, y)])
    y2 = np.sign(X[:, 0] + 0.5 * X[:, 1] + 0.2).astype(int)
    y2[y2 == 0] = 1
    Xb = np.insert(X, 0, 1, axis=1)
    w = np.zeros(Xb.shape[1])
    errs = []
    for epoch in range(10):
        e = 0
        for xi, target in zip(Xb, y2):
            upd = 0.1 * (target - np.where(xi @ w >= 0, 1, -1))
            w += upd * xi
            e += int(upd != 0)
        errs.append(e)
    ws = np.zeros(2)
    b = 0.0
    for epoch in range(1, 40):
        margin = y2 * (X.dot(ws) + b)
        mis = margin < 1
        ws -= 0.05 * (ws / 10 - (y2[mis, None] * X[mis]).sum(axis=0) / len(X))
        b -= 0.05 * -(y2[mis].sum() / len(X))
    D = np.ones(60) / 60
    alphas, agg = [], np.zeros(60)
    for _ in range(4):
        best = None
        for f in range(2):
            for thr in np.linspace(X[:, f].min(), X[:, f].max(), 7):
                for sgn in (1, -1):
                    p = np.ones(60)
                    p[sgn * X[:, f] < sgn * thr] = -1
                    err = D[p != np.where(y, 1, -1)].sum()
                    if best is None or err < best[0] - 1e-9:
                        best = (err, p)
        err, p = best
        a = 0.5 * np.log((1 - err) / max(err, 1e-16))
        alphas.append(a)
        D *= np.exp(-a * np.where(y, 1, -1) * p)
        D /= D.sum()
        agg += a * p
    d2 = ((X[:, None, :] - X[None, :, :]) ** 2).sum(-1)
    nb = d2 < 0.3
    core = nb.sum(0) >= 3
    label = -np.ones(60, int)
    c = 0
    for i in range(60):
        if label[i] >= 0 or not core[i]:
            continue
        stack = [i]
        label[i] = c
        while stack:
            j = stack.pop()
            if not core[j]:
                continue
            new = np.flatnonzero(nb[j] & (label < 0))
            label[new] = c
            stack.extend(new.tolist())
        c += 1
    H = 4
    Wf, Wi, Wc, Wo = (np.sin(np.arange(H * (H + 2)).reshape(H, H + 2) * s) * 0.5 for s in (1, 2, 3, 4))
    sig = lambda z: 1 / (1 + np.exp(-z))
    h = c_ = np.zeros((H, 1))
    hs = []
    for x in X[:6]:
        z = np.vstack((h, x.reshape(-1, 1)))
        f, i, o = sig(Wf @ z), sig(Wi @ z), sig(Wo @ z)
        c_ = f * c_ + i * np.tanh(Wc @ z)
        h = o * np.tanh(c_)
        hs.append(h.ravel().copy())
    W1, W2 = np.cos(np.arange(10.0)).reshape(2, 5), np.sin(np.arange(5.0)).reshape(5, 1)

    def loss(W1, W2):
        a = np.maximum(0, X @ W1)
        return np.mean((a @ W2 - y[:, None]) ** 2)

    a = np.maximum(0, X @ W1)
    out = a @ W2
    dout = 2 * (out - y[:, None]) / out.size
    g2 = a.T @ dout
    da = dout @ W2.T
    da[a <= 0] = 0
    g1 = X.T @ da
    num = np.zeros_like(W1)
    it = np.nditer(W1, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        ix = it.multi_index
        old = W1[ix]
        W1[ix] = old + 1e-3
        lp = loss(W1, W2)
        W1[ix] = old - 1e-3
        lm = loss(W1, W2)
        W1[ix] = old
        num[ix] = (lp - lm) / 2e-3
        it.iternext()
    m, v, th = np.zeros_like(W2), np.zeros_like(W2), W2.copy()
    for k in range(1, 6):
        aa = np.maximum(0, X @ W1)
        g = 2 * aa.T @ (aa @ th - y[:, None]) / len(y)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        th -= 0.01 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    return {
        "tree": repr(tree),
        "acc": acc,
        "w": w,
        "errs": errs,
        "ws": ws,
        "b": b,
        "alphas": np.array(alphas),
        "boost": (np.sign(agg) == np.where(y, 1, -1)).mean(),
        "clusters": c,
        "label": label,
        "hs": np.array(hs),
        "g1": g1,
        "num": num,
        "g2": g2,
        "adam": th,
        "soft": np.exp(out - out.max()).sum(),
        "cross": -np.mean(y * np.log(sig(out.ravel()) + 1e-12) + (1 - y) * np.log(1 - sig(out.ravel()) + 1e-12)),
    }
