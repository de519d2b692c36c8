"""An argument that must be something else than what was given: what was given, and why it is that."""

import ast
import math
import re
from collections.abc import Sequence
from fractions import Fraction

from engine.findings.batch_axis import TURNS
from engine.findings.diagnosis import extent, line, numbers_of
from engine.findings.failing.case import Case, a, first_told, known, of_first, only_if
from engine.findings.failing.origins import sizes
from engine.findings.failing.values import METHODS, RECURRENT, is_tensor, odd_value
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.program.rewriting import written
from engine.trace import Edit, Finding, Tensor

MOST_FORMS = 3
_OF_NUMBERS = tuple("bcdeEfFgGnoxX%")
"""How formats end that write one number; others only make room for what is printed."""
_ORDERS = {
    **dict.fromkeys(("Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel"), "loc scale"),
    **dict.fromkeys(("Gamma", "InverseGamma"), "concentration rate"),
    **dict.fromkeys(("Beta", "Kumaraswamy"), "concentration1 concentration0"),
    **dict.fromkeys(("Binomial", "NegativeBinomial"), "total_count probs"),
    **{"StudentT": "df loc scale", "Uniform": "low high", "VonMises": "loc concentration", "Pareto": "scale alpha"},
    **{
        "Weibull": "scale concentration",
        "FisherSnedecor": "df1 df2",
        "LowRankMultivariateNormal": "loc cov_factor cov_diag",
    },
    "MultivariateNormal": "loc covariance_matrix precision_matrix scale_tril",
}
"""The parameters of distributions that have several, in the order in which they are given."""


def not_a_tensor(case: Case) -> Finding:
    """An argument that must be a tensor, by what was given."""
    call, got = known(case.call), case.groups["got"]
    if got == "NoneType":
        return case.finding("none_for_tensor")
    if got == "tuple" and (told := first_told((pair_inside, odd_value), case)) is not None:
        return told
    node = known(_given(case, call))
    return case.finding(given=case.code.short(node), fix=_as_tensor(case, node))


def pair_inside(case: Case) -> Finding:
    """The output and state of a recurrent layer, which a `Sequential` hands to its next layer together."""
    call = known(case.call)
    operand, outer = case.operand(call.func), dotted(call.func).removeprefix("self.")
    recurrent = [one for one in case.diagnosis.trace.modules if one.type in RECURRENT]
    inside = [one for one in recurrent if outer and one.path.rpartition(".")[0].endswith(outer)]
    only_if(inside and operand is not None and operand.type == "Sequential")
    parts = ", ".join(RECURRENT[inside[-1].type])
    return case.finding("pair_inside", layer=inside[-1].path, type=inside[-1].type, parts=parts)


def _given(case: Case, call: ast.Call) -> ast.expr | None:
    """The argument the message means; a layer hands its only one on."""
    position = int(case.groups["position"]) - 1
    operand = case.operand(call.func)
    is_layer = operand is not None and operand.type not in (*METHODS, "function") and not operand.type.endswith("Loss")
    if (is_layer and len(call.args) != 1) or position >= len(call.args):
        return None
    return call.args[position]


def _as_tensor(case: Case, node: ast.expr) -> tuple[Edit, ...]:
    """A literal made a tensor, when its numbers all make one floating tensor."""
    inside = list(ast.walk(node))
    literal = ast.List | ast.Tuple | ast.Constant | ast.Load | ast.UnaryOp | ast.USub
    has_floats = any(isinstance(inner, ast.Constant) and isinstance(inner.value, float) for inner in inside)
    is_floats = has_floats and all(isinstance(inner, literal) for inner in inside)
    return (case.code.replace(node, f"torch.tensor({case.code.text(node)})"),) if is_floats and case.has_torch else ()


