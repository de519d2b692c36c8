"""What one thread of the program is in the middle of."""

import threading
from typing import Any, NamedTuple

import torch

from engine.events import Said


class Bucket(NamedTuple):
    """Gradients that are reduced together."""

    elements: int
    parameters: tuple[int, ...]
    """Their first records."""


class ThreadState(threading.local):
    """A state for each thread; all of them empty at first."""

    def __init__(self) -> None:
        self.passes: list[int] = []
        """Running passes, innermost last."""
        self.modules: list[int] = []
        """Modules whose forward runs, innermost last."""
        self.calls: list[tuple[int, int]] = []
        """Module calls with the place that led to each."""
        self.steps: list[Any] = []
        """Optimizer steps, innermost last."""
        self.muted = 0
        """Reasons not to record."""
        self.is_internal = False
        """The hook that is being registered is recording's, not the program's."""
        self.is_warning = False
        """What is written is the text of a warning that was told."""
        self.number = 0
        """Which of the program's own threads; 0 for the first."""
        self.collective = 0
        """The meeting of ranks that the running op was."""
        self.after_visit: list[Said] = []
        """What happened at a node whose visit is told next: hooks of C++ come before ours."""
        self.parallel: list[torch.Tensor] = []
        """Parameters whose gradients PyTorch makes the same in all ranks."""
        self.buckets: list[Bucket] | None = []
        """Those of the rank's parallel model, in the order they are reduced; None where it has several models."""
        self.reduced = 0, 0
        """A pass, and how many buckets it has reduced."""

    def begin(self, number: int) -> None:
        """One of the program's own threads begins."""
        self.number = number

    def take_collective(self) -> int:
        """The meeting of ranks that the op was which is recorded now; 0 for none."""
        met, self.collective = self.collective, 0
        return met

    def mute(self, reasons: int = 1) -> None:
        """Nothing is recorded until `unmute`, if there is a reason."""
        self.muted += reasons

    def unmute(self, reasons: int = 1) -> None:
        """Takes back one `mute`."""
        self.muted -= reasons

    def set_muted(self, reasons: int) -> int:
        """Sets how many reasons not to record there are; gives how many there were."""
        before, self.muted = self.muted, reasons
        return before

    @property
    def running_pass(self) -> int:
        """The innermost running pass, 0 for none."""
        return self.passes[-1] if self.passes else 0

    @property
    def running_module(self) -> int:
        """The innermost module whose forward runs, 0 for none."""
        return self.modules[-1] if self.modules else 0
