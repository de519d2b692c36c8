"""What recording knows of one tensor object, and of the memory it lies in."""

import weakref

import msgspec
import torch

from engine.events import Role
from engine.worker.capture.tensor_facts import TensorFacts


class Storage(msgspec.Struct, eq=False, gc=False):
    """Memory that several tensors may share."""

    id: int
    members: list["State"]
    most_members: int = 32
    """From so many members on the dead ones are looked for."""
    lent: bool = False
    undefined: bool = False
    """Nothing has been written into it yet."""
    kept: weakref.ref[torch.UntypedStorage] | None = None
    """The memory itself, where a node may keep it when no tensor in it exists any more."""

    def is_alive(self) -> bool:
        """Whether one of its tensors still exists; of many, the last one met most likely does."""
        for member in reversed(self.members):
            if member.ref() is not None:
                return True
        return self.kept is not None and self.kept() is not None

    def add(self, state: "State") -> None:
        """Enters a tensor, and lets go of dead ones now and then: thousands of views of one tensor may live."""
        if len(self.members) > self.most_members:
            self.members = [member for member in self.members if member.ref() is not None]
            self.most_members = 2 * len(self.members) + 32
        self.members.append(state)
        state.storage = self
        state.watched = state.watched or self.lent


class State(msgspec.Struct, eq=False, gc=False):
    """The last recorded state of one tensor object. Kept from the collector, which would walk all of them again and
    again: a storage lets go of its members when it ends."""

    ref: weakref.ref[torch.Tensor]
    id: int
    first: int
    role: Role
    look: TensorFacts
    version: int = 0
    requires_grad: bool = False
    node: int = 0
    storage: Storage | None = None
    base: int = 0
    grad: "State | None" = None
    grad_of: "State | None" = None
    watched: bool = False
    unseen: int = 0
    """The record before the current one, where its version rose and no op was seen to raise it."""

    @property
    def leaf(self) -> int:
        """For the `.grad` of a leaf: that leaf's first record, else 0."""
        leaf = self.grad_of
        return leaf.first if leaf is not None and leaf.grad is self else 0

    @property
    def is_undefined(self) -> bool:
        """Whether its memory is as it was found."""
        return self.storage is not None and self.storage.undefined


Taken = list[tuple[torch.Tensor, State, int, int]]
"""Argument, its state, its record and version before the call."""
