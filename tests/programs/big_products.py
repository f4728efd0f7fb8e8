"""Products by transforms: of big numbers, of polynomials modulo a prime, convolutions of all modes, a cepstrum."""


def main(np):
    a, b = 3**80, 7**55

    def digits(v):
        return np.array(list(map(int, str(v)[::-1])))

    A, B = digits(a), digits(b)
    n = 1 << (len(A) + len(B) - 1).bit_length()
    prod = np.rint(np.fft.irfft(np.fft.rfft(A, n) * np.fft.rfft(B, n), n)).astype(np.int64)
    carry, out = 0, []
    for d in prod:
        carry, r = divmod(int(d) + carry, 10)
        out.append(r)
    text = "".join(map(str, out[::-1])).lstrip("0")
    P = 998244353

    def ntt(x, inv=False):
        x = x.copy()
        n = len(x)
        lg = n.bit_length() - 1
        rev = np.zeros(n, int)
        for i in range(lg):
            rev |= ((np.arange(n) >> i) & 1) << (lg - 1 - i)
        x = x[rev]
        length = 2
        while length <= n:
            w = pow(3, (P - 1) // length, P)
            if inv:
                w = pow(w, P - 2, P)
            ws = np.array([pow(w, i, P) for i in range(length // 2)])
            x = x.reshape(-1, length)
            u, v = x[:, : length // 2], x[:, length // 2 :] * ws % P
            x = np.concatenate([(u + v) % P, (u - v) % P], axis=1).reshape(-1)
            length *= 2
        return x * pow(n, P - 2, P) % P if inv else x

    x = np.zeros(16, np.int64)
    y = np.zeros(16, dtype=np.int64)
    x[:5] = [1, 2, 3, 4, 5]
    y[:4] = 9, 8, 7, 6
    z = ntt(ntt(x) * ntt(y) % P, True)
    modes = {m: np.convolve([1, 2, 3], [0, 1, 0.5], m) for m in ("full", "same", "valid")}
    corr = np.correlate(np.array([1, 2, 3.5, -1]), np.array([0, 1, 0.5]), "full")
    f = np.fft.fft2(np.outer(np.hanning(6), np.hamming(5)))
    sh = np.fft.fftshift(np.abs(f))
    back = np.fft.ifft2(np.fft.ifftshift(np.fft.fftshift(f)))
    ph = np.unwrap(np.angle(np.fft.fft(np.roll(np.eye(1, 16)[0], 3))))
    spec = np.abs(np.fft.rfft(np.sin(2 * np.pi * 5 * np.arange(64) / 64) + 0.1)) ** 2
    freq = np.fft.rfftfreq(64, d=1 / 64)
    poly = np.polymul([1, 2, 3], [1, -1])
    q, r = np.polydiv([1.0, 1, 1, -3], [1, -1])
    ces = np.fft.ifft(np.log(np.abs(np.fft.fft(np.arange(1, 9) ** 1.5)))).real
    return dict(
        text=text,
        ok=text == str(a * b),
        z=z,
        modes=modes,
        corr=corr,
        sh=sh,
        back=back,
        ph=ph,
        peak=freq[np.argmax(spec[1:]) + 1],
        poly=poly,
        q=q,
        r=r,
        ces=ces,
        prod=prod[:5],
    )
