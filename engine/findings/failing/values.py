"""Something else stands where a tensor was meant: nothing, a class, a layer, a pair, a number. What it is, and which
line made it."""

import ast
import re
from collections.abc import Callable, Iterator

from engine.findings.diagnosis import RESETS, line
from engine.findings.failing.case import Case, sizes
from engine.program.names import called, dotted
from engine.program.tree import defined_in
from engine.trace import Edit, Finding, Module, Tensor, Update

PAIRS = frozenset({"max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin"})
"""Functions that give values and indices together along an axis."""
_RECURRENT = {"MultiheadAttention": ("output", "weights"), "LSTM": ("output", "(h, c)")}
_RECURRENT |= dict.fromkeys(("RNN", "GRU"), ("output", "state")) | {"LSTMCell": ("h", "c")}
"""Layers whose call gives two things."""
_CHANGE_LISTS = frozenset({"append", "extend", "insert", "sort", "reverse", "clear"})
_METHODS = frozenset({"method", "method_descriptor", "builtin_function_or_method"})
_GIVES_NUMBER = frozenset({"item", "float", "int"})


def odd_value(case: Case) -> Finding | None:
    """Of the parts of the failing expression whose kind the message complains of, the first whose origin is known."""
    for node in _parts(case):
        operand = case.operand(node)
        kind = operand.type if operand is not None else ""
        if kind and not _complained_of(kind, case.failure.message):
            continue
        for origin in _ORIGINS:
            found = origin(case, node, kind)
            if found is not None:
                return found
    return None


def _parts(case: Case) -> Iterator[ast.expr]:
    """What the failing expression is made of, the whole of a chain of attributes before its beginning."""
    for node in ast.walk(case.node) if case.node is not None else ():
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Compare) and (
            node is not case.node or isinstance(node, ast.Call)
        ):
            yield node


def _complained_of(kind: str, message: str) -> bool:
    """Whether the message is about a value of that class; of a class itself it never says so, and what `max` gives is a
    tuple to it."""
    if kind in _METHODS:
        return any(f"'{method}'" in message for method in _METHODS)
    named = re.search(rf"(?<!\w){re.escape(kind)}(?!\w)", message) is not None
    several = "tuple" in message or "sequence" in message
    return named or kind == "type" or (several and kind.rpartition(".")[2] in {*PAIRS, "tuple"})


# Nothing


def _no_gradient(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """A `.grad` that is None: not tracked, no leaf, no backward yet, dropped by `zero_grad`, or not reached."""
    if kind != "NoneType" or not isinstance(node, ast.Attribute) or node.attr != "grad":
        return None
    tensor = case.tensor_of(node.value)
    if tensor is None:
        return None
    given = {"name": case.code.short(node.value), "grad": case.code.short(node)}
    maker = case.diagnosis.maker.get(tensor.id)
    if not tensor.requires_grad and maker is not None and maker.grad_mode != "grad":
        said = {**given, "made_line": line(maker.span), "op": maker.name}
        return case.finding("grad_none_made_untracked", said, span=maker.span, tensors=(tensor,))
    if not tensor.requires_grad:
        return case.finding("grad_none_untracked", given, tensors=(tensor,))
    if not tensor.is_leaf:
        said = {"made_line": line(maker.span), "op": maker.name} if maker is not None else {}
        return case.finding("grad_none_non_leaf", {**given, **said}, tensors=(tensor,)) if maker is not None else None
    guard = _guarded(case, node)
    passes = case.diagnosis.trace.passes
    if not passes:
        code = "grad_none_before_backward" if guard else "grad_none_never_computed"
        return case.finding(code, given, tensors=(tensor,), fix=guard)
    identity = case.diagnosis.identity(tensor.id)
    if not any(added.tensor == identity for pass_ in passes for added in pass_.accumulations):
        return case.finding("grad_none_unreached", given, tensors=(tensor,), pass_line=line(passes[-1].span))
    dropped = _dropped(case, identity)
    if dropped is None:
        return None
    code = "grad_none_after_zero_grad" if dropped.kind == "zero_grad" else "grad_none_dropped"
    return case.finding(code, given, tensors=(tensor,), reset_line=line(dropped.span), fix=guard)


def _dropped(case: Case, identity: str) -> Update | None:
    """What set the gradient of a leaf to None last."""
    diagnosis = case.diagnosis
    updates = (update for update in reversed(diagnosis.trace.updates) if update.kind in RESETS)
    owners = ((update, map(diagnosis.gradient_owner.get, diagnosis.changed_by(update))) for update in updates)
    return next((update for update, leaves in owners if identity in leaves), None)


def _guarded(case: Case, node: ast.Attribute) -> tuple[Edit, ...]:
    """Zeroing under `if …grad is not None:`; nothing for a statement that does more than that."""
    match case.code.statement(node):
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="zero_" | "detach_" | "fill_"))) as statement:
            return case.code.indent(statement, f"if {case.code.text(node)} is not None:")
    return ()


