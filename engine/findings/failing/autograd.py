"""Errors of autograd that raise outside the engine: leaves, seeds, `autograd.grad`, assigned gradients, NaN found by
anomaly mode."""

import ast
from collections.abc import Iterable

from engine.findings.diagnosis import by_number, line
from engine.findings.failing.case import Case
from engine.findings.nonfinite import trouble
from engine.program.names import called, dotted
from engine.trace import Finding, Tensor


def leaf_written(case: Case) -> Finding | None:
    """A leaf, or a view of one, changed in place while recording."""
    tensor = next(iter(case.inputs()), None)
    if case.statement is None or tensor is None:
        return None
    fix = case.code.indent(case.statement, "with torch.no_grad():") if case.code.is_bound("torch") else ()
    leaf = case.diagnosis.say(tensor.base if tensor.base in case.diagnosis.tensors else tensor.id)
    return case.finding("", {"name": leaf}, tensors=(tensor,), fix=fix)


def _assigned_attribute(case: Case) -> ast.Attribute | None:
    """What the failing statement writes to, when that is an attribute."""
    match case.statement:
        case ast.Assign(targets=[ast.Attribute() as target]):
            return target
    return None


def cannot_stop(case: Case) -> Finding | None:
    """`requires_grad = False` on a computed tensor."""
    target, call = _assigned_attribute(case), case.call
    if target is not None and isinstance(case.statement, ast.Assign):
        owner, value = case.code.text(target.value), case.statement.value
        is_false = isinstance(value, ast.Constant) and value.value is False
        fix = (case.code.replace(case.statement, f"{owner} = {owner}.detach()"),) if is_false else ()
        return case.finding(name=owner, fix=fix)
    if call is not None and isinstance(call.func, ast.Attribute):
        return case.finding(name=case.code.short(call.func.value))
    return None


def grad_assigned(case: Case) -> Finding | None:
    """A `.grad` of another shape than its tensor, or that is no tensor."""
    target = _assigned_attribute(case)
    if target is None or not isinstance(case.statement, ast.Assign):
        return None
    value = case.statement.value
    set_here = [one.value for one in case.code.bindings if dotted(one.targets[0]).endswith(".grad")]
    zeros = [given for given in set_here if isinstance(given, ast.Constant) and given.value == 0]
    fix = tuple(case.code.replace(zero, "None") for zero in zeros) if value in zeros else ()
    return case.finding(name=case.code.short(target.value), value=case.code.short(value), fix=fix)


def seed_shape(case: Case) -> Finding | None:
    """The vector given to backward has another shape than the output."""
    call = case.call
    if call is None:
        return None
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call
    shapes = {name: f"[{case.groups[name]}]" for name in ("given", "wanted")}
    return case.finding("", shapes, name=case.code.short(receiver))


def unused_in_grad(case: Case) -> Finding | None:
    """`autograd.grad` of a tensor that took no part, or that nobody tracks."""
    call = case.call
    if call is None or called(call) != "grad":
        return None
    output = case.code.short(call.args[0]) if call.args else "outputs"
    tensor = _asked_in_vain(case)
    if tensor is None:
        return None
    maker = case.diagnosis.maker.get(tensor.id)
    made = maker.span if case.rule == "grad_asked_untracked" and maker is not None else None
    return case.finding(span=made, name=_written_in(case, tensor), output=output, tensors=(tensor,))


def _asked_in_vain(case: Case) -> Tensor | None:
    """The input of the failed pass that took no part, or that is not tracked."""
    failed = case.diagnosis.failed_pass()
    asked = [case.diagnosis.tensors.get(one or "") for one in (failed.inputs or () if failed is not None else ())]
    if "at" not in case.groups:
        return next((one for one in asked if one is not None and not one.requires_grad), None)
    at = int(case.groups["at"])
    return asked[at] if at < len(asked) else None


