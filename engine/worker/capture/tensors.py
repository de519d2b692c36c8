"""The recorded states of tensors: met when first seen, renewed when they changed."""

from typing import Any, Protocol

import torch

from engine.events import ChangeWord, Role, TensorChanged, Updated
from engine.worker.capture.counts import Counts
from engine.worker.capture.lifetimes import Lifetimes
from engine.worker.capture.outbox import Outbox
from engine.worker.capture.storages import Storages, is_lent
from engine.worker.capture.tensor_facts import TensorFacts, is_tracked_leaf, look, version_of
from engine.worker.capture.tensor_state import State, Taken
from engine.worker.capture.thread_state import ThreadState
from engine.worker.capture.updates import Updates

_PURGED = 50_000


class NodeNumbers(Protocol):
    """Who numbers autograd nodes."""

    def number(self, root: Any, result: TensorFacts | None = None) -> int:
        """The node's number."""

    def made(self, tensor: torch.Tensor, number: int) -> None:
        """The running op gave this tensor, with this record."""


class Tensors:
    """The states by their objects."""

    nodes: NodeNumbers
    """Numbers the `grad_fn` of a tensor."""

    def __init__(
        self, counts: Counts, outbox: Outbox, lifetimes: Lifetimes, storages: Storages, updates: Updates,
        thread: ThreadState,
    ) -> None:  # fmt: skip
        self._counts = counts
        self._outbox = outbox
        self._lifetimes = lifetimes
        self._storages = storages
        self._updates = updates
        self._thread = thread
        self.states: dict[int, State] = {}
        """By the id of the object; always the same dictionary."""
        self.next_purge = _PURGED

    def state(self, tensor: torch.Tensor) -> State | None:
        """The recorded state of this object, current or not."""
        state = self.states.get(id(tensor))
        return state if state is not None and state.ref() is tensor else None

    # Meeting

    def meet(self, tensor: torch.Tensor, role: Role = "constant") -> State:
        """The current state, recorded now when this object is new or was changed since."""
        state = self.states.get(id(tensor))
        if state is None or state.ref() is not tensor:
            return self.introduce(tensor, role)
        if state.version != version_of(tensor):
            if state.version < 0:
                return self.renew(tensor, state)
            if state.storage is not None:
                state.storage.undefined = False  # written where no op was recorded
            before = state.id
            self.renew(tensor, state)
            state.unseen = before
            return state
        if state.watched and look(tensor).data != state.look.data:
            return self.outside(tensor, state)
        return state

    def introduce(self, tensor: torch.Tensor, role: Role, like: TensorFacts | None = None) -> State:
        """Records a tensor that no recorded operation made."""
        if is_tracked_leaf(tensor):
            role = leaf_role(tensor)
        elif role == "constant":
            role = "result" if tensor.requires_grad else "gradient" if self._thread.passes else "constant"
        seen = look(tensor, like=like)
        lent = is_lent(tensor)
        # an `nn.Parameter` over `torch.empty` is a new object in memory whose first tensor is gone
        storage = self._storages.by_address.get(seen.address)
        undefined = storage is not None and storage.undefined and not lent
        if undefined and self._counts.ops_omitted and version_of(tensor):
            undefined = False  # written by an op that was left out
        if undefined:
            seen = look(tensor, True)
        state = self.create(tensor, role, seen)
        state.watched = lent
        self.describe(tensor, state)
        if undefined:
            self._storages.find(state)
        self._say(state)
        return state

    def record(self, tensor: torch.Tensor, role: Role, seen: TensorFacts) -> State:
        """The state of an object that is new and needs no second look."""
        state = self.create(tensor, role, seen)
        self.describe(tensor, state)
        self._say(state)
        return state

    def find(self, tensor: torch.Tensor) -> None:
        """Records a new tensor whose memory is as it was found."""
        state = self.create(tensor, "leaf", look(tensor, True))
        self.describe(tensor, state, fresh=True)
        self._storages.find(state)
        self._say(state)
        self._outbox.publish()

    def made(self, tensor: torch.Tensor, of_tensors: bool, seen: TensorFacts) -> State:
        """The recorded state of the fresh result of an op: `record` without its questions."""
        role: Role = "result" if of_tensors else "leaf"
        requires_grad, is_view = tensor.requires_grad, tensor._is_view()
        state = self.create(tensor, role, seen)
        number = state.id
        version = state.version = version_of(tensor)
        state.requires_grad = requires_grad
        node = output_nr = base = storage = 0
        if requires_grad:
            grad_fn = tensor.grad_fn
            if grad_fn is not None:
                if seen.address:
                    self.nodes.made(tensor, number)
                output_nr = tensor.output_nr
                node = state.node = self.nodes.number(grad_fn, None if output_nr else seen)
            else:
                role = state.role = leaf_role(tensor)
        if is_view:
            base = state.base = self._base(tensor)
        if seen.address:
            storage = self._storages.enter(state, is_view).id
        self._outbox.add(seen.said(number, role, storage, version, requires_grad, node, output_nr, 0, base))
        return state

    def adopt(self, tensor: torch.Tensor, role: Role, number: int, seen: TensorFacts) -> State:
        """A state for an object whose record exists already."""
        state = self.create(tensor, role, seen, number)
        state.version, state.requires_grad = version_of(tensor), tensor.requires_grad
        if seen.address:
            self._storages.enter(state)
        return state

    def keep_saved(self, tensor: torch.Tensor) -> int:
        """The record of a tensor that only a node keeps."""
        like: TensorFacts | None = None
        storage = self._storages.of(tensor)
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
        return self.record(tensor, "saved", look(tensor, True)).id

    # Making a state

    def create(self, tensor: torch.Tensor, role: Role, seen: TensorFacts, number: int = 0) -> State:
        """A numbered state of a new object; `describe` and an event must follow."""
        number = number or self._counts.new_tensor(seen.data)
        states = self.states
        if len(states) >= self.next_purge:
            self.purge()
        state = states[id(tensor)] = State(self._lifetimes.reference(tensor, number), number, number, role, seen)
        return state

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
            state.node = 0 if fn is None else self.nodes.number(fn)
        if is_view:
            state.base = self._base(tensor)
        if state.storage is None and state.look.address:
            self._storages.enter(state, is_view or state.role == "saved")

    def _base(self, view: torch.Tensor) -> int:
        """First record of what a view is of, 0 when it was never met."""
        base = view._base
        known = None if base is None else self.state(base)
        return 0 if known is None else known.first

    def _say(self, state: State) -> None:
        tensor = state.ref()
        output_nr = 0 if not state.node or tensor is None else tensor.output_nr
        storage = 0 if state.storage is None else state.storage.id
        identity = 0 if state.first == state.id else state.first
        self._outbox.add(state.look.said(
            state.id, state.role, storage, state.version, state.requires_grad, state.node, output_nr,
            identity, state.base,
        ))  # fmt: skip

    # Changes

    def renew(self, tensor: torch.Tensor, state: State, fresh: bool = False, is_blank: bool = False) -> State:
        """A new record of an object whose contents changed; `is_blank`: into memory that nothing was written into."""
        state.look = look(tensor, is_blank or state.is_undefined)
        state.id, state.unseen = self._counts.new_tensor(state.look.data), 0
        state.node = 0
        self._storages.move(state)
        self.describe(tensor, state, fresh)
        if is_blank:
            self._storages.find(state)
        self._say(state)
        return state

    def outside(self, tensor: torch.Tensor, state: State) -> State:
        """A new record of a tensor that was written past PyTorch."""
        before = state.id
        self.renew(tensor, state)
        self._updates.add(Updated(0, "outside", (ChangeWord(before, state.id, leaf=state.leaf),)))
        return state

    def reconsider(self, tensor: torch.Tensor, state: State) -> None:
        """Corrects a record whose object began or ceased to be tracked without being written."""
        if state.node and not tensor.requires_grad:
            self.renew(tensor, state)
            return
        if not state.requires_grad and is_tracked_leaf(tensor):
            state.role = leaf_role(tensor)
        state.requires_grad = tensor.requires_grad
        self._outbox.add(TensorChanged(state.id, state.role, state.requires_grad))

    def link(self, tensor: torch.Tensor, state: State) -> None:
        """Says the node of a tensor that had none when it was met, such as a view whose base was written since."""
        if tensor.requires_grad and not state.node and not tensor.is_leaf and tensor.grad_fn is not None:
            state.node = self.nodes.number(tensor.grad_fn)
            self._outbox.add(TensorChanged(state.id, node=state.node, output_nr=tensor.output_nr))

    def become_buffer(self, state: State) -> None:
        """A tensor turned out to be a buffer of a module."""
        if state.role != "buffer":
            state.role = "buffer"
            self._outbox.add(TensorChanged(state.id, "buffer"))

    def keep_grad(self, grad: State, leaf: State) -> None:
        """Notes that a tensor is the leaf's `.grad`."""
        grad.grad_of = leaf
        leaf.grad = grad
        if grad.role == "constant":
            grad.role = "gradient"
            self._outbox.add(TensorChanged(grad.id, "gradient"))

    def write(self, name: str, state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Takes note of what an op that wrote made of undefined memory."""
        source = None
        if name in ("setitem", "copy_") and isinstance(args[-1], torch.Tensor):  # `x[0] += 1` ends by putting there
            source = self.state(args[-1])  # what is there
        self._storages.write(state, name, kwargs, source)

    def lend(self, taken: Taken, made: list[torch.Tensor]) -> None:
        """From now on the memory of these tensors may be written by code that PyTorch does not see."""
        states = [state for _, state, _, _ in taken]
        states += [state for tensor in made if is_lent(tensor) and (state := self.state(tensor)) is not None]
        self._storages.lend(states)

    # Forgetting

    def purge(self) -> None:
        """Forgets what no longer exists."""
        self.keep_only({key: state for key, state in self.states.items() if state.ref() is not None})
        self._storages.forget_dead()
        self.next_purge = 2 * len(self.states) + _PURGED

    def keep_only(self, states: dict[int, State]) -> None:
        """Forgets all other states."""
        self.states.clear()
        self.states.update(states)


def leaf_role(tensor: torch.Tensor) -> Role:
    """What a leaf that gradients end at is."""
    return "parameter" if isinstance(tensor, torch.nn.Parameter) else "leaf"
