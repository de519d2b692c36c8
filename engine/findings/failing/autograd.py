"""Errors of autograd itself that raise outside the engine: gradients that are None, leaves, seeds, custom Functions."""

import ast
import re

from engine.findings.diagnosis import RESETS, line
from engine.findings.failing.case import Case
from engine.findings.failing.none_values import list_method, no_return
from engine.program.names import keyword
from engine.program.tree import defined_in
from engine.trace import Edit, Finding, Tensor, Update


def of_none(case: Case) -> Finding | None:
    """Something was asked of None: of a `.grad` that is None, or of what a function without `return` gave."""
    node = case.node
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "grad":
        return _no_gradient(case, node.value)
    if isinstance(node, ast.Attribute):
        return no_return(case, node.value) or list_method(case, node.value)
    return None


def with_none(case: Case) -> Finding | None:
    """Arithmetic with None: with a `.grad` that is None, or with what a function without `return` gave."""
    if case.node is None:
        return None
    for node in ast.walk(case.node):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            operand = case.operand(ast.unparse(node))
            if operand is not None and operand.type == "NoneType":
                return _no_gradient(case, node)
    if isinstance(case.node, ast.BinOp):
        for side in (case.node.left, case.node.right):
            found = no_return(case, side) or list_method(case, side)
            if found is not None:
                return found
    return None


def _no_gradient(case: Case, node: ast.Attribute) -> Finding | None:
    """Which of the reasons it is: not tracked, no leaf, no backward yet, dropped by `zero_grad`, or not reached."""
    tensor = case.tensor_of(node.value)
    if tensor is None:
        return None
    name = case.code.short(node.value)
    given = {"name": name, "grad": case.code.short(node)}
    if not tensor.requires_grad:
        return case.finding("grad_none_untracked", given, tensors=(tensor,))
    if not tensor.is_leaf:
        maker = case.diagnosis.maker.get(tensor.id)
        made = maker.span if maker is not None else None
        op = maker.name if maker is not None else "?"
        return case.finding("grad_none_non_leaf", given, tensors=(tensor,), made_line=line(made), op=op)
    identity = tensor.identity or tensor.id
    guard = _guarded(case, node)
    fed = [
        pass_
        for pass_ in case.diagnosis.trace.passes
        if any(accumulation.tensor == identity for accumulation in pass_.accumulations)
    ]
    if not case.diagnosis.trace.passes:
        code = "grad_none_before_backward" if guard else "grad_none_never_computed"
        return case.finding(code, given, tensors=(tensor,), fix=guard)
    if not fed:
        return case.finding(
            "grad_none_unreached", given, tensors=(tensor,), pass_line=line(case.diagnosis.trace.passes[-1].span)
        )
    dropped = _dropped(case, identity)
    if dropped is not None:
        code = "grad_none_after_zero_grad" if dropped.kind == "zero_grad" else "grad_none_dropped"
        return case.finding(code, given, tensors=(tensor,), reset_line=line(dropped.span), fix=guard)
    return None


def _dropped(case: Case, identity: str) -> Update | None:
    """What set the gradient of a leaf to None last."""
    diagnosis = case.diagnosis
    updates = (update for update in reversed(diagnosis.trace.updates) if update.kind in RESETS)
    owners = ((update, map(diagnosis.gradient_owner.get, diagnosis.changed_by(update))) for update in updates)
    return next((update for update, leaves in owners if identity in leaves), None)


def _guarded(case: Case, node: ast.Attribute) -> tuple[Edit, ...]:
    """Zeroing under `if …grad is not None:`; nothing for a statement that does more than that."""
    statement = case.code.statement(node)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        if isinstance(func, ast.Attribute) and func.attr in ("zero_", "detach_", "fill_"):
            return case.code.indent(statement, f"if {case.code.text(node)} is not None:")
    return ()