def packed(case: Case) -> Finding:
    """A packed sequence where a tensor is wanted."""
    found = [one.text for one in case.failure.operands if one.type == "PackedSequence"]
    only_if(len(found) == 1)
    node, (name,) = case.node, found
    parts = [node.value] if isinstance(node, ast.Subscript) else ast.walk(known(node))
    only_if(any(dotted(part) == name for part in parts))
    packing = [one for one in case.code.calls if called(one) == "pack_padded_sequence"]
    is_first = any(case.code.text(word) == "batch_first=True" for call in packing for word in call.keywords)
    right = f"pad_packed_sequence({name}{', batch_first=True' if is_first else ''})[0]"
    return case.finding(name=name, right=right, is_first=str(int(is_first)))


def runs_backwards(case: Case) -> Finding:
    """A NumPy array with an axis turned around."""
    given = known(next(iter(known(case.call).args), None))
    return case.finding(name=case.code.short(given), fix=case.code.method(given, ".copy()"))


def text_given(case: Case) -> Finding:
    """Text where a tensor takes numbers, or a NumPy array of it or of Python objects."""
    kind, given = case.groups.get("kind", ""), case.call.args[:1] if case.call is not None else []
    fix = case.code.method(given[0], '.astype("float32")') if kind and given else ()
    said = {"is_array": str(int(bool(kind))), "is_objects": str(int(kind == "object_"))}
    return case.finding("", said, fix=fix, is_read=str(int(kind not in ("", "object_"))))


def other_forms(case: Case) -> Finding:
    """A function of PyTorch called in no form that it has: the forms, without options, as its message lists them."""
    known(case.call)
    listed = re.findall(r"^ \* \((.*?)(?:, )?(?:\*.*)?\)$", case.failure.message, re.MULTILINE)
    python = (re.sub(r"tuple of (\w+)s\b", r"tuple[\1, ...]", form).replace("Number ", "float ") for form in listed)
    forms = list(dict.fromkeys(f"`{case.groups['function']}({form})`" for form in python))
    only_if(forms)
    return case.finding(forms=", ".join(forms[:MOST_FORMS]))


def dataset_of_arrays(case: Case) -> Finding:
    """A `TensorDataset` made of NumPy's arrays."""
    call, code = known(case.call), case.code
    given = [(arg, operand.type) for arg in call.args if (operand := case.operand(arg)) is not None]
    arrays = [arg for arg, type_ in given if type_ == "ndarray"]
    only_if(called(call) == "TensorDataset" and arrays and case.has_torch)
    said = {"arrays": ", ".join(f"`{code.short(one)}`" for one in arrays)}
    said["right"] = f"torch.from_numpy({code.text(arrays[0])})"
    fix = (edit for one in arrays for edit in (code.before(one, "torch.from_numpy("), code.after(one, ")")))
    return case.finding("", said, fix=fix)


def operands(case: Case) -> Finding:
    """A tensor and a list, a string or a layer on two sides of an operator."""
    node, left, right = a(ast.BinOp, case.node), case.groups["left"], case.groups["right"]
    only_if("Tensor" in (left, right) and left != right)
    other, got = (node.right, right) if left == "Tensor" else (node.left, left)
    code = "operand_types" if got in ("list", "tuple", "ndarray") else "operand_other"
    said = {"other": case.code.short(other), "got": got, "is_none": str(int(got == "NoneType"))}
    return case.finding(code, said, fix=_as_tensor(case, other))


def element_not_tensor(case: Case) -> Finding:
    """`torch.stack` of a list in which something is no tensor: where it was put in, when one line does that."""
    found = known(case.written_as("FUNCTION(GIVEN, ...)"))
    only_if(not case.is_in_loader)  # it joins what samples are made of
    put, is_none = case.appended(found.part("GIVEN")), case.groups["got"] == "NoneType"
    said = {**found.said, "is_none": str(int(is_none))}
    if put is None:
        return case.finding("", said)
    number = written(case.code, put.part("VALUE"), "TENSOR.item()")
    said["value"] = put.said["value"]
    fix = number.instead("TENSOR") if number is not None else ()
    return case.finding("element_put_in", said, span=case.code.span(put.node), fix=fix)


