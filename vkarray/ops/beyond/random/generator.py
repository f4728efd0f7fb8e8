"""The classes whose methods draw random numbers: NumPy's `Generator`, and its older `RandomState`."""

from __future__ import annotations

import inspect
from typing import Any

from ....core import dtypes
from ....core.array import VkArray, default_dtype
from ....core.dtypes import DType
from ....kernels.planned import recordable
from .continuous import Continuous
from .draws import Size
from .order import Order
from .stream import Philox
from .vectors import Vectors


def _be_recordable(owner: type) -> None:
    """Let the draws of a class be taken whole where calls are recorded."""
    for name, method in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_") and name != "spawn":
            setattr(owner, name, recordable(method))


class Generator(Continuous, Order, Vectors):
    """Random numbers from a stream that a seed determines. Made by `vkarray.random.default_rng`.

    The same calls give the same bits on every device and driver (where the device has the dtype), and a draw of n and one
    of m numbers are those of a draw of n + m. `size` is a shape; None stands for one number, an array of 0 dimensions.
    Parameters: bit_generator (a `Philox`, or a seed of one); device (of the arrays that are made).
    Method: Philox4x32-10 (Salmon et al., SC'11), with the seed as its key.
    """

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators with streams of their own, which this one's state determines but its draws do not.

        Raises TypeError unless n_children is an integer, ValueError for a negative one.
        """
        return [Generator(stream, device=self._device) for stream in self._stream.spawn(n_children)]


class RandomState(Continuous, Order, Vectors):
    """NumPy's older generator: the numbers of `Generator`, and the names that it had before.

    Parameters: seed (as for `default_rng`, or a `Philox`); device (of the arrays that are made).
    """

    _orders_bounds = False

    def seed(self, seed: Any = None) -> None:
        """Start anew from a seed. Errors as for `default_rng`."""
        self._stream.state = Philox(seed).state

    def get_state(self, legacy: bool = True) -> dict[str, int]:
        """The `state` of the bit generator: a dictionary, whatever `legacy` says. Raises no errors."""
        return self.state

    def set_state(self, state: dict[str, int]) -> None:
        """Go back to a state. Raises TypeError and ValueError for what `get_state` does not return."""
        self.state = state

    def rand(self, *dimensions: int) -> VkArray:
        """Numbers evenly distributed over [0, 1), of the shape of the arguments. Errors as for `random`."""
        return self.random(_dimensions("rand", dimensions))

    def randn(self, *dimensions: int) -> VkArray:
        """Numbers of `standard_normal`, of the shape of the arguments. Errors as for `random`."""
        return self.standard_normal(_dimensions("randn", dimensions))

    def random_sample(self, size: Size = None) -> VkArray:
        """Numbers evenly distributed over [0, 1). Errors as for `random`."""
        return self.random(size)

    def randint(self, low: Any, high: Any = None, size: Size = None, dtype: DType | None = None) -> VkArray:
        """Integers from low (0 without `high`) to high - 1. Parameters and errors as for `integers`."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low: Any, high: Any = None, size: Size = None) -> VkArray:
        """Integers from low (1 without `high`) to high, that one included. Parameters and errors as for `integers`."""
        return self.integers(1 if high is None else low, low if high is None else high, size, endpoint=True)

    def tomaxint(self, size: Size = None) -> VkArray:
        """Integers from 0 to the largest of the default integer type."""
        wanted = default_dtype("int", self._device)
        return self.integers(0, (1 << 63 if wanted is dtypes.int64 else 1 << 31) - 1, size, wanted, endpoint=True)


def _dimensions(function: str, dimensions: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The shape of which `rand` and `randn` take the lengths one by one."""
    if any(isinstance(one, (tuple, list)) for one in dimensions):
        raise TypeError(
            f"{function}: expected lengths one by one, such as {function}(2, 3), got {dimensions[0]!r:.60}. "
            f"Write {function}(*shape)."
        )
    return dimensions or None


_be_recordable(Generator)
_be_recordable(RandomState)
