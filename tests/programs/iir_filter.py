"""A recursive filter of the second order, sample by sample."""


def lfilter(np, b, a, x):
    b = np.asarray(b, dtype=float)
    a = np.asarray(a, dtype=float)
    if a[0] != 1.0:
        b = b / a[0]
        a = a / a[0]
    order = max(len(a), len(b)) - 1
    state = np.zeros(order)
    y = np.empty_like(x)
    for i, sample in enumerate(x):
        y[i] = b[0] * sample + state[0]
        state[:-1] = state[1:] + b[1:-1] * sample - a[1:-1] * y[i]
        state[-1] = b[-1] * sample - a[-1] * y[i]
    return y


def main(np):
    x = np.zeros(40)
    x[0] = 1.0
    b, a = [0.2, 0.4, 0.2], [2.0, -0.8, 0.4]
    impulse = lfilter(np, b, a, x)
    step = lfilter(np, b, a, np.ones(40))
    poles = np.roots(a)
    w = np.linspace(0, np.pi, 9)
    z = np.exp(1j * w)
    H = np.polyval(b, z) / np.polyval(a, z)
    ema = [float(x[0])]
    for value in x[1:]:
        ema.append(0.5 * float(value) + 0.5 * ema[-1])
    return {
        "impulse": impulse,
        "step": step,
        "summed": np.allclose(np.cumsum(impulse), step, atol=1e-5),
        "poles": np.sort(np.abs(poles)),
        "stable": bool(np.all(np.abs(poles) < 1)),
        "magnitude": np.abs(H),
        "phase": np.unwrap(np.angle(H))[:-1],
        "ema": ema[:6],
    }
