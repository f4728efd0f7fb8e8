"""What programs print: tables, options of printing, numbers in formats, texts that are read back."""

import io


def main(np):
    shown = []
    with np.printoptions(precision=3, suppress=True):
        shown += [
            str(np.array([1.23456, 1e-7, 1000.0])),
            str(np.linspace(0, 1, 4)),
            str(np.array([[0.5, -1.25], [100.125, 2.0]])),
        ]
    with np.printoptions(threshold=6, edgeitems=2):
        shown.append(str(np.arange(20)))
        shown.append(str(np.arange(64).reshape(8, 8)))
    with np.printoptions(formatter={"float": "{:7.2f}".format, "int": lambda n: f"<{n}>"}):
        shown += [str(np.array([1.0, -2.5])), str(np.arange(3))]
    with np.printoptions(linewidth=20, sign=" "):
        shown.append(str(np.arange(12) / 4))
    shown.append(np.array2string(np.eye(2), separator=", ", prefix="x = "))
    shown += [
        repr(np.array([True, False])),
        repr(np.arange(3, dtype=np.int16)),
        str(np.array(2.5)),
        str(np.zeros((0, 3))),
    ]
    shown += [
        f"{np.array([1.5, 2.5]).mean():.3f}",
        "%d items, %5.1f each" % (np.arange(4).size, np.sqrt(2.0)),
        format(np.arange(5).sum(), "04d"),
    ]
    shown += ["{:>8}|{:<6}|{:^5}".format(str(np.array(3)), np.array(7).item(), "x"), str(np.array([1 + 2j, -0.5j]))]
    shown += [
        str(np.array([np.nan, np.inf, -np.inf, 0.0])),
        str([int(n) for n in np.arange(3)]),
        str(tuple(np.arange(2).tolist())),
    ]
    file = io.StringIO()
    np.savetxt(file, np.array([[1.5, 2], [3, 4.25]]), fmt="%.2f", delimiter=";", header="a;b", comments="")
    text = file.getvalue()
    read = np.loadtxt(io.StringIO(text), delimiter=";", skiprows=1, unpack=True)
    missing = np.genfromtxt(io.StringIO("1,,3\n4,5,x"), delimiter=",", filling_values=-1)
    parsed = np.fromstring("3 1 4 1 5", dtype=int, sep=" ")
    return {
        "shown": shown,
        "text": text,
        "read": read,
        "missing": missing,
        "parsed": parsed,
        "binary": np.binary_repr(-5, width=8),
        "base": [np.base_repr(255, 16), np.base_repr(7, 2, padding=2)],
        "position": np.format_float_positional(2.0**-4),
        "science": np.format_float_scientific(1500.0, precision=1),
        "list": np.arange(4).reshape(2, 2).tolist(),
    }
