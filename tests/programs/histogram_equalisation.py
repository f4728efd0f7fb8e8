"""The contrast of a grey picture, evened out; Otsu's threshold."""


def main(np):
    rows, cols = np.mgrid[0:24, 0:32]
    img = (60 + 40 * np.sin(rows / 5) + 20 * np.cos(cols / 3)).astype(np.uint8)
    hist, bins = np.histogram(img.flatten(), 256, [0, 256])
    cdf = hist.cumsum()
    cdf_normalized = cdf * hist.max() / cdf.max()
    cdf_m = np.where(cdf == 0, 0, cdf)
    lut = np.clip((cdf_m - cdf_m[cdf_m > 0].min()) * 255 / (cdf_m.max() - cdf_m[cdf_m > 0].min()), 0, 255)
    lut = np.floor(lut).astype("uint8")
    img2 = lut[img]

    total = img.size
    sum_all = np.dot(np.arange(256), hist)
    best, threshold, weight, part = 0.0, 0, 0, 0.0
    for t in range(20, 120):
        weight += hist[t]
        if weight == 0 or weight == total:
            continue
        part += t * hist[t]
        between = weight * (total - weight) * (part / weight - (sum_all - part) / (total - weight)) ** 2
        if between > best:
            best, threshold = between, t
    binary = (img > threshold) * 255
    rgb = np.dstack([img, img2, 255 - img])
    gray = np.dot(rgb[..., :3], [0.2989, 0.5870, 0.1140])
    return {
        "hist": hist,
        "bins": bins[:4],
        "lut": lut[::16],
        "img2": img2,
        "normalized": cdf_normalized[::32],
        "threshold": threshold,
        "binary": binary.sum(),
        "rgb": rgb.shape,
        "gray": gray[:3, :3],
        "inverted": (255 - img)[0, :5],
        "dtype": img2.dtype.name,
    }
