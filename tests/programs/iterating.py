"""Walking through arrays as tutorials on `nditer` do."""


def main(np):
    out, lines = {}, []
    a = np.arange(6).reshape(2, 3)
    lines.append(" ".join(str(x) for x in np.nditer(a)))
    lines.append(" ".join(str(x) for x in np.nditer(a.T)))
    lines.append(" ".join(str(x) for x in np.nditer(a.T, order="C")))
    lines.append(" ".join(str(x) for x in np.nditer(a, order="F")))
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for x in it:
            x[...] = 2 * x
    out["a"] = a
    it = np.nditer(a, flags=["multi_index"])
    for x in it:
        lines.append(f"{x} <{it.multi_index}>")
    it = np.nditer(a, flags=["f_index"])
    while not it.finished:
        lines.append(f"{it[0]} <{it.index}>")
        it.iternext()
    for x in np.nditer(a, flags=["external_loop"]):
        lines.append(str(x))
    for x, y in np.nditer([np.arange(3), a]):
        lines.append(f"{x}:{y}")

    def square(a):
        with np.nditer([a, None]) as it:
            for x, y in it:
                y[...] = x * x
            return it.operands[1]

    out["square"] = square([1, 2, 3])
    total = 0.0
    for x in np.nditer(a.astype(float)):
        total += x
    lines.append(f"{total}")
    out["lines"] = lines
    return out
