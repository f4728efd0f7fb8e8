"""A quantum wave packet that meets a barrier, by the split-operator method."""


def main(np):
    n, dt = 128, 0.02
    x = np.linspace(-10, 10, n, endpoint=False)
    dx = x[1] - x[0]
    k = 2 * np.pi * np.fft.fftfreq(n, d=dx)
    V = np.where(np.abs(x) < 0.5, 4.0, 0.0)
    psi = np.exp(-((x + 4) ** 2)) * np.exp(2j * x)
    psi /= np.sqrt(np.sum(np.abs(psi) ** 2) * dx)
    half = np.exp(-0.5j * V * dt)
    full = np.exp(-0.5j * k**2 * dt)
    energy, place = [], []
    for step in range(60):
        psi = half * np.fft.ifft(full * np.fft.fft(half * psi))
        if step % 20 == 0:
            density = (psi.conj() * psi).real
            place.append(float(np.trapezoid(x * density, x)))
            energy.append(np.vdot(psi, np.fft.ifft(0.5 * k**2 * np.fft.fft(psi)) + V * psi).real * dx)
    density = np.abs(psi) ** 2
    return {
        "norm": np.sum(density) * dx,
        "place": place,
        "energy": np.array(energy),
        "passed": density[x > 0.5].sum() * dx,
        "peak": x[density.argmax()],
        "phase": np.unwrap(np.angle(psi[n // 2 - 4 : n // 2 + 4])),
        "type": psi.dtype.kind,
    }
