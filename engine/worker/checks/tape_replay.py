"""Plays a tape again: with one element of a leaf shifted, in double precision or as it was, with a graph of its own."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from engine.ops import WRITES_SILENTLY
from engine.worker.checks.tape import Entry, Impossible, Leaf, Operand, Value, mapped, peeked, tensors_among

_WIDE = {
    torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
    torch.complex32: torch.complex128, torch.complex64: torch.complex128,
}  # fmt: skip
_TO_REAL = frozenset(("float", "half", "bfloat16"))
_TO_COMPLEX = frozenset(("cfloat", "chalf"))


@dataclass(slots=True, eq=False)
class Root:
    """Where a pass started."""

    operand: Operand
    seed: torch.Tensor
    value: torch.Tensor
    """What the root held."""
    record: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A leaf a pass reached."""

    leaf: Leaf
    gradient: torch.Tensor
    """What the pass gave it."""
    value: Value
    """What it held when it was last used; empty when that was too large to keep."""
    changed: bool
    """Its contents were changed between its last use and the pass."""


@dataclass(slots=True, eq=False)
class Problem:
    """What there is to check in one pass."""

    number: int
    roots: list[Root]
    reached: list[Reached]
    entries: list[Entry]
    """Those the roots depend on, in order."""
    nodes: list[tuple[int, str, tuple[int, ...]]] = field(default_factory=list)
    """The graph, when it is small: number, class and place of each node its edges lead to (-1 for none)."""


def needed(entries: Sequence[Entry], roots: Iterable[Root]) -> list[Entry]:
    """The entries that some roots depend on. Raises Impossible when one of them cannot be played."""
    groups: set[int] = set()
    for root in roots:
        _need(root.operand, groups)
    found = []
    for entry in reversed(entries):
        if groups.isdisjoint(entry.groups):
            continue
        if entry.impossible:
            raise Impossible(entry.impossible)
        for operand in entry.operands:
            _need(operand, groups)
        found.append(entry)
    return found[::-1]


def _need(operand: Operand, groups: set[int]) -> None:
    if operand.group and (operand.leaf is None or operand.slot):
        groups.add(operand.group)


def dependent(entries: Iterable[Entry], leaf: Leaf) -> tuple[list[Entry], set[int]]:
    """The entries that depend on a leaf, in order, and the memory that does."""
    groups: set[int] = set()
    found = []
    for entry in entries:
        if any(operand.leaf is leaf or operand.group in groups for operand in entry.operands):
            groups.update(entry.groups)
            found.append(entry)
    return found, groups


@dataclass(frozen=True, slots=True)
class ReplayMode:
    """How to play."""

    wide: bool = True
    """In double precision."""
    graph: bool = False
    """With autograd recording."""
    uncut: bool = False
    """As if nothing hid a path from autograd."""


