"""Checks gradients after a program has ended: a central difference in double precision beside what each pass gave.

While the program runs only its tape is kept and what each pass added to each leaf is copied; everything that computes
happens after its last word, so that a check changes nothing it does.
"""

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from engine.events import LeafChecked
from engine.request import RunRequest
from engine.trace import spoken
from engine.worker.capture.passes import Backward
from engine.worker.capture.recorder import Recorder
from engine.worker.checks.jacobian import jacobians
from engine.worker.checks.surface import Points, surface
from engine.worker.checks.tape import Impossible, Leaf, Tape, Value, dense, differs, quiet, spread
from engine.worker.checks.tape_replay import Problem, Reached, Root, needed, playing
from engine.worker.checks.verdict import STEP, LeafChecker, Verdict, error_of, place_of, unchecked
from engine.worker.pytorch.internals import is_functorch_wrapped

CHECKED = frozenset(("finite-difference", "jacobian", "surface"))
"""What needs the tape."""
MOST_PASSES = 8
MOST_LEAVES = 8
MOST_UNCHECKED = 64
"""Leaves beyond the limit that are still named."""
_SMALL_GRAPH = 64
_SHARE = 0.5
"""Of the time the limits leave."""

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


class Checker:
    """Stands before the engine while the program runs, and checks when it has ended."""

    def __init__(self, recorder: Recorder, request: RunRequest, backward: Backward) -> None:
        self.recorder = recorder
        self.asked = frozenset(request.checks)
        self.limits = request.limits
        self.backward = backward
        self.tape = Tape(recorder, backward.mode)
        self.problems: list[tuple[Problem, Impossible | None]] = []
        self.points = Points() if "surface" in self.asked else None
        self.passes = 0
        self._begun = time.perf_counter()

    def install(self) -> None:
        """Begins to watch."""
        self.tape.install()
        self.backward.check = self.run

    def run(self, engine: Engine, outputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Runs the engine as it was called, and notes what it gave the leaves."""
        watch = None
        if self.points is not None and not self.recorder.thread.passes:
            with contextlib.suppress(Exception), quiet():
                self.points.note(self.recorder.counts.passes + 1, outputs)
        if self.passes < MOST_PASSES and not self.recorder.thread.passes:
            self.passes += 1
            watch = _Watch(self.recorder.counts.passes + 1, entries=len(self.tape.entries))
            self._try(watch, partial(self._before, watch, outputs, args, kwargs))
        try:
            result = engine(outputs, *args, **kwargs)
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
            asked = None if not inputs else {id(input_) for input_ in inputs}
            self._watch_leaves(watch, [edge.node for edge in edges], asked)
        else:
            for place, input_ in enumerate(inputs or ()):
                if isinstance(input_, torch.Tensor) and input_.is_leaf and input_.requires_grad:
                    self._meet(watch, input_)
                    watch.inputs.append((place, id(input_)))
        if not watch.leaves:
            return
        if self.recorder.nodes.threaded:
            raise Impossible("threads")
        for index, output in enumerate(outputs):
            grad = grads[index] if grads is not None and index < len(grads) else None
            if not isinstance(output, torch.Tensor):
                raise Impossible("unseen")
            if grad is None or is_functorch_wrapped(grad):
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
        leaf = self.tape.known_leaf(tensor)
        if leaf is not None and leaf.value is not None:
            value = leaf.value
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
            root.record = self.recorder.tensors.meet(output, "result").id
        nodes: list[tuple[int, str, tuple[int, ...]]] = []
        if "jacobian" in self.asked and len(outputs) == 1:
            nodes = self._graph(get_gradient_edge(outputs[0]).node)
        reached = []
        for key, (tensor, leaf, value, changed) in watch.leaves.items():
            if key in watch.gradients:
                leaf.number = self.recorder.tensors.meet(tensor, "leaf").first
                reached.append(Reached(leaf, watch.gradients[key], value, changed))
        reached.sort(key=lambda each: each.leaf.number)
        if self.points is not None:
            self.points.watched(watch.number, watch.leaves)
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
            rows.append((self.recorder.nodes.known(node) or 0, type(node).__name__, tuple(edges)))
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
                        jacobians(problem, self.recorder, now + 0.5 * (deadline - now))
        if self.points is not None:
            surface(self.problems, self.points, self.tape, self.recorder, now + 0.5 * (deadline - now))
        if "finite-difference" in self.asked:
            self._differences(deadline)

    def _differences(self, deadline: float) -> None:
        done: set[int] = set()
        checked = told = 0
        for problem, why in self.problems:
            fresh = [reached for reached in problem.reached if reached.leaf.number not in done]
            chosen = spread(fresh, MOST_LEAVES - checked) if why is None else []
            checked += len(chosen)
            with playing(wide=True):
                looked = LeafChecker(problem, self.tape, deadline)
                for reached in fresh:
                    done.add(reached.leaf.number)
                    if reached in chosen:
                        self._say(problem, reached, looked.check(reached))
                    elif told < MOST_UNCHECKED:
                        told += 1
                        self._say(problem, reached, unchecked(why or Impossible("limit", count=str(MOST_LEAVES))))

    def _say(self, problem: Problem, reached: Reached, verdict: Verdict) -> None:
        shape = tuple(reached.gradient.shape) + ((2,) if reached.gradient.is_complex() else ())
        scale = max((abs(each.autograd) for each in verdict.elements if math.isfinite(each.autograd)), default=0.0)
        error = max((error_of(each, scale) for each in verdict.elements), default=0.0)
        elements = tuple([
            (place_of(element.index, shape), spoken(element.autograd), spoken(element.difference))
            for element in verdict.elements
        ])  # fmt: skip
        step = STEP if verdict.elements else 0.0
        self.recorder.outbox.say(LeafChecked(
            problem.number, reached.leaf.number, verdict.word, spoken(error), step, elements,
            verdict.reason, verdict.parameters, verdict.node, verdict.site,
        ))  # fmt: skip


def _keep(
    gradients: dict[int, torch.Tensor], key: int, most_bytes: int, left: Any, entered: Sequence[torch.Tensor | None]
) -> None:
    """The hook on an AccumulateGrad."""
    if entered and entered[0] is not None:
        with quiet():
            given = entered[0].detach()
            large = given.numel() * given.element_size() > most_bytes
            gradients[key] = given.new_empty(0) if large else dense(given).clone()
