"""Lines to events, each taken by its kind."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from engine import events as ev
from engine.assemble.passes import Passes
from engine.assemble.state import of_op, of_pass
from engine.trace import (
    CurvePoint,
    Edit,
    Finding,
    Gap,
    Output,
    Span,
    Step,
    Warning,
)

_Takers = Mapping[type[ev.Event], Callable[..., None]]


class Reader(Passes):
    """Takes the events, one kind after the other."""

    def read(self, lines: Iterable[bytes]) -> str:
        """Takes events until the first line that is none; says what was wrong with it."""
        takers, tensors = self._takers(), self.tensors
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
                    if type(event) is ev.TensorSeen:  # every other one
                        tensors[event.id] = event
                    else:
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
                ev.Again: self._again,
                ev.Passed: self._passed,
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
            self._gone(event.gone, len(self.steps))
        if self.calls.running:
            self.calls.ran(event.id, event.thread)
        number = self.o[event.id] = f"o{event.id}"
        pass_id = f"p{event.pass_id}" if event.pass_id else None
        self.steps.append(Step(kind="op", op=number, pass_id=pass_id, span=self.sites.get(event.site)))

    def _tensor_seen(self, event: ev.TensorSeen) -> None:
        self.tensors[event.id] = event

    def _node_seen(self, event: ev.NodeSeen) -> None:
        self.nodes[event.id] = event
        if ev.OMITTED in event.edges:  # an input_nr is never negative
            self.nodes_omitted = True

    def _again(self, event: ev.Again) -> None:
        try:
            node, tensor, op = self.patterns.spread(event)
        except LookupError:  # a stranger's word
            return
        self.tensors[tensor.id] = tensor
        self._node_seen(node)
        self._op_ran(op)

    def _passed(self, event: ev.Passed) -> None:
        for tensor in event.new:
            self.tensors[tensor.id] = tensor
        self._visited(event)

    def _take(self, event: ev.Event) -> None:
        """The rarer events."""
        match event:
            case ev.Site():
                self.sites[event.id] = Span(
                    line=event.line, end_line=event.end_line, column=event.column, end_column=event.end_column
                )
            case ev.Called():
                self.functions[event.id] = event
            case ev.Pattern():
                self.patterns.add(event)
            case ev.CellsRead():
                self.reads.setdefault(event.op, []).append(event)
            case ev.TensorChanged():
                self._changed(event)
            case ev.Named():
                names = self._change(event.tensor).names
                if event.name not in names:
                    names.append(event.name)
            case ev.Gone():
                self._gone(event.tensors, len(self.steps))
            case ev.Held():
                self.told.held.append((len(self.steps), event.id, event.tensors))
                if event.by_nodes:
                    self.held_by_nodes.add(event.id)
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
            case ev.SurfaceSeen():
                self.surface = event
            case ev.Walked():
                self.walked.append(event)
            case ev.FunctionEntered():
                self.python_calls.enter(event, self._span(event.site))
            case ev.StatementRan():
                self.python_calls.ran(event)
            case ev.FunctionLeft():
                self.python_calls.leave(event)
            case ev.Warned():
                span = self._span(event.site)
                self.steps.append(Step(kind="warning", index=len(self.warnings), span=span))
                self.warnings.append(Warning(category=event.category, message=event.message, span=span))
            case ev.ModuleCalled():
                span = self._span(event.site)
                self.calls.begin(event, span)
                self.steps.append(Step(kind="call", call=f"c{event.id}", pass_id=of_pass(event.pass_id), span=span))
            case ev.ModuleLeft():
                if self.calls.end(event):
                    begun = self.calls.all[event.id].event
                    self.steps.append(Step(kind="call_end", call=f"c{event.id}", pass_id=of_pass(begun.pass_id)))
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

    def _updated(self, event: ev.Updated) -> None:
        self.updates.append(event)
        if event.kind in ("in_place", "hook"):
            return  # its op, or the firing of the hook, is the step
        kind = "reset" if event.kind in ("zero_grad", "grad_reset") else "update"
        self.steps.append(Step(kind=kind, update=f"u{event.id}", op=of_op(event.op), span=self._span(event.site)))  # type: ignore[arg-type]

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


_MOST_OUTPUTS = 10_000
"""Prints that are told apart; what follows on them at once is joined to the last."""
_BATCH = 2000


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines, many at a time; a piece may hold several. Tensors' elements are left out: nobody asks for them here."""
    pieces = iter(lines)
    while taken := list(islice(pieces, _BATCH)):
        together = b"".join(taken)
        if b"\n" in together or ev.BLOB in together or not all(taken):
            taken = [line for piece in taken for line in piece.split(b"\n") if line and not line.startswith(ev.BLOB)]
        for start in range(0, len(taken), _BATCH):
            yield taken[start : start + _BATCH]
