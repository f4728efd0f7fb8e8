"""`nditer` walks through arrays as NumPy's does."""

from __future__ import annotations

import numpy as np
import pytest

import vkarray as vx


def cube(n):
    return n.arange(24).reshape(2, 3, 4)


def places(walk, name: str) -> list:
    return [(int(x), getattr(walk, name)) for x in walk]


WALKS = {
    "permuted": lambda n, order: [int(x) for x in n.nditer(cube(n).transpose(2, 0, 1), order=order)],
    "backwards": lambda n, order: [int(x) for x in n.nditer(cube(n)[:, ::-1], order=order)],
    "all backwards": lambda n, order: [int(x) for x in n.nditer(cube(n)[::-1, ::-1, ::-1], order=order)],
    "broadcast": lambda n, order: [
        (int(x), int(y)) for x, y in n.nditer([n.arange(3), cube(n)[0, :2, :3]], order=order)
    ],
    "rows": lambda n, order: [
        x.tolist() for x in n.nditer(cube(n).transpose(1, 0, 2), order=order, flags=["external_loop"])
    ],
    "rows backwards": lambda n, order: [
        x.tolist() for x in n.nditer(cube(n)[0, ::-1, ::-1], order=order, flags=["external_loop"])
    ],
    "every other": lambda n, order: [
        x.tolist() for x in n.nditer(cube(n)[:, :, ::2], order=order, flags=["external_loop"])
    ],
    "indices": lambda n, order: places(n.nditer(cube(n)[::-1], order=order, flags=["multi_index"]), "multi_index"),
    "index": lambda n, order: places(n.nditer(cube(n).transpose(0, 2, 1), order=order, flags=["c_index"]), "index"),
    "Fortran's index": lambda n, order: places(n.nditer(cube(n).T, order=order, flags=["f_index"]), "index"),
}


@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.parametrize("name", WALKS)
def test_order_of_elements(name: str, order: str) -> None:
    assert WALKS[name](vx, order) == WALKS[name](np, order)


def test_what_it_tells() -> None:
    for n in (vx, np):
        walk = n.nditer(cube(n), flags=["multi_index"])
        assert (walk.ndim, walk.nop, walk.itersize, walk.shape, walk.iterindex) == (3, 1, 24, (2, 3, 4), 0)
        assert (walk.has_multi_index, walk.has_index, walk.finished, len(walk)) == (True, False, False, 1)
        assert walk.iternext()
        assert (int(walk[0]), int(walk.value), walk.multi_index, walk.dtypes[0] == cube(n).dtype) == (
            1,
            1,
            (0, 0, 1),
            True,
        )
        assert [one.tolist() for one in n.nditer([n.arange(3), 5])[:]] == [0, 5]
        walk.reset()
        assert walk.iterindex == 0
        assert [float(x) for x in n.nditer(n.array(2.5))] == [2.5]
        assert [int(x) for x in n.nditer(n.zeros((0, 3)), flags=["zerosize_ok"])] == []


def test_writing() -> None:
    for n in (vx, np):
        x = cube(n)
        with n.nditer(
            [x, [1, 2, 3, 4], None], op_flags=[["readwrite"], ["readonly"], ["writeonly", "allocate"]]
        ) as walk:
            for one, other, made in walk:
                one[...] = one * other
                made[...] = one + 1
            made = walk.operands[2]
        assert x.tolist() == (np.arange(24).reshape(2, 3, 4) * [1, 2, 3, 4]).tolist()
        assert made.tolist() == (np.asarray(x) + 1).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda n: n.nditer(n.zeros((0, 3))), lambda n: n.nditer(n.ones(2), flags=["nothing"]),
        lambda n: n.nditer([n.ones(2), n.ones(3)]), lambda n: n.nditer(n.ones(2), order="W"),
        lambda n: n.nditer(n.ones(2), flags=["external_loop", "multi_index"]),
    ],
)  # fmt: skip
def test_what_is_refused(call) -> None:
    for n in (vx, np):
        with pytest.raises(ValueError):  # noqa: PT011 - NumPy's words are others
            call(n)
