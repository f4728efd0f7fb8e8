"""Sobel edges, a Gaussian blur and block means of a picture."""


def conv2d(np, image, kernel):
    k = kernel.shape[0]
    pad = k // 2
    padded = np.pad(image, pad, mode="edge")
    out = np.zeros_like(image, dtype=float)
    for i in range(k):
        for j in range(k):
            out += kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return out


def main(np):
    image = np.zeros((16, 16))
    image[4:12, 4:12] = 1
    image[np.tri(16, dtype=bool)] += 0.5
    Kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    Ky = np.flipud(Kx.T)
    gx = conv2d(np, image, Kx)
    gy = conv2d(np, image, Ky)
    edges = np.hypot(gx, gy)
    theta = np.degrees(np.arctan2(gy, gx))
    ax = np.arange(-2, 3)
    xx, yy = np.meshgrid(ax, ax)
    gauss = np.exp(-(xx**2 + yy**2) / 2.0)
    gauss = gauss / np.sum(gauss)
    blurred = conv2d(np, image, gauss)
    blocks = image.reshape(4, 4, 4, 4).mean(axis=(1, 3))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    dilated = windows.max(axis=(2, 3))
    edges *= 255.0 / edges.max()
    return {
        "edges": edges.astype(np.uint8),
        "theta": theta[4:8, 4:8],
        "blurred": blurred,
        "blocks": blocks,
        "windows": windows.shape,
        "dilated": dilated,
        "rotated": np.rot90(image)[0],
        "mirrored": np.fliplr(image)[3],
        "upscaled": np.repeat(np.repeat(blocks, 2, axis=0), 2, axis=1),
        "kron": np.kron(blocks[:2, :2], np.ones((2, 2))),
    }
