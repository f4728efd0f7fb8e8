"""Every row of the registry, on every type it accepts, in every layout, against wider arithmetic or NumPy."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import ml_dtypes
import mpmath
import numpy as np
import pytest
from reference import (
    WIDER,
    flushed,
    flushes_subnormals,
    host_dtype,
    random_values,
    special_values,
    supported,
    ulp_errors,
)  # fmt: skip

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.dtypes import CATEGORIES
from vkarray.kernels import launch
from vkarray.kernels.rows import ROWS
from vkarray.ops import elementwise

CASES = [(name, dtype) for name, row in ROWS.items() for dtype in supported(row.accepted())]

# Largest error allowed, in ULP of the result: these are correctly rounded, everything else is within 1.
CORRECTLY_ROUNDED = {
    "add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "negative", "positive", "abs", "sign",
    "maximum", "minimum", "copysign", "floor", "ceil", "trunc", "round", "conj", "real", "imag", "clip", "floor_divide",
    "remainder",
}  # fmt: skip
# The same type as the reference: the result is defined by it, not by a real number.
SAME_TYPE = {"nextafter", "spacing"}


def operands(row, dtype) -> list[np.ndarray]:
    """Special values against each other, then random ones."""
    special = special_values(dtype)
    grids = np.meshgrid(*[special] * row.operands, indexing="ij")
    count = 3000
    columns = [np.concatenate([grid.reshape(-1), random_values(dtype, count, seed)]) for seed, grid in enumerate(grids)]
    if row.name == "pow" and "integer" in dtype.category:
        columns[1] = columns[1] % np.array(9, columns[1].dtype)  # NumPy raises for negative exponents
    return columns


def device_array(values: np.ndarray, dtype) -> vx.VkArray:
    return vx.asarray(values, dtype=dtype)


def reference(name: str, arguments: list[np.ndarray]):
    if name == "clip":
        return reference("minimum", [reference("maximum", arguments[:2]), arguments[2]])
    if name == "floor_divide" and arguments[0].dtype.kind == "f":
        # The standard prefers floor(a / b) where NumPy follows Python: one operand is infinite.
        first, second = arguments
        one_infinite = np.isinf(first) != np.isinf(second)
        return np.where(one_infinite & ~np.isnan(first + second), first / second, np.floor_divide(first, second))
    if name in ("maximum", "minimum") and arguments[0].dtype.kind == "f":
        # +0 counts as larger than -0 here; NumPy returns either.
        first, second = arguments
        zeros = (first == 0) & (second == 0)
        signs = np.signbit(first) & np.signbit(second) if name == "maximum" else np.signbit(first) | np.signbit(second)
        return np.where(zeros, np.where(signs, -0.0, 0.0), getattr(np, name)(first, second))
    if name in ("fmax", "fmin") and arguments[0].dtype.kind == "f":
        first, second = arguments
        known = reference({"fmax": "maximum", "fmin": "minimum"}[name], arguments)
        return np.where(np.isnan(first), second, np.where(np.isnan(second), first, known))
    if name == "spacing":  # ml_dtypes has a negative one of the bfloat16 number -0
        (x,) = arguments
        return np.where(x == 0, np.abs(np.spacing(x)), np.spacing(x))
    return getattr(np, name)(*arguments)


def function_of(name: str):
    return elementwise._clip if name == "clip" else getattr(elementwise, name, None) or getattr(vx, name)


def expected_values(name: str, dtype, host: list[np.ndarray]) -> np.ndarray:
    """The reference, in wider arithmetic where the result is a rounded number."""
    with np.errstate(all="ignore"):
        if name == "log1p" and dtype.category == "complex floating":
            return complex_log1p(host[0])
        if dtype.name in WIDER and name not in SAME_TYPE and ROWS[name].result != "bool":
            return reference(name, [values.astype(WIDER[dtype.name]) for values in host])
        if dtype is vx.bfloat16:
            host = [values.astype(ml_dtypes.bfloat16) for values in host]
        return reference(name, host)


def complex_log1p(values: np.ndarray) -> np.ndarray:
    """log(1 + z) by mpmath, where NumPy's own loses all digits of a small real part."""
    result = np.full(values.shape, np.nan, np.clongdouble)
    with mpmath.workprec(2400):
        for place in np.flatnonzero(np.isfinite(values) & (values != -1)):
            exact = mpmath.log(1 + mpmath.mpc(complex(values[place])))
            result.real[place] = np.longdouble(mpmath.nstr(exact.real, 25))
            # The sign of a zero says on which side of the branch cut the argument lies.
            result.imag[place] = np.copysign(np.longdouble(mpmath.nstr(exact.imag, 25)), values[place].imag)
    return result


