"""Values that changed outside the graph."""

from msgspec.structs import replace

from engine.events import Updated
from engine.worker.capture.counts import Counts
from engine.worker.capture.lifetimes import Lifetimes
from engine.worker.capture.outbox import Outbox
from engine.worker.capture.thread_state import ThreadState


class Updates:
    """Numbers and says them."""

    def __init__(self, counts: Counts, outbox: Outbox, lifetimes: Lifetimes, thread: ThreadState) -> None:
        self._counts = counts
        self._outbox = outbox
        self._lifetimes = lifetimes
        self._thread = thread

    def add(self, update: Updated) -> None:
        """Numbers one and says it, after what ceased to exist before it."""
        self._lifetimes.flush()
        self._outbox.add(replace(update, id=self._counts.new_update(), thread=self._thread.number))
