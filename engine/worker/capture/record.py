"""The ledger of one run: numbers tensors, nodes and places, and keeps the events until they are sent.

Everything here runs between the user's own operations, so it must be quick, touch no random state, hold no tensor alive
and never raise.
"""

import threading
import weakref
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

import msgspec
import torch

from engine.events import ChangeWord, Found, Gone, Held, Role, Room, Said, StateWord, TensorChanged, Updated, UpdateKind
from engine.trace import RunLimits
from engine.worker.capture.nodes import Walker
from engine.worker.capture.tensors import Look, is_tracked_leaf, look, start_of, version_of
from engine.worker.capture.uninitialised import Blank
from engine.worker.compact.patterns import Form, Forms
from engine.worker.compact.sampling import LoopSampler

PROGRAM = "<program>"
"""File name the program is compiled under."""


class Reference(weakref.ref[torch.Tensor]):
    """To a tensor, or what holds some; says which one it was when that is gone."""

    __slots__ = ("first",)
    first: int


class Storage(msgspec.Struct, eq=False, gc=False):
    """Memory that several tensors may share."""

    id: int
    members: list["State"]
    most_members: int = 32
    """From so many members on the dead ones are looked for."""
    lent: bool = False
    blank: Blank | None = None
    """What nothing has been written into yet."""
    kept: weakref.ref[torch.UntypedStorage] | None = None
    """The memory itself, where a node may keep it when no tensor in it exists any more."""

    def alive(self) -> bool:
        """Whether one of its tensors still exists; of many, the last one met most likely does."""
        for member in reversed(self.members):
            if member.ref() is not None:
                return True
        return self.kept is not None and self.kept() is not None


class State(msgspec.Struct, eq=False, gc=False):
    """The last recorded state of one tensor object. Kept from the collector, which would walk all of them again and again: a
    storage lets go of its members when it ends."""

    ref: weakref.ref[torch.Tensor]
    id: int
    first: int
    role: Role
    look: Look
    version: int = 0
    requires_grad: bool = False
    node: int = 0
    storage: Storage | None = None
    form: Form | None = None
    """What it has in common with others, once somebody asked; None again when it may have changed."""
    base: int = 0
    grad: "State | None" = None
    grad_of: "State | None" = None
    watched: bool = False
    unseen: int = 0
    """The record before the current one, where its version rose and no op was seen to raise it."""


Taken = list[tuple[torch.Tensor, State, int, int]]
"""Argument, its state, its record and version before the call."""


class Here(threading.local):
    """What one thread of the program is in the middle of."""

    def __init__(self) -> None:
        self.passes: list[int] = []
        self.modules: list[int] = []
        self.calls: list[tuple[int, int]] = []
        """Module calls with the place that led to each."""
        self.steps: list[Any] = []
        """Optimizer steps, innermost last."""
        self.muted = 0
        """Reasons not to record."""
        self.ours = False
        """The hook that is registered is recording's, not the program's."""
        self.number = 0
        """Which of the program's own threads; 0 for the first."""


def is_blank(tensor: torch.Tensor, state: State) -> bool:
    """Whether some of a tensor is memory as it was found."""
    storage = state.storage
    return storage is not None and storage.blank is not None and storage.blank.covers(tensor)


