"""What is lent to one holder at a time, in a program where other code may strike anywhere.

Ctrl-C, signal handlers, finalizers and the garbage collector strike between the instructions of Python: after calls, at
jumps backwards and where objects are made. A line without any of these is one step, and so is each call of C.
"""

from __future__ import annotations

import weakref
from typing import Any


class Lease:
    """The right to use a thing, which has a `holder`. It ends with the last reference to it, however its holder ended.

    No destructor tells so: Ctrl-C would strike in it.
    """

    __slots__ = ("__weakref__", "thing")
    thing: Any  # there from when it is taken

    def take(self, thing: Any) -> bool:
        """Whether nobody held the thing; then it is lent."""
        mine, last = weakref.ref(self), thing.holder
        if last is not None and last() is not None:
            return False
        self.thing = thing
        thing.holder = mine if thing.holder is last else thing.holder  # one step
        return thing.holder is mine
