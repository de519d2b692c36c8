"""What records one program: its parts, and the patches through which they are told. The one place that makes and undoes
patches."""

import contextlib
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from engine.events import BlobSaid, Ended, Started
from engine.limits import DEFAULT_LIMITS
from engine.worker.capture.checkpoints import watch_checkpoints
from engine.worker.capture.edits_by_hand import Observer
from engine.worker.capture.final_state import Finish
from engine.worker.capture.hooks import Hooks
from engine.worker.capture.module_apply import Walks
from engine.worker.capture.modules import Modules
from engine.worker.capture.ops import Recording
from engine.worker.capture.optimizers import Optimizers
from engine.worker.capture.passes import Backward
from engine.worker.capture.record import Ledger
from engine.worker.pytorch.internals import disable_torch_function
from engine.worker.pytorch.patching import Patches
from engine.worker.pytorch.tracebacks import clean_tracebacks
from engine.worker.runtime import wrappers
from engine.worker.runtime.sender import Sender
from engine.worker.runtime.streams import watch_warnings

_PYTHONS_OWN = frozenset(("__annotations__", "__warningregistry__"))
"""Globals that Python makes as a program runs."""


class Recorder:
    """Records what runs while it is installed and its `mode` is active."""

    def __init__(self, names: dict[str, Any]) -> None:
        """`names`: the program's globals; those that are there now are not the program's."""
        self.names = names
        self.ledger = ledger = Ledger(DEFAULT_LIMITS)
        self.observer = Observer(ledger)
        self.mode = Recording(ledger, self.observer)
        self.modules = Modules(ledger, names)
        self.hooks = Hooks(ledger, self.modules)
        self.backward = Backward(ledger, self.mode, self.hooks)
        self.walks = Walks(ledger, self.modules)
        self.finish = Finish(ledger, self.modules, self.backward, self.mode.reading, frozenset(names) | _PYTHONS_OWN)
        self._patches = Patches()

    # Patches

    def install(self) -> None:
        """Stands between programs and PyTorch; nothing is recorded before the mode is active."""
        patches, mode, ledger = self._patches, self.mode, self.ledger
        clean_tracebacks(patches)
        optimizers = Optimizers(ledger, mode, self.names)
        wrappers.wrap_steps(optimizers, patches)
        wrappers.wrap_zero_grad(optimizers, patches)
        wrappers.wrap_modules(self.modules, self.hooks, patches)
        self.hooks.install(patches)
        self.walks.install(patches)
        wrappers.wrap_functions(mode, patches)
        watch_checkpoints(ledger, patches)
        wrappers.wrap_from_numpy(mode, patches)
        wrappers.wrap_set(mode, patches)
        wrappers.wrap_swaps(mode, patches)
        wrappers.keep_fast_paths(mode, patches)
        wrappers.wrap_saved_hooks(ledger, patches)
        wrappers.replace_compile(ledger, patches)
        wrappers.replace_workers(ledger, patches)
        self.backward.install()

    def enter(self) -> None:
        """The same for what belongs to the thread of the program: called there, before its first line."""
        watch_warnings(self.ledger, self._patches)
        wrappers.wrap_threads(self.mode, self._patches)

    def uninstall(self) -> None:
        """Puts back all that was replaced."""
        self.backward.uninstall()
        self._patches.undo()

    # What is told

    def begin(self) -> None:
        """Says what runs here."""
        on_cuda: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        device = f"cuda:{torch.cuda.current_device()}" if on_cuda else "cpu"
        cuda = torch.version.cuda if torch.cuda.is_available() else None
        versions = platform.python_version(), str(torch.__version__), device, numpy.__version__, cuda
        self.ledger.say(Started(*versions, torch.get_num_threads()))

    def close(self) -> None:
        """The program has ended, though threads of its own may go on."""
        self.ledger.closed = True
        self.mode.over = True
        self.mode.plans.clear()

    def tell(self) -> None:
        """Says what is left at the end."""
        self.ledger.thin.end()
        with disable_torch_function():
            self.finish.tell(self.names)
            self.walks.tell()

    def tell_what_can_be(self) -> None:
        """The same while the program goes on; called from another thread."""
        for tell in (self.ledger.thin.end, self.finish.cuts, self.walks.tell):
            with contextlib.suppress(Exception):  # the program may change under the eyes what is looked at
                tell()

    def blobs(self) -> Iterator[BlobSaid]:
        """Contents of larger tensors, last of all."""
        with disable_torch_function():
            yield from self.finish.blobs()

    def blank_made(self, tensor: torch.Tensor) -> None:
        """A constructor gave memory as it found it."""
        ledger = self.ledger
        if self.mode.here.muted or self.mode.over:
            return
        try:
            with ledger.lock, disable_torch_function():
                ledger.found(tensor)
        except Exception as error:
            ledger.trouble("uninitialised", error)


@contextlib.contextmanager
def recording(emit: Callable[[bytes], None], names: dict[str, Any] | None = None) -> Iterator[Recorder]:
    """Records what the block does, in the caller's own process and without the sandbox: no limits but those of the
    trace, no streams, no checks. Afterwards every patch is undone.

    `emit` gets the events at the end. Lines are known of code that was compiled as `PROGRAM`. `names` are the globals
    whose variables name the tensors. An exception of the block is the caller's; what was recorded until then is said.
    """
    recorder = Recorder({} if names is None else names)
    recorder.install()
    try:
        recorder.enter()
        recorder.ledger.thin.begin()
        recorder.begin()
        started = time.perf_counter()
        try:
            with recorder.mode:
                yield recorder
        finally:
            recorder.close()
            recorder.tell()
            recorder.ledger.say(Ended((time.perf_counter() - started) * 1000))
            for blob in recorder.blobs():
                recorder.ledger.say(blob)
            Sender(recorder.ledger, emit, "").flush()
    finally:
        recorder.uninstall()
