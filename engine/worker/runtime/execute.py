"""Runs one program and says everything that happens in it."""

import builtins
import contextlib
import faulthandler
import gc
import io
import linecache
import os
import platform
import random
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch
from torch.utils.hooks import RemovableHandle

from engine.events import BlobSaid, Ended, Failed, Going, LinesNotRun, Started
from engine.limits import DEFAULT_LIMITS
from engine.request import RunRequest
from engine.trace import Program
from engine.worker.capture.checkpoints import watch_checkpoints
from engine.worker.capture.edits_by_hand import Observer
from engine.worker.capture.final_state import Finish
from engine.worker.capture.hooks import Hooks
from engine.worker.capture.module_apply import Walks
from engine.worker.capture.modules import Modules
from engine.worker.capture.ops import Recording
from engine.worker.capture.optimizers import Optimizers, wrap_steps
from engine.worker.capture.passes import Backward
from engine.worker.capture.python_calls import Follower
from engine.worker.capture.recorder import Recorder
from engine.worker.checks.differences import CHECKED, Checker
from engine.worker.explain.failure import failure, syntax_failure, syntax_finding
from engine.worker.pytorch.internals import (
    be_main_thread,
    be_no_daemon,
    current_frames,
    disable_torch_function,
    forget_exit_functions,
    function_mode_count,
    pop_function_mode,
    run_exit_functions,
)
from engine.worker.pytorch.patches import (
    keep_fast_paths,
    replace_compile,
    replace_workers,
    wrap_from_numpy,
    wrap_functions,
    wrap_modules,
    wrap_saved_hooks,
    wrap_set,
    wrap_swaps,
    wrap_threads,
    wrap_zero_grad,
)
from engine.worker.pytorch.patching import Patches
from engine.worker.runtime.coverage import Lines
from engine.worker.runtime.crash import call_at, keep_last_words, stand_aside, stand_by
from engine.worker.runtime.program import PROGRAM
from engine.worker.runtime.sender import Sender
from engine.worker.runtime.streams import Below, Stream, watch_warnings
from engine.worker.runtime.tracebacks import clean_tracebacks

_FLUSH_S = 0.01  # what a process killed from outside may leave unsaid; shorter costs time
_LATE_S = 0.05  # when the program leaves no other thread its turn
_TOLD_S = 0.5
_end = os._exit
_TELL_S = 0.25  # between two words on where the program is
_COLLECTED = 14_000  # the objects of recording live on, and at 700 would set the collector off again and again
_STACKS = (512 << 20, 64 << 20, 16 << 20)
"""Freeing a chain of nodes that Python has touched recurses, 50,000 nodes overflow 8 MB (pytorch 2.13)."""


_REHEARSAL = """
import torch
x = torch.ones(2, 2, requires_grad=True)
y = ((x + 2) ** 2 * 3).mean()
y.backward()
text = repr(x.grad)
"""


def make_ready() -> "Job":
    """Does all that recording needs before the program is known. Forks of this process have it done."""
    _rehearse()
    job = Job()
    job.install()
    stand_by()
    gc.freeze()  # what is here now stays: the collector need not walk it again and again while events pile up
    gc.set_threshold(_COLLECTED)
    return job


def practise(job: "Job") -> None:
    """Copies the pages that recording writes to: half the time of a small run in a fork, which a process that waits for its
    program can spend while it waits."""
    job.backward.uninstall()
    _rehearse()
    job.backward.install()
    gc.freeze()


