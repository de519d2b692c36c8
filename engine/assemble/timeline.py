"""The timeline: all that happened, step by step, and what is told of with the number of steps there were by then."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from engine import events as ev
from engine.assemble.hooks import AFTER, BEFORE
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.bounds import MOST_WARNINGS
from engine.trace import Batch, Gap, Output, Pass, Step, Visit, Warning

MOST_OUTPUTS = 10_000
"""Prints that are told apart; what follows on them at once is joined to the last."""
_OF_VISITS = ("reduce", "accumulate")
"""Steps that belong to the visit before them."""


@dataclass(frozen=True)
class Timeline:
    """The steps, and what they name by index."""

    steps: Sequence[Step]
    outputs: Sequence[Output]
    warnings: Sequence[Warning]
    warnings_omitted: int
    gaps: Sequence[Gap]
    batches: Sequence[Batch]
    gone: Sequence[tuple[int, tuple[str, ...]]]
    """What ceased to exist, by the end of which step."""
    held: Sequence[tuple[int, str, tuple[str, ...]]]
    """What held tensors for backward and is no node: the steps by then, its id, the tensors."""


def timeline(recorded: Recorded, ids: Ids, passes: Mapping[int, Pass]) -> Timeline:
    """What happened, in order."""
    walk = _Walk(recorded, ids, passes)
    takers = walk.takers()
    for event in recorded.timed_events:
        takers[type(event)](event)
    walk.end_print()
    return Timeline(
        walk.steps, walk.outputs, walk.warnings, walk.warnings_omitted, walk.gaps, walk.batches, walk.gone, walk.held
    )


@dataclass(slots=True)
class _Running:
    """How far a pass has come."""

    id: str
    visits: Sequence[Visit]
    visited: int = 0
    accumulated: int = 0
    summed: set[tuple[int, int]] = field(default_factory=set)
    """Inputs, by node and number, whose sum was told before the hooks that were given it."""
    hooked: set[tuple[int, int]] = field(default_factory=set)
    """Inputs whose hooks were seen since the visit before."""
    hooks_after: dict[int, int] = field(default_factory=dict)
    """Where the hooks after a node begin: PyTorch runs those before ours, that tells of the visit."""
    place: int | None = None
    """Where that is for the node visited last."""
    inside: int | None = None
    """Where what the program computed since the visit before begins, as in the backward of a custom Function."""


class _Walk:
    def __init__(self, recorded: Recorded, ids: Ids, passes: Mapping[int, Pass]) -> None:
        self.recorded = recorded
        self.ids = ids
        self.passes = passes
        self.steps: list[Step] = []
        self.outputs: list[Output] = []
        self.warnings: list[Warning] = []
        self.warnings_omitted = 0
        self.gaps: list[Gap] = []
        self.batches: list[Batch] = []
        self.gone: list[tuple[int, tuple[str, ...]]] = []
        self.held: list[tuple[int, str, tuple[str, ...]]] = []
        self.held_by_nodes: set[int] = set()
        """Holders that a node lets go of when its visit is over."""
        self.running: dict[int, _Running] = {}
        self.printing: list[ev.Printed] = []
        self.gap_at: int | None = None
        """Where the turns belong that were left out and printed something since."""
        self.updates = {update.hook: ids.update[update.id] for update in recorded.updates if update.hook}
        """By the hook that made them."""
        self.firing: dict[int, Step] = {}
        """Hooks that changed something or raised, until they are done: that is told after what they computed."""
        self.calls = {call.id for call in recorded.calls.values() if call.module in recorded.modules}
        """Those that have not been left."""

    def takers(self) -> Mapping[type[ev.Event], Callable[..., None]]:
        """What takes each kind of event."""
        return defaultdict(
            lambda: _pass_over,
            {
                ev.OpRan: self._op_ran,
                ev.PassStarted: self._pass_started,
                ev.Visited: self._visited,
                ev.Accumulated: self._accumulated,
                ev.PassEnded: self._pass_ended,
                ev.HookFired: self._hook_fired,
                ev.HookDone: self._hook_done,
                ev.Updated: self._updated,
                ev.ModuleCalled: self._module_called,
                ev.ModuleLeft: self._module_left,
                ev.Printed: self._printed,
                ev.Warned: self._warned,
                ev.Skipped: self._skipped,
                ev.SkippedBefore: self._skipped_before,
                ev.BatchTaken: self._batch_taken,
                ev.Gone: self._gone,
                ev.Held: self._held,
            },
        )

    def _op_ran(self, event: ev.OpRan) -> None:
        if event.gone:
            self._cease(event.gone, len(self.steps))
        pass_id = self.ids.pass_[event.pass_id] if event.pass_id else None
        span = self.recorded.spans.get(event.site)
        running = self.running.get(event.pass_id)
        if running is not None and running.inside is None:
            running.inside = len(self.steps)
        self.steps.append(Step(kind="op", op=self.ids.op[event.id], pass_id=pass_id, span=span))

    # Passes

    def _pass_started(self, event: ev.PassStarted) -> None:
        if event.id in self.running:
            return
        record = self.passes[event.id]
        self.running[event.id] = _Running(record.id, record.visits)
        self.steps.append(Step(kind="pass", pass_id=record.id, span=record.span))
        for index, root in enumerate(record.roots):
            if root.seed is not None:
                self.steps.append(Step(kind="seed", pass_id=record.id, root=index, span=record.span))

    def _visited(self, event: ev.Visited) -> None:
        running = self.running.get(event.pass_id)
        if running is None:
            return
        pass_id, number = running.id, running.visited
        running.visited += 1
        visit = running.visits[number]
        arrived: list[Step] = []
        for met in visit.sums:
            place = (event.node, met.input_nr)
            if len(met.terms) > 1 and place not in running.summed:
                arrived.append(Step(kind="sum", pass_id=pass_id, visit=number, input_nr=met.input_nr))
            if met.hooked and place not in running.hooked:  # by a hook that the program did not register itself
                arrived.append(Step(kind="hook", pass_id=pass_id, visit=number, input_nr=met.input_nr))
        running.place = running.hooks_after.pop(event.node, None) if running.hooks_after else None
        self._insert_before_inside(running, arrived)
        if event.gone:
            self._cease(event.gone, len(self.steps))
        steps = [Step(kind="visit", pass_id=pass_id, visit=number)]
        if visit.reduced:
            steps += [
                Step(kind="reduce", pass_id=pass_id, visit=number, slot=reduction.slot) for reduction in visit.reduced
            ]
        self._insert(running, steps)
        if running.hooked:
            running.hooked.clear()
            running.summed.clear()

    def _insert_before_inside(self, running: _Running, steps: list[Step]) -> None:
        """Adds what happened before a node ran, also before what ran inside it."""
        ends = [place for place in (running.inside, running.place) if place is not None]
        running.inside = None
        if not steps:
            return
        at, count = min(ends, default=len(self.steps)), len(steps)
        self._insert_at(at, steps)
        if running.place is not None:
            running.place += count

    def _insert_at(self, at: int, steps: list[Step]) -> None:
        count = len(steps)
        self.steps[at:at] = steps
        for number in reversed(range(len(self.gone))):
            step, tensors = self.gone[number]
            if step < at:
                break
            self.gone[number] = (step + count, tensors)
        for number in reversed(range(len(self.held))):
            step, holder, kept = self.held[number]
            if step <= at:
                break
            self.held[number] = (step + count, holder, kept)

    def _insert(self, running: _Running, steps: list[Step]) -> None:
        """Adds steps of the visit told last, before the hooks that ran after its node."""
        if running.place is None:
            self.steps += steps
        else:
            self.steps[running.place : running.place] = steps
            running.place += len(steps)

    def _accumulated(self, event: ev.Accumulated) -> None:
        running = self.running.get(event.pass_id)
        if running is None or not running.visited:
            return
        number, running.accumulated, running.inside = running.accumulated, running.accumulated + 1, None
        step = Step(kind="accumulate", pass_id=running.id, visit=running.visited - 1, accumulation=number)
        self._insert(running, [step])

    def _pass_ended(self, event: ev.PassEnded) -> None:
        if event.id in self.running:
            self.steps.append(Step(kind="pass_end", pass_id=self.running[event.id].id))

    # Hooks

    def _hook_fired(self, event: ev.HookFired) -> None:
        running = self.running.get(event.pass_id)
        visit: int | None = None
        if running is not None and event.node in self.recorded.nodes:
            visit = self._coming(running, event.node)
            if event.kind in BEFORE:
                self._told_before(running, event, visit)
            elif event.kind in AFTER:
                running.hooks_after.setdefault(event.node, len(self.steps))
        step = Step(
            kind="hook",
            hook=self.ids.hook[event.id],
            update=self.updates.get(event.id),
            pass_id=self.ids.pass_.among(event.pass_id, self.passes),
            visit=visit,
            input_nr=event.input_nr if event.input_nr >= 0 and visit is not None else None,
            span=self.recorded.spans.get(event.span),
        )
        if event.id in self.recorded.hooks_done:
            self.firing[event.id] = step
        else:
            self.steps.append(step)

    def _hook_done(self, event: ev.HookDone) -> None:
        if event.id in self.firing:
            self.steps.append(self.firing.pop(event.id))

    def _coming(self, running: _Running, node: int) -> int | None:
        """The next visit, when it is that of the node: one whose gradient `autograd.grad` only wants does not run."""
        number = running.visited
        comes = number < len(running.visits) and running.visits[number].node == self.ids.node[node]
        return number if comes else None

    def _told_before(self, running: _Running, event: ev.HookFired, visit: int | None) -> None:
        """A hook before a node is given the sum: it is told first."""
        count = len(self.recorded.nodes[event.node].outputs)
        inputs = (event.input_nr,) if event.kind == "tensor" else range(count)
        running.hooked.update((event.node, input_nr) for input_nr in inputs)
        for met in running.visits[visit].sums if visit is not None else ():
            place = (event.node, met.input_nr)
            if met.input_nr in inputs and len(met.terms) > 1 and place not in running.summed:
                running.summed.add(place)
                self.steps.append(Step(kind="sum", pass_id=running.id, visit=visit, input_nr=met.input_nr))

    # Updates, calls, output

    def _updated(self, event: ev.Updated) -> None:
        if event.kind in ("in_place", "hook"):
            return  # its op, or the firing of the hook, is the step
        self.steps.append(
            Step(
                kind="reset" if event.kind in ("zero_grad", "grad_reset") else "update",
                update=self.ids.update[event.id],
                op=self.ids.op.optional(event.op),
                span=self.recorded.spans.get(event.site),
            )
        )

    def _module_called(self, event: ev.ModuleCalled) -> None:
        if event.id in self.calls:
            pass_id, span = self.ids.pass_.optional(event.pass_id), self.recorded.spans.get(event.site)
            self.steps.append(Step(kind="call", call=self.ids.call[event.id], pass_id=pass_id, span=span))

    def _module_left(self, event: ev.ModuleLeft) -> None:
        if event.id in self.calls:
            self.calls.remove(event.id)
            pass_id = self.ids.pass_.optional(self.recorded.calls[event.id].pass_id)
            self.steps.append(Step(kind="call_end", call=self.ids.call[event.id], pass_id=pass_id))

    def _printed(self, event: ev.Printed) -> None:
        """Pieces of one `print` follow each other from one place; the last ends the line."""
        if self.printing and self.steps[-1].kind == "output":
            last = self.printing[-1]
            goes_on = (last.site, last.thread) == (event.site, event.thread) and not last.text.endswith("\n")
            if last.stream == event.stream and (goes_on or len(self.outputs) >= MOST_OUTPUTS):
                self.printing.append(event)
                return
        self.end_print()
        self.printing = [event]
        span = self.recorded.spans.get(event.site)
        self.steps.append(Step(kind="output", index=len(self.outputs), span=span))
        rank = self.recorded.ranks.get(event.thread)
        self.outputs.append(Output(event.stream, event.text, span, event.truncated, rank))

    def end_print(self) -> None:
        """Joins the pieces of the print told last."""
        if len(self.printing) > 1:
            text = "".join(piece.text for piece in self.printing)
            truncated = self.printing[-1].truncated
            self.outputs[-1] = msgspec.structs.replace(self.outputs[-1], text=text, truncated=truncated)

    def _warned(self, event: ev.Warned) -> None:
        if len(self.warnings) == MOST_WARNINGS:
            self.warnings_omitted += 1
            return
        span = self.recorded.spans.get(event.site)
        self.steps.append(Step(kind="warning", index=len(self.warnings), span=span))
        rank = self.recorded.ranks.get(event.thread)
        self.warnings.append(Warning(category=event.category, message=event.message, span=span, rank=rank))

    def _skipped_before(self, event: ev.SkippedBefore) -> None:
        self.gap_at = len(self.steps)

    def _skipped(self, event: ev.Skipped) -> None:
        at = len(self.steps) if self.gap_at is None else self.gap_at
        self.gap_at = None
        self._insert_at(at, [Step(kind="gap", index=len(self.gaps))])
        self.gaps.append(
            Gap(
                passes=event.passes,
                ops=event.ops,
                first=event.first or None,
                last=event.last or None,
            )
        )

    def _batch_taken(self, event: ev.BatchTaken) -> None:
        span = self.recorded.spans.get(event.site)
        self.steps.append(Step(kind="batch", index=len(self.batches), span=span))
        self.batches.append(
            Batch(
                loader=event.loader,
                epoch=event.epoch,
                number=event.number,
                indices=event.indices,
                count=event.count,
                tensors=tuple([self.ids.tensor[one] for one in event.tensors if one in self.recorded.tensors]),
                rank=self.recorded.ranks.get(event.thread),
                span=span,
            )
        )

    # Ends

    def _gone(self, event: ev.Gone) -> None:
        self._cease(event.tensors, len(self.steps))

    def _held(self, event: ev.Held) -> None:
        tensor = self.ids.tensor
        self.held.append((len(self.steps), tensor[event.id], tuple([tensor[number] for number in event.tensors])))
        if event.by_nodes:
            self.held_by_nodes.add(event.id)

    def _cease(self, numbers: Sequence[int], step: int) -> None:
        """Things ceased to exist by the end of a coming step; what only nodes held, by that of the last one."""
        tensor = self.ids.tensor
        late = [number for number in numbers if number in self.held_by_nodes] if self.held_by_nodes else []
        if late:
            before = len(self.steps) - 1
            while before > 0 and self.steps[before].kind in _OF_VISITS:
                before -= 1
            self.gone.append((max(before, 0), tuple([tensor[number] for number in late])))
        self.gone.append((step, tuple([tensor[number] for number in numbers])))


def _pass_over(event: ev.Event) -> None:
    pass
