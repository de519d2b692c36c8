"""Passes that came to a saved value which was changed since."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from engine.findings.diagnosis import UNKNOWN, Diagnosis, line, walk
from engine.findings.failing.case import Case, known, only_if
from engine.findings.failing.origins import sizes
from engine.findings.failing.walked_again import Walked, last_shared, last_used, root_nodes
from engine.program.edits import Edits
from engine.program.names import called, dotted, names_read
from engine.program.rewriting import not_in_place
from engine.trace import Finding, Node, Op, Pass, Saved, Span, Tensor

_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
_CHANGED = re.compile(r"inplace operation: \[(\S+ \[([\d, ]*)\])")


class _Writer(NamedTuple):
    """What changed a tensor in place, and the version it made."""

    version: int
    name: str
    span: Span | None
    op: Op | None = None


_Stale: TypeAlias = tuple[Node, Saved, _Writer]


def saved_changed(case: Case) -> Finding:
    """A saved tensor that something wrote to before the pass came to it."""
    diagnosis, failed = case.diagnosis, known(case.diagnosis.failed_pass())
    versions, changed = _VERSIONS.search(case.failure.message), _CHANGED.search(case.failure.message)
    version, expected = (versions[1], versions[2]) if versions is not None else ("", "")
    shape = f"[{changed[2]}]" if changed is not None else ""
    stale = list(_stale(diagnosis, failed))
    found = [one for one in stale if expected in ("", str(one[1].version))]
    alike = [one for one in found if sizes(diagnosis.tensors[one[1].tensor or ""].shape) == shape] or found
    only_if(alike)
    node, saved, changer = max(alike, key=lambda one: int(one[0].sequence_nr or 0))  # the engine takes the newest first
    saver = _saver(diagnosis, node)
    layers = _layers(diagnosis, saver, changer.op)
    record = diagnosis.tensors[saved.tensor or ""]
    is_update = changer.op is None or diagnosis.is_tracked_leaf(diagnosis.identity(record.base or record.id))
    code = "saved_changed_by_step" if is_update else "changed_by_layer" if layers else ""
    old = _walked_before(diagnosis, failed) if is_update else None
    if old is not None and (old.turn or old.is_kept):
        code = "saved_changed_in_loop" if old.turn == "carried" else "saved_changed_since"
        layers = {"shared": old.name, "shared_line": line(old.place), "cut": old.detaching(), **old.where_to_cut()}
    elif is_update:
        layers = _to_repeat(case, failed, (one[0] for one in found), changer.span)
    name, written_to = _named(diagnosis, saved.tensor), case.code.statement_at(changer.span)
    if saver is not None and case.code.statement_at(saver.span) is written_to:
        name = _name_changed(case.code.at(changer.span), written_to) or name
    said = {
        **layers,
        **_root(case, failed),
        "name": changed[1] if name == UNKNOWN and changed is not None else name,
        "op": saver.name if saver is not None else node.type,
        "saved_line": line(saver.span if saver is not None else None),
        "change": changer.name if not is_update else case.code_excerpt(changer.span) or changer.name,
        "is_step": str(int(changer.op is None)),
        "is_part": str(int(_is_part_of_loop(case, changer.span))),
        "changed_line": line(changer.span),
        "line": line(failed.span),
        "saved_version": expected or str(saved.version),
        "version": version,
    }
    target = diagnosis.input_of(changer.op) if changer.op is not None else None
    is_whole = target is not None and target.base is None  # what is written into a view is meant for its base
    is_mended = all(other.span == changer.span for _, _, other in stale)  # else the next one stops the pass
    fix = _elsewhere(case, changer.span, saver, stale) if is_whole and is_mended and not is_update else ()
    fix = old.cut_between_turns() if old is not None and code == "saved_changed_in_loop" else fix
    tensors = (diagnosis.tensors.get(saved.tensor or ""),)
    return replace(case.finding(code, said, span=changer.span, tensors=tensors, fix=fix), nodes=(node.id,))


def _saver(diagnosis: Diagnosis, node: Node) -> Op | None:
    """The op that made a node, or the node that it is a derivative of."""
    while node.op is None and node.made_by is not None and node.made_by in diagnosis.nodes:
        node = diagnosis.nodes[node.made_by]
    return diagnosis.op_of_node(node.id)


def _to_repeat(case: Case, failed: Pass, stale: Iterable[Node], changed: Span | None) -> dict[str, str]:
    """Where to begin again once values have changed: what first saved one, or what called the module or function that
    did, as seen from the place of the change; and the lines to move, where one other function has them all."""
    diagnosis, code = case.diagnosis, case.code
    savers = [saver for node in stale if (saver := _saver(diagnosis, node)) is not None]
    first = min(savers, key=lambda op: diagnosis.op_at[op.id], default=None)
    call = diagnosis.call_around(first) if first is not None else None
    begun = call.span if call is not None and call.span is not None else first.span if first is not None else None
    maker = diagnosis.maker.get(failed.roots[0].tensor or "") if failed.roots else None
    nodes = [code.at(span) for span in (begun, maker.span if maker is not None else None)]
    homes = [code.function(node) if node is not None else None for node in nodes]
    again, writer = begun, code.at(changed)
    seen = set(code.around(writer)) if writer is not None else set()
    while (node := code.at(again)) is not None and (around := code.function(node)) is not None and around not in seen:
        seen.add(around)
        if (only := code.only_call(around)) is None:
            break
        again = code.span(only)
    is_apart = again != begun and homes[0] is homes[1] and int(line(begun)) <= int(line(maker.span if maker else begun))
    return {"again_line": line(again), "first_line": line(begun), "is_apart": str(int(is_apart))}


def _is_part_of_loop(case: Case, span: Span | None) -> bool:
    """Whether each turn of a loop writes a part of its own into one tensor."""
    written, code = case.code.at(span), case.code
    loop = code.enclosing(written, ast.For) if isinstance(written, ast.Subscript) else None
    bound = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)} if loop is not None else set()
    return isinstance(written, ast.Subscript) and not bound.isdisjoint(names_read(written.slice))


def _root(case: Case, failed: Pass) -> dict[str, str]:
    """What a pass starts from, and the line that computed it."""
    root = failed.roots[0].tensor if failed.roots else None
    maker, name = case.diagnosis.maker.get(root or ""), case.diagnosis.say(root)
    root_line = line(maker.span if maker is not None and maker.span is not None else failed.span)
    return {"root": case.code_excerpt(failed.span) if name == UNKNOWN else name, "root_line": root_line}


def _walked_before(diagnosis: Diagnosis, failed: Pass) -> Walked | None:
    """What an earlier pass of the same line walked and kept, and the failed one walks again."""
    reached = diagnosis.reached_from(root_nodes(failed))
    before = [
        one for one in diagnosis.trace.passes if one.span == failed.span and one.retain_graph and one is not failed
    ]
    shared = last_shared(diagnosis, before[-1], reached) if before else None
    return Walked(diagnosis, before[-1], failed, shared, last_used(diagnosis, shared)) if shared is not None else None


def _named(diagnosis: Diagnosis, tensor: str | None) -> str:
    """What to call a saved tensor; a view without a name, as a layer makes of its weight, goes by its base."""
    record = diagnosis.tensors.get(tensor or "")
    base = diagnosis.say(record.base) if record is not None and not record.names else UNKNOWN
    return diagnosis.say(tensor) if base == UNKNOWN else base


def _layers(diagnosis: Diagnosis, saver: Op | None, changer: Op | None) -> dict[str, str]:
    """The two layers of a model that are at odds, when no line of the program stands between them."""
    if saver is None or changer is None or saver.span != changer.span or saver.module == changer.module:
        return {}
    first, second = diagnosis.modules.get(saver.module or ""), diagnosis.modules.get(changer.module or "")
    return {"saver": first.path, "layer": second.path} if first is not None and second is not None else {}


def _elsewhere(case: Case, span: Span | None, saver: Op | None, stale: Iterable[_Stale]) -> Edits:
    """The same change written into a new tensor, so that the saved one stays; what the changing line itself has saved
    is read from a copy. Or a layer's `inplace=True` taken back."""
    code = case.code
    node, statement = code.at(span), code.statement_at(span)
    name = _name_changed(node, statement)
    if name and statement is not None and code.stands_alone(statement):
        copied = (code.line_above(statement, f"{name} = {name}.clone()"), *_detached_anew(case, name))
        if saver is None or code.statement_at(saver.span) is not statement:
            return copied
        if isinstance(statement, ast.AugAssign | ast.Expr):
            return not_in_place(code, statement)
        parts = ast.walk(statement.value) if isinstance(statement, ast.Assign) else ()
        read = [code.after(each, ".clone()") for each in parts if isinstance(each, ast.Name) and each.id == name]
        is_only = all(_is_read_at(case, node, saved, statement) for node, saved, _ in stale)
        return tuple(read) if is_only else (*copied, *read) if read else ()
    asked = [word for call in code.calls for word in call.keywords if code.text(word) == "inplace=True"]
    return (code.replace(asked[0], "inplace=False"),) if isinstance(node, ast.Call) and len(asked) == 1 else ()