def run(request: RunRequest, emit: Callable[[bytes], None], job: "Job | None" = None) -> None:
    """Executes the program in this process and sends its events; returns however the program ends.

    `emit` gets one or more events joined by newlines, without a newline at the end. The process is not fit for a second run.
    When the wall time is over the process ends here, without returning.
    """
    threading.current_thread().name = "engine"  # not one of the threads the program has to wait for
    job = job or make_ready()
    job.program = request.program
    recorder = job.recorder
    recorder.begin(request.limits)
    if CHECKED.intersection(request.checks):
        job.checker = Checker(recorder, request, job.names, job.backward)
        job.checker.install()
    if "calls" in request.checks:
        job.follower = Follower(recorder, request.program.code)
    sender = Sender(recorder, emit, request.program.code)
    keep_last_words(lambda: _crashes(job, sender), lambda code, frame: _exits(job, sender, code, frame), sender.flush)
    worn = _watch_processor()
    call_at(request.limits.wall_s + _LATE_S, lambda: _out_of_time(job, thread, sender, "wall_s"))
    thread = _start(job.run)
    stand_aside()
    started = time.monotonic()
    deadline, tell = started + request.limits.wall_s, started + _TELL_S
    while thread.is_alive():
        thread.join(_FLUSH_S)
        if job.below is not None:
            job.below.drain()
        now = time.monotonic()
        if now > tell:
            recorder.outbox.put(Going(_line(thread), recorder.counts.ops))
            tell = now + _TELL_S
        sender.flush()
        if worn:
            _out_of_time(job, thread, sender, "cpu_s")
        if now > deadline:
            _out_of_time(job, thread, sender, "wall_s")
    sender.flush()
    for blob in job.blobs():
        recorder.outbox.say(blob)
        sender.flush()


def _line(thread: threading.Thread) -> int:
    """The user's line a thread is at, 0 for none."""
    frame = current_frames().get(thread.ident or 0)
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno or 0


def _rehearse() -> None:
    """Records a small program and forgets it."""
    handles = RemovableHandle.next_id
    job = Job()
    job.backward.install()
    _seed(0)
    job.call(job.lines.compile(_REHEARSAL))
    job.backward.uninstall()
    job.tell()
    Sender(job.recorder, lambda piece: None, _REHEARSAL).flush()
    RemovableHandle.next_id = handles


def _seed(seed: int) -> None:
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.manual_seed(seed)
    else:  # the same for the one generator there is, without a look at each kind of device
        torch.default_generator.manual_seed(seed)
    numpy.random.seed(seed % 2**32)
    random.seed(seed)


def _start(target: Callable[[], None]) -> threading.Thread:
    before = threading.stack_size()

    def begin() -> None:
        threading.stack_size(before)  # here already: the program's own threads are not to get such stacks
        be_no_daemon()
        target()

    thread = threading.Thread(target=begin, name="MainThread", daemon=True)
    try:
        for size in _STACKS:
            threading.stack_size(size)
            try:
                thread.start()
            except RuntimeError:  # the address space is limited
                continue
            return thread
    finally:
        threading.stack_size(before)
    thread.start()
    return thread


def _device() -> str:
    """A child meant for CUDA has initialised it before the sandbox closed."""
    return f"cuda:{torch.cuda.current_device()}" if torch.cuda.is_initialized() else "cpu"  # type: ignore[no-untyped-call]


def _watch_processor() -> list[int]:
    """Filled once the processor time is used up; without it the process would end at once, and not say where."""
    worn: list[int] = []
    if hasattr(signal, "SIGXCPU") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGXCPU, lambda number, frame: worn.append(number))
    return worn


_TIMES = {"wall_s": "time limit of {:g} s", "cpu_s": "limit of {:g} s of processor time"}


def _out_of_time(job: "Job", thread: threading.Thread, sender: Sender, limit: str) -> None:
    if job.ended:
        _end(0)  # only a check is under way
    if not job.stopping.acquire(blocking=False):
        time.sleep(_TOLD_S)  # the other thread that noticed needs its turn
        return
    recorder = job.recorder
    frame = current_frames().get(thread.ident or 0)
    site = recorder.sites.of(frame)
    line = _line(thread)
    job.stopped()
    job.tell_lines()
    what = _TIMES[limit].format(getattr(recorder.limits, limit))
    if line:
        message = f"{what} reached at line {line}; make the loop shorter or ask for a larger `{limit}`"
    else:
        message = f"{what} reached outside the program's own lines; let it do less or ask for a larger `{limit}`"
        faulthandler.dump_traceback(2)  # for the operator
    recorder.outbox.put(Failed("limit", limit, message, site, (), "", limit=limit))
    sender.flush()
    _end(0)


