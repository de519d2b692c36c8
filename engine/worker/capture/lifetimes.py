"""When tensors, and what else holds some for backward, cease to exist."""

import weakref
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from engine.events import Gone, Held
from engine.worker.capture.counts import Counts
from engine.worker.capture.outbox import Outbox


class Reference(weakref.ref[Any]):
    """To a tensor, or what holds some; says which one it was when that is gone."""

    __slots__ = ("first",)
    first: int


_first_of: Callable[[Reference], int] = attrgetter("first")


class Lifetimes:
    """Notes what is gone until an event says it."""

    def __init__(self, counts: Counts, outbox: Outbox) -> None:
        self._counts = counts
        self._outbox = outbox
        self.dead: list[Reference] = []
        """Of what ceased to exist since that was last said."""
        self.holders: dict[int, Reference] = {}
        """What holds tensors for backward and is no node."""

    def reference(self, tensor: object, number: int) -> Reference:
        """A weak reference to a tensor whose end is to be said."""
        reference = Reference(tensor, self.dead.append)
        reference.first = number
        return reference

    def take(self) -> tuple[int, ...]:
        """First records of what ceased to exist since the last call."""
        taken = tuple(map(_first_of, self.dead))
        del self.dead[: len(taken)]  # another thread may have added to it meanwhile
        return taken

    def flush(self) -> None:
        """Says what ceased to exist, where no op says it."""
        if self.dead:
            self._outbox.add(Gone(self.take()))

    def hold(self, holder: object, tensors: tuple[int, ...], by_nodes: bool) -> None:
        """Notes that an object, of any class that weak references know, holds recorded tensors for backward."""
        if tensors:
            number = self._counts.new_tensor()
            reference = self.holders[number] = Reference(holder, self._freed)
            reference.first = number
            self._outbox.add(Held(number, tensors, by_nodes))

    def _freed(self, reference: Reference) -> None:
        self.holders.pop(reference.first, None)
        self.dead.append(reference)
