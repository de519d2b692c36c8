"""Element types and devices that do not fit."""

import ast

from engine.findings.failing.case import Case, sizes
from engine.program.edits import Edits
from engine.program.names import dotted, keyword
from engine.trace import Finding, Tensor

FLOATS = ("float32", "float64", "float16", "bfloat16")
_WORDS = {
    "Long": "int64", "Int": "int32", "Short": "int16", "Byte": "uint8", "Char": "int8", "Bool": "bool",
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16",
}  # fmt: skip
_CASTS = {"float32": ".float()", "float64": ".double()", "int64": ".long()"}
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_LAYERS = ("linear", "conv1d", "conv2d", "conv3d", "bilinear")
_LOSSES_OF_CLASSES = ("cross_entropy", "nll_loss")


def mixed(case: Case) -> Finding | None:
    """A product of tensors of two types; elementwise operations convert, products do not."""
    op, given = case.op, case.inputs()
    other = next((tensor for tensor in given if tensor.dtype != given[0].dtype), None)
    if op is None or other is None:
        return None
    odd = given[0] if op.name in _LAYERS or other.dtype == "float32" else other
    fits = other if odd is given[0] else given[0]
    cast = _CASTS.get(fits.dtype, f".to(torch.{fits.dtype})")
    fix = case.cast(odd, cast) if fits.dtype in ("float32", "float64") else ()
    said = {**case.about(odd, fits), **case.dtype_origin(odd)}
    return case.finding("", said, tensors=(given[0], other), cast=cast, fix=fix)


def not_for_type(case: Case) -> Finding | None:
    """An operation that has no kernel for a type; a loss of class numbers tells that its arguments are swapped."""
    scores, target = case.argument(0, "input"), case.argument(1, "target")
    if case.op is None:
        return None
    if case.op.name in _LOSSES_OF_CLASSES and scores is not None and target is not None:
        return swapped(case)
    dtype = _WORDS.get(case.groups.get("dtype", ""), case.groups.get("dtype", ""))
    given = next((input_ for input_ in case.inputs() if dtype in ("", input_.dtype)), None)
    if given is None:
        return None
    fix = case.cast(given, ".float()") if given.dtype not in FLOATS else ()
    return case.finding("", case.about(given), tensors=(given,), fix=fix)


def swapped(case: Case) -> Finding | None:
    """Class numbers where the scores belong, and the other way round: the types and shapes tell."""
    pair = case.inputs()[:2]
    if case.op is None or case.op.name not in _LOSSES_OF_CLASSES or len(pair) != 2:
        return None
    first, second = pair
    if first.dtype in FLOATS or second.dtype not in FLOATS or len(second.shape) != len(first.shape) + 1:
        return None
    call = case.call
    given = [case.written(one) for one in pair]
    fix: Edits = ()
    if call is not None and given[0] is not None and given[1] is not None:
        fix = (
            case.code.replace(given[0], case.code.text(given[1])),
            case.code.replace(given[1], case.code.text(given[0])),
        )
    return case.finding("loss_swapped", case.about(first, second), fix=fix)


def cannot_store(case: Case) -> Finding | None:
    """An in-place result that the tensor's own type cannot hold; or a loss whose target has whole numbers."""
    op, target = case.op, case.argument(1, "target")
    if op is None:
        return None
    if "binary_cross_entropy" in op.name and target is not None:
        return _target(case, target, "float32", "target_not_float")
    given = next(iter(case.inputs()), None)
    result, own = _WORDS.get(case.groups["result"], ""), _WORDS.get(case.groups["own"], "")
    if given is None or given.dtype != own:
        return None
    said = {"own": own, "result": result}
    node = case.node
    fix: Edits = ()
    if isinstance(node, ast.AugAssign):
        said["name"] = name = case.code.short(node.target)
        sign, value = _SIGNS.get(type(node.op)), case.code.text(node.value)
        if sign and isinstance(node.target, ast.Name):
            plain = isinstance(node.value, ast.Name | ast.Constant | ast.Call | ast.Attribute)
            fix = (case.code.replace(node, f"{name} = {name} {sign} {value if plain else f'({value})'}"),)
    return case.finding("", said, tensors=(given,), fix=fix)


def target_whole(case: Case) -> Finding | None:
    """Class numbers that are floats."""
    target = case.argument(1, "target")
    return swapped(case) or (
        _target(case, target, "int64", "target_not_long") if target is not None and target.dtype in FLOATS else None
    )


def target_float(case: Case) -> Finding | None:
    """Targets that must be numbers like the predictions, and are whole."""
    target = case.argument(1, "target")
    if target is None or target.dtype in FLOATS:
        return None
    is_one_hot = case.op is not None and case.op.name == "cross_entropy"
    return _target(case, target, "float32", "target_one_hot" if is_one_hot else "target_not_float")


def _target(case: Case, target: Tensor, dtype: str, code: str) -> Finding | None:
    if target.dtype == dtype:
        return None
    said = {"target": case.say(target), "dtype": target.dtype, "shape": sizes(target.shape)}
    return case.finding(code, said, tensors=(target,), fix=case.cast(target, _CASTS[dtype]))


def indices(case: Case) -> Finding | None:
    """Indices that are not whole numbers."""
    node = case.node
    if isinstance(node, ast.Subscript):
        place: ast.expr | None = node.slice
        tensor = case.tensor_of(place)
    else:
        found = [input_ for input_ in case.inputs() if input_.dtype in FLOATS and input_.role != "parameter"]
        is_first = case.op is not None and case.op.name in ("embedding", "one_hot")
        tensor = (found[0] if is_first else found[-1]) if found else None
        place = case.written(tensor)
    if tensor is None or tensor.dtype not in FLOATS:
        return None
    name = case.code.short(place) if place is not None else case.say(tensor)
    fix = case.code.method(place, ".long()") if place is not None else ()
    said = {**case.dtype_origin(tensor), "name": name, "dtype": tensor.dtype}
    return case.finding("", said, tensors=(tensor,), fix=fix)


