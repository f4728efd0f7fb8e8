"""Random numbers: generators whose numbers are the same bits on every device, for they are counter-based.

The stream of a key is a sequence of 32-bit words, block n of four words being Philox4x32-10 of the counter n. A draw takes
the next words: one for each float32 or integer, two for each float64 or integer out of a range of more than 2**32, and a
block for each number that may be rejected: its attempts differ in the counter's third word. So any invocation makes any
number, and neither workgroups nor how a draw is split up matter.
"""

from __future__ import annotations

from .draws import Draws, drawn
from .generator import Generator, RandomState
from .kernels import variants
from .stream import Philox, observer, unwatched

__all__ = ["Draws", "Generator", "Philox", "RandomState", "drawn", "observer", "unwatched", "variants"]
