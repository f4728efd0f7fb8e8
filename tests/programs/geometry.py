"""Rotations, areas, crossings and points in polygons."""


def main(np):
    square = np.array([[0, 0], [4, 0], [4, 3], [0, 3]])
    x, y = square.T
    area = 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    theta = np.deg2rad(30)
    c, s = np.cos(theta), np.sin(theta)
    R = np.array(((c, -s), (s, c)))
    rotated = square @ R.T
    perimeter = np.sum(np.hypot(*(np.roll(square, -1, axis=0) - square).T))
    H = np.eye(3)
    H[:2, :2] = R
    H[:2, 2] = 1, -2
    homogeneous = np.hstack([square, np.ones((4, 1))])
    moved = (H @ homogeneous.T).T[:, :-1]
    a, b = np.array([1, 2, 3]), np.array([4, 5, 6])
    normal = np.cross(a, b)
    angle = np.arccos(np.clip(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)), -1.0, 1.0))

    def inside(point):
        px, py = point
        hit = False
        j = len(square) - 1
        for i in range(len(square)):
            xi, yi = square[i]
            xj, yj = square[j]
            if (yi > py) != (yj > py) and px < (xj - xi) * (py - yi) / (yj - yi) + xi:
                hit = not hit
            j = i
        return hit

    points = np.array([[1.0, 1.0], [5.0, 1.0], [2.0, 2.9], [-1.0, -1.0]])
    d2 = np.sum((points[:, None, :] - points[None, :, :]) ** 2, axis=-1)
    np.fill_diagonal(d2, np.inf)
    nearest = d2.argmin(axis=1)
    r, phi = np.abs(points @ [1, 1j]), np.angle(points @ [1, 1j], deg=True)
    return {
        "area": area,
        "rotated": rotated,
        "perimeter": perimeter,
        "moved": moved,
        "normal": normal,
        "angle": np.rad2deg(angle),
        "inside": [inside(p) for p in points],
        "nearest": nearest,
        "polar": (r, phi),
        "box": (square.min(axis=0), square.max(axis=0)),
        "centroid": square.mean(axis=0),
        "orthogonal": np.allclose(R @ R.T, np.eye(2), atol=1e-6),
        "determinant": round(float(np.linalg.det(R)), 5),
    }
