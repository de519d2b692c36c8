"""Events to trace: pure, needs no PyTorch, and gives a valid trace of any stream, cut wherever it was cut."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from engine import events as ev
from engine.broadcasting import may_sum, shape_before, summed_axes
from engine.calls import Calls
from engine.collector import uncollected
from engine.derivatives import slot_names
from engine.derive import Told, derive, link_regrown
from engine.ending import ended_by_signal, line_span, stopped_by
from engine.findings import explanation, find
from engine.hooks import AFTER, BEFORE, HookCalls
from engine.keys import versions
from engine.outcome import Outcome
from engine.replay import failed_node
from engine.request import RunRequest
from engine.rules import rule_of
from engine.source import Source
from engine.trace import (
    Accumulation,
    Argument,
    Broadcast,
    Change,
    Check,
    CheckedElement,
    CurvePoint,
    Edge,
    Edit,
    Environment,
    Failure,
    Finding,
    Frame,
    Gap,
    Jacobian,
    Member,
    Module,
    Node,
    NodeOutput,
    Op,
    Operand,
    Output,
    OutputOf,
    Pass,
    Reduction,
    Root,
    Saved,
    Span,
    Step,
    Sum,
    Summary,
    Tensor,
    Term,
    Thumbnail,
    Timings,
    Trace,
    Truncation,
    Update,
    Variable,
    Visit,
    Warning,
)


def assemble(run: str, request: RunRequest, lines: Iterable[bytes], outcome: Outcome) -> Trace:
    """The trace of one run.

    A line that is no event ends the reading; a line may hold several events separated by newlines. What the supervisor
    saw wins over what the worker said. Blob events are passed over: their tensors are marked `stored`.
    """
    with uncollected():
        return _assembled(run, request, lines, outcome)


def _assembled(run: str, request: RunRequest, lines: Iterable[bytes], outcome: Outcome) -> Trace:
    house = _House()
    bad = house.read(lines)
    return _diagnosed(derive(house.finish(run, request, outcome, bad), house.told))


def _diagnosed(trace: Trace) -> Trace:
    """The trace with what can be concluded from it."""
    trace = msgspec.structs.replace(trace, passes=_placed(trace))
    findings = (*trace.findings, *find(trace))
    failure = trace.failure
    if failure is not None and failure.explanation is None:
        failure = msgspec.structs.replace(failure, explanation=explanation(failure, findings))
    return msgspec.structs.replace(trace, failure=failure, findings=findings)


def _placed(trace: Trace) -> tuple[Pass, ...]:
    """The passes, the failed ones with the node that raised."""
    if not any(one.failed for one in trace.passes):
        return trace.passes
    nodes = {node.id: node for node in trace.nodes}
    return tuple(
        msgspec.structs.replace(one, failed_node=failed_node(nodes, one)) if one.failed else one for one in trace.passes
    )


def _t(number: int) -> str | None:
    return f"t{number}" if number else None


class _Ids(dict[int, str]):
    """Ids by number, each text made once: a trace names a tensor many times."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self._letter = letter

    def __missing__(self, number: int) -> str:
        text = self[number] = f"{self._letter}{number}"
        return text


_Takers = Mapping[type[ev.Event], Callable[..., None]]


@dataclass(slots=True)
class _Change:
    """What later events said of a tensor."""

    role: ev.Role | None = None
    requires_grad: bool | None = None
    node: int = 0
    output_nr: int = 0
    base: int = 0
    grad: int = 0
    stored: bool = False
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """What the ops of one place in the source, function and module have in common."""

    name: str
    function: str
    span: Span | None
    module: str | None
    broadcasts: bool
    ran: int = 0


_Arrival = tuple[int, int, int]
"""A gradient on its way: tensor, the node it came from (0: a seed), slot."""


@dataclass(slots=True)
class _Run:
    """A pass while it is put together."""

    start: ev.PassStarted
    id: str
    visits: list[ev.Visited] = field(default_factory=list)
    sums: list[tuple[Sum, ...]] = field(default_factory=list)
    reduced: dict[int, tuple[Reduction, ...]] = field(default_factory=dict)
    """By visit, where there are any."""
    accumulations: list[Accumulation] = field(default_factory=list)
    arrived: dict[tuple[int, int], list[_Arrival]] = field(default_factory=dict)
    end: ev.PassEnded | None = None
    summed: dict[tuple[int, int], Step] = field(default_factory=dict)
    """Inputs whose sum was told before the hooks that were given it, with that step."""
    totals: dict[tuple[int, int], int] = field(default_factory=dict)
    """What the first hook that changed a gradient was given, by input."""
    hooked: set[tuple[int, int]] = field(default_factory=set)
    """Inputs whose hooks were seen since the visit before."""
    held: dict[int, int] = field(default_factory=dict)
    """Place in the timeline before the first hook after a node: PyTorch runs those before ours, that tells of the visit."""
    place: int | None = None


