"""Events of passes to visits, sums, reductions and accumulations, in the order of the engine."""

import msgspec

from engine import events as ev
from engine.assemble.hook_calls import AFTER, BEFORE
from engine.assemble.state import Arrival, Run, State, of_pass, of_tensor
from engine.broadcasting import may_sum, shape_before, summed_axes
from engine.patterns import as_seen
from engine.trace import (
    Accumulation,
    Reduction,
    Step,
    Sum,
    Term,
)


class Passes(State):
    """The passes, as their events come."""

    def _pass_started(self, event: ev.PassStarted) -> None:
        pass_id = f"p{event.id}"
        run = self.runs[event.id] = Run(event, pass_id)
        self.steps.append(Step(kind="pass", pass_id=pass_id, span=self._span(event.site)))
        for index, (node, input_nr, _, seed, _) in enumerate(event.roots):
            if seed:
                self.steps.append(Step(kind="seed", pass_id=pass_id, root=index, span=self._span(event.site)))
                if node:
                    run.arrived.setdefault((node, input_nr), []).append((seed, 0, 0))

    def _visited(self, event: ev.Visited | ev.Passed) -> None:
        run = self.runs.get(event.pass_id)
        if run is None:
            return
        visit = len(run.visits)
        pass_id = run.id
        sums: list[Sum] = []
        steps: list[Step] = []
        for input_nr, entered in enumerate(event.entered):
            arrived = run.arrived.pop((event.node, input_nr), None)
            if arrived is None or (arrived[0][0] == entered and len(arrived) == 1):
                continue
            terms = tuple(map(_term, arrived))
            key = (event.node, input_nr)
            made = self._sum(input_nr, terms, entered, run.totals.get(key, 0))
            sums.append(made)
            if len(terms) > 1 and key not in run.summed:
                steps.append(Step(kind="sum", pass_id=pass_id, visit=visit, input_nr=input_nr))
            if made.hooked and key not in run.hooked:  # by a hook that the program did not register itself
                steps.append(Step(kind="hook", pass_id=pass_id, visit=visit, input_nr=input_nr))
        if event.gone:
            self._gone(event.gone, len(self.steps) + len(steps))
        steps.append(Step(kind="visit", pass_id=pass_id, visit=visit))
        run.visits.append(event)
        if sums:
            run.sums[visit] = tuple(sums)
        node = self.nodes.get(event.node)
        if node is not None:
            self._send_on(run, event, node.edges)
            if may_sum(node.type) and (reduced := self._reductions(event, node)):
                run.reduced[visit] = reduced
                steps += [Step(kind="reduce", pass_id=pass_id, visit=visit, slot=one.slot) for one in reduced]
        run.place = run.held.pop(event.node, None) if run.held else None
        self._insert(run, steps)
        if run.hooked:
            for key, step in run.summed.items():
                if key[0] != event.node:
                    self._take_back(step)
            run.hooked.clear()
            run.summed.clear()
            run.totals.clear()

    def _take_back(self, step: Step) -> None:
        """The sum of a gradient that `autograd.grad` only wanted: its node did not run."""
        for index in range(len(self.steps) - 1, -1, -1):
            if self.steps[index] is step:
                del self.steps[index]
                return

    def _insert(self, run: Run, steps: list[Step]) -> None:
        """Adds steps of the visit told last, before the hooks that ran after its node."""
        if run.place is None:
            self.steps += steps
        else:
            self.steps[run.place : run.place] = steps
            run.place += len(steps)

    def _hook_fired(self, event: ev.HookFired) -> None:
        self.hooks.fired(event, self._span(event.span), self._span(event.registered))
        run = self.runs.get(event.pass_id)
        node = self.nodes.get(event.node)
        visit = None
        if run is not None and node is not None:
            visit = len(run.visits)  # the one to come
            if event.kind in BEFORE:
                inputs = (event.input_nr,) if event.kind == "tensor" else range(len(node.outputs))
                for input_nr in inputs:
                    self._met_before_hook(run, (event.node, input_nr), visit)
            elif event.kind in AFTER:
                run.held.setdefault(event.node, len(self.steps))
        self.steps.append(
            Step(
                kind="hook", hook=f"h{event.id}", pass_id=of_pass(event.pass_id), visit=visit,
                input_nr=event.input_nr if event.input_nr >= 0 and visit is not None else None, span=self._span(event.span),
            )
        )  # fmt: skip

    def _met_before_hook(self, run: Run, key: tuple[int, int], visit: int) -> None:
        """A hook is given the sum: it is told first."""
        run.hooked.add(key)
        if len(run.arrived.get(key, ())) > 1 and key not in run.summed:
            run.summed[key] = Step(kind="sum", pass_id=run.id, visit=visit, input_nr=key[1])
            self.steps.append(run.summed[key])

    def _hook_done(self, event: ev.HookDone) -> None:
        fired = self.hooks.done(event)
        run = self.runs.get(fired.pass_id) if fired is not None else None
        if fired is not None and run is not None and fired.kind in BEFORE:
            for input_nr, before, _ in event.changes:
                run.totals.setdefault((fired.node, input_nr), before)

    def _reductions(self, event: ev.Visited | ev.Passed, node: ev.NodeSeen) -> tuple[Reduction, ...]:
        """Gradients that were summed over the axes of a broadcast before they left."""
        shape = node.outputs[0][0] if len(node.outputs) == 1 and node.type != "CopySlices" else None
        found = []
        for slot, gradient in enumerate(event.left):
            seen = self.tensors.get(gradient)
            if seen is None or seen.shape == shape or seen.contents == "unreadable":
                continue
            outputs = tuple([shape for shape, _, _ in node.outputs])
            before = shape_before(node.type, slot, outputs, self._written(node))
            if before is not None and before != seen.shape and (axes := summed_axes(before, seen.shape)):
                found.append(Reduction(slot=slot, axes=axes, shape=before))
        return tuple(found)

    def _written(self, node: ev.NodeSeen) -> tuple[str, tuple[int, ...]] | None:
        """For a write into a view: the name of the op and the shape of the view."""
        op = self.ops.get(node.op) if node.type == "CopySlices" else None
        view = self.tensors.get(op.outputs[0]) if op is not None and op.outputs else None
        called = self.functions.get(op.function) if op is not None else None
        return (called.name, view.shape) if view is not None and called is not None else None

    @staticmethod
    def _send_on(run: Run, event: ev.Visited | ev.Passed, edges: tuple[int, ...]) -> None:
        for slot, gradient in enumerate(event.left):
            if gradient and 2 * slot + 1 < len(edges) and edges[2 * slot] > 0:
                key = (edges[2 * slot], edges[2 * slot + 1])
                arrived = run.arrived.get(key)
                if arrived is None:
                    run.arrived[key] = [(gradient, event.node, slot)]
                else:
                    arrived.append((gradient, event.node, slot))

    def _sum(self, input_nr: int, terms: tuple[Term, ...], entered: int, given: int) -> Sum:
        """Where gradients met, or one changed on its way in; `given` is what the hook that changed it first was given."""
        into = of_tensor(entered)
        if given:
            return Sum(input_nr=input_nr, terms=terms, total=of_tensor(given), entered=into, hooked=True)
        if self.nodes_omitted:
            return Sum(input_nr=input_nr, terms=terms, total=into, entered=into)
        if len(terms) == 1:
            return Sum(input_nr=input_nr, terms=terms, total=terms[0].tensor, entered=into, hooked=True)
        total = self._total(terms)
        seen = self.tensors.get(entered)
        if total is None or seen is None or seen.data is None or _close(total, seen.data):
            return Sum(input_nr=input_nr, terms=terms, total=into, entered=into)
        number = self._made(seen, total)
        return Sum(input_nr=input_nr, terms=terms, total=of_tensor(number), entered=into, hooked=True)

    def _total(self, terms: tuple[Term, ...]) -> tuple[float, ...] | None:
        """The sum of small gradients; None when one is large or not finite."""
        rows = []
        for term in terms:
            seen = self.tensors.get(int(term.tensor[1:]))
            if seen is None or seen.data is None:
                return None
            rows.append(seen.data)
        if len({len(row) for row in rows}) != 1:
            return None
        try:
            return tuple(float(sum(values)) for values in zip(*rows, strict=True))
        except TypeError:
            return None

    def _made(self, like: ev.Seen, data: tuple[float, ...]) -> int:
        """A tensor that no program held: the sum before a hook changed it."""
        number = max(self.tensors) + 1_000_000
        known = as_seen(like) if isinstance(like, ev.Flowing) else like
        self.tensors[number] = msgspec.structs.replace(known, id=number, identity=0, data=data, node=0)
        return number

    def _accumulated(self, event: ev.Accumulated) -> None:
        run = self.runs.get(event.pass_id)
        if run is None or not run.visits:
            return
        step = Step(
            kind="accumulate",
            pass_id=f"p{event.pass_id}",
            visit=len(run.visits) - 1,
            accumulation=len(run.accumulations),
        )
        self._insert(run, [step])
        run.accumulations.append(
            Accumulation(
                tensor=f"t{event.leaf}", node=f"n{event.node}", visit=len(run.visits) - 1, before=of_tensor(event.before),
                delta=of_tensor(event.delta), after=of_tensor(event.after),
            )
        )  # fmt: skip


def _term(arrival: Arrival) -> Term:
    tensor, node, slot = arrival
    return Term(tensor=f"t{tensor}", node=f"n{node}", slot=slot) if node else Term(tensor=f"t{tensor}")


def _close(total: tuple[float, ...], given: ev.Data) -> bool:
    """Equal up to the rounding of a sum in the lowest precision in use."""
    scale = max((abs(value) for value in total), default=0.0)
    for mine, theirs in zip(total, given, strict=False):
        if isinstance(theirs, str):
            return True  # not finite: nothing can be said
        if abs(mine - theirs) > 1e-5 * abs(theirs) + 1e-6 * scale:
            return False
    return True