def format_refused(case: Case) -> Finding | None:
    """A format for one number, given a tensor of several, a list or nothing."""
    for part in ast.walk(known(case.statement)):
        if not isinstance(part, ast.FormattedValue) or part.format_spec is None:
            continue
        operand, tensor = case.operand(part.value), case.tensor_of(part.value)
        if operand is None or operand.type != case.groups["type"] or (tensor is not None and not tensor.shape):
            continue
        spec = "".join(str(one.value) for one in ast.walk(part.format_spec) if isinstance(one, ast.Constant))
        only_if(spec[-1:] in _OF_NUMBERS)
        said = {"name": case.code.short(part.value), "spec": spec}
        if tensor is None:
            return case.finding("", said)
        return case.finding("format_of_many", said, shape=sizes(tensor.shape), tensors=(tensor,))
    return None


def tensors_not_listed(case: Case) -> Finding:
    """`torch.cat(a, b)`: the tensors belong into one list."""
    call = known(case.call)
    tensors = [arg for arg in call.args if case.tensor_of(arg) is not None]
    only_if(case.groups["got"] == "Tensor" and tensors and tensors == call.args[: len(tensors)])
    fix = (case.code.before(tensors[0], "["), case.code.after(tensors[-1], "]"))
    return case.finding(names=", ".join(map(case.code.short, tensors)), fix=fix)


def size_not_whole(case: Case) -> Finding | None:
    """A size that came from a division: `/` always gives a float."""
    call = known(case.call)
    parts = [inner for arg in call.args for inner in (arg.elts if isinstance(arg, ast.Tuple | ast.List) else [arg])]
    numbers = (one for part in parts for one in ast.walk(part) if isinstance(one, ast.Constant))
    is_found = any(isinstance(one.value, float) for one in numbers)
    for part in parts if is_found else [*parts, *(word.value for word in call.keywords)]:
        operand, name = case.operand(part), case.code.short(part)
        divided = written(case.code, case.value_of(part), "LEFT / RIGHT")
        if divided is not None and (operand is None or operand.type == "float"):
            statement = case.made_last(part)
            span = case.code.span(statement) if statement is not None else None
            return case.finding("size_not_whole", span=span, name=name, fix=divided.instead("LEFT // RIGHT"))
        if operand is not None and operand.type == "float":
            fix = (case.code.before(part, "int("), case.code.after(part, ")"))
            return case.finding("size_not_whole", name=name, fix=fix)
    return None


def many_values(case: Case) -> Finding:
    """A tensor of several elements where one truth value or one number is needed."""
    node = case.node.test if isinstance(case.node, ast.While | ast.If) else case.node
    above = case.code.parents.get(node) if node is not None else None
    is_compared = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
    is_asked = isinstance(above, _ASKING) or not isinstance(node, ast.Call) or called(node) in ("bool", "item")
    only_if(is_asked and not is_compared)  # else what is called compares
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        first = node.comparators[0]
        fix = (case.code.before(node.left, "("), case.code.after(first, ")"))
        return case.finding("compared_in_a_row", name=case.code.short(node), fix=fix)
    tested = node.operand if isinstance(node, ast.UnaryOp) else node
    given = known(next(iter(case.inputs()), None) or case.tensor_of(tested))
    is_test = tested is not node or isinstance(tested, ast.Compare | ast.Name | ast.Attribute | ast.BinOp)
    shown = tested if is_test and isinstance(tested, ast.expr) else None
    name = case.code.short(shown) if shown is not None else case.say(given)
    span = case.code.span(shown) if shown is not None else None
    return case.finding(span=span, name=name, shape=sizes(given.shape), tensors=(given,))


_ASKING = (ast.While, ast.If, ast.IfExp, ast.Assert, ast.BoolOp, ast.UnaryOp, ast.comprehension)
"""What asks whether something is true."""


