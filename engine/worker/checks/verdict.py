"""Verdicts on gradients: a central difference in double precision beside what a pass gave, and what explains a gap.

After a program's end its tape is played with one element shifted; where that disagrees, other playings tell why.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from engine import events
from engine.worker.checks.custom_backward import backward_fits
from engine.worker.checks.tape import Entry, Impossible, Tape, dense
from engine.worker.checks.tape_replay import Player, Problem, Reached, ReplayMode, dependent, playing

MOST_ELEMENTS = 16
STEP = 2.0**-20
"""h for elements up to 1; larger ones are shifted in proportion."""
_BESIDE = 2.0**-10
"""How far from a kink the slopes are compared again."""
_LAST = 4

_RELATIVE = (1e-5, 1e-4, 1e-2, 5e-2)
"""Relative error that still agrees, by the lowest precision in use: double, single, half, bfloat16."""
_OF_LARGEST = (1e-9, 2e-6, 2e-3, 1e-2)
"""The same relative to the largest element of the gradient."""
_FAITHFUL = (1e-7, 1e-3, 3e-2, 1e-1)
"""How well a playing in double precision must give the program's own values."""


@dataclass(slots=True)
class Element:
    """One element checked."""

    index: int
    autograd: float
    difference: float
    left: float
    right: float
    kink: bool
    """The two slopes differ, however close to the place they are taken."""
    jump: bool
    """They grow as they are taken closer: the value itself jumps."""

    def doubt(self) -> float:
        """How far the difference itself may be off where the slope changes fast."""
        return 0.0 if self.kink else abs(self.right - self.left)

    def between(self, slack: float) -> bool:
        """Whether autograd gave one of the slopes at a kink, or something between them."""
        low, high = min(self.left, self.right), max(self.left, self.right)
        return self.kink and low - slack <= self.autograd <= high + slack


@dataclass(slots=True)
class Verdict:
    """What is said of one leaf."""

    word: events.Verdict
    reason: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    node: int = 0
    site: int = 0
    elements: list[Element] = field(default_factory=list)


def error_of(element: Element, scale: float) -> float:
    """Its relative error, not over-large where the gradient is nothing beside its largest element."""
    if not (math.isfinite(element.autograd) and math.isfinite(element.difference)):
        return math.inf
    gap = abs(element.autograd - element.difference)
    return gap / max(abs(element.autograd), abs(element.difference), 1e-9 * scale, 1e-30)


