"""Something else stands where a tensor is needed: a layer, a pair, None, a number that is not whole."""

import ast

from engine.findings.failing.calls import PAIRS, is_floats
from engine.findings.failing.case import Case
from engine.findings.failing.none_values import list_method, made_last, no_return
from engine.program.names import called
from engine.trace import Edit, Finding, Span

RECURRENT = frozenset({"RNN", "LSTM", "GRU", "LSTMCell", "MultiheadAttention"})
"""Layers whose call gives a pair."""
_NO_DATA = frozenset(
    "ReLU LeakyReLU GELU SiLU ELU Sigmoid Tanh Softmax LogSoftmax Softplus Flatten Identity Dropout".split()
)
"""Layers whose brackets take options only, never a tensor."""


def not_a_tensor(case: Case) -> Finding | None:
    """What stands where a tensor is needed, and where it came from."""
    call = case.call
    if call is None:
        return None
    got, node = case.groups["got"], _given(case, call)
    if node is not None:
        if got == "NoneType":
            return nothing(case, node)
        if got == "tuple":
            found = _pair(case, node)
            if found is not None:
                return found
        if any(module.type == got for module in case.diagnosis.trace.modules) or got in _NO_DATA:
            return _layer(case, node)
    if got == "NoneType":
        return case.finding("none_for_tensor", function=case.groups["function"], argument=case.groups["argument"])
    makers = {"list": "torch.tensor", "float": "torch.tensor", "tuple": "torch.tensor", "int": "torch.tensor"}
    fix: tuple[Edit, ...] = ()
    if node is not None and got in makers and case.code.is_bound("torch") and is_floats(node):
        fix = (case.code.replace(node, f"torch.tensor({case.code.text(node)})"),)
    return case.finding(function=case.groups["function"], got=got, argument=case.groups["argument"], fix=fix)


def _given(case: Case, call: ast.Call) -> ast.expr | None:
    """The argument the message means; a module hands its own on in the same order when it is a loss or takes one."""
    position = int(case.groups["position"]) - 1
    operand = case.operand(ast.unparse(call.func))
    is_own = operand is not None and operand.type not in ("builtin_function_or_method", "function", "method_descriptor")
    if is_own and operand is not None and not operand.type.endswith("Loss") and len(call.args) != 1:
        return None
    return call.args[position] if position < len(call.args) else None


def nothing(case: Case, node: ast.expr) -> Finding:
    """None: of a function without `return`, or of a list's method that changes the list itself."""
    return (
        no_return(case, node)
        or list_method(case, node)
        or case.finding(
            "none_for_tensor", function=case.groups.get("function", ""), argument=case.groups.get("argument", "")
        )
    )


def _layer(case: Case, node: ast.expr) -> Finding | None:
    """A layer itself: never called, or made with the tensor that it should be called with."""
    made = made_with_data(case, node)
    if made is not None:
        return made
    got = case.groups["got"]
    if not isinstance(node, ast.Attribute | ast.Name):
        return None
    function = case.code.function(node)
    arguments = [arg.arg for arg in function.args.args if arg.arg != "self"] if function is not None else []
    layer = case.code.short(node)
    x = arguments[0] if len(arguments) == 1 else "x"
    fix = (case.code.after(node, f"({x})"),) if len(arguments) == 1 else ()
    return case.finding(
        "layer_not_called", layer=layer, type=got, function=case.groups["function"], right=f"{layer}({x})", fix=fix
    )


def made_with_data(case: Case, node: ast.expr) -> Finding | None:
    """`nn.ReLU(x)` and `nn.MSELoss(a, b)`: the tensors went into the brackets that take options."""
    value: ast.expr = node
    statement = made_last(case, node)
    if statement is not None:
        value = statement.value
    if not isinstance(value, ast.Call) or not called(value):
        return None
    name = called(value)
    data = [arg for arg in value.args if not isinstance(arg, ast.Constant | ast.UnaryOp)]
    if not data or len(data) != len(value.args) or value.keywords:
        return None
    span, fix = case.code.span(value), (case.code.after(value.func, "()"),)
    written = case.code.text(value.func)
    if name.endswith("Loss") and len(data) == 2:
        return case.finding("loss_not_made", span=span, name=name, fix=fix)
    if name in _NO_DATA and len(data) == 1:
        return case.finding(
            "layer_not_made", span=span, layer=written, right=f"{written}()({case.code.short(data[0])})", fix=fix
        )
    return None


def made_now(case: Case) -> Finding | None:
    """`nn.Sigmoid(x)`, whose brackets take nothing at all."""
    return made_with_data(case, case.call) if case.call is not None else None


