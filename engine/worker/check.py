"""Checks gradients after a program has ended: a central difference in double precision beside what each pass gave.

While the program runs only its tape is kept and what each pass added to each leaf is copied; everything that computes
happens after its last word, so that a check changes nothing it does.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from engine.request import RunRequest
from engine.worker.jacobian import jacobians
from engine.worker.play import Player, Problem, Reached, Root, Way, dependent, direction, needed, playing
from engine.worker.record import Ledger
from engine.worker.tape import Entry, Impossible, Leaf, Tape, Value, differs, quiet
from engine.worker.tensors import spoken

MOST_PASSES = 8
MOST_LEAVES = 8
MOST_ELEMENTS = 16
MOST_UNCHECKED = 64
"""Leaves beyond the limit that are still named."""
STEP = 2.0**-20
"""h for elements up to 1; larger ones are shifted in proportion."""
_BESIDE = 2.0**-10
"""How far from a kink the slopes are compared again."""
_LAST = 4
_SMALL_GRAPH = 64
_SHARE = 0.5
"""Of the time the limits leave."""

_RELATIVE = (1e-5, 1e-4, 1e-2, 5e-2)
"""Relative error that still agrees, by the lowest precision in use: double, single, half, bfloat16."""
_OF_LARGEST = (1e-9, 2e-6, 2e-3, 1e-2)
"""The same relative to the largest element of the gradient."""
_FAITHFUL = (1e-7, 1e-3, 3e-2, 1e-1)
"""How well a playing in double precision must give the program's own values."""

Engine = Callable[..., Any]


@dataclass(slots=True)
class _Watch:
    """A pass while it runs."""

    number: int
    leaves: dict[int, tuple[torch.Tensor, Leaf, Value, bool]] = field(default_factory=dict)
    """By the address of the object, which is held here."""
    roots: list[Root] = field(default_factory=list)
    gradients: dict[int, torch.Tensor] = field(default_factory=dict)
    handles: list[Any] = field(default_factory=list)
    inputs: list[tuple[int, int]] = field(default_factory=list)
    """For `grad`: place among the inputs, and the leaf."""
    nodes: list[Any] = field(default_factory=list)
    entries: int = 0
    impossible: Impossible | None = None


@dataclass(slots=True)
class _Element:
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
class _Verdict:
    word: str
    reason: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    node: int = 0
    site: int = 0
    elements: list[_Element] = field(default_factory=list)


