"""Random numbers: the generator's published vectors, its stream word by word, and the same bits everywhere."""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import itertools
import math
import pickle
import threading

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES
from vkarray.errors import FeatureError
from vkarray.kernels import launch
from vkarray.ops.beyond.random import kernels as implementation
from vkarray.shaders import files

FLOATING = supported([vx.float32, vx.float64])
INTEGERS = supported(CATEGORIES["integer"])
STANDARD = ("random", "standard_normal", "standard_exponential")
MASK = np.uint64(0xFFFFFFFF)


def philox(counters: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Philox4x32-10 of counters of shape (n, 4), after the paper."""
    x = counters.astype(np.uint64).T
    first, second = (np.uint64(word) for word in key)
    for _ in range(10):
        low, high = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = np.stack([
            (high >> np.uint64(32)) ^ x[1] ^ first, high & MASK, (low >> np.uint64(32)) ^ x[3] ^ second, low & MASK,
        ])  # fmt: skip
        first, second = (first + np.uint64(0x9E3779B9)) & MASK, (second + np.uint64(0xBB67AE85)) & MASK
    return x.T.astype(np.uint32)


def stream(key: int, start: int, count: int, attempt: int = 0) -> np.ndarray:
    """Words of the stream of a key."""
    blocks = range(start // 4, (start + count - 1) // 4 + 1)
    counters = np.array([(block & 0xFFFFFFFF, block >> 32, attempt, 0) for block in blocks])
    words = philox(counters, (key & 0xFFFFFFFF, key >> 32)).reshape(-1)
    return words[start % 4 :][:count]


# -- the generator ----------------------------------------------------------------------------------------------

# Random123's file kat_vectors, rows philox4x32-10: counter, key, result.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words_of(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def test_known_answers() -> None:
    library = (files.source_folder() / "lib" / "philox.glsl").read_text(encoding="utf-8")
    source = f"""
        layout(binding = 0) readonly buffer Inputs {{ uint inputs[]; }};
        layout(binding = 1) writeonly buffer Outputs {{ uint outputs[]; }};
        {library}
        void main() {{
            uint n = gl_GlobalInvocationID.x;
            if (n >= 3u) return;
            uvec4 counter = uvec4(inputs[6u * n], inputs[6u * n + 1u], inputs[6u * n + 2u], inputs[6u * n + 3u]);
            uvec4 words = vx_philox(counter, uvec2(inputs[6u * n + 4u], inputs[6u * n + 5u]));
            for (uint k = 0u; k < 4u; ++k) outputs[4u * n + k] = words[k];
        }}"""
    inputs = [word for counter, key, _ in KNOWN_ANSWERS for word in words_of(f"{counter} {key}")]
    expected = [words_of(result) for *_, result in KNOWN_ANSWERS]
    result = vx.zeros((3, 4), dtype=vx.uint32)
    vx.kernel(source)(vx.asarray(inputs, dtype=vx.uint32), result, invocations=3)
    assert result.tolist() == expected
    for counter, key, answer in KNOWN_ANSWERS:
        assert philox(np.array([words_of(counter)]), tuple(words_of(key)))[0].tolist() == words_of(answer)


@pytest.mark.parametrize("key", [0, 1, 0xFEDCBA9876543210, 2**64 - 1])
def test_stream_of_words(key: int) -> None:
    generator = vx.random.default_rng(key)
    position = 0
    for count in (1, 3, 1, 4, 7, 1000, 0, 20001):
        words = np.asarray(generator.integers(2**32, size=count, dtype=vx.uint32))
        if count:
            np.testing.assert_array_equal(words, stream(key, position, count))
        position += count
    assert generator.state["position"] == position
    # The counter carries into its second word.
    generator.state = {"key": key, "position": 4 * (2**32 - 2) + 1, "children": 0}
    words = np.asarray(generator.integers(2**32, size=20, dtype=vx.uint32))
    np.testing.assert_array_equal(words, stream(key, 4 * (2**32 - 2) + 1, 20))


def test_seeds() -> None:
    def first(seed) -> list[int]:
        return vx.random.default_rng(seed).integers(2**32, size=4, dtype=vx.uint32).tolist()

    seeds = [0, 1, 2**32, 2**64 - 1, 2**64, 2**200, [1], [1, 2], (2, 1), [0, 1, 2]]
    draws = [first(seed) for seed in seeds]
    assert draws == [first(seed) for seed in seeds]
    assert draws[1] == draws[6] == first(np.int64(1))
    assert len({tuple(draw) for draw in draws}) == len(seeds) - 1
    assert first(None) != first(None)


# -- the same bits ----------------------------------------------------------------------------------------------


def draw(generator: vx.random.Generator, name: str, dtype, size: int) -> np.ndarray:
    if name == "integers":
        return np.asarray(generator.integers(3 * 2**30, size=size, dtype=vx.uint32))
    return np.asarray(getattr(generator, name)(size, dtype=dtype))


CASES = [(name, dtype) for name in STANDARD for dtype in FLOATING] + [("integers", vx.uint32)]
# SHA-256 of the first 10,001 numbers of seed 2026: the same on every device.
RECORDED = {
    ("random", "float32"): "828f44d3e24ab8e1",
    ("random", "float64"): "f111deb13a1b2183",
    ("standard_normal", "float32"): "770deecc65bdb8b9",
    ("standard_normal", "float64"): "bf29e987f5544c7c",
    ("standard_exponential", "float32"): "b7ee599eca5f179f",
    ("standard_exponential", "float64"): "325762759ae446bb",
    ("integers", "uint32"): "93511fe793194912",
}


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_recorded_bits(name: str, dtype) -> None:
    numbers = draw(vx.random.default_rng(2026), name, dtype, 10_001)
    assert hashlib.sha256(numbers.tobytes()).hexdigest()[:16] == RECORDED[name, dtype.name]


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_parts_of_a_draw_are_the_draw(name: str, dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw(vx.random.default_rng(5), name, dtype, 3000)
    generator = vx.random.default_rng(5)
    parts = [draw(generator, name, dtype, size) for size in (1, 2, 3, 5, 8, 0, 981, 2000)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    # More than 2**31 numbers come from several dispatches; here with a small limit in its place.
    monkeypatch.setattr(implementation.layout, "INDEX_LIMIT", 701)
    np.testing.assert_array_equal(draw(vx.random.default_rng(5), name, dtype, 3000), whole)


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_workgroups_do_not_matter(name: str, dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw(vx.random.default_rng(6), name, dtype, 3000)
    for size in (32, 128):
        monkeypatch.setattr(launch, "groups_for", functools.partial(launch.groups_for, workgroup_size=size))
        monkeypatch.setattr(launch, "dispatch", functools.partial(launch.dispatch, workgroup_size=size))
        np.testing.assert_array_equal(draw(vx.random.default_rng(6), name, dtype, 3000), whole)
        monkeypatch.undo()


def test_spawned_generators_and_states() -> None:
    parent, same = vx.random.default_rng(9), vx.random.default_rng(9)
    parent.random(100)
    children = [*parent.spawn(2), *parent.spawn(1)]
    assert [child.random(4).tolist() for child in children] == [child.random(4).tolist() for child in same.spawn(3)]
    assert len({child.state["key"] for child in (*children, parent)}) == 4
    state = parent.state
    numbers = parent.normal(size=7).tolist()
    parent.state = state
    assert parent.normal(size=7).tolist() == numbers


def test_threads_share_a_generator() -> None:
    generator = vx.random.default_rng(10)
    found: list[list[int]] = []

    def work() -> None:
        for _ in range(10):
            found.append(generator.integers(2**32, size=50, dtype=vx.uint32).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(itertools.chain(*found)) == sorted(stream(10, 0, 2000).tolist())


# -- numbers from words -----------------------------------------------------------------------------------------


def floats32(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of [0, 1) and of (0, 1] of words."""
    unit = (words >> 8).astype(np.float32) * np.float32(2**-24)
    return unit, unit + ((words & 0xFF) + 1).astype(np.float32) * np.float32(2**-32)


def floats64(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pairs = words.reshape(-1, 2)
    unit = ((pairs[:, 0] >> 5).astype(np.float64) * 2**26 + (pairs[:, 1] >> 6)) * 2.0**-53
    return unit, unit + 2.0**-53


def test_uniform_and_exponential_numbers_are_those_of_the_words() -> None:
    count = 5000
    unit, positive = floats32(stream(11, 0, 2 * count))
    generator = vx.random.default_rng(11)
    np.testing.assert_array_equal(np.asarray(generator.random(count)), unit[:count])
    got = np.asarray(generator.standard_exponential(count)).astype(np.float64)
    expected = -np.log(positive[count:].astype(np.float64))
    np.testing.assert_allclose(got, expected, rtol=2**-23, atol=0)  # the logarithm is within 1 ULP
    if vx.float64 in FLOATING:
        unit, positive = floats64(stream(11, 0, 4 * count))
        generator = vx.random.default_rng(11)
        np.testing.assert_array_equal(np.asarray(generator.random(count, dtype=vx.float64)), unit[:count])
        got = np.asarray(generator.standard_exponential(count, dtype=vx.float64))
        np.testing.assert_allclose(got, -np.log(positive[count:]), rtol=2**-51, atol=0)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_normal_numbers_are_those_of_the_words(dtype) -> None:
    count = 5000
    words = stream(12, 0, count * dtype.bits // 32)
    if dtype is vx.float32:
        radius = np.sqrt(-2 * np.log(floats32(words)[1][::2].astype(np.float64)))
        angle = 2 * np.pi * ((words[1::2] >> 8) | 1) / 2.0**24
    else:
        radius = np.sqrt(-2 * np.log(floats64(words)[1][::2]))
        pairs = words.reshape(-1, 2)[1::2]
        angle = 2 * np.pi * ((pairs[:, 0] >> 6) * 2.0**26 + (pairs[:, 1] >> 6) + 0.5) / 2.0**52
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
    got = np.asarray(vx.random.default_rng(12).standard_normal(count, dtype=dtype)).astype(np.float64)
    # The angle, up to 2 pi, is rounded twice (its factor and the product): half a unit of 4 each; the rest is a few units.
    bound = 8 * vx.finfo(dtype).eps * np.maximum(np.repeat(radius, 2), 1)
    assert np.all(np.abs(got - expected) <= bound)


def lemire(key: int, count: int, span: int, bits: int) -> tuple[np.ndarray, int]:
    """`count` numbers below `span` after Lemire (2019) with words of `bits` bits, and how many words were rejected."""
    per_word = bits // 32

    def words(attempt: int) -> list[int]:
        raw = stream(key, 0, count * per_word, attempt).astype(object)
        return [int(raw[k]) if bits == 32 else int(raw[2 * k]) | int(raw[2 * k + 1]) << 32 for k in range(count)]

    attempts = [words(attempt) for attempt in range(40)]
    results, rejected = [], 0
    for place in range(count):
        for attempt in attempts:
            product = attempt[place] * span
            if product % 2**bits >= 2**bits % span:
                results.append(product >> bits)
                break
            rejected += 1
    return np.array(results, object), rejected


@pytest.mark.parametrize("span", [1, 2, 6, 1000, 2**31 - 1, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32])
def test_integers_are_lemires(span: int) -> None:
    expected, rejected = lemire(13, 800, span, 32)
    assert rejected > 150 or span != 2**31 + 1
    got = vx.random.default_rng(13).integers(span, size=800, dtype=vx.uint32)
    np.testing.assert_array_equal(np.asarray(got), expected.astype(np.uint32))
    low = -(2**31)
    got = vx.random.default_rng(13).integers(low, low + span, size=800, dtype=vx.int32)
    np.testing.assert_array_equal(np.asarray(got), (expected + low).astype(np.int32))


@pytest.mark.skipif(vx.uint64 not in INTEGERS, reason="the device has no shaderInt64")
@pytest.mark.parametrize("span", [2**32 + 1, 2**40, 2**63 + 1, 3 * 2**62, 2**64 - 1, 2**64])
def test_long_integers_are_lemires(span: int) -> None:
    expected, rejected = lemire(14, 800, span, 64)
    assert rejected > 150 or span != 2**63 + 1
    got = vx.random.default_rng(14).integers(span, size=800, dtype=vx.uint64)
    np.testing.assert_array_equal(np.asarray(got), expected.astype(np.uint64))
    low = -(2**63)
    got = vx.random.default_rng(14).integers(low, low + span, size=800, dtype=vx.int64)
    np.testing.assert_array_equal(np.asarray(got), (expected + low).astype(np.int64))


@pytest.mark.parametrize("dtype", [*INTEGERS, vx.bool], ids=str)
def test_integers_of_every_type(dtype) -> None:
    low, high = (0, 1) if dtype is vx.bool else (vx.iinfo(dtype).min, vx.iinfo(dtype).max)
    generator = vx.random.default_rng(15)
    everything = generator.integers(low, high, size=(50, 40), dtype=dtype, endpoint=True)
    assert everything.dtype is dtype
    assert everything.shape == (50, 40)
    few = np.asarray(vx.random.default_rng(16).integers(high - 1, high + 1, size=99, dtype=dtype)).astype(object)
    assert set(few.tolist()) == {high - 1, high} if dtype is not vx.bool else {False, True}
    # The same words and bounds give the same integers in every type.
    of_int32 = np.asarray(vx.random.default_rng(16).integers(2, size=99, dtype=vx.int32))
    np.testing.assert_array_equal(few - (high - 1), of_int32)
    if dtype.bits == 8 and dtype is not vx.bool:
        assert len(np.unique(np.asarray(everything))) == 256


def test_default_types_and_shapes() -> None:
    generator = vx.random.default_rng(17)
    assert generator.integers(5).dtype is vx.asarray(0).dtype
    assert generator.integers(5).shape == generator.normal().shape == generator.choice(3).shape == ()
    assert generator.random((2, 0, 3)).shape == (2, 0, 3)
    assert generator.random(4).dtype is generator.normal(0.5, 2, 4).dtype is vx.float32
    assert generator.uniform(0, vx.asarray([1.0, 2.0])).shape == (2,)
    assert generator.normal(vx.zeros((3, 1)), vx.ones((1, 2))).shape == (3, 2)
    assert generator.normal(vx.zeros((3, 1)), 2, (4, 3, 2)).shape == (4, 3, 2)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_parameters_scale_the_standard_numbers(dtype) -> None:
    host = host_dtype(dtype)
    loc, scale = np.array([[-3.0], [0.1]], host), np.array([0.0, 0.7, 1e3], host)
    standard = np.asarray(vx.random.default_rng(18).standard_normal((2, 3), dtype=dtype))
    got = vx.random.default_rng(18).normal(vx.asarray(loc), vx.asarray(scale), dtype=dtype)
    np.testing.assert_array_equal(np.asarray(got), loc + scale * standard)
    got = vx.random.default_rng(18).normal(-3, 0.7, (2, 3), dtype=dtype)
    np.testing.assert_array_equal(np.asarray(got), host.type(-3) + host.type(0.7) * standard)
    unit = np.asarray(vx.random.default_rng(18).random(1000, dtype=dtype))
    np.testing.assert_array_equal(np.asarray(vx.random.default_rng(18).uniform(-2, 6, 1000, dtype=dtype)), 8 * unit - 2)
    whole = np.asarray(vx.random.default_rng(18).standard_exponential(9, dtype=dtype))
    np.testing.assert_array_equal(np.asarray(vx.random.default_rng(18).exponential(4, 9, dtype=dtype)), 4 * whole)


# -- the module and errors --------------------------------------------------------------------------------------


def test_functions_of_the_module() -> None:
    vx.random.seed(23)
    generator = vx.random.default_rng(23)
    calls = [("random", (3,)), ("uniform", (1, 2, 3)), ("normal", (1, 2, 3)), ("standard_normal", (3,)),
             ("exponential", (2, 3)), ("standard_exponential", (3,)), ("integers", (5, 9, 3)), ("permutation", (5,)),
             ("choice", (5, 3))]  # fmt: skip
    for name, arguments in calls:
        assert getattr(vx.random, name)(*arguments).tolist() == getattr(generator, name)(*arguments).tolist()
    x = vx.arange(9)
    vx.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(9))
    vx.random.seed()
    assert vx.random.random(9).tolist() != vx.random.random(9).tolist()
    assert all(getattr(vx.random, name).__doc__ for name in vx.random.__all__)
    assert list(inspect.signature(vx.random.normal).parameters) == ["loc", "scale", "size", "dtype"]


def test_the_module_outlives_its_device(device) -> None:
    with vx.config(disable="subgroupQuad"):  # a device of its own
        vx.random.seed(24)
        first = vx.random.random(5)
        assert first.device is not device
        first = first.tolist()
        generator = vx.random.default_rng(24)
        generator.device.close()
        assert [*first, *vx.random.random(4).tolist()] == vx.random.default_rng(24).random(9).tolist()
        with pytest.raises(vx.DeviceError, match="was closed"):
            generator.random(3)
        vx.random.default_rng().device.close()
    vx.random.seed()
    assert vx.random.random(2).device is device


def test_threads_share_the_generator_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vx.random, "_generator", None)
    together = threading.Barrier(8)
    found = []

    def work() -> None:
        together.wait()
        found.append(vx.random._shared())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_copies_go_on_alike() -> None:
    generator = vx.random.default_rng(25)
    generator.spawn(2)
    generator.random(3)
    copies = [copy.copy(generator), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
    expected = generator.random(4).tolist()
    child = generator.spawn(1)[0].state
    for one in copies:
        assert one.device is generator.device
        assert one.random(4).tolist() == expected
        assert one.spawn(1)[0].state == child
        assert one.state == generator.state


def test_scalars_and_arrays_of_numpys() -> None:
    generator, same = vx.random.default_rng(np.array([1, 2])), vx.random.default_rng((1, 2))
    assert (
        generator.integers(np.int8(3), np.int64(9), size=np.array([2, 3])).tolist()
        == same.integers(3, 9, (2, 3)).tolist()
    )
    assert generator.normal(np.float32(2), np.float16(3), 5).tolist() == same.normal(2.0, 3.0, 5).tolist()
    assert generator.uniform(np.int8(-100), np.int8(100), 5).tolist() == same.uniform(-100, 100, 5).tolist()
    assert generator.permutation(np.int64(6)).tolist() == same.permutation(6).tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: vx.random.default_rng(-1), ValueError, "default_rng: expected a seed of 0 or more, got -1."),
        (lambda g: vx.random.default_rng(1.5), TypeError,
         "default_rng: expected an integer or a sequence of integers as seed, got 1.5. Divide with //, or convert it with int."),
        (lambda g: g.random(3, dtype=vx.float16), TypeError,
         "random: expected dtype float32 or float64, got float16. Convert the numbers: astype."),
        (lambda g: g.random(-3), ValueError, "random: expected integers of 0 or more as size, got -3."),
        (lambda g: g.normal(0, -1), ValueError, "normal: expected scale of 0 or more, got -1."),
        (lambda g: g.normal("a"), TypeError, "normal: expected a real number or an array as loc, got 'a'."),
        (lambda g: g.normal(vx.zeros(3), 1, 4), ValueError, None),
        (lambda g: g.normal(vx.zeros((2, 3)), 1, 3), ValueError,
         "normal: a parameter of shape (2, 3) does not broadcast to (3,)."),
        (lambda g: g.uniform(0, math.inf), ValueError,
         "uniform: expected finite real numbers low and high, got 0.0 and inf."),
        (lambda g: g.uniform(2, 1), ValueError, "uniform: expected low of at most high, got 2 and 1."),
        (lambda g: g.uniform([0, 2], 1), ValueError, "uniform: expected low of at most high, got [0, 2] and 1."),
        (lambda g: g.integers(0), ValueError, "integers: there is no integer from 0 to -1; expected low below high."),
        (lambda g: g.integers(5, 5), ValueError, "integers: there is no integer from 5 to 4; expected low below high."),
        (lambda g: g.integers("a"), TypeError, "integers: expected an integer as high, got 'a'."),
        (lambda g: g.integers(math.inf), ValueError, "integers: expected a finite number as high, got inf."),
        (lambda g: g.integers(0, 257, dtype=vx.uint8), OverflowError, None),
        (lambda g: g.integers(0, 3, dtype=vx.bool), OverflowError, "integers: 2 is out of bounds for bool (0 to 1)."),
        (lambda g: g.integers(0, 3, dtype=vx.float32), TypeError, None),
        (lambda g: g.permutation(-1), ValueError, "permutation: expected x of 0 or more, got -1."),
        (lambda g: g.permutation(vx.asarray(1.0)), IndexError, None),
        (lambda g: g.shuffle((1, 2)), TypeError,
         "shuffle: expected a vkarray array or a list, got tuple. Use permutation."),
        (lambda g: g.choice(0, 1), ValueError, "choice: there is nothing to choose from: a is empty."),
        (lambda g: g.choice(3, 4, replace=False), ValueError,
         "choice: expected at most 3 elements without replacement, got size 4."),
        (lambda g: g.choice(3, 4, p=[0.5, 0.5]), ValueError,
         "choice: expected 3 probabilities in one dimension, got shape (2,)."),
        (lambda g: g.choice(2, 4, p=[0.5, 0.25]), ValueError,
         "choice: expected probabilities of 0 or more and of sum 1, got a sum of 0.75."),
        (lambda g: g.choice(2, 4, p=[1.5, -0.5]), ValueError,
         "choice: expected probabilities of 0 or more and of sum 1, got -0.5 among them."),
        (lambda g: g.choice(2, 4, p=[math.nan, 1]), ValueError,
         "choice: expected probabilities of 0 or more and of sum 1, got nan among them."),
        (lambda g: g.choice(3, 2, replace=False, p=[0, 1.0, 0]), ValueError,
         "choice: 2 elements without replacement, but only 1 probabilities are not 0."),
    ],
)  # fmt: skip
def test_errors(call, error, message: str | None) -> None:
    with pytest.raises(error) as found:
        call(vx.random.default_rng(0))
    if message is not None:
        assert str(found.value) == message


