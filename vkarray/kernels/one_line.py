"""What kernels of one line share: their code, as it stands in a shader, and where the compiler finds an error in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..core.dtypes import DType
from ..shaders.compiler import COMMENT, Text
from . import library

_CALL = re.compile(r"\bvx_\w+")


def uses(code: str, name: str) -> bool:
    """Whether code mentions a name that is no member of something."""
    return re.search(rf"(?<![.\w]){name}\b", code) is not None


def plain(code: str) -> str:
    """Code without its comments, which keeps its lines."""
    return COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", code)


def check_text(kernel: str, what: str, value: Any) -> str:
    """`value` itself. Raises TypeError unless it is text."""
    if not isinstance(value, str):
        raise TypeError(f"{kernel}: expected {what} as text, got {type(value).__name__}.")
    return value


def text(
    kernel: str, preamble: str, sources: Sequence[tuple[str, str]], letters: Sequence[tuple[str, DType]],
    types: Sequence[DType], functions: Sequence[str],
) -> Text:  # fmt: skip
    """Functions for a template. The preamble and the library's functions, where any are called, come before them.

    `sources` are what the user wrote, by what it is called; the code in `functions` tells their lines apart by the numbers of these
    sources from 2 on, as `lines` writes them.
    """
    own, included = library.taken_out(plain(preamble), kernel)
    asked = [*included.values()]
    if any(_CALL.search(plain(written)) for written in (preamble, *(written for _, written in sources))):
        asked += types
    code = [
        *([library.functions(asked)] if asked else []),
        *(f"#define {letter} COMPUTE_{dtype}" for letter, dtype in letters),
        "#line 1 1", own, f"#line 1 {len(sources) + 2}",
        *functions,
        *(f"#undef {letter}" for letter, _ in letters),
    ]  # fmt: skip
    told = ", ".join(f"{letter} is {dtype}" for letter, dtype in letters)
    return Text("\n".join(code), (("the preamble", preamble), *sources), f"Here {told}." if told else "")


def lines(code: str, number: int, last: int) -> str:
    """Code of the user as the source of a number; what follows is no source."""
    return f"\n#line 1 {number}\n{code}\n#line 1 {last}\n"
