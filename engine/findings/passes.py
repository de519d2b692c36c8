"""Passes that could not run, and gradients that were asked for where none is kept."""

import ast
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, line
from engine.findings.failing.case import Case
from engine.program.names import keyword
from engine.program.source import Source
from engine.trace import Edit, Finding, Node, Op, Pass, Saved, Span

SECOND_TIME = "backward through the graph a second time"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
CHANGED = "modified by an inplace operation"
NOT_LEAF = "that is not a leaf Tensor is being accessed"
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")


def failed_passes(story: Diagnosis) -> Iterator[Finding]:
    """Why the last pass raised."""
    failed, failure = story.failed_pass(), story.trace.failure
    if failure is None:
        return
    if NOT_SCALAR in failure.message:
        yield from _not_scalar(Case(story, failure))
    elif failed is None:
        return
    elif SECOND_TIME in failure.message:
        yield from _second_time(story, failed)
    elif CHANGED in failure.message:
        yield from _saved_changed(story, failed, failure.message)


def _second_time(story: Diagnosis, failed: Pass) -> Iterator[Finding]:
    reached = story.reached_from(root.node for root in failed.roots if root.node is not None)
    before = [
        pass_
        for pass_ in story.trace.passes
        if pass_.id != failed.id and not pass_.failed and not pass_.retain_graph and _ran_any_of(story, pass_, reached)
    ]
    if before:
        first = before[-1]
        shared = _shared(story, first, reached)
        code, where = "second_backward", failed.span
        again = {root.node for root in failed.roots} <= {root.node for root in first.roots}
        in_loop = story.code.in_loop(there) if (there := story.code.statement_at(failed.span)) is not None else True
        if first.span == failed.span and shared is not None and (in_loop or not again):
            carried = _in_loop_of(story, shared, failed)
            code, where = "second_backward_in_loop" if carried else "made_before_loop", shared.span or failed.span
        yield Finding(
            code=code,
            severity="error",
            span=where,
            tensors=tuple(root.tensor for root in failed.roots if root.tensor is not None),
            nodes=tuple(root.node for root in failed.roots if root.node is not None),
            parameters={
                "first_line": line(first.span),
                "line": line(failed.span),
                "shared": story.say(_carried(story, shared)) if shared is not None else "?",
                "shared_line": line(shared.span) if shared is not None else "?",
                "used_line": line(failed.span),
            },
            fix=_retained(story, first) if len(before) == 1 and first.span != failed.span else (),
        )


def _carried(story: Diagnosis, shared: Op) -> str | None:
    """The output that was used last: of a recurrent layer the state goes on, not the result of the turn."""
    own = {story.identity(output): output for output in shared.outputs}
    for op in reversed(story.trace.ops[story.op_at[shared.id] :]):
        for input_ in op.inputs:
            if story.identity(input_) in own and op.id != shared.id:
                return input_
    return shared.outputs[0] if shared.outputs else None


def _in_loop_of(story: Diagnosis, op: Op, failed: Pass) -> bool:
    """Whether an op stands in the loop that a pass stands in, so that each turn runs it again."""
    code = story.code
    here, there = code.statement_at(op.span), code.statement_at(failed.span)
    if here is None or there is None:
        return True
    loops = [node for node in code.around(there) if isinstance(node, ast.For | ast.While)]
    return not loops or loops[0] in code.around(here) or code.function(here) is not code.function(there)


def _ran_any_of(story: Diagnosis, pass_: Pass, nodes: set[str]) -> bool:
    return any(visit.node in nodes and story.nodes[visit.node].variable is None for visit in pass_.visits)


def _shared(story: Diagnosis, first: Pass, reached: set[str]) -> Op | None:
    """The last op of the part of the graph that both passes walk: where the new graph hangs on the old one."""
    ops = [op for visit in first.visits if visit.node in reached and (op := story.op_of_node(visit.node)) is not None]
    return max(ops, key=lambda op: story.op_at[op.id], default=None)


def _retained(story: Diagnosis, first: Pass) -> tuple[Edit, ...]:
    """Keeping the graph in the first pass; where memory matters, one pass over the sum is better."""
    code = story.code
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


