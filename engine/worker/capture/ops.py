"""Sees every torch call the user's code makes, and records it as an op.

The user's warnings and errors pass through the frames of this module. Its `__name__` and `__warningregistry__` are set so
that a warning raised by PyTorch under such a frame is filtered as one of `__main__` and never counted as already shown; `streams`
then gives it the place it has without recording.
"""

import contextlib
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from types import FrameType
from typing import Any, TypeAlias, cast

import torch
from torch.overrides import TorchFunctionMode

from engine import events
from engine.events import IN_PLACE, INFERENCE, NO_GRAD, RAISED, VIEW, Again, AgainBrief, OpRan, Picture, Word
from engine.worker.capture.cells_read import Reading
from engine.worker.capture.edits_by_hand import Observer
from engine.worker.capture.op_names import Called, learn
from engine.worker.capture.record import PROGRAM, Ledger, Reference, State, Storage, Taken
from engine.worker.capture.safe_repr import plain_text
from engine.worker.capture.tensors import Look, Rest, is_tracked_leaf, look, spoken, version_of
from engine.worker.compact.patterns import MOST, Plan, plan_of
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


class Recording(TorchFunctionMode):
    """Active while the program runs."""

    def __init__(self, ledger: Ledger, observer: Observer) -> None:
        super().__init__()
        self.ledger = ledger
        self.observer = observer
        self.known: dict[object, Called | None] = {}
        self.here = ledger.here
        self.reading = Reading()
        self.plans: dict[int, Plan] = {}
        """By place."""
        self.chances: dict[int, int] = {}
        """How many more ops are looked at for a plan, by place where one has run."""
        self.patterns = 0
        self.around: Around | None = None
        """Stands around every call for one who checks what comes out; no plans are made then."""
        self.over = False
        """The program has ended, though threads of its own may go on."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Runs and records an op that is like an earlier one at its place; anything else is left to `_first`.

        Long, because a call of a function costs as much as most of these lines."""
        frame = get_frame(1)
        code = frame.f_code
        plan: Plan | None = self.plans.get(id(code) + frame.f_lasti)
        if plan is None or kwargs:
            return self._first(func, types, args, kwargs or {}, frame)
        ledger = self.ledger
        states = ledger.states
        while plan is not None:
            if plan.func is func and plan.code is code and plan.count == len(args):
                inputs: list[int] = []
                target = 0
                for place, form in plan.tensors:
                    tensor = args[place]
                    state = states.get(id(tensor))
                    if (
                        state is None or state.ref() is not tensor
                        or (state.form is not form and (state.form is not None or ledger.forms.of(tensor, state) is not form))  # type: ignore[arg-type]
                        or state.version != tensor._version  # type: ignore[union-attr]
                    ):  # fmt: skip
                        break
                    inputs.append(state.id)
                    inputs.append(state.version)
                    target = target or state.node
                else:
                    for place, constant in plan.constants:
                        if args[place] is not constant:
                            break
                    else:
                        break
            plan = plan.other
        if (
            plan is None or plan.passes or ledger.ops >= ledger.attention or ledger.nodes >= ledger.nodes_to_spare
            or ledger.packing or self.here.muted or tracing_state() is not None
            or (plan.twice is not None and plan.twice is not (args[plan.tensors[0][0]] is args[plan.tensors[1][0]]))
        ):  # fmt: skip
            return self._first(func, types, args, {}, frame)
        since = next_sequence_nr()
        started = perf_counter_ns()
        try:
            result = func(*args)
        except BaseException as error:
            self._raised(plan.called, plan.filled(inputs), None, started, frame, error)
            raise
        ended = perf_counter_ns()
        try:
            node: Any = result.grad_fn if type(result) is _Tensor and result.dtype is plan.dtype else None
            edges: tuple[int, ...] | None = None
            walker = ledger.walker
            if node is not None and type(node) is plan.node_type and node._sequence_nr() == since:  # type: ignore[attr-defined]
                edges = (
                    (target, *plan.no_more) if target and plan.no_more is not None else plan.edges(args, node, ledger)
                )
            rest: Rest | None = None
            if plan.number is not None and edges is not None:
                address = result.data_ptr()
                value = plan.number(address).value
                data: Any = (value,) if value - value == 0 else (spoken(value),)
                seen = Look(plan.shape, plan.dtype_name, address, plan.size_bytes, data)
            elif edges is not None:
                seen = look(result, False, states[id(args[plan.tensors[0][0]])].look)
                address, data, rest = seen.address, seen.data, seen.rest
                if seen.shape != plan.shape or not (rest is None or rest.is_plain):
                    edges = None
            if edges is None:
                taken = plan.taken(args, inputs, states)
                self._record(
                    plan.called, taken, plan.filled(inputs), None, result, since, started, ended, frame, args, {}
                )
                return result
            op = ledger.ops = ledger.ops + 1
            number = ledger.tensors = ledger.tensors + 1
            here = ledger.nodes = ledger.nodes + 1
            walker.numbers[since] = here
            walker.edges[here] = edges
            if walker.hook is not None:
                node.register_hook(walker.hook)
            old = ledger.storages.get(address)
            if old is not None:
                old.members.clear()
            storage = ledger.storage_count = ledger.storage_count + 1
            reference = Reference(result, ledger.died)
            reference.first = number
            if len(states) >= ledger.next_purge:
                ledger.purge()
                states = ledger.states
            home = ledger.storages[address] = Storage(storage, [])
            states[id(result)] = state = State(
                reference, number, number, "result", seen, 0, True, here, home, plan.form
            )
            home.members.append(state)
            if plan.keeps:
                home.kept = weakref.ref(result.untyped_storage())
            modules, dead = plan.modules, ledger.dead
            site = plan.site or ledger.site(frame)
            gone = () if not dead else (dead.pop().first,) if len(dead) == 1 else ledger.take_dead()
            module = modules[-1] if modules else 0
            if rest is None:
                ledger.rows.append(AgainBrief(
                    plan.id, op, number, here, since, tuple(inputs), edges, data, storage, site, module, ended - started, gone
                ))  # fmt: skip
            else:
                ledger.rows.append(Again(
                    plan.id, op, number, here, since, tuple(inputs), edges, data, storage, site, module, ended - started, gone,
                    rest.summary, cast(Picture | None, rest.thumbnail),
                ))  # fmt: skip
        except RecursionError:  # the program is at the end of its stack: what comes next is its own error
            ledger.pending.clear()
        except Exception as error:
            ledger.trouble(plan.called.name, error)
        return result

    def _first(
        self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:  # fmt: skip
        """Runs and records what no plan is made for."""
        if self.around is not None:
            return self.around(func, args, kwargs, partial(self._unplanned, func, types, args, kwargs, frame), "")
        return self._unplanned(func, types, args, kwargs, frame)

    def _unplanned(
        self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:  # fmt: skip
        given = getattr(func, "__code__", None)
        if given is not None and given.co_filename == PROGRAM:
            func = original(func)
        if (self.here.muted or self.over or tracing_state() is not None) and not self._resumes(func, frame):
            return func(*args, **kwargs)
        try:
            called = self.known[func]
        except (KeyError, TypeError):
            called = self._learn(func)
        if called is None:
            return func(*args, **kwargs)
        if called.special:
            return self._special(called, func, args, kwargs, frame)
        return self.call(called, func, args, kwargs, frame, not _EXACT.issuperset(types))

    def _resumes(self, func: Callable[..., Any], frame: FrameType) -> bool:
        """Whether a skipped turn of a long loop ends with this call."""
        thin = self.ledger.thin
        if not thin.muted or self.here.muted != 1 or self.over or tracing_state() is not None:
            return False
        try:
            called = self.known[func]
        except (KeyError, TypeError):
            called = self._learn(func)
        return not thin.skips(called, frame)

    def _special(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:
        instead = self.observer.before_call(called, args, kwargs, frame)
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            self.observer.call_raised(called, instead, error)
            raise
        return self.observer.after_call(called, instead, args, kwargs, result, frame)

    def call(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType,
        subclassed: bool = False,
    ) -> Any:  # fmt: skip
        """Runs one op as the user called it and records it.

        `subclassed`: reading an attribute of an argument would run the user's own `__torch_function__`."""
        if self.ledger.walker.threaded:
            return self._call_locked(called, func, args, kwargs, frame)
        ledger = self.ledger
        if ledger.ops >= ledger.attention and ledger.thin.skips(called, frame):
            return func(*args, **kwargs)
        try:
            if subclassed:
                with disable_torch_function():
                    taken, words, keywords = self._arguments(args, kwargs)
            else:
                taken, words, keywords = self._arguments(args, kwargs)
        except RecursionError:  # the program is at the end of its stack: what comes next is its own error
            return func(*args, **kwargs)
        since = next_sequence_nr()
        started = perf_counter_ns()
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            self._raised(called, words, keywords, started, frame, error)
            raise
        ended = perf_counter_ns()
        try:
            if subclassed:
                with disable_torch_function():
                    self._record(called, taken, words, keywords, result, since, started, ended, frame, args, kwargs)
            else:
                self._record(called, taken, words, keywords, result, since, started, ended, frame, args, kwargs)
        except RecursionError:
            ledger.pending.clear()
        except Exception as error:
            ledger.trouble(called.name, error)
        return result

    def _call_locked(
        self, called: Called, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:
        """The same in a program with threads: one of them records at a time, all of them compute."""
        ledger = self.ledger
        if ledger.ops >= ledger.attention and ledger.thin.skips(called, frame):
            return func(*args, **kwargs)
        with ledger.lock, disable_torch_function():
            taken, words, keywords = self._arguments(args, kwargs)
        since = next_sequence_nr()
        started = perf_counter_ns()
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            with ledger.lock:
                self._raised(called, words, keywords, started, frame, error)
            raise
        ended = perf_counter_ns()
        try:
            with ledger.lock, disable_torch_function():
                self._record(called, taken, words, keywords, result, since, started, ended, frame, args, kwargs)
        except Exception as error:
            ledger.trouble(called.name, error)
        return result

    def _raised(
        self, called: Called, words: tuple[Word, ...], keywords: dict[str, Word] | None, started: int, frame: FrameType,
        error: BaseException,
    ) -> None:  # fmt: skip
        try:
            op = self._op(called, words, keywords, (), RAISED, started, frame)
            self.ledger.publish()
            # the end of a recomputation is caught: held, it would keep all that its frames have
            if self.ledger.raised[0] is not error and not isinstance(error, StopRecomputation):
                self.ledger.raised = (error, op)
        except RecursionError:
            self.ledger.pending.clear()

    def introduce(self, called: Called) -> Called:
        """Numbers a function and says its names."""
        self.ledger.functions += 1
        called.id = self.ledger.functions
        self.ledger.pending.append(events.Called(called.id, called.name, called.function))
        return called

    def _learn(self, func: Callable[..., Any]) -> Called | None:
        called = learn(func)
        if called is not None and called.id == 0:
            called.func = func
            self.introduce(called)
        with contextlib.suppress(TypeError):  # a callable that cannot be a key
            self.known[func] = called
        return called

    def _arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Taken, tuple[Word, ...], dict[str, Word] | None]:
        """The tensors among the arguments with their states and versions, and the words for all of them."""
        taken: Taken = []
        words: list[Word] = []
        states = self.ledger.states
        for arg in args:
            kind = type(arg)
            if kind is _Tensor or kind is _Parameter:
                tensor: torch.Tensor = arg
                state = states.get(id(arg))
                if state is not None and state.ref() is tensor and not state.watched:  # as `meet` does
                    try:
                        version = tensor._version
                    except RuntimeError:
                        version = 0
                    if version == state.version:
                        number = state.id
                        taken.append((tensor, state, number, version))
                        words.append(number)
                        continue
            elif kind is float or kind is int:
                words.append(repr(arg))
                continue
            words.append(self._word(arg, taken))
        if not kwargs:
            return taken, tuple(words), None
        return taken, tuple(words), {name: self._word(arg, taken) for name, arg in kwargs.items()}

    def _word(self, arg: object, taken: Taken) -> Word:
        kind = type(arg)
        if kind in _PLAIN:
            return repr(arg) if kind is not str or len(arg) < 60 else plain_text(arg)  # type: ignore[arg-type]
        if isinstance(arg, _Tensor):
            if kind is not _Tensor and kind is not _Parameter:
                self.ledger.walker.odd = True
            try:
                state = self.ledger.meet(arg)
            except Exception as error:
                self.ledger.trouble("argument", error)
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

    def _op(
        self, called: Called, words: tuple[Word, ...], keywords: dict[str, Word] | None, outputs: tuple[int, ...],
        flags: int, started: int, frame: FrameType, ended: int = 0,
    ) -> int:  # fmt: skip
        ledger = self.ledger
        ledger.ops = op = ledger.ops + 1
        if not _grad_enabled():
            flags |= INFERENCE if torch.is_inference_mode_enabled() else NO_GRAD
        here = self.here
        modules, passes = here.modules, here.passes
        ledger.pending.append(OpRan(
            op, called.id, words, keywords, outputs, ledger.site(frame), modules[-1] if modules else 0, flags,
            passes[-1] if passes else 0, ((ended or perf_counter_ns()) - started) / 1000, here.number,
            ledger.take_dead() if ledger.dead else (),
        ))  # fmt: skip
        return op

    def _record(
        self, called: Called, taken: Taken, words: tuple[Word, ...],
        keywords: dict[str, Word] | None, result: object, since: int, started: int, ended: int, frame: FrameType,
        args: tuple[Any, ...], kwargs: dict[str, Any],
    ) -> None:  # fmt: skip
        ledger = self.ledger
        walker = ledger.walker
        walker.begin(ledger.ops + 1, since)
        known = len(walker.numbers)
        changed: list[tuple[torch.Tensor, State, int]] | None = None
        for tensor, _, _, version in taken:
            try:
                unchanged = tensor._version == version
            except RuntimeError:
                unchanged = True
            if not unchanged or called.writes_silently:
                changed = self._changes(called, taken, args, kwargs)
                break
        flags = 0
        outputs: tuple[int, ...] = ()
        if type(result) is _Tensor:
            state = self._output(called, result, taken)
            outputs = (state.id,)
            if not changed and self._shares(result, state, taken):
                flags = VIEW
        elif result is not None:
            tensors = tensors_in(result)
            states = [self._output(called, tensor, taken) for tensor in tensors]
            outputs = tuple([state.id for state in states])
            if states and not changed and self._shares(tensors[0], states[0], taken):
                flags = VIEW
        elif changed:
            outputs = tuple([state.id for _, state, _ in changed])
        walker.end()
        if called.lends:
            ledger.lend(taken, tensors_in(result))
        if not outputs and not changed and called.quiet:
            ledger.publish()
            return
        op = self._op(called, words, keywords, outputs, IN_PLACE if changed else flags, started, frame, ended)
        if (until := next_sequence_nr()) - since > len(walker.numbers) - known:
            passes = self.here.passes
            walker.made_aside(since, until, op, passes[-1] if passes else 0)
        if changed:
            self.observer.written(op, changed, ledger.site(frame))
        if called.picks:
            ledger.pending += self.reading.rows(
                op, called.name, called.function, args, kwargs, tensors_in(result), taken
            )
        elif called.fresh and type(result) is _Tensor and not (changed or flags or kwargs):
            self._plan(called, taken, result, since, frame, args)
        ledger.publish()

    def _plan(
        self, called: Called, taken: Taken, result: torch.Tensor, since: int, frame: FrameType, args: tuple[Any, ...]
    ) -> None:
        """Makes a plan of an op that has run at its place before, if it made one node and nothing else."""
        ledger = self.ledger
        if ledger.walker.threaded or self.around is not None or next_sequence_nr() != since + 1:
            return
        code = frame.f_code
        key = id(code) + frame.f_lasti
        left = self.chances.get(key)
        if not left:
            if left is None:
                self.chances[key] = MOST
            return
        self.chances[key] = left - 1
        number = self.patterns + 1
        made = plan_of(
            number, args, taken, ledger.pending, ledger.states[id(result)], result, ledger.walker, ledger.forms
        )
        if made is None:
            return
        self.patterns = number
        plan, pattern = made
        plan.other = self.plans.get(key)
        plan.func, plan.called, plan.code = called.func, called, code
        plan.site = ledger.site(frame) if code.co_filename == PROGRAM else 0
        plan.passes, plan.modules = self.here.passes, self.here.modules
        self.plans[key] = plan
        ledger.thin.patterns.add(pattern)
        ledger.pending.append(pattern)

    def _changes(
        self, called: Called, taken: Taken, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[tuple[torch.Tensor, State, int]]:
        """The arguments that were written into, with the records they had before; all have new ones now."""
        ledger = self.ledger
        changed: list[tuple[torch.Tensor, State, int]] = []
        for tensor, state, before, version in taken:
            try:
                now = tensor._version
            except RuntimeError:
                now = 0
            if now not in (version, state.version):
                last = before
                if state.version == version:
                    ledger.wrote(called.name, tensor, state, args, kwargs)
                else:  # what ops inside a custom Function wrote is told; not `mark_dirty`
                    last = state.unseen if state.unseen >= before else state.id
                view = tensor._is_view()
                ledger.renew(tensor, state, fresh=not view)
                changed.append((tensor, state, last))
                if view and tensor.requires_grad and (base := tensor._base) is not None and base.grad_fn is not None:
                    # the CopySlices is this op's, though the base may have no name any more
                    ledger.walker.number(base.grad_fn)
            elif now != version and state.unseen >= before:  # met since, within the same call
                changed.append((tensor, state, state.unseen))
                state.unseen = 0
            elif called.writes_silently and (state.role == "buffer" or state.grad_of is not None):
                seen = look(tensor)
                if (seen.data, seen.rest) != (state.look.data, state.look.rest):
                    ledger.renew(tensor, state)
                    if state.grad_of is not None:
                        changed.append((tensor, state, before))
        return changed

    def _output(self, called: Called, tensor: torch.Tensor, taken: Taken) -> State:
        ledger = self.ledger
        state = ledger.states.get(id(tensor))
        if state is None or state.ref() is not tensor:
            blank = called.uninitialised or (ledger.blanks > 0 and ledger.lies_in_blank(tensor, taken))
            seen = look(tensor, blank, taken[0][1].look if taken else None)
            state = ledger.made(tensor, bool(taken), seen)
            if called.uninitialised:
                ledger.find_blank(tensor, state)
            return state
        # one of the arguments itself, or a member read again
        if state.version != version_of(tensor):
            return ledger.renew(tensor, state, fresh=not tensor._is_view())
        if tensor.requires_grad != state.requires_grad:
            if tensor.requires_grad and not is_tracked_leaf(tensor):
                return ledger.renew(
                    tensor, state, fresh=True
                )  # a custom Function gave the result of an inner op a node
            ledger.reconsider(tensor, state)
        return state

    @staticmethod
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
