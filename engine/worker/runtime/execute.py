"""Runs one program and says everything that happens in it."""

import builtins
import contextlib
import functools
import gc
import io
import linecache
import random
import signal
import sys
import threading
import time
import types
from collections.abc import Callable

import numpy
import torch
from torch.utils.hooks import RemovableHandle

from engine import own_builtins
from engine.events import Ended, Failed, LinesNotRun, Progress
from engine.request import RunRequest
from engine.trace import Program
from engine.worker.capture.python_calls import Follower
from engine.worker.capture.recorder import Recorder
from engine.worker.checks.differences import CHECKED, Checker
from engine.worker.distributed.launched import launch, launched_ranks
from engine.worker.explain.failure import failure, syntax_failure, syntax_finding
from engine.worker.pytorch.internals import (
    be_main_thread,
    be_no_daemon,
    forget_exit_functions,
    function_mode_count,
    pop_function_mode,
    raise_in,
    renew_engine,
    run_exit_functions,
)
from engine.worker.runtime.coverage import Lines
from engine.worker.runtime.crash import keep_last_words, stand_by, take_alarms
from engine.worker.runtime.deadline import Deadline, line_of
from engine.worker.runtime.instrumentation import Instrumentation
from engine.worker.runtime.program_name import PROGRAM
from engine.worker.runtime.sender import Sender
from engine.worker.runtime.streams import RawStdout, Stream

_FLUSH_S = 0.01  # what a process killed from outside may leave unsaid; shorter costs time
_TELL_S = 0.25  # between two words on where the program is
_COLLECTED = 14_000  # the objects of recording live on, and at 700 would set the collector off again and again
_STACKS = (512 << 20, 64 << 20, 16 << 20)
"""Freeing a chain of nodes that Python has touched recurses, 50,000 nodes overflow 8 MB (pytorch 2.13)."""
_REHEARSAL = """
import torch
from torch import nn
x = torch.ones(2, 2, requires_grad=True)
y = ((x + 2) ** 2 * 3).mean()
y.backward()
text = repr(x.grad)
layer = nn.Linear(2, 2)
rule = torch.optim.SGD(layer.parameters(), lr=0.1)
nn.Sequential(layer, nn.ReLU())(x).sum().backward()
rule.step()
rule.zero_grad()
"""
"""Of each kind what most programs do."""


# Before the program is known


def make_ready() -> "Job":
    """Does all that recording needs before the program is known. Forks of this process have it done."""
    _rehearse()
    job = Job()
    job.take_over()
    stand_by()
    gc.freeze()  # what is here now stays: the collector need not walk it again and again while events pile up
    gc.set_threshold(_COLLECTED)
    return job


def prefault(job: "Job") -> None:
    """Copies the pages that recording writes to: half the time of a small run in a fork, which a process that waits for
    its program can spend while it waits."""
    job.instruments.uninstall()
    _rehearse()
    job.take_over()
    gc.freeze()


def _rehearse() -> None:
    """Records a small program and forgets it."""
    handles = RemovableHandle.next_id
    job = Job()
    job.instruments.install()
    _seed(0)
    job.call(job.lines.compile(_REHEARSAL))
    job.instruments.uninstall()
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


# One run


def run(request: RunRequest, emit: Callable[[bytes], None], job: "Job | None" = None, patience: float = 1.0) -> None:
    """Executes the program in this process and sends its events; returns however the program ends.

    `emit` gets one or more events joined by newlines, without a newline at the end. The process is not fit for a second
    run. When the wall time is over the process ends here, without returning: after `patience` times the limit, or when
    a supervisor sends SIGVTALRM, who knows how long the run waited for a processor.
    """
    threading.current_thread().name = "engine"  # not one of the threads the program has to wait for
    job = job or make_ready()
    job.take(request)
    renew_engine()
    sender = Sender(job.recorder, emit, request.program.code)

    def say_last(failed: Failed) -> None:
        job.tell_what_can_be()
        job.recorder.outbox.put(failed)
        sender.flush()

    _keep_last_words(job, sender, say_last)
    done = threading.Lock()
    thread = _thread(job, done)
    deadline = Deadline(job.recorder, thread, lambda: job.ended, say_last)
    deadline.begin(patience)
    if threading.current_thread() is threading.main_thread():  # else signals come to somebody else
        signal.signal(signal.SIGINT, lambda number, frame: raise_in(thread, KeyboardInterrupt))
    _start(thread)
    _attend(job, sender, thread, done, deadline)
    sender.flush()
    if job.broken is not None:
        if job.ran_out:
            raise MemoryError from job.broken
        raise job.broken
    for blob in job.instruments.blobs():
        job.recorder.outbox.say(blob)
        sender.flush()


def _attend(job: "Job", sender: Sender, thread: threading.Thread, done: "threading.Lock", deadline: Deadline) -> None:
    """Sends what is said while the program runs."""
    tell = time.monotonic() + _TELL_S
    while not done.acquire(timeout=_FLUSH_S):
        job.drain()
        if time.monotonic() > tell:
            job.recorder.outbox.put(Progress(line_of(thread), job.recorder.counts.ops))
            tell = time.monotonic() + _TELL_S
        sender.flush()
        deadline.check()


def _keep_last_words(job: "Job", sender: Sender, say_last: Callable[[Failed], None]) -> None:
    def crashed() -> None:
        job.instruments.tell_what_can_be()
        sender.flush()

    def exits(code: int, frame: types.FrameType) -> None:
        if job.ended:
            sender.flush()
        else:
            message = f"the process ended with exit code {code} before the program did: `os._exit` ends it at once"
            say_last(Failed("exit", "SystemExit", message, job.recorder.sites.of(frame), (), ""))

    keep_last_words(crashed, exits, sender.flush)


