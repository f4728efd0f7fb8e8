"""The texts of the errors that users meet most: each names the operation, what it got, what it expects, what to do."""

from __future__ import annotations

import operator
import re

import numpy as np
import pytest

import vkarray as vx
from vkarray import absent
from vkarray.configuration import SWITCHES

MATRIX = vx.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
VECTOR = vx.asarray([1, 2, 3], dtype=vx.int32)
BOOLS = vx.asarray([True, False, True])
COMPLEX = vx.asarray([1j])
GENERATOR = vx.random.default_rng(0)
WHOLE = "Divide with //, or convert it with int."
NUMERIC = "int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64, complex128"
ALL = f"bool, {NUMERIC}"
WIDEST = vx.result_type(VECTOR, 0.5)  # float32 on a device without float64

# What is called -> the error and its text. Names are evaluated in this module.
ERRORS = {
    "vx.add(MATRIX)": (TypeError, "add() takes from 2 to 3 positional arguments but 1 was given. "
                               "The first 2 are operands, and `out` is given once."),
    "vx.add(MATRIX, 1, where=BOOLS, order='K', axis=0)": (TypeError, "add: unexpected keyword argument 'axis'."),
    "vx.add(MATRIX, 1, out=np.zeros((2, 3)))": (
        TypeError, "add: expected a vkarray array as out, got ndarray. Use vkarray.empty_like.",
    ),
    "vx.add(MATRIX, 0.5, out=vx.zeros((2, 3), 'int32'))": (
        TypeError,
        "add: a result of float32 cannot be written to out of int32 with casting='same_kind'. Use another out, or "
        "casting='unsafe'.",
    ),
    "vx.add(MATRIX, 1, out=vx.zeros(3))": (
        ValueError, "add: non-broadcastable output: a result of shape (2, 3) does not fit into out of shape (3,).",
    ),
    "BOOLS - BOOLS": (
        TypeError,
        f"subtract: expected numeric ({NUMERIC}), got bool. Use ^ or vkarray.logical_xor, or convert it with astype.",
    ),
    "-BOOLS": (
        TypeError,
        f"negative: expected numeric ({NUMERIC}), got bool. Use ~ or vkarray.logical_not, or convert it with astype.",
    ),
    "bool(MATRIX)": (
        ValueError,
        "__bool__: the truth value of an array with more than one element is ambiguous; it has shape (2, 3). "
        "Use x.any() or x.all().",
    ),
    "VECTOR.__setitem__(0, np.nan)": (ValueError, "setitem: NaN is no int32. Round or mask the values first."),
    "VECTOR.__setitem__(0, 1j)": (
        TypeError,
        "setitem: a Python complex does not fit into an array of int32 without losing its imaginary part. Assign "
        "vkarray.real(value).",
    ),
    "vx.where(MATRIX, MATRIX)": (ValueError, "where: expected both x1 and x2, or neither of them."),
    "hash(MATRIX)": (
        TypeError, "__hash__: an array of shape (2, 3) has no hash. Use a number, or x.tobytes().",
    ),
    # operands
    "vx.add(MATRIX, vx.ones((2,)))": (
        ValueError,
        "add: shapes (2, 3) and (2,) could not be broadcast together: the lengths 3 and 2 differ in dimension -1 and neither is 1. "
        "Reshape or slice one of the operands.",
    ),
    "MATRIX + np.ones(3)": (
        TypeError,
        "add: got a vkarray array and a numpy.ndarray; nothing is copied to the device silently. Convert it with "
        "vkarray.asarray, or this array with numpy.asarray.",
    ),
    "vx.add(MATRIX, np.ones(3))": (
        TypeError, "add: expected arrays or Python scalars, got numpy.ndarray. Convert it with vkarray.asarray.",
    ),
    "vx.clip(MATRIX, 'low')": (TypeError, "clip: expected arrays or Python scalars, got str."),
    "VECTOR & 1.5": (
        TypeError,
        "bitwise_and: expected integer or boolean (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64), got "
        f"{WIDEST}. Convert it with astype.",
    ),
    "VECTOR + 2**40": (
        OverflowError,
        "add: the Python integer 1099511627776 is out of bounds for int32 (-2147483648 to 2147483647). Use a wider dtype "
        "(dtype=..., or astype for an array).",
    ),
    "MATRIX + 10**400": (OverflowError, "add: the Python integer of 1329 bits is out of bounds for float32."),
    "MATRIX + 10**5000": (OverflowError, "add: the Python integer of 16610 bits is out of bounds for float32."),
    "MATRIX + np.datetime64('2020')": (
        TypeError,
        "add: got a vkarray array and a numpy.datetime64; nothing is copied to the device silently. Convert it with "
        "vkarray.asarray, or this array with numpy.asarray.",
    ),
    # creation
    "vx.asarray([200], dtype=vx.int8)": (
        OverflowError,
        "asarray: the Python integer 200 is out of bounds for int8 (-128 to 127). Use a wider dtype (dtype=..., or astype "
        "for an array).",
    ),
    "vx.asarray([2**70])": (
        OverflowError, "asarray: the Python integer 1180591620717411303424 does not fit any integer dtype.",
    ),
    "vx.asarray([2**63, 1])": (
        OverflowError,
        "asarray: the Python integer 9223372036854775808 is of uint64, others are of int64. Give dtype=vkarray.uint64.",
    ),
    "vx.asarray('abc')": (
        TypeError, "asarray: expected numbers, got str ('abc'). Give a dtype to read numbers out of text.",
    ),
    "vx.asarray(['1', 'x'], dtype=vx.int32)": (
        ValueError,
        "asarray: expected numbers, or texts that show such of int32: invalid literal for int() with base 10: np.str_('x').",
    ),
    "vx.asarray([None, {1}], dtype=vx.float32)": (
        TypeError,
        "asarray: expected numbers, or texts that show such of float32: float() argument must be a string or a real number, not "
        "'set'.",
    ),
    "vx.zeros(2).__setitem__(0, 'x')": (
        ValueError,
        "asarray: expected numbers, or texts that show such of float32: could not convert string to float: np.str_('x').",
    ),
    "vx.asarray(np.ones(2), copy=False)": (
        ValueError, "asarray: copy=False, but host memory (ndarray) must be copied to the device. Use copy=None.",
    ),
    "vx.zeros((2, -1))": (ValueError, "zeros: expected integers of 0 or more as shape, got (2, -1)."),
    "vx.ones((2.5,))": (
        TypeError, "ones: expected an integer or a sequence of integers as shape, got (2.5,).",
    ),
    "vx.asarray(10**5000)": (
        OverflowError, "asarray: the Python integer of 16610 bits does not fit any integer dtype.",
    ),
    "vx.asarray([10**400], dtype=vx.float32)": (
        OverflowError, "asarray: the Python integer of 1329 bits is out of bounds for float32.",
    ),
    "vx.asarray(np.array([], dtype=object))": (
        TypeError, "asarray: expected numbers, got ndarray (array([], dtype=object)).",
    ),
    "vx.asarray(np.zeros(1, dtype=[('a', 'f4')]), dtype=vx.float32)": (
        TypeError, "asarray: expected numbers, got ndarray (array([(0.,)], dtype=[('a', '<f4')])).",
    ),
    "vx.ones_like(np.ones(2))": (
        TypeError, "ones_like: expected a vkarray array, got numpy.ndarray. Convert it with vkarray.asarray.",
    ),
    "vx.full(3, 10**400, dtype=vx.float32)": (
        OverflowError, "full: the Python integer of 1329 bits is out of bounds for float32.",
    ),
    "vx.eye(3, k=1.5)": (TypeError, f"eye: expected an integer as k, got 1.5. {WHOLE}"),
    "vx.tril(MATRIX, k=-0.5)": (TypeError, f"tril: expected an integer as k, got -0.5. {WHOLE}"),
    "vx.arange('a')": (TypeError, "arange: expected a real number as stop, got 'a'."),
    "vx.arange(float('inf'))": (
        ValueError, "arange: from 0 to inf in steps of 1 is no finite number of values.",
    ),
    "vx.arange(0, 1, float('nan'))": (
        ValueError, "arange: from 0 to 1 in steps of nan is no finite number of values.",
    ),
    "vx.arange(0, 10**400, 1.5)": (
        OverflowError, "arange: the Python integer of 1329 bits is out of bounds for float64.",
    ),
    "vx.linspace(0, 10**400, 3)": (
        OverflowError, "linspace: the Python integer of 1329 bits is out of bounds for float32.",
    ),
    "vx.arange(0, 5, 0)": (ZeroDivisionError, "arange: step is 0; expected a positive or negative number."),
    "vx.linspace(0, 1, -1)": (ValueError, "linspace: expected num of 0 or more, got -1."),
    "vx.linspace(0, 1, 2.5)": (TypeError, f"linspace: expected an integer as num, got 2.5. {WHOLE}"),
    "vx.stack([VECTOR, MATRIX])": (
        ValueError,
        "stack: expected equal shapes, got (3,), (2, 3). Reshape them, pad the shorter ones with vkarray.pad, or join them along "
        "an axis that they have with vkarray.concat.",
    ),
    "vx.sum(one for one in (1, 2))": (
        TypeError,
        "sum: expected a vkarray array, got generator. Make an array of what an iterator gives with vkarray.fromiter.",
    ),
    "vx.vectorize(3)": (TypeError, "vectorize: expected a function, got 3."),
    "vx.random.rand((2, 3))": (
        TypeError, "rand: expected lengths one by one, such as rand(2, 3), got (2, 3). Write rand(*shape).",
    ),
    "vx.zeros(2).sort(reverse=True)": (TypeError, "VkArray.sort() got an unexpected keyword argument 'reverse'"),
    # names
    "vx.randint": (AttributeError, "module 'vkarray' has no attribute 'randint': here it is vkarray.random.randint."),
    "vx.nonsense": (AttributeError, "module 'vkarray' has no attribute 'nonsense'"),
    # shapes and axes
    "vx.reshape(MATRIX, (4, 2))": (
        ValueError,
        "reshape: 6 elements of shape (2, 3) do not fill shape (4, 2). Choose lengths that multiply to 6, or -1 for one of them.",
    ),
    "vx.reshape(MATRIX, (-1, -1))": (ValueError, "reshape: only one length may be -1, got (-1, -1)."),
    "vx.tile(MATRIX, 1.5)": (
        TypeError, f"tile: expected an integer or a sequence of integers as reps, got 1.5. {WHOLE}",
    ),
    "vx.tile(MATRIX, -1)": (ValueError, "tile: expected integers of 0 or more as reps, got -1."),
    "vx.pad(MATRIX, -1)": (
        ValueError, "pad: index can't contain negative values; expected pad_width of 0 or more, got (-1, -1).",
    ),
    "vx.pad(MATRIX, 'a')": (
        TypeError, "pad: `pad_width` must be of integral type, got ('a', 'a').",
    ),
    "vx.reshape(MATRIX, 'a')": (
        TypeError, "reshape: expected an integer or a sequence of integers as shape, got 'a'.",
    ),
    "vx.permute_dims(MATRIX, 1)": (ValueError, "permute_dims: expected 2 axes for shape (2, 3), got (1,)."),
    "vx.concat(3)": (TypeError, "concat: expected a sequence of arrays, got 3."),
    "vx.sum(MATRIX, axis=np.array([0.5]))": (
        TypeError, f"sum: expected an integer or a sequence of integers as axis, got array([0.5]). {WHOLE}",
    ),
    "vx.sum(MATRIX, axis=np.array([0, 0]))": (ValueError, "sum: axis (0, 0) names a dimension twice."),
    "MATRIX.item('a')": (TypeError, "item: expected an integer as an index, got 'a'."),
    "MATRIX.diagonal('a')": (TypeError, "diagonal: expected an integer as offset, got 'a'."),
    "vx.roll(MATRIX, 1.5)": (TypeError, f"roll: expected an integer as shift, got 1.5. {WHOLE}"),
    "vx.reshape(MATRIX.T, (6,), copy=False)": (
        ValueError, "reshape: copy=False, but shape (3, 2) with strides (1, 3) has no view (6,).",
    ),
    "vx.permute_dims(MATRIX, (0,))": (ValueError, "permute_dims: expected 2 axes for shape (2, 3), got (0,)."),
    "vx.squeeze(MATRIX, 0)": (
        ValueError, "squeeze: dimension 0 has length 2; only those of length 1 go away.",
    ),
    "vx.concat([MATRIX, MATRIX[0]])": (
        ValueError,
        "concat: expected equal shapes except along axis 0, got (2, 3), (3,). Reshape them, or join them along another axis.",
    ),
    "vx.stack([])": (ValueError, "stack: expected at least one array, got none."),
    "vx.broadcast_to(MATRIX, (3,))": (
        ValueError, "broadcast_to: an array of shape (2, 3) does not broadcast to (3,).",
    ),
    "vx.sum(MATRIX, axis=2)": (
        IndexError, "sum: axis 2 is out of range for an array of 2 dimensions; expected -2 to 1.",
    ),
    "vx.sum(MATRIX, axis=(0, 0))": (ValueError, "sum: axis (0, 0) names a dimension twice."),
    "vx.max(vx.zeros((0,)))": (
        ValueError, "max: expected at least one element along the reduced axes, got shape (0,). Check the shape first.",
    ),
    "vx.cumulative_sum(MATRIX)": (
        ValueError, "cumulative_sum: axis is required for an array of 2 dimensions (shape (2, 3)).",
    ),
    "MATRIX @ MATRIX": (
        ValueError,
        "matmul: shapes (2, 3) and (2, 3) do not match: the last dimension of x1 (3) and the second to last dimension of "
        "x2 (2) differ. Transpose or reshape one of them.",
    ),
    "vx.vecdot(VECTOR, VECTOR, axis='a')": (TypeError, "vecdot: expected an integer as axis, got 'a'."),
    # indices
    "VECTOR[5]": (IndexError, "getitem: index 5 is out of bounds for axis 0 of length 3; expected -3 to 2."),
    "VECTOR[0, 0]": (
        IndexError, "getitem: too many indices: the key indexes 2 dimensions, the array has 1.",
    ),
    "MATRIX[1.5]": (
        IndexError,
        "getitem: an index must be an integer, a slice, `...`, None, or an array (or list) of integers or bools, got "
        "float (1.5). Divide with //, or convert it with int.",
    ),
    "VECTOR[1.0:2]": (TypeError, "getitem: expected integers or None in a slice, got slice(1.0, 2, None)."),
    "VECTOR[::0]": (ValueError, "getitem: expected a step other than 0, got slice(None, None, 0)."),
    "MATRIX.__setitem__(0, 10**400)": (
        OverflowError, "setitem: the Python integer of 1329 bits is out of bounds for float32.",
    ),
    "vx.take(VECTOR, vx.asarray([5])).tolist()": (
        IndexError, "take: index 5 is out of bounds for axis 0 of length 3; expected -3 to 2.",
    ),
    # statistics and random numbers
    "vx.isclose(MATRIX, 1, rtol='a')": (TypeError, "isclose: expected a real number as rtol, got 'a'."),
    "vx.isclose(MATRIX, 1, atol=10**400)": (
        OverflowError, "isclose: the Python integer of 1329 bits is out of bounds for float64.",
    ),
    "vx.diff(MATRIX, n=1.5)": (TypeError, f"diff: expected an integer as n, got 1.5. {WHOLE}"),
    "vx.bincount(VECTOR, minlength=1.5)": (TypeError, f"bincount: expected an integer as minlength, got 1.5. {WHOLE}"),
    "vx.var(MATRIX, correction='a')": (TypeError, "var: expected a real number as correction, got 'a'."),
    "vx.std(MATRIX, correction=10**400)": (
        OverflowError, "std: the Python integer of 1329 bits is out of bounds for float64.",
    ),
    "vx.histogram(MATRIX, range=5)": (TypeError, "histogram: expected range as a pair of numbers, got 5."),
    "vx.histogram(MATRIX, range=(1,))": (ValueError, "histogram: expected range as a pair of numbers, got (1,)."),
    "vx.histogram(MATRIX, range=('a', 2))": (
        TypeError, "histogram: expected a real number as a bound of range, got 'a'.",
    ),
    "vx.random.random(-1)": (ValueError, "random: expected integers of 0 or more as size, got -1."),
    "vx.random.uniform('a')": (TypeError, "uniform: expected a real number or an array as low, got 'a'."),
    "vx.random.uniform(0, 10**400)": (
        OverflowError, "uniform: the Python integer of 1329 bits is out of bounds for float64.",
    ),
    "GENERATOR.spawn('a')": (TypeError, "spawn: expected an integer as n_children, got 'a'."),
    "GENERATOR.spawn(-1)": (ValueError, "spawn: expected n_children of 0 or more, got -1."),
    "setattr(GENERATOR, 'state', {})": (
        TypeError, "state: expected a dictionary of key, position and children, got {}.",
    ),
    "setattr(GENERATOR, 'state', {'key': 1, 'position': -1, 'children': 0})": (
        ValueError, "state: expected position of 0 or more, got -1.",
    ),
    "setattr(GENERATOR, 'state', {'key': 2**64, 'position': 0, 'children': 0})": (
        ValueError, "state: expected a key of 64 bits, got 0x10000000000000000.",
    ),
    # linear algebra and Fourier transforms
    "vx.linalg.cross(MATRIX, MATRIX, axis='last')": (TypeError, "cross: expected an integer as axis, got 'last'."),
    "vx.linalg.matrix_power(MATRIX[:, :2], MATRIX[0, 0])": (
        TypeError, f"matrix_power: expected an integer as n, got array(1.). {WHOLE}",
    ),
    "vx.linalg.diagonal(MATRIX, offset=1.0)": (TypeError, f"diagonal: expected an integer as offset, got 1.0. {WHOLE}"),
    "vx.linalg.solve(MATRIX[:, :2], vx.ones(3))": (
        ValueError,
        "solve: shapes (2, 2) and (3,) do not match: the matrices have 2 rows, the right-hand sides 3.",
    ),
    "vx.fft.fft(MATRIX, norm=['ortho'])": (
        ValueError, "fft: expected norm 'backward', 'ortho' or 'forward', got ['ortho'].",
    ),
    "vx.fft.fftfreq(2.5)": (TypeError, f"fftfreq: expected an integer as the number of points n, got 2.5. {WHOLE}"),
    "vx.fft.fftfreq(BOOLS)": (
        TypeError, "fftfreq: expected an integer as the number of points n, got array([ True, False,  True]).",
    ),
    # NumPy's functions
    # conversions
    "float(COMPLEX[0])": (
        TypeError, "__float__: complex64 has no real value; use vkarray.real(x) or complex(x).",
    ),
    "[0, 1][MATRIX[0, 0]]": (TypeError, "__index__: only an integer array can be an index, got float32. Convert it with int."),
    "len(vx.asarray(1))": (TypeError, "len: an array of 0 dimensions has no length. Use x.size, or vkarray.atleast_1d."),
    "MATRIX.item()": (ValueError, "item: expected an array of one element, got shape (2, 3)."),
    "vx.astype(COMPLEX, vx.float32)": (
        TypeError, "astype: complex64 has no float32 value. Take vkarray.real(x), vkarray.imag(x) or abs(x).",
    ),
    "vx.finfo(vx.int8)": (
        ValueError,
        "finfo: expected floating-point (float16, bfloat16, float32, float64, complex64, complex128), got int8. Convert it "
        "with astype.",
    ),
    "vx.isdtype(vx.int8, 'float')": (
        ValueError,
        "isdtype: unknown kind 'float'; expected a dtype or one of bool, signed integer, unsigned integer, integral, real "
        "floating, complex floating, numeric.",
    ),
    "vx.from_dlpack([1])": (TypeError, "from_dlpack: expected an object with __dlpack__, got list."),
    "MATRIX.to_device(MATRIX.device, stream=3)": (
        ValueError, "to_device: vkarray has no streams; expected stream=None, got 3.",
    ),
    # shaders
    "vx.kernel(3)": (TypeError, "kernel: expected the text of a compute shader in GLSL, got int."),
    # switches
    "vx.config(debug='high').__enter__()": (
        vx.ConfigurationError,
        "config: debug is 'high'; expected a level from 0 to 5. 1 device and cache misses; 2 one line per dispatch "
        "with µs and GB/s; 3 variant and layout; 4 GLSL; 5 SPIR-V.",
    ),
    "vx.config(guard=2).__enter__()": (
        vx.ConfigurationError,
        "config: guard is 2; expected 0 or 1. " + next(one.text for one in SWITCHES if one.name == "guard"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", ERRORS)
def test_text(call):
    error, text = ERRORS[call]
    with pytest.raises(error) as caught:
        eval(call, globals())
    assert str(caught.value).partition(" (It was asked for at ")[0] == text


def test_missing_features_are_named(device):
    everything = {vx.int64: "int32", vx.uint64: "uint32", vx.float64: "float32", vx.complex128: "complex64"}
    with vx.config(disable="shaderInt64,shaderFloat64"):
        narrow = vx.ones((1,), device=device.index).device
        for dtype, instead in everything.items():
            with pytest.raises(vx.FeatureError) as caught:
                vx.zeros((1,), dtype=dtype, device=narrow)
            feature = "shaderInt64" if "int" in dtype.name else "shaderFloat64"
            assert caught.value.features == (feature,)
            assert str(caught.value) == (
                f"zeros: the device {narrow.name!r} has no {feature} (VKARRAY_DISABLE switches {feature} off), so {dtype} arrays "
                f"do not exist on it. Ask for {instead} (dtype=vkarray.{instead}, or astype), or choose another device."
            )


def test_missing_features_of_promoted_types_are_named(device):
    """uint32 and int32 promote to int64: the function says so, not one of its kernels."""
    promotes = r"int32 with uint32 leads to int64, and the device .* has no shaderInt64"
    with vx.config(disable="shaderInt64,shaderFloat64"):
        signed = vx.ones((2,), dtype=vx.int32, device=device.index)
        unsigned = vx.ones((2,), dtype=vx.uint32, device=device.index)
        for name in ("add", "equal", "maximum", "bitwise_or", "matmul", "isin", "searchsorted", "vecdot", "clip"):
            with pytest.raises(vx.FeatureError, match=f"^{name}: {promotes}"):
                getattr(vx, name)(signed, unsigned)
        with pytest.raises(vx.FeatureError, match=f"^concat: {promotes}"):
            vx.concat([signed, unsigned])
        with pytest.raises(vx.FeatureError, match=f"^where: {promotes}"):
            vx.where(signed > 0, signed, unsigned)


def test_out_of_memory_gives_the_figures(device):
    for shape in ((2**45,), (2**62,)):
        with pytest.raises(vx.OutOfMemoryError) as caught:
            vx.empty(shape)
        text = str(caught.value)
        asked = re.match(re.escape(device.name) + r": out of memory: ([\d,]+) bytes were asked for while \d", text)
        assert asked, text
        assert 0 <= int(asked[1].replace(",", "")) - 4 * shape[0] <= 1024  # guard bytes count, where there are some
        assert text.endswith("Drop references to large arrays or work in smaller parts.")


@pytest.mark.parametrize("given", [4, str, object, "S3", "O", np.datetime64, "M8[s]", [("name", int)], "nonsense"])
def test_data_types_that_there_are_not_say_what_to_do(given):
    with pytest.raises(TypeError, match=r"^ones: expected a data type .*, got ") as error:
        vx.ones(3, given)
    remedy = str(error.value).rpartition("complex128.")[2]
    if given == 4:
        assert remedy == " Several lengths are one tuple, as in ones((3, 4))."
    else:
        assert remedy == (
            "" if given == "nonsense" else " Keep texts, dates, objects and records in NumPy's arrays or in lists."
        )


@pytest.mark.parametrize(
    "make", [iter, lambda one: (x for x in one), lambda one: map(abs, one), lambda one: enumerate(one)]
)
def test_iterators_are_no_arrays(make):
    with pytest.raises(TypeError, match=r"^asarray: expected numbers, got .* or use vkarray\.fromiter\.$"):
        vx.asarray(make([1, 2]))


def test_arrays_of_different_devices(device):
    with vx.config(disable="subgroupQuad"):
        other = vx.ones((2,), device=device.index)
    assert other.device is not device
    with pytest.raises(ValueError, match=r"^add: the operands are on different devices, .* Move one with x\.to_device"):
        vx.ones((2,)) + other
    assert (vx.ones((2,)) + other.to_device(device)).tolist() == [2, 2]


def test_other_names_lead_to_functions():
    for name, instead in absent._NAMES.items():
        assert not hasattr(vx, name)
        assert instead[0] in "-0" or operator.attrgetter(instead)(vx) is not None
        assert absent.remedy(name) == f": here it is {'' if instead[0] in '-0' else 'vkarray.'}{instead}."


def test_absent_names_of_numpys_say_what_to_do():
    lacking = [name for name in np.__all__ if not hasattr(vx, name)]
    assert "matrix" in lacking
    for name in lacking:
        with pytest.raises(AttributeError, match=rf"^module 'vkarray' has no attribute '{name}': .{{15,}}\.$"):
            getattr(vx, name)
    with pytest.raises(AttributeError, match=r"no attribute 'no_such_name'$"):
        _ = vx.no_such_name
