"""Sees every torch call the user's code makes, and records it as an op.

The user's warnings and errors pass through the frames of this module. Its `__name__` and `__warningregistry__` are set
so that a warning raised by PyTorch under such a frame is filtered as one of `__main__` and never counted as already
shown; `streams` then gives it the place it has without recording.
"""

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from types import FrameType
from typing import Any, TypeAlias

import msgspec
import torch
from torch.overrides import TorchFunctionMode

from engine import events
from engine.events import IN_PLACE, INFERENCE, NO_GRAD, RAISED, VIEW, OpRan, Word
from engine.worker.capture.cells_read import Reading
from engine.worker.capture.edits_by_hand import Observer
from engine.worker.capture.op_names import Called, learn
from engine.worker.capture.planned_ops import PlannedOps
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import plain_text
from engine.worker.capture.tensor_facts import is_tracked_leaf, look, version_of
from engine.worker.capture.tensor_state import State, Taken
from engine.worker.compact.patterns import MOST, plan_of
from engine.worker.pytorch.internals import (
    StopRecomputation,
    disable_torch_function,
    get_frame,
    next_sequence_nr,
    tracing_state,
)
from engine.worker.pytorch.originals import original

_Tensor = torch.Tensor
_Parameter = torch.nn.Parameter
_grad_enabled = torch.is_grad_enabled
_EXACT = frozenset((_Tensor, _Parameter))
"""Types whose attributes are PyTorch's own: a method without arguments gives them as if they were overloaded."""
_PLAIN = frozenset((int, float, bool, type(None), str))


Around: TypeAlias = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any], Callable[[], Any], str], Any]
"""Given what is called, the arguments, how to go on, and the name of a custom Function; gives the result."""


class _Call(msgspec.Struct):
    """One op from its arguments to its record."""

    called: Called
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    frame: FrameType
    """Of who called it."""
    taken: Taken
    words: tuple[Word, ...] = ()
    keywords: dict[str, Word] | None = None
    since: int = 0
    """Nodes made by it have this sequence number or a higher one."""
    started_ns: int = 0
    ended_ns: int = 0


Changed = list[tuple[torch.Tensor, State, int]]
"""What an op wrote into: the tensor, its state, its record before."""