def index_not_whole(case: Case) -> Finding | None:
    """`x[0.5]`, or `x[n / 2]`, whose result is a float even when it is even."""
    node = case.node
    if not isinstance(node, ast.Subscript):
        return None
    fix: Edits = ()
    if isinstance(node.slice, ast.BinOp) and isinstance(node.slice.op, ast.Div):
        left, right = case.code.text(node.slice.left), case.code.text(node.slice.right)
        fix = (case.code.replace(node.slice, f"{left} // {right}"),)
    return case.finding(index=case.code.short(node.slice), fix=fix)


def cannot_require(case: Case) -> Finding | None:
    """Whole numbers have no gradient."""
    call = case.call
    if call is None:
        return None
    fix: Edits = ()
    typed = keyword(call, "dtype")
    function = case.code.text(call.func)
    if function.endswith("requires_grad_") and isinstance(call.func, ast.Attribute):
        receiver = call.func.value
        alone = isinstance(case.statement, ast.Expr) and case.statement.value is call
        if alone and isinstance(receiver, ast.Name):
            fix = (case.code.replace(call, f"{receiver.id} = {receiver.id}.float().requires_grad_()"),)
        elif not alone:
            fix = case.code.method(receiver, ".float()")
    elif function.endswith("Parameter") and len(call.args) == 1:
        fix = case.code.method(call.args[0], ".float()")
    elif case.code.is_bound("torch") and keyword(call, "requires_grad") is not None:
        wanted = "dtype=torch.float32"
        fix = (case.code.replace(typed, wanted) if typed is not None else case.code.argument_added(call, wanted),)
    return case.finding(fix=fix)


def devices(case: Case) -> Finding | None:
    """Tensors on two devices in one operation."""
    given = case.inputs()
    other = next((tensor for tensor in given if tensor.device != given[0].device), None)
    return case.finding("", case.about(given[0], other), tensors=(given[0], other)) if other is not None else None


def numpy_of_tracked(case: Case) -> Finding | None:
    """A NumPy array of a tensor whose operations are being recorded."""
    match case.call:
        case ast.Call(func=ast.Attribute(attr="numpy", value=value), args=[]):
            return case.finding(name=case.code.short(value), fix=case.code.method(value, ".detach()"))
        case ast.Call(args=arguments) as call:
            given = [(arg, case.tensor_of(arg)) for arg in arguments]
            tracked = [arg for arg, tensor in given if tensor is not None and tensor.requires_grad]
            if (own := of_numpy(case, call)) is not None:
                return own
            if len(tracked) == 1:
                fix = case.code.method(tracked[0], ".detach()")
                return case.finding(name=case.code.short(tracked[0]), fix=fix)
            return case.finding(name=case.code.short(arguments[0])) if arguments else None
    return None


_IN_BOTH = frozenset(
    "exp log log2 log10 log1p expm1 sqrt sin cos tan sinh cosh tanh abs square maximum minimum sum mean sign floor ceil"
    " clip matmul where".split()
)
"""Functions that NumPy and PyTorch call by one name."""


def of_numpy(case: Case, call: ast.Call) -> Finding | None:
    """`np.exp(w)`: a computation that PyTorch has too."""
    module, _, function = dotted(call.func).rpartition(".")
    is_tensor = bool(call.args) and case.tensor_of(call.args[0]) is not None
    if module not in ("np", "numpy") or function not in _IN_BOTH or not is_tensor:
        return None
    fix = (case.code.replace(call.func, f"torch.{function}"),) if case.code.is_bound("torch") else ()
    return case.finding("numpy_function", name=f"{module}.{function}", function=function, fix=fix)


def tensors_in_list(case: Case) -> Finding | None:
    """`torch.tensor([a, b])` of tensors with several elements; or `float(x)` of one."""
    call = case.call
    if call is None or len(call.args) != 1:
        return None
    given, function = call.args[0], case.code.text(call.func)
    if function in ("float", "int", "complex", "bool"):
        return case.finding("number_of_many", name=case.code.short(given), function=function)
    literal = isinstance(given, ast.List | ast.Tuple)
    parts = [case.tensor_of(part) for part in given.elts] if isinstance(given, ast.List | ast.Tuple) else []
    alike = len({tensor.shape for tensor in parts if tensor is not None}) == 1 and None not in parts
    fix: Edits = ()
    if (alike or not literal) and not call.keywords and case.code.is_bound("torch"):
        fix = (case.code.replace(call.func, "torch.stack"),)
    return case.finding(function=function, fix=fix)


def mask(case: Case) -> Finding | None:
    """A mask of numbers, such as `tril` gives."""
    given = case.argument(1, "mask")
    if given is None or given.dtype == "bool":
        return None
    return case.finding("", case.about(given), tensors=(given,), fix=case.cast(given, ".bool()"))


def distribution(case: Case) -> Finding | None:
    """A distribution made of numbers that it cannot have: most often the scores of a layer for probabilities."""
    call = case.call
    if call is None or not call.args:
        return None
    first, kind = call.args[0], case.groups["type"]
    said = {"name": case.code.short(first), "written": case.code.short(call.func)}
    if case.groups["parameter"] == "probs":
        return case.finding("probs_invalid", said, fix=(case.code.before(first, "logits="),))
    return case.finding("", said, type=kind)