class Checker:
    """Stands before the engine while the program runs, and checks when it has ended."""

    def __init__(self, ledger: Ledger, request: RunRequest) -> None:
        self.ledger = ledger
        self.asked = frozenset(request.checks)
        self.limits = request.limits
        self.tape = Tape(ledger)
        self.problems: list[tuple[Problem, Impossible | None]] = []
        self.passes = 0
        self._engine: Engine = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
        self._begun = time.perf_counter()

    def install(self) -> None:
        """Begins to watch."""
        self.tape.install()
        torch.autograd._engine_run_backward = self.run  # type: ignore[attr-defined, assignment]

    def run(self, outputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Runs the engine as it was called, and notes what it gave the leaves."""
        watch = None
        if self.passes < MOST_PASSES and not self.ledger.pass_stack:
            self.passes += 1
            watch = _Watch(self.ledger.passes + 1, entries=len(self.tape.entries))
            self._try(watch, partial(self._before, watch, outputs, args, kwargs))
        try:
            result = self._engine(outputs, *args, **kwargs)
        finally:
            if watch is not None:
                for handle in watch.handles:
                    handle.remove()
        if watch is not None:
            self._try(watch, partial(self._after, watch, outputs, result))
            if self.passes == MOST_PASSES:
                self.tape.stop()
        return result

    def _try(self, watch: _Watch, work: Callable[[], None]) -> None:
        try:
            with quiet():
                work()
        except Impossible as why:
            watch.impossible = why
        except Exception as error:
            watch.impossible = Impossible("replay", what=f"{type(error).__name__}: {error}"[:200])

    # Before a pass

    def _before(self, watch: _Watch, outputs: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        grads, inputs = args[0], args[3]
        accumulates = bool(kwargs.get("accumulate_grad", True))
        edges = []
        for output in outputs:
            if isinstance(output, torch.Tensor) and not output.requires_grad:
                return  # PyTorch refuses
            edges.append(output if isinstance(output, GradientEdge) else get_gradient_edge(output))
        if accumulates:
            asked = None if not inputs else {id(each) for each in inputs}
            self._watch_leaves(watch, [edge.node for edge in edges], asked)
        else:
            for place, each in enumerate(inputs or ()):
                if isinstance(each, torch.Tensor) and each.is_leaf and each.requires_grad:
                    self._meet(watch, each)
                    watch.inputs.append((place, id(each)))
        if not watch.leaves:
            return
        if self.ledger.walker.threaded:
            raise Impossible("threads")
        for index, output in enumerate(outputs):
            grad = grads[index] if grads is not None and index < len(grads) else None
            if not isinstance(output, torch.Tensor):
                raise Impossible("unseen")
            if grad is None or torch._C._functorch.is_functorch_wrapped_tensor(grad):
                raise Impossible("transform")
            value = output.detach().clone()
            watch.roots.append(Root(self.tape.operand(output), grad.detach().clone(), value))

    def _watch_leaves(self, watch: _Watch, nodes: list[Any], asked: set[int] | None) -> None:
        """A hook of our own on each AccumulateGrad copies what arrives there."""
        seen: set[int] = set()
        todo = list(reversed(nodes))
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            watch.nodes.append(node)  # held, so that no other object gets its id
            todo += [target for target, _ in reversed(node.next_functions) if target is not None]
            leaf = getattr(node, "variable", None) if not node.next_functions else None
            if leaf is not None and (asked is None or id(leaf) in asked):
                self._meet(watch, leaf)
                watch.handles.append(
                    node.register_hook(partial(_keep, watch.gradients, id(leaf), self.tape.most_bytes // 2))
                )

    def _meet(self, watch: _Watch, tensor: torch.Tensor) -> None:
        known = self.tape._leaves.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1].value is not None:
            leaf, value = known[1], known[1].value
            changed = value.copied.shape == tensor.shape and differs(value, tensor)
        else:  # itself a root, or never seen in a call
            leaf, value, changed = Leaf(0), Value(tensor.new_empty(0)), False
            try:
                operand = self.tape.operand(tensor)
                leaf, value = operand.leaf or leaf, operand.value or value
            except Impossible as why:
                watch.impossible = why
        watch.leaves[id(tensor)] = (tensor, leaf, value, changed)

    # After it

    def _after(self, watch: _Watch, outputs: Sequence[Any], result: Any) -> None:
        for place, key in watch.inputs:
            given = result[place]
            if given is not None:
                _keep(watch.gradients, key, self.tape.most_bytes // 2, None, (given,))
        for root, output in zip(watch.roots, outputs, strict=False):
            root.record = self.ledger.meet(output, "result").id
        nodes: list[tuple[int, str, tuple[int, ...]]] = []
        if "jacobian" in self.asked and len(outputs) == 1:
            nodes = self._graph(get_gradient_edge(outputs[0]).node)
        reached = []
        for key, (tensor, leaf, value, changed) in watch.leaves.items():
            if key in watch.gradients:
                leaf.number = self.ledger.meet(tensor, "leaf").first
                reached.append(Reached(leaf, watch.gradients[key], value, changed))
        reached.sort(key=lambda each: each.leaf.number)
        watch.nodes.clear()
        watch.leaves.clear()
        if not reached:
            return
        problem = Problem(watch.number, watch.roots, reached, [], nodes)
        why = Impossible(self.tape.trouble) if self.tape.trouble else watch.impossible
        if why is None:
            try:
                problem.entries = needed(self.tape.entries[: watch.entries], watch.roots)
            except Impossible as found:
                why = found
        self.problems.append((problem, why))

    def _graph(self, root: Any) -> list[tuple[int, str, tuple[int, ...]]]:
        """The nodes behind a root, breadth first, when there are few."""
        found, places = [root], {id(root): 0}
        rows: list[tuple[int, str, tuple[int, ...]]] = []
        for node in found:
            edges = []
            for target, _ in node.next_functions:
                if target is None:
                    edges.append(-1)
                    continue
                if id(target) not in places:
                    places[id(target)] = len(found)
                    found.append(target)
                edges.append(places[id(target)])
            if len(found) > _SMALL_GRAPH:
                return []
            rows.append((self.ledger.walker.known(node) or 0, type(node).__name__, tuple(edges)))
        return rows

    # After the program

    def tell(self) -> None:
        """Checks and says what came out, in the time that is left; recording has ended."""
        self.tape.stop()
        warnings.simplefilter("ignore")
        now = time.perf_counter()
        left = min(self.limits.wall_s - (now - self._begun), self.limits.cpu_s - time.process_time())
        deadline = now + _SHARE * max(left, 0.0)
        if "jacobian" in self.asked:
            for problem, why in self.problems:
                if why is None:
                    with playing(wide=False):
                        jacobians(problem, self.ledger, now + 0.5 * (deadline - now))
        if "finite-difference" in self.asked:
            self._differences(deadline)

    def _differences(self, deadline: float) -> None:
        done: set[int] = set()
        checked = told = 0
        for problem, why in self.problems:
            fresh = [reached for reached in problem.reached if reached.leaf.number not in done]
            chosen = _spread(fresh, MOST_LEAVES - checked) if why is None else []
            checked += len(chosen)
            with playing(wide=True):
                looked = _Looked(problem, self.tape, deadline)
                for reached in fresh:
                    done.add(reached.leaf.number)
                    if reached in chosen:
                        self._say(problem, reached, looked.check(reached))
                    elif told < MOST_UNCHECKED:
                        told += 1
                        unchecked = _unchecked(why or Impossible("limit", count=str(MOST_LEAVES)))
                        self._say(problem, reached, unchecked)

    def _say(self, problem: Problem, reached: Reached, verdict: _Verdict) -> None:
        shape = tuple(reached.gradient.shape) + ((2,) if reached.gradient.is_complex() else ())
        scale = max((abs(each.autograd) for each in verdict.elements if math.isfinite(each.autograd)), default=0.0)
        error = max((_error(each, scale) for each in verdict.elements), default=0.0)
        self.ledger.say(
            "ck", problem.number, reached.leaf.number, verdict.word, spoken(error), STEP if verdict.elements else 0.0,
            tuple([(_index(each.index, shape), spoken(each.autograd), spoken(each.difference)) for each in verdict.elements]),
            verdict.reason, verdict.parameters, verdict.node, verdict.site,
        )  # fmt: skip


def _keep(
    gradients: dict[int, torch.Tensor], key: int, most_bytes: int, left: Any, entered: Sequence[torch.Tensor | None]
) -> None:
    """The hook on an AccumulateGrad."""
    if entered and entered[0] is not None:
        with quiet():
            given = entered[0].detach()
            large = given.numel() * given.element_size() > most_bytes
            gradients[key] = given.new_empty(0) if large else _dense(given).clone()


def _error(each: _Element, scale: float) -> float:
    if not (math.isfinite(each.autograd) and math.isfinite(each.difference)):
        return math.inf
    gap = abs(each.autograd - each.difference)
    return gap / max(abs(each.autograd), abs(each.difference), 1e-9 * scale, 1e-30)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place = []
    for size in reversed(shape):
        place.append(flat % size)
        flat //= size
    return tuple(reversed(place))


def _spread(items: list[Reached], most: int) -> list[Reached]:
    """At most so many, evenly over the list, its ends included."""
    if len(items) <= most:
        return items
    if most < 2:
        return items[:most]
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def _unchecked(why: Impossible) -> _Verdict:
    return _Verdict("not_checked", why.word, why.parameters)


class _Looked:
    """The checks of one pass: what was computed once serves all its leaves."""

    def __init__(self, problem: Problem, tape: Tape, deadline: float) -> None:
        self._problem = problem
        self._tape = tape
        self._deadline = deadline
        self._base: Player | None = None
        self._scale = 0.0

    def check(self, reached: Reached) -> _Verdict:
        """The verdict on one leaf."""
        try:
            return self._check(reached)
        except Impossible as why:
            return _unchecked(why)
        except MemoryError:
            return _unchecked(Impossible("memory"))
        except Exception as error:
            return _unchecked(Impossible("replay", what=f"{type(error).__name__}: {error}"[:200]))

    def _check(self, reached: Reached) -> _Verdict:
        gradient = _flat(reached.gradient)
        if reached.gradient.numel() != reached.value.copied.numel():
            return _unchecked(Impossible("memory"))
        if not gradient.numel():
            return _unchecked(Impossible("empty"))
        base = self._base_run()
        at = base.value()
        if not math.isfinite(at):
            return _unchecked(Impossible("nonfinite"))
        if not self._faithful(base, _FAITHFUL[self._tape.precision]) and not self._faithful_as_it_was():
            if any(entry.rng is not None for entry in self._problem.entries):
                return _Verdict("random", "random")
            return _unchecked(Impossible("replay", what=""))
        elements = [self._element(reached, index, at) for index in _sample(gradient)]
        verdict = self._judged(reached, elements)
        verdict.elements = elements
        return verdict

    def _base_run(self) -> Player:
        if self._base is None:
            self._base = Player(self._problem, Way(), self._deadline).play()
            self._scale = max(self._largest(self._base), abs(self._base.value()))
        return self._base

    def _faithful_as_it_was(self) -> bool:
        """Whether the tape gives the program's values in its own precision: then double precision alone tells them apart."""
        with playing(wide=False):
            torch.set_default_dtype(torch.float32)
            return self._faithful(Player(self._problem, Way(wide=False), self._deadline).play(), 1e-6)

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
        player = Player(self._problem, Way(), self._deadline, reached.leaf, (index, step))
        again = dependent(self._problem.entries, reached.leaf) | self._tape.written
        return player.play(self._base_run(), again).value()

    def _element(self, reached: Reached, index: int, at: float) -> _Element:
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
        return _Element(index, autograd, (up - down) / (2 * step), left, right, kink, jump)

    def _gap(self, left: float, right: float, step: float) -> bool:
        return abs(right - left) > 1e-3 * max(abs(left), abs(right)) + self._noise(step)

    def _noise(self, step: float) -> float:
        """What rounding alone may put into a difference: that of the numbers the value was last made of."""
        return 16 * 2.0**-52 * self._scale / step

    def _largest(self, base: Player) -> float:
        """The largest number among the roots and what the last entries gave."""
        slots = [slot for entry in self._problem.entries[-_LAST:] for slot in entry.outputs if slot]
        tensors = [*base.roots(), *(base.env[slot] for slot in slots if slot in base.env)]
        sizes = [float(_flat(each.detach()).abs().nan_to_num(posinf=0.0).max()) for each in tensors if each.numel()]
        return max(sizes, default=0.0)

    # Verdicts

    def _judged(self, reached: Reached, elements: list[_Element]) -> _Verdict:
        slack = self._slack(reached)
        wrong = [each for each in elements if not self._near(each.autograd, each.difference, slack)]
        if any(not math.isfinite(each.autograd) for each in wrong):
            finite = all(math.isfinite(each.difference) for each in wrong)
            return _Verdict("differs", "nonfinite") if finite else _unchecked(Impossible("nonfinite"))
        wrong = [each for each in wrong if not each.between(slack)]
        if wrong and all(each.kink for each in wrong) and self._fits_beside(reached, wrong, slack):
            wrong = []
        if wrong:
            return self._explained(reached, wrong, slack, elements)
        if any(each.kink for each in elements):
            return _Verdict("kink", "jump" if any(each.jump for each in elements) else "kink")
        return _Verdict("agrees")

    def _slack(self, reached: Reached) -> float:
        """Absolute error that says nothing: rounding of the difference, and of the gradient's largest element."""
        gradient = _flat(reached.gradient)
        finite = gradient[torch.isfinite(gradient)]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        return _OF_LARGEST[self._tape.precision] * largest + self._noise(STEP)

    def _near(self, mine: float, theirs: float, slack: float, precision: int | None = None) -> bool:
        relative = _RELATIVE[self._tape.precision if precision is None else precision]
        return abs(mine - theirs) <= relative * max(abs(mine), abs(theirs)) + slack

    def _explained(self, reached: Reached, wrong: list[_Element], slack: float, elements: list[_Element]) -> _Verdict:
        """What explains a gradient that is not the slope."""
        if self._fits(reached, wrong, slack, Way(graph=True)):
            return self._outside(reached, wrong)
        path = self._path(reached.leaf)
        cuts = [entry for entry in path if entry.cut]
        if cuts and self._fits(reached, wrong, slack, Way(graph=True, healed=True)):
            cut = cuts[0]
            return _Verdict("cut", cut.cut, {"op": cut.name}, site=cut.site)
        for entry in path:
            if entry.custom and not self._right(entry):
                return _Verdict("differs", "custom", {"function": entry.custom}, node=entry.node)
        return _Verdict("differs", "symmetric" if _symmetric(reached.gradient, elements, slack) else "unknown")

    def _fits_beside(self, reached: Reached, wrong: list[_Element], slack: float) -> bool:
        """Whether the program's gradient is autograd's own, and autograd gives the slopes a little beside the kink."""
        leaf, way = reached.leaf, Way(graph=True)
        here = Player(self._problem, way, self._deadline).play().gradient(leaf)
        there = Player(self._problem, way, self._deadline, leaf, nudge=_BESIDE).play().gradient(leaf)
        if here is None or there is None:
            return False
        for each in wrong:
            step = STEP * max(1.0, abs(float(_flat(reached.value.copied)[each.index])))
            up, down = (
                Player(self._problem, Way(), self._deadline, leaf, (each.index, shift), _BESIDE).play().value()
                for shift in (step, -step)
            )
            if not self._near(float(_flat(here)[each.index]), each.autograd, slack):
                return False
            if not self._near(float(_flat(there)[each.index]), (up - down) / (2 * step), slack, 1):
                return False
        return True

    def _fits(self, reached: Reached, wrong: Iterable[_Element], slack: float, way: Way) -> bool:
        """Whether autograd in another playing gives the slopes."""
        try:
            given = Player(self._problem, way, self._deadline).play().gradient(reached.leaf)
        except Impossible:
            raise
        except Exception:  # such as a backward that does not take double precision
            return False
        flat = _flat(given) if given is not None else torch.zeros_like(_flat(reached.gradient))
        return all(
            self._near(float(flat[each.index]), each.difference, slack + each.doubt(), 1) or each.between(slack)
            for each in wrong
        )

    def _outside(self, reached: Reached, wrong: Iterable[_Element]) -> _Verdict:
        """The tape alone gives the slopes: single precision, or something beside the graph, made the difference."""
        if self._tape.precision:
            with playing(wide=False):
                torch.set_default_dtype(torch.float32)
                given = Player(self._problem, Way(wide=False, graph=True), self._deadline).play().gradient(reached.leaf)
            if given is not None:
                flat, mine = _flat(given), _flat(reached.gradient)
                scale = 1e-6 * float(mine.abs().max())
                if all(self._near(float(flat[each.index]), each.autograd, scale) for each in wrong):
                    return _Verdict("float32", "float32")
        return _Verdict("differs", "changed" if reached.changed else "hook" if self._tape.hooks else "outside")

    def _path(self, leaf: Leaf) -> list[Entry]:
        groups: set[int] = set()
        path = []
        for entry in self._problem.entries:
            if any(operand.leaf is leaf or operand.group in groups for operand in entry.operands):
                groups.update(entry.groups)
                path.append(entry)
        return path

    def _right(self, entry: Entry) -> bool:
        """Whether a custom Function's backward fits its own forward, along one direction."""
        player = Player(self._problem, Way(graph=True), self._deadline)
        for each in self._problem.entries:
            if each is entry:
                break
            player._perform(each)
        try:
            return _custom_fits(partial(_called, entry, player))
        except Exception:  # a forward or backward that cannot run in double precision proves nothing
            return True


def _called(entry: Entry, player: Player, shift: float, leaves: list[torch.Tensor] | None) -> list[torch.Tensor]:
    """The Function on its own inputs, moved along the direction; with `leaves` the inputs are collected there."""

    def moved(item: Any) -> Any:
        if isinstance(item, torch.Tensor) and item.is_floating_point():
            fresh = item.detach() + shift * direction(item)
            if leaves is not None:
                leaves.append(fresh.requires_grad_())
                return fresh.clone()  # a Function may write into it
            return fresh
        if isinstance(item, tuple | list):
            return type(item)([moved(each) for each in item])
        if isinstance(item, dict):
            return {key: moved(each) for key, each in item.items()}
        return item

    with torch.set_grad_enabled(leaves is not None):
        result = entry.func(*moved(player._filled(entry.args, True)), **moved(player._filled(entry.kwargs, True)))
    return [
        each for each in (result if isinstance(result, tuple | list) else [result]) if isinstance(each, torch.Tensor)
    ]


def _custom_fits(call: Callable[[float, list[torch.Tensor] | None], list[torch.Tensor]]) -> bool:
    leaves: list[torch.Tensor] = []
    outputs = [each for each in call(0.0, leaves) if each.requires_grad]
    seeds = [direction(each, 0.7) for each in outputs]
    given = torch.autograd.grad(outputs, leaves, seeds, allow_unused=True)
    mine = sum(
        float((each * direction(leaf)).sum()) for each, leaf in zip(given, leaves, strict=True) if each is not None
    )

    def at(shift: float) -> float:
        made = [each for each in call(shift, None) if each.is_floating_point()]
        return sum(float((each * seed).sum()) for each, seed in zip(made, seeds, strict=False))

    theirs = (at(STEP) - at(-STEP)) / (2 * STEP)
    return abs(mine - theirs) <= 1e-4 * max(abs(mine), abs(theirs), 1e-6)


def _symmetric(gradient: torch.Tensor, elements: list[_Element], slack: float) -> bool:
    """Whether a square matrix's gradient is right for changes that keep it symmetric: what `eigh` and `cholesky` give."""
    if gradient.dim() != 2 or gradient.shape[0] != gradient.shape[1] or len(elements) != gradient.numel():
        return False
    size = gradient.shape[0]
    gaps = [each.autograd - each.difference for each in elements]
    both = [abs(gaps[row * size + column] + gaps[column * size + row]) for row in range(size) for column in range(size)]
    largest = max((abs(each.difference) for each in elements), default=0.0)
    return max(both, default=1.0) <= 1e-4 * largest + slack


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Elements in a row, real and imaginary parts in turn."""
    dense = _dense(tensor)
    real = torch.view_as_real(dense.resolve_conj()) if dense.is_complex() else dense
    return real.reshape(-1).double()


def _sample(gradient: torch.Tensor) -> list[int]:
    """All places of a small gradient; of a larger one some, evenly spread, and the one of largest size."""
    count = gradient.numel()
    if count <= MOST_ELEMENTS:
        return list(range(count))
    spread = {round(i * (count - 1) / (MOST_ELEMENTS - 2)) for i in range(MOST_ELEMENTS - 1)}
    return sorted(spread | {int(gradient.abs().nan_to_num().argmax())})