class Ledger:
    """Numbers and rows of one run."""

    def __init__(self, limits: RunLimits) -> None:
        self.limits = limits
        self.outbox: list[Said] = []
        """Rows to be sent."""
        self.rows = self.outbox
        """Where rows are put; while a turn of a long loop is held back, another list."""
        self.pending: list[Said] = []
        self.states: dict[int, State] = {}
        self.blanks = 0
        """Storages in which something is undefined."""
        self.dead: list[Reference] = []
        """Of tensors that ceased to exist since that was last said."""
        self.died = self.dead.append
        self.holders: dict[int, Reference] = {}
        """What holds tensors for backward and is no node."""
        self.nodes_to_spare = limits.nodes
        """Below this number of nodes the limit is far."""
        self.storages: dict[int, Storage] = {}
        self.site_numbers: dict[tuple[int, int], int] = {}
        self.site_codes: list[tuple[CodeType, int] | tuple[int, int, int, int]] = []
        self.tensors = self.ops = self.nodes = self.passes = self.updates = self.storage_count = 0
        self.functions = self.ops_omitted = self.troubles = self.output_bytes = 0
        self.raised: tuple[BaseException | None, int] = (None, 0)
        self.raised_pass: tuple[BaseException | None, int] = (None, 0)
        self.lock = threading.RLock()
        """Held while recording, once the program has threads of its own."""
        self.closed = False
        """The program has ended: what is still printed is not its own."""
        self.here = Here()
        self.walker = Walker(self)
        self.said_bytes = 0
        """Bytes of events sent so far."""
        self.thin = LoopSampler(self)
        self.forms = Forms()
        self.packing = 0
        """How many `saved_tensors_hooks` are in force."""
        self.unpacks = False
        """There were some, or hooks on a single saved tensor."""
        self.attention = limits.ops
        """From this number of ops on, each op asks `thin` whether it is recorded."""
        self.next_purge = 50_000

    @property
    def pass_stack(self) -> list[int]:
        """Running passes of this thread, innermost last."""
        return self.here.passes

    @property
    def module_stack(self) -> list[int]:
        """Modules whose forward this thread is in, innermost last."""
        return self.here.modules

    def publish(self) -> None:
        """Makes the rows of one moment visible to the sender, all or none."""
        pending = self.pending
        count = len(pending)
        if count:
            self.rows.extend(pending)
            del pending[:count]

    def say(self, event: Said) -> None:
        """Adds one event and publishes it."""
        self.pending.append(event)
        self.publish()

    def trouble(self, what: str, error: Exception) -> None:
        """Says that one thing could not be recorded; the program goes on."""
        self.troubles += 1
        self.walker.op = 0
        if self.troubles <= 20:
            reason = f"{type(error).__name__}: {error}"[:300]
            self.pending.append(Found("not_recorded", "note", 0, {"what": what, "reason": reason}))
        self.publish()

    def take_dead(self) -> tuple[int, ...]:
        """First records of the tensors that ceased to exist since the last call."""
        dead = self.dead
        taken = dead[: len(dead)]  # another thread may add to it meanwhile
        del dead[: len(taken)]
        return tuple([reference.first for reference in taken])

    def bury(self) -> None:
        """Says which tensors ceased to exist, where no op says it."""
        if self.dead:
            self.pending.append(Gone(self.take_dead()))

    def holds(self, holder: object, tensors: tuple[int, ...], by_nodes: bool) -> None:
        """Notes that an object, of any class that weak references know, holds recorded tensors for backward."""
        if tensors:
            number = self.tensors = self.tensors + 1
            reference = self.holders[number] = Reference(holder, self._freed)  # type: ignore[arg-type]
            reference.first = number
            self.pending.append(Held(number, tensors, by_nodes))

    def _freed(self, reference: Reference) -> None:
        self.holders.pop(reference.first, None)
        self.dead.append(reference)

    # Places

    def site(self, frame: FrameType | None) -> int:
        """Number of the place in the user's source that led to `frame`, 0 when none did."""
        while frame is not None:
            code = frame.f_code
            number = self.site_numbers.get((id(code), frame.f_lasti))
            if number is not None:
                return number
            if code.co_filename == PROGRAM:
                return self.place(code, frame.f_lasti)
            frame = frame.f_back
        return 0

    @staticmethod
    def stack(frame: FrameType | None) -> list[tuple[CodeType, int]]:
        """The user's frames that led to `frame` with the instruction each is at, outermost first."""
        places = []
        while frame is not None:
            if frame.f_code.co_filename == PROGRAM:
                places.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        places.reverse()
        return places

    def place(self, code: CodeType, instruction: int) -> int:
        """Number of one instruction of the user's program."""
        key = (id(code), instruction)
        number = self.site_numbers.get(key)
        if number is None:
            self.site_codes.append((code, instruction))  # holds the code, so its id stays its own
            number = self.site_numbers[key] = len(self.site_codes)
        return number

    def fixed_place(self, line: int, end_line: int, column: int, end_column: int) -> int:
        """Number of a place that no code object has, such as a syntax error's."""
        self.site_codes.append((line, end_line, column, end_column))
        return len(self.site_codes)

    # Tensors

    def state(self, tensor: torch.Tensor) -> State | None:
        """The recorded state of this object, current or not."""
        state = self.states.get(id(tensor))
        return state if state is not None and state.ref() is tensor else None

    def meet(self, tensor: torch.Tensor, role: Role = "constant") -> State:
        """The current state, recorded now when this object is new or was changed since."""
        state = self.states.get(id(tensor))
        if state is None or state.ref() is not tensor:
            return self.introduce(tensor, role)
        if state.version != version_of(tensor):
            if state.version < 0:
                return self.renew(tensor, state)
            if state.storage is not None:
                state.storage.blank = None  # written where no op was recorded
            before = state.id
            self.renew(tensor, state)
            state.unseen = before
            return state
        if state.watched and look(tensor).data != state.look.data:
            return self.outside(tensor, state)
        return state

    def introduce(self, tensor: torch.Tensor, role: Role, like: Look | None = None) -> State:
        """Records a tensor that no recorded operation made."""
        if is_tracked_leaf(tensor):
            role = "parameter" if isinstance(tensor, torch.nn.Parameter) else "leaf"
        elif role == "constant":
            role = "result" if tensor.requires_grad else "gradient" if self.pass_stack else "constant"
        seen = look(tensor, like=like)
        lent = self._lent(tensor)
        # an `nn.Parameter` over `torch.empty` is a new object in memory whose first tensor is gone
        storage = self.storages.get(seen.address)
        blank = None if storage is None or lent else storage.blank
        if blank is not None and self.ops_omitted and version_of(tensor):
            blank = None  # written by an op that was left out
        if blank is not None and blank.covers(tensor):
            seen = look(tensor, True)
        state = self.create(tensor, role, seen)
        state.watched = lent
        self.describe(tensor, state)
        if blank is not None and state.storage is not None:
            state.storage.blank = blank
        self.finish(state)
        return state

    @staticmethod
    def _lent(tensor: torch.Tensor) -> bool:
        """Whether something outside PyTorch, such as a NumPy array, owns the memory."""
        try:
            return not tensor.untyped_storage().resizable()
        except Exception:
            return False

    def create(self, tensor: torch.Tensor, role: Role, seen: Look) -> State:
        """A numbered state of a new object; `describe` and `finish` must follow."""
        self.tensors += 1
        number = self.tensors
        state = State(self._reference(tensor, number), number, number, role, seen)
        if len(self.states) >= self.next_purge:
            self.purge()
        self.states[id(tensor)] = state
        return state

    def found(self, tensor: torch.Tensor) -> None:
        """Records a new tensor whose memory is as it was found."""
        state = self.create(tensor, "leaf", look(tensor, True))
        self.describe(tensor, state, fresh=True)
        self.find_blank(tensor, state)
        self.finish(state)
        self.publish()

    def find_blank(self, tensor: torch.Tensor, state: State) -> None:
        """Notes that nothing was written into the memory of a new tensor."""
        if state.storage is not None:
            state.storage.blank = Blank(tensor)
            self.blanks += 1

    def wrote(
        self, name: str, tensor: torch.Tensor, state: State, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Takes note of an op that wrote."""
        storage = state.storage
        if storage is None or storage.blank is None:
            return
        if name in ("setitem", "copy_") and isinstance(args[-1], torch.Tensor):
            source = self.state(args[-1])
            if source is not None and is_blank(args[-1], source):
                return  # `x[0] += 1` ends by putting there what is there
        if not storage.blank.write(name, tensor, args, kwargs):
            storage.blank = None
            self.blanks -= 1

    def lies_in_blank(self, made: torch.Tensor, taken: Iterable[tuple[torch.Tensor, State, int, int]]) -> bool:
        """Whether a result is a view of memory that nothing was written into."""
        return any(
            state.storage is not None and state.storage.blank is not None
            and state.look.address == start_of(made) and state.storage.blank.covers(made)
            for _, state, _, _ in taken
        )  # fmt: skip

    def _reference(self, tensor: torch.Tensor, number: int) -> Reference:
        reference = Reference(tensor, self.died)
        reference.first = number
        return reference

    def made(self, tensor: torch.Tensor, of_tensors: bool, seen: Look) -> State:
        """The recorded state of the fresh result of an op: `create`, `describe` and `finish` without their questions."""
        number = self.tensors = self.tensors + 1
        if len(self.states) >= self.next_purge:
            self.purge()
        requires_grad = tensor.requires_grad
        state = State(
            self._reference(tensor, number), number, number, "result", seen, version_of(tensor), requires_grad
        )
        self.states[id(tensor)] = state
        node = output_nr = 0
        if requires_grad:
            grad_fn = tensor.grad_fn
            if grad_fn is not None:
                walker = self.walker
                if seen.address:
                    walker.results.append((tensor, number))
                output_nr = tensor.output_nr
                node = state.node = walker.number(grad_fn, seen if output_nr == 0 else None)
            else:
                state.role = "parameter" if isinstance(tensor, torch.nn.Parameter) else "leaf"
        if not (of_tensors or (requires_grad and not node)):
            state.role = "leaf"
        is_view = tensor._is_view()
        if is_view:
            base = tensor._base
            known = None if base is None else self.state(base)
            state.base = 0 if known is None else known.first
        storage_id = 0
        if seen.address:
            storage_id = self._file(state, is_view).id
        self.pending.append(seen.said(
            number, state.role, storage_id, state.version, requires_grad, node, output_nr, 0, state.base
        ))  # fmt: skip
        return state

    def adopt(self, tensor: torch.Tensor, role: Role, number: int, seen: Look) -> State:
        """A state for an object whose record exists already."""
        state = State(self._reference(tensor, number), number, number, role, seen)
        self.states[id(tensor)] = state
        state.version, state.requires_grad = version_of(tensor), tensor.requires_grad
        if seen.address:
            self._file(state)
        return state

    def reconsider(self, tensor: torch.Tensor, state: State) -> None:
        """Corrects a record whose object began or ceased to be tracked without being written."""
        state.form = None
        if state.node and not tensor.requires_grad:
            self.renew(tensor, state)
            return
        if not state.requires_grad and is_tracked_leaf(tensor):
            state.role = "parameter" if isinstance(tensor, torch.nn.Parameter) else "leaf"
        state.requires_grad = tensor.requires_grad
        self.pending.append(TensorChanged(state.id, state.role, state.requires_grad))

    def keeps(self, kept: State, leaf: State) -> None:
        """Notes that a tensor is the leaf's `.grad`."""
        kept.grad_of = leaf
        leaf.grad = kept
        if kept.role == "constant":
            kept.role = "gradient"
            self.pending.append(TensorChanged(kept.id, "gradient"))

    def purge(self) -> None:
        """Forgets what no longer exists."""
        self.states = {key: state for key, state in self.states.items() if state.ref() is not None}
        for address in [a for a, s in self.storages.items() if not s.alive()]:
            self.storages.pop(address).members.clear()
        self.next_purge = 2 * len(self.states) + 50_000

    def describe(self, tensor: torch.Tensor, state: State, fresh: bool = False) -> None:
        """Fills in what the object itself says: version, node, base, storage.

        A view whose base was written since makes its grad_fn anew on the first read, which takes a sequence number and
        so would change the order of backward: such a grad_fn is never read here (`fresh` says that it cannot be stale).
        """
        state.version = version_of(tensor)
        requires_grad = state.requires_grad = tensor.requires_grad
        is_view = tensor._is_view()
        if requires_grad and (fresh or not is_view):
            fn = tensor.grad_fn
            state.node = 0 if fn is None else self.walker.number(fn)
        if is_view:
            base = tensor._base
            known = None if base is None else self.state(base)
            state.base = 0 if known is None else known.first
        if state.storage is None and state.look.address:
            self._file(state, is_view or state.role == "saved")

    def _file(self, state: State, partial: bool = False) -> Storage:
        """Enters a state with memory in its storage; `partial`: it may be less than all of it."""
        address = state.look.address
        storage = self.storages.get(address)
        if storage is None or not storage.alive():
            if storage is not None:
                storage.members.clear()
            self.storage_count += 1
            storage = state.storage = self.storages[address] = Storage(self.storage_count, [state])
            if partial and (tensor := state.ref()) is not None:
                size_bytes = tensor.untyped_storage().nbytes()
                if size_bytes != state.look.size_bytes:
                    self.pending.append(Room(storage.id, size_bytes))
            return storage
        if len(storage.members) > storage.most_members:
            storage.members = [member for member in storage.members if member.ref() is not None]
            storage.most_members = (
                2 * len(storage.members) + 32
            )  # many views may live, as while a tensor is iterated over
        storage.members.append(state)
        state.storage = storage
        state.watched = state.watched or storage.lent
        return storage

    def finish(self, state: State) -> None:
        """Adds the row of a state."""
        tensor = state.ref()
        output_nr = 0 if not state.node or tensor is None else tensor.output_nr
        storage = 0 if state.storage is None else state.storage.id
        identity = 0 if state.first == state.id else state.first
        self.pending.append(state.look.said(
            state.id, state.role, storage, state.version, state.requires_grad, state.node, output_nr, identity, state.base
        ))  # fmt: skip

    def renew(self, tensor: torch.Tensor, state: State, fresh: bool = False) -> State:
        """A new record of an object whose contents changed."""
        self.tensors += 1
        state.id, state.unseen = self.tensors, 0
        state.form = None
        state.look = look(tensor, is_blank(tensor, state))
        state.node = 0
        if (
            state.storage is not None
            and state.look.address
            and self.storages.get(state.look.address) is not state.storage
        ):
            state.storage.members.remove(state)
            state.storage = None
        self.describe(tensor, state, fresh)
        self.finish(state)
        return state

    def outside(self, tensor: torch.Tensor, state: State) -> State:
        """A new record of a tensor that was written past PyTorch."""
        before = state.id
        self.renew(tensor, state)
        self.update("outside", [(before, state.id, "", 0)], 0)
        return state

    def keep_saved(self, tensor: torch.Tensor) -> int:
        """The record of a tensor that only a node keeps."""
        like: Look | None = None
        storage = self.storages.get(start_of(tensor))
        if storage is not None:
            for member in storage.members:
                kept = member.ref()
                if kept is not None and member.version == version_of(tensor):
                    if kept.shape == tensor.shape and kept.stride() == tensor.stride():
                        return member.id
                    like = member.look
        return self.introduce(tensor, "saved", like).id

    def keep_scratch(self, tensor: torch.Tensor) -> int:
        """The record of what a kernel keeps for itself, some of it undefined."""
        state = self.create(tensor, "saved", look(tensor, True))
        self.describe(tensor, state)
        self.finish(state)
        return state.id

    def others(self, state: State) -> Iterable[tuple[torch.Tensor, State]]:
        """The other live tensors in the same memory."""
        if state.storage is not None:
            for member in tuple(state.storage.members):
                tensor = member.ref()
                if member is not state and tensor is not None:
                    yield tensor, member

    def memory(self) -> list[tuple[int, int, int]]:
        """Start, end and number of the storages that have a living tensor."""
        found = []
        for storage in self.storages.values():
            tensor = next((t for member in storage.members if (t := member.ref()) is not None), None)
            if tensor is not None and tensor.is_cpu:
                whole = tensor.untyped_storage()
                found.append((whole.data_ptr(), whole.data_ptr() + whole.nbytes(), storage.id))
        return found

    def lend(self, taken: Iterable[tuple[torch.Tensor, State, int, int]], made: Iterable[torch.Tensor]) -> None:
        """From now on the memory of these tensors may be written by code that PyTorch does not see."""
        states = [state for _, state, _, _ in taken]
        states += [state for tensor in made if self._lent(tensor) and (state := self.state(tensor)) is not None]
        for state in states:
            if state.storage is not None:
                state.storage.lent = True
                state.storage.blank = None  # whether that code wrote cannot be told
                for member in state.storage.members:
                    member.watched = True
                    member.form = None

    # Updates

    def update(
        self, kind: UpdateKind, changes: list[ChangeWord], site: int, op: int = 0,
        state: tuple[StateWord, ...] = (), optimizer: str = "", variable: str = "", owner: str = "",
        set_to_none: bool = False, groups: tuple[int, ...] = (), settings: tuple[dict[str, str], ...] = (),
        raised: bool = False, pass_id: int = 0, hook: int = 0,
    ) -> None:  # fmt: skip
        """Adds a change outside the graph."""
        self.updates += 1
        self.bury()
        self.pending.append(Updated(
            self.updates, kind, tuple(changes), state, site, op, optimizer, variable, owner, set_to_none, groups, settings,
            raised, pass_id, hook,
        ))  # fmt: skip