def _saved_changed(story: Diagnosis, failed: Pass, message: str) -> Iterator[Finding]:
    versions = _VERSIONS.search(message)
    for node, saved, changer in _stale(story, failed):
        if versions is not None and saved.version is not None and int(versions[2]) != saved.version:
            continue
        saver = story.op_of_node(node.id)
        layers = _layers(story, saver, changer.op)
        yield Finding(
            code="saved_changed_by_step"
            if changer.op is None
            else "changed_by_layer"
            if layers
            else "saved_tensor_changed",
            severity="error",
            span=changer.span,
            tensors=(saved.tensor,) if saved.tensor is not None else (),
            nodes=(node.id,),
            parameters={
                "name": _named(story, saved.tensor),
                **layers,
                "op": saver.name if saver is not None else node.type,
                "saved_line": line(saver.span if saver is not None else None),
                "change": changer.name,
                "code": story.code.excerpt(changer.span),
                "changed_line": line(changer.span),
                "line": line(failed.span),
                "saved_version": versions[2] if versions is not None else str(saved.version),
                "version": versions[1] if versions is not None else "",
            },
            fix=_elsewhere(story, changer.op) if changer.op is not None else (),
        )
        return


def _named(story: Diagnosis, tensor: str | None) -> str:
    """What to call a saved tensor; a view without a name, as a layer makes of its weight, goes by its base."""
    record = story.tensors.get(tensor or "")
    if record is not None and not record.names and record.base is not None and story.has_names(record.base):
        return story.say(record.base)
    return story.say(tensor)


def _layers(story: Diagnosis, saver: Op | None, changer: Op | None) -> dict[str, str]:
    """The two layers of a model that are at odds, when no line of the program stands between them."""
    if saver is None or changer is None or saver.span != changer.span or saver.module == changer.module:
        return {}
    first, second = story.modules.get(saver.module or ""), story.modules.get(changer.module or "")
    return {"saver": first.path, "layer": second.path} if first is not None and second is not None else {}


def _elsewhere(story: Diagnosis, changer: Op) -> tuple[Edit, ...]:
    """The same change written into a new tensor, so that the saved one stays."""
    code = story.code
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
    return _not_in_place(story, code, node)


def _alone(code: Source, statement: ast.stmt) -> bool:
    """Whether nothing but its margin stands before it."""
    span = code.span(statement)
    return not code.lines[span.line - 1][: span.column].strip()


def _not_in_place(story: Diagnosis, code: Source, node: ast.AST | None) -> tuple[Edit, ...]:
    """A module or function asked to work in place: there is one `inplace=True` in the whole program."""
    asked = [
        word
        for call in code.calls
        for word in call.keywords
        if word.arg == "inplace" and isinstance(word.value, ast.Constant) and word.value.value is True
    ]
    return (code.replace(asked[0], "inplace=False"),) if isinstance(node, ast.Call) and len(asked) == 1 else ()


def _stale(story: Diagnosis, failed: Pass) -> Iterator[tuple[Node, Saved, _Writer]]:
    """Saved tensors that were written after they were saved, with the first that wrote."""
    visited = {visit.node for visit in failed.visits}
    pending = [root.node for root in failed.roots if root.node is not None]
    seen = set(pending)
    writers = _writers(story)
    while pending:
        node = story.nodes.get(pending.pop())
        if node is None:
            continue
        if node.id not in visited:
            for saved in node.saved:
                if saved.tensor is not None and saved.version is not None:
                    for writer in writers.get(story.identity(saved.tensor), ()):
                        if writer.version > saved.version:
                            yield node, saved, writer
                            break
        for edge in node.edges:
            if edge.to is not None and edge.to not in seen:
                seen.add(edge.to)
                pending.append(edge.to)


def _writers(story: Diagnosis) -> dict[str, list[_Writer]]:
    """Identity, and that of the tensors it shares storage with, to what wrote it, in order."""
    writers: dict[str, list[_Writer]] = {}
    by_storage: dict[str, set[str]] = {}
    for tensor in story.trace.tensors:
        if tensor.storage is not None:
            by_storage.setdefault(tensor.storage, set()).add(tensor.identity or tensor.id)
    for op in story.trace.ops:
        for output in op.outputs if op.in_place else ():
            record = story.tensors.get(output)
            if record is not None:
                for identity in by_storage.get(record.storage or "", {record.identity or record.id}):
                    writers.setdefault(identity, []).append(_Writer(record.version, op.name, op.span, op))
    for update in story.trace.updates:
        for change in update.changes if update.kind == "step" else ():
            record = story.tensors.get(change.after or "")
            if record is not None:
                name = f"{update.variable or update.optimizer}.step()"
                for identity in by_storage.get(record.storage or "", {record.identity or record.id}):
                    writers.setdefault(identity, []).append(_Writer(record.version, name, update.span))
    return writers
