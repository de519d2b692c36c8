"""Passes that could not run, and gradients that were asked for where none is kept."""

import ast
import math
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, line, walk
from engine.findings.failing.case import Case
from engine.program.names import keyword
from engine.program.source import Source
from engine.trace import Edit, Finding, Node, Op, Pass, Saved, Span, Tensor

SECOND_TIME = "backward through the graph a second time"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
CHANGED = "modified by an inplace operation"
NOT_LEAF = "that is not a leaf Tensor is being accessed"
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")


def failed_passes(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Why the last pass raised."""
    failed, failure = diagnosis.failed_pass(), diagnosis.trace.failure
    if failure is None:
        return
    if NOT_SCALAR in failure.message:
        yield from _not_scalar(Case(diagnosis, failure))
    elif failed is None:
        return
    elif SECOND_TIME in failure.message:
        yield from _second_time(diagnosis, failed)
    elif CHANGED in failure.message:
        yield from _saved_changed(diagnosis, failed, failure.message)


def _second_time(diagnosis: Diagnosis, failed: Pass) -> Iterator[Finding]:
    reached = diagnosis.reached_from(root.node for root in failed.roots if root.node is not None)
    before = [
        pass_
        for pass_ in diagnosis.trace.passes
        if pass_.id != failed.id
        and not pass_.failed
        and not pass_.retain_graph
        and _ran_any_of(diagnosis, pass_, reached)
    ]
    if before:
        first = before[-1]
        shared = _shared(diagnosis, first, reached)
        code, where = "second_backward", failed.span
        again = {root.node for root in failed.roots} <= {root.node for root in first.roots}
        in_loop = (
            diagnosis.code.in_loop(there) if (there := diagnosis.code.statement_at(failed.span)) is not None else True
        )
        if first.span == failed.span and shared is not None and (in_loop or not again):
            carried = _in_loop_of(diagnosis, shared, failed)
            code, where = "second_backward_in_loop" if carried else "made_before_loop", shared.span or failed.span
        yield diagnosis.finding(
            code,
            "error",
            where,
            tensors=tuple(root.tensor for root in failed.roots if root.tensor is not None),
            nodes=tuple(root.node for root in failed.roots if root.node is not None),
            fix=_retained(diagnosis, first) if len(before) == 1 and first.span != failed.span else (),
            first_line=line(first.span),
            line=line(failed.span),
            shared=diagnosis.say(_carried(diagnosis, shared)) if shared is not None else "?",
            shared_line=line(shared.span) if shared is not None else "?",
            used_line=line(failed.span),
        )


def _carried(diagnosis: Diagnosis, shared: Op) -> str | None:
    """The output that was used last: of a recurrent layer the state goes on, not the result of the turn."""
    own = {diagnosis.identity(output): output for output in shared.outputs}
    for op in reversed(diagnosis.trace.ops[diagnosis.op_at[shared.id] :]):
        for input_ in op.inputs:
            if diagnosis.identity(input_) in own and op.id != shared.id:
                return input_
    return shared.outputs[0] if shared.outputs else None


def _in_loop_of(diagnosis: Diagnosis, op: Op, failed: Pass) -> bool:
    """Whether an op stands in the loop that a pass stands in, so that each turn runs it again."""
    code = diagnosis.code
    here, there = code.statement_at(op.span), code.statement_at(failed.span)
    if here is None or there is None:
        return True
    loops = [node for node in code.around(there) if isinstance(node, ast.For | ast.While)]
    return not loops or loops[0] in code.around(here) or code.function(here) is not code.function(there)


def _ran_any_of(diagnosis: Diagnosis, pass_: Pass, nodes: set[str]) -> bool:
    return any(visit.node in nodes and diagnosis.nodes[visit.node].variable is None for visit in pass_.visits)


def _shared(diagnosis: Diagnosis, first: Pass, reached: set[str]) -> Op | None:
    """The last op of the part of the graph that both passes walk: where the new graph hangs on the old one."""
    ops = [
        op for visit in first.visits if visit.node in reached and (op := diagnosis.op_of_node(visit.node)) is not None
    ]
    return max(ops, key=lambda op: diagnosis.op_at[op.id], default=None)


def _retained(diagnosis: Diagnosis, first: Pass) -> tuple[Edit, ...]:
    """Keeping the graph in the first pass; where memory matters, one pass over the sum is better."""
    code = diagnosis.code
    call = code.call_at(first.span)
    if call is None or keyword(call, "retain_graph") is not None:
        return ()
    return (code.argument_added(call, "retain_graph=True"),)


def _not_scalar(case: Case) -> Iterator[Finding]:
    """PyTorch refuses before the engine starts, so the tensor is found by what was written before `.backward`."""
    call = case.call
    receiver = None
    if call is not None:
        is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "backward" and not call.args
        first = call.args[0] if call.args else None
        receiver = call.func.value if is_method and isinstance(call.func, ast.Attribute) else first
    tensor = case.tensor_of(receiver)
    if receiver is None or tensor is None or math.prod(tensor.shape) == 1:
        return
    yield Finding(
        code="non_scalar_backward",
        severity="error",
        span=case.failure.span,
        tensors=(tensor.id,),
        nodes=(tensor.grad_fn.node,) if tensor.grad_fn is not None else (),
        parameters={
            "name": case.code.short(receiver),
            "shape": "×".join(map(str, tensor.shape)),
            "count": str(math.prod(tensor.shape)),
            "line": line(case.failure.span),
        },
        fix=case.code.method(receiver, ".sum()"),
    )


class _Writer(NamedTuple):
    """What changed a tensor in place, and the version it made."""

    version: int
    name: str
    span: Span | None
    op: Op | None = None


def _saved_changed(diagnosis: Diagnosis, failed: Pass, message: str) -> Iterator[Finding]:
    versions = _VERSIONS.search(message)
    for node, saved, changer in _stale(diagnosis, failed):
        if versions is not None and saved.version is not None and int(versions[2]) != saved.version:
            continue
        saver = diagnosis.op_of_node(node.id)
        layers = _layers(diagnosis, saver, changer.op)
        yield diagnosis.finding(
            "saved_changed_by_step" if changer.op is None else "changed_by_layer" if layers else "saved_tensor_changed",
            "error",
            changer.span,
            tensors=(saved.tensor,) if saved.tensor is not None else (),
            nodes=(node.id,),
            fix=_elsewhere(diagnosis, changer.op) if changer.op is not None else (),
            name=_named(diagnosis, saved.tensor),
            **layers,
            op=saver.name if saver is not None else node.type,
            saved_line=line(saver.span if saver is not None else None),
            change=changer.name,
            code=diagnosis.code.excerpt(changer.span),
            changed_line=line(changer.span),
            line=line(failed.span),
            saved_version=versions[2] if versions is not None else str(saved.version),
            version=versions[1] if versions is not None else "",
        )
        return


def _named(diagnosis: Diagnosis, tensor: str | None) -> str:
    """What to call a saved tensor; a view without a name, as a layer makes of its weight, goes by its base."""
    record = diagnosis.tensors.get(tensor or "")
    if record is not None and not record.names and record.base is not None and diagnosis.has_names(record.base):
        return diagnosis.say(record.base)
    return diagnosis.say(tensor)


def _layers(diagnosis: Diagnosis, saver: Op | None, changer: Op | None) -> dict[str, str]:
    """The two layers of a model that are at odds, when no line of the program stands between them."""
    if saver is None or changer is None or saver.span != changer.span or saver.module == changer.module:
        return {}
    first, second = diagnosis.modules.get(saver.module or ""), diagnosis.modules.get(changer.module or "")
    return {"saver": first.path, "layer": second.path} if first is not None and second is not None else {}


def _elsewhere(diagnosis: Diagnosis, changer: Op) -> tuple[Edit, ...]:
    """The same change written into a new tensor, so that the saved one stays."""
    code = diagnosis.code
    node = code.at(changer.span)
    statement = code.statement(node) if node is not None else None
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return (code.line_above(node, f"{node.target.id} = {node.target.id}.clone()"),) if _alone(code, node) else ()
    if isinstance(node, ast.Call) and isinstance(statement, ast.Expr) and statement.value is node:
        func = node.func
        method = isinstance(func, ast.Attribute) and func.attr.endswith("_") and _alone(code, statement)
        if method and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            return (code.line_above(statement, f"{func.value.id} = {func.value.id}.clone()"),)
    if (
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Subscript)
        and _alone(code, statement)
    ):
        owner = statement.targets[0].value
        if isinstance(owner, ast.Name):
            return (code.line_above(statement, f"{owner.id} = {owner.id}.clone()"),)
    return _not_in_place(diagnosis, code, node)


def _alone(code: Source, statement: ast.stmt) -> bool:
    """Whether nothing but its margin stands before it."""
    span = code.span(statement)
    return not code.lines[span.line - 1][: span.column].strip()


def _not_in_place(diagnosis: Diagnosis, code: Source, node: ast.AST | None) -> tuple[Edit, ...]:
    """A module or function asked to work in place: there is one `inplace=True` in the whole program."""
    asked = [
        word
        for call in code.calls
        for word in call.keywords
        if word.arg == "inplace" and isinstance(word.value, ast.Constant) and word.value.value is True
    ]
    return (code.replace(asked[0], "inplace=False"),) if isinstance(node, ast.Call) and len(asked) == 1 else ()


def _stale(diagnosis: Diagnosis, failed: Pass) -> Iterator[tuple[Node, Saved, _Writer]]:
    """Saved tensors that were written after they were saved, with the first that wrote."""
    visited = {visit.node for visit in failed.visits}
    writers = _writers(diagnosis)
    for id_ in walk((root.node for root in failed.roots if root.node is not None), diagnosis.next_nodes):
        node = diagnosis.nodes.get(id_)
        for saved in node.saved if node is not None and id_ not in visited else ():
            later = _first_after(writers.get(diagnosis.identity(saved.tensor or ""), ()), saved.version)
            if node is not None and later is not None:
                yield node, saved, later


def _first_after(writers: Iterable[_Writer], version: int | None) -> _Writer | None:
    return next((writer for writer in writers if version is not None and writer.version > version), None)


def _writers(diagnosis: Diagnosis) -> dict[str, list[_Writer]]:
    """Identity, and that of the tensors it shares storage with, to what wrote it, in order."""
    writers: dict[str, list[_Writer]] = {}
    by_storage: dict[str, set[str]] = {}
    for tensor in diagnosis.trace.tensors:
        if tensor.storage is not None:
            by_storage.setdefault(tensor.storage, set()).add(tensor.identity or tensor.id)
    for written, writer in _writes(diagnosis):
        for identity in by_storage.get(written.storage or "", {written.identity or written.id}):
            writers.setdefault(identity, []).append(writer)
    return writers


def _writes(diagnosis: Diagnosis) -> Iterator[tuple[Tensor, _Writer]]:
    """What ops in place, and then steps, have written."""
    for op in diagnosis.trace.ops:
        for output in op.outputs if op.in_place else ():
            if (record := diagnosis.tensors.get(output)) is not None:
                yield record, _Writer(record.version, op.name, op.span, op)
    for step in diagnosis.steps:
        for change in step.changes:
            if (record := diagnosis.tensors.get(change.after or "")) is not None:
                name = f"{step.variable or step.optimizer}.step()"
                yield record, _Writer(record.version, name, step.span)
