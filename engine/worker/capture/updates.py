"""Values that changed outside the graph."""

import msgspec
from msgspec.structs import astuple

from engine.events import ChangeWord, StateWord, Updated, UpdateKind
from engine.worker.capture.counts import Counts
from engine.worker.capture.lifetimes import Lifetimes
from engine.worker.capture.outbox import Outbox


class Update(msgspec.Struct, frozen=True):
    """The fields of `Updated` but its number."""

    kind: UpdateKind
    changes: tuple[ChangeWord, ...]
    state: tuple[StateWord, ...] = ()
    site: int = 0
    op: int = 0
    optimizer: str = ""
    variable: str = ""
    owner: str = ""
    set_to_none: bool = False
    groups: tuple[int, ...] = ()
    settings: tuple[dict[str, str], ...] = ()
    raised: bool = False
    pass_id: int = 0
    hook: int = 0


class Updates:
    """Numbers and says them."""

    def __init__(self, counts: Counts, outbox: Outbox, lifetimes: Lifetimes) -> None:
        self._counts = counts
        self._outbox = outbox
        self._lifetimes = lifetimes

    def add(self, update: Update) -> None:
        """Says one, after what ceased to exist before it."""
        self._lifetimes.flush()
        self._outbox.add(Updated(self._counts.new_update(), *astuple(update)))
