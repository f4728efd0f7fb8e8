"""Signals: windows and spectra in frames, filters by convolution and in frequencies, envelopes, peaks, decimation."""


def main(np):
    rate = 64
    t = np.arange(128) / rate
    signal = np.sin(2 * np.pi * 5 * t) + 0.5 * np.cos(2 * np.pi * 12 * t) + 0.1 * t
    frames = np.stack([signal[start : start + 32] for start in range(0, 97, 16)]) * np.hanning(32)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    loudest = np.fft.rfftfreq(32, d=1 / rate)[power.argmax(axis=1)]
    taps = np.sinc(2 * 0.15 * (np.arange(21) - 10)) * np.hamming(21)
    taps /= np.sum(taps)
    low = np.convolve(signal, taps, mode="same")
    spectrum = np.fft.fft(signal)
    analytic = spectrum.copy()
    analytic[1:64] *= 2
    analytic[65:] = 0
    envelope = np.abs(np.fft.ifft(analytic))
    phase = np.unwrap(np.angle(np.fft.ifft(analytic)))
    inner = signal[1:-1]
    peaks = np.flatnonzero((inner > signal[:-2]) & (inner >= signal[2:]) & (inner > 1)) + 1
    delayed = np.roll(signal, 7)
    lag = np.argmax(np.fft.ifft(np.fft.fft(delayed) * np.conj(spectrum)).real)
    full = np.correlate(signal[:20], signal[5:12], mode="valid")
    image = np.outer(np.sin(t[:16] * 20), np.cos(t[:16] * 30))
    centre = np.fft.fftshift(np.abs(np.fft.fft2(image)))
    crossings = np.nonzero(np.diff(np.signbit(signal)))[0]
    trend = np.polynomial.Polynomial.fit(t, signal, 1).convert().coef
    quantized = np.round((signal - signal.min()) / np.ptp(signal) * 15).astype(np.uint8)
    delta = np.diff(quantized.astype(np.int8), prepend=np.int8(0))
    biquad = np.zeros_like(signal)
    for n in range(2, 40):
        biquad[n] = 0.2 * (signal[n] + 2 * signal[n - 1] + signal[n - 2]) + 0.4 * biquad[n - 1] - 0.1 * biquad[n - 2]
    return {
        "power": power.sum(0),
        "loudest": loudest,
        "low": low[::8],
        "envelope": envelope[10:20],
        "slope": np.mean(np.diff(phase[20:100])),
        "peaks": peaks,
        "lag": lag,
        "full": full,
        "centre": centre.max(),
        "crossings": crossings,
        "trend": trend,
        "quantized": quantized[:12],
        "back": np.array_equal(np.cumsum(delta), quantized),
        "biquad": biquad[30:40],
        "decimated": signal.reshape(-1, 4).mean(axis=1)[:5],
        "parseval": np.isclose((np.abs(spectrum) ** 2).sum() / 128, np.square(signal).sum()),
        "inverse": np.fft.irfft(np.fft.rfft(signal))[:4],
        "noise": 10 * np.log10(np.var(signal) / np.var(signal - low)),
        "energy": np.trapezoid(signal**2, dx=1 / rate),
    }