def _nothing_returned(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """None from a function or a `forward` of the program that ends without `return`."""
    call = case.value_of(node)
    if kind not in ("", "NoneType") or "NoneType" not in case.failure.message or not isinstance(call, ast.Call):
        return None
    function = _definition(case, call)
    if function is None or _returned(function):
        return None
    last = function.body[-1]
    fix: tuple[Edit, ...] = ()
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
        fix = (case.code.before(last, "return "),)
    elif isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.targets[0], ast.Name):
        fix = case.code.line_after(last, f"return {last.targets[0].id}")
    return case.finding("return_missing", span=case.code.span(last), function=function.name, fix=fix)


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    """What the `return`s of a function give."""
    found = (inner.value for inner in ast.walk(function) if isinstance(inner, ast.Return))
    return [value for value in found if value is not None]


def _definition(case: Case, call: ast.Call) -> ast.FunctionDef | None:
    """The function of the program that a call runs: the only one of that name, or `forward` of the module's class."""
    named = [one for one in case.code.functions if isinstance(one, ast.FunctionDef) and one.name == called(call)]
    if len(named) == 1:
        return named[0]
    made = called(call.func) if isinstance(call.func, ast.Call) else _module_type(case, call.func)
    found = (defined_in(cls, "forward") for cls in case.code.classes(made))
    return next((forward for forward in found if forward is not None), None)


def _list_changed(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """`xs = xs.append(x)`: such methods change the list and give None."""
    statement = case.made_last(node)
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=method, value=owner)) as call) if (
            kind == "NoneType" and method in _CHANGE_LISTS
        ):
            given = {"receiver": case.code.text(owner), "method": method}
            fix = (case.code.replace(statement, case.code.text(call)),)
            return case.finding("list_method_result", given, span=case.code.span(statement), fix=fix)
    return None


# A class or a layer


