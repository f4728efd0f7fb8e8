"""Errors that programs expect: divisions by zero kept quiet, roots of negative numbers, overflow, wrong shapes and types."""


def caught(np, call):
    try:
        call()
    except (ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError) as error:
        return next(
            one.__name__
            for one in (IndexError, ZeroDivisionError, OverflowError, ValueError, TypeError)
            if isinstance(error, one)
        )
    except np.linalg.LinAlgError:
        return "LinAlgError"
    return "nothing"


def main(np):
    a = np.arange(6.0).reshape(2, 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.array([1.0, 0.0, -1.0]) / 0.0
        roots = np.sqrt(np.array([4.0, -1.0]))
        logs = np.log(np.array([1.0, 0.0]))
        whole = np.array([7, -7]) // np.array([0, 2])
    with np.errstate(over="ignore", under="ignore"):
        large = np.exp(np.array([1e4, -1e4]))
        wrapped = np.array([127, -128], dtype=np.int8) + np.array([1, -1], dtype=np.int8)
    safe = np.divide(1.0, a, out=np.zeros_like(a), where=a != 0)
    calls = (
        lambda: a + np.ones(2),
        lambda: a[2],
        lambda: a[:, 3],
        lambda: a.reshape(4, 2),
        lambda: np.concatenate([a, np.ones(3)]),
        lambda: a @ a,
        lambda: np.linalg.inv(np.ones((2, 2))),
        lambda: np.linalg.cholesky(-np.eye(2)),
        lambda: int(a),
        lambda: bool(a),
        lambda: np.zeros(-1),
        lambda: a.sum(axis=2),
        lambda: np.array([1, 2], np.uint8) + 300,
        lambda: np.arange(3) ** -1,
        lambda: a.transpose(0, 0),
        lambda: np.stack([]),
        lambda: np.max(np.zeros(0)),
        lambda: a.__setitem__((0, 0), "x"),
        lambda: len(np.array(3)),
        lambda: np.split(a, 2, axis=1),
        lambda: a.item(),
        lambda: np.average(a, weights=[1, 2]),
        lambda: iter(np.float64(1)),
        lambda: np.full(2, 1, dtype="nothing"),
        lambda: a.astype(int).__iadd__(0.5),
        lambda: a.dot(a),
        lambda: np.broadcast_to(a, (3, 2)),
        lambda: a[[0, 5]],
        lambda: a[np.array([True, False, True])],
        lambda: a.squeeze(0),
        lambda: np.unravel_index(9, (2, 3)),
        lambda: np.interp(1, [1, 2], [1]),
        lambda: np.moveaxis(a, 0, 5),
        lambda: range(10)[np.array([1, 2])],
    )
    nan = np.array([np.nan, 1.0])
    return {
        "quotients": quotients,
        "roots": roots,
        "logs": logs,
        "whole": whole,
        "large": large,
        "wrapped": wrapped,
        "safe": safe,
        "errors": [caught(np, call) for call in calls],
        "equal": nan == nan,
        "close": np.isclose(nan, nan, equal_nan=True),
        "fixed": np.nan_to_num(quotients, nan=0.5, posinf=9, neginf=-9),
        "kinds": [np.isposinf(quotients), np.isneginf(quotients)],
        "epsilon": bool(np.finfo(a.dtype).eps < 1e-6),
        "limits": (np.iinfo(np.int16).max, np.iinfo("u4").max),
        "sign": np.signbit([-0.0, 0.0]),
        "settings": sorted(np.geterr()),
        "index": [5, 6, 7][np.array(1)],
    }