def _exits(job: "Job", sender: Sender, code: int, frame: types.FrameType) -> None:
    """The program calls `os._exit`."""
    if not job.ended:
        recorder = job.recorder
        job.stopped()
        job.tell_lines()
        message = f"the process ended with exit code {code} before the program did: `os._exit` ends it at once"
        recorder.outbox.put(Failed("exit", "SystemExit", message, recorder.sites.of(frame), (), ""))
    sender.flush()


def _crashes(job: "Job", sender: Sender) -> None:
    """Native code has crashed."""
    job.stopped()
    sender.flush()


class Job:
    """One program in its own `__main__`, and what records it."""

    def __init__(self) -> None:
        self.program = Program(code="")
        self.patches = Patches()
        self.recorder = recorder = Recorder(DEFAULT_LIMITS, (PROGRAM,))
        self.module = types.ModuleType("__main__")
        self.names: dict[str, Any] = self.module.__dict__
        self.names["__builtins__"] = builtins
        self.names["__file__"] = PROGRAM
        self.given = frozenset(self.names)
        self.below: Below | None = None
        self.lines = Lines(self._found)
        self.observer = Observer(recorder)
        self.mode = Recording(recorder, self.observer)
        self.modules = Modules(recorder, self.names)
        self.hooks = Hooks(recorder, self.modules)
        self.backward = Backward(recorder, self.mode, self.hooks)
        self.walks = Walks(recorder, self.modules)
        self.checker: Checker | None = None
        self.follower: Follower | None = None
        self.ended = False
        self.stopping = threading.Lock()
        """Held by the thread that says where the program was when its time was over."""
        self.finish = Finish(
            recorder,
            self.modules,
            self.backward,
            self.mode.reading,
            self.given | {"__annotations__", "__warningregistry__"},
        )

    def run(self) -> None:
        """Everything from the first word to the last: a run that does not say `end` has not ended well."""
        started = time.perf_counter()
        recorder = self.recorder
        cuda = torch.version.cuda if torch.cuda.is_available() else None
        threads = torch.get_num_threads()
        recorder.outbox.say(
            Started(platform.python_version(), str(torch.__version__), _device(), numpy.__version__, cuda, threads)
        )
        told = False
        with contextlib.suppress(MemoryError):  # what the program's frames hold is freed on the way out
            self._execute()
            told = True
        if not told:
            message = "memory ran out, and what the program held left none to tell where; make its data smaller"
            recorder.outbox.say(Failed("memory", "memory_bytes", message, 0, (), "", limit="memory_bytes"))
        recorder.outbox.say(Ended((time.perf_counter() - started) * 1000))
        self.ended = True
        if self.checker is not None:
            self.backward.uninstall()
            self.checker.tell()

    def _execute(self) -> None:
        self._enter()
        source = self.program.code
        linecache.cache[PROGRAM] = (len(source), None, source.splitlines(keepends=True), PROGRAM)
        try:
            code = self.lines.compile(source)
        except Exception as error:  # nesting too deep is a RecursionError or a MemoryError
            self.recorder.outbox.say(syntax_failure(error, self.recorder))
            found = syntax_finding(error, source, self.recorder)
            if found is not None:
                self.recorder.outbox.say(found)
            return
        forget_exit_functions()  # what this process would do at its end is not the program's
        raised = self.call(code)
        self._wind_up(raised)
        self.tell()
        if raised is not None:
            failed = failure(raised, self.recorder, source)
            if failed is not None:
                self.recorder.outbox.say(failed)

    def _wind_up(self, error: BaseException | None) -> None:
        """What Python does after the last line: it waits for threads and calls what was registered for the end."""
        if isinstance(error, SystemExit) and error.code is not None and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
        with contextlib.suppress(BaseException):
            self._join()
        with contextlib.suppress(BaseException), self.mode:
            run_exit_functions()
        if self.below is not None:
            self.below.drain()
        self.recorder.close()
        self.mode.finish()

    @staticmethod
    def _join() -> None:
        here = threading.current_thread()
        others = [thread for thread in threading.enumerate() if thread is not here and not thread.daemon]
        for thread in others:
            if thread.ident != threading.main_thread().ident and thread.name != "engine":
                thread.join()

    def install(self) -> None:
        """Puts the recording between programs and PyTorch; nothing is recorded before a program runs."""
        patches = self.patches
        clean_tracebacks(patches)
        optimizers = Optimizers(self.recorder, self.mode, self.names)
        wrap_steps(optimizers, patches)
        wrap_modules(self.modules, self.hooks, patches)
        self.hooks.install(patches)
        self.walks.install(patches)
        wrap_functions(self.mode, patches)
        watch_checkpoints(self.recorder, patches)
        wrap_from_numpy(self.mode, patches)
        wrap_set(self.mode, patches)
        wrap_swaps(self.mode, patches)
        keep_fast_paths(self.mode, patches)
        wrap_saved_hooks(self.recorder, patches)
        replace_compile(self.recorder, patches)
        replace_workers(self.recorder, patches)
        wrap_zero_grad(optimizers, patches)
        self.backward.install()

    def _enter(self) -> None:
        watch_warnings(self.recorder, self.patches)
        _seed(self.program.seed)
        sys.modules["__main__"] = self.module
        sys.argv = [PROGRAM]
        wrap_threads(self.mode, self.patches)
        be_main_thread()
        sys.stdin = io.StringIO()
        below = self.below = Below(self.recorder)
        sys.stdout = sys.__stdout__ = Stream(self.recorder, "stdout", below.real, below)  # type: ignore[misc, assignment]
        sys.stderr = sys.__stderr__ = Stream(self.recorder, "stderr", 2)  # type: ignore[misc, assignment]

    def tell(self) -> None:
        """Says what is left at the end."""
        self.recorder.sampler.end()
        with disable_torch_function():
            self.finish.tell(self.names)
            self.walks.tell()
        self.tell_lines()

    def stopped(self) -> None:
        """Says what can be said while the program goes on; called from another thread."""
        with contextlib.suppress(Exception):  # the program may change under the eyes what is looked at
            self.recorder.sampler.end()
        with contextlib.suppress(Exception):
            self.finish.cuts()
        with contextlib.suppress(Exception):
            self.walks.tell()

    def _found(self, tensor: Any) -> None:
        recorder = self.recorder
        if self.mode.thread.muted or self.mode.over:
            return
        try:
            with recorder.lock, disable_torch_function():
                recorder.tensors.find(tensor)
        except Exception as error:
            recorder.trouble("uninitialised", error)

    def tell_lines(self) -> None:
        """Says which lines have not run so far."""
        not_run = self.lines.not_run()
        if not_run:
            self.recorder.outbox.put(LinesNotRun(not_run))

    def call(self, code: types.CodeType) -> BaseException | None:
        """Runs it; gives what it raised."""
        try:
            with self.mode:
                if self.follower is not None:
                    self.follower.begin()
                exec(code, self.names)
        except BaseException as error:
            return error
        finally:
            if self.follower is not None:
                self.follower.end()
            while function_mode_count():
                pop_function_mode()
        return None

    def blobs(self) -> Iterator[BlobSaid]:
        """Contents of larger tensors, last of all."""
        with disable_torch_function():
            yield from self.finish.blobs()
