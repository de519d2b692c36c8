"""A function of two numbers on a grid: the forward of a pass played again with each pair of them, all else as it
was."""

import math
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from engine.events import SurfaceSeen
from engine.trace import spoken
from engine.worker.capture.recorder import Recorder
from engine.worker.checks.tape import Impossible, Leaf, Operand, Tape, Value, spread
from engine.worker.checks.tape_replay import Player, Problem, ReplayMode, dependent, playing
from engine.worker.checks.verdict import place_of

GRIDS = (11, 21, 41)
"""Points along each side, up to the finest the time allows; each grid has the points of the one before."""
MOST_NUMBERS = 256
_SHARE = 0.5
"""Of the time that is left."""
_TIMED = 3
"""Playings that are timed; the quickest counts, the machine may be busy with others."""
_MOST_NODES = 2_000
_MOST_PASSES = 5_000
_MOST_COMPARED = 24
_BEYOND = 0.2
"""How far the grid reaches past the numbers that were met, as a share of their range."""
_FITS = 1e-3
_LARGEST = 1e30

Place = tuple[int, int]
"""A leaf of the function, an element of it."""


@dataclass(slots=True)
class Point:
    """Where a pass was: its leaves and its value."""

    number: int
    tensors: list[weakref.ref[torch.Tensor]]
    keys: list[int]
    held: list[torch.Tensor]
    """What they held, in double precision."""
    value: float
    leaves: list[Leaf] = field(default_factory=list)
    """The same on the tape, for a pass that can be played."""

    def shapes(self) -> list[torch.Size]:
        return [tensor.shape for tensor in self.held]


class Points:
    """All passes with one number at their root and few at their leaves."""

    def __init__(self) -> None:
        self.all: list[Point] = []
        self.large = False
        """A graph was too large to look for its leaves."""

    def note(self, number: int, outputs: Sequence[Any]) -> None:
        """Told of a pass before it runs."""
        if len(outputs) != 1 or isinstance(outputs[0], GradientEdge) or len(self.all) >= _MOST_PASSES:
            return
        root = outputs[0]
        if not root.requires_grad or root.numel() != 1 or not root.is_floating_point():
            return
        leaves = _leaves(root)
        self.large = self.large or leaves is None
        if not leaves or sum(leaf.numel() for leaf in leaves) > MOST_NUMBERS:
            return
        if all(leaf.is_floating_point() and leaf.layout is torch.strided for leaf in leaves):
            held = [leaf.detach().double().clone() for leaf in leaves]
            refs = [weakref.ref(leaf) for leaf in leaves]
            self.all.append(Point(number, refs, [id(leaf) for leaf in leaves], held, float(root.detach())))

    def watched(self, number: int, leaves: dict[int, tuple[torch.Tensor, Leaf, Value, bool]]) -> None:
        """Told after a pass which leaf on the tape each of its tensors is."""
        point = self.all[-1] if self.all else None
        if point is not None and point.number == number and all(key in leaves for key in point.keys):
            point.leaves = [leaves[key][1] for key in point.keys]


def _leaves(root: torch.Tensor) -> list[torch.Tensor] | None:
    """The leaves behind a root in the order of meeting; None for a large graph."""
    if root.grad_fn is None:
        return []
    found: list[torch.Tensor] = []
    nodes: list[Any] = [root.grad_fn]
    seen = {id(root.grad_fn)}
    for node in nodes:
        variable = getattr(node, "variable", None) if not node.next_functions else None
        if variable is not None:
            found.append(variable)
        for target, _ in node.next_functions:
            if target is not None and id(target) not in seen:
                seen.add(id(target))
                nodes.append(target)  # held by the list, so that no other object gets its id
        if len(nodes) > _MOST_NODES:
            return None
    return found


class _Placed(Player):
    """A playing in which the leaves hold given numbers."""

    def __init__(self, problem: Problem, deadline: float, placed: dict[int, torch.Tensor]) -> None:
        super().__init__(problem, ReplayMode(), deadline)
        self._placed = placed
        """By the leaf's memory on the tape."""

    def _resolved(self, operand: Operand, fresh: bool = False) -> torch.Tensor:
        if operand.leaf is not None and operand.leaf.group in self._placed:
            return self._placed[operand.leaf.group]
        return super()._resolved(operand, fresh)


class Function:
    """What a pass differentiates, as a function of the numbers in its leaves."""

    def __init__(self, problem: Problem, point: Point, tape: Tape, deadline: float) -> None:
        if any(len(values) > 1 for values in _epochs(problem, point.leaves)):
            raise Impossible("changed")  # the leaf is a step of its own graph
        self.point = point
        self._problem = problem
        self._deadline = deadline
        self._again = set(tape.written)
        for leaf in point.leaves:
            self._again |= dependent(problem.entries, leaf)[1] | {leaf.group}
        self._base: Player = self._player(point.held).play()

    def _player(self, held: Iterable[torch.Tensor]) -> Player:
        placed = {leaf.group: value for leaf, value in zip(self.point.leaves, held, strict=True)}
        return _Placed(self._problem, self._deadline, placed)

    def at(self, held: Sequence[torch.Tensor]) -> float:
        """Its value."""
        return self._player(held).play(self._base, self._again).value()


def _epochs(problem: Problem, leaves: Iterable[Leaf]) -> list[set[int]]:
    """For each leaf, the values it had within one pass."""
    found: dict[int, set[int]] = {leaf.group: set() for leaf in leaves}
    for entry in problem.entries:
        for operand in entry.operands:
            if operand.leaf is not None and operand.value is not None and operand.leaf.group in found:
                found[operand.leaf.group].add(id(operand.value))
    return list(found.values())


