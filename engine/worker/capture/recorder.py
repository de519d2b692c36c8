"""What records one run: the rooms in which each kind of fact has its numbers and its events.

Everything here runs between the user's own operations, so it must be quick, touch no random state, hold no tensor alive
and never raise.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator

from engine.bounds import Texts
from engine.events import Found
from engine.trace import RunLimits
from engine.worker.capture.counts import Counts
from engine.worker.capture.lifetimes import Lifetimes
from engine.worker.capture.nodes import Nodes
from engine.worker.capture.outbox import Outbox
from engine.worker.capture.saved_tensors import SavedHooks
from engine.worker.capture.sites import Sites
from engine.worker.capture.storages import Storages
from engine.worker.capture.tensors import Tensors
from engine.worker.capture.thread_state import ThreadState
from engine.worker.capture.updates import Updates
from engine.worker.compact.sampling import LoopSampler
from engine.worker.pytorch.modes import unseen

_MOST_TROUBLES = 20

Raised = tuple[BaseException | None, int]
"""An exception, and the number of what raised it."""


class Recorder:
    """Puts the rooms together."""

    def __init__(self, limits: RunLimits, files: Iterable[str] = ()) -> None:
        self.lock = threading.RLock()
        """Held while recording, once the program has threads of its own."""
        self.closed = False
        """The program has ended: what is still printed is not its own."""
        self.raised: Raised = (None, 0)
        """By the last op that raised."""
        self.raised_in_pass: Raised = (None, 0)
        """By the last call of the engine that raised."""
        self._troubles = 0
        self.texts = Texts()
        self.counts = counts = Counts(limits)
        self.outbox = outbox = Outbox()
        self.sites = Sites(files)
        self.thread = thread = ThreadState()
        self.lifetimes = Lifetimes(counts, outbox)
        self.storages = Storages(outbox)
        self.updates = Updates(counts, outbox, self.lifetimes, thread)
        self.saved_hooks = SavedHooks()
        self.tensors = Tensors(counts, outbox, self.lifetimes, self.storages, self.updates, thread)
        self.nodes = Nodes(
            counts, outbox, self.sites, thread, self.lifetimes, self.storages, self.tensors, self.saved_hooks
        )
        self.tensors.nodes = self.nodes
        self.sampler = LoopSampler(counts, outbox, self.sites, thread, self.storages, self.tensors, self.nodes)

    def begin(self, limits: RunLimits) -> None:
        """The program begins, and its limits are known."""
        self.counts.begin(limits)
        self.sampler.begin()

    def close(self) -> None:
        """The program has ended."""
        self.closed = True

    @property
    def limits(self) -> RunLimits:
        """Those of the run."""
        return self.counts.limits

    @contextlib.contextmanager
    def telling(self, what: str) -> Iterator[None]:
        """Context: a moment of recording that no mode of the program's sees; where it fails, that is said. What runs
        at each op or hook spells this out: a context costs two microseconds."""
        try:
            with self.lock, unseen():
                yield
                self.outbox.publish()
        except Exception as error:
            self.trouble(what, error)

    def trouble(self, what: str, error: Exception) -> None:
        """Says that one thing could not be recorded; the program goes on."""
        self._troubles += 1
        self.nodes.forget_op()
        if self._troubles <= _MOST_TROUBLES:
            reason = type(error).__name__
            with contextlib.suppress(Exception):  # the program's own may have no text
                reason += f": {error}"
            self.outbox.add(Found("not_recorded", "note", 0, {"what": what, "reason": reason[:300]}))
        self.outbox.publish()

    def op_raised(self, error: BaseException, op: int) -> None:
        """Notes which op an exception comes from: the innermost."""
        if self.raised[0] is not error:
            self.raised = (error, op)

    def pass_raised(self, error: BaseException, number: int) -> None:
        """Notes which call of the engine an exception comes from: the innermost."""
        if self.raised_in_pass[0] is not error:
            self.raised_in_pass = (error, number)
