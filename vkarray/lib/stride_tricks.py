"""NumPy's `lib.stride_tricks`: views with shapes and strides of any kind within the memory of an array."""

from __future__ import annotations

from ..ops.beyond.strides import as_strided as as_strided
from ..ops.beyond.strides import sliding_window_view as sliding_window_view
from ..ops.manipulation import broadcast_arrays as broadcast_arrays
from ..ops.manipulation import broadcast_shapes as broadcast_shapes
from ..ops.manipulation import broadcast_to as broadcast_to
