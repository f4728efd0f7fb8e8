"""The exponential of a matrix by scaling and squaring, a rotation, and a chain of reactions."""


def expm(np, A, terms=18):
    norm = np.linalg.norm(A, np.inf)
    s = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0 else 0
    A = A / 2**s
    result = np.eye(A.shape[0], dtype=A.dtype)
    term = np.identity(len(A), A.dtype)
    for k in range(1, terms):
        term = term.dot(A) / k
        result += term
    for _ in range(s):
        result = np.dot(result, result)
    return result


def main(np):
    angle = np.pi / 3
    rotation = expm(np, np.array([[0, -angle], [angle, 0]]))
    rates = np.array([[-0.5, 0.0, 0.0], [0.5, -0.3, 0.0], [0.0, 0.3, 0.0]])
    start = np.array([1.0, 0, 0])
    course = np.array([expm(np, rates * t) @ start for t in np.arange(0, 5, 1.25)])
    nilpotent = np.triu(np.ones((4, 4)), 1)
    fibonacci = np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 30)
    hermitian = np.array([[1, 2 - 1j], [2 + 1j, -1]])
    unitary = expm(np, -0.5j * hermitian)
    return {
        "rotation": rotation,
        "angle": np.rad2deg(np.arctan2(rotation[1, 0], rotation[0, 0])),
        "course": course,
        "kept": np.allclose(course.sum(axis=1), 1),
        "nilpotent": expm(np, nilpotent),
        "determinant": np.linalg.det(expm(np, nilpotent)),
        "fibonacci": fibonacci[0, 1],
        "is unitary": np.allclose(unitary @ unitary.conj().T, np.eye(2), atol=1e-5),
        "trace": np.trace(unitary),
    }
