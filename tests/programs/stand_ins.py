"""Objects of a program's own classes that stand for arrays: by `__array__`, and as older sequences do."""


def main(np):
    class Signal:
        def __init__(self, data, rate):
            self.data, self.rate = np.asarray(data, dtype=np.float32), rate

        def __array__(self, dtype=None, copy=None):
            return self.data if dtype is None else self.data.astype(dtype)

        def __len__(self):
            return len(self.data)

        def __getitem__(self, key):
            return self.data[key]

    class Coefficients:
        def __init__(self, *values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype=dtype)

        def __add__(self, other):
            return Coefficients(*np.polyadd(self, other))

    class Prior(Coefficients):
        __array_priority__ = 10

        def __radd__(self, other):
            return "computed by Prior"

    class Squares:
        def __len__(self):
            return 4

        def __getitem__(self, place):
            if place >= 4:
                raise IndexError(place)
            return place * place

    signal, squares, line = Signal([1, 2, 3], 10), Squares(), Coefficients(1, 2)
    row, changed = np.arange(5), np.zeros(3)
    changed[:] = signal
    changed += signal
    copy = np.array(Coefficients(4, 5))
    copy[0] = 9
    matrix = np.arange(9).reshape(3, 3)
    matrix[Coefficients(0, 2)] = -1
    return {
        "arrays": [
            np.asarray(signal),
            np.array(signal, dtype=np.float64),
            np.array([signal, signal]),
            np.array(squares),
            copy,
        ],
        "functions": [
            np.mean(signal),
            np.sqrt(signal),
            np.add(signal, 1),
            np.dot(signal, signal),
            np.sum(squares),
            np.cumsum(squares),
        ],
        "joined": [
            np.concatenate([signal, signal]),
            np.stack([line, line]),
            np.append(signal, 4),
            np.where(row[:3] > 1, signal, 0),
        ],
        "of polynomials": [np.polyval(line, 2.0), np.asarray(line + line), np.polymul(line, [1, -3])],
        "operators": [
            np.ones(3) + signal,
            np.ones(3) < signal,
            2 ** np.asarray(signal),
            row[:2] * line,
            row[:3] == signal,
        ],
        "chosen": [row[line], row[np.asarray(line)], np.take(row, line), matrix],
        "changed": changed,
        "others": [
            np.isin(row, line),
            np.interp(1.5, line, line),
            np.histogram(signal, bins=np.asarray(line))[0],
            np.searchsorted(signal, line),
        ],
        "prior": row + Prior(1, 2),
        "lists": [list(signal), [float(one) for one in squares], np.median(squares), np.linalg.norm(signal)],
    }
