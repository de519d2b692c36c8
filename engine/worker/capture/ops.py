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
from engine.ops import UPDATES, out_of_place
from engine.worker.capture.cells_read import Reading
from engine.worker.capture.edits_by_hand import Changed, Observer
from engine.worker.capture.op_names import Called, learn
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import number_text, plain_text
from engine.worker.capture.tensor_facts import count_write, is_tracked_leaf, look, version_of
from engine.worker.capture.tensor_state import State, Storage, Taken
from engine.worker.pytorch.internals import (
    StopRecomputation,
    dispatch_mode_count,
    get_frame,
    next_sequence_nr,
    pop_function_mode,
    push_function_mode,
    tracing_state,
)
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.originals import original

_Tensor = torch.Tensor
_Parameter = torch.nn.Parameter
_grad_enabled = torch.is_grad_enabled
_EXACT = frozenset((_Tensor, _Parameter))
"""Types whose attributes are PyTorch's own: a method without arguments gives them as if they were overloaded."""
_NUMBERS = frozenset((int, float))
_PLAIN = frozenset((bool, type(None), str))
_WRITE_NOTHING = frozenset("detach_ rename_ requires_grad_ resize_as_".split())
"""Called as if they wrote; no element changes."""


Around: TypeAlias = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any], Callable[[], Any], str], Any]
"""Given what is called, the arguments, how to go on, and the name of a custom Function; gives the result."""


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names of arguments, which PyTorch takes for its own (`numpy_compatibility_arg_names` in
torch/csrc/utils/python_arg_parser.cpp)."""


def _may_track(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an op may make a node of the graph: a tensor it is given requires a gradient, or what may hold one."""
    return _grad_enabled() and any(
        arg.requires_grad if type(arg) in _EXACT else isinstance(arg, list | tuple | _Tensor)
        for arg in (*args, *kwargs.values())
    )


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


