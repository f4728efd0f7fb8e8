"""What people write around arrays: loops, unpacking, formatting, in-place changes, None axes, chained comparisons."""


def main(np):
    x = np.array([3, -1, 4, -1, 5, -9, 2, 6])
    x[x < 0] = 0
    x[0], x[1] = x[1], x[0]
    total = 0
    for v in x:
        total += v
    first, *rest = x
    if (x > 5).any() and not (x < 0).any():
        label = "big"
    else:
        label = "small"
    m = np.arange(12).reshape(3, -1)
    m[1] += 10
    m[:, 2] *= 2
    m[m % 2 == 1] -= 1
    row, col = np.where(m == m.max())
    d = {}
    for v in x:
        d[int(v)] = d.get(int(v), 0) + 1
    b = np.zeros((3, 3), dtype=int)
    b[np.diag_indices(3)] = 1, 2, 3
    b[0, 1:] = [7, 8]
    acc = np.zeros(3)
    for i, (a, c) in enumerate(zip(m.flat, m.T.flat)):
        acc[i % 3] += a * c
    empty = np.array([])
    empty = np.append(empty, 1.5)
    empty = np.append(empty, [2.5, 3.5])
    i, best = max(enumerate(x), key=lambda pair: pair[1])
    s = np.s_[1:3, ::2]
    ix = np.ix_([0, 2], [1, 3])
    nested = [[int(v) for v in r] for r in m]
    scalar = np.float64(2.5)
    text = f"{x.mean():.3f} {m.max()} {x[2]:>4d} {np.pi:.4f} {scalar:.1e}"
    bigger = x + 1 if x.shape[0] > 3 else x
    return {
        "x": x,
        "total": total,
        "first": int(first),
        "rest": len(rest),
        "label": label,
        "m": m,
        "place": (int(row[0]), int(col[0])),
        "d": d,
        "b": b,
        "acc": acc,
        "grown": empty,
        "best": (i, int(best)),
        "sliced": m[s],
        "chosen": m[ix],
        "nested": nested,
        "text": text,
        "bigger": bigger,
        "list": list(map(float, acc)),
        "str": str(b),
        "repr": repr(x),
        "percent": "%.2f and %d" % (x.mean(), x[4]),
        "range": [k for k in range(x[3] + 2)],
        "index": ["a", "b", "c", "d", "e"][x[2]],
        "times": "-" * x[2],
        "isscalar": np.isscalar(3.0),
        "sum": sum(x),
        "sqrt": np.sqrt(16),
        "power": 2 ** np.arange(5),
        "enumerated": [(i, int(v)) for i, v in np.ndenumerate(b) if v],
    }
