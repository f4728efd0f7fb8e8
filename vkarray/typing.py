"""Names for annotations, as `numpy.typing` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .core.array import VkArray
from .core.dtypes import DType

ArrayLike = VkArray | complex | Sequence[Any]  # float and int are complex to type checkers
DTypeLike = DType | type | str | None
NDArray = VkArray  # NDArray[float32]: an array of that type