def place_of(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The place in a tensor of an index into its elements in a row."""
    place = []
    for size in reversed(shape):
        place.append(flat % size)
        flat //= size
    return tuple(reversed(place))


def unchecked(why: Impossible) -> Verdict:
    """Why nothing can be said."""
    return Verdict("not_checked", why.word, why.parameters)


class LeafChecker:
    """The checks of one pass: what was computed once serves all its leaves."""

    def __init__(self, problem: Problem, tape: Tape, deadline: float) -> None:
        self._problem = problem
        self._tape = tape
        self._deadline = deadline
        self._base: Player | None = None
        self._scale = 0.0

    def check(self, reached: Reached) -> Verdict:
        """The verdict on one leaf."""
        try:
            return self._check(reached)
        except Impossible as why:
            return unchecked(why)
        except MemoryError:
            return unchecked(Impossible("memory"))
        except Exception as error:
            return unchecked(Impossible("replay", what=f"{type(error).__name__}: {error}"[:200]))

    def _check(self, reached: Reached) -> Verdict:
        gradient = _flat(reached.gradient)
        if reached.gradient.numel() != reached.value.copied.numel():
            return unchecked(Impossible("memory"))
        if not gradient.numel():
            return unchecked(Impossible("empty"))
        base = self._base_run()
        at = base.value()
        if not math.isfinite(at):
            return unchecked(Impossible("nonfinite"))
        if not self._faithful(base, _FAITHFUL[self._tape.precision]) and not self._faithful_as_it_was():
            if any(entry.rng is not None for entry in self._problem.entries):
                return Verdict("random", "random")
            return unchecked(Impossible("replay", what=""))
        elements = [self._element(reached, index, at) for index in _sample(gradient)]
        verdict = self._judged(reached, elements)
        verdict.elements = elements
        return verdict

    def _base_run(self) -> Player:
        if self._base is None:
            self._base = Player(self._problem, ReplayMode(), self._deadline).play()
            self._scale = max(self._largest(self._base), abs(self._base.value()))
        return self._base

    def _faithful_as_it_was(self) -> bool:
        """Whether the tape gives the program's values in its own precision: then double precision alone tells them
        apart."""
        with playing(wide=False):
            torch.set_default_dtype(torch.float32)
            return self._faithful(Player(self._problem, ReplayMode(wide=False), self._deadline).play(), 1e-6)

    def _faithful(self, played: Player, relative: float) -> bool:
        """Whether a playing gives the values the program had."""
        for root, tensor in zip(self._problem.roots, played.roots(), strict=True):
            mine, theirs = _flat(tensor.detach()), _flat(root.value)
            if mine.shape != theirs.shape:
                return False
            scale = float(theirs.abs().max()) if theirs.numel() else 0.0
            if theirs.numel() and float((mine - theirs).abs().max()) > relative * (scale + 1e-3):
                return False
        return True

    def _shifted(self, reached: Reached, index: int, step: float) -> float:
        player = Player(self._problem, ReplayMode(), self._deadline, reached.leaf, (index, step))
        again = dependent(self._problem.entries, reached.leaf)[1] | self._tape.written
        return player.play(self._base_run(), again).value()

    def _element(self, reached: Reached, index: int, at: float) -> Element:
        held = float(_flat(reached.value.copied)[index])
        step = STEP * max(1.0, abs(held)) if math.isfinite(held) else STEP
        up, down = self._shifted(reached, index, step), self._shifted(reached, index, -step)
        right, left = (up - at) / step, (at - down) / step
        kink = jump = False
        if self._gap(left, right, step):
            near = step / 16
            right_near = (self._shifted(reached, index, near) - at) / near
            left_near = (at - self._shifted(reached, index, -near)) / near
            gap, gap_near = abs(right - left), abs(right_near - left_near)
            kink = gap_near > 0.5 * gap and self._gap(left_near, right_near, near)
            jump = kink and gap_near > 4 * gap
        autograd = float(_flat(reached.gradient)[index])
        return Element(index, autograd, (up - down) / (2 * step), left, right, kink, jump)

    def _gap(self, left: float, right: float, step: float) -> bool:
        return abs(right - left) > 1e-3 * max(abs(left), abs(right)) + self._noise(step)

    def _noise(self, step: float) -> float:
        """What rounding alone may put into a difference: that of the numbers the value was last made of."""
        return 16 * 2.0**-52 * self._scale / step

    def _largest(self, base: Player) -> float:
        """The largest number among the roots and what the last entries gave."""
        slots = [slot for entry in self._problem.entries[-_LAST:] for slot in entry.outputs if slot]
        tensors = [*base.roots(), *(base.env[slot] for slot in slots if slot in base.env)]
        sizes = [
            float(_flat(tensor.detach()).abs().nan_to_num(posinf=0.0).max()) for tensor in tensors if tensor.numel()
        ]
        return max(sizes, default=0.0)

    # Verdicts

    def _judged(self, reached: Reached, elements: list[Element]) -> Verdict:
        slack = self._slack(reached)
        wrong = [element for element in elements if not self._near(element.autograd, element.difference, slack)]
        if any(not math.isfinite(element.autograd) for element in wrong):
            finite = all(math.isfinite(element.difference) for element in wrong)
            return Verdict("differs", "nonfinite") if finite else unchecked(Impossible("nonfinite"))
        wrong = [element for element in wrong if not element.between(slack)]
        if wrong and all(element.kink for element in wrong) and self._fits_beside(reached, wrong, slack):
            wrong = []
        if wrong:
            return self._explained(reached, wrong, slack, elements)
        if any(element.kink for element in elements):
            return Verdict("kink", "jump" if any(element.jump for element in elements) else "kink")
        left = self._left(reached)
        return Verdict("agrees") if left is None else Verdict("agrees", "left", {"op": left.name}, site=left.site)

    def _left(self, reached: Reached) -> Entry | None:
        """The first call that gave Python a number made of the leaf, before the roots were computed: it may have come
        back."""
        if not self._tape.left or not self._problem.entries:
            return None
        last, groups = self._problem.entries[-1], set[int]()
        calls = iter(self._tape.left)
        at, call = next(calls)
        for index, entry in enumerate(self._tape.entries):
            while at <= index:
                if _takes(call, reached, groups):
                    return call
                following = next(calls, None)
                if following is None:
                    return None
                at, call = following
            if entry is last:
                return None
            if _takes(entry, reached, groups):
                groups.update(entry.groups)
        return None

    def _slack(self, reached: Reached) -> float:
        """Absolute error that says nothing: rounding of the difference, and of the gradient's largest element."""
        gradient = _flat(reached.gradient)
        finite = gradient[torch.isfinite(gradient)]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        return _OF_LARGEST[self._tape.precision] * largest + self._noise(STEP)

    def _near(self, mine: float, theirs: float, slack: float, precision: int | None = None) -> bool:
        relative = _RELATIVE[self._tape.precision if precision is None else precision]
        return abs(mine - theirs) <= relative * max(abs(mine), abs(theirs)) + slack

    def _explained(self, reached: Reached, wrong: list[Element], slack: float, elements: list[Element]) -> Verdict:
        """What explains a gradient that is not the slope."""
        if self._fits(reached, wrong, slack, ReplayMode(graph=True)):
            return self._outside(reached, wrong)
        path, _ = dependent(self._problem.entries, reached.leaf)
        cuts = [entry for entry in path if entry.cut]
        if cuts and self._fits(reached, wrong, slack, ReplayMode(graph=True, uncut=True)):
            cut = cuts[0]
            return Verdict("cut", cut.cut, {"op": cut.name}, site=cut.site)
        for entry in path:
            if entry.custom and not self._right(entry):
                return Verdict("differs", "custom", {"function": entry.custom}, node=entry.node)
        return Verdict("differs", "symmetric" if _symmetric(reached.gradient, elements, slack) else "unknown")

    def _fits_beside(self, reached: Reached, wrong: list[Element], slack: float) -> bool:
        """Whether the program's gradient is autograd's own, and autograd gives the slopes a little beside the kink."""
        leaf, mode = reached.leaf, ReplayMode(graph=True)
        here = Player(self._problem, mode, self._deadline).play().gradient(leaf)
        there = Player(self._problem, mode, self._deadline, leaf, nudge=_BESIDE).play().gradient(leaf)
        if here is None or there is None:
            return False
        for element in wrong:
            step = STEP * max(1.0, abs(float(_flat(reached.value.copied)[element.index])))
            up, down = (
                Player(self._problem, ReplayMode(), self._deadline, leaf, (element.index, shift), _BESIDE)
                .play()
                .value()
                for shift in (step, -step)
            )
            if not self._near(float(_flat(here)[element.index]), element.autograd, slack):
                return False
            if not self._near(float(_flat(there)[element.index]), (up - down) / (2 * step), slack, 1):
                return False
        return True

    def _fits(self, reached: Reached, wrong: Iterable[Element], slack: float, mode: ReplayMode) -> bool:
        """Whether autograd in another playing gives the slopes."""
        try:
            given = Player(self._problem, mode, self._deadline).play().gradient(reached.leaf)
        except Impossible:
            raise
        except Exception:  # such as a backward that does not take double precision
            return False
        flat = _flat(given) if given is not None else torch.zeros_like(_flat(reached.gradient))
        return all(
            self._near(float(flat[element.index]), element.difference, slack + element.doubt(), 1)
            or element.between(slack)
            for element in wrong
        )

    def _outside(self, reached: Reached, wrong: Iterable[Element]) -> Verdict:
        """The tape alone gives the slopes: single precision, or something beside the graph, made the difference."""
        if self._tape.precision:
            with playing(wide=False):
                torch.set_default_dtype(torch.float32)
                given = (
                    Player(self._problem, ReplayMode(wide=False, graph=True), self._deadline)
                    .play()
                    .gradient(reached.leaf)
                )
            if given is not None:
                flat, mine = _flat(given), _flat(reached.gradient)
                scale = 1e-6 * float(mine.abs().max())
                if all(self._near(float(flat[element.index]), element.autograd, scale) for element in wrong):
                    return Verdict("float32", "float32")
        return Verdict("differs", "changed" if reached.changed else "hook" if self._tape.hooks else "outside")

    def _right(self, entry: Entry) -> bool:
        """Whether a custom Function's backward fits its own forward, along one direction."""
        player = Player(self._problem, ReplayMode(graph=True), self._deadline).play(until=entry)
        try:
            return backward_fits(entry, player)
        except Exception:  # a forward or backward that cannot run in double precision proves nothing
            return True


def _takes(entry: Entry, reached: Reached, groups: set[int]) -> bool:
    """Whether an entry was given the leaf as it was then, or what was made of it."""
    return any(
        operand.group in groups or (operand.leaf is reached.leaf and operand.value is reached.value)
        for operand in entry.operands
    )


def _symmetric(gradient: torch.Tensor, elements: list[Element], slack: float) -> bool:
    """Whether a square matrix's gradient is right for changes that keep it symmetric: what `eigh` and `cholesky`
    give."""
    if gradient.dim() != 2 or gradient.shape[0] != gradient.shape[1] or len(elements) != gradient.numel():
        return False
    size = gradient.shape[0]
    gaps = [element.autograd - element.difference for element in elements]
    both = [abs(gaps[row * size + column] + gaps[column * size + row]) for row in range(size) for column in range(size)]
    largest = max((abs(element.difference) for element in elements), default=0.0)
    return max(both, default=1.0) <= 1e-4 * largest + slack


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Elements in a row, real and imaginary parts in turn."""
    plain = dense(tensor)
    real = torch.view_as_real(plain.resolve_conj()) if plain.is_complex() else plain
    return real.reshape(-1).double()


def _sample(gradient: torch.Tensor) -> list[int]:
    """All places of a small gradient; of a larger one some, evenly spread, and the one of largest size."""
    count = gradient.numel()
    if count <= MOST_ELEMENTS:
        return list(range(count))
    spread = {round(i * (count - 1) / (MOST_ELEMENTS - 2)) for i in range(MOST_ELEMENTS - 1)}
    return sorted(spread | {int(gradient.abs().nan_to_num().argmax())})