def _thread(job: "Job", done: "threading.Lock") -> threading.Thread:
    """The one the program runs in; it lets go of `done` when all is said."""
    before = threading.stack_size()
    done.acquire()

    def begin() -> None:
        threading.stack_size(before)  # here already: the program's own threads are not to get such stacks
        be_no_daemon()
        take_alarms()
        try:
            job.run()
        except BaseException as error:
            job.broken = error
        finally:
            done.release()

    return threading.Thread(target=begin, name="MainThread", daemon=True)


def _start(thread: threading.Thread) -> None:
    """With the largest stack there is room for."""
    before = threading.stack_size()
    try:
        for size in _STACKS:
            threading.stack_size(size)
            try:
                thread.start()
            except RuntimeError:  # the address space is limited
                continue
            return
    finally:
        threading.stack_size(before)
    thread.start()


class Job:
    """One program in its own `__main__`."""

    def __init__(self) -> None:
        self.program = Program(code="")
        self.module = types.ModuleType("__main__")
        self.names = self.module.__dict__
        self.names["__builtins__"] = builtins
        self.names["__file__"] = PROGRAM
        self.instruments = Instrumentation(self.names)
        self.lines = Lines(self.instruments.blank_made)
        self.below: RawStdout | None = None
        self.streams: tuple[Stream, ...] = ()
        self.checker: Checker | None = None
        self.follower: Follower | None = None
        self.ranks = 0
        """How many a launcher runs it as; 0 where it asks for no launcher."""
        self.ended = False
        self.ran_out = False
        """The program ended because its memory did."""
        self.broken: BaseException | None = None
        """What kept it from saying all: most often there was no memory left to say it."""

    @property
    def recorder(self) -> Recorder:
        """Where everything is said."""
        return self.instruments.recorder

    def take_over(self) -> None:
        """Stands between programs and PyTorch in a process made for one run."""
        self.instruments.install()
        self.instruments.take_ranks()

    def take(self, request: RunRequest) -> None:
        """Learns what to run and what to look at."""
        self.program = request.program
        self.recorder.begin(request.limits)
        if CHECKED.intersection(request.checks):
            self.checker = Checker(self.recorder, request, self.instruments.backward)
            self.checker.install()
        if "calls" in request.checks:
            self.follower = Follower(self.recorder, request.program.code)

    def run(self) -> None:
        """Everything from the first word to the last: a run that does not say `end` has not ended well."""
        started = time.perf_counter()
        recorder = self.recorder
        self.instruments.begin()
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
            self.instruments.backward.uninstall()
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
        self.ran_out = isinstance(raised, MemoryError)
        self._wind_up(raised)
        try:
            self.tell()
        except Exception as error:  # nothing may cost the failure itself
            self.recorder.trouble("end", error)
        if raised is not None:
            failed = failure(raised, self.recorder, source)
            if failed is not None:
                self.recorder.outbox.say(failed)

    def _enter(self) -> None:
        """Makes the process the program's own."""
        _seed(self.program.seed)
        sys.modules["__main__"] = self.module
        sys.argv = [PROGRAM]
        self.instruments.enter()
        self.ranks = launched_ranks(self.program.code, self.recorder)
        self.instruments.take_devices(self.program.code)
        be_main_thread()
        sys.stdin = io.StringIO()
        below = self.below = RawStdout(self.recorder)
        out, err = self.streams = Stream(self.recorder, "stdout", below.real, below), Stream(self.recorder, "stderr", 2)
        sys.stdout = sys.__stdout__ = out  # type: ignore[misc, assignment]
        sys.stderr = sys.__stderr__ = err  # type: ignore[misc, assignment]

    def call(self, code: types.CodeType) -> BaseException | None:
        """Runs it; gives what it raised."""
        try:
            with self.instruments.mode:
                if self.follower is not None:
                    self.follower.begin()
                if self.ranks:
                    launch(self.ranks, self.names, functools.partial(exec, code))
                else:
                    exec(code, self.names)
        except BaseException as error:
            return error
        finally:
            if self.follower is not None:
                self.follower.end()
            while function_mode_count():
                pop_function_mode()
        return None

    def _wind_up(self, error: BaseException | None) -> None:
        """What Python does after the last line: it waits for threads and calls what was registered for the end."""
        if isinstance(error, SystemExit) and error.code is not None and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
        for work in (_join, self._run_exit_functions):
            try:
                work()
            except BaseException:
                continue  # Python would print it
        own_builtins.restore()
        self.drain()
        self.instruments.close()

    def _run_exit_functions(self) -> None:
        with self.instruments.mode:
            run_exit_functions()

    def drain(self) -> None:
        """Tells and passes on what was written."""
        if self.below is not None:
            self.below.drain()
        for stream in self.streams:
            stream.pass_on()

    def tell(self) -> None:
        """Says what is left at the end."""
        self.instruments.tell()
        self._tell_lines()

    def tell_what_can_be(self) -> None:
        """Says what can be said while the program goes on; called from another thread."""
        self.instruments.tell_what_can_be()
        self._tell_lines()

    def _tell_lines(self) -> None:
        not_run = self.lines.not_run()
        if not_run:
            self.recorder.outbox.put(LinesNotRun(not_run))


def _join() -> None:
    """Waits for the program's threads, and for those that they start."""
    while waited := [thread for thread in threading.enumerate() if _is_waited_for(thread)]:
        for thread in waited:
            thread.join()


def _is_waited_for(thread: threading.Thread) -> bool:
    if thread is threading.current_thread() or thread.daemon or thread.name == "engine":
        return False
    return thread.ident != threading.main_thread().ident
