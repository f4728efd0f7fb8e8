"""Einstein summation in NumPy's notation, as views, sums and matrix products.

Every operand is brought to distinct labels (a repeated one is a diagonal, a view), labels that nobody else needs are summed
over, and then pairs of operands become one by a product until one is left: `matmul` of stacks for labels summed over, an
elementwise product without them. The pair that shrinks the operands most comes first.
"""

from __future__ import annotations

import itertools
import math
import operator
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core import dtypes, layout, promotion
from ...core.array import VkArray, operations
from ...core.dtypes import as_dtype
from ...kernels.array_like import as_like
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.rows import check_operands, common_dtype
from .. import elementwise, statistical
from ..data_type import as_casting, check_casting
from ..linear_algebra import matmul
from ..manipulation import permute_dims, reshape

# A dimension's name: a letter, or a number for one that an ellipsis stands for (-1 is the last).
Label = str | int


_NUMBERS = range(52)  # labels in lists
_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # of these, in their order


class _Term(NamedTuple):
    """An operand and the labels of its dimensions, each of which it has once."""

    array: VkArray
    labels: tuple[Label, ...]

    def length(self, label: Label) -> int:
        """The length of a dimension, 1 for one that the operand lacks."""
        return self.array._shape[self.labels.index(label)] if label in self.labels else 1


@planned
def einsum(
    *operands: Any, out: VkArray | None = None, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = True
) -> VkArray:  # fmt: skip
    """The sum of products of array elements that a formula in Einstein's notation describes.

    Parameters: a string of labels for each operand, "ij,jk->ik", and the operands (arrays of one device); or each operand
    followed by a list of integers as its labels, and at last one for the result: einsum(x, [0, 1], y, [1, 2], [0, 2]).
    Operands are multiplied where labels agree, and labels that are not in the result are summed over. Without "->" the
    result has the labels that occur once, in alphabetical order. A label twice in an operand is its diagonal; "..." stands
    for dimensions that broadcast, which come first in the result without "->". A length of 1 broadcasts. out (an array that takes
    the result); dtype (to compute in); casting (what may be converted to that, and "unsafe" writes any type to out). optimize and
    order are accepted for NumPy's sake: the order of products is always chosen by the sizes of the operands.
    Returns an array of the promoted dtype; a view for one operand without a sum. Integers wrap, bool is joined by "or" of
    "and", float16 and bfloat16 products are summed in float32 (and rounded between products).
    Raises ValueError for a formula that is malformed or does not fit the shapes, TypeError for other operands, RuntimeError for a
    path of `einsum_path`'s that does not lead to one operand.
    """
    layout.as_order("einsum", order)
    as_casting("einsum", casting)
    arrays, inputs, output = _understood("einsum", operands)
    _check_path("einsum", optimize, len(arrays))
    wanted = common_dtype("einsum", arrays) if dtype is None else as_dtype(dtype, "einsum")
    if dtype is not None:
        if casting == "unsafe" and wanted.kind not in "cb":
            arrays = [elementwise.real(array) for array in arrays]
        for array in arrays:
            check_casting(array, wanted, casting, "einsum")
    if wanted is dtypes.bool_:
        counts = _contracted([cast(array, dtypes.uint32) for array in arrays], inputs, output)
        result = cast(counts, wanted)
    else:
        promotion.check_category("einsum", wanted, "numeric")
        result = _contracted([cast(array, wanted) for array in arrays], inputs, output)
    if out is None:
        return result
    return operations["write"]("einsum", out, result, casting="same_kind" if casting == "safe" else casting)


