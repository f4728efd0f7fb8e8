"""Denoising in the frequency domain."""


def main(np):
    dt = 0.01
    t = np.arange(0, 1, dt)
    clean = np.sin(2 * np.pi * 5 * t) + np.sin(2 * np.pi * 12 * t)
    noise = 0.8 * np.sin(2 * np.pi * 41 * t + 1) * np.cos(2 * np.pi * 33 * t)
    f = clean + noise
    n = len(t)
    fhat = np.fft.fft(f, n)
    PSD = (fhat * np.conj(fhat) / n).real
    freq = (1 / (dt * n)) * np.arange(n)
    L = np.arange(1, np.floor(n / 2), dtype="int")
    indices = PSD > 10
    PSDclean = PSD * indices
    fhat = indices * fhat
    ffilt = np.fft.ifft(fhat).real
    spectrum = np.fft.rfft(f)
    freqs = np.fft.rfftfreq(n, d=dt)
    spectrum[freqs > 20] = 0
    low = np.fft.irfft(spectrum, n=n)
    peaks = freq[L][PSD[L].argsort()[-2:]]
    shifted = np.fft.fftshift(np.fft.fftfreq(8, d=0.5))
    image = np.outer(np.sin(t[:16] * 40), np.cos(t[:16] * 60))
    back = np.fft.ifft2(np.fft.fft2(image))
    return {
        "psd": PSD[:20],
        "cleaned": ffilt,
        "low": low,
        "rms": bool(np.sqrt(np.mean((ffilt - clean) ** 2)) < 1e-4),
        "peaks": np.sort(peaks),
        "kept": np.count_nonzero(PSDclean),
        "shifted": shifted,
        "round": np.allclose(back.real, image, atol=1e-5),
        "parseval": bool(np.isclose(np.sum(f**2), np.sum(np.abs(np.fft.fft(f)) ** 2) / n, rtol=1e-4)),
    }
