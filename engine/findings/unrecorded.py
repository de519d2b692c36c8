"""Leaves without gradient because nothing was recorded when they were used, `no_grad` in all its forms or asked too
late, or because what they gave was taken out of the graph."""

import ast
import math
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, Place, by_number, line, says
from engine.findings.leaves import subtraction
from engine.findings.ways import Cut, is_target, wanting_leaves
from engine.ops import COPIES, DETACHES, READS
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.program.spans import holds
from engine.program.tree import Function, covers
from engine.trace import Finding, Op, Pass, Span
from engine.trace_index import SWITCHES, is_custom
from engine.unfollowed import NOT_DIFFERENTIABLE

NO_INPUT_REQUIRES = "None of the inputs have requires_grad=True"
MOST_USES = 4
"""Of a leaf, of which it is asked whether they were in a checkpoint."""
_SWITCHES = frozenset({"no_grad", "inference_mode"})
_TAKEN_OUT = frozenset({"cut_by_numpy", "leaf_recreated", "cut_by_integer"})
"""What may also be why a pass failed that had something to start from."""


def lost_influence(diagnosis: Diagnosis, cut: Cut) -> Finding | None:
    """What is said of a cut where recording was off, the leaf was asked too late, or its value went through whole
    numbers, a NumPy array or a leaf made anew; None where the graph's own cuts tell."""
    told = _told(diagnosis, cut)
    if told is None or is_target(diagnosis, cut.op) or _is_data_of_another(diagnosis, cut):
        return None
    if any(_is_off_inside(diagnosis, call, cut.op) for call in _checkpoints(diagnosis)):
        return None  # `checkpoints_without_gradient` tells it
    return _finding(diagnosis, cut, told)


def _is_data_of_another(diagnosis: Diagnosis, cut: Cut) -> bool:
    """Whether a loss that trains another model was computed from it too: for that one it is data, and meant to be. What
    the leaf's own loss misses is then elsewhere."""
    lines = {line(pass_.span) for pass_ in cut.passes}
    return len(lines) > 1 and len({frozenset(diagnosis.held_by(step)) for step in diagnosis.steps}) > 1


