"""Gibbs sampling of two variables, with a congruential generator and Box and Muller written out; what the chain tells."""


def main(np):
    def lcg(n, seed=12345):
        out = np.empty(n, dtype=np.uint64)
        s = np.uint64(seed)
        a, c = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
        with np.errstate(over="ignore"):
            for i in range(n):
                s = s * a + c
                out[i] = s
        return (out >> np.uint64(11)) * (1.0 / (1 << 53))

    u = lcg(240)
    u1, u2 = u[::2], u[1::2]
    r = np.sqrt(-2 * np.log(u1))
    z = np.concatenate((r * np.cos(2 * np.pi * u2), r * np.sin(2 * np.pi * u2)))
    rho = 0.6
    x = y = 0.0
    chain = np.zeros((120, 2))
    for i in range(120):
        x = rho * y + np.sqrt(1 - rho**2) * z[2 * i]
        y = rho * x + np.sqrt(1 - rho**2) * z[2 * i + 1]
        chain[i] = x, y
    burn = chain[20:]
    c = np.corrcoef(burn, rowvar=False)
    centred = burn - burn.mean(0)
    acf = np.array([(centred[: len(centred) - k] * centred[k:]).sum(0) for k in range(6)]) / (centred**2).sum(axis=0)
    tau = 1 + 2 * acf[1:].sum(axis=0)
    hist, xe, ye = np.histogram2d(*burn.T, bins=(4, 5), range=[[-3, 3], [-3, 3]])
    cov = np.cov(burn.T, ddof=0)
    maha = np.einsum("ni,ij,nj->n", centred, np.linalg.inv(cov), centred)
    q = np.quantile(burn, [0.05, 0.5, 0.95], axis=0, method="hazen")
    cat = np.searchsorted(np.cumsum([0.2, 0.5, 0.3]), u[:20], side="right")
    w = np.array([1, 2, 3.0])
    pick = (u[:10, None] < np.cumsum(w / w.sum())).argmax(axis=1)
    run = np.add.accumulate(burn) / np.arange(1, len(burn) + 1)[:, np.newaxis]
    return dict(
        u=u[:5],
        z=z[:5],
        c=c,
        acf=acf,
        tau=tau,
        hist=hist,
        xe=xe,
        maha=maha.max(),
        q=q,
        cat=cat,
        pick=pick,
        run=run[-1],
        kurt=np.mean(((z - z.mean()) / z.std()) ** 4),
        p=np.percentile(z, 33),
        m=np.median(burn, axis=0),
        a=np.average(burn, axis=0, weights=np.linspace(1, 2, 100)),
    )
