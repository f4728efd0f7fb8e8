"""Spectra: filters in frequency, convolution, correlation, windows, a spectrogram, a picture's low frequencies."""


def main(np):
    fs = 64
    t = np.arange(0, 2, 1 / fs)
    clean = np.sin(2 * np.pi * 5 * t)
    noisy = clean + 0.5 * np.cos(2 * np.pi * 20 * t) + 0.1
    F = np.fft.fft(noisy)
    f = np.fft.fftfreq(t.size, 1 / fs)
    F[np.abs(f) > 10] = 0
    F[0] = 0
    filtered = np.fft.ifft(F).real
    strongest = np.sort(np.abs(f[np.argsort(np.abs(F))[-2:]]))
    kernel = np.hanning(9)
    kernel /= kernel.sum()
    n = len(t) + len(kernel) - 1
    direct = np.convolve(noisy, kernel)
    by_fft = np.fft.irfft(np.fft.rfft(noisy, n) * np.fft.rfft(kernel, n), n)
    shifted = np.roll(clean, 7)
    cross = np.fft.ifft(np.fft.fft(shifted) * np.conj(np.fft.fft(clean * (t < 1))))
    frames = np.stack([noisy[i : i + 32] * np.hamming(32) for i in range(0, len(noisy) - 31, 16)])
    spectrogram = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    image = np.outer(np.hanning(16), np.blackman(12))
    shift = np.fft.fftshift(np.fft.fft2(image))
    mask = np.zeros(image.shape, dtype=bool)
    mask[6:11, 4:9] = True
    low = np.fft.ifft2(np.fft.ifftshift(np.where(mask, shift, 0)))
    return {
        "filtered": filtered[:8],
        "error": np.max(np.abs(filtered - clean)) < 1e-4,
        "strongest": strongest,
        "same": np.allclose(direct, by_fft, atol=1e-5),
        "lag": int(np.argmax(cross.real)) % 13,
        "spectrogram": spectrogram.shape,
        "bins": spectrogram.argmax(axis=1),
        "decibel": 10 * np.log10(spectrogram[0, 2:4]),
        "low": low.real[::5, ::4],
        "energy": np.allclose(np.sum(np.abs(shift) ** 2) / image.size, np.sum(image**2)),
        "angle": np.angle(np.fft.fft([1, 2j, -1, 0.5])),
        "freq": np.fft.fftshift(np.fft.fftfreq(6, 0.5)),
    }
