"""Values that operators do not take (indices, classes, probabilities, divisors) raise what the CPU raises, at the next read."""

from __future__ import annotations

import pytest
import torch
from checks import needs_int64
from torch.nn import functional as F

import vkarray.torch  # noqa: F401 - the device

DEVICE = "vulkan"
pytestmark = needs_int64


def _outcome(call, where):
    """The type of the error of a call with an array (4, 6), or what it computed."""
    torch.manual_seed(0)
    x = torch.linspace(-1, 1, 24).reshape(4, 6).to(where)
    try:
        made = call(x)
        if where == DEVICE:
            torch.vulkan.synchronize()
    except (IndexError, RuntimeError, ValueError) as error:
        return type(error), str(error)
    return [one.cpu() for one in (made if isinstance(made, tuple) else (made,))]


def _assert_as_on_the_cpu(call):
    expected, got = _outcome(call, "cpu"), _outcome(call, DEVICE)
    if isinstance(expected, tuple):
        assert isinstance(got, tuple), f"expected {expected[0].__name__} ({expected[1]}), got {got}"
        assert got[0] is expected[0], got
    else:
        assert not isinstance(got, tuple), got
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6, equal_nan=True)
    return got


# -- indices ----------------------------------------------------------------------------------------------------------

# By the operator that the error names: calls with an array (4, 6) and three indices into its first dimension.
INDEXED = {
    "embedding": lambda x, i: F.embedding(i, x),
    "index_select": lambda x, i: x.index_select(0, i),
    "gather": lambda x, i: x.gather(0, i[:, None]),
    "scatter": lambda x, i: x.scatter(0, i[:, None], x[:3]),
    "scatter, a number": lambda x, i: x.scatter(0, i[:, None], 2.0),
    "scatter, in place": lambda x, i: x.clone().scatter_(0, i[:, None], x[:3]),
    "scatter, reduced": lambda x, i: x.scatter(0, i[:, None], x[:3], reduce="add"),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None], x[:3]),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[:, None], x[:3], "amax"),
    "scatter_reduce, mean": lambda x, i: x.scatter_reduce(0, i[:, None], x[:3], "mean"),
    "index_add": lambda x, i: x.index_add(0, i, x[:3]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:3]),
    "index_reduce": lambda x, i: x.index_reduce(0, i, x[:3], "prod"),
    "index_fill": lambda x, i: x.index_fill(0, i, 7.0),
    "index": lambda x, i: x[i],
    "index, twice": lambda x, i: x[i, i],
    "index_put": lambda x, i: x.index_put((i,), x[0, 0]),
    "index_put, accumulated": lambda x, i: x.index_put((i,), x[:3], accumulate=True),
    "take": lambda x, i: x[:, 0].take(i),
    "put": lambda x, i: x[:, 0].contiguous().put(i, x[0, :1].expand(3)),  # of values for one place any may stay
    "nll_loss": lambda x, i: F.nll_loss(x.T[:3], i),
    "nll_loss, each": lambda x, i: F.nll_loss(x.T[:3], i, reduction="none"),
    "nll_loss, weighted": lambda x, i: F.cross_entropy(x.T[:3], i, weight=x[:, 5]),
    "nll_loss, an ignored class": lambda x, i: F.cross_entropy(x.T[:3], i, ignore_index=-1),
    "nll_loss, smoothed": lambda x, i: F.cross_entropy(x.T[:3], i, label_smoothing=0.1),
    "nll_loss, images": lambda x, i: F.nll_loss(x.T[:3, :, None, None], i[:, None, None]),
    "multi_margin_loss": lambda x, i: F.multi_margin_loss(x.T[:3], i),
    "embedding_bag": lambda x, i: F.embedding_bag(i, x, torch.tensor([0, 2], device=x.device)),
    "embedding_bag, largest": lambda x, i: F.embedding_bag(i, x, torch.tensor([0, 2], device=x.device), mode="max"),
    "scatter_, classes": lambda x, i: F.one_hot(i, 4),
}  # fmt: skip
_MARGIN, _ONE_HOT = "multi_margin_loss", "scatter_, classes"


