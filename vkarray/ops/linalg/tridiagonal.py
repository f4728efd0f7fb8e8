"""The eigenproblem of real symmetric tridiagonal matrices: divide and conquer, or bisection for eigenvalues alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core import dtypes
from ...core.array import VkArray, empty, is_supported
from ...kernels import launch
from ...kernels.dispatch import Fields
from ...kernels.product import strategies
from ...shaders.source import Variant
from .common import variant

if TYPE_CHECKING:
    from ...kernels.launch import Device

_TEMPLATES = tuple(
    f"linalg/tridiagonal_{name}"
    for name in ("leaves", "order", "deflate", "secular", "weights", "vectors", "bisect")
)  # fmt: skip
_REAL = (dtypes.float32, dtypes.float64)
_LEAF = 32  # rows of the blocks to start from, at most; the shader has room for as many
# Whether these blocks' eigenvectors are in shared memory, by registers.
_SHARED_VECTORS = {"large": False, "middle": False, "small": True, "tiny": True, "cpu": False}
_SIZE = 64  # of workgroups: there are few invocations, which are to spread over the device
_STEPS = 100  # of the search for a root, which takes about five
_TURNS = 56_000  # llvmpipe leaves a shader's loops after 65,535 turns in all
_UNROLL = 4  # elements that an invocation takes in a turn
# Halvings between two bounds: to neighbouring numbers, for eigenvalues that are not far below the largest one.
_HALVINGS = {32: 44, 64: 80}


def variants(device: Device) -> Iterator[Variant]:
    """Every variant of this file, for the archive."""
    for dtype in _REAL:
        if is_supported(dtype, device):
            for template in _TEMPLATES:
                yield variant(template, dtype, device)


class _Runner:
    """Runs the shaders of this file on the arrays of one problem."""

    def __init__(self, like: VkArray) -> None:
        self.dtype, self.device = like._dtype, like._device
        self.size = launch.invocations_of_group(like._device.limits, _SIZE)

    def real(self, *shape: int) -> VkArray:
        """New memory for numbers."""
        return empty(shape, self.dtype, self.device)

    def integers(self, *shape: int) -> VkArray:
        """New memory for integers."""
        return empty(shape, dtypes.int32, self.device)

    def run(
        self, name: str, invocations: int, fields: Fields, writes: Sequence[str],
        constants: tuple[tuple[int, int], ...] = (),
    ) -> None:  # fmt: skip
        """Dispatch a shader over so many invocations."""
        groups = launch.groups_for(invocations, self.device.limits, self.size)
        chosen = variant(f"linalg/tridiagonal_{name}", self.dtype, self.device)
        launch.dispatch(
            chosen, self.device, groups, fields, writes=writes, workgroup_size=self.size, constants=constants
        )


def eigenvalues_of(diagonal: VkArray, off_diagonal: VkArray) -> VkArray:
    """The eigenvalues (batch, n), ascending. Element i of `off_diagonal` is next to elements i and i + 1 of the diagonal."""
    batch, n = diagonal._shape
    runner = _Runner(diagonal)
    bounds = runner.real(batch, n, 2)
    left = _HALVINGS[diagonal._dtype.bits]
    at_once = max(1, _TURNS // (n // _UNROLL + 2) - 2) if diagonal._device.limits.is_cpu else left
    fields = {"diagonal": diagonal, "off_diagonal": off_diagonal, "bounds": bounds, "count": batch * n, "n": n}
    begins = True
    while left:
        steps = min(left, at_once)
        runner.run("bisect", batch * n, {**fields, "begins": begins, "steps": steps}, ("bounds",))
        left -= steps
        begins = False
    return bounds._view((batch, n), (2 * n, 2), 1)


def eigenvectors_of(diagonal: VkArray, off_diagonal: VkArray, state: VkArray) -> tuple[VkArray, VkArray]:
    """The eigenvalues (batch, n), ascending, and eigenvectors (batch, n, n), as columns; state[:, 1] becomes 1 on failure.

    Divide and conquer (Cuppen, Numer. Math. 36, 1981; Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995): blocks of
    one size, so that all of a level are worked on at once; what is deflated keeps its place, so that no size depends on
    the values. Rows are added for that, whose eigenvalues are above all others.
    """
    batch, n = diagonal._shape
    runner = _Runner(diagonal)
    blocks = 1
    while -(-n // blocks) > _LEAF:
        blocks *= 2
    half = -(-n // blocks)
    rows = blocks * half
    values, vectors, norm = runner.real(batch, rows), runner.real(batch * blocks, half, half), runner.real(batch)
    fields = {
        "diagonal": diagonal,
        "off_diagonal": off_diagonal,
        "values": values,
        "vectors": vectors,
        "norm": norm,
        "state": state,
        "rows": batch * rows,
        "n": n,
        "blocks": blocks,
        "leaf": half,
    }
    constants = ((1, int(_SHARED_VECTORS[runner.device.limits.tier])),)
    runner.run("leaves", batch * rows, fields, ("values", "vectors", "norm", "state"), constants)
    if blocks > 1:
        merge = _Merge(runner, batch, rows, n, off_diagonal, norm, state)
        while blocks > 1:
            blocks //= 2
            vectors = merge.join(values, vectors, blocks)
    return (
        values._view((batch, n), values._strides),
        vectors._view((batch, n, n), (rows * rows, rows, 1)),
    )


class _Merge:
    """Joins neighbouring blocks of all matrices; the scratch memory of all levels."""

    def __init__(
        self, runner: _Runner, batch: int, rows: int, n: int, off_diagonal: VkArray, norm: VkArray, state: VkArray
    ) -> None:
        self.runner, self.batch, self.rows, self.n = runner, batch, rows, n
        self.off_diagonal, self.norm, self.state = off_diagonal, norm, state
        self.ordered, self.ordered_weights, self.poles, self.weights, self.offsets, self.found, self.exact = (
            runner.real(batch, rows) for _ in range(7)
        )
        self.ordered_slots, self.slots, self.origins, self.places = (runner.integers(batch, rows) for _ in range(4))
        self.rotated, self.rotations = runner.integers(batch, rows, 2), runner.real(batch, rows, 2)
        self.counts = runner.integers(batch, rows, 2)

    def join(self, values: VkArray, vectors: VkArray, merges: int) -> VkArray:
        """The eigenvectors of the joined blocks, `merges` of them in each matrix; `values` becomes theirs."""
        pairs = self.batch * merges
        size = self.rows // merges
        half = size // 2
        count = pairs * size
        self._order(values, vectors, count, merges, half)
        self._deflate(pairs, merges, size)
        shared = {
            "poles": self.poles,
            "counts": self.counts,
            "origins": self.origins,
            "offsets": self.offsets,
            "count": count,
            "size": size,
        }
        self._secular(shared, merges)
        run = self.runner.run
        run(
            "weights", count,
            {**shared, "weights": self.weights, "values": self.found, "exact": self.exact, "places": self.places,
             "ordered": values},
            ("exact", "places", "ordered"),
        )  # fmt: skip
        joined = self.runner.real(pairs, size, size)
        run(
            "vectors", count,
            {**shared, "exact": self.exact, "slots": self.slots, "places": self.places, "rotated": self.rotated,
             "rotations": self.rotations, "vectors": joined},
            ("vectors",),
        )  # fmt: skip
        halves = joined._view((2 * pairs, half, size), (half * size, size, 1))
        result = strategies.multiply(vectors, halves, self.runner.real(2 * pairs, half, size))
        return result._view((pairs, size, size), (size * size, size, 1))

    def _order(self, values: VkArray, vectors: VkArray, count: int, merges: int, half: int) -> None:
        """Bring the eigenvalues of both halves of each block into one order, with their weights."""
        fields = {
            "values": values,
            "vectors": vectors,
            "off_diagonal": self.off_diagonal,
            "poles": self.ordered,
            "weights": self.ordered_weights,
            "slots": self.ordered_slots,
            "count": count,
            "n": self.n,
            "merges": merges,
            "half_": half,
        }
        self.runner.run("order", count, fields, ("poles", "weights", "slots"))

    def _deflate(self, pairs: int, merges: int, size: int) -> None:
        """Set aside the eigenvalues that stay as they are; a workgroup takes a block."""
        deflated = {
            "poles": self.poles,
            "weights": self.weights,
            "slots": self.slots,
            "rotated": self.rotated,
            "rotations": self.rotations,
            "counts": self.counts,
        }
        fields = {
            "ordered": self.ordered,
            "ordered_weights": self.ordered_weights,
            "ordered_slots": self.ordered_slots,
            **deflated,
            "off_diagonal": self.off_diagonal,
            "norm": self.norm,
            "pairs": pairs,
            "n": self.n,
            "merges": merges,
            "size": size,
        }
        self.runner.run("deflate", pairs * self.runner.size, fields, tuple(deflated))

    def _secular(self, shared: dict[str, Any], merges: int) -> None:
        """Find the other eigenvalues, each by its distance from the pole next to it."""
        steps = _STEPS
        if self.runner.device.limits.is_cpu:
            steps = min(steps, max(8, _TURNS // (shared["size"] // _UNROLL + 4) - 2))
        fields = {
            **shared,
            "weights": self.weights,
            "off_diagonal": self.off_diagonal,
            "values": self.found,
            "state": self.state,
            "n": self.n,
            "merges": merges,
            "steps": steps,
        }
        self.runner.run("secular", shared["count"], fields, ("origins", "offsets", "values", "state"))
