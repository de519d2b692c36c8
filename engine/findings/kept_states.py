"""Weights that were kept or copied and share their memory with what they were to be a copy of."""

import ast
from collections.abc import Iterator
from itertools import combinations

from engine.findings.diagnosis import Diagnosis, line
from engine.program.names import called, dotted, names_read
from engine.program.source import Source
from engine.program.tree import Loop, assigned
from engine.trace import Finding, Op, Tensor

GIVES_ITSELF = frozenset("to cuda cpu float double train eval requires_grad_".split())
"""Methods of a model that give back the model."""


def copied_onto_themselves(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Tensors written from their own memory: what was kept of a model in a `state_dict()` or as `p.data` went on being
    trained, or two names stand for one model, as where a target network was never copied."""
    told: set[tuple[str, str]] = set()
    for op in diagnosis.ops_named(("copy_", "add_", "lerp_")) if diagnosis.moves else ():
        target, source = diagnosis.input_of(op), diagnosis.input_of(op, 1)
        if target is None or source is None or target.storage is None or target.storage != source.storage:
            continue
        finding = _state_shared(diagnosis, op, target, source)
        if finding is None and target.shape == source.shape and diagnosis.steps:
            finding = _two_names(diagnosis, op, target)
        key = (finding.code, finding.parameters.get("model", "")) if finding is not None else ("", "")
        if finding is not None and key not in told:
            told.add(key)
            yield finding


def states_kept_in_training(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A `state_dict()` kept in some turns of a loop that trains on and loaded after it, in a run whose last ops are not
    recorded: there the load cannot be seen to write from its own memory."""
    code = diagnosis.code
    is_cut = any(left.what == left.limit == "ops" for left in diagnosis.trace.truncated)
    for load in code.calls if is_cut else ():
        taken = _taken(code, load) if called(load) == "load_state_dict" else None
        if taken is None:
            continue
        name, model = dotted(load.args[0]), dotted(code.receiver(load))
        loop = _loop_of_choices(code, taken, load)
        if loop is None or name in names_read(loop):
            continue
        maker = next((op for op in diagnosis.ops_at(code.span(taken)) if op.inputs), None)
        weight = diagnosis.input_of(maker) if maker is not None else None
        is_same = name.isidentifier() and dotted(code.receiver(taken)) == model
        if not is_same or not diagnosis.has_run(load) or maker is None or weight is None:
            continue
        if _moved_between(diagnosis, weight, maker, diagnosis.trace.ops[-1]):
            yield _shared(diagnosis, taken, weight, load, is_dictionary=True)


def _taken(code: Source, load: ast.Call) -> ast.Call | None:
    """The `state_dict()` that is the last in its function to be kept under the name that a line loads, if only by a
    shallow copy."""
    name = dotted(load.args[0]) if load.args else ""
    kept = [value for value in code.values(name) if code.function(value) is code.function(load)]
    taken = kept[-1] if kept else None
    match taken:
        case (
            ast.Call(func=ast.Attribute(attr="copy", value=inner), args=[])
            | ast.Call(func=ast.Name(id="dict" | "copy") | ast.Attribute(attr="copy"), args=[inner])
        ):
            taken = inner
    return taken if isinstance(taken, ast.Call) and called(taken) == "state_dict" else None


def _keeper(diagnosis: Diagnosis, weight: Tensor, kept: Tensor, load: ast.Call | None) -> Op | None:
    """What kept a state; where that turn of a loop is left out, what kept the one of another turn."""
    maker = diagnosis.maker.get(diagnosis.identity(kept.id))
    taken = _taken(diagnosis.code, load) if maker is None and load is not None else None
    if maker is not None or taken is None or load is None or _loop_of_choices(diagnosis.code, taken, load) is None:
        return maker
    ops = diagnosis.ops_at(diagnosis.code.span(taken))
    return next((op for op in ops if diagnosis.identity(weight.id) in map(diagnosis.identity, op.inputs)), None)


def _state_shared(diagnosis: Diagnosis, op: Op, weight: Tensor, kept: Tensor) -> Finding | None:
    code, load = diagnosis.code, diagnosis.code.call_at(op.span)
    maker = _keeper(diagnosis, weight, kept, load)
    taken = code.at(maker.span if maker is not None else None)
    if maker is None or load is None or not load.args or not isinstance(taken, ast.expr):
        return None
    is_dictionary = isinstance(taken, ast.Call) and called(taken) == "state_dict"
    if not is_dictionary and (maker.name not in ("data", "detach") or maker.span == op.span):
        return None
    if op.name != "copy_" or not _moved_between(diagnosis, weight, _first_kept(diagnosis, taken, load, maker), op):
        return None
    return _shared(diagnosis, taken, weight, load, is_dictionary=is_dictionary)


def _first_kept(diagnosis: Diagnosis, taken: ast.expr, load: ast.Call, last: Op) -> Op:
    """What first kept the state that a line loads: where only the last turn of a loop kept it, that one; where several
    did and the last is among them, no step came after it by chance."""
    alike = (op for op in diagnosis.ops_at(last.span) if op.inputs and op.name == last.name)
    weight = diagnosis.identity(last.inputs[0])
    own = [op for op in alike if diagnosis.identity(op.inputs[0]) == weight]
    return own[0] if own and _loop_of_choices(diagnosis.code, taken, load) is not None else last


def _loop_of_choices(code: Source, taken: ast.expr, load: ast.Call) -> Loop | None:
    """The loop of which some turns, the best and not each so-manieth, keep a state that a line after it loads."""
    choice = code.enclosing(taken, ast.If)
    if choice is None or any(isinstance(node, ast.Mod) for node in ast.walk(choice.test)):
        return None
    loops = (each for each in code.loops(taken) if code.follows(each, code.statement(load)))
    return next((each for each in loops if each in code.around(choice)), None)


def _shared(diagnosis: Diagnosis, taken: ast.expr, weight: Tensor, load: ast.Call, *, is_dictionary: bool) -> Finding:
    code = diagnosis.code
    each = f"{{name: value.clone() for name, value in {code.text(taken)}.items()}}"
    copied = each if is_dictionary else f"{code.text(taken)}.clone()"
    return diagnosis.warning(
        "state_dict_shared",
        taken,
        tensors=(diagnosis.identity(weight.id),),
        fix=(code.replace(taken, copied),),
        name=code.short(load.args[0]),
        code=code.short(taken),
        load_line=str(load.lineno),
    )


def _two_names(diagnosis: Diagnosis, op: Op, target: Tensor) -> Finding | None:
    first, second = _names(diagnosis, op)
    call = diagnosis.code.call_at(op.span)
    if not first or not second:
        return None
    if first == second:
        is_load = call is not None and called(call) == "load_state_dict"
        return diagnosis.warning("loaded_from_itself", op, model=first) if is_load else None
    models = _gone_over(diagnosis.code, op, first, second)
    alias, value = _alias(diagnosis.code, *(models or (first, second)))
    is_model = (call is not None and called(call) == "load_state_dict") or (bool(models) and alias is not None)
    if models and alias is not None:
        first, second = models
    return diagnosis.warning(
        "copied_onto_itself",
        alias if alias is not None else op.span,
        tensors=(diagnosis.identity(target.id),),
        first=first,
        second=second,
        copy_line=line(op.span),
        code=diagnosis.code.excerpt(op.span),
        is_model=str(int(is_model)),
        made=diagnosis.code.short(value) if value is not None else "",
        is_returned=str(int(isinstance(value, ast.Call))),
    )


def _gone_over(code: Source, op: Op, first: str, second: str) -> tuple[str, str] | None:
    """The two models whose parameters a loop goes over side by side under two names."""
    for loop in code.loops(node) if (node := code.at(op.span)) is not None else ():
        match loop:
            case ast.For(target=ast.Tuple(elts=names), iter=ast.Call(func=ast.Name(id="zip"), args=given)):
                calls = [call for call in given if isinstance(call, ast.Call) and called(call) == "parameters"]
                over = {dotted(name): _tensor(call) for name, call in zip(names, calls, strict=False)}
                if len(calls) == len(names) and {first, second} <= over.keys():
                    return over[first], over[second]
    return None


def _alias(code: Source, first: str, second: str) -> tuple[ast.Assign | None, ast.expr | None]:
    """The line that gave one thing its second name, by the first or by what both are bound to, and what it binds."""
    pairs = [(one, dotted(name), value) for one in code.bindings for name, value in assigned(one)]
    bound = [(one, name, value, dotted(_itself(value))) for one, name, value in pairs if name in (first, second)]
    told = [(one, value) for one, name, value, of in bound if {name, of} == {first, second}]
    for (_, one, _, of), (later, name, value, same) in combinations(bound, 2):
        told += [(later, value)] if one != name and of == same != "" else []
    return told[0] if told else (None, None)


def _itself(value: ast.expr) -> ast.expr:
    """What methods are called on that give back what they were called on."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in GIVES_ITSELF:
        value = value.func.value
    return value


def _names(diagnosis: Diagnosis, op: Op) -> tuple[str, str]:
    """What a line writes, and what from: two models, or two tensors."""
    match diagnosis.code.call_at(op.span):
        case ast.Call(
            func=ast.Attribute(attr="load_state_dict", value=target),
            args=[ast.Call(func=ast.Attribute(attr="state_dict", value=source))],
        ):
            return dotted(target), dotted(source)
        case ast.Call(func=ast.Attribute(attr=name, value=target), args=[source, *_]) if name == op.name:
            return _tensor(target), _tensor(source)
    return "", ""


def _tensor(node: ast.expr) -> str:
    """The name of the tensor that methods are called on in turn."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return ast.unparse(node).removesuffix(".data")


def _moved_between(diagnosis: Diagnosis, weight: Tensor, first: Op, last: Op) -> bool:
    """Whether an update moved a weight after one op and before another."""
    steps = (step for step in diagnosis.moves if diagnosis.identity(weight.id) in diagnosis.changed_by(step))
    moments = (diagnosis.update_step.get(step.id, -1) for step in steps)
    return any(diagnosis.op_step[first.id] < moment < diagnosis.op_step[last.id] for moment in moments)