def backward_of_number(case: Case) -> Finding | None:
    """`backward` of a Python number: `.item()` or `float()` took it out of the graph."""
    node = case.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return (
            case.finding(name=case.code.short(node.value), made_line="–") if isinstance(node, ast.Attribute) else None
        )
    name = node.value.id
    made = [assignment for assignment in case.code.assignments(name) if assignment.lineno <= node.lineno]
    if len(made) == 1:
        value = made[0].value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
            fix = (case.code.replace(value, case.code.text(value.func.value)),)
            return _taken_out(case, name, value, fix)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "float" and value.args:
            fix = (case.code.replace(value, case.code.text(value.args[0])),)
            return _taken_out(case, name, value, fix)
    return case.finding(name=name, made_line=str(made[-1].lineno) if made else "–")


def _taken_out(case: Case, name: str, value: ast.expr, fix: tuple[Edit, ...]) -> Finding:
    """The line that turned the tensor into a number."""
    used = line(case.failure.span)
    return case.finding("number_taken_out", span=case.code.span(value), name=name, used_line=used, fix=fix)


def leaf_written(case: Case) -> Finding | None:
    """A leaf, or a view of one, changed in place while recording."""
    statement = case.code.statement(case.node) if case.node is not None else None
    tensor = _target(case)
    if statement is None or tensor is None:
        return None
    fix = case.code.indent(statement, "with torch.no_grad():") if case.code.is_bound("torch") else ()
    maker = case.op.name if case.op is not None else "?"
    return case.finding(name=_leaf_name(case, tensor), op=maker, tensors=(tensor,), fix=fix)


def _target(case: Case) -> Tensor | None:
    given = case.inputs()
    if given:
        return given[0]
    return None


def _leaf_name(case: Case, tensor: Tensor) -> str:
    """The leaf itself, for a view of it."""
    base = case.diagnosis.tensors.get(tensor.base or "")
    return case.diagnosis.say((base or tensor).id)


def cannot_stop(case: Case) -> Finding | None:
    """`requires_grad = False` on a computed tensor."""
    statement = case.code.statement(case.node) if case.node is not None else None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        owner = case.code.text(statement.targets[0].value)
        value = statement.value
        is_false = isinstance(value, ast.Constant) and value.value is False
        fix = (case.code.replace(statement, f"{owner} = {owner}.detach()"),) if is_false else ()
        return case.finding(name=owner, fix=fix)
    call = case.call
    if call is not None and isinstance(call.func, ast.Attribute):
        return case.finding(name=case.code.short(call.func.value))
    return None


def seed_shape(case: Case) -> Finding | None:
    """The vector given to backward has another shape than the output."""
    call = case.call
    if call is None:
        return None
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call
    given = "[" + case.groups["given"] + "]"
    wanted = "[" + case.groups["wanted"] + "]"
    return case.finding(name=case.code.short(receiver), given=given, wanted=wanted)


def unused_in_grad(case: Case) -> Finding | None:
    """`autograd.grad` of a tensor that took no part, or that nobody tracks."""
    call = case.call
    if call is None or not case.code.text(call.func).endswith("grad"):
        return None
    at = int(case.groups.get("at") or 0)
    word = keyword(call, "inputs")
    wanted = call.args[1] if len(call.args) > 1 else word.value if word is not None else None
    if isinstance(wanted, ast.Tuple | ast.List):
        wanted = wanted.elts[at] if at < len(wanted.elts) else None
    if wanted is None:
        return None
    output = case.code.short(call.args[0]) if call.args else "outputs"
    tensor = case.tensor_of(wanted)
    fix: tuple[Edit, ...] = ()
    if case.rule == "unused_in_grad" and keyword(call, "allow_unused") is None:
        fix = (case.code.argument_added(call, "allow_unused=True"),)
    return case.finding(name=case.code.short(wanted), output=output, tensors=(tensor,), fix=fix)