def compared_as_wholes(case: Case) -> Finding:
    """`min(a, b)`, `max(0, a)` and `max(a)` of tensors, by which Python compares them, or their rows, as wholes."""
    call = known(case.call)
    name, given = dotted(call.func), [(one, case.code.text(one)) for one in call.args]
    only_if(name in ("min", "max") and not case.code.is_bound(name) and not call.keywords and case.has_torch)
    tensors = [case.tensor_of(one) for one in call.args]
    other = next((text for tensor, (_, text) in zip(tensors, given, strict=True) if tensor is None), "")
    many = known(next((one for one in tensors if one is not None), None))
    node = call.args[tensors.index(many)]
    fix: Edits
    if len(given) == 2 and not other:
        fix = (case.code.replace(call, f"torch.{name}imum({given[0][1]}, {given[1][1]})"),)
    else:
        numbers = [one for one in call.args if one is not node]
        only_if(len(given) == 1 or (len(given) == 2 and _is_number(case, numbers[0])))
        bound = f"clamp({'min' if name == 'max' else 'max'}={other})" if other else f"{name}()"
        inside = case.code.text(node)
        is_plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        fix = (case.code.replace(call, f"{inside}.{bound}" if is_plain else f"({inside}).{bound}"),)
    said = {"function": name, "right": fix[0].text, "shape": sizes(many.shape), "is_one": str(int(len(given) == 1))}
    return case.finding("min_of_tensors", said, tensors=(many,), fix=fix)


def _is_number(case: Case, node: ast.expr) -> bool:
    """Whether an argument is a Python number."""
    operand = case.operand(node)
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    is_written = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    return is_written or (operand is not None and operand.type in ("int", "float"))


def joined_tensors(case: Case) -> Finding:
    """`a > 0 and b > 0` of tensors."""
    node = known(case.node)
    node = node.test if isinstance(node, ast.While | ast.If) else node
    near = (one for one in (*ast.walk(node), *case.code.around(node)) if isinstance(one, ast.BoolOp))
    joined = known(next(near, None))
    only_if(all(_holds_tensor(case, one) for one in joined.values))
    tensors = [*case.inputs(), *(case.tensor_of(one) for one in joined.values)]
    tensor: Tensor = known(next((one for one in tensors if one is not None and math.prod(one.shape) > 1), None))
    sign, word = ("&", "and") if isinstance(joined.op, ast.And) else ("|", "or")
    parts = [(one, case.code.text(one)) for one in joined.values]
    right = f" {sign} ".join(text if isinstance(one, ast.Name) else f"({text})" for one, text in parts)
    is_value = isinstance(case.code.parents.get(joined), ast.Assign | ast.Attribute | ast.Return | ast.Call)
    is_known = is_value and all(isinstance(one, ast.Name | ast.Compare) for one in joined.values)
    said = {"sign": sign, "word": word, "shape": sizes(tensor.shape), "code": case.code.short(joined)}
    fix = (case.code.replace(joined, right),) if is_known else ()
    return case.finding("joined_tensors", said, tensors=(tensor,), fix=fix)


def _holds_tensor(case: Case, node: ast.expr) -> bool:
    """Whether a part of a condition names a tensor."""
    return any(is_tensor(case, name) for name in ast.walk(node) if isinstance(name, ast.Name))


def not_probabilities(case: Case) -> Finding:
    """Scores where a distribution takes probabilities, unless they are named as what they are."""
    place, node = known(_parameter(case))
    is_last = isinstance(place, ast.keyword) or place is known(case.call).args[-1]
    given = known(case.tensor_of(node))
    maker = case.diagnosis.maker.get(given.id)
    is_score = maker is not None and maker.module is not None
    fix: Edits = (case.code.replace(place, f"logits={case.code.text(node)}"),) if is_last and is_score else ()
    said = {"written": case.code.short(known(case.call).func), "name": case.code.short(node)}
    return case.finding("", said, tensors=(given,), fix=fix)


def parameter_nan(case: Case) -> Finding:
    """NaN, whatever the parameter may be otherwise."""
    _, node = _parameter(case) or (None, None)
    given = case.tensor_of(node)
    return case.finding("", tensors=(given,), name=case.code.short(known(node)))