class Recording(TorchFunctionMode):
    """Active while the program runs."""

    def __init__(self, recorder: Recorder, observer: Observer) -> None:
        super().__init__()
        self.recorder = recorder
        self.observer = observer
        self.known: dict[object, Called | None] = {}
        self.has_replaced = False
        """The program has put a function of its own in the place of one of PyTorch's, and it was called."""
        self.thread = recorder.thread
        self.reading = Reading()
        self.around: Around | None = None
        """Stands around every call for one who checks what comes out."""
        self.over = False
        """The program has ended, though threads of its own may go on."""
        self.beneath: TorchFunctionMode | None = None
        """Runs what is recorded, where devices are simulated."""

    def __enter__(self) -> "Recording":
        if self.beneath is not None:
            push_function_mode(self.beneath)
        push_function_mode(self)
        return self

    def __exit__(self, *raised: Any) -> None:
        pop_function_mode()
        if self.beneath is not None:
            pop_function_mode()

    def finish(self) -> None:
        """The program has ended."""
        self.over = True

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        frame: FrameType | None = None,
    ) -> Any:
        """Runs and records one call; `frame`: of who called, where that is not who calls this."""
        if frame is None:
            frame = get_frame(1)
            if self.around is not None:
                inner = partial(self.__torch_function__, func, types, args, kwargs, frame)
                return self.around(func, args, kwargs or {}, inner, "")
        if kwargs is None:
            kwargs = {}
        if self.thread.muted or self.over or tracing_state() is not None:
            func = self._original(func)
            if not self._resumes(func, frame):
                return func(*args, **kwargs)
        try:
            called = self.known[func]
        except (KeyError, TypeError):
            called = self._learn(func)
        if self.has_replaced:
            func = self._original(func)
        if called is None:
            return func(*args, **kwargs)
        if called.special:
            return self._special(called, func, args, kwargs, frame)
        return self.call(called, func, args, kwargs, frame, bool(types) and not _EXACT.issuperset(types))

    def _original(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """PyTorch's own function, where the program has put this one in its place."""
        given = getattr(func, "__code__", None)
        return original(func) if given is not None and self.recorder.sites.is_users(given) else func

    def _resumes(self, func: Callable[..., Any], frame: FrameType) -> bool:
        """Whether a skipped turn of a long loop ends with this call."""
        sampler = self.recorder.sampler
        if not sampler.muted or self.thread.muted != 1 or self.over or tracing_state() is not None:
            return False
        return not sampler.skips(self._called(func), frame)

    def _called(self, func: Callable[..., Any]) -> Called | None:
        """What is known of a function; None when its calls are not recorded."""
        try:
            return self.known[func]
        except (KeyError, TypeError):
            return self._learn(func)

    def _special(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:
        with unseen():
            instead = self.observer.before_call(called, args)
        result = func(*args, **kwargs)
        with unseen():
            self.observer.after_call(called, instead, args, frame)
        return result

    def call(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType,
        subclassed: bool = False,
    ) -> Any:  # fmt: skip
        """Runs one op as the user called it and records it.

        `subclassed`: reading an attribute of an argument would run the user's own `__torch_function__`, as it would
        run a dispatch mode's. In a program with threads one of them records at a time, all of them compute."""
        recorder = self.recorder
        counts = recorder.counts
        if counts.ops >= counts.attention:
            tracked = counts.passes > 0 or _may_track(args, kwargs)  # asked only where it matters
            if recorder.sampler.skips(called, frame, tracked):
                return func(*args, **kwargs)
        guarded = subclassed or recorder.nodes.threaded or dispatch_mode_count() > 0
        call = _Call(called, args, kwargs, frame, [])
        try:
            if guarded:
                with recorder.lock, unseen():
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
                with recorder.lock, unseen():
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
        self.recorder.outbox.add(events.FunctionSeen(called.id, called.name, called.function))
        return called

    def _learn(self, func: Callable[..., Any]) -> Called | None:
        """What is known of a function from here on; None when its calls are not recorded."""
        instead = self._original(func)
        if instead is not func:
            self.has_replaced = True
            called = self._called(instead)
        elif (called := learn(func)) is not None:
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
            if type(arg) in _NUMBERS:
                words.append(number_text(arg))
                continue
            state = states.get(id(arg))
            tensor = None if state is None else state.ref()
            if state is not None and tensor is not None and tensor is arg and not state.watched:  # as `meet` does
                version = version_of(tensor)
                if version == state.version:
                    taken.append((tensor, state, state.id, version))
                    words.append(state.id)
                    continue
            words.append(self._word(arg, taken))
        call.words = tuple(words)
        if call.kwargs:
            if not _NUMPY_NAMES.keys().isdisjoint(call.kwargs):
                call.kwargs = {_NUMPY_NAMES.get(name, name): arg for name, arg in call.kwargs.items()}
            call.keywords = {name: self._word(arg, taken) for name, arg in call.kwargs.items()}

    def _word(self, arg: object, taken: Taken) -> Word:
        kind = type(arg)
        if kind in _NUMBERS:
            return number_text(arg)  # type: ignore[arg-type]
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
        if isinstance(arg, list | tuple) and arg and _holds_tensors(arg):
            ids: list[int] = []
            for item in arg:
                word = self._word(item, taken)
                ids += word if isinstance(word, tuple) else (word if type(word) is int else 0,)
            return tuple(ids)
        return plain_text(arg)

    # Recording

    def _op(self, call: _Call, outputs: tuple[int, ...], flags: int) -> int:
        """Numbers an op and tells of it."""
        recorder, thread = self.recorder, self.thread.__dict__  # asked once: reading an attribute of it is slow
        op = recorder.counts.new_op()
        passes, modules = thread["passes"], thread["modules"]
        if not _grad_enabled():
            flags |= INFERENCE if torch.is_inference_mode_enabled() else NO_GRAD
        sites = recorder.sites
        site = sites.of(call.frame)
        recorder.outbox.add(OpRan(
            op, call.called.id, call.words, call.keywords, outputs, site,
            modules[-1] if modules else 0, flags, passes[-1] if passes else 0,
            (call.ended_ns - call.started_ns) / 1000, thread["number"],
            recorder.lifetimes.take() if recorder.lifetimes.dead else (),
            self.thread.take_collective() if thread["collective"] else 0,
            sites.calls_given(call.frame, site) if site in sites.returned else (),
        ))  # fmt: skip
        return op

    def _record(self, call: _Call, result: object) -> None:
        """Records an op that has run: what it wrote, what it gave, itself."""
        recorder, called, taken = self.recorder, call.called, call.taken
        nodes = recorder.nodes
        nodes.begin(recorder.counts.ops + 1, call.since)
        known = len(nodes.numbers)
        changed = self._changes(call) if called.writes_silently or _wrote(call) else []
        made = [result] if type(result) is _Tensor else tensors_in(result)
        told: list[int] = []
        flags = IN_PLACE if changed else 0
        for tensor in made:
            state = self._output(call, tensor)
            storage = state.storage
            shared = storage is not None and len(storage.members) > 1
            if shared and not (told or changed) and _lies_in(tensor, storage, taken):
                flags = VIEW
            told.append(state.id)
        outputs = tuple(told) if made else tuple([state.id for _, state, _, _ in changed])
        nodes.end()
        if called.lends:
            recorder.tensors.lend(taken, made)
        if not outputs and not changed and called.quiet:
            called.gave_nothing = True
            recorder.outbox.publish()
            return
        op = self._op(call, outputs, flags)
        if (until := next_sequence_nr()) - call.since > len(nodes.numbers) - known:
            nodes.made_aside(call.since, until, op, self.thread.running_pass)
        if changed:
            overwrites = out_of_place(called.name) not in UPDATES
            self.observer.written(op, changed, recorder.sites.of(call.frame), overwrites)
        if called.picks:
            recorder.outbox.pending.extend(
                self.reading.rows(op, called.name, called.function, call.args, call.kwargs, made, taken)
            )
        recorder.outbox.publish()

    def _changes(self, call: _Call) -> Changed:
        """The arguments that were written into, with the records they had before; all have new ones now."""
        changed: Changed = []
        for tensor, state, before, version in call.taken:
            now, was = version_of(tensor), state.look
            if now not in (version, state.version):
                changed.append((tensor, state, self._renew(call, tensor, state, before, version), was))
            elif now != version and state.unseen >= before:  # met since, within the same call
                changed.append((tensor, state, state.unseen, was))
                state.unseen = 0
            elif (
                call.called.writes_silently
                and (state.role == "buffer" or state.grad_of is not None)
                and not look(tensor).tells_the_same(was)
            ):
                self.recorder.tensors.renew(tensor, state)
                if state.grad_of is not None or call.called.special:
                    changed.append((tensor, state, before, was))
        return changed

    def _renew(self, call: _Call, tensor: torch.Tensor, state: State, before: int, version: int) -> int:
        """Records what was written into an argument; gives the record that the op found."""
        tensors = self.recorder.tensors
        last = before
        if state.version == version:
            tensors.write(call.called.name, state, call.args, call.kwargs)
        else:  # what ops inside a custom Function wrote is told; not `mark_dirty`
            last = state.unseen if state.unseen >= before else state.id
        view = tensor._is_view()
        # the first memory that a tensor has
        is_blank = call.called.name in ("resize_", "resize_as_") and state.storage is None
        tensors.renew(tensor, state, fresh=not view, is_blank=is_blank)
        if view and tensor.requires_grad and (base := tensor._base) is not None and base.grad_fn is not None:
            # the CopySlices is this op's, though the base may have no name any more
            self.recorder.nodes.number(base.grad_fn)
        return last

    def _output(self, call: _Call, tensor: torch.Tensor) -> State:
        tensors, storages, taken = self.recorder.tensors, self.recorder.storages, call.taken
        state = tensors.states.get(id(tensor))
        if state is None or state.ref() is not tensor:
            uninitialised = call.called.uninitialised and not _gives_values(call)
            undefined = uninitialised or storages.lies_in_undefined(tensor, taken)
            state = tensors.made(tensor, bool(taken), look(tensor, undefined, taken[0][1].look if taken else None))
            if uninitialised:
                storages.find(state)
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


def _wrote(call: _Call) -> bool:
    """Whether the version of some argument rose."""
    for tensor, _, _, version in call.taken:
        try:
            if tensor._version != version:
                return True
        except RuntimeError:  # an inference tensor has none
            return _wrote_uncounted(call)
    return False


def _wrote_uncounted(call: _Call) -> bool:
    """Counts what an op wrote into inference tensors, as its name and its options tell."""
    name, kwargs = call.called.name, call.kwargs
    in_place = (name.endswith("_") and name not in _WRITE_NOTHING) or name == "setitem" or kwargs.get("inplace") is True
    for tensor in tensors_in([call.args[:1] if in_place else (), kwargs.get("out")]):
        if tensor.is_inference():
            count_write(tensor)
    return any(version_of(tensor) != version for tensor, _, _, version in call.taken)


def _lies_in(result: torch.Tensor, storage: Storage | None, taken: Taken) -> bool:
    """Whether the first output lies in an argument's memory without being that argument."""
    return any(other.storage is storage for _, other, _, _ in taken) and all(
        result is not tensor for tensor, _, _, _ in taken
    )


def _holds_tensors(items: Sequence[object], most: int = 64) -> bool:
    """Whether tensors are among the first of some items, or of the lists among these."""
    return any(
        isinstance(item, _Tensor) or (isinstance(item, list | tuple) and most > 1 and _holds_tensors(item, most // 8))
        for item in items[:most]
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