class Recording(TorchFunctionMode):
    """Active while the program runs."""

    def __init__(self, recorder: Recorder, observer: Observer) -> None:
        super().__init__()
        self.recorder = recorder
        self.observer = observer
        self.known: dict[object, Called | None] = {}
        self.thread = recorder.thread
        self.reading = Reading()
        self.planned = PlannedOps(recorder)
        self.chances: dict[int, int] = {}
        """How many more ops are looked at for a plan, by place where one has run."""
        self.patterns = 0
        self.around: Around | None = None
        """Stands around every call for one who checks what comes out; no plans are made then."""
        self.over = False
        """The program has ended, though threads of its own may go on."""

    def forget_plans(self) -> None:
        """What is alike at one place can no longer be told."""
        self.planned.plans.clear()

    def finish(self) -> None:
        """The program has ended."""
        self.over = True
        self.forget_plans()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Runs and records one call."""
        frame = get_frame(1)
        planned = None if kwargs else self.planned.find(func, args, frame)
        if planned is None or self.thread.muted or tracing_state() is not None:
            return self._first(func, types, args, kwargs or {}, frame)
        plan, inputs = planned
        since = next_sequence_nr()
        started = perf_counter_ns()
        try:
            result = func(*args)
        except BaseException as error:
            self._raised(_Call(plan.called, args, {}, frame, [], plan.filled(inputs), None, since, started), error)
            raise
        ended = perf_counter_ns()
        try:
            if not self.planned.tell(plan, inputs, args, result, since, ended - started, frame):
                taken = plan.taken(args, inputs, self.recorder.tensors.states)
                words = plan.filled(inputs)
                self._record(_Call(plan.called, args, {}, frame, taken, words, None, since, started, ended), result)
        except RecursionError:  # the program is at the end of its stack: what comes next is its own error
            self.recorder.outbox.drop()
        except Exception as error:
            self.recorder.trouble(plan.called.name, error)
        return result

    def _first(
        self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:  # fmt: skip
        """Runs and records what no plan is made for."""
        if self.around is not None:
            return self.around(func, args, kwargs, partial(self._unplanned, func, types, args, kwargs, frame), "")
        return self._unplanned(func, types, args, kwargs, frame)

    def _unplanned(
        self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:  # fmt: skip
        given = getattr(func, "__code__", None)
        if given is not None and self.recorder.sites.is_users(given):
            func = original(func)
        if (self.thread.muted or self.over or tracing_state() is not None) and not self._resumes(func, frame):
            return func(*args, **kwargs)
        called = self._called(func)
        if called is None:
            return func(*args, **kwargs)
        if called.special:
            return self._special(called, func, args, kwargs, frame)
        return self.call(called, func, args, kwargs, frame, not _EXACT.issuperset(types))

    def _called(self, func: Callable[..., Any]) -> Called | None:
        """What is known of a function; None when its calls are not recorded."""
        try:
            return self.known[func]
        except (KeyError, TypeError):
            return self._learn(func)

    def _resumes(self, func: Callable[..., Any], frame: FrameType) -> bool:
        """Whether a skipped turn of a long loop ends with this call."""
        sampler = self.recorder.sampler
        if not sampler.muted or self.thread.muted != 1 or self.over or tracing_state() is not None:
            return False
        return not sampler.skips(self._called(func), frame)

    def _special(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:
        instead = self.observer.before_call(called, args)
        result = func(*args, **kwargs)
        self.observer.after_call(called, instead, args, frame)
        return result

    def call(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType,
        subclassed: bool = False,
    ) -> Any:  # fmt: skip
        """Runs one op as the user called it and records it.

        `subclassed`: reading an attribute of an argument would run the user's own `__torch_function__`. In a program
        with threads one of them records at a time, all of them compute."""
        recorder = self.recorder
        counts = recorder.counts
        if counts.ops >= counts.attention and recorder.sampler.skips(called, frame):
            return func(*args, **kwargs)
        guarded = subclassed or recorder.nodes.threaded
        call = _Call(called, args, kwargs, frame, [])
        try:
            if guarded:
                with recorder.lock, disable_torch_function():
                    self._take_arguments(call)
            else:
                self._take_arguments(call)
        except RecursionError:  # the program is at the end of its stack: what comes next is its own error
            return func(*args, **kwargs)
        call.since = next_sequence_nr()
        call.started_ns = perf_counter_ns()
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            with recorder.lock:
                self._raised(call, error)
            raise
        call.ended_ns = perf_counter_ns()
        try:
            if guarded:
                with recorder.lock, disable_torch_function():
                    self._record(call, result)
            else:
                self._record(call, result)
        except RecursionError:
            recorder.outbox.drop()
        except Exception as error:
            recorder.trouble(called.name, error)
        return result

    def _raised(self, call: _Call, error: BaseException) -> None:
        call.ended_ns = perf_counter_ns()
        try:
            op = self._op(call, (), RAISED)
            self.recorder.outbox.publish()
            # the end of a recomputation is caught: held, it would keep all that its frames have
            if not isinstance(error, StopRecomputation):
                self.recorder.op_raised(error, op)
        except RecursionError:
            self.recorder.outbox.drop()

    def introduce(self, called: Called) -> Called:
        """Numbers a function and says its names."""
        called.id = self.recorder.counts.new_function()
        self.recorder.outbox.add(events.Called(called.id, called.name, called.function))
        return called

    def _learn(self, func: Callable[..., Any]) -> Called | None:
        called = learn(func)
        if called is not None and called.id == 0:
            called.func = func
            self.introduce(called)
        with contextlib.suppress(TypeError):  # a callable that cannot be a key
            self.known[func] = called
        return called

    # Arguments

    def _take_arguments(self, call: _Call) -> None:
        """Notes the tensors among the arguments with their states and versions, and the words for all of them."""
        taken = call.taken
        words: list[Word] = []
        states = self.recorder.tensors.states
        for arg in call.args:
            kind = type(arg)
            if kind is _Tensor or kind is _Parameter:
                tensor: torch.Tensor = arg
                state = states.get(id(arg))
                if state is not None and state.ref() is tensor and not state.watched:  # as `meet` does
                    try:
                        version = tensor._version
                    except RuntimeError:  # an inference tensor has none
                        version = 0
                    if version == state.version:
                        taken.append((tensor, state, state.id, version))
                        words.append(state.id)
                        continue
            elif kind is float or kind is int:
                words.append(repr(arg))
                continue
            words.append(self._word(arg, taken))
        call.words = tuple(words)
        if call.kwargs:
            call.keywords = {name: self._word(arg, taken) for name, arg in call.kwargs.items()}

    def _word(self, arg: object, taken: Taken) -> Word:
        kind = type(arg)
        if kind in _PLAIN:
            return repr(arg) if kind is not str or len(arg) < 60 else plain_text(arg)  # type: ignore[arg-type]
        if isinstance(arg, _Tensor):
            if kind is not _Tensor and kind is not _Parameter:
                self.recorder.nodes.meet_custom_code()
            try:
                state = self.recorder.tensors.meet(arg)
            except RecursionError:
                raise
            except Exception as error:
                self.recorder.trouble("argument", error)
                return "<unreadable>"
            taken.append((arg, state, state.id, state.version))
            return state.id
        if isinstance(arg, list | tuple) and arg and self._holds_tensors(arg):
            ids = []
            for item in arg:
                word = self._word(item, taken)
                ids.append(word if type(word) is int else 0)
            return tuple(ids)
        return plain_text(arg)

    @staticmethod
    def _holds_tensors(items: Sequence[object]) -> bool:
        return any(isinstance(item, _Tensor) for item in items[:64])

    # Recording

    def _op(self, call: _Call, outputs: tuple[int, ...], flags: int) -> int:
        """Numbers an op and tells of it."""
        recorder, thread = self.recorder, self.thread
        op = recorder.counts.new_op()
        if not _grad_enabled():
            flags |= INFERENCE if torch.is_inference_mode_enabled() else NO_GRAD
        recorder.outbox.add(OpRan(
            op, call.called.id, call.words, call.keywords, outputs, recorder.sites.of(call.frame),
            thread.running_module, flags, thread.running_pass, (call.ended_ns - call.started_ns) / 1000, thread.number,
            recorder.lifetimes.take() if recorder.lifetimes.dead else (),
        ))  # fmt: skip
        return op

    def _record(self, call: _Call, result: object) -> None:
        """Records an op that has run: what it wrote, what it gave, itself."""
        recorder, called, taken = self.recorder, call.called, call.taken
        nodes = recorder.nodes
        nodes.begin(recorder.counts.ops + 1, call.since)
        known = len(nodes.numbers)
        changed = self._changes(call) if called.writes_silently or _wrote(taken) else []
        made = [result] if type(result) is _Tensor else tensors_in(result)
        states = [self._output(call, tensor) for tensor in made]
        outputs = tuple([state.id for state in states])
        if result is None:
            outputs = tuple([state.id for _, state, _ in changed])
        flags = IN_PLACE if changed else VIEW if states and _shares(made[0], states[0], taken) else 0
        nodes.end()
        if called.lends:
            recorder.tensors.lend(taken, made)
        if not outputs and not changed and called.quiet:
            recorder.outbox.publish()
            return
        op = self._op(call, outputs, flags)
        if (until := next_sequence_nr()) - call.since > len(nodes.numbers) - known:
            nodes.made_aside(call.since, until, op, self.thread.running_pass)
        if changed:
            self.observer.written(op, changed, recorder.sites.of(call.frame))
        if called.picks:
            recorder.outbox.pending.extend(
                self.reading.rows(op, called.name, called.function, call.args, call.kwargs, made, taken)
            )
        elif called.fresh and type(result) is _Tensor and not (flags or call.kwargs):
            self._plan(call, result)
        recorder.outbox.publish()

    def _plan(self, call: _Call, result: torch.Tensor) -> None:
        """Makes a plan of an op that has run at its place before, if it made one node and nothing else."""
        recorder = self.recorder
        if recorder.nodes.threaded or self.around is not None or next_sequence_nr() != call.since + 1:
            return
        code = call.frame.f_code
        key = id(code) + call.frame.f_lasti
        left = self.chances.get(key)
        if not left:
            if left is None:
                self.chances[key] = MOST
            return
        self.chances[key] = left - 1
        number = self.patterns + 1
        state = recorder.tensors.states[id(result)]
        made = plan_of(
            number, call.args, call.taken, recorder.outbox.pending, state, result, recorder.nodes, recorder.forms
        )
        if made is None:
            return
        self.patterns = number
        plan, pattern = made
        plan.other = self.planned.plans.get(key)
        plan.func, plan.called, plan.code = call.called.func, call.called, code
        plan.site = recorder.sites.of(call.frame) if recorder.sites.is_users(code) else 0
        plan.passes, plan.modules = self.thread.passes, self.thread.modules
        self.planned.plans[key] = plan
        recorder.sampler.patterns.add(pattern)
        recorder.outbox.add(pattern)

    def _changes(self, call: _Call) -> Changed:
        """The arguments that were written into, with the records they had before; all have new ones now."""
        changed: Changed = []
        for tensor, state, before, version in call.taken:
            now = version_of(tensor)
            if now not in (version, state.version):
                changed.append((tensor, state, self._renew(call, tensor, state, before, version)))
            elif now != version and state.unseen >= before:  # met since, within the same call
                changed.append((tensor, state, state.unseen))
                state.unseen = 0
            elif call.called.writes_silently and (state.role == "buffer" or state.grad_of is not None):
                seen = look(tensor)
                if (seen.data, seen.rest) != (state.look.data, state.look.rest):
                    self.recorder.tensors.renew(tensor, state)
                    if state.grad_of is not None:
                        changed.append((tensor, state, before))
        return changed

    def _renew(self, call: _Call, tensor: torch.Tensor, state: State, before: int, version: int) -> int:
        """Records what was written into an argument; gives the record that the op found."""
        tensors = self.recorder.tensors
        last = before
        if state.version == version:
            tensors.write(call.called.name, tensor, state, call.args, call.kwargs)
        else:  # what ops inside a custom Function wrote is told; not `mark_dirty`
            last = state.unseen if state.unseen >= before else state.id
        view = tensor._is_view()
        tensors.renew(tensor, state, fresh=not view)
        if view and tensor.requires_grad and (base := tensor._base) is not None and base.grad_fn is not None:
            # the CopySlices is this op's, though the base may have no name any more
            self.recorder.nodes.number(base.grad_fn)
        return last

    def _output(self, call: _Call, tensor: torch.Tensor) -> State:
        tensors, storages, taken = self.recorder.tensors, self.recorder.storages, call.taken
        state = tensors.state(tensor)
        if state is None:
            uninitialised = call.called.uninitialised and not _gives_values(call)
            blank = uninitialised or storages.lies_in_blank(tensor, taken)
            state = tensors.made(tensor, bool(taken), look(tensor, blank, taken[0][1].look if taken else None))
            if uninitialised:
                storages.find_blank(tensor, state)
            return state
        # one of the arguments itself, or a member read again
        if state.version != version_of(tensor):
            return tensors.renew(tensor, state, fresh=not tensor._is_view())
        if tensor.requires_grad != state.requires_grad:
            if tensor.requires_grad and not is_tracked_leaf(tensor):
                # a custom Function gave the result of an inner op a node
                return tensors.renew(tensor, state, fresh=True)
            tensors.reconsider(tensor, state)
        return state


def _gives_values(call: _Call) -> bool:
    """Whether `x.new(…)` was given what is to be in it; numbers and a `torch.Size` are sizes."""
    given = call.args[1:2] if call.called.name == "new" else ()
    return any(not isinstance(value, int | torch.Size) for value in given)


def _wrote(taken: Taken) -> bool:
    """Whether the version of some argument rose."""
    for tensor, _, _, version in taken:
        try:
            if tensor._version != version:
                return True
        except RuntimeError:  # an inference tensor has none
            continue
    return False


def _shares(result: torch.Tensor, state: State, taken: Taken) -> bool:
    """Whether the first output lies in an argument's memory without being that argument."""
    storage = state.storage
    if storage is None or len(storage.members) < 2:
        return False
    return any(other.storage is storage for _, other, _, _ in taken) and all(
        result is not tensor for tensor, _, _, _ in taken
    )


def tensors_in(result: object) -> list[torch.Tensor]:
    """The tensors of a result, in order, through tuples, lists and named tuples."""
    if isinstance(result, _Tensor):
        return [result]
    if isinstance(result, tuple | list):
        return [tensor for item in result for tensor in tensors_in(item)]
    if isinstance(result, dict):
        return [tensor for item in result.values() for tensor in tensors_in(item)]
    return []


__name__ = "__main__"
__warningregistry__ = None