class Player:
    """One playing of a problem's tape."""

    def __init__(
        self, problem: Problem, mode: ReplayMode, deadline: float, target: Leaf | None = None,
        shift: tuple[int, float] | None = None, nudge: float = 0.0,
    ) -> None:  # fmt: skip
        self._problem = problem
        self._mode = mode
        self._deadline = deadline
        self._target = target
        self._shift = shift
        self._nudge = nudge
        self._graph = mode.graph or any(entry.name == "grad" for entry in problem.entries)
        self.env: dict[int, torch.Tensor] = {}
        self._given: dict[int, torch.Tensor] = {}
        self.leaves: dict[int, tuple[Leaf, torch.Tensor]] = {}
        """By copied value: a leaf that was written has several."""
        self._constants: dict[int, torch.Tensor] = {}
        self._begins: dict[int, torch.Tensor] = {}

    def play(self, base: "Player | None" = None, again: set[int] | None = None, until: Entry | None = None) -> "Player":
        """Computes the roots; with `base` and `again` only entries that touch the memory in `again`; stops before
        `until`."""
        if base is not None and again is not None and not self._graph:
            self._given, self._constants = base.env, base._constants
        else:
            again = None
        for entry in self._problem.entries:
            if entry is until:
                break
            if again is None or not again.isdisjoint(entry.groups):
                if time.perf_counter() > self._deadline:
                    raise Impossible("time")
                self._perform(entry)
        return self

    def roots(self) -> list[torch.Tensor]:
        """The roots as they came out."""
        return [self._resolved(root.operand) for root in self._problem.roots]

    def value(self) -> float:
        """The number the pass differentiates: the roots times their seeds, summed."""
        total = 0.0
        for root, tensor in zip(self._problem.roots, self.roots(), strict=True):
            product = self._widened(root.seed).conj() * tensor.detach()
            total += float((product.real if product.is_complex() else product).sum())
        return total

    def gradient(self, leaf: Leaf) -> torch.Tensor | None:
        """Autograd's own gradient of a leaf in this playing; None when no path leads to it."""
        mine = [tensor for owner, tensor in self.leaves.values() if owner is leaf]
        pairs = [
            (tensor, self._widened(root.seed))
            for root, tensor in zip(self._problem.roots, self.roots(), strict=True)
            if tensor.requires_grad
        ]
        if not mine or not pairs:
            return None
        tensors, seeds = zip(*pairs, strict=True)
        given = torch.autograd.grad(tensors, mine, seeds, retain_graph=True, allow_unused=True)
        found = [each for each in given if each is not None]
        return torch.stack([each.to_dense() for each in found]).sum(0).detach() if found else None

    # One entry

    def _perform(self, entry: Entry) -> None:
        fresh = entry.writes or entry.name in WRITES_SILENTLY
        args, kwargs = self.filled(entry.args, fresh), self.filled(entry.kwargs, fresh)
        func = entry.func
        if self._mode.wide and entry.name in _TO_REAL:
            func = torch.Tensor.double
        elif self._mode.wide and entry.name in _TO_COMPLEX:
            func = _to_complex
        if self._mode.uncut and entry.cut:
            func, args, kwargs = _uncut(entry, func, args, kwargs)
        if entry.rng is not None:
            torch.set_rng_state(entry.rng)
        recording = self._graph and (entry.grad_mode or self._mode.uncut)
        with torch.set_grad_enabled(recording), self._precision(entry):
            result = func(*args, **kwargs)
        tensors = tensors_among(peeked(result))
        if len(tensors) != len(entry.outputs):
            raise Impossible("replay", what=entry.name)
        given = {id(tensor) for tensor in tensors_among((args, kwargs))}
        for slot, tensor in zip(entry.outputs, tensors, strict=True):
            if slot:
                self.env[slot] = tensor.clone() if id(tensor) in given else tensor

    def _precision(self, entry: Entry) -> contextlib.AbstractContextManager[Any]:
        if self._mode.wide or entry.autocast is None:
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=entry.autocast)

    def filled(self, item: Any, fresh: bool) -> Any:
        """Arguments with tensors in the place of operands."""

        def filled(each: object) -> object:
            if isinstance(each, Operand):
                return self._resolved(each, fresh)
            return _WIDE.get(each, each) if self._mode.wide and isinstance(each, torch.dtype) else each

        return mapped(item, filled)

    def _resolved(self, operand: Operand, fresh: bool = False) -> torch.Tensor:
        slot, value = operand.slot, operand.value
        made = self.env.get(slot, self._given.get(slot)) if slot else None
        if operand.leaf is not None and value is not None and (operand.leaf is self._target or made is None):
            return self._leaf(operand.leaf, value, made)
        if made is not None:
            return made if operand.leaf is None else self._begun(made, value)
        if value is None:
            raise Impossible("unseen")
        if operand.base:
            whole = self.env.get(operand.base)
            if whole is None:
                whole = self.env[operand.base] = self._widened(value.copied).clone()
            made = self.env[slot] = value.of(whole)
            return made
        if slot:
            made = self.env[slot] = self._constant(value).clone()
            return made
        return self._constant(value).clone() if fresh else self._constant(value)

    def _constant(self, value: Value) -> torch.Tensor:
        known = self._constants.get(id(value))
        if known is None:
            known = self._constants[id(value)] = value.of(self._widened(value.copied))
        return known

    def _leaf(self, leaf: Leaf, value: Value, made: torch.Tensor | None) -> torch.Tensor:
        """A leaf as it was, or as this playing made it."""
        known = self.leaves.get(id(value))
        if known is None:
            tensor = self._widened(value.copied if made is None else made.detach()).clone()
            if leaf is self._target and self._nudge:
                tensor += self._nudge * direction(tensor)
            if leaf is self._target and self._shift is not None:
                place, step = self._shift
                flat = torch.view_as_real(tensor) if tensor.is_complex() else tensor
                flat.view(-1)[place] += step
            tensor.requires_grad_(self._graph)
            known = self.leaves[id(value)] = (leaf, tensor)
        return known[1]

    def _begun(self, made: torch.Tensor, value: Value | None) -> torch.Tensor:
        """A result that the program made a leaf of: autograd begins anew there."""
        if not self._graph or self._mode.uncut:
            return made
        known = self._begins.get(id(value))
        if known is None:
            known = self._begins[id(value)] = made.detach().requires_grad_()
        return known

    def _widened(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(_WIDE.get(tensor.dtype, tensor.dtype)) if self._mode.wide else tensor


def _to_complex(tensor: torch.Tensor, **options: Any) -> torch.Tensor:
    return tensor.to(torch.complex128, **options)


def _uncut(entry: Entry, func: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Callable[..., Any], Any, Any]:
    """The entry as if it let gradients through."""
    if entry.cut == "grad":
        return func, args, {**kwargs, "create_graph": True}
    if entry.name == "detach_":
        return (lambda tensor: tensor), args, {}
    if entry.cut in ("detach", "data"):
        return partial(_through, entry.name in ("tensor", "as_tensor")), args, {}
    return func, args, kwargs


def _through(anew: bool, tensor: torch.Tensor, *rest: Any) -> torch.Tensor:
    return tensor.clone() if anew else tensor.view_as(tensor)


def direction(tensor: torch.Tensor, phase: float = 1.0) -> torch.Tensor:
    """Numbers of that shape without a pattern, the same each time."""
    count = torch.arange(1, tensor.numel() + 1, dtype=torch.float64)
    return (torch.sin(count * 12.9898 * phase) + 1.5).reshape(tensor.shape).to(tensor.dtype)


@contextlib.contextmanager
def playing(wide: bool) -> Iterator[None]:
    """The surroundings of a playing: double precision for what is made anew, quiet random numbers."""
    dtype, rng = torch.get_default_dtype(), torch.get_rng_state()
    if wide:
        torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_rng_state(rng)
