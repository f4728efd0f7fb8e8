"""What to write in place of what a trace cannot take: by what was asked for, and by the function that the user's code called."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).parent.parent)

_CHOOSE = (
    "Choose by values with vkarray.where, which computes both, or return the array and decide outside of the function"
)
_RETURN = "Return the array, and read it outside of the function"
_NUMBER = (
    "Return the array and read it outside of the function, or give the number as an argument. Of Python's own numbers, functions "
    "of math give such, as math.ceil"
)
_ROW = (
    "x[i] is a view of x, and of which part is not known: write vkarray.take(x, i, axis=0) for a copy, or range for an arange that "
    "a loop goes through"
)
_BINS = (
    "Give the range of the bins, which is else that of the values, or end the function before this line and go on in another "
    "one"
)
_SHAPE = (
    "Shapes cannot depend on values: write vkarray.where(mask, x, 0) for x[mask], and integers for a mask that is known, or end "
    "the function before this line and go on in another one"
)
_COUNT = (
    "The length of a count depends on its values: write vkarray.histogram with bins and a range, or vkarray.add.at into zeros, or "
    "end the function before this line and go on in another one"
)
_DIVIDE = "End the function before this line and go on in another one"
_COMPARE = "Return what vkarray.isclose or vkarray.equal gives, and decide outside of the function"

_OF_CALLS: dict[str, str] = {
    "__bool__": _CHOOSE,
    **dict.fromkeys(("__int__", "__index__", "__float__", "__complex__", "item"), _NUMBER),
    **dict.fromkeys(
        ("tolist", "tobytes", "tofile", "dump", "dumps", "__array__", "__repr__", "__array_interface__",
         "__str__", "__format__", "__dlpack__",
         "__reduce__", "__reduce_ex__", "save", "savez", "savez_compressed", "savetxt"), _RETURN,
    ),
    **dict.fromkeys(
        ("getitem", "setitem", "nonzero", "flatnonzero", "argwhere", "compress", "extract", "place", "delete",
         "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "union1d", "intersect1d", "setdiff1d",
         "setxor1d", "trim_zeros"), _SHAPE,
    ),
    "bincount": _COUNT,
    **dict.fromkeys(("svd", "svdvals", "eig", "eigvals", "pinv", "lstsq", "matrix_rank"), _DIVIDE),
    **dict.fromkeys(("histogram", "histogram_bin_edges", "histogram2d", "histogramdd"), _BINS),
    **dict.fromkeys(("allclose", "array_equal", "array_equiv"), _COMPARE),
}  # fmt: skip
_INDEX = "_known_index"  # what reads an array of 0 dimensions in a key
_OF_REASONS: dict[str, str] = {
    "it changes the state of random numbers": "Seed outside of the function, or make a generator in it with a seed",
    "it takes a seed from the system": "Make the generator outside of the function, or give it a seed",
}


def users_frame() -> FrameType | None:
    """Where the user's code calls this library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def warn(text: str) -> None:
    """Warn of the line where the user's code calls this library."""
    frame = users_frame()
    place = ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    warnings.warn_explicit(text, UserWarning, *place)


def _called() -> Iterator[str]:
    """The functions of this library that run, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        yield frame.f_code.co_name
        frame = frame.f_back


def remedy(reason: str) -> str:
    """What to write instead, where something is refused."""
    if reason in _OF_REASONS:
        return _OF_REASONS[reason]
    known = [name for name in _called() if name in _OF_CALLS]
    if not known:
        return _DIVIDE
    if _INDEX in _called():
        return _ROW
    return _OF_CALLS["__index__" if "__index__" in known else known[-1]]  # x[: y[0]] is no mask
