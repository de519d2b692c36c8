"""Element types and devices that do not fit."""

import ast
import math
import re

from engine.findings.diagnosis import extent, is_of_ones_and_zeros, line
from engine.findings.failing.case import Case, a, is_complex, known, only_if
from engine.findings.failing.origins import dtype_origin, sizes, typed_by
from engine.findings.failing.shapes import PLACES, numbers
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword, names_read
from engine.program.rewriting import not_in_place, written
from engine.trace import Finding, Tensor

FLOATS = ("float32", "float64", "float16", "bfloat16")
_WORDS = {
    "Long": "int64", "Int": "int32", "Short": "int16", "Byte": "uint8", "Char": "int8", "Bool": "bool",
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip
_CASTS = {"float32": ".float()", "float64": ".double()", "int64": ".long()", "bool": ".bool()"}
_LAYERS = ("linear", "conv1d", "conv2d", "conv3d", "bilinear", "batch_norm", "layer_norm", "group_norm", "prelu")
_PARTS = frozenset("getitem index_select view reshape flatten unsqueeze squeeze permute transpose t contiguous".split())
_CHOOSING = frozenset("argmax argmin argsort choice item int sample step round".split())
"""Calls through which no gradient could come back in PyTorch either."""
_NOT_IN_LOSS = {"is_in_loss": "0", "root": "", "pass_line": ""}
_OF_NUMPY = ("from_numpy", "tensor", "as_tensor")
"""What makes a tensor of the type that NumPy's numbers have."""
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_CONVERSIONS = ("to", "type", "double", "half", "bfloat16")
_RECURRENT = ("RNN", "LSTM", "GRU")
_LOSSES_OF_CLASSES = ("cross_entropy", "nll_loss")


def mixed(case: Case) -> Finding:
    """A product of tensors of two types; elementwise operations convert, products do not."""
    named = {_WORDS[word] for word in re.findall(r"\w+", case.failure.message) if word in _WORDS}
    weighted = case.op is not None and case.op.name in _LOSSES_OF_CLASSES  # whose targets are whole numbers anyway
    parts = [case.first, case.argument(2, "weight")] if weighted else _given(case)
    given = [one for one in parts if len(named) < 2 or one.dtype in named]
    only_if(given)
    only_if(_WORDS.get(case.groups.get("expected", ""), given[0].dtype) in [one.dtype for one in given])
    other = known(next((tensor for tensor in given if tensor.dtype != given[0].dtype), None))
    is_part = is_complex(given[0]) != is_complex(other)
    is_first = case.op is None or case.op.name in _LAYERS or other.dtype == "float32"
    odd, fits = (given[0], other) if (is_complex(other) if is_part else is_first) else (other, given[0])
    cast = _CASTS.get(fits.dtype, f".to(torch.{fits.dtype})")
    made = _made_of_numbers(case, odd) if fits.dtype == "float32" and odd.dtype == "float64" else None
    fix = case.cast(odd, cast) if is_part or fits.dtype in ("float32", "float64") else ()
    fix = case.code.method(made, cast) if made is not None else fix
    said = {**case.about(odd, fits), **case.origin(odd, dtype_origin), "is_data": str(int(made is not None))}
    is_learnt = is_part and odd.role == "parameter"
    said |= {"is_complex": str(int(is_part)), "is_learnt": str(int(is_learnt)), "wanted": fits.dtype}
    said["data_line"] = str(made.lineno) if made is not None else ""
    return case.finding("", _of_layer(case) | said, tensors=(given[0], other), cast=cast, fix=fix)


def _made_of_numbers(case: Case, tensor: Tensor) -> ast.Call | None:
    """The call on another line that made a tensor, or what it was taken from, of NumPy's numbers."""
    maker = None
    for maker in case.makers(tensor):
        if maker.name not in _PARTS:
            break
    call = case.code.call_at(maker.span) if maker is not None and not maker.inputs else None
    if (
        maker is None
        or call is None
        or called(call) not in {*_OF_NUMPY} & {maker.name}
        or keyword(call, "dtype") is not None
    ):
        return None
    return None if line(case.code.span(call)) == line(case.failure.span) else call


def _given(case: Case) -> list[Tensor]:
    """The tensors given to the op that raised; of a recurrent layer, which looks at them before any op does, its input
    and its weights."""
    if case.op is not None:
        return case.inputs()
    given = known(case.tensor_of(known(case.written_as("LAYER(GIVEN, ...)")).part("GIVEN")))
    ran = [call for call in case.diagnosis.trace.calls if call.raised and call.span == case.failure.span]
    case.layer = known(case.diagnosis.modules.get(ran[-1].module) if ran else None)
    only_if(case.layer.type in _RECURRENT and f"input dtype (torch.{given.dtype})" in case.failure.message)
    return [given, *(case.diagnosis.tensors[member.tensor] for member in case.layer.parameters)]


def _of_layer(case: Case) -> dict[str, str]:
    return {"layer": case.layer.path} if case.layer is not None else {}


def converted(case: Case) -> Finding:
    """A model that was converted, and data that was not; or the other way round."""
    given = _given(case)
    weight = known(next((one for one in given[1:] if one.role == "parameter" and one.dtype != given[0].dtype), None))
    said, pair = {**_of_layer(case), **case.about(given[0], weight)}, (given[0], weight)
    if given[0].dtype != "float32":
        maker = known(typed_by(case.diagnosis, given[0]))
        before = known(case.diagnosis.input_of(maker))
        call = known(case.code.call_at(maker.span))
        turned = known(written(case.code, call, "GIVEN.METHOD(...)"))
        only_if(maker.name in _CONVERSIONS and len([*call.args, *call.keywords]) < 2)
        only_if(before.dtype == weight.dtype and given[0].dtype in FLOATS)
        said |= {"wanted": given[0].dtype, "is_model": "0"}
        return case.finding("converted_alone", said, span=maker.span, tensors=pair, fix=turned.instead("GIVEN"))
    only_if(weight.dtype in FLOATS)
    words = {"float16": "half", "bfloat16": "bfloat16", "float64": "double"}
    asked = [one for one in case.code.calls if called(one) == words[weight.dtype] and not one.args]
    asked += [one for one in case.code.calls if called(one) == "to" and f"torch.{weight.dtype}" in case.code.text(one)]
    only_if(len(asked) == 1)
    said |= {"wanted": weight.dtype, "is_model": "1"}
    return case.finding("converted_alone", said, span=case.code.span(asked[0]), tensors=pair)


def not_for_type(case: Case) -> Finding:
    """An operation that has no kernel for a type."""
    only_if(not known(case.op).name.endswith("_") and known(case.op).name not in _LOSSES_OF_CLASSES)
    dtype = _WORDS.get(case.groups.get("dtype", ""), case.groups.get("dtype", ""))
    given = known(next((input_ for input_ in case.inputs() if dtype in ("", input_.dtype)), None))
    fix = case.cast(given, ".float()") if given.dtype not in FLOATS else ()
    said = {
        "is_mask": "0",
        "is_complex": str(int(is_complex(given))),
        "cast": ".abs()" if is_complex(given) else ".float()",
    }
    return case.finding("", {**case.about(given), **said}, tensors=(given,), fix=fix)


def opposite(case: Case) -> Finding:
    """A minus before truth values, most often to turn a mask around."""
    given = known(next((one for one in case.inputs() if one.dtype == "bool"), None))
    match case.node:
        case ast.UnaryOp(op=ast.USub(), operand=turned) | ast.BinOp(left=ast.Constant(value=1), right=turned):
            text = case.code.text(turned)
            right = f"~{text}" if isinstance(turned, ast.Name | ast.Attribute | ast.Call) else f"~({text})"
            fix: Edits = (case.code.replace(case.node, right),)
        case _:
            fix = case.cast(given, ".float()")
    return case.finding(
        "", {**case.about(given), "op": "-", "is_mask": "1", "is_complex": "0", "cast": ""}, tensors=(given,), fix=fix
    )


def swapped(case: Case) -> Finding:
    """Class numbers where the scores belong, and the other way round: the types and shapes tell."""
    first, second = case.pair
    only_if(known(case.op).name in _LOSSES_OF_CLASSES and first.dtype not in FLOATS and second.dtype in FLOATS)
    only_if(len(second.shape) == len(first.shape) + 1)
    return case.finding("loss_swapped", case.about(first, second), fix=_exchanged(case, first, second))


def _exchanged(case: Case, first: Tensor, second: Tensor) -> Edits:
    one, other = case.written(first), case.written(second)
    if one is None or other is None:
        return ()
    return case.code.replace(one, case.code.text(other)), case.code.replace(other, case.code.text(one))


def cannot_store(case: Case) -> Finding:
    """An in-place result that the tensor's own type cannot hold."""
    own, result = (_WORDS.get(case.groups[name], "") for name in ("own", "result"))
    only_if(case.first.dtype == own)
    said, code = {"own": own, "result": result}, case.code
    match case.node:
        case ast.AugAssign(target=ast.Subscript(value=whole)):
            return case.finding("", said, tensors=(case.first,), name=code.short(whole), is_part="1")
        case _ if case.first.base is not None:  # of a view it is the whole that has a type
            whole_name = case.diagnosis.say(case.first.base)
            return case.finding("", said, tensors=(case.first,), name=whole_name, is_part="1")
        case ast.AugAssign(target=target) as node:
            said |= {"name": code.short(target), "is_part": "0"}
            return case.finding("", said, tensors=(case.first,), fix=not_in_place(code, node))
    return case.finding("", said, tensors=(case.first,), is_part="0")


def target_whole(case: Case) -> Finding:
    """Class numbers that are floats, or integers of another size."""
    target = case.argument(1, "target")
    only_if(target.dtype != "bool")
    return _to_cast(case, target, "int64", "target_not_long")


def scores_chosen(case: Case) -> Finding:
    """Places of the highest scores where a loss wants the scores; or one score each where it wants one for a class."""
    scores, target = case.pair
    only_if(known(case.op).name in _LOSSES_OF_CLASSES and scores.shape == target.shape and len(scores.shape) == 1)
    if scores.dtype in FLOATS:
        labels = numbers(target)
        only_if(target.dtype == "int64" and sum(labels) != 1 and len(labels) > 1)
        said = {"value": f"{max(labels):g}", **case.about(scores, target)}
        return case.finding("one_score", said, tensors=(scores, target))
    maker = known(next((op for op in case.makers(scores) if op.name in PLACES), None))
    found = written(case.code, case.code.at(maker.span), "GIVEN.argmax(...)")
    said = {**case.about(scores), "made": case.code.excerpt(maker.span), "made_line": line(maker.span)}
    fix = found.instead("GIVEN") if found is not None else ()
    return case.finding("scores_chosen", said, span=maker.span, tensors=(scores,), fix=fix)


def target_float(case: Case) -> Finding:
    """Targets that must be numbers like the predictions, and are whole."""
    target, loss = case.argument(1, "target"), known(case.op).name
    only_if("entropy" in loss or (case.rule != "in_place_dtype" and target.dtype != "bool"))
    is_one_hot = loss == "cross_entropy"
    return _to_cast(case, target, "float32", "target_one_hot" if is_one_hot else "target_not_float")


def mask(case: Case) -> Finding:
    """A mask of numbers, such as `tril` gives."""
    return _to_cast(case, case.argument(1, "mask"), "bool", "")


def _to_cast(case: Case, given: Tensor, dtype: str, code: str) -> Finding:
    """An argument of another type than the operation takes."""
    only_if(given.dtype != dtype)
    name = case.say(given)
    said = {"name": name, "target": name, "dtype": given.dtype, "shape": sizes(given.shape)}
    return case.finding(code, said, tensors=(given,), fix=case.cast(given, _CASTS[dtype]))


_INDEX_AT = {"embedding": 0, "embedding_bag": 0, "one_hot": 0, "take": 1, "take_along_dim": 1}
_INDEX_AT |= {"multi_margin_loss": 1, "multilabel_margin_loss": 1}
"""Where functions take their index that do not have the axis before it."""


def expected_long(case: Case) -> Finding:
    """The same where the message is one of types that differ: numbers of classes and places are of one type alone."""
    only_if(case.groups.get("expected") == "Long" and known(case.op).name.startswith(("scatter", "multi")))
    return indices(case)


def indices(case: Case) -> Finding:
    """Indices that are not whole numbers, or too short ones."""
    if isinstance(case.node, ast.Subscript):
        place: ast.expr | None = case.node.slice
        given = known(case.tensor_of(place))
    else:
        at = _INDEX_AT.get(known(case.op).name, 2)
        given = case.argument(at, "input" if at == 0 else "index")
        place = case.written(given)
    only_if(given.dtype != "int64")
    name = case.code.short(place) if place is not None else case.say(given)
    is_mask = isinstance(case.node, ast.Subscript) and is_of_ones_and_zeros(given)
    fix = case.code.method(place, ".long()") if place is not None and not is_mask else ()
    said = {**case.origin(given, dtype_origin), "name": name, "dtype": given.dtype, "is_mask": str(int(is_mask))}
    said |= {"is_whole": str(int(given.dtype not in FLOATS)), "is_taken": "0", "is_open": "0", "cast": ".long()"}
    return case.finding("index_dtype", said, tensors=(given,), fix=fix)


def bytes_for_places(case: Case) -> Finding:
    """Places kept as uint8, which an index takes for a mask: numbers beyond 0 and 1, or one for each row beside the
    numbers of the rows. Of an array the trace has no numbers, and that it is of bytes PyTorch's warning tells."""
    node, at = a(ast.Subscript, case.node), int(case.groups["at"])
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    only_if(len(places) > at and not any(isinstance(one, ast.Constant) for one in places))
    place, others = places[at], [one for one in places[:at] if not isinstance(one, ast.Slice)]
    tensor, operand = case.tensor_of(place), case.operand(place)
    is_array = operand is not None and operand.type == "ndarray"
    warned = [one for one in case.diagnosis.trace.warnings if one.span == case.failure.span]
    is_warned = any("indexing with dtype torch.uint8" in one.message for one in warned)
    only_if(is_array and is_warned if tensor is None else tensor.dtype == "uint8")
    numbers_known = extent(tensor)
    is_of_rows = bool(others) and case.groups["mask"].strip("[]") == str(case.first.shape[0])
    is_open = not is_of_rows and numbers_known is None
    only_if(is_of_rows or is_open or (numbers_known is not None and numbers_known[1] > 1))
    cast = '.astype("int64")' if is_array else ".long()"
    said = {"name": case.code.short(place), "dtype": "uint8", "is_mask": "0", "is_whole": "0", "is_taken": "1"}
    said |= {"is_open": str(int(is_open)), "cast": cast}
    fix = () if is_open else case.code.method(place, cast)
    return case.finding("index_dtype", said, tensors=() if tensor is None else (tensor,), fix=fix)


def cannot_require(case: Case) -> Finding:
    """Whole numbers have no gradient."""
    call, code = known(case.call), case.code
    fix: Edits = ()
    asked = case.written_as("NAME.requires_grad_(...)")
    typed, wanted = keyword(call, "dtype"), "dtype=torch.float32"
    if asked is not None:
        name, alone = asked.part("NAME"), isinstance(case.code.parents.get(call), ast.Expr)
        if alone and isinstance(name, ast.Name):
            fix = asked.instead("NAME = NAME.float().requires_grad_()")
        elif not alone:
            fix = code.method(name, ".float()")
    elif code.text(call.func).endswith("Parameter") and len(call.args) == 1:
        fix = code.method(call.args[0], ".float()")
    elif code.is_bound("torch") and keyword(call, "requires_grad") is not None:
        fix = (code.replace(typed, wanted) if typed is not None else code.argument_added(call, wanted),)
    return case.finding(fix=fix)


def devices(case: Case) -> Finding:
    """Tensors on two devices in one operation."""
    other = known(next((tensor for tensor in case.inputs() if tensor.device != case.first.device), None))
    left, there = sorted((case.first, other), key=lambda tensor: tensor.device != "cpu")
    is_data = left.device == "cpu" and there.device.startswith("cuda") and left.role != "parameter"
    fix = case.cast(left, f".to({_device_named(case, there.device)})") if is_data else ()
    return case.finding("", case.about(case.first, other), tensors=(case.first, other), fix=fix)


def _device_named(case: Case, device: str) -> str:
    """What the program writes for a device where it moves anything; the device itself where that is not one name."""
    moved = [call.args[0] for call in case.code.calls if called(call) == "to" and call.args]
    names = {case.code.text(given) for given in moved if isinstance(given, ast.Name)}
    return names.pop() if len(names) == 1 else repr(device)


def numpy_in_loss(case: Case) -> Finding:
    """A NumPy array that a pass is to start from: without its history it would train nothing."""
    call, begins = known(case.call), known(_pass_of(case))
    given = known(case.code.receiver(call) if called(call) == "numpy" else next(iter(call.args), None))
    only_if(not isinstance(given, _LISTS) and known(case.tensor_of(given)).requires_grad)
    root = case.code.short(known(case.code.receiver(begins)))
    said = {"name": case.code.short(given), "is_in_loss": "1", "root": root, "pass_line": str(begins.lineno)}
    return case.finding("numpy_of_tracked", said)


def _pass_of(case: Case) -> ast.Call | None:
    """The `backward()` further down that starts from what the line that failed computes, by the names that it is handed
    on by in each of the functions that were running."""
    code = case.code
    for here in (code.statement_at(frame.span) for frame in reversed(case.failure.frames) if frame.span is not None):
        if not isinstance(here, ast.Assign | ast.AugAssign | ast.Return) or _is_choosing(here):
            return None
        own = [one for one in code.nodes if isinstance(one, ast.stmt) and code.function(one) is code.function(here)]
        stores = [one for one in own if isinstance(one, ast.Assign | ast.AugAssign)]
        names, more = set[str](), _stored(here)
        while more - names:
            names |= more
            given = (one for one in stores if not names.isdisjoint(names_read(one.value)) and not _is_choosing(one))
            more = {name for one in given for name in _stored(one)}
        for call in (one for one in code.calls if called(one) == "backward" and code.statement(one) in own):
            root = dotted(code.receiver(call))
            before = [one for one in stores if root in _stored(one) and one.lineno < call.lineno]
            last = max(before, key=lambda one: one.lineno, default=None)
            is_from = last is here or (last is not None and not names.isdisjoint(names_read(last.value)))
            if root in names and is_from and here.lineno < call.lineno:
                return call
        returns = (one for one in own if isinstance(one, ast.Return))
        if not any(one is here or not names.isdisjoint(names_read(one)) for one in returns):
            return None
    return None


def _stored(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value."""
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _is_choosing(statement: ast.stmt) -> bool:
    return any(isinstance(one, ast.Call) and called(one) in _CHOOSING for one in ast.walk(statement))


def numpy_of_tracked(case: Case) -> Finding:
    """A NumPy array of a tensor whose operations are being recorded."""
    tensors = [(arg, case.tensor_of(arg)) for arg in known(case.call).args]
    tracked = [arg for arg, tensor in tensors if tensor is not None and tensor.requires_grad]
    only_if(tensors)
    operand = case.operand(tensors[0][0])
    if isinstance(tensors[0][0], _LISTS) or (operand is not None and operand.type in ("list", "tuple")):
        return _list_for_numpy(case, tensors[0][0])
    if len(tracked) != 1:
        return case.finding("", {"name": case.code.short(tensors[0][0]), **_NOT_IN_LOSS})
    fix = case.code.method(tracked[0], ".detach()")
    return case.finding("", {"name": case.code.short(tracked[0]), **_NOT_IN_LOSS}, fix=fix)


def _list_for_numpy(case: Case, given: ast.expr) -> Finding:
    """A list of tensors that are recorded: what NumPy takes are the numbers."""
    made = case.value_of(given)
    if isinstance(made, ast.ListComp):
        values = [made.elt]
    elif isinstance(made, ast.List | ast.Tuple) and made.elts:
        values = [one for one in made.elts if (tensor := case.tensor_of(one)) is not None and tensor.requires_grad]
    else:
        values = [known(case.appended(given)).part("VALUE")]
    held = [_given_by(case, value) or _listed(case, given) for value in values]
    only_if(held and all(held) and all(tensor.requires_grad for each in held for tensor in each))
    shapes = {tensor.shape for each in held for tensor in each}
    taken, text = ".item()" if shapes == {()} else ".detach()", case.code.short(values[0])
    is_bare = isinstance(values[0], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    said = {"name": case.code.short(given), "value": text, "right": f"{text if is_bare else f'({text})'}{taken}"}
    fix = [edit for value in values for edit in case.code.method(value, taken)]
    return case.finding("numpy_of_list", said, span=case.code.span(values[0]), fix=fix)


def _given_by(case: Case, node: ast.expr) -> list[Tensor]:
    """The tensors that an expression gave, each time that it ran."""
    ran = (case.diagnosis.output_of(op) for op in case.diagnosis.ops_at(case.code.span(node)))
    return case.diagnosis.bound_to(node) or [tensor for tensor in ran if tensor is not None]


def _listed(case: Case, given: ast.expr) -> list[Tensor]:
    """The tensors that stand in a list of the program."""
    lists = (bound.tensors for bound in case.diagnosis.trace.variables if bound.name == dotted(given))
    return [case.diagnosis.tensors[tensor] for tensors in lists for tensor in tensors]


_OF_MATH = {"fabs": "abs", "fsum": "sum"} | {
    name: name
    for name in (
        "log log2 log10 log1p exp exp2 expm1 sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
        " erf erfc lgamma pow isnan isinf isfinite"
    ).split()
}
"""The functions of Python's `math` that `torch` has as well, by their name there."""
_MAKERS = re.compile(r"(\w*Tensor|(as_|new_)?tensor|asarray)$")


def number_of_many(case: Case) -> Finding:
    """`float(x)` or `math.log(x)` of one tensor with several elements; whose like in `torch` computes with all."""
    call, code = known(case.call), case.code
    function = code.text(call.func)
    parts = [tensor for one in call.args if (tensor := case.tensor_of(one)) is not None and math.prod(tensor.shape) > 1]
    is_math = function.startswith("math.") and "math" in code.imported
    is_cast = function in ("float", "int", "complex")
    only_if((is_math or is_cast) and len(call.args) == 1 + (function == "math.pow") and (parts or is_cast))
    given = next((one for one in call.args if parts and case.tensor_of(one) is parts[0]), call.args[0])
    right = f"torch.{_OF_MATH[called(call)]}" if is_math and called(call) in _OF_MATH else ""
    around = code.function(call)
    calls = [one for one in code.calls if around is not None and called(one) == getattr(around, "name", "")]
    fix = (code.replace(call.func, right),) if right and case.has_torch and len(calls) < 2 else ()
    said = {"name": code.short(given), "function": function, "right": right, "is_math": str(int(bool(right)))}
    return case.finding("number_of_many", said, tensors=parts[:1], fix=fix)


def tensors_in_list(case: Case) -> Finding:
    """`torch.tensor([a, b])` of tensors with several elements."""
    call = known(case.call)
    only_if(len(call.args) == 1 and _MAKERS.match(called(call)))
    given, function = call.args[0], case.code.text(call.func)
    parts: list[Tensor | None] = []
    match given:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            parts += map(case.tensor_of, elements)
        case ast.ListComp(elt=element):
            parts += _given_by(case, element)
        case _:
            parts += _listed(case, given)
    is_alike = len({tensor and tensor.shape for tensor in parts}) == 1 and None not in parts
    is_certain = is_alike and not call.keywords and case.has_torch
    fix = (case.code.replace(call.func, "torch.stack"),) if is_certain else ()
    return case.finding(function=function, fix=fix)
