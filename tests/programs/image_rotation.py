"""An image turned by an angle with bilinear sampling, flipped, cropped, made grey, and its histogram."""


def picture(np):
    y, x = np.mgrid[:16, :20]
    red = 255 * x // 19
    green = np.uint8(((x // 4 + y // 4) % 2) * 200)
    blue = np.clip((x - 10) ** 2 + (y - 8) ** 2, 0, 255)
    return np.dstack([red, green, blue]).astype(np.uint8)


def bilinear(np, image, ys, xs):
    h, w = image.shape[:2]
    y0 = np.floor(ys).astype(int)
    x0 = np.floor(xs).astype(int)
    fy, fx = (ys - y0)[..., np.newaxis], (xs - x0)[..., None]
    y1, x1 = np.minimum(y0 + 1, h - 1), np.minimum(x0 + 1, w - 1)
    y0, x0 = np.maximum(y0, 0), np.maximum(x0, 0)
    top = image[y0, x0] * (1 - fx) + image[y0, x1] * fx
    bottom = image[y1, x0] * (1 - fx) + image[y1, x1] * fx
    return top * (1 - fy) + bottom * fy


def main(np):
    image = picture(np)
    h, w, _ = image.shape
    angle = np.deg2rad(30)
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s], [s, c]])
    grid = np.stack(np.meshgrid(np.arange(h), np.arange(w), indexing="ij"), axis=-1)
    centre = np.array([(h - 1) / 2, (w - 1) / 2])
    source = (grid - centre) @ R.T + centre
    ys, xs = source[..., 0], source[..., 1]
    inside = (ys >= 0) & (ys <= h - 1) & (xs >= 0) & (xs <= w - 1)
    turned = np.zeros_like(image)
    turned[inside] = np.rint(bilinear(np, image.astype(np.float64), ys[inside], xs[inside])).astype("uint8")
    grey = np.dot(image[..., :3], [0.299, 0.587, 0.114])
    thumb = image[::4, ::4].copy()
    negative = 255 - image
    return {
        "shape": turned.shape,
        "inside": inside.sum(),
        "mean": turned.mean(axis=(0, 1)).round(0),
        "rot90": np.rot90(image, k=1).shape,
        "flipped": np.array_equal(image[:, ::-1], np.fliplr(image)),
        "grey": grey[::5, ::5],
        "thumb": thumb,
        "negative": int(negative.max()) + int(image.min()),
        "wraps": (image[0, :5, 0] + image[0, :5, 0] + 200).tolist(),
        "histogram": np.bincount(image[..., 1].ravel(), minlength=256)[[0, 200]],
        "bytes": turned.nbytes,
    }