def _pair(case: Case, node: ast.expr) -> Finding | None:
    """The output and the state of a recurrent layer, or values and indices, kept under one name."""
    statement = made_last(case, node)
    call = statement.value if statement is not None else node
    if not isinstance(call, ast.Call):
        return None
    made = _module_type(case, call.func)
    if made in RECURRENT:
        name = case.code.short(node)
        if statement is None or not isinstance(statement.targets[0], ast.Name):
            fix = (case.code.after(call, "[0]"),)
        else:
            fix = (case.code.after(statement.targets[0], ", _"),)
        parts = "output, weights" if made == "MultiheadAttention" else "output, state"
        return case.finding(
            "recurrent_pair",
            span=case.code.span(statement or call),
            layer=case.code.short(call.func),
            type=made,
            name=name,
            parts=parts,
            fix=fix,
        )
    return None


def _module_type(case: Case, function: ast.expr) -> str:
    """Class of the module that a call runs, by its path in the model."""
    operand = case.operand(ast.unparse(function))
    if operand is not None:
        return operand.type
    last = ast.unparse(function).rpartition(".")[2]
    types = {module.type for module in case.diagnosis.trace.modules if module.path.rpartition(".")[2] == last}
    return types.pop() if len(types) == 1 else ""


def pair_for_tensor(case: Case) -> Finding | None:
    """`out.shape`, `out[:, -1]` of what a recurrent layer gave."""
    node = case.node
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _pair(case, node.value)
    return None


def compared_whole(case: Case) -> Finding | None:
    """`(pred == labels).sum()` where one side is no tensor: Python compares the two as wholes."""
    node = case.node
    if not isinstance(node, ast.Attribute):
        return None
    compared: ast.expr = node.value
    if isinstance(compared, ast.Name):
        statement = made_last(case, compared)
        compared = statement.value if statement is not None else compared
    if not isinstance(compared, ast.Compare) or len(compared.comparators) != 1:
        return None
    for side in (compared.left, compared.comparators[0]):
        made = made_last(case, side)
        call = made.value if made is not None else side
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in PAIRS:
            fix = case.code.method(side, ".indices")
            span = case.code.span(compared)
            return case.finding("pair_returned", span=span, op=call.func.attr, name=case.code.short(side), fix=fix)
    return case.finding("compared_as_wholes", compared=case.code.short(compared), attribute=node.attr)


def size_not_whole(case: Case) -> Finding | None:
    """A size that came from a division: `/` always gives a float."""
    call = case.call
    if call is None:
        return None
    parts = [inner for arg in call.args for inner in (arg.elts if isinstance(arg, ast.Tuple | ast.List) else [arg])]
    for part in [*parts, *(word.value for word in call.keywords)]:
        operand = case.operand(ast.unparse(part))
        divided = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)
        if not divided and (operand is None or operand.type != "float"):
            continue
        statement = made_last(case, part)
        value = part if divided else statement.value if statement is not None else None
        span = case.code.span(statement) if statement is not None else case.failure.span
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            return case.finding(
                "size_not_whole", span=span, name=case.code.short(part), fix=(_floored(case, value),),
                used_line=str(case.failure.span.line) if case.failure.span is not None else "?",
            )  # fmt: skip
        fix = (case.code.before(part, "int("), case.code.after(part, ")"))
        used = str(case.failure.span.line) if case.failure.span is not None else "?"
        return case.finding("size_not_whole", name=case.code.short(part), used_line=used, fix=fix)
    return None


def _floored(case: Case, division: ast.BinOp) -> Edit:
    """Writes `//` between the two sides."""
    left, right = case.code.span(division.left), case.code.span(division.right)
    text = case.code.lines[left.end_line - 1]
    at = text.find("/", left.end_column)
    where = Span(line=left.end_line, end_line=left.end_line, column=at, end_column=at + 1)
    return Edit(span=where if at >= 0 else right, text="//" if at >= 0 else case.code.text(division.right))


def tensors_not_listed(case: Case) -> Finding | None:
    """`torch.cat(a, b)`: the tensors belong into one list."""
    call = case.call
    if call is None or not call.args:
        return None
    if case.groups["got"] == "NoneType":
        return nothing(case, call.args[0])
    if case.groups["got"] != "Tensor":
        return None
    tensors = [arg for arg in call.args if case.tensor_of(arg) is not None]
    together = tensors == call.args[: len(tensors)]
    fix = (case.code.before(tensors[0], "["), case.code.after(tensors[-1], "]")) if tensors and together else ()
    return case.finding(
        "tensors_not_listed", names=", ".join(case.code.short(tensor) for tensor in tensors or call.args[:1]), fix=fix
    )
