"""array-api-strict as an oracle: wherever it gives a result, vkarray gives one of the same dtype, shape and values; and
where it refuses shapes or axes, vkarray refuses them too.
"""

from __future__ import annotations

import array_api_strict as strict
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis.extra import numpy as hnp
from reference import supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.dtypes import CATEGORIES
from vkarray.kernels.rows import ROWS

ALL = [dtype for dtype in dtypes.DTYPES.values() if dtype not in (vx.float16, vx.bfloat16)]
STANDARD = supported(ALL)
NAMES = {dtype.name for dtype in STANDARD}
# What sums and indices are where the device has no 64-bit integers, and what integers lead to where it has no float64.
NARROW_DEFAULTS = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
REAL = [dtype for dtype in STANDARD if dtype in CATEGORIES["real numeric"]]
run = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
# Where NumPy takes vectors too, and the standard does not.
MATRICES = hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4)
AXIAL = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def values_of(dtype, shape, seed: int) -> np.ndarray:
    """Small whole numbers, which every type holds and every sum and product keeps exact."""
    generator = np.random.default_rng(seed)
    low = 0 if dtype.category in ("bool", "unsigned integer") else -3
    values = generator.integers(low, 2 if dtype is vx.bool else 4, shape)
    if dtype.category == "complex floating":
        values = values + 1j * generator.integers(-3, 4, shape)
    return np.asarray(values).astype(dtype.name)


@st.composite
def arrays(draw, dtypes=STANDARD, shapes=SHAPES) -> np.ndarray:
    return values_of(draw(st.sampled_from(dtypes)), draw(shapes), draw(st.integers(0, 99)))


def convert(value, library):
    """NumPy arrays (also inside lists) as arrays of a library; everything else as it is."""
    if isinstance(value, np.ndarray):
        return library.asarray(value)
    if isinstance(value, np.dtype):
        return getattr(library, value.name)
    if isinstance(value, list):
        return [convert(one, library) for one in value]
    return value


def call(library, name, arguments, options):
    """(result, None) or (None, error)."""
    try:
        result = getattr(library, name)(
            *[convert(one, library) for one in arguments],
            **{key: convert(one, library) for key, one in options.items()},
        )
        if isinstance(result, vx.VkArray):
            result.tolist()  # an index out of range shows when values are read
        return result, None
    except Exception as error:
        return None, error


def same(got, expected, what: str) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(got) == len(expected), f"{what}: got {len(got)} results, expected {len(expected)}"
        for one, other in zip(got, expected, strict=True):
            same(one, other, what)
    elif isinstance(got, vx.VkArray):
        host = np.asarray(expected)
        wanted = host.dtype.name if host.dtype.name in NAMES else NARROW_DEFAULTS[host.dtype.name]
        assert got.dtype.name == wanted, f"{what}: dtype {got.dtype}, expected {wanted}"
        assert got.shape == host.shape, f"{what}: shape {got.shape}, expected {host.shape}"
        bound = 8 * vx.finfo(got.dtype).eps if got.dtype in CATEGORIES["floating-point"] else 0
        np.testing.assert_allclose(np.asarray(got), host, rtol=bound, atol=bound, err_msg=what)
    else:
        assert str(got).split(".")[-1] == str(expected).split(".")[-1], f"{what}: {got}, expected {expected}"


def is_undefined(name: str, arguments) -> bool:
    """Whether the standard leaves the result open, so that array-api-strict's is NumPy's or its own."""
    if name == "astype":
        return arguments[0].dtype.kind == "f" and arguments[1].kind == "u" and bool(np.any(arguments[0] < 0))
    if name in ("take", "max", "min", "argmax"):
        return arguments[0].size == 0  # vkarray checks no index where nothing is read, and takes no extremes of nothing
    return name == "can_cast" and call(strict, "result_type", arguments, {})[1] is not None


def compare(name: str, arguments, options) -> None:
    what = f"{name}({', '.join(map(repr, arguments))}, {options})"
    with np.errstate(all="ignore"):
        expected, refused = call(strict, name, arguments, options)
    got, error = call(vx, name, arguments, options)
    if refused is None and isinstance(error, vx.FeatureError):
        flat = [one for value in arguments for one in (value if isinstance(value, list) else [value])]
        promoted = vx.result_type(*[getattr(vx, one.dtype.name) for one in flat])
        assert promoted.name not in NAMES, f"{what}: {error}"
    elif refused is None:
        assert error is None, f"{what}: vkarray raised {type(error).__name__}: {error}"
        same(got, expected, what)
    elif isinstance(refused, (ValueError, IndexError)):
        assert isinstance(error, (ValueError, IndexError, TypeError, vx.FeatureError)), (
            f"{what}: expected an error ({refused}), got {got}"
        )


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.operands == 2])
@run
@given(data=st.data())
def test_binary(name, data):
    dtypes = supported(ROWS[name].accepted())
    first = data.draw(arrays([dtype for dtype in dtypes if dtype in STANDARD]))
    second = data.draw(arrays([dtype for dtype in dtypes if dtype in STANDARD]))
    if name in ("floor_divide", "remainder", "pow", "bitwise_left_shift", "bitwise_right_shift"):
        second = np.where(second == 0, 1, np.abs(second)).astype(second.dtype)
    compare(name, [first, second], {})


@pytest.mark.parametrize("name", ["add", "multiply", "less", "bitwise_or", "logical_and", "maximum", "atan2", "divide"])
def test_promotion_of_every_pair(name):
    """All pairs of the standard's types: where array-api-strict promotes, the result has its type."""
    for first in STANDARD:
        for second in STANDARD:
            compare(
                name, [values_of(first, (3,), 0) + first_one(first), values_of(second, (3,), 1) + first_one(second)], {}
            )


