"""Maps: slope and aspect, shade of hills, where water flows, basins, contours, lines of sight, tiles of a grid."""


def main(np):
    y, x = np.mgrid[0:24, 0:32]
    z = 30 * np.exp(-((x - 10) ** 2 + (y - 8) ** 2) / 40) + 20 * np.exp(-((x - 24) ** 2 + (y - 16) ** 2) / 60.0)
    z += 0.05 * x + 0.031 * y
    gy, gx = np.gradient(z, 10.0)
    slope = np.degrees(np.arctan(np.hypot(gx, gy)))
    aspect = np.degrees(np.arctan2(-gx, gy)) % 360
    sector = np.digitize(aspect, np.arange(22.5, 360, 45)) % 8
    names = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
    rose = {name: int(n) for name, n in zip(names, np.bincount(sector.ravel(), minlength=8))}
    azimuth, altitude = np.deg2rad(315), np.deg2rad(45)
    s, a = np.arctan(np.hypot(gx, gy)), np.arctan2(gy, -gx)
    shade = np.sin(altitude) * np.cos(s) + np.cos(altitude) * np.sin(s) * np.cos(azimuth - np.pi / 2 - a)
    shade = (255 * np.clip(shade, 0, 1)).astype(np.uint8)
    padded = np.pad(z, 1, mode="constant", constant_values=np.inf)
    steps = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
    h, w = z.shape
    drop = np.stack([(z - padded[1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w]) / np.hypot(dy, dx) for dy, dx in steps])
    direction = np.where(drop.max(axis=0) > 0, drop.argmax(axis=0), -1)
    dy, dx = np.array(steps).T
    target = np.arange(z.size).reshape(z.shape)
    flows = direction >= 0
    target[flows] = ((y + dy[direction]) * w + x + dx[direction])[flows]
    root = target.ravel()
    for _ in range(10):
        root = root[root]
    pits, basin, sizes = np.unique(root, return_inverse=True, return_counts=True)
    amount = np.ones(z.size, dtype=np.int64)
    for i in np.argsort(z, axis=None)[::-1]:
        t = target.flat[i]
        if t != i:
            amount[t] += amount[i]
    levels = np.arange(0, 35, 5)
    band = np.searchsorted(levels, z, side="right")
    edge = (band[:, 1:] != band[:, :-1])[:-1] | (band[1:] != band[:-1])[:, :-1]
    eye = z[8, 0] + 2
    angles = (z[8, 1:] - eye) / np.arange(1, w)
    visible = angles >= np.maximum.accumulate(angles)
    tiles = z.reshape(6, 4, 8, 4).swapaxes(1, 2)
    coarse = tiles.mean(axis=(2, 3))
    highest = np.unravel_index(z.argmax(), z.shape)
    hypsometric = np.percentile(z, range(0, 101, 25))
    masked = np.where(slope > 20, np.nan, z)
    route = np.array([(0, 0), (12, 20), (23, 31)])
    length = np.sqrt((np.diff(route, axis=0) ** 2).sum(1)).sum() * 10
    sampled = z[tuple(route.T)]
    filled = masked.copy()
    rows, cols = np.nonzero(np.isnan(masked))
    for r, c in zip(rows, cols):
        filled[r, c] = np.nanmean(masked[max(r - 3, 0) : r + 4, max(c - 3, 0) : c + 4])
    return {
        "slope": slope,
        "rose": rose,
        "shade": np.abs(shade.astype(int)[::5, ::5] - 128) > 200,
        "direction": direction[2:-2:3, 2:-2:3],
        "pits": pits,
        "sizes": sizes,
        "basin": basin.shape,
        "most": amount.max(),
        "edge": edge.sum(),
        "visible": np.flatnonzero(visible)[:5],
        "coarse": coarse,
        "highest": tuple(int(one) for one in highest),
        "hypsometric": hypsometric,
        "steep": np.isnan(masked).sum(),
        "filled": np.nanmax(filled),
        "length": length,
        "sampled": sampled,
        "mean above": z[z > z.mean()].mean(),
    }
