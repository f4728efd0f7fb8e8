"""Other libraries that keep, compute with or show arrays of vkarray's."""

from __future__ import annotations

import os

os.environ["CUBED_BACKEND_ARRAY_API_MODULE"] = "vkarray"  # read when Cubed is imported

import matplotlib
import numpy as np
import pytest

import vkarray as vx

matplotlib.use("Agg")
import cubed.array_api
import dask.array as da
import pandas as pd
import xarray as xr
from matplotlib import pyplot as plt
from PIL import Image

import vkarray.dask

VALUES = np.random.default_rng(5).random((12, 10), dtype=np.float32)

# Functions of a Dask array, which give the same for chunks of NumPy's and of vkarray's.
DASK = {
    "sum": lambda x: x.sum(), "sum of rows": lambda x: x.sum(axis=1), "mean": lambda x: x.mean(axis=0), "std": lambda x: x.std(),
    "variance": lambda x: x.var(axis=1), "max": lambda x: x.max(axis=0), "argmax": lambda x: x.argmax(axis=1),
    "elementwise": lambda x: np.sqrt(x * 2 + 1), "transposed": lambda x: x.T, "product": lambda x: x.T @ x,
    "slices": lambda x: x[2:9, ::3], "rechunked": lambda x: x.rechunk((5, 4)), "joined": lambda x: da.concatenate([x, x], axis=1),
    "stacked": lambda x: da.stack([x, x]), "cumulative": lambda x: x.cumsum(axis=0), "any": lambda x: (x > 0.99).any(),
    "where": lambda x: da.where(x > 0.5, x, 0), "reshaped": lambda x: x.rechunk((12, 10)).reshape((6, 20)),
    "index": lambda x: x[[0, 5, 2]],
    "blocks": lambda x: x.map_blocks(lambda block: block - block.mean()), "isnan": lambda x: da.isnan(x).sum(),
    "overlap": lambda x: x.map_overlap(lambda b: b[1:-1, 1:-1] + b[2:, 1:-1], depth=1, boundary="reflect", trim=False),
}  # fmt: skip


@pytest.mark.parametrize("name", DASK)
def test_dask(name: str) -> None:
    expected = DASK[name](da.from_array(VALUES, chunks=(5, 4))).compute(scheduler="synchronous")
    chunks = da.from_array(vx.asarray(VALUES), chunks=(5, 4), asarray=False)
    got = DASK[name](chunks).compute(scheduler="synchronous")
    assert type(got) is vx.VkArray
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-5, atol=1e-6)


def test_cubed() -> None:
    x = cubed.array_api.asarray(VALUES.tolist(), chunks=(5, 4))
    np.testing.assert_allclose(
        np.asarray(cubed.array_api.sum(x * 2, axis=0).compute()), VALUES.sum(axis=0) * 2, rtol=1e-5
    )


def test_xarray() -> None:
    got = xr.DataArray(vx.asarray(VALUES), dims=("y", "x"), coords={"x": np.arange(10)})
    expected = xr.DataArray(VALUES, dims=("y", "x"), coords={"x": np.arange(10)})
    for call in (
        lambda a: a.mean("y"), lambda a: a.sum(), lambda a: a.isel(x=slice(2, 5)) + 1, lambda a: a.T, lambda a: a.std("x"),
        lambda a: a.max("x"), lambda a: a.where(a > 0.5, 0),
    ):  # fmt: skip
        result = call(got)
        assert type(result.data) is vx.VkArray
        np.testing.assert_allclose(np.asarray(result.data), call(expected).data, rtol=1e-5)


def test_pandas() -> None:
    frame = pd.DataFrame(vx.asarray(VALUES), columns=list("abcdefghij"))
    assert frame.equals(pd.DataFrame(VALUES, columns=list("abcdefghij")))
    assert pd.Series(vx.arange(3)).tolist() == [0, 1, 2]


def test_pillow() -> None:
    pixels = (VALUES * 255).astype(np.uint8)
    for values in (pixels, np.stack([pixels] * 3, axis=-1), VALUES):
        image = Image.fromarray(vx.asarray(values))
        np.testing.assert_array_equal(np.asarray(image), values)
        np.testing.assert_array_equal(np.asarray(vx.asarray(image)), values)


FIGURES = {
    "plot": lambda a, x: a.plot(x[0], x[1]), "imshow": lambda a, x: a.imshow(x), "hist": lambda a, x: a.hist(x.ravel()),
    "scatter": lambda a, x: a.scatter(x[0], x[1], c=x[2], s=x[3]), "contour": lambda a, x: a.contourf(x),
    "bar": lambda a, x: a.bar(vx.arange(10), x[0]), "fill": lambda a, x: a.fill_between(vx.arange(10), x[0], x[1]),
    "mesh": lambda a, x: a.pcolormesh(x), "quiver": lambda a, x: a.quiver(x, x), "step": lambda a, x: a.step(vx.arange(10), x[0]),
    "boxes": lambda a, x: a.boxplot(x), "logarithmic": lambda a, x: a.semilogy(x[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_matplotlib(name: str) -> None:
    figure, axes = plt.subplots()
    FIGURES[name](axes, vx.asarray(VALUES))
    figure.canvas.draw()
    plt.close(figure)


def test_testing() -> None:
    x = vx.asarray(VALUES)
    np.testing.assert_allclose(x, VALUES)
    np.testing.assert_array_equal(VALUES, x)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(x, VALUES + 1)