@pytest.mark.parametrize("name", INDEXED)
def test_indices_out_of_range_raise_what_the_cpu_raises(name):
    call, operator = INDEXED[name], name.partition(",")[0]
    for value in (-1, 3, -4, 4, -5, -100, 1 << 40, -(1 << 40)):

        def indexed(x, value=value):
            return call(x, torch.tensor([0, value, 1], device=x.device))

        got = _assert_as_on_the_cpu(indexed)
        if isinstance(got, tuple):
            words = got[1].split()
            assert words[0] == f"{operator.rstrip('_')}:", got
            assert str(value) in words, got
            assert "size 4" in got[1] or (operator == _MARGIN and "4 classes" in got[1]), got
            assert "dimension" in got[1] or operator == _MARGIN, got


def test_the_dimension_of_an_index_is_named():
    x = torch.ones(2, 3, 4, device=DEVICE)
    index = torch.tensor([3], device=DEVICE)
    for call in (
        lambda: x.index_select(1, index), lambda: x.gather(1, index.reshape(1, 1, 1)), lambda: x[:, index],
        lambda: x.index_add(1, index, x[:, :1]), lambda: x.index_copy(1, index, x[:, :1]),
        lambda: x.scatter_add(1, index.reshape(1, 1, 1), x), lambda: x.index_fill(1, index, 2.0),
    ):  # fmt: skip
        with pytest.raises((IndexError, RuntimeError), match="index 3 is out of bounds for dimension 1 with size 3"):
            call().cpu()


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_negative_indices_of_each_type_are_errors(dtype):
    index = torch.tensor([-1], dtype=dtype, device=DEVICE)
    with pytest.raises(IndexError, match="embedding: index -1"):
        F.embedding(index, torch.ones(3, 2, device=DEVICE)).cpu()
    with pytest.raises(IndexError, match="index_select: index -1"):
        torch.ones(3, 2, device=DEVICE).index_select(0, index).cpu()


# -- other values -----------------------------------------------------------------------------------------------------


def _integers(x, *values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype, device=x.device)


def _each(name, values, call):
    return {f"{name} {value}": lambda x, value=value: call(x, value) for value in values}


