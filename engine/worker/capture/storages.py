"""Memory: which tensors share it, who else may write into it, and what of it is as it was found."""

from collections.abc import Iterable
from typing import Any

import torch

from engine.events import StorageSize
from engine.ops import UPDATES, VIEWS, out_of_place
from engine.worker.capture.outbox import Outbox
from engine.worker.capture.tensor_facts import start_of
from engine.worker.capture.tensor_state import State, Storage, Taken

_READING = frozenset(map(out_of_place, UPDATES | VIEWS))
"""Ops that leave what they write as undefined as it was."""


def is_lent(tensor: torch.Tensor) -> bool:
    """Whether something outside PyTorch, such as a NumPy array, owns the memory."""
    try:
        return not tensor.untyped_storage().resizable()
    except Exception:
        return False


class Storages:
    """The storages of the tensors met so far, by where they begin."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.count = 0
        self.by_address: dict[int, Storage] = {}
        self.any_undefined = False
        """Whether a tensor was met whose memory is as it was found."""

    def of(self, tensor: torch.Tensor) -> Storage | None:
        """The storage a tensor lies in, if some tensor in it was met."""
        return self.by_address.get(start_of(tensor))

    def enter(self, state: State, partial: bool = False) -> Storage:
        """Enters a state with memory in its storage; `partial`: it may be less than all of it."""
        address = state.look.address
        storage = self.by_address.get(address)
        if storage is not None:
            if storage.is_alive():
                storage.add(state)
                return storage
            storage.members.clear()
        self.count += 1
        storage = state.storage = self.by_address[address] = Storage(self.count, [state])
        if partial and (tensor := state.ref()) is not None:
            size_bytes = tensor.untyped_storage().nbytes()
            if size_bytes != state.look.size_bytes:
                self._outbox.add(StorageSize(storage.id, size_bytes))
        return storage

    def leave(self, state: State) -> None:
        """A state is no longer of its storage."""
        storage, state.storage = state.storage, None
        if storage is not None and state in storage.members:
            storage.members.remove(state)

    def move(self, state: State) -> None:
        """Takes a state out of a storage that it no longer lies in."""
        address = state.look.address
        if address and self.by_address.get(address) is not state.storage:
            self.leave(state)

    def forget_dead(self) -> None:
        """Lets go of what no longer exists."""
        for address in [address for address, storage in self.by_address.items() if not storage.is_alive()]:
            self.by_address.pop(address).members.clear()

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
        for storage in self.by_address.values():
            tensor = next((t for member in storage.members if (t := member.ref()) is not None), None)
            if tensor is not None and tensor.is_cpu:
                whole = tensor.untyped_storage()
                found.append((whole.data_ptr(), whole.data_ptr() + whole.nbytes(), storage.id))
        return found

    @staticmethod
    def lend(states: Iterable[State]) -> None:
        """From now on the memory of these tensors may be written by code that PyTorch does not see."""
        for state in states:
            if state.storage is not None:
                state.storage.lent = True
                state.storage.undefined = False  # whether that code wrote cannot be told
                for member in state.storage.members:
                    member.watched = True

    # Memory as it was found

    def find(self, state: State) -> None:
        """Notes that nothing was written into the memory of a new tensor."""
        if state.storage is not None:
            self.any_undefined = state.storage.undefined = True

    @staticmethod
    def write(state: State, name: str, kwargs: dict[str, Any], source: State | None) -> None:
        """Takes note of an op that wrote into a tensor: unless it read what is there, all counts as written."""
        reads = out_of_place(name) in _READING and "out" not in kwargs
        if state.storage is not None and not reads and not (source is not None and source.is_undefined):
            state.storage.undefined = False

    def lies_in_undefined(self, made: torch.Tensor, taken: Taken) -> bool:
        """Whether a result is a view of memory that nothing was written into."""
        return self.any_undefined and any(
            state.is_undefined and state.look.address == start_of(made) for _, state, _, _ in taken
        )
