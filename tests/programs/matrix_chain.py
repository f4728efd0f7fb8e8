"""The cheapest order of matrix products, and products of several matrices."""


def main(np):
    dims = [30, 35, 15, 5, 10, 20, 25]
    n = len(dims) - 1
    m = np.zeros((n, n), dtype=int)
    s = np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = np.iinfo(np.int64).max
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if cost < m[i, j]:
                    m[i, j] = cost
                    s[i, j] = k

    def parens(i, j):
        if i == j:
            return "A" + str(i + 1)
        k = s[i, j]
        return "(" + parens(i, k) + parens(k + 1, j) + ")"

    mats = [np.arange(a * b).reshape(a, b) % 5 for a, b in zip([3, 4, 2, 5], [4, 2, 5, 3])]
    product = mats[0]
    for mat in mats[1:]:
        product = product @ mat
    return {
        "m": m,
        "s": s,
        "cost": m[0, -1],
        "parens": parens(0, n - 1),
        "product": product,
        "multi": np.linalg.multi_dot(mats),
        "einsum": np.einsum("ij,jk,kl,lm->im", *mats),
        "inner": np.inner(mats[0], mats[0]),
        "tensordot": np.tensordot(mats[0], mats[1], axes=1),
        "batched": np.matmul(np.ones((2, 3, 4), dtype=int), mats[1]).shape,
        "vdot": np.vdot(mats[0], mats[0]),
    }