def checkpoints_without_gradient(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A reentrant checkpoint that is given nothing which requires a gradient: its layers get none."""
    left = {leaf for step in diagnosis.steps for leaf in step.without_gradient} - diagnosis.fed
    calls = list(_checkpoints(diagnosis)) if left and diagnosis.lost_pass is None else []
    uses = [op for leaf in left for op in diagnosis.uses.get(leaf, ())[:MOST_USES]] if calls else []
    taken = ((call, left & _taken_inside(diagnosis, call, uses)) for call in calls)
    yield from islice((_given_nothing(diagnosis, call, leaves) for call, leaves in taken if leaves), 1)


def cut_by_checkpoint(diagnosis: Diagnosis, failed: Pass) -> Iterator[Finding]:
    """The same where it left a pass without anything to start from."""
    calls, wanting = list(_checkpoints(diagnosis)), wanting_leaves(diagnosis)
    behind = list(
        diagnosis.makers_behind(root.tensor for root in failed.roots if root.tensor is not None) if calls else ()
    )
    for call in calls:
        leaves = wanting & _taken_inside(diagnosis, call, behind)
        if leaves:
            yield _given_nothing(diagnosis, call, leaves, is_lost=True)
            return


def _taken_inside(diagnosis: Diagnosis, checkpoint: ast.Call, ops: Iterable[Op]) -> Set[str]:
    """The leaves that ops took which ran unrecorded in a checkpoint."""
    ran = (op for op in ops if _is_off_inside(diagnosis, checkpoint, op))
    return {diagnosis.identity(tensor) for op in ran for tensor in op.inputs if diagnosis.is_tracked_leaf(tensor)}


def _checkpoints(diagnosis: Diagnosis) -> Iterator[ast.Call]:
    """Those that PyTorch warned of, and the others like it: it warns once. Where warnings are silenced, the reentrant
    ones of a program in which none became a node."""
    code = diagnosis.code
    warned = (each.span for each in diagnosis.trace.warnings if NO_INPUT_REQUIRES in each.message)
    first = list(filter(None, map(code.call_at, warned)))
    yield from first
    is_silent = "torch.utils" in diagnosis.trace.program.code and not first
    if is_silent and any(node.type == "CheckpointFunctionBackward" for node in diagnosis.trace.nodes):
        return
    names = {"checkpoint"} if is_silent else set(map(called, first))
    others = (call for call in code.calls if called(call) in names and call not in first)
    yield from (call for call in others if says(call, "use_reentrant") in ("", "True"))


def _is_off_inside(diagnosis: Diagnosis, checkpoint: ast.Call, op: Op) -> bool:
    """Whether an op ran in a checkpoint, unrecorded, and no switch of the program's can be why: it has none, or none
    around the op, and recording was on around the checkpoint."""
    is_switched = diagnosis.switch_around(op) is not None or _decorator(diagnosis, op) is not None
    if op.grad_mode != "no_grad" or op.in_place or is_switched:
        return False
    places = diagnosis.op_at
    begun = (call for call in diagnosis.trace.calls if places.get(call.first_op or "", math.inf) <= places[op.id])
    around = [call for call in begun if places[op.id] <= places.get(call.last_op or "", -1)]
    span, run = diagnosis.code.span(checkpoint), next(iter(checkpoint.args), None)
    name = called(run) if isinstance(run, ast.Call) else dotted(run).rpartition(".")[2]
    given = [each for each in diagnosis.code.functions if each.name == name]
    spans = [each for each in (op.span, *(call.span for call in around)) if each is not None]
    is_inside = any(holds(span, each) or any(covers(one, each.line) for one in given) for each in spans)
    is_on = diagnosis.code.function(checkpoint) is None and diagnosis.switch_over(checkpoint) is None
    is_on = is_on or any(call.grad_mode == "grad" for call in around)
    return is_inside and (is_on or is_off_in_library(diagnosis, op))


def _given_nothing(diagnosis: Diagnosis, call: ast.Call, without: Collection[str], *, is_lost: bool = False) -> Finding:
    leaves = sorted(without, key=by_number)
    return diagnosis.finding(
        "checkpoint_without_gradient",
        "error" if is_lost else "warning",
        call,
        tensors=leaves[:8],
        fix=(diagnosis.code.argument_set(call, "use_reentrant", "False"),),
        names=diagnosis.say_all(leaves),
        is_lost=str(int(is_lost)),
    )


class _Told(NamedTuple):
    """What is said of a cut, and where."""

    code: str
    place: Place
    fix: Edits = ()
    name: str = ""
    decorator: str = ""


def _told(diagnosis: Diagnosis, found: Cut) -> _Told | None:
    cut, leaves = found.op, found.leaves
    result, call = diagnosis.output_of(cut), diagnosis.code.call_at(cut.span)
    is_taken_out = cut.name in DETACHES | COPIES | READS
    if found.is_array:
        return _Told("cut_by_numpy", cut.span)
    statement = diagnosis.code.statement_at(cut.span)
    if found.root is not None and isinstance(statement, ast.Assign) and _asks(statement.value):
        name = dotted(statement.targets[0]) or diagnosis.say(found.root)
        return _Told("leaf_recreated", statement.value, _kept(diagnosis, cut), name)
    if result is not None and diagnosis.is_tracked_leaf(result.id) and is_taken_out:
        if call is None or called(call) != cut.name:
            return None
        return _Told("leaf_recreated", cut.span, _kept(diagnosis, cut), diagnosis.say(result.id))
    if found.name and not found.is_direct:
        return _Told("leaf_recreated", cut.span, (), found.name)
    if cut.grad_mode != "grad":
        return _switched_off(diagnosis, cut, leaves)
    if any(map(_is_whole, _dtypes(diagnosis, cut))):
        return None if diagnosis.is_inside_library(cut) else _Told("cut_by_integer", cut.span)
    asked = _asked_after(diagnosis, cut, leaves) if not is_taken_out else None
    return _Told("asked_too_late", asked) if asked is not None else None


def _asks(node: ast.expr) -> bool:
    """Whether an expression makes a leaf of its own."""
    return isinstance(node, ast.Call) and (
        keyword(node, "requires_grad") is not None or called(node) in ("requires_grad_", "Variable")
    )


def _switched_off(diagnosis: Diagnosis, cut: Op, leaves: Sequence[str]) -> _Told | None:
    if is_off_in_library(diagnosis, cut):
        return None
    rebound = _rebound(diagnosis, cut, leaves)
    if rebound is not None:
        return _Told("rebound_without_graph", cut.span, rebound[1], rebound[0])
    decorator, switch = _decorator(diagnosis, cut), _left_off(diagnosis, cut)
    if decorator is not None:
        fix = diagnosis.code.decorator_removed(decorator)
        return _Told("cut_by_decorator", decorator, fix, decorator=diagnosis.code.short(decorator))
    if switch is not None:
        roots = [root.tensor for root in diagnosis.lost_pass.roots] if diagnosis.lost_pass is not None else []
        return _Told("recording_switched_off", switch, name=diagnosis.say(next(iter(roots), leaves[0])))
    is_parameter = any(map(diagnosis.is_parameter, leaves))  # of other leaves the graph's own cuts tell
    return _Told("cut_by_no_grad", cut.span) if is_parameter else None


def is_off_in_library(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether not the program but the library that it called turned recording off, as `sample()` does."""
    call = diagnosis.code.call_at(op.span)
    is_drawn = call is not None and called(call) == "sample"
    return op.grad_mode != "grad" and (is_drawn or not any(word in diagnosis.trace.program.code for word in SWITCHES))


def _dtypes(diagnosis: Diagnosis, op: Op) -> list[str]:
    return [diagnosis.tensors[output].dtype for output in op.outputs if output in diagnosis.tensors]


def _is_whole(dtype: str) -> bool:
    return dtype.startswith(NOT_DIFFERENTIABLE)


def _finding(diagnosis: Diagnosis, found: Cut, told: _Told) -> Finding:
    cut, leaves = found.op, found.leaves
    lost = diagnosis.lost_pass
    blamed = diagnosis.failed_pass() if told.code in _TAKEN_OUT else lost
    dtypes = sorted(_dtypes(diagnosis, cut), key=_is_whole, reverse=True)
    asked = [asked for asked in lost.inputs or () if asked] if lost and _is_off_around(diagnosis, cut) else []
    return diagnosis.finding(
        told.code,
        "warning" if blamed is None else "error",
        told.place,
        tensors=(*leaves[:8], *cut.outputs[:1]),
        fix=told.fix,
        leaf=diagnosis.say_all(asked or leaves),
        name=told.name or diagnosis.say(leaves[0]),
        op=cut.name,
        **({} if told.code == "leaf_recreated" else {"code": diagnosis.code.excerpt(cut.span)}),
        value=diagnosis.say(cut.inputs[0]) if cut.inputs and told.code != "leaf_recreated" else "",
        dtype=next(iter(dtypes), ""),
        decorator=told.decorator,
        **(switched(diagnosis, cut) if told.code == "cut_by_no_grad" else {}),
        is_number=str(int(not any(map(diagnosis.is_tracked, cut.inputs)))),
        is_function=str(int(is_custom(cut))),
        is_nested=str(int(told.code == "leaf_recreated" and _is_of_rows(diagnosis, cut))),
        **_hidden_at(diagnosis, found.root),
        used_line=line(lost.span if lost is not None and told.code != "asked_too_late" else cut.span),
    )


def _is_of_rows(diagnosis: Diagnosis, cut: Op) -> bool:
    """Whether it made a matrix, or more, of single tensors."""
    result = diagnosis.output_of(cut)
    return cut.name == "tensor" and len(cut.inputs) > 1 and result is not None and len(result.shape) > 1


def _hidden_at(diagnosis: Diagnosis, root: str | None) -> dict[str, str]:
    """The line on which what a pass starts from was told to require a gradient."""
    names = diagnosis.tensors[root].names if root in diagnosis.tensors else ()
    asked = (
        one for one in diagnosis.code.bindings if dotted(one.targets[0]) in {f"{name}.requires_grad" for name in names}
    )
    at = next((str(one.lineno) for one in asked if diagnosis.code.text(one.value) == "True"), "")
    return {"is_hidden": str(int(bool(at))), "asked_line": at}


def _is_off_around(diagnosis: Diagnosis, cut: Op) -> bool:
    """Whether it ran in a function that differentiates what it computed and was called where recording is off."""
    code, lost = diagnosis.code, diagnosis.lost_pass
    places = [code.statement_at(span) for span in (cut.span, lost.span)] if lost and lost.kind == "grad" else []
    functions = {code.function(place) if place is not None else None for place in places}
    is_within = len(functions) == 1 and None not in functions
    return is_within and cut.grad_mode == "no_grad" and diagnosis.switch_around(cut) is None


def _kept(diagnosis: Diagnosis, cut: Op) -> Edits:
    """The tensor itself in place of `t.detach().requires_grad_()`, and `torch.stack(those)` in that of
    `torch.tensor(those, requires_grad=True)`."""
    code = diagnosis.code
    call = code.call_at(cut.span)
    method = code.parents.get(call) if call is not None else None
    match call, method, code.parents.get(method) if method is not None else None:
        case (
            ast.Call(func=ast.Attribute(attr="detach", value=inner)),
            ast.Attribute(attr="requires_grad_"),
            ast.Call() as whole,
        ):
            return (code.replace(whole, code.text(inner)),)
        case ast.Call(args=[inner, *_]) as made, _, _ if cut.name == "tensor" and cut.arguments[0].tensors:
            shapes = {diagnosis.tensors[given].shape for given in cut.inputs if given in diagnosis.tensors}
            word = {(): "stack", (1,): "cat"}.get(shapes.pop(), "") if len(shapes) == 1 else ""
            result, has_numbers = diagnosis.output_of(cut), None in cut.arguments[0].tensors
            text = _put_together(diagnosis, inner, word, len(result.shape) if result is not None else 0)
            return (code.replace(made, text),) if word and text and not has_numbers else ()
    return ()


def _put_together(diagnosis: Diagnosis, tensors: ast.expr, word: str, axes: int) -> str:
    """What makes one tensor of a row of tensors, or of rows that are written out; empty where it would take more."""
    if axes == 1:
        return f"torch.{word}({diagnosis.code.text(tensors)})"
    rows = tensors.elts if axes == 2 and isinstance(tensors, ast.List | ast.Tuple) else ()
    return f"torch.stack([{', '.join(f'torch.{word}({diagnosis.code.text(row)})' for row in rows)}])" if rows else ""


def _rebound(diagnosis: Diagnosis, cut: Op, leaves: Sequence[str]) -> tuple[str, Edits] | None:
    """`w = w - lr * w.grad` under no_grad: the name, which was the leaf's, and the same update in place."""
    statement = diagnosis.code.statement_at(cut.span)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    name = dotted(statement.targets[0])
    taken = {diagnosis.identity(input_) for input_ in cut.inputs} & set(leaves)
    had = {each.rpartition(".")[2] for leaf in taken for each in diagnosis.tensors[leaf].names}
    if not name or name.rpartition(".")[2] not in had:
        return None
    if update := subtraction(diagnosis.code, statement):
        return name, (diagnosis.code.replace(statement, update),)
    return (name, ()) if any(dotted(node) == name for node in ast.walk(statement.value)) else None


def _decorator(diagnosis: Diagnosis, cut: Op) -> ast.expr | None:
    """`@torch.no_grad()` of the function that an op ran in."""
    statement = diagnosis.code.statement_at(cut.span)
    if statement is None or diagnosis.switch_around(cut) is not None:
        return None
    around = list(diagnosis.code.around(statement))
    decorators = (expression for above in around if isinstance(above, Function) for expression in above.decorator_list)
    return next((expression for expression in decorators if _name_of(expression) in _SWITCHES), None)


def _name_of(decorator: ast.expr) -> str:
    return called(decorator) if isinstance(decorator, ast.Call) else dotted(decorator).rpartition(".")[2]


def switched(diagnosis: Diagnosis, cut: Op) -> dict[str, str]:
    """What switched recording off for an op, as the program writes it, and whether its function needs recording."""
    code, block, is_own = diagnosis.code, diagnosis.switch_around(cut), _is_off_around(diagnosis, cut)
    marked = [(one, mark) for one in code.functions for mark in one.decorator_list if _name_of(mark) in _SWITCHES]
    others = [one for one in code.calls if called(one) in SWITCHES and one not in [mark for _, mark in marked]]
    is_marked = not is_own and block is None and len(marked) == 1 and not others
    switch = marked[0][1] if is_marked else block
    lost = diagnosis.lost_pass
    ended = code.statement_at(lost.span) if lost is not None else None
    blocks = [one for one in code.around(ended) if isinstance(one, ast.With)] if ended is not None else []
    switches = [item.context_expr for one in blocks for item in one.items if isinstance(item.context_expr, ast.Call)]
    is_both = not is_own and not is_marked and any(called(one) in SWITCHES for one in switches)
    return {
        "switch": code.short(switch) if switch is not None else "torch.no_grad()",
        "is_own": str(int(is_own)),
        "is_marked": str(int(is_marked)),
        "is_block": str(int(not is_own and not is_marked and not is_both)),
        "is_both": str(int(is_both)),
        "pass_line": line(lost.span if lost is not None else cut.span),
        "function": marked[0][0].name if is_marked else "–",
        "marked_line": str(marked[0][0].lineno) if is_marked else line(cut.span),
    }


def _left_off(diagnosis: Diagnosis, cut: Op) -> ast.Call | None:
    """`torch.set_grad_enabled(False)` as a statement of its own, with nothing around the op that explains it better."""
    code = diagnosis.code
    if code.statement_at(cut.span) is None or diagnosis.switch_around(cut) is not None:
        return None
    statements = (call for call in code.calls if isinstance(code.parents.get(call), ast.Expr))
    off = [call for call in statements if code.text(call).endswith("set_grad_enabled(False)")]
    calls = list(filter(diagnosis.has_run, off))
    return calls[0] if len(calls) == 1 else None


def _asked_after(diagnosis: Diagnosis, cut: Op, leaves: Sequence[str]) -> Span | None:
    """Where one of the leaves was told to require a gradient, when that was after the op."""
    code, now = diagnosis.code, diagnosis.op_at[cut.id]
    for op in diagnosis.ops_named(("requires_grad_",)):
        if diagnosis.op_at[op.id] > now and any(diagnosis.identity(input_) in leaves for input_ in op.inputs):
            return op.span
    here = code.statement_at(cut.span)
    for statement in code.bindings if here is not None else ():
        target = statement.targets[0]
        if here is None or not isinstance(target, ast.Attribute) or target.attr != "requires_grad":
            continue
        is_after = statement.lineno > here.lineno and code.function(statement) is code.function(here)
        if not is_after or code.text(statement.value) != "True" or code.in_loop(statement):
            continue
        meant = {diagnosis.identity(tensor.id) for tensor in diagnosis.bound_to(target.value)}
        if not meant.isdisjoint(leaves):
            return code.span(statement)
    return None