def surface(
    problems: Iterable[tuple[Problem, Impossible | None]], points: Points, tape: Tape, recorder: Recorder,
    deadline: float,
) -> None:  # fmt: skip
    """Says the values on the grid, or why there are none."""
    why = Impossible("limit" if points.large else "numbers")
    by_number = {point.number: point for point in points.all}
    for problem, impossible in problems:
        point = by_number.get(problem.number)
        if point is None or sum(tensor.numel() for tensor in point.held) < 2:
            continue
        if impossible is not None or not point.leaves:
            why = impossible or why
            continue
        try:
            with playing(wide=True), torch.no_grad():
                function = Function(problem, point, tape, deadline)
                recorder.outbox.say(_surface(function, points, deadline))
            return
        except Impossible as found:
            why = found
        except Exception as error:
            why = Impossible("replay", what=f"{type(error).__name__}: {error}"[:200])
    recorder.outbox.say(SurfaceSeen(0, None, None, (), 0, 0, 0, why.word, why.parameters))


def _surface(function: Function, points: Points, deadline: float) -> SurfaceSeen:
    point = function.point
    if not _near(function.at(point.held), point.value):
        raise Impossible("replay", what="")
    alike = [other for other in points.all if other.shapes() == point.shapes()]
    ranges = _ranges(point, alike)
    places = sorted(_moved_most(ranges), key=lambda place: (point.leaves[place[0]].number, place[1]))
    others = spread([other for other in alike if other is not point], _MOST_COMPARED)
    fitting = 0
    for other in others:
        fitting += _near(function.at(other.held), other.value)
    across, up = (_ticks(ranges[place], GRIDS[-1]) for place in places)

    def at(column: int, row: int) -> float:
        return function.at(_with(point.held, dict(zip(places, (across[column], up[row]), strict=True))))

    each_s = min(_seconds(function) for _ in range(_TIMED))
    marks, values = _refined(at, each_s, time.perf_counter(), deadline)
    said = tuple([spoken(float(f"{value:.7g}")) for value in values])
    first, second = (
        _axis(point, place, tuple(ticks[mark] for mark in marks))
        for place, ticks in zip(places, (across, up), strict=True)
    )
    return SurfaceSeen(point.number, first, second, said, len(ranges), len(others), fitting, "", {})


def _refined(
    at: Callable[[int, int], float], each_s: float, began: float, deadline: float
) -> tuple[range, list[float]]:
    """The marks of the finest grid that are kept, and the values there, row by row."""
    known: dict[tuple[int, int], float] = {}
    kept: range | None = None
    end = began + _SHARE * (deadline - began)
    for count in GRIDS:
        marks = range(0, GRIDS[-1], (GRIDS[-1] - 1) // (count - 1))
        missing = [(column, row) for row in marks for column in marks if (column, row) not in known]
        if time.perf_counter() + len(missing) * each_s > end:
            break
        try:
            known |= {place: at(*place) for place in missing}
        except Impossible as found:
            if found.word == "time" and kept is not None:
                break  # the machine got busier
            raise
        kept = marks
        each_s = (time.perf_counter() - began) / len(known)
    if kept is None:
        raise Impossible("time")
    return kept, [known[column, row] for row in kept for column in kept]


def _seconds(function: Function) -> float:
    began = time.perf_counter()
    function.at(function.point.held)
    return time.perf_counter() - began


def _near(mine: float, theirs: float) -> bool:
    if not (math.isfinite(mine) and math.isfinite(theirs)):
        return math.isnan(mine) == math.isnan(theirs) and mine in (theirs, mine)
    return abs(mine - theirs) <= _FITS * max(abs(mine), abs(theirs)) + 1e-6


def _ranges(point: Point, alike: Iterable[Point]) -> dict[Place, tuple[float, float]]:
    """From where to where each number went, to what it is at the end."""
    found: dict[Place, tuple[float, float]] = {}
    rows = [each.held for each in alike]
    rows += [last for each in alike if (last := _last(each)) is not None]
    for leaf, held in enumerate(point.held):
        for element in range(held.numel()):
            met = [float(row[leaf].reshape(-1)[element]) for row in rows]
            met = [each for each in met if math.isfinite(each) and abs(each) < _LARGEST]
            found[leaf, element] = (min(met, default=0.0), max(met, default=0.0))
    return found


def _last(point: Point) -> list[torch.Tensor] | None:
    tensors = [ref() for ref in point.tensors]
    held = [tensor.detach().double() for tensor in tensors if tensor is not None]
    same = len(held) == len(point.held) and all(a.shape == b.shape for a, b in zip(held, point.held, strict=True))
    return held if same else None


def _moved_most(ranges: dict[Place, tuple[float, float]]) -> list[Place]:
    """The two numbers that moved most."""
    return sorted(ranges, key=lambda place: (ranges[place][0] - ranges[place][1], place))[:2]


def _ticks(span: tuple[float, float], count: int) -> tuple[float, ...]:
    low, high = span
    room = _BEYOND * (high - low) or max(abs(low), 1.0) / 2
    low, high = low - room, high + room
    return tuple([float(f"{low + (high - low) * at / (count - 1):.9g}") for at in range(count)])


def _with(held: Sequence[torch.Tensor], places: dict[Place, float]) -> list[torch.Tensor]:
    """The leaves with some of their elements replaced."""
    made = list(held)
    for (leaf, element), value in places.items():
        made[leaf] = made[leaf].clone() if made[leaf] is held[leaf] else made[leaf]
        made[leaf].view(-1)[element] = value
    return made


def _axis(point: Point, place: Place, ticks: tuple[float, ...]) -> tuple[int, tuple[int, ...], tuple[float, ...]]:
    leaf, element = place
    return point.leaves[leaf].number, place_of(element, point.held[leaf].shape), ticks
