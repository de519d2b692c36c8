"""Element types and devices that do not fit, and several values where one is needed."""

import ast

from engine.findings.failing.case import Case, sizes
from engine.program.names import keyword
from engine.trace import Edit, Finding, Tensor

FLOATS = ("float32", "float64", "float16", "bfloat16")
_WORDS = {
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Byte": "uint8",
    "Char": "int8",
    "Bool": "bool",
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
}
_CASTS = {"float32": ".float()", "float64": ".double()", "int64": ".long()"}
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_LAYERS = ("linear", "conv1d", "conv2d", "conv3d", "bilinear")


def mixed(case: Case) -> Finding | None:
    """A product of tensors of two types; elementwise operations convert, products do not."""
    op, given = case.op, case.inputs()
    other = next((tensor for tensor in given if tensor.dtype != given[0].dtype), None)
    if op is None or other is None:
        return None
    pair = (given[0], other)
    odd = given[0] if op.name in _LAYERS or other.dtype == "float32" else other
    fits = other if odd is given[0] else given[0]
    node = case.written(odd)
    fix = (
        case.code.method(node, _CASTS[fits.dtype]) if node is not None and fits.dtype in ("float32", "float64") else ()
    )
    module = case.diagnosis.modules.get(op.module or "")
    return case.finding(
        tensors=pair,
        odd=case.say(odd),
        odd_dtype=odd.dtype,
        other=case.say(fits),
        other_dtype=fits.dtype,
        op=module.path if module is not None else op.name,
        cast=_CASTS.get(fits.dtype, f".to(torch.{fits.dtype})"),
        fix=fix,
    )


def no_mean(case: Case) -> Finding | None:
    """`mean` of whole numbers has no type of its own."""
    given = next(iter(case.inputs()), None)
    node = case.written(given)
    if given is None or case.op is None:
        return None
    return case.finding(
        name=case.say(given), op=case.op.name, dtype=given.dtype, tensors=(given,),
        fix=case.code.method(node, ".float()") if node is not None else (),
    )  # fmt: skip


def not_implemented(case: Case) -> Finding | None:
    """An operation that has no kernel for a type."""
    dtype = _WORDS.get(case.groups["dtype"], case.groups["dtype"])
    given = next((input_ for input_ in case.inputs() if input_.dtype == dtype), None)
    if given is None or case.op is None:
        return None
    node = case.written(given) if dtype not in FLOATS else None
    return case.finding(
        name=case.say(given), op=case.op.name, dtype=dtype, tensors=(given,),
        fix=case.code.method(node, ".float()") if node is not None else (),
    )  # fmt: skip


def cannot_store(case: Case) -> Finding | None:
    """An in-place result that the tensor's own type cannot hold; or a loss whose target has whole numbers."""
    op = case.op
    if op is None:
        return None
    target = case.argument(1, "target")
    if "binary_cross_entropy" in op.name and target is not None:
        return _target(case, target, "float32", "target_not_float")
    given = next(iter(case.inputs()), None)
    result, own = _WORDS.get(case.groups["result"], ""), _WORDS.get(case.groups["own"], "")
    if given is None or given.dtype != own:
        return None
    name = case.say(given)
    fix: tuple[Edit, ...] = ()
    node = case.node
    if isinstance(node, ast.AugAssign):
        name = case.code.short(node.target)
        sign = _SIGNS.get(type(node.op))
        if sign and isinstance(node.target, ast.Name):
            value = case.code.text(node.value)
            plain = isinstance(node.value, ast.Name | ast.Constant | ast.Call | ast.Attribute)
            fix = (case.code.replace(node, f"{name} = {name} {sign} {value if plain else f'({value})'}"),)
    return case.finding(name=name, op=op.name, own=own, result=result, tensors=(given,), fix=fix)


def target_whole(case: Case) -> Finding | None:
    """Class numbers that are floats."""
    target = case.argument(1, "target")
    if target is None or target.dtype not in FLOATS:
        return None
    return _target(case, target, "int64", "target_not_long")


def target_float(case: Case) -> Finding | None:
    """Targets that must be numbers like the predictions, and are whole."""
    target = case.argument(1, "target")
    if target is None or target.dtype in FLOATS:
        return None
    is_one_hot = case.op is not None and case.op.name == "cross_entropy"
    return _target(case, target, "float32", "target_one_hot" if is_one_hot else "target_not_float")


def _target(case: Case, target: Tensor, dtype: str, code: str) -> Finding | None:
    if target.dtype == dtype or case.op is None:
        return None
    node = case.written(target)
    return case.finding(
        code,
        tensors=(target,),
        target=case.say(target),
        dtype=target.dtype,
        op=case.op.name,
        shape=sizes(target.shape),
        fix=case.code.method(node, _CASTS[dtype]) if node is not None else (),
    )


def indices(case: Case) -> Finding | None:
    """Indices that are not whole numbers."""
    node = case.node
    place: ast.expr | None
    if isinstance(node, ast.Subscript):
        tensor, place = case.tensor_of(node.slice), node.slice
    elif case.op is not None:
        found = [input_ for input_ in case.inputs() if input_.dtype in FLOATS and input_.role != "parameter"]
        tensor = (found[0] if case.op.name in ("embedding", "one_hot") else found[-1]) if found else None
        place = case.written(tensor)
    else:
        return None
    if tensor is None or tensor.dtype not in FLOATS:
        return None
    name = case.code.short(place) if place is not None else case.say(tensor)
    fix = case.code.method(place, ".long()") if place is not None else ()
    return case.finding(name=name, dtype=tensor.dtype, tensors=(tensor,), fix=fix)