def _detached_anew(case: Case, name: str) -> Edits:
    """Each `x.detach_()` of a name as `x = x.detach()`: of what is saved, PyTorch refuses the former too."""
    calls = [one for one in case.code.calls if called(one) == "detach_" and dotted(one.func) == f"{name}.detach_"]
    alone = [one for one in calls if isinstance(case.code.parents.get(one), ast.Expr)]
    return tuple(case.code.replace(one, f"{name} = {name}.detach()") for one in alone)


def _is_read_at(case: Case, node: Node, saved: Saved, statement: ast.stmt) -> bool:
    """Whether the statement that saved a tensor is a given one, which took it from a name there, in no earlier line."""
    saver, maker = _saver(case.diagnosis, node), case.diagnosis.maker.get(saved.tensor or "")
    record = case.diagnosis.tensors.get(saved.tensor or "")
    is_part = record is not None and record.base is not None
    ways = [saver, maker] if is_part else [saver]
    return all(op is not None and case.code.statement_at(op.span) is statement for op in ways)


def _name_changed(node: ast.AST | None, statement: ast.stmt | None) -> str:
    """The name whose tensor a whole statement changes."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name)) if node is statement:
            return name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) as call):
            return name if call is node and method.endswith("_") else ""
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)), *_]):
            return name
    return ""


def _stale(diagnosis: Diagnosis, failed: Pass) -> Iterator[_Stale]:
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
    for record, writer in _writes(diagnosis):
        for identity in by_storage.get(record.storage or "", {record.identity or record.id}):
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
                yield record, _Writer(record.version, f"{step.variable or step.optimizer}.step()", step.span)
