"""A Kalman filter for a moving cart."""


def main(np):
    dt = 0.1
    F = np.array([[1, dt, 0], [0, 1, dt], [0, 0, 1]])
    H = np.array([1, 0, 0]).reshape(1, 3)
    Q = np.array([[0.05, 0.05, 0.0], [0.05, 0.05, 0.0], [0.0, 0.0, 0.0]])
    R = np.array([0.5]).reshape(1, 1)
    x_axis = np.linspace(-10, 10, 60)
    measurements = -(x_axis**2 + 2 * x_axis - 2) + 2 * np.sin(7 * x_axis)
    n = F.shape[1]
    P = np.eye(n)
    x = np.zeros((n, 1))
    predictions = []
    for z in measurements:
        x = np.dot(F, x)
        P = np.dot(np.dot(F, P), F.T) + Q
        predictions.append(np.dot(H, x)[0])
        y = z - np.dot(H, x)
        S = R + np.dot(H, np.dot(P, H.T))
        K = np.dot(np.dot(P, H.T), np.linalg.inv(S))
        x = x + np.dot(K, y)
        I = np.eye(n)  # noqa: E741
        P = np.dot(np.dot(I - np.dot(K, H), P), (I - np.dot(K, H)).T) + np.dot(np.dot(K, R), K.T)
    predictions = np.array(predictions).flatten()
    residual = measurements - predictions
    return {
        "predictions": predictions,
        "state": x,
        "P": P,
        "symmetric": np.allclose(P, P.T, atol=1e-5),
        "positive": bool((np.linalg.eigvalsh(P) > 0).all()),
        "gain": K.ravel(),
        "rmse": float(np.sqrt((residual[10:] ** 2).mean())),
    }