@pytest.mark.skipif(vx.float64 in FLOATING, reason="the device has float64")
def test_float64_is_refused_where_there_is_none() -> None:
    with pytest.raises(FeatureError, match=r"^random: .* has no shaderFloat64"):
        vx.random.default_rng(0).random(3, dtype=vx.float64)


def test_variants_hold_what_a_run_asks_for(device, monkeypatch: pytest.MonkeyPatch) -> None:
    known = set(implementation.variants(device))
    used = []
    kernel = launch.kernel
    monkeypatch.setattr(launch, "kernel", lambda variant, *rest: used.append(variant) or kernel(variant, *rest))
    implementation.affine.cache_clear()
    generator = vx.random.default_rng(0)
    for dtype in FLOATING:
        for name in STANDARD:
            getattr(generator, name)(5, dtype=dtype)
        generator.normal(1, 2, 5, dtype=dtype)
        generator.normal(1, 2, (3, 5), dtype=dtype)
    for dtype in INTEGERS:
        generator.integers(vx.iinfo(dtype).min, vx.iinfo(dtype).max, size=3, dtype=dtype)
    own = [variant for variant in used if "random" in variant.label]
    assert own
    assert set(own) <= known


def test_random_integers_include_the_last() -> None:
    vx.random.seed(3)
    assert sorted(set(vx.random.random_integers(3, size=100).tolist())) == [1, 2, 3]
    assert sorted(set(vx.random.random_integers(-1, 1, 100).tolist())) == [-1, 0, 1]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 2.7),
        (2.7, 5.2),
        (-1.5, 1.5),
        (0.9, np.float32(3.9)),
        (None, 7 / 2),
        ([0.9, -3.5], 3.9),
        ([0.9], [1.0, 2.5]),
        (1, [2.5]),
    ],
)
@pytest.mark.parametrize(
    "make", [lambda one: one, lambda one: one if one is None else vx.asarray(one, dtype=vx.float32)]
)
def test_bounds_of_integers_lose_their_fraction(low, high, make) -> None:
    whole = [None if one is None else np.trunc(one).astype(int).tolist() for one in (low, high)]
    if low is None:
        got, expected = (
            vx.random.default_rng(3).integers(make(high), size=9),
            vx.random.default_rng(3).integers(whole[1], size=9),
        )
    else:
        got = vx.random.default_rng(3).integers(make(low), make(high), None if isinstance(low, list) else (5, 2))
        expected = vx.random.default_rng(3).integers(*whole, None if isinstance(low, list) else (5, 2))
    assert got.dtype == expected.dtype
    assert got.tolist() == expected.tolist()


def test_functions_of_the_module_follow_the_default_device() -> None:
    vx.random.seed(3)
    expected = [vx.random.uniform(size=5).tolist() for _ in range(3)]
    vx.random.seed(3)
    first = vx.random.uniform(size=5)
    with vx.config(guard=not vx.configuration.current().guard):
        second = vx.random.uniform(size=5)
        assert second.device is vx.zeros(1).device is not first.device
        assert (second + vx.zeros(5)).tolist() == expected[1]
        second.device.close()
    third = vx.random.uniform(size=5)
    assert third.device is first.device
    assert [first.tolist(), third.tolist()] == [expected[0], expected[2]], "the stream goes on"


@pytest.mark.parametrize("wrong", [3.5, "nope", 99, [1], {}, object()])
def test_devices_that_there_are_not(wrong: object) -> None:
    for function in (vx.zeros, vx.arange, vx.asarray):
        with pytest.raises(vx.DeviceError, match="no Vulkan device matches"):
            function(3, device=wrong)
