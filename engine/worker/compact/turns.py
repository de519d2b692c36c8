"""Turns of a loop: where they end, which of them are kept, and what was left out between."""

from collections import Counter
from types import CodeType

from engine.events import Skipped

Place = tuple[CodeType, int]


class Calls:
    """The engine calls of one line."""

    __slots__ = ("count", "last", "period")

    def __init__(self) -> None:
        self.count = self.last = self.period = 0


class LeftOut:
    """What was left out since the last row that was said."""

    def __init__(self) -> None:
        self.first = self.last = self.passes = 0
        self.ops: Counter[tuple[int, int, int]] = Counter()
        self.has_printed = False
        """What its turns printed is being said, after `SkippedBefore`."""

    def __bool__(self) -> bool:
        return bool(self.passes or self.ops)

    def add_pass(self, number: int) -> None:
        """Leaves out a call of the engine."""
        self.first = self.first or number
        self.last = number
        self.passes += 1

    def add(self, other: "LeftOut") -> None:
        """Takes in a gap that follows."""
        self.first = self.first or other.first
        self.last = other.last or self.last
        self.passes += other.passes
        self.ops.update(other.ops)

    def said(self) -> Skipped:
        """The event that tells of it."""
        places = tuple([(*place, count) for place, count in self.ops.items()])
        return Skipped(self.first, self.last, self.passes, self.ops.total(), places)


def went_back(then: list[Place], now: list[Place], again: bool) -> bool:
    """Whether the program has jumped back since: the first place that differs comes earlier in its code."""
    for (code, instruction), (code_now, instruction_now) in zip(then, now, strict=False):
        if code is not code_now:
            return False
        if instruction != instruction_now:
            return instruction_now < instruction
    return again or len(now) < len(then)  # the very call that led to the pass


def step_around(number: int, fineness: int) -> int:
    """Distance between kept turns around this one: a round number, at most `number / fineness`."""
    most = number // fineness
    if most < 2:
        return 1
    ten = int(10 ** (len(str(most)) - 1))
    return next(factor for factor in (5, 2, 1) if factor * ten <= most) * ten