def parameter_invalid(case: Case) -> Finding:
    """A parameter that a distribution cannot have, and the steps that moved it there; of a covariance, what it must be
    is more than a range."""
    _, node = _parameter(case) or (None, None)
    given = case.tensor_of(node)
    name = case.code.short(node) if node is not None else case.groups["parameter"]
    if case.groups["constraint"] == "PositiveDefinite":
        return case.finding("not_positive_definite", _not_definite(case, given), tensors=(given,), name=name)
    bound = re.search(r"GreaterThan(Eq)?\(lower_bound=([\d.]+)\)", case.failure.message)
    low = float(bound[2]) if bound is not None else math.nan
    condition = f"{case.groups['parameter']} {'>=' if bound[1] else '>'} {low:g}" if bound is not None else ""
    moved = _moved_from(case, given, low) if given is not None else {}
    flags = {"is_known": extent(given) is not None, "is_trained": bool(moved), "is_positive": low == 0}
    said = {name: str(int(flag)) for name, flag in flags.items()} | {"values": _range(given), "name": name}
    said |= {"condition": condition or case.groups["constraint"], "step": "", "step_line": "", "before": "", **moved}
    return case.finding("", said, tensors=(given,))


def _moved_from(case: Case, given: Tensor, low: float) -> dict[str, str]:
    """What a leaf was before the first step of an optimizer that moved it, where that was above a bound."""
    diagnosis, identity = case.diagnosis, case.diagnosis.identity(given.id)
    moves = ((move, each.before) for move in diagnosis.moves for each in move.changes if each.before is not None)
    own = [(move, diagnosis.tensors.get(before)) for move, before in moves if diagnosis.identity(before) == identity]
    range_ = extent(own[0][1]) if own else None
    if range_ is None or range_[0] <= low or any(move.kind != "step" for move, _ in own):
        return {}
    step, before = own[0]
    return {"step": case.code_excerpt(step.span), "step_line": line(step.span), "before": _range(before)}


def _range(tensor: Tensor | None) -> str:
    """Its number, or the smallest and the largest of them, for a sentence."""
    return " … ".join(f"{each:.3g}" for each in dict.fromkeys(extent(tensor) or ()))


def not_positive_definite(case: Case) -> Finding:
    """A matrix without a Cholesky factor, and whether a little on its diagonal would give it one."""
    known(case.call)
    given = next(iter(case.inputs()), None)
    return of_first(case.finding("", _not_definite(case, given)))


def _not_definite(case: Case, given: Tensor | None) -> dict[str, str]:
    return {**_far_from_definite(given), **_of_too_few(case, given)}


def _of_too_few(case: Case, given: Tensor | None) -> dict[str, str]:
    """What there is to say of a matrix that is the product of a lower one's transpose with that."""
    maker = case.diagnosis.maker.get(given.id) if given is not None else None
    factors = [case.diagnosis.tensors[each] for each in maker.inputs] if maker is not None else []
    makers = [case.diagnosis.maker.get(each.id) for each in factors]
    is_turned = any(each is not None and each.name in TURNS for each in makers)
    is_square = given is not None and len(factors) == 2 and is_turned and factors[0].storage == factors[1].storage
    inner, size = (factors[0].shape[-1], given.shape[-1]) if is_square and given is not None else (0, 0)
    if maker is None or maker.name not in ("mm", "matmul", "bmm") or not inner < size:
        return {"is_low": "0", "inner": "", "size": "", "zeros": "", "made_line": ""}
    said = {"inner": str(inner), "size": str(size), "zeros": str(size - inner), "made_line": line(maker.span)}
    return {"is_low": "1", "is_near": "0", "is_far": "0", **said}


def _far_from_definite(given: Tensor | None) -> dict[str, str]:
    """Whether a matrix, or one of a batch, differs from its transpose, and whether 1e-4 on the diagonal would make all
    of them positive definite; of one whose numbers are not known, both may be."""
    data = numbers_of(given) if given is not None and given.data else []
    size = given.shape[-1] if given is not None else 0
    rows = [data[at : at + size] for at in range(0, len(data), size)] if data else []
    matrices = [rows[at : at + size] for at in range(0, len(rows), size)]
    pairs = ((matrix, one, other) for matrix in matrices for one in range(size) for other in range(one))
    mirrored = ((matrix[one][other], matrix[other][one]) for matrix, one, other in pairs)
    is_askew = any(not math.isclose(*both, rel_tol=1e-4, abs_tol=1e-6) for both in mirrored)
    is_near = not is_askew and all(map(_is_nearly_definite, matrices))
    flags = {"is_askew": is_askew, "is_near": is_near, "is_far": not is_near or not matrices}
    return {name: str(int(flag)) for name, flag in flags.items()}


