"""Shapes in a picture: erosion, dilation, outlines, flood filling, labels by union of neighbours, a distance transform."""


def shifted(np, image, fill):
    padded = np.pad(image, 1, constant_values=fill)
    rows, columns = image.shape
    return np.array(
        [padded[1 + i : 1 + i + rows, 1 + j : 1 + j + columns] for i, j in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))]
    )


def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def main(np):
    picture = np.array(
        [
            [c == "#" for c in row]
            for row in ("..##....", ".####.#.", ".####.##", "..##....", "........", "##.#####", "##.#...#", "...#####")
        ]
    )
    eroded = shifted(np, picture, True).all(axis=0)
    dilated = shifted(np, picture, False).any(0)
    opened = shifted(np, eroded, False).any(axis=0)
    outline = picture ^ eroded
    filled = np.zeros_like(picture)
    filled[[0, -1], :] = ~picture[[0, -1], :]
    filled[:, [0, -1]] |= np.logical_not(picture[:, [0, -1]])
    while True:
        grown = shifted(np, filled, False).any(axis=0) & ~picture
        if (grown == filled).all():
            break
        filled = grown
    holes = ~(filled | picture)
    parent = list(range(picture.size))
    flat = picture.ravel()
    for x in np.flatnonzero(flat[:-1] & flat[1:]):
        if (x + 1) % 8:
            parent[find(parent, int(x) + 1)] = find(parent, int(x))
    for x in np.flatnonzero(flat[:-8] & flat[8:]):
        parent[find(parent, int(x) + 8)] = find(parent, int(x))
    roots = np.array([find(parent, x) if flat[x] else -1 for x in range(picture.size)])
    _, labels = np.unique(roots, return_inverse=True)
    labels = labels.reshape(picture.shape)
    sizes = np.bincount(labels[picture])[1:]
    rows, columns = np.nonzero(~picture)
    i, j = np.indices(picture.shape)
    distance = np.min(np.abs(i[..., None] - rows) + np.abs(j[..., None] - columns), axis=-1)
    boxes = [
        (s.min(axis=1), s.max(axis=1)) for s in (np.array(np.where(labels == n)) for n in range(1, labels.max() + 1))
    ]
    hit = np.array([[0, 1], [1, 1]], bool)
    windows = np.lib.stride_tricks.sliding_window_view(picture, hit.shape)
    return {
        "eroded": eroded,
        "dilated": dilated,
        "opened": opened,
        "outline": outline,
        "holes": holes,
        "labels": labels,
        "sizes": sizes,
        "distance": distance,
        "boxes": boxes,
        "corners": np.argwhere((windows == hit).all(axis=(2, 3))),
        "rows": np.packbits(picture, axis=1)[:, 0],
        "area": np.count_nonzero(picture),
        "profile": picture.sum(1, dtype=np.uint8),
    }
