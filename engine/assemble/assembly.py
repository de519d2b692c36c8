"""The trace of a run from what was read."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import msgspec

from engine import asked
from engine import events as ev
from engine.assemble.names import SourceNames
from engine.assemble.records import Records
from engine.assemble.state import Run, of_op, of_pass, of_tensor
from engine.derive import link_regrown
from engine.keys import versions
from engine.outcome import Outcome
from engine.program.source import source_of
from engine.request import RunRequest
from engine.supervisor_failures import ended_by_signal, line_span, stopped_by
from engine.trace import (
    FORMAT,
    Change,
    Check,
    CheckedElement,
    Environment,
    Failure,
    Frame,
    Jacobian,
    Member,
    Module,
    Op,
    Operand,
    OutputOf,
    Pass,
    Root,
    Span,
    Step,
    Timings,
    Trace,
    Truncation,
    Update,
    Variable,
    Visit,
)


class House(Records):
    """All of a run, from its first event to its trace."""

    def finish(self, run: str, request: RunRequest, outcome: Outcome, bad: str) -> Trace:
        """Everything together."""
        self._end_print()
        failure, status = self._failure(outcome, request, bad)
        if failure is not None:
            self.steps.append(Step(kind="failure", op=failure.op, pass_id=failure.pass_id, span=failure.span))
        link_regrown(self.nodes, self.ops, self.functions, self.tensors)
        self.t.have(self.tensors)
        self.n.have(self.nodes)
        by_op: dict[int, list[ev.NodeSeen]] = {}
        for node in self.nodes.values():
            if node.op:
                by_op.setdefault(node.op, []).append(node)
        ops = tuple(self._all_ops(by_op))
        source = SourceNames(source_of(request.program.code, parsed_in_sandbox=bool(ops)))
        self._name_local_modules(source, ops)
        self._name(source, ops)
        return Trace(
            format=FORMAT,
            id=run,
            status=status,  # type: ignore[arg-type]
            program=request.program,
            environment=self._environment(outcome),
            limits=request.limits,
            timings=self._timings(outcome),
            failure=failure,
            output=tuple(self.outputs),
            warnings=tuple(self.warnings),
            tensors=tuple(self._all_tensors()),
            variables=tuple(self._variable(event, dict(self.told.arrays)) for event in self.variables),
            ops=ops,
            nodes=tuple(self._node(self.nodes[number]) for number in sorted(self.nodes)),
            passes=tuple(self._pass(one) for one in self.runs.values()),
            updates=tuple(self._update(event, source) for event in self.updates),
            modules=tuple(self._module(event) for event in self.modules.values()),
            checks=tuple(self._check(event) for event in self.checked if event.tensor in self.tensors),
            jacobians=tuple(self._jacobian(event) for event in self.jacobians),
            surface=None if self.surface is None else asked.surface(self.surface, self.tensors),
            walks=tuple(asked.walk(one, self._span(one.site), self.modules, self.tensors) for one in self.walked),
            python_calls=self.python_calls.finish(),
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

    def _pass(self, run: Run) -> Pass:
        start, end = run.start, run.end
        return Pass(
            id=run.id,
            kind=start.kind,
            roots=tuple(
                Root(node=f"n{node}" if node else None, input_nr=nr, tensor=of_tensor(tensor), seed=of_tensor(seed), implicit=implicit)
                for node, nr, tensor, seed, implicit in start.roots
            ),
            visits=tuple(
                [
                    Visit(
                        node=self.n[visit.node],
                        entered=tuple([self.t[number] if number else None for number in visit.entered]),
                        left=tuple([self.t[number] if number else None for number in visit.left]),
                        sums=run.sums.get(index, ()),
                        reduced=run.reduced.get(index, ()),
                        time_us=visit.time_us,
                    )
                    for index, visit in enumerate(run.visits)
                ]
            ),
            accumulations=tuple(run.accumulations),
            span=self._span(start.site),
            retain_graph=start.retain_graph,
            create_graph=start.create_graph,
            inputs=None if start.inputs is None else tuple(map(of_tensor, start.inputs)),
            input_nodes=tuple(
                OutputOf(node=f"n{node}", output_nr=nr) if node in self.nodes else None
                for node, nr in start.input_nodes or ()
            ),
            results=() if end is None else tuple(map(of_tensor, end.results)),
            parent=of_pass(start.parent),
            module=f"m{start.module}" if start.module in self.modules else None,
            failed=end is None or end.failed,
            omitted=start.omitted,
        )  # fmt: skip

    def _update(self, event: ev.Updated, source: SourceNames) -> Update:
        span = self._span(event.site)
        is_called = event.kind in ("step", "zero_grad") and not event.variable
        return Update(
            id=f"u{event.id}",
            kind=event.kind,
            changes=tuple(
                self._change_word(word, event.groups[index] if index < len(event.groups) else 0)
                for index, word in enumerate(event.changes)
            ),
            state=tuple(map(_state_word, event.state)),
            optimizer=event.optimizer or None,
            variable=event.variable or (source.local_receiver(span, event.optimizer) if is_called else "") or None,
            owner=event.owner or None,
            op=of_op(event.op),
            span=span,
            set_to_none=event.set_to_none,
            settings=event.settings,
            raised=event.raised,
            pass_id=of_pass(event.pass_id),
            hook=f"h{event.hook}" if event.hook else None,
        )

    def _change_word(self, word: ev.ChangeWord, group: int) -> Change:
        name = word.name
        if not name:
            seen = self.tensors.get(word.after or word.before)
            name = next(iter(self.shared.get(seen.identity or seen.id, ())), "") if seen is not None else ""
        return Change(
            before=of_tensor(word.before),
            after=of_tensor(word.after),
            name=name,
            gradient=of_tensor(word.gradient),
            leaf=of_tensor(word.leaf) if word.leaf in self.tensors else None,
            group=group,
        )

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
            tensor=of_tensor(event.tensor),
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
            output=of_tensor(event.output),
            input=of_tensor(event.input),
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

    def _name(self, source: SourceNames, ops: Iterable[Op]) -> None:
        """Names from the code, after those the program has at its end; all states of one tensor share them."""
        names = {self.t[number]: tuple(change.names) for number, change in self.changes.items()}
        for tensor, name in chain(self._member_names(), source.names(ops)):
            known = names.get(tensor)
            if known is None:
                names[tensor] = (name,)
            elif name not in known:
                names[tensor] = (*known, name)
        for tensor, given in names.items():
            if given:
                self._share(int(tensor[1:]), given)
        for run in self.runs.values():
            for accumulation in run.accumulations:
                leaf = self.shared.get(int(accumulation.tensor[1:]))
                if leaf and accumulation.after is not None:
                    self._share(int(accumulation.after[1:]), (f"{leaf[0]}.grad",), first=True)

    def _name_local_modules(self, source: SourceNames, ops: Iterable[Op]) -> None:
        """Modules that only a function of the program knows get the name that it gives them, in place of their class."""
        roots = {number: event for number, event in self.modules.items() if not event.parent and event.path[:1] == "("}
        if not roots:
            return
        root_of: dict[int, int] = {}
        for number, event in self.modules.items():  # parents first
            root_of[number] = number if number in roots else root_of.get(event.parent, 0)
        owners = {self._first(member): root_of[number] for number, event in self.modules.items() if root_of[number]
                  for _, member, _ in event.parameters}  # fmt: skip
        spans: dict[int, set[Span]] = {}
        for op in ops:
            if op.in_place and op.outputs and op.span is not None:
                root = owners.get(self._first(int(op.outputs[0][1:])))
                if root is not None:
                    spans.setdefault(root, set()).add(op.span)
        filled = set(owners.values())
        names = {
            root: source.local_name(event.type, spans.get(root, ()), has_parameters=root in filled)
            for root, event in roots.items()
        }
        for number, root in root_of.items():
            if root and names[root]:
                event = self.modules[number]
                path = names[root] + event.path[len(roots[root].path) :]
                self.modules[number] = msgspec.structs.replace(event, path=path)

    def _first(self, number: int) -> int:
        """Number of the first record of the same tensor object."""
        seen = self.tensors.get(number)
        return seen.identity or number if seen is not None else number

    def _member_names(self) -> Iterator[tuple[str, str]]:
        """Paths of parameters and buffers: of shared ones each, and also those of a run that did not come to its end."""
        for event in self.modules.values():
            if "(" not in event.path:  # else nothing in the program leads to it
                for name, number, _ in (*event.parameters, *event.buffers):
                    if number in self.tensors:
                        yield self.t[number], f"{event.path}.{name}"

    def _share(self, number: int, names: tuple[str, ...], first: bool = False) -> None:
        seen = self.tensors.get(number)
        if seen is not None:
            key = seen.identity or number
            known = self.shared.get(key)
            if known is not None:
                new = tuple(name for name in names if name not in known)
                names = (*new, *known) if first else (*known, *new)
            self.shared[key] = names[:_MOST_NAMES]

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
            op=of_op(event.op),
            pass_id=of_pass(event.pass_id),
            limit=event.limit or None,
            operands=tuple(
                Operand(text=text, type=kind, tensor=of_tensor(number) if number in self.tensors else None)
                for text, kind, number in event.operands
            ),
            facts=event.facts,
            traceback=event.traceback,
        )


def _state_word(word: ev.StateWord) -> Change:
    before, after, name, parameter, text_before, text_after = word
    return Change(
        before=of_tensor(before), after=of_tensor(after), name=name, parameter=of_tensor(parameter), before_text=text_before or None,
        after_text=text_after or None,
    )  # fmt: skip


_MOST_NAMES = 4
