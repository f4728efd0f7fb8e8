"""Convolution by windows that share memory: edges, pooling, median filter, running median, patches as columns."""


def conv2d(np, image, kernel):
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    return np.einsum("ijkl,kl->ij", windows, kernel)


def im2col(np, x, k):
    h, w = x.shape
    s0, s1 = x.strides
    view = np.lib.stride_tricks.as_strided(x, (h - k + 1, w - k + 1, k, k), (s0, s1, s0, s1))
    return view.reshape(-1, k * k)


def main(np):
    y, x = np.ogrid[:8, :9]
    image = ((x * 3 + y * 5) % 11).astype(np.float64)
    sobel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
    gx = conv2d(np, image, sobel)
    gy = conv2d(np, image, sobel.T)
    columns = im2col(np, image, 3)
    pooled = image[:8, :8].reshape(4, 2, 4, 2).max(axis=(1, 3))
    padded = np.pad(image, 1, mode="edge")
    median = np.median(np.lib.stride_tricks.sliding_window_view(padded, (3, 3)), axis=(-2, -1))
    signal = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
    running = np.median(np.lib.stride_tricks.sliding_window_view(signal, 3), axis=1)
    blocks = np.lib.stride_tricks.sliding_window_view(signal, 4)[::4]
    integral = np.zeros((9, 10))
    integral[1:, 1:] = image.cumsum(0).cumsum(1)
    box = integral[3:, 3:] - integral[:-3, 3:] - integral[3:, :-3] + integral[:-3, :-3]
    return {
        "magnitude": np.hypot(gx, gy),
        "direction": np.degrees(np.arctan2(gy, gx)[::3, ::3]),
        "columns": columns.shape,
        "same": np.allclose(columns @ sobel.ravel(), gx.ravel()),
        "pooled": pooled,
        "median": median,
        "running": running,
        "blocks": blocks,
        "box": box,
        "box agrees": np.allclose(box, conv2d(np, image, np.ones((3, 3)))),
        "laplace": conv2d(np, image, np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]]))[2],
    }
