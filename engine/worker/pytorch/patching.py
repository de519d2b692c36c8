"""Replacing attributes of PyTorch and Python, and putting them back."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple


class EntryPoint(NamedTuple):
    """An attribute that others look up at each use, so that something else can be put there."""

    owner: Any
    """A module or a class."""
    name: str

    def get(self) -> Any:
        """What stands there now, as its users find it."""
        return getattr(self.owner, self.name)

    def held(self) -> object:
        """The same without binding: a `staticmethod` as such, `MISSING` for what the owner only inherits."""
        return vars(self.owner).get(self.name, MISSING)


MISSING: Final = object()


class Patches:
    """What was replaced, so that all of it can be undone."""

    def __init__(self) -> None:
        self._held: dict[EntryPoint, object] = {}
        self._afterwards: list[Callable[[], None]] = []

    def replace(self, entry: EntryPoint, value: object) -> None:
        """Puts something else there. One entry point has one replacement: a second would stand before the first
        unseen."""
        if entry in self._held:
            raise ValueError(f"{entry.owner.__name__}.{entry.name} is replaced already")
        self._held[entry] = entry.held()
        setattr(entry.owner, entry.name, value)

    def after_undo(self, work: Callable[[], None]) -> None:
        """Has something done once all is put back: what a replacement left behind is taken away."""
        self._afterwards.append(work)

    def undo(self) -> None:
        """Puts back what was there, the last replacement first."""
        while self._held:
            entry, held = self._held.popitem()
            if held is MISSING:
                delattr(entry.owner, entry.name)
            else:
                setattr(entry.owner, entry.name, held)
        while self._afterwards:
            self._afterwards.pop()()

    def entries(self) -> tuple[EntryPoint, ...]:
        """What is replaced now."""
        return tuple(self._held)