def index_not_whole(case: Case) -> Finding | None:
    """`x[0.5]`, or `x[n / 2]`, whose result is a float even when it is even."""
    node = case.node
    if not isinstance(node, ast.Subscript):
        return None
    fix: tuple[Edit, ...] = ()
    if isinstance(node.slice, ast.BinOp) and isinstance(node.slice.op, ast.Div):
        left, right = case.code.text(node.slice.left), case.code.text(node.slice.right)
        fix = (case.code.replace(node.slice, f"{left} // {right}"),)
    return case.finding(index=case.code.short(node.slice), fix=fix)


def cannot_require(case: Case) -> Finding | None:
    """Whole numbers have no gradient."""
    call = case.call
    if call is None:
        return None
    fix: tuple[Edit, ...] = ()
    typed = keyword(call, "dtype")
    if typed is not None:
        fix = (case.code.replace(typed, "dtype=torch.float32"),) if case.code.is_bound("torch") else ()
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        statement = case.code.statement(call)
        alone = isinstance(statement, ast.Expr) and statement.value is call
        if alone and isinstance(call.func.value, ast.Name):
            name = call.func.value.id
            fix = (case.code.replace(call, f"{name} = {name}.float().requires_grad_()"),)
        elif not alone:
            fix = case.code.method(call.func.value, ".float()")
    elif keyword(call, "requires_grad") is not None and case.code.is_bound("torch"):
        fix = (case.code.argument_added(call, "dtype=torch.float32"),)
    elif case.code.text(call.func).endswith("Parameter") and len(call.args) == 1:
        fix = case.code.method(call.args[0], ".float()")
    return case.finding(fix=fix)


def devices(case: Case) -> Finding | None:
    """Tensors on two devices in one operation."""
    given = case.inputs()
    other = next((tensor for tensor in given if tensor.device != given[0].device), None)
    if other is None or case.op is None:
        return None
    first = given[0]
    return case.finding(
        tensors=(first, other), first=case.say(first), other=case.say(other), first_device=first.device,
        other_device=other.device, op=case.op.name,
    )  # fmt: skip


def numpy_of_tracked(case: Case) -> Finding | None:
    """A NumPy array of a tensor whose operations are being recorded."""
    call = case.call
    if call is None:
        return None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy" and not call.args:
        fix = case.code.method(call.func.value, ".detach()")
        return case.finding(name=case.code.short(call.func.value), fix=fix)
    tracked = [arg for arg in call.args if (tensor := case.tensor_of(arg)) is not None and tensor.requires_grad]
    if len(tracked) != 1:
        return None
    return case.finding(name=case.code.short(tracked[0]), fix=case.code.method(tracked[0], ".detach()"))


def tensors_in_list(case: Case) -> Finding | None:
    """`torch.tensor([a, b])` of tensors with several elements; or `float(x)` of one."""
    call = case.call
    if call is None or len(call.args) != 1:
        return None
    if isinstance(call.func, ast.Name):
        return case.finding("number_of_many", name=case.code.short(call.args[0]), function=call.func.id)
    if case.code.text(call.func) != "torch.tensor":
        return None
    parts = call.args[0].elts if isinstance(call.args[0], ast.List | ast.Tuple) else []
    tensors = [case.tensor_of(part) for part in parts]
    shapes = {tensor.shape for tensor in tensors if tensor is not None}
    fix: tuple[Edit, ...] = ()
    if parts and None not in tensors and len(shapes) == 1 and not call.keywords:
        fix = (case.code.replace(call.func, "torch.stack"),)
    return case.finding(fix=fix)


def many_values(case: Case) -> Finding | None:
    """A tensor of several elements where one truth value or one number is needed."""
    made = _loss_made(case)
    if made is not None:
        return made
    given = next(iter(case.inputs()), None)
    tested = _tested(case)
    if given is None and tested is not None:
        given = case.tensor_of(tested)
    if given is None:
        return None
    name = case.code.short(tested) if tested is not None else case.say(given)
    span = case.code.span(tested) if tested is not None else None
    return case.finding(span=span, name=name, shape=sizes(given.shape), tensors=(given,))


def _tested(case: Case) -> ast.expr | None:
    """What `if`, `while`, `and` or `not` asked for its truth: all of the failing expression, or a part of it."""
    node = case.node.test if isinstance(case.node, ast.While | ast.If) else case.node
    if isinstance(node, ast.UnaryOp):
        return node.operand
    return node if isinstance(node, ast.Compare | ast.Name | ast.Attribute | ast.BinOp) else None


def _loss_made(case: Case) -> Finding | None:
    """A loss class called with the tensors instead of made first and then called."""
    call = case.call
    if call is None:
        return None
    operand = case.operand(ast.unparse(call.func))
    name = ast.unparse(call.func).rpartition(".")[2]
    if operand is None or operand.type != "type" or not name.endswith("Loss") or len(call.args) < 2:
        return None
    if case.tensor_of(call.args[0]) is None:
        return None
    return case.finding("loss_not_made", name=name, fix=(case.code.after(call.func, "()"),))


def mask(case: Case) -> Finding | None:
    """A mask of numbers, such as `tril` gives."""
    given = case.argument(1, "mask")
    if given is None or given.dtype == "bool":
        return None
    node = case.written(given)
    fix = case.code.method(node, ".bool()") if node is not None else ()
    return case.finding(name=case.say(given), dtype=given.dtype, tensors=(given,), fix=fix)