_P = (-0.1, 0.0, 1.0, 1.1, float("nan"))
# Calls with an array (4, 6). What is drawn at random is multiplied by 0: it differs from the CPU.
VALUES = {
    **_each("binary_cross_entropy", _P, lambda x, v: F.binary_cross_entropy(torch.full_like(x, v), x.sigmoid())),
    **_each("its target", _P, lambda x, v: F.binary_cross_entropy(x.sigmoid(), torch.full_like(x, v))),
    **_each("bernoulli", _P, lambda x, v: torch.bernoulli(torch.full_like(x, v)) * 0),
    **_each("bernoulli_", _P, lambda x, v: x.clone().bernoulli_(torch.full_like(x, v)) * 0),
    **_each("bernoulli, a number", _P, lambda x, v: torch.bernoulli(x, v) * 0),
    **_each("native_dropout", (-0.1, 1.1), lambda x, v: torch.native_dropout(x, v, True)[0] * 0),
    **_each("multinomial", (-0.1, 0.0, 1.0, float("nan"), float("inf")),
            lambda x, v: torch.multinomial(torch.full_like(x[0], v), 1) * 0),
    **_each("normal", (-1.0, 0.0, float("nan")), lambda x, v: torch.normal(x, v) * 0),
    **_each("normal of tensors", (-1.0, 0.0), lambda x, v: torch.normal(x, torch.full_like(x, v)) * 0),
    **_each("cauchy_", (0.0, float("nan")), lambda x, v: x.clone().cauchy_(0, v) * 0),
    **_each("log_normal_", (0.0, float("nan")), lambda x, v: x.clone().log_normal_(0, v) * 0),
    **_each("exponential_", (0.0, float("nan")), lambda x, v: x.clone().exponential_(v) * 0),
    **_each("random_", (256, 257), lambda x, v: x.to(torch.uint8).random_(0, v) * 0),
    **_each("random_ of halves", (2000, 100000), lambda x, v: x.half().random_(0, v) * 0),
    **_each("repeat", (-1, 0, 2), lambda x, v: x.repeat(1, v)),
    **_each("repeat_interleave", (-1, 0, 2), lambda x, v: x[:3].repeat_interleave(_integers(x, 1, v, 2), 0)),
    **_each("repeats", (-1, 0, 2), lambda x, v: torch.repeat_interleave(_integers(x, 1, v, 2))),
    **_each("repeats, a number", (-1, 0, 2), lambda x, v: x.repeat_interleave(v, 0)),
    **_each("repeats of a size", (-1, 1, 2),
            lambda x, v: x[:3].repeat_interleave(_integers(x, 1, v, 1), 0, output_size=3)),
    **_each("bags that begin", ((0, 2), (1, 2), (0, 4), (2, 0)),
            lambda x, v: F.embedding_bag(_integers(x, 0, 1, 2), x, _integers(x, *v))),
    **_each("multilabel_margin_loss", (-2, -1, 1, 6),
            lambda x, v: F.multilabel_margin_loss(x, _integers(x, 0, v, 2, 3, -1, 4).expand(4, 6))),
    **_each("one row of it", (-2, -1, 1, 6), lambda x, v: F.multilabel_margin_loss(x[0], _integers(x, 0, v, 2, 3, -1, 4))),
    **_each("max_unpool2d", (-1, 0, 95, 96),
            lambda x, v: F.max_unpool2d((x * 0 + 1)[None, None], torch.full_like(x, v).long()[None, None], 2)),
    **_each("masked_scatter", (5, 24, 30), lambda x, v: x.masked_scatter(x > -9, torch.arange(float(v), device=x.device))),
    **_each("bincount", (-1, 0, 3), lambda x, v: torch.bincount(_integers(x, 1, v))),
    **_each("sorter", (-1, 0, 6), lambda x, v: torch.searchsorted(x[0], x, sorter=torch.full_like(x[0], v).long())),
    **_each("quantile", (-0.1, 0.5, 1.1), lambda x, v: x.quantile(torch.tensor([0.3, v], device=x.device))),
    **_each("smooth_l1_loss", (-1.0, 0.5), lambda x, v: F.smooth_l1_loss(x, x * 2, beta=v)),
    **_each("cdist", (-1.0, 0.0, 1.0), lambda x, v: torch.cdist(x, x, p=v)),
    **_each("pow", (-2, 0, 3), lambda x, v: _integers(x, 1, 2, 3) ** v),
    **_each("pow of tensors", (-2, 0, 3), lambda x, v: _integers(x, -1, 1, 2) ** _integers(x, 0, v, v)),
    **{f"grid_sample {mode} {padding} {value}": lambda x, mode=mode, padding=padding, value=value: F.grid_sample(
        x[None, None], torch.full((1, 2, 2, 2), value, device=x.device), mode, padding, False)
        for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")
        for value in (float("nan"), float("inf"), -float("inf"), 3.0)},
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.filterwarnings("ignore")
def test_values_that_the_cpu_refuses_are_refused(name):
    _assert_as_on_the_cpu(VALUES[name])


# -- division of integers ---------------------------------------------------------------------------------------------

DIVISIONS = {
    "floor_divide": torch.floor_divide, "remainder": torch.remainder, "fmod": torch.fmod,
    "div, floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "div, trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "//": lambda a, b: a // b, "%": lambda a, b: a % b, "true division": torch.div,
    "floor_divide in place": lambda a, b: a.clone().floor_divide_(b),
    "remainder in place": lambda a, b: a.clone().remainder_(b), "fmod in place": lambda a, b: a.clone().fmod_(b),
    "out": lambda a, b: torch.floor_divide(a, b, out=a.clone()),
}  # fmt: skip
DIVISORS = {
    "a tensor with 0": lambda a: torch.arange(4, device=a.device).to(a.dtype), "0": lambda a: 0,
    "a tensor without 0": lambda a: torch.arange(1, 5, device=a.device).to(a.dtype), "2": lambda a: 2,
    "a tensor of no dimension": lambda a: torch.zeros((), dtype=a.dtype, device=a.device),
    "one on the CPU": lambda a: torch.zeros((), dtype=a.dtype), "bools": lambda a: a > 2,
    "expanded": lambda a: torch.zeros(1, dtype=a.dtype, device=a.device).expand(4), "0.0": lambda a: 0.0,
    "floats": lambda a: torch.zeros(4, device=a.device),
}  # fmt: skip


@pytest.mark.parametrize("name", DIVISIONS)
def test_division_of_integers_by_zero_is_refused(name):
    divide = DIVISIONS[name]
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        for divisor in DIVISORS.values():

            def divided(x, dtype=dtype, divisor=divisor):
                dividend = torch.arange(1, 5, device=x.device).to(dtype)
                return divide(dividend, divisor(dividend))

            _assert_as_on_the_cpu(divided)
    _assert_as_on_the_cpu(lambda x: divide(_integers(x)[:0], _integers(x, 0)))
    _assert_as_on_the_cpu(lambda x: divide(_integers(x)[:0], 0))
    _assert_as_on_the_cpu(lambda x: divide(_integers(x, 1, 2), _integers(x, 0, 1, 0)))  # shapes that do not broadcast
    if "place" not in name:
        for dividend in (7, True):
            _assert_as_on_the_cpu(lambda x, dividend=dividend: divide(torch.tensor(dividend), _integers(x, 1, 0)))


@pytest.mark.parametrize("divide", [torch.remainder, torch.fmod, torch.pow])
def test_bools_are_not_divided(divide):
    for where in ("cpu", DEVICE):
        bools = torch.tensor([True, False], device=where)
        with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
            divide(bools, bools)


# -- when errors are told ---------------------------------------------------------------------------------------------


# (call of a tensor that is looked at, values that it takes, values that it does not take)
REPEATED = {
    "embedding": (lambda i: F.embedding(i, torch.ones(4, 2, device=DEVICE)), (0, 3), (0, -1)),
    "gather": (lambda i: torch.ones(4, device=DEVICE).gather(0, i), (0, 3), (4, 0)),
    "floor_divide": (lambda i: torch.ones_like(i) // i, (1, 2), (1, 0)),
    "remainder, in place": (lambda i: torch.ones_like(i).remainder_(i), (1, 2), (1, 0)),
    "nll_loss": (lambda i: F.nll_loss(torch.ones(2, 4, device=DEVICE), i), (0, 3), (0, 4)),
    "repeats": (lambda i: i.repeat_interleave(i, output_size=3), (1, 2), (4, -1)),
}  # fmt: skip


@pytest.mark.parametrize("name", REPEATED)
def test_calls_that_come_again_are_checked_each_time(name):
    call, good, bad = REPEATED[name]
    with torch.no_grad():
        for _ in range(5):
            expected = call(torch.tensor(good, device=DEVICE)).cpu()
        for _ in range(2):
            with pytest.raises((IndexError, RuntimeError), match=f"^{name.partition(',')[0].rstrip('s')}"):
                call(torch.tensor(bad, device=DEVICE)).cpu()
            torch.testing.assert_close(call(torch.tensor(good, device=DEVICE)).cpu(), expected)


# -- numbers of the host that a type cannot hold -----------------------------------------------------------------------

# Calls with an array and a number, which the CPU converts to the array's type.
CONVERTED = {
    "clamp": lambda x, v: x.clamp(v, 100),
    "clamp, in place": lambda x, v: x.clone().clamp_(max=v),
    "clamp_min": lambda x, v: x.clamp_min(v),
    "clamp_max": lambda x, v: x.clamp_max(v),
    "clamp by tensors": lambda x, v: x.clamp(x, torch.tensor(int(v)).to(x.dtype).to(x.device)),
    "_foreach_clamp_min": lambda x, v: torch._foreach_clamp_min([x], v)[0],
    "hardtanh": lambda x, v: F.hardtanh(x, 1, max(v, 1)),
    "threshold": lambda x, v: F.threshold(x, 1, v),
    "fill_": lambda x, v: x.clone().fill_(v),
    "masked_fill": lambda x, v: x.masked_fill(x > 1, v),
    "masked_fill, in place": lambda x, v: x.clone().masked_fill_(x > 1, v),
    "index_fill": lambda x, v: x.index_fill(0, torch.tensor([1], device=x.device), v),
    "scatter": lambda x, v: x.scatter(0, torch.tensor([1], device=x.device), v),
    "scatter, reduced": lambda x, v: x.scatter(0, torch.tensor([1], device=x.device), v, reduce="add"),
    "add": lambda x, v: torch.add(x, x, alpha=v),
    "sub": lambda x, v: torch.sub(x, x, alpha=v),
    "addcmul": lambda x, v: torch.addcmul(x, x, x, value=v),
    "power": lambda x, v: x ** abs(v),
    "remainder": lambda x, v: x % v,
    "floor_divide": lambda x, v: x // v,
}
NUMBERS = [0, -2, -300, 300, 70000, 1 << 40, 1 << 63, 2.5, -2.5, 1e6]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int64], ids=str)
@pytest.mark.parametrize("name", CONVERTED)
def test_numbers_fit_the_types_of_arrays(name, dtype):
    x = torch.tensor([0, 1, 5, 100], dtype=dtype)

    def call(v):
        return lambda given: CONVERTED[name](x.to(given.device), v)

    for value in [3, 4, 3, 5, *NUMBERS]:  # plans are made meanwhile, which take other numbers
        _assert_as_on_the_cpu(call(value))


