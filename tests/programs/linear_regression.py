"""Least squares three ways, a ridge, gradient descent and R squared."""


def main(np):
    x = np.array([1, 2, 3, 4, 5, 6, 7, 8], dtype=float)
    y = np.array([2.2, 4.1, 6.2, 7.9, 10.3, 11.8, 14.1, 16.2])
    A = np.vstack([x, np.ones(len(x))]).T
    (m, c), residuals, rank, s = np.linalg.lstsq(A, y, rcond=None)
    theta = np.linalg.inv(A.T.dot(A)).dot(A.T).dot(y)
    pseudo = np.linalg.pinv(A) @ y
    ridge = np.linalg.solve(A.T @ A + 0.1 * np.identity(2), A.T @ y)
    w, b = 0.0, 0.0
    for _ in range(200):
        y_pred = w * x + b
        w -= 0.01 * (-2 / len(x)) * sum(x * (y - y_pred))
        b -= 0.01 * (-2 / len(x)) * np.sum(y - y_pred)
    prediction = m * x + c
    ss_res = np.sum((y - prediction) ** 2)
    ss_tot = np.sum((y - np.mean(y)) ** 2)
    return {
        "m": m,
        "c": c,
        "residuals": residuals,
        "rank": rank,
        "singular": s,
        "theta": theta,
        "pseudo": pseudo,
        "ridge": ridge,
        "descent": np.array([w, b]),
        "r2": round(float(1 - ss_res / ss_tot), 5),
        "rmse": np.sqrt(((prediction - y) ** 2).mean()),
        "text": f"y = {m:.2f}x + {c:.2f}",
        "condition": np.linalg.cond(A),
    }
