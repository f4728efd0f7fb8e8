"""Arrays in files of NumPy's formats: `save`, `savez` and `load`."""

from __future__ import annotations

from typing import Any

from . import dtypes, interchange
from .array import VkArray
from .ops.creation import asarray

__all__ = ["load", "save", "savez"]


def _values(function: str, x: Any) -> Any:
    if not isinstance(x, VkArray):
        raise TypeError(
            f"{function}: expected vkarray arrays, got {type(x).__name__}. Convert it with vkarray.asarray."
        )
    if x.dtype is dtypes.bfloat16:
        raise TypeError(f"{function}: NumPy's format has no bfloat16. Save vkarray.astype(x, vkarray.float32).")
    return interchange.to_numpy(x)


def save(file: Any, x: VkArray) -> None:
    """Write an array to a file of NumPy's format .npy.

    Parameters: file (a path, to which .npy is added where it lacks it, or a file open for writing bytes); x.
    Raises TypeError for what is not an array and for bfloat16, OSError for a file that cannot be written.
    """
    import numpy as np

    np.save(file, _values("save", x), allow_pickle=False)


def savez(file: Any, *arrays: VkArray, compressed: bool = False, **named: VkArray) -> None:
    """Write several arrays to a file of NumPy's format .npz.

    Parameters: file (as for `save`, with .npz); arrays, which get the names arr_0, arr_1, ...; arrays by name; compressed.
    Raises TypeError for what is not an array and for bfloat16, ValueError for a name given twice, OSError.
    """
    import numpy as np

    numbered = {f"arr_{place}": x for place, x in enumerate(arrays)}
    twice = sorted(numbered.keys() & named.keys())
    if twice:
        raise ValueError(f"savez: {twice[0]} is the name of an array without one; give it another.")
    values: dict[str, Any] = {name: _values("savez", x) for name, x in {**numbered, **named}.items()}
    (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **values)


def load(file: Any, *, device: Any = None) -> VkArray | dict[str, VkArray]:
    """Read what `save`, `savez` or NumPy wrote: an array from a file .npy, a dictionary of arrays by name from .npz.

    Parameters: file (a path, or a file open for reading bytes); device (of the arrays; the default device by default).
    Raises OSError for a file that cannot be read, ValueError for other contents (pickled objects are never loaded),
    TypeError for a dtype that vkarray lacks, FeatureError for one that the device lacks.
    """
    import numpy as np

    found = np.load(file, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return asarray(found, device=device)
    with found:
        return {name: asarray(found[name], device=device) for name in found.files}
