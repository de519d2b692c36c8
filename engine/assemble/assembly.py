"""The trace of a run from what its worker said, and the facts beside it that parts are derived from."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import msgspec

from engine.assemble.checks import checks, jacobians
from engine.assemble.hooks import hook_calls
from engine.assemble.ids import Ids
from engine.assemble.module_walks import module_walks
from engine.assemble.modules import inner_ends, module_calls, modules
from engine.assemble.names import SourceNames
from engine.assemble.nodes import nodes
from engine.assemble.ops import ops
from engine.assemble.passes import passes
from engine.assemble.python_calls import python_calls
from engine.assemble.recorded import Recorded
from engine.assemble.status import ending
from engine.assemble.surface import surface
from engine.assemble.tensor_names import module_paths, name_of, tensor_names
from engine.assemble.tensors import tensors
from engine.assemble.timeline import Timeline, timeline
from engine.assemble.updates import updates
from engine.assemble.variables import variables
from engine.bounds import MOST_CHARACTERS, MOST_MODULES, MOST_VARIABLES, MOST_WARNINGS
from engine.derive import SideFacts
from engine.keys import versions
from engine.outcome import Outcome
from engine.program.source import source_of
from engine.request import RunRequest
from engine.trace import (
    FORMAT,
    Argument,
    CurvePoint,
    Edit,
    Environment,
    Failure,
    Finding,
    Module,
    ModuleCall,
    Op,
    Pass,
    Span,
    Step,
    Timings,
    Trace,
    Truncation,
)


def assembled(run: str, request: RunRequest, recorded: Recorded, outcome: Outcome) -> tuple[Trace, SideFacts]:
    """The trace as far as it is the worker's and the supervisor's word, and what else they said."""
    ids = Ids(recorded.tensors, recorded.ops, recorded.nodes)
    engine = passes(recorded, ids)
    happened = timeline(recorded, ids, engine.by_number)
    failure, status = ending(recorded, ids, request, outcome, happened.outputs)
    made = ops(recorded, ids)
    types = {module.type for module in recorded.modules.values()}
    plain = {seen.name for seen in recorded.variables if seen.kind not in ("tensor", "array") and not seen.tensors}
    walked = {recorded.spans.get(event.site) for event in recorded.walked}
    source = SourceNames(source_of(request.program.code, parsed_in_sandbox=bool(made)), types, plain, walked)
    paths = module_paths(recorded, source, made)
    calls = tuple(module_calls(recorded, ids))
    inside = source.inside_calls(made, calls)
    returned = {ids.op[op.id]: _spans(recorded, op.returned) for op in recorded.ops.values() if op.returned}
    written = chain(source.of_turns(happened.batches, made), source.names(made, inside, returned))
    names = tensor_names(recorded, ids, written, engine.by_number.values(), paths)
    seen_modules = tuple(modules(recorded, ids, paths))
    seen = {**recorded.tensors, **engine.implied} if engine.implied else recorded.tensors
    trace = Trace(
        format=FORMAT,
        id=run,
        status=status,
        program=request.program,
        environment=_environment(recorded, outcome),
        limits=request.limits,
        timings=_timings(recorded, outcome),
        failure=failure,
        output=tuple(happened.outputs),
        warnings=tuple(happened.warnings),
        tensors=tuple(tensors(seen, recorded.later_words, ids, names)),
        variables=tuple(variables(recorded, ids)),
        ops=tuple(_called(made, inside, source, calls, seen_modules, partial(name_of, recorded, ids, names))),
        nodes=nodes(recorded, ids),
        passes=tuple(engine.by_number.values()),
        updates=tuple(updates(recorded, ids, source, names)),
        modules=seen_modules,
        checks=tuple(checks(recorded, ids)),
        jacobians=tuple(jacobians(recorded, ids)),
        surface=surface(recorded, ids),
        walks=tuple(module_walks(recorded, ids)),
        python_calls=tuple(python_calls(recorded, ids)),
        calls=calls,
        hooks=tuple(hook_calls(recorded, ids, engine.by_number)),
        memory=(),
        gaps=tuple(happened.gaps),
        batches=tuple(happened.batches),
        timeline=(*happened.steps, *_failure_step(failure)),
        findings=tuple(_findings(recorded)),
        truncated=tuple(_truncated(recorded, engine.by_number, happened)),
    )
    return trace, _side_facts(recorded, ids, happened)


def _spans(recorded: Recorded, sites: Iterable[int]) -> list[Span]:
    return [recorded.spans[site] for site in sites if site in recorded.spans]


def _called(
    ops: Sequence[Op],
    inside: Container[str],
    source: SourceNames,
    calls: Iterable[ModuleCall],
    modules: Iterable[Module],
    name_of: Callable[[str], str],
) -> Iterator[Op]:
    """The ops, each with what it is to be called where its code would not say."""
    path_of = {module.id: f"{module.path}(…)" for module in modules}
    of_modules = {op: path_of[module] for op, module in inner_ends(calls).items()}
    ends = source.ends_apart(ops)
    for op in ops:
        end = ends.get(op.span, "") if op.span is not None else ""
        is_apart = op.id in inside or source.goes_through(op)
        called = of_modules.get(op.id) or (_by_itself(op, name_of) if is_apart else end)
        yield msgspec.structs.replace(op, called=called, inside=op.id in inside) if called else op


def _by_itself(op: Op, name_of: Callable[[str], str]) -> str:
    """What an op did, without the code: which sample was taken of what, else its name."""
    match op.name, op.arguments:
        case "getitem", (Argument(tensor=str(taken)), Argument(tensor=None, tensors=None, text=str(index))):
            if (name := name_of(taken)) and index.lstrip("-").isdecimal():
                return f"{name}[{index}]"
    return op.name


def _failure_step(failure: Failure | None) -> Iterator[Step]:
    if failure is not None:
        yield Step(kind="failure", op=failure.op, pass_id=failure.pass_id, span=failure.span)


def _environment(recorded: Recorded, outcome: Outcome) -> Environment:
    started = recorded.started
    if started is None:
        return Environment(python="", torch="", engine=versions().engine, device="cpu", isolation=outcome.isolation)
    simulated = [found.parameters["devices"] for found in recorded.found if found.code == "devices_simulated"]
    return Environment(
        python=started.python,
        torch=started.torch,
        engine=versions().engine,
        device=started.device,
        numpy=started.numpy,
        cuda=started.cuda,
        threads=started.threads,
        simulated_devices=tuple(name for names in simulated for name in names.split(", ")),
        isolation=outcome.isolation,
    )


def _timings(recorded: Recorded, outcome: Outcome) -> Timings:
    if recorded.ended is not None and not outcome.timings.run_ms:
        return msgspec.structs.replace(outcome.timings, run_ms=recorded.ended.run_ms)
    return outcome.timings


def _findings(recorded: Recorded) -> Iterator[Finding]:
    """What the worker itself replaced or could not compile."""
    for event in recorded.found:
        yield Finding(
            code=event.code,
            severity=event.severity,
            span=recorded.spans.get(event.site),
            parameters=event.parameters,
            fix=tuple(
                Edit(span=Span(line=line, end_line=end_line, column=column, end_column=end), text=text)
                for line, end_line, column, end, text in event.fix
            ),
        )


def _truncated(recorded: Recorded, passes: Mapping[int, Pass], happened: Timeline) -> Iterator[Truncation]:
    for cut in recorded.omitted.values():
        yield Truncation(what=cut.what, limit=cut.limit, kept=cut.kept, omitted=cut.omitted or None)
    gaps = happened.gaps
    for what, kept, omitted in (
        ("passes", len(passes), sum(gap.passes for gap in gaps)),
        ("ops", len(recorded.ops), sum(gap.ops for gap in gaps)),
    ):
        if omitted:
            yield Truncation(what=what, limit="sample", kept=kept, omitted=omitted)
    if unseen := sum(pass_.omitted for pass_ in passes.values()):
        visited = sum(len(pass_.visits) for pass_ in passes.values())
        yield Truncation(what="visits", limit="nodes", kept=visited, omitted=unseen)
    for what, most, omitted in (
        ("modules", MOST_MODULES, recorded.modules_omitted),
        ("variables", MOST_VARIABLES, len(recorded.variables) - MOST_VARIABLES),
        ("warnings", MOST_WARNINGS, happened.warnings_omitted),
        ("texts", MOST_CHARACTERS, recorded.texts_cut),
    ):
        if omitted > 0:
            yield Truncation(what=what, limit=what, kept=most, omitted=omitted)


def _side_facts(recorded: Recorded, ids: Ids, happened: Timeline) -> SideFacts:
    return SideFacts(
        points=[
            CurvePoint(
                number=point.number,
                loss=point.loss,
                gradient_norm=point.gradient_norm,
                span=recorded.spans.get(point.site),
            )
            for point in recorded.curve
        ],
        lines_not_run=recorded.lines_not_run,
        gone=happened.gone,
        held=happened.held,
        storage_sizes={ids.storage[room.storage]: room.size_bytes for room in recorded.storage_sizes},
        arrays=[(array.name, tuple(ids.storage[number] for number in array.storages)) for array in recorded.arrays],
    )