def untracked_asked(case: Case) -> Finding | None:
    """`retain_grad` or a hook on a tensor that gets no gradient."""
    call = case.call
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    receiver = call.func.value
    tensor = case.tensor_of(receiver)
    return case.finding(name=case.code.short(receiver), method=call.func.attr, tensors=(tensor,))


def inference(case: Case) -> Finding | None:
    """A tensor made in inference mode cannot be saved for backward."""
    for tensor in case.inputs():
        maker = case.diagnosis.maker.get(tensor.id)
        if maker is not None and maker.grad_mode == "inference":
            used = line(case.failure.span)
            return case.finding(span=maker.span, name=case.say(tensor), used_line=used, tensors=(tensor,))
    return None


def custom_count(case: Case) -> Finding | None:
    """A custom backward that returns another number of gradients than forward took inputs."""
    name = case.groups["function"].removesuffix("Backward")
    classes = case.code.classes(name)
    if len(classes) != 1:
        return None
    backward = defined_in(classes[0], "backward")
    if backward is None:
        return None
    returns = [node for node in ast.walk(backward) if isinstance(node, ast.Return)]
    return case.finding(span=case.code.span(returns[-1] if returns else backward), cls=name)


def custom_backward_missing(case: Case) -> Finding | None:
    """A custom Function that has no backward."""
    pattern = re.compile(r"Function")
    found = [
        node
        for node in case.code.nodes
        if isinstance(node, ast.ClassDef)
        and any(pattern.search(ast.unparse(base)) for base in node.bases)
        and not any(
            isinstance(statement, ast.FunctionDef) and statement.name in ("backward", "vjp") for statement in node.body
        )
    ]
    if len(found) != 1:
        return None
    (cls,) = found
    span = case.code.span(cls)
    near = next(
        (
            statement
            for statement in cls.body
            if isinstance(statement, ast.FunctionDef)
            and statement.name != "forward"
            and statement.name.startswith("back")
        ),
        None,
    )
    if near is not None:
        text = case.code.lines[near.lineno - 1]
        start = text.find(near.name)
        name_span = type(span)(line=near.lineno, end_line=near.lineno, column=start, end_column=start + len(near.name))
        return case.finding(
            "custom_backward_misspelt",
            span=name_span,
            cls=cls.name,
            name=near.name,
            fix=(Edit(span=name_span, text="backward"),),
        )
    return case.finding(span=case.code.head(cls), cls=cls.name)


def grad_assigned(case: Case) -> Finding | None:
    """A `.grad` of another shape than its tensor."""
    statement = case.code.statement(case.node) if case.node is not None else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return None
    name = case.code.short(statement.targets[0].value)
    return case.finding(name=name)


def already_number(case: Case) -> Finding | None:
    """`.item()` of what is a Python number already."""
    node = case.node
    if not isinstance(node, ast.Attribute):
        return None
    call = case.code.parents.get(node)
    fix: tuple[Edit, ...] = ()
    if isinstance(call, ast.Call) and call.func is node and node.attr in ("item", "detach", "cpu") and not call.args:
        fix = (case.code.replace(call, case.code.text(node.value)),)
    return case.finding(name=case.code.short(node.value), fix=fix)


def clip_of_nothing(case: Case) -> Finding | None:
    """`clip_grad_value_` before any backward: its message says nothing of gradients."""
    call = case.call
    if call is None or not case.code.text(call.func).endswith("clip_grad_value_"):
        return None
    return case.finding()


def deepcopied(case: Case) -> Finding | None:
    """`deepcopy` of a computed tensor."""
    call = case.call
    if call is None or not call.args:
        return None
    tensor = case.tensor_of(call.args[0])
    fix: tuple[Edit, ...] = ()
    if tensor is not None:
        given = case.code.text(call.args[0])
        plain = isinstance(call.args[0], ast.Name | ast.Attribute | ast.Call)
        fix = (case.code.replace(call, f"{given if plain else f'({given})'}.detach().clone()"),)
    return case.finding(name=case.code.short(call.args[0]), tensors=(tensor,), fix=fix)
