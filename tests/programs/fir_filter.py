"""A low-pass filter of a windowed sinc, by convolution."""


def main(np):
    fs = 100.0
    t = np.arange(0, 2, 1 / fs)
    signal = np.sin(2 * np.pi * 3 * t) + 0.5 * np.sin(2 * np.pi * 30 * t)
    cutoff, taps = 10.0, 31
    n = np.arange(taps)
    h = np.sinc(2 * cutoff / fs * (n - (taps - 1) / 2))
    h *= np.hamming(taps)
    h /= h.sum()
    filtered = np.convolve(signal, h, mode="same")
    full = np.convolve(signal, h)
    valid = np.convolve(signal, h, "valid")
    response = np.abs(np.fft.rfft(h, 256))
    db = 20 * np.log10(np.maximum(response, 1e-6))
    cutoff_bin = np.nonzero(db < -6)[0][0]
    lag = np.argmax(np.correlate(full, signal, "full")) - (len(signal) - 1)
    return {
        "h": h,
        "filtered": filtered,
        "sizes": (len(full), len(valid), filtered.shape[0]),
        "db": db[:20],
        "cutoff": f"{cutoff_bin * fs / 256:.2f} Hz",
        "lag": int(lag),
        "symmetric": np.allclose(h, h[::-1]),
        "windows": [np.hanning(5), np.blackman(5), np.bartlett(5), np.kaiser(5, 14)],
    }