def errors_of(name: str, dtype, host: list[np.ndarray], got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Errors in ULP (eps of the modulus for complex operands); 0 or infinity where the result is no rounded number."""
    if dtype.name not in WIDER or name in SAME_TYPE or ROWS[name].result == "bool":
        expected = expected.astype(got.dtype)
        with np.errstate(invalid="ignore"):
            return np.where((got == expected) | ((got != got) & (expected != expected)), 0, np.inf)
    if np.iscomplexobj(expected):
        return complex_errors(name, got, expected, dtype, host)
    return ulp_errors(got, expected, ROWS[name].result_dtype(dtype))


def allowed_error(name: str, dtype) -> float:
    """The bound on the error: half a unit for the correctly rounded, one for the other real functions."""
    if dtype.category == "complex floating":
        return 4.0
    if name in CORRECTLY_ROUNDED:
        return 0.5 + 2**-11  # the reference is itself rounded, to 11 bits more for float64
    return 0.501 if dtype.bits == 16 else 1.0  # computed in float32 and rounded once


def check_values(name: str, dtype, host: list[np.ndarray]) -> None:
    """Assert that the results for these operands are within the bound."""
    got = np.asarray(function_of(name)(*[device_array(values, dtype) for values in host]))
    expected = expected_values(name, dtype, host)
    errors = errors_of(name, dtype, host, got, expected)
    native = "vx_" not in ROWS[name].expression_for(dtype) or dtype.category == "complex floating"
    if native and dtype.name in WIDER and flushes_subnormals(dtype):
        # Such a driver may take subnormal operands for zeros and give zeros for subnormal results.
        with np.errstate(all="ignore"):
            zeroed = [flushed(values, dtype) for values in host]
            other = expected_values(name, dtype, zeroed)
            for candidate in (other, flushed(other, dtype) if other.dtype != bool else other):
                errors = np.minimum(errors, errors_of(name, dtype, zeroed, got, candidate))
            if dtype.category == "complex floating" and other.dtype != bool:
                # Products that it loses on the way are each below the smallest normal number.
                lost = 4 * vx.finfo(dtype).smallest_normal
                errors = np.where(np.abs(got - expected) <= lost, 0, errors)
    worst, bound = int(np.argmax(errors)), allowed_error(name, dtype)
    assert errors[worst] <= bound, (
        f"{name} of {dtype}: error {errors[worst]:.4g} (allowed {bound}) at {[values[worst] for values in host]}: "
        f"got {got[worst]!r}, expected {expected[worst]!r}; {np.sum(errors > bound)} of {errors.size} are off"
    )


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda value: str(value))
def test_values(name, dtype):
    check_values(name, dtype, operands(ROWS[name], dtype))


NUMPY_NAMES = {"atan2": "arctan2"}
OF_TWO_FLOATS = [name for name, row in ROWS.items() if row.operands == 2 and row.integers == "by width"]


@pytest.mark.usefixtures("numpy_types")
@pytest.mark.parametrize("name", OF_TWO_FLOATS)
def test_integers_of_different_types_compute_in_the_type_that_numpy_takes(name):
    function = getattr(np, NUMPY_NAMES.get(name, name))
    integers = supported(CATEGORIES["integer or boolean"])
    for first, second in itertools.product(integers, integers):
        with np.errstate(all="ignore"):
            expected = dtypes.DTYPES[function(np.ones(1, first.name), np.ones(1, second.name)).dtype.name]
        found = function_of(name)(vx.ones((1,), dtype=first), vx.ones((1,), dtype=second)).dtype
        assert found is (expected if supported([expected]) else vx.float32), (
            f"{name} of {first} and {second} gives {found}, NumPy {expected}"
        )


@pytest.mark.parametrize("name", ROWS)
def test_values_of_many_workgroups(name):
    """A million elements and three, in the first type of these that the row takes."""
    row = ROWS[name]
    dtype = next(dtype for dtype in (vx.float32, vx.int32, vx.bool, vx.complex64) if dtype in row.accepted())
    host = [random_values(dtype, 1_000_003, seed) for seed in range(row.operands)]
    check_values(name, dtype, host)


def complex_errors(name: str, got: np.ndarray, expected: np.ndarray, dtype, operands) -> np.ndarray:
    """|got - expected| in eps of the modulus where operands and result are finite (other values: test_complex.py)."""
    limits = vx.finfo(dtype)
    with np.errstate(all="ignore"):
        modulus = np.maximum(np.abs(expected), limits.smallest_normal)
        errors = np.abs(got.astype(expected.dtype) - expected) / modulus / limits.eps
        finite = np.logical_and.reduce([np.isfinite(values) for values in (expected, *operands)])
        representable = finite & (np.abs(expected) <= limits.max / 4)
    if name == "exp2":  # as a power of 2
        operands = [np.full_like(operands[0], 2), operands[0]]
    if name in ("pow", "exp2"):
        # exp(w log z) turns by an angle that is known only so far: by vkarray up to 2^19 (documented), by this
        # reference up to 2^8 for complex128 (beyond, the accuracy report uses mpmath).
        with np.errstate(all="ignore"):
            angle = (operands[1].astype(expected.dtype) * np.log(operands[0].astype(expected.dtype))).imag
            representable &= np.abs(angle) < (2**19 if dtype is vx.complex64 else 2**8)
    return np.where(representable, np.where(np.isnan(errors), np.inf, errors), 0).astype(float)


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda value: str(value))
def test_layouts(name, dtype):
    """Views give the same bits as contiguous arrays: strided, reversed, transposed, broadcast, 0-d, empty, offset."""
    row, function = ROWS[name], function_of(name)
    host = [np.resize(values, 24) for values in operands(row, dtype)]
    arrays = [device_array(values, dtype) for values in host]
    flat = bits(function(*arrays))
    doubled = [device_array(np.repeat(values, 2), dtype) for values in host]

    def check(expected, *inputs):
        np.testing.assert_array_equal(bits(function(*inputs)), expected, f"{name} of {dtype} depends on the layout")

    check(flat, *[array[::2] for array in doubled])
    check(flat[::-1], *[array[::-1] for array in arrays])
    check(flat[1:], *[array[1:] for array in arrays])
    matrices = [vx.reshape(array, (4, 6)).T for array in arrays]
    check(flat.reshape(4, 6, -1).swapaxes(0, 1), *matrices)
    check(flat[:0], *[array[:0] for array in arrays])
    check(flat[5], *[array[5] for array in arrays])
    check(np.broadcast_to(flat, (3, *flat.shape)), *[vx.broadcast_to(array, (3, 24)) for array in arrays])
    if row.operands == 2:
        first, second = arrays
        outer = bits(
            function(vx.broadcast_to(first, (24, 24)), vx.permute_dims(vx.broadcast_to(second, (24, 24)), (1, 0)))
        )
        np.testing.assert_array_equal(
            outer[range(24), range(24)], flat, f"{name} of {dtype}: broadcast in both directions"
        )
        check(outer, first, vx.reshape(second, (24, 1)))
        check(outer[3], first, second[3])


def bits(array: vx.VkArray) -> np.ndarray:
    """The values as raw bytes along a last axis, so that NaN and signs of zeros count."""
    values = np.ascontiguousarray(np.asarray(array))
    return values.view(np.uint8).reshape(*array.shape, values.dtype.itemsize)


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.int8, vx.complex64]), ids=str)
def test_large(dtype):
    """More elements than one row of workgroups, an odd number of them."""
    values = random_values(dtype, 1_000_003)
    if dtype in CATEGORIES["floating-point"] and flushes_subnormals(dtype):
        values = np.nan_to_num(flushed(values, dtype))  # such a driver need not keep the bits of NaN either
    x = device_array(values, dtype)
    np.testing.assert_array_equal(bits(-x), bits(device_array(-values, dtype)), "negative of 1,000,003 elements")
    np.testing.assert_array_equal(bits(-x[::-1]), bits(device_array(-values, dtype))[::-1], "the same, reversed")


def test_square_root_of_every_significand():
    """Two binades hold each of them with each parity of the exponent; float32 is rounded right for all."""
    values = np.arange(0x3F000000, 0x40000000, dtype=np.uint32).view(np.float32)
    wrong = np.flatnonzero(np.asarray(vx.sqrt(vx.asarray(values))) != np.sqrt(values))
    assert wrong.size == 0, f"{wrong.size} roots are off, the first of {values[wrong[0]]!r}"


@pytest.mark.parametrize("dtype", supported(CATEGORIES["integer"]), ids=str)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts_by_the_width_and_beyond(name, dtype):
    """Every bit goes out; GLSL leaves such shifts undefined, and they differ by device."""
    info = np.iinfo(host_dtype(dtype))
    counts = [0, 1, info.bits - 1, info.bits, info.bits + 1, 2 * info.bits - 1, 2 * info.bits, info.max]
    counts += [-1, -info.bits, info.min] if info.min else []
    counts = [count for count in counts if count <= info.max]
    values, count = np.meshgrid(*(np.array(part, info.dtype) for part in ([1, 2, 5, info.min, info.max], counts)))
    got = np.asarray(function_of(name)(device_array(values, dtype), device_array(count, dtype)))
    outside = (count < 0) | (count >= info.bits)
    left = [
        0 if out and (name == "bitwise_left_shift" or value >= 0) else -1 if out
        else value << step if name == "bitwise_left_shift" else value >> step
        for value, step, out in zip(values.ravel().tolist(), count.ravel().tolist(), outside.ravel(), strict=True)
    ]  # fmt: skip
    modulo = np.array([value % 2**info.bits for value in left], f"u{info.bits // 8}").view(info.dtype)
    np.testing.assert_array_equal(got, modulo.reshape(got.shape))


def other_operands(x: vx.VkArray) -> dict[str, object]:
    """What the second operand may be besides one more array like x (8 int32 numbers), each with an `add` of its own."""
    wide = device_array(np.arange(16, dtype=np.int32), vx.int32)
    return {
        "another type": device_array(np.arange(8, dtype=np.uint8), vx.uint8),
        "another type that promotes": device_array(np.arange(8, dtype=np.uint16), vx.uint16),
        "one element": device_array(np.array([7], np.int32), vx.int32),
        "another shape": device_array(np.arange(64, dtype=np.int32).reshape(8, 8), vx.int32),
        "a strided view": wide[::2],
        "a reversed view": x[::-1],
        "a view that is not aligned": wide[3:11],
        "a Python scalar": 5,
    }


@pytest.mark.parametrize("name", other_operands(vx.zeros(8, dtype=vx.int32)))
def test_a_call_like_the_last_but_for_one_operand(name):
    """What is kept of a call serves the next one only if every operand is alike."""
    values = np.arange(8, dtype=np.int32) * 100
    x = device_array(values, vx.int32)
    other = other_operands(x)[name]
    host = np.asarray(other) if isinstance(other, vx.VkArray) else other
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(x + x), values + values)
        for first, second, expected in ((x, other, values + host), (other, x, host + values)):
            np.testing.assert_array_equal(np.asarray(first + second), expected, f"int32 and {name}")


@pytest.mark.parametrize(("kind", "access"), [("gpu", "strided"), ("cpu", "flat")])
def test_packs_have_aligned_addresses(kind, access, device, monkeypatch):
    """Their loads move 16 bytes; some devices give wrong values where the address is no multiple of them.

    GPUs take the strided kernel then, CPU drivers the flat one of single elements.
    """
    values = np.arange(40000, dtype=np.int32)
    x = device_array(values, vx.int32)
    dispatch, ran = device.dispatch, []
    monkeypatch.setattr(device, "dispatch", lambda kernel, *rest: (ran.append(kernel.name), dispatch(kernel, *rest)))
    monkeypatch.setattr(type(device.limits), "kind", kind)
    for count in (8, 30000):
        add = launch.Operation(f"add {count} of {kind}", "a + b", (vx.int32, vx.int32), vx.int32, vx.int32)
        for first, second, expected in ((4, 4, "flat"), (4, 3, access), (3, 4, access), (4, 8, "flat")):
            ran.clear()
            result = launch.elementwise(
                add, (x[first : first + count], x[second : second + count]), vx.empty(count, dtype=vx.int32)
            )
            np.testing.assert_array_equal(np.asarray(result), values[first:][:count] + values[second:][:count])
            assert ["(strided)" in name for name in ran] == [expected == "strided"] * len(ran), (count, first, second)
            if kind == "cpu" and (first | second) % 4:
                assert len(ran) == 1


@pytest.mark.parametrize("dtype", supported(dtypes.DTYPES.values()), ids=str)
@pytest.mark.parametrize("kind", ["gpu", "cpu"])
def test_parts_of_flat_arrays(kind, dtype, device, monkeypatch):
    """Whole workgroups and what is left of them, as either kind of device takes them."""
    monkeypatch.setattr(launch, "_FEW", 8192)
    monkeypatch.setattr(type(device.limits), "kind", kind)
    minimum = launch.Operation(f"parts {dtype}", "c ? a : b", (dtype, dtype, vx.bool), dtype, dtype)
    compare = launch.Operation(f"part {dtype}", "c", (dtype, dtype, vx.bool), vx.bool, dtype)
    for count in (1, 8191, 32768, 32773):
        first, second = (random_values(dtype, count, seed) for seed in range(2))
        chosen = np.arange(count) % 3 == 0
        x, y, z = device_array(first, dtype), device_array(second, dtype), vx.asarray(chosen)
        for _ in range(2):
            result = launch.elementwise(minimum, (x, y, z), vx.empty(count, dtype=dtype))
            np.testing.assert_array_equal(np.asarray(result), np.where(chosen, first, second), f"{count} elements")
        result = launch.elementwise(minimum, (x, y[-1], z), vx.empty(count, dtype=dtype))
        np.testing.assert_array_equal(np.asarray(result), np.where(chosen, first, second[-1]), f"{count} elements")
        result = launch.elementwise(compare, (x, y, z), vx.empty(count, dtype=vx.bool))
        np.testing.assert_array_equal(np.asarray(result), chosen)


def test_more_workgroups_than_a_dispatch_has_in_one_dimension(device, monkeypatch):
    """On a CPU device every workgroup of a whole part is full, however they are laid out."""
    small = dataclasses.replace(device.limits, max_workgroup_count=(3, 65535, 65535), is_cpu=True)
    monkeypatch.setattr(device, "limits", small)
    values = np.arange(100_000, dtype=np.int32)
    operation = launch.Operation("fold int32", "a - 1", (vx.int32,), vx.int32, vx.int32)
    result = launch.elementwise(operation, (device_array(values, vx.int32),), vx.empty(100_000, dtype=vx.int32))
    np.testing.assert_array_equal(np.asarray(result), values - 1)
    parts = {part for part, *_ in operation.kernels[device, True][0]}
    assert parts == {"texels" if operation.as_texels(device) else "whole", "single"}


def test_a_call_like_the_last_but_on_another_device():
    x = vx.ones(8, dtype=vx.int32)
    with vx.config(disable="subgroupQuad"):
        y = vx.ones(8, dtype=vx.int32, device=0)
    assert y.device is not x.device
    np.testing.assert_array_equal(np.asarray(x + x), 2)
    np.testing.assert_array_equal(np.asarray(y + y), 2)
    for first, second in ((x, y), (y, x)):
        with pytest.raises(ValueError, match=r"^add: the operands are on different devices"):
            first + second


def test_high_rank():
    """32 dimensions that do not merge."""
    shape = (2, 1) * 16
    values = np.arange(2**16, dtype=np.float32).reshape(shape)
    order = tuple(30 - axis if axis % 2 == 0 else axis for axis in range(32))
    x = vx.reshape(vx.asarray(values.reshape(-1)), shape)
    y = vx.permute_dims(x, order)
    np.testing.assert_array_equal(np.asarray(x + y), values + values.transpose(order))
    np.testing.assert_array_equal(np.asarray(y * y), values.transpose(order) ** 2)


def test_host_dtype_of_every_type():
    for dtype in supported(dtypes.DTYPES.values()):
        assert np.asarray(vx.zeros(1, dtype=dtype)).dtype == host_dtype(dtype)


@pytest.mark.parametrize("name", ["add", "less", "logical_and", "copysign", "where"])
@pytest.mark.parametrize(
    "types", [("int32", "float32"), ("float16", "float32"), ("bool", "int32"), ("float32", "uint8")]
)
def test_operands_of_different_types_take_one_dispatch_and_give_the_bits_of_converted_ones(name, types, device):
    values = np.array([0, -0.0, 1, -2.5, 3, np.inf, np.nan, 7] * 40, "f4")
    x, y = (
        vx.astype(vx.asarray(one), getattr(vx, kind)) for one, kind in zip((values, values[::-1]), types, strict=True)
    )
    call = functools.partial(vx.where, vx.ones((1,), dtype=vx.bool)) if name == "where" else getattr(vx, name)
    common = vx.result_type(x, y)
    for first, second in ((x, y), (x[::2], y[1::2]), (x.reshape(16, 20).T, y.reshape(20, 16)), (x[:1], y)):
        expected = call(first.astype(common), second.astype(common))
        serial = device.queue.serial
        found = call(first, second)
        assert device.queue.serial - serial == 1
        assert found.dtype is expected.dtype
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def test_results_are_converted_to_the_type_of_the_target_in_the_same_dispatch(device):
    wide = supported([vx.int64, vx.int32])[-1]
    target, other = vx.arange(300, dtype=wide), vx.arange(300, dtype=vx.int16)
    expected = np.asarray(target) + np.asarray(other)
    serial = device.queue.serial
    target += other
    assert device.queue.serial - serial == 1
    assert np.array_equal(np.asarray(target), expected)


WIDENED = ("floor_divide", "remainder", "left_shift", "right_shift", "maximum", "less_equal", "abs", "sign", "multiply")


@pytest.mark.parametrize("name", WIDENED)
def test_integers_that_are_widened_where_they_are_read_keep_their_sign(name):
    """Mesa 22.3 compares an int64_t(int) with a constant as if both were unsigned."""
    values = np.array([-128, -7, -2, -1, 0, 1, 2, 5, 127])
    narrow = supported((vx.int8, vx.int16, vx.int32, vx.uint8, vx.uint32))
    for source, target in itertools.product(narrow, supported((vx.int64, vx.int32))):
        x = vx.asarray(np.repeat(values, 9).astype(source.name))
        y = vx.asarray(np.tile(values, 9).astype(target.name))
        if vx.result_type(x, y) is not target:
            continue
        wide = vx.astype(x, target)
        if name in ("abs", "sign"):
            found, expected = (
                vx.compile(lambda x, y: getattr(vx, name)(vx.astype(x, y.dtype)))(x, y),
                getattr(vx, name)(wide),
            )
        else:
            found, expected = getattr(vx, name)(x, y), getattr(vx, name)(wide, y)
            compiled = vx.compile(lambda x, y: getattr(vx, name)(vx.astype(x, y.dtype), y))(x, y)
            np.testing.assert_array_equal(np.asarray(compiled), np.asarray(expected), err_msg=f"{source} {target}")
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected), err_msg=f"{source} {target}")