def einsum_path(*operands: Any, optimize: Any = "greedy") -> tuple[list[Any], str]:
    """The order in which `einsum` multiplies its operands.

    Parameters: as `einsum`; optimize (False for one step of all operands, a list such as this function returns for that; others
    are accepted for NumPy's sake).
    Returns (a list that starts with "einsum_path", then the numbers of the operands that each product joins, whose result comes
    last; a description). Raises as `einsum`, and RuntimeError for a list that does not end with one operand.
    """
    arrays, inputs, output = _understood("einsum_path", operands)
    lengths: dict[Label, int] = {}
    for labels, array in zip(inputs, arrays, strict=True):
        for label, length in zip(labels, array._shape, strict=True):
            lengths[label] = max(length, lengths.get(label, 1))
    _check_lengths([_diagonal(array, labels) for array, labels in zip(arrays, inputs, strict=True)])
    path: list[Any] = ["einsum_path"]
    if _check_path("einsum_path", optimize, len(arrays)):
        path = list(optimize)
    elif optimize is False:
        path.append(tuple(range(len(arrays))))
    else:
        _contracted(arrays, inputs, output, path)
    if len(path) == 1:
        path.append((0,))
    formula = ",".join("".join(map(str, labels)) for labels in inputs) + "->" + "".join(map(str, output))
    naive = math.prod(lengths.values()) * len(arrays)
    return path, f"  Complete contraction:  {formula}\n  Naive FLOP count:  {naive:.3e}\n  Order:  {path[1:]}"


def _check_path(function: str, optimize: Any, operands: int) -> bool:
    """Whether `optimize` lists the operands of each product. Raises RuntimeError if that leaves more than one or none."""
    if not isinstance(optimize, (list, tuple)) or optimize[:1] not in (["einsum_path"], ("einsum_path",)):
        return False
    if operands + sum(1 - len(step) for step in optimize[1:]) != 1:
        raise RuntimeError(
            f"{function}: expected a path from {operands} operands to one, got {optimize}. See einsum_path."
        )
    return True


def _understood(
    function: str, operands: Sequence[Any]
) -> tuple[list[VkArray], list[tuple[Label, ...]], tuple[Label, ...]]:  # fmt: skip
    """The arrays, their labels and those of the result."""
    formula, given = _interleaved(operands) if operands and type(operands[0]) is not str else _formula(operands)
    if not given:
        raise ValueError(f"{function}: expected at least one array after the formula.")
    device = next((one._device for one in given if type(one) is VkArray), None)
    arrays = [as_like(one, device, True) for one in given]
    check_operands(function, arrays)
    return arrays, *_parsed(formula, arrays)


# -- the formula ----------------------------------------------------------------------------------------------------


