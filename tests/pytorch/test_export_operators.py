"""The operators of PyTorch's core set in exported models, with the samples of its database, against the CPU."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from checks import needs_int64
from test_export import arrays, assert_agrees
from torch import nn
from torch.utils import _pytree as pytree

import vkarray as vx
import vkarray.torch
from vkarray.torch.exported import _decompositions, interpreter
from vkarray.torch.exported.operators import special
from vkarray.torch.exported.table import ROWS

pytestmark = needs_int64
aten = torch.ops.aten

# Operators of the core set that no program computes.
BY_VALUES = {"_local_scalar_dense", "nonzero"}  # results are numbers of Python's, or have shapes that depend on values
OF_MEMORY = {"resize_", "sym_storage_offset"}


def core() -> list[Any]:
    packets = [getattr(aten, name) for name in dir(aten)]
    overloads = [getattr(one, name) for one in packets if hasattr(one, "overloads") for name in one.overloads()]
    return [one for one in overloads if torch.Tag.core in one.tags]


def test_the_core_set_has_rows():
    composed = _decompositions()
    lacking = {one._schema.name.removeprefix("aten::") for one in core() if one not in ROWS and one not in composed}
    assert lacking == BY_VALUES | OF_MEMORY


# Of the database: what returns other tensors for other memory, random numbers or shapes that depend on values.
NOT_COMPARED = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "item", "nonzero", "rand_like",
    "randn_like", "randint_like", "bernoulli", "multinomial", "normal", "masked_select", "nn.functional.dropout",
    "native_dropout_backward", "randn", "randint", "narrow", "as_strided", "native_batch_norm",
    "_native_batch_norm_legit", "nn.functional.batch_norm", "nn.functional.instance_norm", "as_strided_copy", "logspace",
    "resize_", "resize_as_", "as_strided_scatter",
}  # fmt: skip
# Operators of the database that are not of the core set.
FURTHER = {
    *special._NAMES, "polygamma", "histc", "frexp", "ormqr", "triangular_solve", "linalg_householder_product",
}  # fmt: skip
PARTS = 8


def entries() -> list[Any]:
    """The entries of the database whose operator is one of the core set."""
    pytest.importorskip("expecttest", reason="PyTorch's database of operators imports expecttest")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that PyTorch's database imports where they are installed
        from torch.testing._internal.common_methods_invocations import op_db

    names = {one._schema.name.removeprefix("aten::") for one in core()}
    names |= {name.partition(".")[0] for name in FURTHER}
    return [one for one in op_db if one.aten_name in names and one.name not in NOT_COMPARED]


class Samples(nn.Module):
    """Calls of operators, with tensors in their places."""

    def __init__(self, calls: list[tuple[Callable[..., Any], Any, list[Any]]]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self, tensors: list[list[torch.Tensor]]) -> list[Any]:
        found = []
        for (function, spec, leaves), own in zip(self.calls, tensors, strict=True):
            following = iter(own)
            filled = [next(following) if isinstance(one, torch.Tensor) else one for one in leaves]
            args, kwargs = pytree.tree_unflatten(filled, spec)
            found.append(
                [one for one in pytree.tree_leaves(function(*args, **kwargs)) if isinstance(one, torch.Tensor)]
            )
        return found


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")  # of samples, on the CPU
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("part", range(PARTS))
def test_operators(part):
    """Two samples of each, in one model for each part of the database."""
    calls, named = [], []
    for entry in entries()[part::PARTS]:
        dtype = next(one for one in (torch.float32, torch.int64, torch.bool) if one in entry.supported_dtypes("cpu"))
        samples = list(itertools.islice(entry.sample_inputs("cpu", dtype), 12))
        for sample in samples[:: max(1, len(samples) // 2)][:2]:
            leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
            calls.append((entry.op, spec, leaves))
            named.append(f"{entry.formatted_name}: {sample}")
    tensors = [[one.detach() for one in leaves if isinstance(one, torch.Tensor)] for _, _, leaves in calls]
    model = Samples(calls).eval()
    with torch.no_grad():
        expected = model(tensors)
    program = vkarray.torch.export(model, (tensors,))
    for name, got, wanted in zip(named, program(arrays(tensors)), expected, strict=True):
        for one, other in zip(got, wanted, strict=True):
            torch.testing.assert_close(
                vkarray.torch.to_torch(one),
                other,
                rtol=1e-4,
                atol=1e-5,
                equal_nan=True,
                msg=lambda text, name=name: f"{name}: {text}",
            )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_embeddings(mode, tmp_path):
    bags = torch.nn.EmbeddingBag(7, 3, mode=mode).eval()
    given = torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 0, 3])  # the first one is empty
    assert_agrees(vkarray.torch.export(bags, given), bags, given, {}, tmp_path / "bags.vkp")
    skipping = torch.nn.EmbeddingBag(7, 3, mode=mode, padding_idx=4).eval()
    given = torch.tensor([1, 4, 2, 4, 5, 4]), torch.tensor([0, 3, 4])  # the second one has none but what is skipped
    assert_agrees(vkarray.torch.export(skipping, given), skipping, given, {}, tmp_path / "skipping.vkp")


# Gradients that a model computes itself, with shapes of what it takes.
BACK: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "convolution": (
        lambda g, x, w: aten.convolution_backward(g, x, w, [6], [2, 1], [1, 0], [1, 1], False, [0, 0], 2, [True] * 3),
        ((2, 6, 4, 5), (2, 4, 7, 7), (6, 2, 3, 3)),
    ),
    "convolution, of weights alone": (
        lambda g, x, w: aten.convolution_backward(g, x, w, [0], [1], [0], [2], False, [0], 1, [False, True, False])[1],
        ((1, 3, 5), (1, 2, 9), (3, 2, 3)),
    ),
    "transposed": (
        lambda g, x, w: aten.convolution_backward(g, x, w, [3], [2, 2], [0, 0], [1, 1], True, [0, 0], 1, [True] * 3),
        ((2, 3, 8, 8), (2, 4, 4, 4), (4, 3, 2, 2)),
    ),
    "averages": (
        lambda g, x: aten.avg_pool2d_backward(g, x, [3, 2], [2, 1], [1, 0], False, False, None), ((2, 3, 4, 5), (2, 3, 7, 6)),
    ),
    "averages without a batch": (
        lambda g, x: aten.avg_pool2d_backward(g, x, [2, 2], [], [0, 0], True, True, 3), ((3, 4, 3), (3, 7, 6)),
    ),
    "averages of parts": (aten._adaptive_avg_pool2d_backward, ((2, 3, 4, 5), (2, 3, 7, 6))),
    "averages of parts without a batch": (aten._adaptive_avg_pool2d_backward, ((3, 1, 2), (3, 7, 6))),
}  # fmt: skip


class Called(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, first: torch.Tensor, second: torch.Tensor, *more: torch.Tensor) -> Any:
        return self.function(first, second, *more)


@pytest.mark.parametrize("name", BACK)
def test_gradients(name, tmp_path):
    function, shapes = BACK[name]
    model, given = Called(function), tuple(torch.randn(shape) for shape in shapes)
    assert_agrees(vkarray.torch.export(model, given), model, given, {}, tmp_path / "back.vkp")


class Pairs(nn.Module):
    """The distances of all pairs of rows."""

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [torch.pdist(x, p) for p in (0.0, 1.0, 2.0, 3.0, float("inf"))]


def test_distances_of_pairs(tmp_path):
    x = torch.randn(5, 3)
    assert_agrees(vkarray.torch.export(Pairs(), (x,)), Pairs(), (x,), {}, tmp_path / "pairs.vkp")


class Groups(nn.Module):
    """Rows by the matrix of their group, as mixtures of experts multiply them."""

    def forward(self, x: torch.Tensor, weights: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        grouped: torch.Tensor = torch.ops.transformers.grouped_mm_fallback(x, weights, ends)
        return grouped + 1


def test_products_of_groups(tmp_path):
    pytest.importorskip("transformers", reason="the operator is of transformers")
    importlib.import_module("transformers.integrations.moe")
    given = torch.randn(7, 3), torch.randn(4, 3, 2), torch.tensor([2, 2, 6, 7], dtype=torch.int32)
    program = vkarray.torch.export(Groups(), given)
    assert_agrees(program, Groups(), given, {}, tmp_path / "groups.vkp")


class Written(nn.Module):
    """A function as people write it, with the operators of Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


SHIFTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "x << 2": lambda x: x << 2,
    "x >> 2": lambda x: x >> 2,
    "x << x": lambda x: x << x,
    "x >> x": lambda x: x >> x,
    "1 << x": lambda x: 1 << x,
    "100 >> x": lambda x: 100 >> x,
    "tensor << x": lambda x: torch.tensor(3) << x,
    "left_shift": lambda x: torch.bitwise_left_shift(x, 1),
}


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
def test_shifts(dtype, tmp_path):
    x = torch.arange(7, dtype=dtype)
    model = Written(lambda x: [function(x) for function in SHIFTS.values()])
    assert_agrees(vkarray.torch.export(model, (x,)), model, (x,), {}, tmp_path / "shifts.vkp")


SOLVED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "inv": torch.linalg.inv,
    "inv_ex": lambda x: torch.linalg.inv_ex(x)[0],
    "inverse": torch.inverse,
    "solve a vector": lambda x: torch.linalg.solve(x, x[..., 0]),
    "solve": lambda x: torch.linalg.solve(x, x.mT),
    "solve from the right": lambda x: torch.linalg.solve(x, x.mT, left=False),
    "solve_ex": lambda x: torch.linalg.solve_ex(x, x)[0],
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.mT),
    "cholesky, upper": lambda x: torch.linalg.cholesky(x @ x.mT, upper=True),
    "cholesky_ex": lambda x: torch.linalg.cholesky_ex(x @ x.mT)[0],
    "det": torch.linalg.det,
}


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)], ids=str)
def test_systems(shape, tmp_path):
    """What PyTorch composes of a solution and a check of values, which programs do when a value is read."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3)) + 4 * torch.eye(shape[-1])
    model = Written(lambda x: [function(x) for function in SOLVED.values()])
    program = vkarray.torch.export(model, (x,))
    assert_agrees(program, model, (x,), {}, tmp_path / "systems.vkp")
    with pytest.raises(vx.LinAlgError):
        float(vx.sum(program(vx.zeros(shape))[0]))


class Calls(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: torch.Tensor) -> Any:
        return self.function(*given)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(math.prod(shape)))


SQUARE = normal(2, 4, 4) + 4 * torch.eye(4)
UNKNOWN = torch.where(torch.arange(15).view(3, 5) % 4 == 2, torch.nan, normal(3, 5))
# What PyTorch composes no operators of, and its core set does not have.
ALONE: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "index_reduce": (
        lambda x, index, source: [
            x.index_reduce(0, index, source, kind, include_self=own)
            for kind in ("prod", "mean", "amax", "amin")
            for own in (True, False)
        ],
        (normal(4, 3), torch.tensor([0, 2, 0]), normal(3, 3)),
    ),
    "scatter of a number": (
        lambda x, index: [x.scatter(0, index, 3.0, reduce=kind) for kind in ("add", "multiply")],
        (normal(3, 4), torch.tensor([[0, 1, 0, 2], [0, 0, 2, 2]])),
    ),
    "searchsorted": (
        lambda edges, values: [
            *[torch.searchsorted(edges.sort()[0], values, right=right) for right in (False, True)],
            torch.searchsorted(edges, values, side="right", sorter=edges.argsort()),
            torch.searchsorted(edges[0], values, sorter=edges[0].argsort(), out_int32=True),
            torch.searchsorted(edges[0].sort()[0], 0.5),
            torch.bucketize(0.5, edges[0].sort()[0], right=True),
        ],
        (normal(2, 5), torch.cat([normal(2, 5)[:, :3], normal(2, 4)], 1)),
    ),
    "diag_embed": (
        lambda x: [torch.diag_embed(x, offset, *dims) for offset in (0, 1, -1, -2) for dims in ((), (2, 0), (0, 1))],
        (normal(2, 3),),
    ),
    "fft.ihfftn": (lambda x: [torch.fft.ihfftn(x), torch.fft.ihfft2(x)], (normal(4, 6),)),
    "_safe_softmax": (
        lambda x: [aten._safe_softmax(x, dim) for dim in (0, 1, -1)] + [aten._safe_softmax(x[0, 0], 0)],
        (normal(2, 3, 4),),
    ),
    "of one element": (
        lambda x, index, source: [
            x.index_add(0, index, source),
            x.index_copy(0, index, source),
            x.index_fill(0, index, 2.0),
            x.index_add(0, index[None], source),
            x.index_copy(0, index[None], source),
            x.index_fill(-1, index[None], x),
            x.index_reduce(0, index, source, "amax"),
            x[None].index_fill(0, index, 2.0),
            *x.kthvalue(1),
            x.unfold(0, 1, 1),
        ],
        (torch.tensor(3.0), torch.tensor(0), torch.tensor(5.0)),
    ),
    "pad": (
        lambda x: [torch.nn.functional.pad(x, lengths, mode="circular") for lengths in ((-2, 1), (1, -1), (2, 2))],
        (normal(1, 2, 5),),
    ),
    "put": (
        lambda x, index, source: [x.put(index, source), x.put(index % 2, source, accumulate=True)],
        (normal(3, 4), torch.tensor([[1, -2], [3, 0]]), normal(2, 2)),
    ),
    "take_along_dim": (
        lambda x, index: [torch.take_along_dim(x, index), torch.take_along_dim(x, index, 1)],
        (normal(2, 4), torch.tensor([[1, 0], [3, 2]])),
    ),
    "median": (lambda x: [x.median(), *x.median(1), *x.median(0, keepdim=True)], (UNKNOWN,)),
    "nanmedian": (lambda x: [x.nanmedian(), *x.nanmedian(1), *x.nanmedian(0, keepdim=True)], (UNKNOWN,)),
    "median of integers": (lambda x: [x.median(), x.median(1)[0], x[0, 0].median()], (torch.tensor([[3, 1, 2, 2]]),)),
    "vecdot": (
        lambda a, b: [torch.linalg.vecdot(a, b, dim=0), torch.linalg.vecdot(a, b[0]), torch.vdot(a[0], b[0])],
        (torch.complex(normal(3, 4), normal(4, 3).T), torch.complex(normal(2, 6).view(3, 4), normal(6, 2).view(3, 4))),
    ),
    "bilinear": (
        lambda a, b, weight, bias: torch.nn.functional.bilinear(a, b, weight, bias),
        (normal(2, 6, 3), normal(2, 6, 4), normal(5, 3, 4), normal(5)),
    ),
    "solve_triangular": (
        lambda a, b: [
            *[
                torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=ones)
                for upper in (True, False)
                for ones in (True, False)
            ],
            torch.linalg.solve_triangular(a, b.mT, upper=True, left=False),
        ],
        (SQUARE, normal(2, 4, 3)),
    ),
    "cholesky_solve": (
        lambda a, b: [
            torch.cholesky_solve(b, torch.linalg.cholesky(a @ a.mT)),
            torch.cholesky_solve(b, torch.linalg.cholesky(a @ a.mT, upper=True), upper=True),
            torch.cholesky_inverse(torch.linalg.cholesky(a @ a.mT)),
        ],
        (SQUARE, normal(2, 4, 3)),
    ),
}


# Rows of operators that are computed for some of their arguments alone, which a limit tells.
OF_FEWER = {"_scaled_dot_product_attention_math", "_grouped_mm"}


def test_rows_take_what_operators_do():
    _decompositions()  # which enters all rows
    for operator, row in ROWS.items():
        if not isinstance(operator, torch._ops.OpOverload) or operator._schema.name.partition("::")[2] in OF_FEWER:
            continue
        arguments = operator._schema.arguments
        placed = [one for one in arguments if not one.kwarg_only]
        named = {one.name: None for one in arguments if one.kwarg_only and one.name not in interpreter._PLACING}
        fewest = [one for one in placed if not one.has_default_value()]
        for given in (fewest, placed):
            inspect.signature(row.function).bind(None, *given, **named)


@pytest.mark.filterwarnings("ignore:index_reduce")  # is in beta
@pytest.mark.parametrize("name", ALONE)
def test_operators_that_nothing_composes(name, tmp_path):
    function, given = ALONE[name]
    model = Calls(function).eval()
    assert_agrees(vkarray.torch.export(model, given), model, given, {}, tmp_path / "model.vkp")


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_pictures_of_another_size(mode, tmp_path):
    """One kernel for each, of lengths that vary and by factors that leave one as it is."""
    more = [{"antialias": True}, {"align_corners": True}] if mode.startswith("bi") else []
    resized = [
        lambda x, size=size, options=options: torch.nn.functional.interpolate(x, mode=mode, **size, **options)
        for size in ({"size": (7, 4)}, {"scale_factor": (1.2, 0.6)})
        for options in [{}, *more]
    ]
    model = Calls(lambda x: [one(x) for one in resized]).eval()
    height = torch.export.Dim("height", min=2, max=9)
    program = vkarray.torch.export(model, (normal(1, 2, 6, 7),), dynamic_shapes={"given": ({2: height},)})
    for length in (6, 4, 9):
        assert_agrees(program, model, (normal(1, 2, length, 7),), {}, tmp_path / "model.vkp", roundings=256)
    assert program.explain().kernels <= 3 * (len(resized) + 2 * len(more))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_the_middle_of_lengths_that_vary(name, tmp_path):
    model = Calls(lambda x: [getattr(x, name)(), getattr(x, name)(1)[0]]).eval()
    length = torch.export.Dim("length", min=2, max=9)
    program = vkarray.torch.export(model, (normal(3, 4),), dynamic_shapes={"given": ({1: length},)})
    for given in (normal(3, 7), normal(3, 8), UNKNOWN):
        assert_agrees(program, model, (given,), {}, tmp_path / "model.vkp")
