"""What records one program: its parts, and the patches through which they are told. The one place that makes and undoes
patches."""

import contextlib
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy
import torch

from engine.events import BlobSaid, Ended, Started
from engine.limits import DEFAULT_LIMITS
from engine.worker.capture.batches import Batches
from engine.worker.capture.checkpoints import watch_checkpoints
from engine.worker.capture.edits_by_hand import Observer
from engine.worker.capture.final_state import FinalState
from engine.worker.capture.hooks import Hooks
from engine.worker.capture.module_apply import Walks
from engine.worker.capture.modules import Modules
from engine.worker.capture.ops import Recording
from engine.worker.capture.optimizers import Optimizers
from engine.worker.capture.passes import Backward
from engine.worker.capture.recorder import Recorder
from engine.worker.devices.asked import simulate_devices
from engine.worker.distributed.replacements import replace_ranks
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.patching import Patches
from engine.worker.pytorch.tracebacks import clean_tracebacks
from engine.worker.runtime import wrappers
from engine.worker.runtime.program_name import PROGRAM
from engine.worker.runtime.sender import Sender
from engine.worker.runtime.streams import watch_warnings

_PYTHONS_OWN = frozenset(("__annotations__", "__warningregistry__"))
"""Globals that Python makes as a program runs."""


class Instrumentation:
    """Records what runs while it is installed and its `mode` is active."""

    def __init__(self, names: dict[str, Any], files: Iterable[str] = (PROGRAM,)) -> None:
        """`names`: the program's globals; those that are there now are not the program's. `files`: its code."""
        self.names = names
        self.recorder = recorder = Recorder(DEFAULT_LIMITS, files)
        self.observer = Observer(recorder)
        self.mode = Recording(recorder, self.observer)
        self.modules = Modules(recorder, names)
        self.hooks = Hooks(recorder, self.modules)
        self.backward = Backward(recorder, self.mode, self.hooks)
        self.walks = Walks(recorder, self.modules)
        self.finish = FinalState(
            recorder, self.modules, self.backward, self.mode.reading, frozenset(names) | _PYTHONS_OWN
        )
        self._patches = Patches()

    # Patches

    def install(self) -> None:
        """Stands between programs and PyTorch; nothing is recorded before the mode is active."""
        patches, mode, recorder = self._patches, self.mode, self.recorder
        clean_tracebacks(patches)
        optimizers = Optimizers(recorder, mode, self.names)
        wrappers.wrap_steps(optimizers, patches)
        wrappers.wrap_zero_grad(optimizers, patches)
        wrappers.wrap_modules(self.modules, self.hooks, patches)
        self.hooks.install(patches)
        self.walks.install(patches)
        wrappers.wrap_functions(mode, patches)
        watch_checkpoints(recorder, patches)
        wrappers.wrap_from_numpy(mode, patches)
        wrappers.wrap_variable(mode, patches)
        wrappers.wrap_set(mode, patches)
        wrappers.wrap_swaps(mode, patches)
        wrappers.keep_fast_paths(mode, patches)
        wrappers.wrap_saved_hooks(recorder, patches)
        wrappers.replace_compile(recorder, patches)
        wrappers.replace_workers(recorder, patches)
        Batches(recorder).install(patches)
        wrappers.note_data_parallel(recorder, patches)
        self.backward.install()

    def enter(self) -> None:
        """The same for what belongs to the thread of the program: called there, before its first line."""
        watch_warnings(self.recorder, self._patches)
        wrappers.wrap_threads(self.mode, self._patches)

    def take_ranks(self) -> None:
        """Processes and process groups of the program's are threads from here on: in a process made for one run."""
        replace_ranks(self.mode, self.backward, self._patches)

    def take_devices(self, source: str) -> None:
        """The devices that the program asks for in a comment are there from here on: in a process made for one run."""
        simulate_devices(source, self.mode, self._patches)

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
        self.recorder.outbox.say(Started(*versions, torch.get_num_threads()))

    def close(self) -> None:
        """The program has ended, though threads of its own may go on."""
        self.recorder.close()
        self.mode.finish()

    def tell(self) -> None:
        """Says what is left at the end."""
        self.recorder.sampler.end()
        with unseen():
            self.finish.tell(self.names)
            self.walks.tell()

    def tell_what_can_be(self) -> None:
        """The same while the program goes on; called from another thread."""
        for tell in (self.recorder.sampler.end, self.finish.cuts, self.walks.tell):
            with contextlib.suppress(Exception):  # the program may change under the eyes what is looked at
                tell()

    def blobs(self) -> Iterator[BlobSaid]:
        """Contents of larger tensors, last of all."""
        with unseen():
            yield from self.finish.blobs()

    def blank_made(self, tensor: torch.Tensor) -> None:
        """A constructor gave memory as it found it."""
        if self.mode.thread.muted or self.mode.over:
            return
        with self.recorder.telling("uninitialised"):
            self.recorder.tensors.find(tensor)


@contextlib.contextmanager
def recording(
    emit: Callable[[bytes], None], names: dict[str, Any] | None = None, files: Iterable[str] = (PROGRAM,)
) -> Iterator[Instrumentation]:
    """Records what the block does, in the caller's own process and without the sandbox: no limits but those of the
    trace, no streams, no checks. Afterwards every patch is undone.

    `emit` gets the events at the end. Lines are known of code in `files`. `names` are the globals whose variables name
    the tensors. An exception of the block is the caller's; what was recorded until then is said.
    """
    instruments = Instrumentation({} if names is None else names, files)
    instruments.install()
    try:
        instruments.enter()
        instruments.recorder.begin(DEFAULT_LIMITS)
        instruments.begin()
        started = time.perf_counter()
        try:
            with instruments.mode:
                yield instruments
        finally:
            instruments.close()
            instruments.tell()
            instruments.recorder.outbox.say(Ended((time.perf_counter() - started) * 1000))
            for blob in instruments.blobs():
                instruments.recorder.outbox.say(blob)
            Sender(instruments.recorder, emit, "").flush()
    finally:
        instruments.uninstall()