def class_kept(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """`model = Net`: the class itself, no object made of it."""
    if kind != "type":
        return None
    kept = [one for one in case.code.bindings if dotted(one.value)]
    own = [one for one in kept if dotted(one.targets[0]) == dotted(node)]
    function = case.code.function(node)
    if function is not None and dotted(node) in [arg.arg for arg in function.args.args]:  # handed over by a caller
        own = [one for one in kept if case.code.classes(dotted(one.value))]
    if len(own) != 1 or case.code.classes(dotted(node)):
        return None
    cls = dotted(own[0].value)
    init = next((defined_in(definition, "__init__") for definition in case.code.classes(cls)), None)
    takes_more = init is not None and len(init.args.args) > 1 + len(init.args.defaults)
    is_sure = cls.endswith("Loss") or (bool(case.code.classes(cls)) and not takes_more)
    fix = (case.code.after(own[0].value, "()"),) if is_sure else ()
    return case.finding("class_not_made", span=case.code.span(own[0]), name=dotted(node), cls=cls, fix=fix)


def made_with_data(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """`nn.ReLU(x)` and `nn.MSELoss(a, b)`: the tensors went into the brackets that take options."""
    value = case.value_of(node)
    if not isinstance(value, ast.Call) or not value.args or value.keywords:
        return None
    name = called(value)
    operand = case.operand(value.func)
    is_maker = operand.type == "type" if operand is not None else name == kind and name[:1].isupper()
    if not is_maker or not all(_is_tensor(case, arg) for arg in value.args) or case.code.classes(name):
        return None
    written = case.code.text(value.func)
    given = ", ".join(map(case.code.short, value.args))
    code = "loss_not_made" if name.endswith("Loss") else "layer_not_made"
    said = {"name": name, "layer": written, "right": f"{written}()({given})", "type": "type"}
    return case.finding(code, said, span=case.code.span(value), fix=(case.code.after(value.func, "()"),))


def _is_tensor(case: Case, node: ast.expr) -> bool:
    """Whether an expression, here or on a line before, gave a tensor."""
    if isinstance(node, ast.Name | ast.Attribute):
        return case.tensor_of(node) is not None or bool(case.diagnosis.bound_to(node))
    return bool(case.diagnosis.ops_at(case.code.span(node)))


def layer_not_called(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """A layer handed on where its result was meant."""
    types = {module.type for module in case.diagnosis.trace.modules} | {called(one) for one in case.code.calls}
    asked = re.search(r"^(\w+)\(\): argument .* must be", case.failure.message)
    if asked is None or kind not in types or not isinstance(node, ast.Attribute | ast.Name):
        return None
    function = case.code.function(node)
    arguments = [arg.arg for arg in function.args.args if arg.arg != "self"] if function is not None else []
    layer = case.code.short(node)
    x = arguments[0] if len(arguments) == 1 else "…"
    fix = (case.code.after(node, f"({x})"),) if len(arguments) == 1 and layer != x else ()
    given = {"layer": layer, "type": kind, "right": f"{layer}({x})", "function": asked[1]}
    return case.finding("layer_not_called", given, fix=fix)


# Several things under one name


def _several(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """What a recurrent layer, or a function of the program, gives together, kept under one name."""
    call = case.value_of(node)
    is_pair = "tuple" in case.failure.message or "sequence" in case.failure.message
    if kind not in ("", "tuple") or not is_pair or not isinstance(call, ast.Call):
        return None
    parts: tuple[str, ...] = _RECURRENT.get(_module_type(case, call.func), ())
    function = _definition(case, call)
    returned = _returned(function)[-1:] if function is not None else []
    if isinstance(next(iter(returned), None), ast.Tuple):
        parts = tuple(case.code.short(part) for part in getattr(returned[0], "elts", ()))
    if len(parts) < 2:
        return None
    statement = case.made_last(node)
    fix = case.code.after(call, "[0]")
    if statement is not None and isinstance(statement.targets[0], ast.Name):
        fix = case.code.after(statement.targets[0], ", _" * (len(parts) - 1))
    given = {"layer": case.code.short(call.func), "type": _module_type(case, call.func), "name": case.code.short(node)}
    said = {"parts": ", ".join(parts), "count": str(len(parts))}
    return case.finding("recurrent_pair", {**given, **said}, span=case.code.span(statement or call), fix=(fix,))


def _module_type(case: Case, function: ast.expr) -> str:
    """Class of the module that a call runs, by its path in the model."""
    operand = case.operand(function)
    if operand is not None:
        return operand.type
    last = ast.unparse(function).rpartition(".")[2]
    types = {module.type for module in case.diagnosis.trace.modules if module.path.rpartition(".")[2] == last}
    return types.pop() if len(types) == 1 else ""


def _values_and_indices(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """`x.max(1)` used as if it were a tensor."""
    message, op = case.failure.message, _pair_of(case, node)
    if not op or not any(word in message for word in ("return_types", "tuple", "sequence")):
        return None
    return case.finding("pair_returned", op=op, name=case.code.short(node), fix=case.code.method(node, ".values"))


def _pair_of(case: Case, node: ast.expr) -> str:
    """The function that gave values and indices."""
    match case.value_of(node):
        case ast.Call(func=ast.Attribute(attr=op)) if op in PAIRS:
            return op
    return ""


def _compared(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """`(pred == labels).sum()` where one side is no tensor: Python compares the two as wholes."""
    compared = case.value_of(node)
    if kind not in ("", "bool") or "'bool'" not in case.failure.message or not isinstance(compared, ast.Compare):
        return None
    for side in (compared.left, *compared.comparators):
        if op := _pair_of(case, side):
            fix = case.code.method(side, ".indices")
            span = case.code.span(compared)
            return case.finding("pair_returned", span=span, op=op, name=case.code.short(side), fix=fix)
    attribute = case.node.attr if isinstance(case.node, ast.Attribute) else ""
    return case.finding("compared_as_wholes", compared=case.code.short(compared), attribute=attribute)


# Methods and numbers


def _method_kept(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """A method used as if it were its result: `x.mean.backward()`, `h = h.detach`, `SGD(model.parameters, …)`."""
    above = case.code.parents.get(node)
    if kind not in _METHODS or (isinstance(above, ast.Call) and above.func is node):
        return None
    value = case.value_of(node)
    if not isinstance(value, ast.Attribute) or (isinstance(above, ast.Subscript) and value.attr != "size"):
        return None
    span = case.failure.span if value is node else case.code.span(value)
    given = {"method": case.code.short(value), "name": value.attr}
    return case.finding("method_as_value", given, span=span, fix=(case.code.after(value, "()"),))


def _number(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """A Python number that was asked for what only tensors have."""
    asked = case.node
    if not isinstance(asked, ast.Attribute) or asked.value is not node or kind not in ("", "float", "int"):
        return None
    said = re.search(r"'(float|int)' object has no attribute", case.failure.message)
    if said is None:
        return None
    given = {"name": case.code.short(node), "type": said[1], "attribute": asked.attr}
    if asked.attr == "backward":
        return _backward_of_number(case, node, given)
    if case.facts.get("place") != "torch.Tensor":
        return None
    call = case.code.parents.get(asked)
    empty = isinstance(call, ast.Call) and call.func is asked and not call.args
    fix: tuple[Edit, ...] = ()
    if isinstance(call, ast.Call) and empty and asked.attr in ("item", "detach", "cpu"):
        fix = (case.code.replace(call, case.code.text(node)),)
    return case.finding("already_number", given, fix=fix)


def _backward_of_number(case: Case, node: ast.expr, given: dict[str, str]) -> Finding:
    """`backward` of a number: `.item()` or `float()` took it out of the graph, or no tensor was ever added to it."""
    value = case.value_of(node)
    function = _definition(case, value) if isinstance(value, ast.Call) else None
    returned = _returned(function) if function is not None else []
    value = returned[0] if len(returned) == 1 else value
    if value is not node and isinstance(value, ast.Call) and called(value) in _GIVES_NUMBER:
        inner = value.func.value if isinstance(value.func, ast.Attribute) else next(iter(value.args), value)
        fix = (case.code.replace(value, case.code.text(inner)),) if inner is not value else ()
        return case.finding("number_taken_out", given, span=case.code.span(value), fix=fix)
    statement = case.made_last(node)
    names = [part for part in ast.walk(value) if isinstance(part, ast.Name)]
    taken: dict[str, tuple[ast.expr, ast.expr]] = {}
    for name in names:
        match case.value_of(name):
            case ast.Call(func=ast.Attribute(attr="item", value=inner)) as call:
                taken[name.id] = call, inner
    if taken:
        first = next(iter(taken))
        edits = tuple(case.code.replace(call, case.code.text(inner)) for call, inner in taken.values())
        return case.finding(
            "number_taken_out", {**given, "name": first}, span=case.code.span(taken[first][0]), fix=edits
        )
    made = str(statement.lineno) if statement is not None else line(case.failure.span)
    return case.finding("backward_of_number", {**given, "made_line": made})


def _other_kind(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """A layer, a list, a text or an array that was asked for what only tensors have."""
    asked, owner = case.node, case.facts.get("owner", "")
    if not isinstance(asked, ast.Attribute) or asked.value is not node or case.facts.get("place") != "torch.Tensor":
        return None
    if owner in ("Tensor", "None") or dotted(node).partition(".")[0] in case.code.imported:
        return None
    made, modules = case.value_of(node), {module.type for module in case.diagnosis.trace.modules}
    is_made = isinstance(made, ast.Call) and called(made) == owner and not case.code.classes(owner)
    results = {dotted(one.targets[0]) for one in case.code.bindings if _calls(one.value, dotted(node))}
    if len(results) == 1 and "" not in results:
        (result,) = results
        given = {"receiver": case.code.short(node), "result": result, "name": asked.attr}
        return case.finding("result_meant", given, fix=(case.code.replace(node, result),))
    code = "layer_for_result" if owner in modules or is_made else "tensor_method_asked"
    given = {"receiver": case.code.short(node), "owner": owner, "name": case.facts.get("name", "")}
    return case.finding(code, given)


def _calls(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func) == name != ""


def _none_asked(case: Case, node: ast.expr, kind: str) -> Finding | None:
    """A name that is None still, asked for something."""
    asked, statement = case.node, case.made_last(node)
    if kind != "NoneType" or not isinstance(asked, ast.Attribute) or asked.value is not node or statement is None:
        return None
    given = {"receiver": case.code.short(node), "name": asked.attr}
    return case.finding("none_asked", given, made_line=str(statement.lineno))


_ORIGINS: tuple[Callable[[Case, ast.expr, str], Finding | None], ...] = (
    _no_gradient,
    _nothing_returned,
    _list_changed,
    class_kept,
    made_with_data,
    layer_not_called,
    _several,
    _values_and_indices,
    _compared,
    _method_kept,
    _number,
    _other_kind,
    _none_asked,
)


# An argument that must be something else


def not_a_tensor(case: Case) -> Finding | None:
    """An argument that must be a tensor, by what was given."""
    call, got = case.call, case.groups["got"]
    if call is None:
        return None
    if got == "NoneType":
        return case.finding("none_for_tensor")
    operand, node = case.operand(call.func), _given(case, call)
    inside = [one for one in case.diagnosis.trace.modules if one.type in _RECURRENT and _is_in(case, one, call.func)]
    if got == "tuple" and inside and operand is not None and operand.type == "Sequential":
        parts = _RECURRENT[inside[-1].type]
        return case.finding("pair_inside", layer=inside[-1].path, type=inside[-1].type, parts=", ".join(parts))
    if node is None:
        return case.finding("not_a_tensor_inside")
    is_plain = is_floats(node) and case.code.is_bound("torch")
    fix = (case.code.replace(node, f"torch.tensor({case.code.text(node)})"),) if is_plain else ()
    return case.finding(given=case.code.short(node), fix=fix)


def _is_in(case: Case, module: Module, outer: ast.expr) -> bool:
    """Whether a module is part of the one that is called."""
    return module.path.rpartition(".")[0].endswith(dotted(outer).removeprefix("self.") or "?")


def _given(case: Case, call: ast.Call) -> ast.expr | None:
    """The argument the message means; a layer hands its only one on."""
    position = int(case.groups["position"]) - 1
    operand = case.operand(call.func)
    is_layer = operand is not None and operand.type not in (*_METHODS, "function") and not operand.type.endswith("Loss")
    if (is_layer and len(call.args) != 1) or position >= len(call.args):
        return None
    return call.args[position]


def is_floats(node: ast.expr) -> bool:
    """A literal whose numbers all make one floating tensor."""
    inside = list(ast.walk(node))
    literal = ast.List | ast.Tuple | ast.Constant | ast.Load | ast.UnaryOp | ast.USub
    numbers = [inner.value for inner in inside if isinstance(inner, ast.Constant)]
    return all(isinstance(inner, literal) for inner in inside) and any(isinstance(one, float) for one in numbers)


def operands(case: Case) -> Finding | None:
    """A tensor and a list, a string or a layer on two sides of an operator."""
    node, left, right = case.node, case.groups["left"], case.groups["right"]
    if not isinstance(node, ast.BinOp) or "Tensor" not in (left, right) or left == right:
        return None
    other, got = (node.right, right) if left == "Tensor" else (node.left, left)
    fix: tuple[Edit, ...] = ()
    if is_floats(other) and case.code.is_bound("torch"):
        fix = (case.code.replace(other, f"torch.tensor({case.code.text(other)})"),)
    code = "operand_types" if got in ("list", "tuple", "str", "ndarray") else "operand_other"
    return case.finding(code, other=case.code.short(other), got=got, fix=fix)


def element_not_tensor(case: Case) -> Finding | None:
    """`torch.stack` of a list in which something is no tensor: where it was put in, when one line does that."""
    call = case.call
    if call is None or not call.args:
        return None
    given = call.args[0]
    said = {"function": case.code.short(call.func), "given": case.code.short(given)}
    name = dotted(given).rpartition(".")[2]
    put = [one for one in case.code.calls if called(one) == "append" and len(one.args) == 1]
    put = [one for one in put if isinstance(one.func, ast.Attribute) and _last_part(one.func.value) == name]
    if len(put) != 1 or not name:
        return case.finding("", said)
    value = put[0].args[0]
    fix: tuple[Edit, ...] = ()
    if isinstance(value, ast.Call) and called(value) == "item" and isinstance(value.func, ast.Attribute):
        fix = (case.code.replace(value, case.code.text(value.func.value)),)
    said["value"] = case.code.short(value)
    return case.finding("element_put_in", said, span=case.code.span(put[0]), fix=fix)


def _last_part(node: ast.expr) -> str:
    return dotted(node).rpartition(".")[2]


def format_refused(case: Case) -> Finding | None:
    """A format for one number, given a tensor of several, a list or nothing."""
    formatted = ast.walk(case.statement) if case.statement is not None else ()
    for part in formatted:
        if not isinstance(part, ast.FormattedValue) or part.format_spec is None:
            continue
        operand, tensor = case.operand(part.value), case.tensor_of(part.value)
        if operand is None or operand.type != case.groups["type"] or (tensor is not None and not tensor.shape):
            continue
        spec = "".join(str(one.value) for one in ast.walk(part.format_spec) if isinstance(one, ast.Constant))
        said = {"name": case.code.short(part.value), "spec": spec}
        if tensor is None:
            return case.finding("", said)
        return case.finding("format_of_many", said, shape=sizes(tensor.shape), tensors=(tensor,))
    return None


def tensors_not_listed(case: Case) -> Finding | None:
    """`torch.cat(a, b)`: the tensors belong into one list."""
    call = case.call
    if call is None or case.groups["got"] != "Tensor":
        return None
    tensors = [arg for arg in call.args if case.tensor_of(arg) is not None]
    if not tensors or tensors != call.args[: len(tensors)]:
        return None
    fix = (case.code.before(tensors[0], "["), case.code.after(tensors[-1], "]"))
    return case.finding(names=", ".join(map(case.code.short, tensors)), fix=fix)


def size_not_whole(case: Case) -> Finding | None:
    """A size that came from a division: `/` always gives a float."""
    call = case.call
    if call is None:
        return None
    parts = [inner for arg in call.args for inner in (arg.elts if isinstance(arg, ast.Tuple | ast.List) else [arg])]
    for part in [*parts, *(word.value for word in call.keywords)]:
        operand, value = case.operand(part), case.value_of(part)
        divided = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)
        if (operand is None or operand.type != "float") and not (divided and value is part):
            continue
        name = case.code.short(part)
        if not isinstance(value, ast.BinOp) or not divided:
            fix = (case.code.before(part, "int("), case.code.after(part, ")"))
            return case.finding("size_not_whole", name=name, fix=fix)
        sides = f"{case.code.text(value.left)} // {case.code.text(value.right)}"
        statement = case.made_last(part)
        span = case.code.span(statement) if statement is not None else None
        return case.finding("size_not_whole", span=span, name=name, fix=(case.code.replace(value, sides),))
    return None


def many_values(case: Case) -> Finding | None:
    """A tensor of several elements where one truth value or one number is needed."""
    called_here = case.operand(case.call.func) if case.call is not None else None
    if case.call is not None and called_here is not None and called_here.type == "type":
        return class_kept(case, case.call.func, "type") or made_with_data(case, case.call, "")
    node = case.node.test if isinstance(case.node, ast.While | ast.If) else case.node
    inside = list(ast.walk(node)) if node is not None else []
    joined = next((one for one in inside if isinstance(one, ast.BoolOp)), None)
    is_not = isinstance(node, ast.UnaryOp)
    tested = node.operand if isinstance(node, ast.UnaryOp) else node
    given = next(iter(case.inputs()), None) or case.tensor_of(tested)
    if joined is None and node is not None and isinstance(case.statement, ast.stmt):
        joined = next((one for one in case.code.around(node) if isinstance(one, ast.BoolOp)), None)
    if joined is not None and all(_holds_tensor(case, one) for one in joined.values):
        return _joined(case, joined, given)
    if given is None:
        return None
    is_test = is_not or isinstance(tested, ast.Compare | ast.Name | ast.Attribute | ast.BinOp)
    shown = tested if is_test and isinstance(tested, ast.expr) else None
    name = case.code.short(shown) if shown is not None else case.say(given)
    span = case.code.span(shown) if shown is not None else None
    return case.finding(span=span, name=name, shape=sizes(given.shape), tensors=(given,))


def _holds_tensor(case: Case, node: ast.expr) -> bool:
    """Whether a part of a condition names a tensor."""
    names = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return any(_is_tensor(case, name) for name in names)


def _joined(case: Case, joined: ast.BoolOp, given: Tensor | None) -> Finding | None:
    """`a > 0 and b > 0` of tensors."""
    tensor = given or next((tensor for one in joined.values if (tensor := case.tensor_of(one)) is not None), None)
    if tensor is None:
        return None
    sign, word = ("&", "and") if isinstance(joined.op, ast.And) else ("|", "or")
    above = case.code.parents.get(joined)
    parts = [case.code.text(one) for one in joined.values]
    names = [text if isinstance(one, ast.Name) else f"({text})" for one, text in zip(joined.values, parts, strict=True)]
    known = all(isinstance(one, ast.Name | ast.Compare) for one in joined.values)
    is_value = isinstance(above, ast.Assign | ast.Attribute | ast.Return | ast.Call)
    fix = (case.code.replace(joined, f" {sign} ".join(names)),) if known and is_value else ()
    said = {"sign": sign, "word": word, "shape": sizes(tensor.shape), "code": case.code.short(joined)}
    return case.finding("joined_tensors", said, tensors=(tensor,), fix=fix)