def _is_nearly_definite(matrix: Sequence[Sequence[float]]) -> bool:
    """Whether all pivots are above 0 with 1e-4 on the diagonal, which is what makes a matrix positive definite."""
    rows = [[number + 1e-4 * (at == column) for column, number in enumerate(row)] for at, row in enumerate(matrix)]
    for at, pivot in enumerate(rows):
        if not pivot[at] > 0:
            return False
        for row in rows[at + 1 :]:
            factor = row[at] / pivot[at]
            row[:] = [number - factor * above for number, above in zip(row, pivot, strict=True)]
    return True


def _parameter(case: Case) -> tuple[ast.expr | ast.keyword, ast.expr] | None:
    """Where the call that makes a distribution gives the parameter that the message names, and what."""
    call, name = known(case.call), case.groups["parameter"]
    named = next((word for word in call.keywords if word.arg == name), None)
    order = _ORDERS.get(case.groups["type"], name).split()
    only_if(called(call) == case.groups["type"])
    if named is not None:
        return named, named.value
    at = order.index(name) if name in order else len(call.args)
    is_known = at < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args[: at + 1])
    return (call.args[at], call.args[at]) if is_known else None


_TURNS = ("T", "t", "mT", "transpose")


def singular(case: Case) -> Finding:
    """A matrix without an inverse, and which columns are to blame where its numbers show it exactly."""
    known(case.call)
    given = case.inputs()[:1]
    size = given[0].shape[-1] if given and len(given[0].shape) == 2 and given[0].data else 0
    data = [Fraction(number) for number in numbers_of(given[0])] if size else []
    factors = _adding_up([data[at : at + size] for at in range(0, len(data), size)]) if data else []
    sides = [[at for at, factor in enumerate(factors) if factor == sign] for sign in (-1, 1)]
    is_exact = sum(map(len, sides)) == sum(map(bool, factors)) > 0
    one, others = sorted(sides, key=len) if sides[1] else sides
    kind = {0: "is_empty", 1: "is_same"}.get(len(others), "is_sum") if is_exact and len(one) == 1 else ""
    said = {each: str(int(each == kind)) for each in ("is_empty", "is_same", "is_sum")}
    said |= {"at": str(one[0]) if kind else "", "others": ", ".join(map(str, others)), "data": ""}
    if given and kind:
        said["data"] = _squared(case, given[0])
    return of_first(case.finding("", {**said, "is_squared": str(int(bool(said["data"])))}))


def _adding_up(rows: list[list[Fraction]]) -> list[Fraction]:
    """Factors with which the columns of a matrix add up to 0, -1 for the first that depends on those before it;
    nothing where none does."""
    pivots: list[int] = []
    for column in range(len(rows[0])):
        done = len(pivots)
        pivot = next((at for at in range(done, len(rows)) if rows[at][column]), None)
        if pivot is None:
            made_of = dict(zip(pivots, (row[column] for row in rows), strict=False))
            return [Fraction(-1) if at == column else made_of.get(at, Fraction(0)) for at in range(len(rows[0]))]
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [number / rows[done][column] for number in rows[done]]
        for at, row in enumerate(rows):
            if at != done and row[column]:
                rows[at] = [one - row[column] * other for one, other in zip(row, rows[done], strict=True)]
        pivots.append(column)
    return []


def _squared(case: Case, given: Tensor) -> str:
    """`X` of `X.T @ X`, whose columns depend on each other as those of the product do."""
    maker = case.diagnosis.maker.get(given.id)
    if maker is None or maker.name not in ("matmul", "mm") or len(maker.inputs) < 2:
        return ""
    turn = case.diagnosis.maker.get(maker.inputs[0])
    is_its_own = turn is not None and turn.name in _TURNS and turn.inputs[:1] == maker.inputs[1:2]
    return case.diagnosis.say(maker.inputs[1]) if is_its_own else ""