def _formula(operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    if not operands:
        raise ValueError("einsum: expected a formula such as 'ij,jk->ik' and arrays, got nothing.")
    return operands[0], operands[1:]


def _interleaved(operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The formula and arrays of operands that alternate with lists of labels."""
    lists = [*operands[1::2], *(operands[-1:] if len(operands) % 2 else [])]
    texts = []
    for labels in lists:
        labels = labels.tolist() if hasattr(labels, "tolist") else list(labels) if type(labels) is range else labels
        if not isinstance(labels, (list, tuple)):
            raise TypeError(f"einsum: expected a formula, or each array followed by a list of labels, got {labels!r}.")
        try:
            places = [label if label is Ellipsis else _NUMBERS.index(operator.index(label)) for label in labels]
        except (ValueError, TypeError) as error:
            raise type(error)(f"einsum: expected labels from 0 to 51 or ..., got {labels!r}.") from None
        texts.append("".join("..." if place is Ellipsis else _LETTERS[place] for place in places))
    arrays = operands[0 : len(operands) - len(operands) % 2 : 2]
    result = f"->{texts.pop()}" if len(operands) % 2 else ""
    return ",".join(texts) + result, arrays


def _parsed(formula: str, arrays: Sequence[VkArray]) -> tuple[list[tuple[Label, ...]], tuple[Label, ...]]:
    """The labels of each operand and of the result. Raises ValueError for a formula that does not fit."""
    text, arrow, result = formula.replace(" ", "").partition("->")
    parts = text.split(",")
    if len(parts) != len(arrays):
        raise ValueError(f"einsum: the formula {formula!r} is for {len(parts)} operands, got {len(arrays)}.")
    inputs = []
    for part, array in zip(parts, arrays, strict=True):
        letters = _letters(part, formula)
        missing = array.ndim - (len(letters) - ("..." in letters))
        if missing < 0 or (missing > 0 and "..." not in letters):
            raise ValueError(
                f"einsum: the labels {part!r} of {formula!r} do not fit an operand of shape {array.shape}."
            )
        inputs.append(_expanded(letters, missing))
    rank = max((-label for labels in inputs for label in labels if isinstance(label, int)), default=0)
    if arrow:
        output = _expanded(_letters(result, formula), rank)
        if rank and not any(isinstance(label, int) for label in output):
            raise ValueError(f"einsum: the result of {formula!r} lacks the '...' of its operands. Sum over it first.")
    else:
        used = list(itertools.chain(*inputs))
        output = (
            *range(-rank, 0),
            *sorted(label for label in set(used) if isinstance(label, str) and used.count(label) == 1),
        )
    unknown = [label for label in output if label not in itertools.chain(*inputs)]
    if unknown or len(set(output)) != len(output):
        wrong = f"{unknown[0]!r}, which no operand has" if unknown else "a label twice"
        raise ValueError(f"einsum: the result of {formula!r} has {wrong}.")
    return inputs, output


def _letters(part: str, formula: str) -> list[str]:
    """The labels of one operand, an ellipsis as one of them."""
    before, dots, after = part.partition("...")
    letters = [*before, *([dots] if dots else []), *after]
    if any(letter not in string.ascii_letters and letter != "..." for letter in letters) or letters.count("...") > 1:
        raise ValueError(f"einsum: expected letters, one '...' and one '->' in the formula, got {formula!r}.")
    return letters


def _expanded(letters: Sequence[str], missing: int) -> tuple[Label, ...]:
    """The labels with an ellipsis replaced by the numbers of `missing` dimensions."""
    numbers = range(-missing, 0)
    return tuple(itertools.chain(*(numbers if letter == "..." else (letter,) for letter in letters)))


# -- contraction ----------------------------------------------------------------------------------------------------


def _contracted(
    arrays: Sequence[VkArray], inputs: Sequence[tuple[Label, ...]], output: tuple[Label, ...], path: list[Any] | None = None
) -> VkArray:  # fmt: skip
    """The result; `path` takes the numbers of the operands of each product."""
    terms = [_diagonal(array, labels) for array, labels in zip(arrays, inputs, strict=True)]
    _check_lengths(terms)
    while True:
        terms = [_reduced(term, _needed(terms[:k] + terms[k + 1 :], output)) for k, term in enumerate(terms)]
        if len(terms) == 1:
            break
        first, second = min(itertools.combinations(range(len(terms)), 2), key=lambda pair: _growth(terms, pair, output))
        if path is not None:
            path.append((first, second))
        others = [term for k, term in enumerate(terms) if k not in (first, second)]
        terms = [*others, _product(terms[first], terms[second], _needed(others, output))]
    (term,) = terms
    return permute_dims(term.array, tuple(term.labels.index(label) for label in output))


def _diagonal(array: VkArray, labels: tuple[Label, ...]) -> _Term:
    """The operand with each label once: the strides of dimensions of one label add up to that of the diagonal."""
    steps: dict[Label, int] = {}
    lengths: dict[Label, int] = {}
    for label, length, stride in zip(labels, array._shape, array._strides, strict=True):
        if lengths.setdefault(label, length) != length:
            raise ValueError(
                f"einsum: the dimensions of label {label!r} in one operand have lengths {lengths[label]} and {length}."
            )
        steps[label] = steps.get(label, 0) + stride
    return _Term(array._view(tuple(lengths.values()), tuple(steps.values())), tuple(lengths))


def _check_lengths(terms: Sequence[_Term]) -> None:
    lengths: dict[Label, int] = {}
    for term in terms:
        for label, length in zip(term.labels, term.array._shape, strict=True):
            if length != 1 and lengths.setdefault(label, length) != length:
                raise ValueError(
                    f"einsum: the dimensions of label {label!r} have lengths {lengths[label]} and {length}."
                )


def _needed(others: Sequence[_Term], output: tuple[Label, ...]) -> set[Label]:
    """The labels that the result or other operands have."""
    return set(output).union(*(term.labels for term in others))


def _reduced(term: _Term, needed: set[Label]) -> _Term:
    """The operand summed over the labels that nothing else needs."""
    axes = tuple(axis for axis, label in enumerate(term.labels) if label not in needed)
    if not axes:
        return term
    summed = statistical.sum(term.array, axis=axes, dtype=term.array._dtype)
    return _Term(summed, tuple(label for label in term.labels if label in needed))


def _growth(terms: Sequence[_Term], pair: tuple[int, int], output: tuple[Label, ...]) -> tuple[int, int]:
    """Elements of the product of a pair less those of the pair, then the number of multiplications: the least is best."""
    first, second = (terms[k] for k in pair)
    needed = _needed([term for k, term in enumerate(terms) if k not in pair], output)
    lengths = {label: max(first.length(label), second.length(label)) for label in (*first.labels, *second.labels)}
    size = math.prod(length for label, length in lengths.items() if label in needed)
    return size - first.array.size - second.array.size, math.prod(lengths.values())


def _product(first: _Term, second: _Term, needed: set[Label]) -> _Term:
    """The product of two operands, summed over their common labels that are not needed."""
    # A dimension of length 1 against a longer one broadcasts; without it the label belongs to the other operand alone.
    first, second = _without_ones(first, second), _without_ones(second, first)
    first, second = (_reduced(one, needed | set(other.labels)) for one, other in ((first, second), (second, first)))
    common = [label for label in first.labels if label in second.labels]
    batch = [label for label in common if label in needed]
    summed = [label for label in common if label not in needed]
    rows = [label for label in first.labels if label not in common]
    columns = [label for label in second.labels if label not in common]
    labels = (*batch, *rows, *columns)
    if not summed:
        factors = (_aligned(term, labels) for term in (first, second))
        return _Term(elementwise.multiply(*factors), labels)
    stack = tuple(first.length(label) for label in batch)
    lengths = [math.prod(term.length(label) for label in group)
               for term, group in ((first, rows), (first, summed), (second, columns))]  # fmt: skip
    m, k, n = lengths
    a = reshape(_ordered(first, (*batch, *rows, *summed)), (*stack, m, k))
    b = reshape(_ordered(second, (*batch, *summed, *columns)), (*stack, k, n))
    shape = (*stack, *(first.length(label) for label in rows), *(second.length(label) for label in columns))
    return _Term(reshape(matmul(a, b), shape), labels)


def _without_ones(term: _Term, other: _Term) -> _Term:
    kept = [
        axis for axis, label in enumerate(term.labels)
        if not (term.array._shape[axis] == 1 and label in other.labels and other.length(label) != 1)
    ]  # fmt: skip
    x = term.array
    view = x._view(tuple(x._shape[axis] for axis in kept), tuple(x._strides[axis] for axis in kept))
    return _Term(view, tuple(term.labels[axis] for axis in kept))


def _ordered(term: _Term, labels: Sequence[Label]) -> VkArray:
    return permute_dims(term.array, tuple(term.labels.index(label) for label in labels))


def _aligned(term: _Term, labels: Sequence[Label]) -> VkArray:
    """A view with all `labels`, of length 1 where the operand has none."""
    ordered = _ordered(term, [label for label in labels if label in term.labels])
    strides = iter(ordered._strides)
    steps = tuple(next(strides) if label in term.labels else 0 for label in labels)
    return ordered._view(tuple(term.length(label) for label in labels), steps)
