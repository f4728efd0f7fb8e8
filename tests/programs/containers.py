"""A class with the operators, elementwise functions and functions of arrays by NumPy's protocols, and one that declines."""


def main(np):
    class Diagonal(np.lib.mixins.NDArrayOperatorsMixin):
        def __init__(self, length, value):
            self.length, self.value = length, value

        def __repr__(self):
            return f"Diagonal({self.length}, {float(self.value):g})"

        def __array__(self, dtype=None, copy=None):
            return self.value * np.eye(self.length, dtype=dtype)

        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            if method == "reduce" and ufunc is np.add:
                return self.value
            if method != "__call__" or not all(isinstance(one, (int, float, Diagonal)) for one in inputs):
                return NotImplemented
            values = [one.value if isinstance(one, Diagonal) else one for one in inputs]
            return Diagonal(self.length, ufunc(*values, **options))

        def __array_function__(self, function, types, args, kwargs):
            if function is np.sum:
                return self.value * self.length
            if function is np.concatenate:
                return Diagonal(sum(len(np.asarray(one)) for one in args[0]), self.value)
            return NotImplemented

    class Alone:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "computed by Alone"

    d = Diagonal(3, 2)
    refused = []
    for call in (lambda: np.mean(d), lambda: np.ones(3) * d, lambda: np.add(np.ones(3), Alone()), lambda: d + "text"):
        try:
            refused.append(repr(call()))
        except TypeError as error:
            refused.append(type(error).__name__)
    texts = [np.multiply(d, 3), d + 1, 2 * d, -d, abs(d), d**2, d / 4, 1 - d, np.sqrt(d), np.maximum(d, 3)]
    return {
        "texts": [repr(one) for one in texts],
        "compared": repr(d > 1),
        "sum": np.sum(d),
        "reduced": np.add.reduce(d),
        "concatenated": [repr(np.concatenate([d, d])), repr(np.concatenate([np.ones(2), d]))],
        "array": np.asarray(d),
        "array of floats": np.asarray(d, dtype=np.float32),
        "refused": refused,
        "alone": np.ones(2) + Alone(),
    }