def _written_in(case: Case, tensor: Tensor) -> str:
    """What a tensor is called in a call, or else anywhere."""
    identity = case.diagnosis.identity(tensor.id)
    for operand in case.failure.operands:
        if operand.tensor is not None and case.diagnosis.identity(operand.tensor) == identity:
            return operand.text
    return case.diagnosis.say(tensor.id)


def of_receiver(case: Case) -> Finding | None:
    """A method that the tensor before it cannot answer: `retain_grad` or a hook where no gradient arrives."""
    match case.call:
        case ast.Call(func=ast.Attribute(value=receiver, attr=method)):
            tensors = (case.tensor_of(receiver),)
            return case.finding(name=case.code.short(receiver), method=method, tensors=tensors)
    return None


def inference(case: Case) -> Finding | None:
    """A tensor made in inference mode cannot be saved for backward."""
    for tensor in case.inputs():
        maker = case.diagnosis.maker.get(tensor.id)
        if maker is not None and maker.grad_mode == "inference":
            return case.finding("", case.about(tensor), span=maker.span, tensors=(tensor,))
    return None


def hook_result(case: Case) -> Finding | None:
    """A hook that returns something that cannot take the gradient's place: at the only line that registers one."""
    made = [one for one in case.code.calls if called(one) in ("register_hook", "register_prehook")]
    return case.finding(span=case.code.span(made[0]) if len(made) == 1 else None)


def clip_of_nothing(case: Case) -> Finding | None:
    """`clip_grad_value_` before any backward: its message says nothing of gradients."""
    return case.finding() if case.call is not None and called(case.call) == "clip_grad_value_" else None


def deepcopied(case: Case) -> Finding | None:
    """`deepcopy` of a computed tensor."""
    call = case.call
    if call is None or not call.args:
        return None
    copied, tensor = call.args[0], case.tensor_of(call.args[0])
    if tensor is None:
        return _holds_result(case, copied)
    given = case.code.text(copied)
    plain = isinstance(copied, ast.Name | ast.Attribute | ast.Call)
    right = f"{given if plain else f'({given})'}.detach().clone()"
    fix = (case.code.replace(call, right),)
    return case.finding(name=case.code.short(copied), tensors=(tensor,), fix=fix)


def _holds_result(case: Case, copied: ast.expr) -> Finding:
    """An object that keeps a computed tensor in an attribute of its own."""
    computed = [one for one in case.diagnosis.trace.tensors if one.grad_fn is not None and one.requires_grad]
    kept = {name: one for one in computed for name in one.names if name.startswith("self.")}
    name = case.code.short(copied)
    if len(kept) != 1:
        return case.finding("deepcopy_of_holder", name=name)
    (held, tensor), *_ = kept.items()
    stores = case.code.assignments(held)
    where = case.code.span(stores[-1]) if stores else None
    return case.finding("deepcopy_of_state", span=where, name=name, held=held, tensors=(tensor,))


def anomaly(case: Case) -> Finding | None:
    """The first NaN of a backward pass, which anomaly mode stops at: the op that made it, or the infinity before it."""
    failed = case.diagnosis.failed_pass()
    if failed is None:
        return None
    node = next((visit.node for visit in failed.visits if _is_infinite(case, visit.left)), None)
    if node is None:
        reached = case.diagnosis.reached_from(root.node for root in failed.roots if root.node is not None)
        named = [one for one in reached if case.diagnosis.nodes[one].type == case.groups["node"]]
        node = max(named, key=by_number, default=None)
    op = case.diagnosis.op_of_node(node)
    if op is None or op.span is None:
        return None
    given = case.diagnosis.input_of(op)
    said = {"op": op.name, **case.about(given)}
    return case.finding("", said, span=op.span, tensors=(given,), pass_line=line(case.failure.span))


def _is_infinite(case: Case, gradients: Iterable[str | None]) -> bool:
    return any(trouble(case.diagnosis.tensors.get(gradient or "")) is not None for gradient in gradients)