def first_one(dtype):
    return np.asarray(dtype is not vx.bool).astype(dtype.name)


AXIS = st.one_of(st.none(), st.integers(-4, 3))
AXES = st.one_of(AXIS, st.lists(st.integers(-3, 2), max_size=3).map(tuple))

# Function -> strategy of (positional arguments, keyword arguments).
CALLS = {
    "reshape": st.tuples(st.tuples(arrays(), st.lists(st.integers(-1, 6), max_size=4).map(tuple)), st.just({})),
    "permute_dims": st.tuples(st.tuples(arrays(), st.permutations(range(3)).map(tuple)), st.just({})),
    "moveaxis": st.tuples(st.tuples(arrays(), st.integers(-3, 2), st.integers(-3, 2)), st.just({})),
    "expand_dims": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": st.integers(-5, 4)})),
    "squeeze": st.tuples(st.tuples(arrays(shapes=AXIAL), st.integers(-3, 2)), st.just({})),
    "flip": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES})),
    "roll": st.tuples(st.tuples(arrays(), st.integers(-9, 9)), st.fixed_dictionaries({"axis": AXIS})),
    "tile": st.tuples(st.tuples(arrays(), st.lists(st.integers(0, 3), max_size=4).map(tuple)), st.just({})),
    "repeat": st.tuples(st.tuples(arrays(), st.integers(0, 3)), st.fixed_dictionaries({"axis": AXIS})),
    "concat": st.tuples(st.tuples(st.lists(arrays(REAL[:4]), min_size=1, max_size=3)), st.fixed_dictionaries({"axis": AXIS})),
    "stack": st.tuples(
        st.tuples(arrays().map(lambda array: [array, np.asarray(array + array)])),
        st.fixed_dictionaries({"axis": st.integers(-4, 3)}),
    ),
    "unstack": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": st.integers(-3, 2)})),
    "broadcast_to": st.tuples(st.tuples(arrays(), SHAPES), st.just({})),
    "broadcast_arrays": st.tuples(st.tuples(arrays(), arrays()), st.just({})),
    "tril": st.tuples(st.tuples(arrays(shapes=MATRICES)), st.fixed_dictionaries({"k": st.integers(-5, 5)})),
    "triu": st.tuples(st.tuples(arrays(shapes=MATRICES)), st.fixed_dictionaries({"k": st.integers(-5, 5)})),
    "eye": st.tuples(
        st.tuples(st.integers(0, 5), st.integers(0, 5)),
        st.fixed_dictionaries({"k": st.integers(-6, 6), "dtype": st.just(np.dtype("int32"))}),
    ),
    "arange": st.tuples(
        st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-4, 4).filter(bool)),
        st.fixed_dictionaries({"dtype": st.sampled_from([np.dtype(name) for name in ("int16", "int32", "float32")])}),
    ),
    "linspace": st.tuples(
        st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 9)),
        st.fixed_dictionaries({"dtype": st.just(np.dtype("float32")), "endpoint": st.booleans()}),
    ),
    "meshgrid": st.tuples(
        st.tuples(*[arrays(REAL[:1], st.tuples(st.integers(0, 4)))] * 3),
        st.fixed_dictionaries({"indexing": st.sampled_from(["xy", "ij"])}),
    ),
    "astype": st.tuples(
        st.tuples(arrays(), st.sampled_from([np.dtype(dtype.name) for dtype in STANDARD])), st.just({})
    ),
    "sum": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "prod": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "max": st.tuples(st.tuples(arrays(REAL)), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "min": st.tuples(st.tuples(arrays(REAL)), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "all": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "any": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "cumulative_sum": st.tuples(
        # array-api-strict lets any axis pass where the array is empty, so these are in range for every rank.
        st.tuples(arrays(shapes=AXIAL)), st.fixed_dictionaries({"axis": st.integers(-1, 0), "include_initial": st.booleans()})
    ),
    "argmax": st.tuples(st.tuples(arrays(REAL)), st.fixed_dictionaries({"axis": AXIS, "keepdims": st.booleans()})),
    "count_nonzero": st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()})),
    "matmul": st.tuples(st.tuples(arrays(REAL), arrays(REAL)), st.just({})),
    "vecdot": st.tuples(st.tuples(arrays(REAL, AXIAL), arrays(REAL, AXIAL)), st.just({})),
    "take": st.tuples(
        st.tuples(arrays(shapes=AXIAL), arrays(REAL[:1], st.tuples(st.integers(0, 5)))),
        st.fixed_dictionaries({"axis": st.integers(-3, 2)}),
    ),
    "can_cast": st.tuples(
        st.tuples(*[st.sampled_from([np.dtype(dtype.name) for dtype in STANDARD])] * 2), st.just({})
    ),
    "isdtype": st.tuples(
        st.tuples(
            st.sampled_from([np.dtype(dtype.name) for dtype in STANDARD]),
            st.sampled_from(["bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"]),
        ),
        st.just({}),
    ),
    "result_type": st.tuples(
        st.lists(st.sampled_from([np.dtype(dtype.name) for dtype in STANDARD]), min_size=1, max_size=3), st.just({})
    ),
}  # fmt: skip


@pytest.mark.usefixtures("numpy_types")
@pytest.mark.parametrize("name", CALLS)
@run
@given(data=st.data())
def test_function(name, data):
    arguments, options = data.draw(CALLS[name])
    # NumPy, and so array-api-strict, lets axes 0 and -1 of an array without dimensions pass; the standard does not.
    no_axis = isinstance(arguments[0], np.ndarray) and arguments[0].ndim == 0 and name != "expand_dims"
    assume(options.get("axis") is None or not no_axis)
    assume(not is_undefined(name, arguments))
    compare(name, list(arguments), options)