class _House:
    """All that was read, by kind."""

    def __init__(self) -> None:
        self.started: ev.Started | None = None
        self.ended: ev.Ended | None = None
        self.line = 0
        """The line a run that takes long was last seen at."""
        self.failed: ev.Failed | None = None
        self.sites: dict[int, Span] = {}
        self.functions: dict[int, ev.Called] = {}
        self.tensors: dict[int, ev.TensorSeen] = {}
        self.changes: dict[int, _Change] = {}
        self.ops: dict[int, ev.OpRan] = {}
        self.nodes: dict[int, ev.NodeSeen] = {}
        self.runs: dict[int, _Run] = {}
        self.updates: list[ev.Updated] = []
        self.modules: dict[int, ev.ModuleSeen] = {}
        self.calls = Calls()
        self.hooks = HookCalls()
        self.variables: list[ev.VariableSeen] = []
        self.outputs: list[Output] = []
        self.printing: list[ev.Printed] = []
        self.warnings: list[Warning] = []
        self.findings: list[Finding] = []
        self.cuts: dict[str, ev.Omitted] = {}
        self.gaps: list[Gap] = []
        self.checked: list[ev.LeafChecked] = []
        self.jacobians: list[ev.JacobianSeen] = []
        self.nodes_omitted = False
        """Some node leads to one that was left out, from which a gradient may arrive unseen."""
        self.t, self.n, self.o = _Ids("t"), _Ids("n"), _Ids("o")
        self.skipped: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        """By place: after how many of all recorded ops how many were left out."""
        self.told = Told()
        self.steps: list[Step] = []
        self.shared: dict[int, list[str]] = {}
        """Names by a tensor's first record."""
        self.saved_storages: set[int] = set()
        self._plain: dict[tuple[str, str], Argument] = {}
        self._missing: dict[tuple[int, int, str], Edge] = {}
        self._node_outputs: dict[tuple[tuple[tuple[int, ...], str, str], ...], tuple[NodeOutput, ...]] = {}
        self._numbers_saved: dict[tuple[str, tuple[ev.SavedWord, ...]], tuple[tuple[Saved, ...], str | None]] = {}
        self._slots: dict[tuple[str, int], tuple[str, ...]] = {}

    # Reading

    def read(self, lines: Iterable[bytes]) -> str:
        """Takes events until the first line that is none; says what was wrong with it."""
        takers = self._takers()
        for batch in _batches(lines):
            try:
                events = ev.decode_all(batch)
                if len(events) != len(batch):
                    raise msgspec.DecodeError("a line holds more than one value")
            except (msgspec.DecodeError, UnicodeDecodeError):
                if bad := self._read_singly(batch, takers):
                    return bad
            else:
                for event in events:
                    takers[type(event)](event)
        return ""

    def _takers(self) -> _Takers:
        """What takes each kind of event. Not kept: with its own methods the house would live until the next collection."""
        return defaultdict(
            lambda: self._take,
            {
                ev.TensorSeen: self._tensor_seen,
                ev.OpRan: self._op_ran,
                ev.NodeSeen: self._node_seen,
                ev.Visited: self._visited,
            },
        )

    def _read_singly(self, lines: Iterable[bytes], takers: _Takers) -> str:
        for line in lines:
            try:
                event = ev.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                return str(error) or "not an event"
            takers[type(event)](event)
        return ""

    def _op_ran(self, event: ev.OpRan) -> None:
        self.ops[event.id] = event
        if event.gone:
            self.told.gone.append((len(self.steps), event.gone))
        if self.calls.running:
            self.calls.ran(event.id, event.thread)
        self.steps.append(
            Step(kind="op", op=self.o[event.id], pass_id=_p(event.pass_id), span=self.sites.get(event.site))
        )

    def _tensor_seen(self, event: ev.TensorSeen) -> None:
        self.tensors[event.id] = event

    def _node_seen(self, event: ev.NodeSeen) -> None:
        self.nodes[event.id] = event
        if ev.OMITTED in event.edges[::2]:
            self.nodes_omitted = True

    def _take(self, event: ev.Event) -> None:
        """The rarer events."""
        match event:
            case ev.Site():
                self.sites[event.id] = Span(
                    line=event.line, end_line=event.end_line, column=event.column, end_column=event.end_column
                )
            case ev.Called():
                self.functions[event.id] = event
            case ev.TensorChanged():
                self._changed(event)
            case ev.Named():
                names = self._change(event.tensor).names
                if event.name not in names:
                    names.append(event.name)
            case ev.Gone():
                self.told.gone.append((len(self.steps), event.tensors))
            case ev.Room():
                self.told.rooms[f"s{event.storage}"] = event.size_bytes
            case ev.GradKept():
                self._change(event.tensor).grad = event.grad
            case ev.PassStarted():
                self._pass_started(event)
            case ev.Accumulated():
                self._accumulated(event)
            case ev.PassEnded():
                if event.id in self.runs:
                    self.runs[event.id].end = event
                    self.steps.append(Step(kind="pass_end", pass_id=f"p{event.id}"))
            case ev.Updated():
                self._updated(event)
            case ev.Printed():
                self._printed(event)
            case ev.LeafChecked():
                self.checked.append(event)
            case ev.JacobianSeen():
                self.jacobians.append(event)
            case ev.Warned():
                span = self._span(event.site)
                self.steps.append(Step(kind="warning", index=len(self.warnings), span=span))
                self.warnings.append(Warning(category=event.category, message=event.message, span=span))
            case ev.ModuleCalled():
                span = self._span(event.site)
                self.calls.begin(event, span)
                self.steps.append(Step(kind="call", call=f"c{event.id}", pass_id=_p(event.pass_id), span=span))
            case ev.ModuleLeft():
                if self.calls.end(event):
                    begun = self.calls.all[event.id].event
                    self.steps.append(Step(kind="call_end", call=f"c{event.id}", pass_id=_p(begun.pass_id)))
            case ev.HookFired():
                self._hook_fired(event)
            case ev.HookDone():
                self._hook_done(event)
            case ev.ModuleSeen():
                self.modules[event.id] = event
            case ev.ArraySeen():
                self.told.arrays.append((event.name, event.storages))
            case ev.VariableSeen():
                self.variables.append(event)
            case ev.Failed():
                self.failed = event
            case ev.Found():
                self.findings.append(
                    Finding(
                        code=event.code,
                        severity=event.severity,
                        span=self._span(event.site),
                        parameters=event.parameters,
                        fix=tuple(
                            Edit(span=Span(line=line, end_line=end_line, column=column, end_column=end), text=text)
                            for line, end_line, column, end, text in event.fix
                        ),
                    )
                )
            case ev.LinesNotRun():
                self.told.lines_not_run = event.lines
            case ev.Omitted():
                self.cuts[event.what] = event
            case ev.Skipped():
                self._gap(event)
            case ev.CurveSaid():
                self.told.points.append(
                    CurvePoint(
                        number=event.number,
                        loss=event.loss,
                        gradient_norm=event.gradient_norm,
                        span=self._span(event.site),
                    )
                )
            case ev.Started():
                self.started = event
            case ev.Ended():
                self.ended = event
            case ev.Going():
                self.line = event.line
            case ev.BlobSaid():
                pass

    def _gap(self, event: ev.Skipped) -> None:
        """Turns of a long loop were left out; the ops after them go on counting where those stopped."""
        self.steps.append(Step(kind="gap", index=len(self.gaps)))
        self.gaps.append(
            Gap(
                passes=event.passes,
                ops=event.ops,
                updates=event.updates,
                first=event.first or None,
                last=event.last or None,
            )
        )
        for site, function, module, count in event.places:
            self.skipped.setdefault((site, function, module), []).append((len(self.ops), count))

    def _span(self, site: int) -> Span | None:
        return self.sites.get(site)

    def _change(self, tensor: int) -> _Change:
        change = self.changes.get(tensor)
        if change is None:
            change = self.changes[tensor] = _Change()
        return change

    def _changed(self, event: ev.TensorChanged) -> None:
        change = self._change(event.id)
        if event.role is not None:
            change.role = event.role
        if event.requires_grad is not None:
            change.requires_grad = event.requires_grad
        if event.node is not None:
            change.node, change.output_nr = event.node, event.output_nr
        if event.base:
            change.base = event.base
        if event.stored:
            change.stored = True

    # Passes

    def _pass_started(self, event: ev.PassStarted) -> None:
        pass_id = f"p{event.id}"
        run = self.runs[event.id] = _Run(event, pass_id)
        self.steps.append(Step(kind="pass", pass_id=pass_id, span=self._span(event.site)))
        for index, (node, input_nr, _, seed, _) in enumerate(event.roots):
            if seed:
                self.steps.append(Step(kind="seed", pass_id=pass_id, root=index, span=self._span(event.site)))
                if node:
                    run.arrived.setdefault((node, input_nr), []).append((seed, 0, 0))

    def _visited(self, event: ev.Visited) -> None:
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
        steps.append(Step(kind="visit", pass_id=pass_id, visit=visit))
        run.visits.append(event)
        run.sums.append(tuple(sums))
        node = self.nodes.get(event.node)
        if node is not None:
            self._send_on(run, event, node)
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

    def _insert(self, run: _Run, steps: list[Step]) -> None:
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
                kind="hook", hook=f"h{event.id}", pass_id=_p(event.pass_id), visit=visit,
                input_nr=event.input_nr if event.input_nr >= 0 and visit is not None else None, span=self._span(event.span),
            )
        )  # fmt: skip

    def _met_before_hook(self, run: _Run, key: tuple[int, int], visit: int) -> None:
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

    def _reductions(self, event: ev.Visited, node: ev.NodeSeen) -> tuple[Reduction, ...]:
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
    def _send_on(run: _Run, event: ev.Visited, node: ev.NodeSeen) -> None:
        edges = node.edges
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
        into = _t(entered)
        if given:
            return Sum(input_nr=input_nr, terms=terms, total=_t(given), entered=into, hooked=True)
        if self.nodes_omitted:
            return Sum(input_nr=input_nr, terms=terms, total=into, entered=into)
        if len(terms) == 1:
            return Sum(input_nr=input_nr, terms=terms, total=terms[0].tensor, entered=into, hooked=True)
        total = self._total(terms)
        seen = self.tensors.get(entered)
        if total is None or seen is None or seen.data is None or _close(total, seen.data):
            return Sum(input_nr=input_nr, terms=terms, total=into, entered=into)
        number = self._made(seen, total)
        return Sum(input_nr=input_nr, terms=terms, total=_t(number), entered=into, hooked=True)

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

    def _made(self, like: ev.TensorSeen, data: tuple[float, ...]) -> int:
        """A tensor that no program held: the sum before a hook changed it."""
        number = max(self.tensors) + 1_000_000
        self.tensors[number] = msgspec.structs.replace(like, id=number, identity=0, data=data, node=0)
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
                tensor=f"t{event.leaf}", node=f"n{event.node}", visit=len(run.visits) - 1, before=_t(event.before),
                delta=_t(event.delta), after=_t(event.after),
            )
        )  # fmt: skip

    # Updates and output

    def _updated(self, event: ev.Updated) -> None:
        self.updates.append(event)
        if event.kind in ("in_place", "hook"):
            return  # its op, or the firing of the hook, is the step
        kind = "reset" if event.kind in ("zero_grad", "grad_reset") else "update"
        self.steps.append(Step(kind=kind, update=f"u{event.id}", op=_o(event.op), span=self._span(event.site)))  # type: ignore[arg-type]

    def _printed(self, event: ev.Printed) -> None:
        """Pieces of one `print` follow each other from one place; the last ends the line."""
        span = self._span(event.site)
        if self.steps and self.steps[-1].kind == "output" and self.outputs:
            last = self.printing[-1]
            goes_on = last.site == event.site and not last.text.endswith("\n")
            if last.stream == event.stream and (goes_on or len(self.outputs) >= _MOST_OUTPUTS):
                self.printing.append(event)
                return
        self._end_print()
        self.printing = [event]
        self.steps.append(Step(kind="output", index=len(self.outputs), span=span))
        self.outputs.append(Output(stream=event.stream, text=event.text, span=span, truncated=event.truncated))

    def _end_print(self) -> None:
        if len(self.printing) > 1:
            text = "".join(piece.text for piece in self.printing)
            self.outputs[-1] = msgspec.structs.replace(
                self.outputs[-1], text=text, truncated=self.printing[-1].truncated
            )

    # The trace

    def finish(self, run: str, request: RunRequest, outcome: Outcome, bad: str) -> Trace:
        """Everything together."""
        self._end_print()
        failure, status = self._failure(outcome, request, bad)
        if failure is not None:
            self.steps.append(Step(kind="failure", op=failure.op, pass_id=failure.pass_id, span=failure.span))
        link_regrown(self.nodes, self.ops, self.functions, self.tensors)
        by_op: dict[int, list[ev.NodeSeen]] = {}
        for node in self.nodes.values():
            if node.op:
                by_op.setdefault(node.op, []).append(node)
        ops = tuple(self._all_ops(by_op))
        self._name(Source(request.program.code if ops else ""), ops)
        return Trace(
            format="gradgraph.trace/1",
            id=run,
            status=status,  # type: ignore[arg-type]
            program=request.program,
            environment=self._environment(outcome),
            limits=request.limits,
            timings=self._timings(outcome),
            failure=failure,
            output=tuple(self.outputs),
            warnings=tuple(self.warnings),
            tensors=tuple(self._tensor(event) for event in self.tensors.values()),
            variables=tuple(self._variable(event, dict(self.told.arrays)) for event in self.variables),
            ops=ops,
            nodes=tuple(self._node(self.nodes[number]) for number in sorted(self.nodes)),
            passes=tuple(self._pass(one) for one in self.runs.values()),
            updates=tuple(self._update(event) for event in self.updates),
            modules=tuple(self._module(event) for event in self.modules.values()),
            checks=tuple(self._check(event) for event in self.checked if event.tensor in self.tensors),
            jacobians=tuple(self._jacobian(event) for event in self.jacobians),
            calls=self.calls.finish(self.modules),
            hooks=tuple(self.hooks.finish(self.nodes, self.modules, self.runs)),
            memory=(),
            gaps=tuple(self.gaps),
            timeline=tuple(self._timeline() if self.hooks.all or self.calls.all else self.steps),
            findings=tuple(self.findings),
            truncated=tuple(self._truncated()),
        )

    def _timeline(self) -> Iterator[Step]:
        """The steps, without those that wait for a visit which never came; a hook that changed a gradient with its update."""
        updates = {f"h{event.hook}": f"u{event.id}" for event in self.updates if event.hook}
        known = {f"c{number}" for number, call in self.calls.all.items() if call.event.module in self.modules}
        for step in self.steps:
            if step.kind in ("call", "call_end"):
                if step.call in known:
                    yield step
            elif step.kind == "sum":
                if self._visit_of(step) is not None:
                    yield step
            elif step.kind == "hook" and step.hook is not None:
                fired = self.hooks.all[int(step.hook[1:])].event
                came = self._visit_of(step) == fired.node
                yield msgspec.structs.replace(
                    step, update=updates.get(step.hook), visit=step.visit if came else None,
                    input_nr=step.input_nr if came else None, pass_id=step.pass_id if fired.pass_id in self.runs else None,
                )  # fmt: skip
            else:
                yield step

    def _visit_of(self, step: Step) -> int | None:
        """The node that a step's visit ran."""
        run = self.runs.get(int(step.pass_id[1:])) if step.pass_id is not None else None
        return run.visits[step.visit].node if run and step.visit is not None and step.visit < len(run.visits) else None

    def _environment(self, outcome: Outcome) -> Environment:
        started = self.started
        if started is None:
            return Environment(python="", torch="", engine=versions().engine, device="cpu", isolation=outcome.isolation)
        return Environment(
            python=started.python, torch=started.torch, engine=versions().engine, device=started.device, numpy=started.numpy,
            cuda=started.cuda, threads=started.threads, isolation=outcome.isolation,
        )  # fmt: skip

    def _timings(self, outcome: Outcome) -> Timings:
        if self.ended is not None and not outcome.timings.run_ms:
            return msgspec.structs.replace(outcome.timings, run_ms=self.ended.run_ms)
        return outcome.timings

    def _tensor(self, event: ev.TensorSeen) -> Tensor:
        change = self.changes.get(event.id) or _NOTHING
        node = change.node or event.node
        requires_grad = event.requires_grad if change.requires_grad is None else change.requires_grad
        role = change.role or event.role
        usual = Tensor(
            id=self.t[event.id],
            shape=event.shape,
            dtype=event.dtype,
            role=role,
            identity=self.t[event.identity] if event.identity else None,
            names=tuple(names) if (names := self.shared.get(event.identity or event.id)) else (),
            storage=f"s{event.storage}" if event.storage else None,
            size_bytes=event.size_bytes,
            version=max(event.version, 0),
            requires_grad=requires_grad,
            is_leaf=not node and not (requires_grad and role == "result"),  # a written view's node is not asked for
            grad_fn=OutputOf(node=self.n[node], output_nr=change.output_nr or event.output_nr) if node else None,
            data=event.data,
        )
        return usual if change is _NOTHING and _is_usual(event) else _with_the_rest(usual, event, change)

    def _all_ops(self, by_op: Mapping[int, list[ev.NodeSeen]]) -> Iterator[Op]:
        places: dict[tuple[int, int, int], _Place] = {}
        skipped = self.skipped
        for number, event in enumerate(self.ops.values()):
            key = (event.site, event.function, event.module)
            place = places.get(key)
            if place is None:
                place = places[key] = self._place(event)
            if skipped and (gaps := skipped.get(key)):
                while gaps and gaps[0][0] <= number:
                    place.ran += gaps.pop(0)[1]
            yield self._op(event, place, by_op.get(event.id, ()))
            place.ran += 1

    def _place(self, event: ev.OpRan) -> "_Place":
        called = self.functions.get(event.function)
        return _Place(
            name="" if called is None else called.name,
            function="" if called is None else called.function,
            span=self._span(event.site),
            module=f"m{event.module}" if event.module in self.modules else None,
            broadcasts=called is not None and called.name in _BROADCASTING,
        )

    def _op(self, event: ev.OpRan, place: "_Place", nodes: Sequence[ev.NodeSeen]) -> Op:
        tensors = self.t
        inputs: list[int] = []
        arguments: list[Argument] = []
        for word in event.arguments:
            if type(word) is int:
                inputs.append(word)
                arguments.append(Argument(tensor=tensors[word]))
            else:
                arguments.append(self._argument("", word, inputs))
        if event.keywords is not None:
            arguments += [self._argument(name, word, inputs) for name, word in event.keywords.items()]
        in_order = nodes if len(nodes) < 2 else sorted(nodes, key=lambda node: int(node.sequence_nr or 0))
        made = Op(
            id=self.o[event.id],
            name=place.name,
            function=place.function,
            arguments=tuple(arguments),
            inputs=tuple([tensors[number] for number in inputs]),
            outputs=tuple([tensors[number] for number in event.outputs]),
            nodes=tuple([self.n[node.id] for node in in_order]),
            span=place.span,
            module=place.module,
            iteration=place.ran,
            broadcast=self._broadcast(inputs, event.outputs) if place.broadcasts else (),
            time_us=event.time_us,
            saved_bytes=self._newly_saved(in_order) if in_order else 0,
        )
        if not event.flags and not event.pass_id:
            return made
        mode = "inference" if event.flags & ev.INFERENCE else "no_grad" if event.flags & ev.NO_GRAD else "grad"
        return msgspec.structs.replace(
            made,
            grad_mode=mode,
            in_place=bool(event.flags & ev.IN_PLACE),
            view=bool(event.flags & ev.VIEW),
            pass_id=_p(event.pass_id),
            raised=bool(event.flags & ev.RAISED),
        )

    def _argument(self, name: str, word: ev.Word, inputs: list[int]) -> Argument:
        """The argument; its tensors are added to `inputs`."""
        if isinstance(word, int):
            inputs.append(word)
            return Argument(name=name, tensor=self.t[word])
        if isinstance(word, tuple):
            inputs += [number for number in word if number]
            return Argument(name=name, tensors=tuple(map(_t, word)))
        known = self._plain.get((name, word))
        if known is None:
            known = self._plain[name, word] = Argument(name=name, text=word)
        return known

    def _newly_saved(self, nodes: Iterable[ev.NodeSeen]) -> int:
        """Bytes that backward alone keeps alive: no leaf's, and no storage twice."""
        total = 0
        for node in nodes:
            for _, number, _, _, size, _ in node.saved:
                seen = self.tensors.get(number) if number else None
                if seen is None or seen.role in ("leaf", "parameter", "buffer"):
                    continue
                storage = seen.storage or -number
                if storage not in self.saved_storages:
                    self.saved_storages.add(storage)
                    total += size
        return total

    def _broadcast(self, inputs: list[int], outputs: tuple[int, ...]) -> tuple[Broadcast, ...]:
        made = self.tensors.get(outputs[0]) if outputs else None
        if made is None or not made.shape:
            return ()
        shape = made.shape
        found = []
        for index, number in enumerate(inputs):
            given = self.tensors.get(number)
            if given is None or given.shape == shape or len(given.shape) > len(shape):
                continue
            missing = len(shape) - len(given.shape)
            axes = [*range(missing)]
            axes += [missing + i for i, size in enumerate(given.shape) if size == 1 and shape[missing + i] != 1]
            if axes:
                found.append(Broadcast(input=index, axes=tuple(axes)))
        return tuple(found)

    def _node(self, event: ev.NodeSeen) -> Node:
        outputs = self._node_outputs.get(event.outputs)
        if outputs is None:
            outputs = self._node_outputs[event.outputs] = tuple(
                NodeOutput(shape=shape, dtype=dtype, device="cpu" if device == "cpu" else device)
                for shape, dtype, device in event.outputs
            )
        saved, rule = self._saved_and_rule(event)
        made = Node(
            id=self.n[event.id],
            type=event.type,
            edges=self._edges(event),
            outputs=outputs,
            op=self.o[event.op] if event.op in self.ops else None,
            sequence_nr=event.sequence_nr or None,
            saved=saved,
            rule=rule,
        )
        if not (event.variable or event.made_by or event.pass_id or event.custom or event.code or event.reason):
            return made
        return msgspec.structs.replace(
            made,
            variable=_t(event.variable),
            made_by=f"n{event.made_by}" if event.made_by else None,
            pass_id=_p(event.pass_id),
            custom=event.custom,
            code=self._span(event.code),
            reason=event.reason,
        )

    def _edges(self, event: ev.NodeSeen) -> tuple[Edge, ...]:
        edges = event.edges
        key = (event.type, len(edges) // 2)
        names = self._slots.get(key)
        if names is None:
            names = self._slots[key] = slot_names(*key)
        return tuple(
            [
                Edge(to=self.n[to], input_nr=input_nr, name=name) if to > 0 else self._missing_edge(to, input_nr, name)
                for to, input_nr, name in zip(edges[::2], edges[1::2], names, strict=False)
            ]
        )

    def _missing_edge(self, to: int, input_nr: int, name: str) -> Edge:
        known = self._missing.get((to, input_nr, name))
        if known is None:
            omitted = to == ev.OMITTED
            known = self._missing[to, input_nr, name] = Edge(to=None, input_nr=input_nr, name=name, omitted=omitted)
        return known

    def _saved_and_rule(self, event: ev.NodeSeen) -> tuple[tuple[Saved, ...], str | None]:
        """What a node keeps, and its rule; nodes of a loop that keep the same numbers share them."""
        key = (event.type, event.saved)
        known = self._numbers_saved.get(key)
        if known is None:
            saved = tuple(self._saved(word) for word in event.saved)
            known = saved, rule_of(event.type, saved)
            if all(one.tensor is None for one in saved):
                self._numbers_saved[key] = known
        return known

    def _saved(self, word: ev.SavedWord) -> Saved:
        name, number, version, text, size, reason = word
        return Saved(
            field=name,
            tensor=_t(number) if number in self.tensors else None,
            version=None if version < 0 else version,
            text=text or None,
            size_bytes=size,
            reason=reason,
        )

    def _pass(self, run: _Run) -> Pass:
        start, end = run.start, run.end
        return Pass(
            id=run.id,
            kind=start.kind,
            roots=tuple(
                Root(node=f"n{node}" if node else None, input_nr=nr, tensor=_t(tensor), seed=_t(seed), implicit=implicit)
                for node, nr, tensor, seed, implicit in start.roots
            ),
            visits=tuple(
                [
                    Visit(
                        node=self.n[visit.node],
                        entered=tuple([self.t[number] if number else None for number in visit.entered]),
                        left=tuple([self.t[number] if number else None for number in visit.left]),
                        sums=sums,
                        reduced=run.reduced.get(index, ()) if run.reduced else (),
                        time_us=visit.time_us,
                    )
                    for index, (visit, sums) in enumerate(zip(run.visits, run.sums, strict=True))
                ]
            ),
            accumulations=tuple(run.accumulations),
            span=self._span(start.site),
            retain_graph=start.retain_graph,
            create_graph=start.create_graph,
            inputs=None if start.inputs is None else tuple(map(_t, start.inputs)),
            input_nodes=tuple(
                OutputOf(node=f"n{node}", output_nr=nr) if node in self.nodes else None
                for node, nr in start.input_nodes or ()
            ),
            results=() if end is None else tuple(map(_t, end.results)),
            parent=_p(start.parent),
            module=f"m{start.module}" if start.module in self.modules else None,
            failed=end is None or end.failed,
            omitted=start.omitted,
        )  # fmt: skip

    def _update(self, event: ev.Updated) -> Update:
        return Update(
            id=f"u{event.id}",
            kind=event.kind,
            changes=tuple(
                self._change_word(word, event.groups[index] if index < len(event.groups) else 0)
                for index, word in enumerate(event.changes)
            ),
            state=tuple(map(_state_word, event.state)),
            optimizer=event.optimizer or None,
            variable=event.variable or None,
            owner=event.owner or None,
            op=_o(event.op),
            span=self._span(event.site),
            set_to_none=event.set_to_none,
            settings=event.settings,
            raised=event.raised,
            pass_id=_p(event.pass_id),
            hook=f"h{event.hook}" if event.hook else None,
        )

    def _change_word(self, word: ev.ChangeWord, group: int) -> Change:
        before, after, name, gradient = word
        if not name:
            seen = self.tensors.get(after or before)
            name = next(iter(self.shared.get(seen.identity or seen.id, ())), "") if seen is not None else ""
        return Change(before=_t(before), after=_t(after), name=name, gradient=_t(gradient), group=group)

    def _module(self, event: ev.ModuleSeen) -> Module:
        return Module(
            id=f"m{event.id}",
            path=event.path,
            type=event.type,
            parent=f"m{event.parent}" if event.parent else None,
            parameters=tuple(
                Member(name=name, tensor=f"t{number}", shared=shared)
                for name, number, shared in event.parameters
                if number in self.tensors  # else said in a turn of a loop that was left out, and not since
            ),
            buffers=tuple(
                Member(name=name, tensor=f"t{number}", shared=shared)
                for name, number, shared in event.buffers
                if number in self.tensors
            ),
            training=event.training,
            text=event.text,
            calls=event.calls,
        )

    @staticmethod
    def _variable(event: ev.VariableSeen, arrays: Mapping[str, tuple[int, ...]]) -> Variable:
        storages = arrays.get(event.name) if event.kind == "array" else None
        return Variable(
            name=event.name,
            kind=event.kind,
            type=event.type,
            storage=f"s{storages[0]}" if storages else None,
            tensor=_t(event.tensor),
            module=f"m{event.module}" if event.module else None,
            text=event.text,
            tensors=tuple(f"t{number}" for number in event.tensors),
        )

    def _check(self, event: ev.LeafChecked) -> Check:
        return Check(
            pass_id=f"p{event.pass_id}",
            tensor=f"t{event.tensor}",
            verdict=event.verdict,
            relative_error=event.relative_error,
            step=event.step,
            elements=tuple(
                CheckedElement(index=index, autograd=autograd, difference=difference)
                for index, autograd, difference in event.elements
            ),
            reason=event.reason,
            parameters=event.parameters,
            nodes=(f"n{event.node}",) if event.node in self.nodes else (),
            span=self._span(event.site),
        )

    def _jacobian(self, event: ev.JacobianSeen) -> Jacobian:
        return Jacobian(
            pass_id=f"p{event.pass_id}",
            rows=event.rows,
            columns=event.columns,
            values=event.values,
            output=_t(event.output),
            input=_t(event.input),
            node=f"n{event.node}" if event.node in self.nodes else None,
            slot=event.slot,
            rows_checked=event.rows_checked,
            largest_error=event.largest_error,
        )

    def _truncated(self) -> Iterator[Truncation]:
        for cut in self.cuts.values():
            yield Truncation(what=cut.what, limit=cut.limit, kept=cut.kept, omitted=cut.omitted or None)
        for what, kept, omitted in (
            ("passes", len(self.runs), sum(gap.passes for gap in self.gaps)),
            ("ops", len(self.ops), sum(gap.ops for gap in self.gaps)),
            ("updates", len(self.updates), sum(gap.updates for gap in self.gaps)),
        ):
            if omitted:
                limit = "sample" if any(gap.passes for gap in self.gaps) else "ops"
                yield Truncation(what=what, limit=limit, kept=kept, omitted=omitted)
        visits = sum(run.start.omitted for run in self.runs.values())
        if visits:
            kept = sum(len(run.visits) for run in self.runs.values())
            yield Truncation(what="visits", limit="nodes", kept=kept, omitted=visits)

    # Names

    def _name(self, source: Source, ops: Iterable[Op]) -> None:
        """Names from the code, after those the program has at its end; all states of one tensor share them."""
        names = {self.t[number]: change.names for number, change in self.changes.items()}
        for tensor, name in self._member_names():
            told = names.setdefault(tensor, [])
            if name not in told:
                told.append(name)
        for op in ops:
            for tensor, name in source.names(op):
                known = names.get(tensor)
                if known is None:
                    names[tensor] = [name]
                elif name not in known:
                    known.append(name)
        for tensor, given in names.items():
            if given:
                self._share(int(tensor[1:]), given)
        for run in self.runs.values():
            for accumulation in run.accumulations:
                leaf = self.shared.get(int(accumulation.tensor[1:]))
                if leaf and accumulation.after is not None:
                    self._share(int(accumulation.after[1:]), [f"{leaf[0]}.grad"], first=True)

    def _member_names(self) -> Iterator[tuple[str, str]]:
        """Paths of parameters and buffers: of shared ones each, and also those of a run that did not come to its end."""
        for event in self.modules.values():
            if "(" not in event.path:  # else nothing in the program leads to it
                for name, number, _ in (*event.parameters, *event.buffers):
                    if number in self.tensors:
                        yield self.t[number], f"{event.path}.{name}"

    def _share(self, number: int, names: list[str], first: bool = False) -> None:
        seen = self.tensors.get(number)
        if seen is not None:
            key = seen.identity or number
            known = self.shared.get(key)
            if known is None:
                self.shared[key] = names[:_MOST_NAMES]
                return
            new = [name for name in names if name not in known]
            known[:] = [*new, *known][:_MOST_NAMES] if first else [*known, *new][:_MOST_NAMES]

    # Failure

    def _failure(self, outcome: Outcome, request: RunRequest, bad: str) -> tuple[Failure | None, str]:
        """What the supervisor saw comes first, then what the worker said."""
        code = request.program.code
        stopped = outcome.stopped_by
        said = None if self.failed is None else self._said(self.failed)
        if stopped is not None:
            if said is not None and said.kind == "limit":
                return said, "limited"
            return stopped_by(stopped, request.limits, self._last_place(stopped, said, code)), "limited"
        if bad:
            return Failure(
                kind="crash", type="events", message=f"the worker said something that is no event: {bad}"
            ), "crashed"
        if said is not None:
            return said, "limited" if said.kind in ("limit", "memory") and said.limit else "failed"
        if outcome.signal is not None:
            return ended_by_signal(outcome, code), "crashed"
        if outcome.exit_code is None:
            message = "the process that ran the program was lost, through no fault of the program; run it again"
            return Failure(kind="lost", type="worker", message=message), "crashed"
        if outcome.exit_code != 0:
            message = f"the process ended with exit code {outcome.exit_code} before the program did"
            return Failure(kind="exit", type="SystemExit", message=message), "failed"
        if self.ended is None:
            return Failure(kind="exit", type="SystemExit", message="the process ended before the program did"), "failed"
        return None, "ok"

    def _last_place(self, stopped: str, said: Failure | None, code: str) -> Span | None:
        """Where a program was when it was stopped, as far as it said so."""
        if said is not None:
            return said.span
        if stopped == "output" and self.outputs:
            return self.outputs[-1].span
        return line_span(code, self.line)

    def _said(self, event: ev.Failed) -> Failure:
        return Failure(
            kind=event.kind,
            type=event.type,
            message=event.message,
            span=self._span(event.site),
            frames=tuple(
                Frame(function=function, span=self._span(site), file=file, line=line)
                for function, site, file, line in event.frames
            ),
            op=_o(event.op),
            pass_id=_p(event.pass_id),
            limit=event.limit or None,
            operands=tuple(
                Operand(text=text, type=kind, tensor=_t(number) if number in self.tensors else None)
                for text, kind, number in event.operands
            ),
            facts=event.facts,
            traceback=event.traceback,
        )


def _is_usual(event: ev.TensorSeen) -> bool:
    """Whether a tensor has only what nearly all of them have: records with many fields take long to make."""
    return not (
        event.summary is not None
        or event.base
        or event.strides is not None
        or event.thumbnail is not None
        or event.device != "cpu"
        or event.contents != "known"
        or event.layout != "strided"
        or event.reason
    )


def _with_the_rest(usual: Tensor, event: ev.TensorSeen, change: _Change) -> Tensor:
    figures, cells = event.summary, event.thumbnail
    return msgspec.structs.replace(
        usual,
        device="cpu" if event.device == "cpu" else event.device,  # msgspec leaves out the default object only
        layout="strided" if event.layout == "strided" else event.layout,
        strides=event.strides,
        base=_t(change.base or event.base),
        summary=None if figures is None else Summary(
            min=figures[0], max=figures[1], mean=figures[2], std=figures[3], norm=figures[4], zeros=figures[5],
            nan=figures[6], inf=figures[7], histogram=figures[8], over=figures[9] or None,
        ),
        thumbnail=None if cells is None else Thumbnail(rows=cells[0], columns=cells[1], cells=cells[2], scale=cells[3]),
        stored=change.stored,
        contents=event.contents,
        reason=event.reason,
        grad=_t(change.grad),
    )  # fmt: skip


def _state_word(word: ev.StateWord) -> Change:
    before, after, name, parameter, text_before, text_after = word
    return Change(
        before=_t(before), after=_t(after), name=name, parameter=_t(parameter), before_text=text_before or None,
        after_text=text_after or None,
    )  # fmt: skip


_NOTHING = _Change()
_MOST_NAMES = 4
_MOST_OUTPUTS = 10_000
"""Prints that are told apart; what follows on them at once is joined to the last."""
_BATCH = 2000

_BROADCASTING = frozenset("""
    add sub mul div rsub rdiv pow rpow add_ sub_ mul_ div_ pow_ maximum minimum where lerp atan2 remainder fmod floor_divide
    eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor addcmul addcdiv hypot mse_loss
    l1_loss smooth_l1_loss huber_loss masked_fill true_divide multiply subtract divide expand expand_as logaddexp dist
""".split())  # fmt: skip


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for piece in lines:
        if b"\n" in piece:
            batch += [line for line in piece.split(b"\n") if line]
        elif piece:
            batch.append(piece)
        while len(batch) >= _BATCH:
            yield batch[:_BATCH]
            del batch[:_BATCH]
    if batch:
        yield batch


def _p(number: int) -> str | None:
    return f"p{number}" if number else None


def _o(number: int) -> str | None:
    return f"o{number}" if number else None


def _term(arrival: _Arrival) -> Term:
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