@pytest.mark.parametrize("name", ["clamp_min", "threshold", "masked_fill", "index_fill", "scatter", "fill_"])
def test_numbers_fit_short_floats(name):
    x = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float16)
    for value in (1.0, 2.0, 3.0, float("inf"), -float("inf"), float("nan"), 65504, 70000, 1e6, -1e6):
        _assert_as_on_the_cpu(lambda given, v=value: CONVERTED[name](x.to(given.device), v))


@pytest.mark.parametrize("alpha", [True, 2.5], ids=str)
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float32], ids=str)
def test_factors_of_sums_have_the_kind_of_the_result(alpha, dtype):
    x = torch.tensor([True, False]).to(dtype)
    _assert_as_on_the_cpu(lambda given: torch.add(x.to(given.device), x.to(given.device), alpha=alpha))


READS = {
    "cpu": lambda made: made.cpu(), "item": lambda made: made.sum().item(), "synchronize": lambda made: torch.vulkan.synchronize(),
    "tolist": lambda made: made.tolist(), "print": repr, "another tensor": lambda made: torch.ones(2, device=DEVICE).cpu(),
    "numbers of a mask": lambda made: made[made > 0],
}  # fmt: skip


@pytest.mark.parametrize("read", READS)
def test_an_error_is_told_at_the_next_read_and_once(read):
    made = torch.ones(3, device=DEVICE).index_select(0, torch.tensor([5], device=DEVICE))
    with pytest.raises(
        IndexError, match="index_select: index 5 is out of bounds for dimension 0 with size 3"
    ) as caught:
        READS[read](made)
    assert torch.ones(2, device=DEVICE).sum().item() == 2
    x = torch.tensor([1.0, -2.0], device=DEVICE)
    slopes = torch.func.grad(lambda v: v.pow(3).sum())(x)  # an error that is held changes nothing
    torch.testing.assert_close(slopes, 3 * x**2)
    assert caught.value


@pytest.mark.usefixtures("told_later")
def test_wrong_values_write_nowhere_else():
    memory = torch.zeros(64, device=DEVICE)
    target = memory[16:20]
    target.index_copy_(0, torch.tensor([-3, 7, 1, 2], device=DEVICE), torch.ones(4, device=DEVICE))
    with pytest.raises(IndexError):
        memory.cpu()
    torch.testing.assert_close(memory.cpu().nonzero().flatten(), torch.tensor([17, 18]))
