"""The errors of NumPy's names: `numpy.exceptions`."""

from .errors import AxisError as AxisError

__all__ = ["AxisError"]
