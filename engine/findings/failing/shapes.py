"""Shapes that do not fit: products, broadcasting, joining, reshaping, indices, layers and losses."""

import ast
import math
import re

from engine.findings.failing.case import Case, sizes
from engine.findings.failing.classes import saved_nothing, too_many_samples
from engine.findings.failing.dtypes import swapped
from engine.findings.failing.origins import layer_call
from engine.findings.losses import logits_loss
from engine.ops import BROADCASTING, VIEWS
from engine.program.edits import Edits
from engine.program.names import keyword
from engine.trace import Finding, Op, Tensor

_FAR = 200
"""Ops that are looked back over."""


def of_one(case: Case) -> Finding | None:
    """All that is to be said is the shape of the first tensor, and where it came from."""
    given = next(iter(case.inputs()), None)
    if given is None:
        return None
    return case.finding("", case.origin(given, len(given.shape) - 1) if given.shape else {})


def of_two(case: Case) -> Finding | None:
    """All that is to be said is the shapes of the first two tensors."""
    return case.finding() if len(case.inputs()) > 1 else None


def one_value(case: Case) -> Finding | None:
    """A batch norm given one sample: its variance is not defined."""
    return case.finding() if case.inputs() else None


# Products


def product(case: Case) -> Finding | None:
    """A matrix product whose inner sizes differ; for a layer the fault is usually in its sizes or a missing flatten."""
    if case.op is not None and case.op.name == "linear":
        return _linear(case)
    pair = case.inputs()[-2:]
    if len(pair) != 2:
        return None
    left, right = pair
    inner, outer = left.shape[-1:], right.shape[-2:][:1]
    if not inner or not outer or inner == outer:
        return None
    turned = right.shape[-1:] == inner and len(left.shape) == len(right.shape) > 1
    given = {**case.about(left, right), "inner": str(inner[0]), "outer": str(outer[0])}
    fix = _transposed(case, left, right)
    if turned:
        fix = fix or case.cast(right, ".transpose(-2, -1)")
        return case.finding("product_turned", given, tensors=pair, fix=fix)
    return case.finding("", {**given, **case.origin(left, len(left.shape) - 1)}, tensors=pair, fix=fix)


def _transposed(case: Case, left: Tensor, right: Tensor) -> Edits:
    """Transposing one side, when only that makes the product possible."""
    if len(left.shape) != 2 or len(right.shape) != 2:
        return ()
    fits_right, fits_left = right.shape[1] == left.shape[1], left.shape[0] == right.shape[0]
    if fits_right == fits_left:
        return ()
    return case.cast(right if fits_right else left, ".T")


def _linear(case: Case) -> Finding | None:
    given, weight = case.argument(0, "input"), case.argument(1, "weight")
    if given is None or weight is None or len(weight.shape) != 2 or not given.shape:
        return None
    got, wanted = given.shape[-1], weight.shape[1]
    if got == wanted:
        return None
    said = {"got": str(got), "wanted": str(wanted), **case.origin(given, len(given.shape) - 1)}
    if len(given.shape) > 2 and math.prod(given.shape[1:]) == wanted:
        return case.finding("flatten_missing", said, tensors=(given,), fix=_flattened(case, given))
    if len(given.shape) == 1 and wanted > 1 and got % wanted == 0:
        return _batch_flattened(case, given, said)
    return case.finding("linear_shape", said, fix=_first_number(case, "in_features", wanted, got))


def _batch_flattened(case: Case, given: Tensor, said: dict[str, str]) -> Finding:
    """`x.view(-1)`: all samples in one long row."""
    maker = case.diagnosis.maker.get(given.id)
    fix: Edits = ()
    match case.code.at(maker.span) if maker is not None else None:
        case ast.Call(func=ast.Attribute(value=inner, attr="view" | "reshape" | "flatten"), args=arguments) as call if (
            not arguments or ast.unparse(arguments[0]) == "-1"
        ):
            fix = (case.code.replace(call, f"{case.code.text(inner)}.flatten(1)"),)
    samples = str(given.shape[-1] // int(said["wanted"]))
    where = maker.span if maker is not None and maker.name in ("view", "reshape", "flatten") else None
    return case.finding("batch_flattened", said, span=where, samples=samples, tensors=(given,), fix=fix)


def _flattened(case: Case, given: Tensor) -> Edits:
    call = case.call
    if call is not None and len(call.args) == 1 and case.written(given) is call.args[0]:
        operand = case.operand(call.func)
        if operand is not None and operand.type == "Linear":
            return case.code.method(call.args[0], ".flatten(1)")
    made = case.layer_made
    above = case.code.parents.get(made) if made is not None else None
    if made is None or not isinstance(above, ast.Call) or not case.code.text(above.func).endswith("Sequential"):
        return ()
    prefix = case.code.text(made.func).rpartition(".")[0]
    return (case.code.before(made, f"{prefix}.Flatten(), "),) if prefix else ()


def _first_number(case: Case, keyword: str, wrong: int, right: int) -> Edits:
    """Corrects a size written as a number in the call that made the layer."""
    made, given = case.layer_made, next(iter(case.inputs()), None)
    if made is None or (given is not None and wrong in given.shape):  # then the axes may be in the wrong order
        return ()
    node = next((word.value for word in made.keywords if word.arg == keyword), made.args[0] if made.args else None)
    is_wrong = isinstance(node, ast.Constant) and node.value == wrong
    return (case.code.replace(node, str(right)),) if node is not None and is_wrong else ()


def product_of_batches(case: Case) -> Finding | None:
    """`bmm`, `mm`, `mv` and `dot` take tensors of one number of axes only."""
    op, pair, call = case.op, case.inputs()[-2:], case.call
    if op is None or len(pair) != 2:
        return None
    left, right = (tensor.shape for tensor in pair)
    fits = left and right and left[-1] == right[-2:][0] and min(len(left), len(right)) <= 2
    fix: Edits = ()
    if fits and op.name in ("mm", "bmm", "mv", "dot") and call is not None and isinstance(call.func, ast.Attribute):
        fix = (case.code.replace(call.func, f"{case.code.text(call.func.value)}.matmul"),)
    return case.finding("", case.about(*pair), tensors=pair, fix=fix)


# Two tensors side by side


def broadcast(case: Case) -> Finding | None:
    """Two shapes that no stretching makes equal: the axis, and both sizes there."""
    given = case.inputs()
    pairs = ((left, right) for at, left in enumerate(given) for right in given[at + 1 :])
    wanted = {int(case.groups["a"]), int(case.groups["b"])}
    axis = int(case.groups["axis"])
    for left, right in pairs:
        back = max(len(left.shape), len(right.shape)) - axis
        if min(len(left.shape), len(right.shape)) < back or {left.shape[-back], right.shape[-back]} != wanted:
            continue
        small, large = sorted((left, right), key=lambda one: one.shape[-back])
        short = _cut_short(case, small, large, back)
        if short is not None:
            return short
        origins = [case.origin(one, len(one.shape) - back) for one in (left, right)]
        latest = max(origins, key=lambda origin: ("origin_given" in origin, int(origin.get("origin_line", "0"))))
        said = {**case.about(left, right), **latest, "back": str(back)}
        least = str(min(len(left.shape), len(right.shape)))
        return case.finding("", said, tensors=(left, right), least=least)
    return None


def _cut_short(case: Case, small: Tensor, large: Tensor, back: int) -> Finding | None:
    """`pe[:, :x.size(1)]`: a slice goes no further than the tensor, and says nothing of it."""
    node = case.written(small)
    base = case.tensor_of(node.value) if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or base is None or len(base.shape) != len(small.shape):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    axis = len(small.shape) - back
    part = parts[axis] if axis < len(parts) else None
    whole = isinstance(part, ast.Slice) and part.upper is not None and base.shape[axis] == small.shape[axis]
    if not whole:
        return None
    said = {"base": case.code.short(node.value), "has": str(small.shape[axis]), "wanted": str(large.shape[-back])}
    return case.finding("slice_too_short", {**case.about(small, large), **said}, tensors=(small, large), at=str(axis))


def expanded(case: Case) -> Finding | None:
    """`expand` to sizes that do not go with those there are; or what is written into a part of a tensor."""
    match case.statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value) if (
            case.call is None or case.call is not value
        ):
            said = {"target_name": case.code.short(target), "value": case.code.short(value)}
            return case.finding("written_shape", said)
    return of_one(case)


def joined(case: Case) -> Finding | None:
    """`cat` of tensors that differ in another axis than the one they are joined along."""
    given, at, along = case.inputs(), int(case.groups["at"]), int(case.groups["along"])
    if at >= len(given):
        return None
    first, other = given[0], given[at]
    clash = [i for i, (x, y) in enumerate(zip(first.shape, other.shape, strict=False)) if x != y and i != along]
    if not clash:
        return None
    said = {**case.about(first, other), "axis": str(clash[0])}
    small, large = sorted((first, other), key=lambda tensor: tensor.shape[clash[0]])
    rounded = _rounded(case, small, large.shape[clash[0]])
    if rounded is not None:
        halved = {"op": rounded.name, "size": str(large.shape[clash[0]]), "small": case.say(small)}
        halved |= {"large": case.say(large), "large_shape": sizes(large.shape), "back": str(small.shape[clash[0]])}
        return case.finding("cat_rounded", {**said, **halved}, span=rounded.span, tensors=(first, other))
    code = "" if len(clash) == 1 and len(first.shape) == len(other.shape) else "cat_sizes"
    return case.finding(code, {**said, **case.origin(other, clash[0])}, tensors=(first, other))


def _rounded(case: Case, tensor: Tensor, size: int) -> Op | None:
    """The pooling or convolution with a step that a tensor comes from and that did not divide a size evenly."""
    op = case.diagnosis.maker.get(tensor.id)
    for _ in range(_FAR):
        given = case.diagnosis.input_of(op) if op is not None else None
        made = case.diagnosis.output_of(op) if op is not None else None
        if op is None or given is None or made is None:
            return None
        before, after = given.shape[-1], made.shape[-1]
        if op.window is not None and before == size and 0 < after <= before // 2 and before % after:
            return op
        op = case.diagnosis.maker.get(given.id)
    return None


def joined_axes(case: Case) -> Finding | None:
    """`cat` of tensors with different numbers of axes, or of none at all."""
    given = case.inputs()
    other = next((tensor for tensor in given if len(tensor.shape) != len(given[0].shape)), None)
    if given and not given[0].shape:
        call = case.call
        fix = (case.code.replace(call.func, "torch.stack"),) if call is not None and case.code.is_bound("torch") else ()
        return case.finding("cat_scalars", count=str(len(given)), fix=fix if other is None else ())
    return case.finding("", case.about(given[0], other), tensors=(given[0], other)) if other is not None else None


def stacked(case: Case) -> Finding | None:
    """`stack` of tensors of different shapes; in a DataLoader: samples of different shapes."""
    is_loader = any("data/_utils" in frame.file for frame in case.failure.frames)
    return case.finding("batch_shapes" if is_loader else "")


# Reshaping and indices


def reshaped(case: Case) -> Finding | None:
    """A new shape with another number of elements."""
    given = case.argument(0)
    if given is None or case.call is None:
        return None
    wanted = [int(text) for text in re.findall(r"-?\d+", case.groups["shape"])]
    known = math.prod(size for size in wanted if size != -1)
    said = {"given_shape": sizes(given.shape), "wanted": str(known), "shape": str(wanted), "name": case.say(given)}
    maker = case.diagnosis.maker.get(given.id)
    if case.groups["count"] == "0" and maker is not None and maker.span is not None:
        return case.finding("reshape_of_nothing", said, made_line=str(maker.span.line))
    return case.finding("", {**said, **case.origin(given, len(given.shape) - 1)})


def not_contiguous(case: Case) -> Finding | None:
    """`view` of a tensor whose elements do not lie in order."""
    given = case.argument(0)
    match case.call:
        case ast.Call(func=ast.Attribute(attr="view", value=value) as function) if given is not None:
            fix = (case.code.replace(function, f"{case.code.text(value)}.reshape"),)
            return case.finding(strides=str(list(given.strides or ())), fix=fix)
    return None


def axis_out_of_range(case: Case) -> Finding | None:
    """An axis that the tensor does not have."""
    given = next(iter(case.inputs()), None)
    axes = len(given.shape) if given is not None else -1
    limits = int(case.groups["low"]), int(case.groups["high"])
    return case.finding() if axes == 0 or limits in ((-axes, axes - 1), (-axes - 1, axes)) else None


def index(case: Case) -> Finding | None:
    """An index beyond the end of an axis; or an LSTM that takes one tensor for its pair of states."""
    given = next(iter(case.inputs()), None)
    axis, size = int(case.groups["axis"]), int(case.groups["size"])
    call = case.call
    operand = case.operand(call.func) if call is not None else None
    if call is not None and operand is not None and operand.type == "LSTM" and len(call.args) == 2:
        return _state_of_lstm(case, call)
    if given is None or axis >= len(given.shape) or given.shape[axis] != size:
        return None
    promised = too_many_samples(case)
    if promised is not None:
        return promised
    node = case.node
    place = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(place, ast.Name | ast.Attribute) and case.tensor_of(place) is not None:
        said = {"place": case.code.short(place), "last": str(size - 1)}
        return case.finding("index_tensor_out_of_range", said, tensors=(given, case.tensor_of(place)))
    return case.finding(last=str(size - 1), tensors=(given,))


def lstm_state(case: Case) -> Finding | None:
    """One tensor for the pair of states."""
    call = case.call
    return _state_of_lstm(case, call) if call is not None and len(call.args) == 2 else None


def _state_of_lstm(case: Case, call: ast.Call) -> Finding | None:
    given = call.args[1]
    if case.tensor_of(given) is None:
        return None
    text = case.code.text(given)
    fix: Edits = ()
    if isinstance(given, ast.Name) and case.code.is_bound("torch"):
        fix = (case.code.replace(given, f"({text}, torch.zeros_like({text}))"),)
    said = {"layer": case.code.short(call.func), "name": case.code.short(given)}
    return case.finding("lstm_state", said, span=case.code.span(given), fix=fix)


def index_of_list(case: Case) -> Finding | None:
    """An index beyond the end of a list."""
    node = case.node
    if not isinstance(node, ast.Subscript):
        return None
    promised = too_many_samples(case)
    return promised or case.finding(name=case.code.short(node.value), index=case.code.short(node.slice))


def index_of_scalar(case: Case) -> Finding | None:
    """`loss.data[0]`: a scalar has no axis to index; old programs took its number this way."""
    node, given = case.node, next(iter(case.inputs()), None)
    if not isinstance(node, ast.Subscript) or given is None or given.shape:
        return None
    receiver = node.value
    if isinstance(receiver, ast.Attribute) and receiver.attr == "data":
        receiver = receiver.value
    fix: Edits = ()
    if isinstance(node.slice, ast.Constant) and node.slice.value in (0, -1) and isinstance(node.ctx, ast.Load):
        fix = (case.code.replace(node, f"{case.code.text(receiver)}.item()"),)
    return case.finding(name=case.code.short(receiver), fix=fix)


def embedding(case: Case) -> Finding | None:
    """A number beyond the rows of an embedding table."""
    indices, weight = case.argument(0, "input"), case.argument(1, "weight")
    if case.op is None or case.op.name != "embedding" or indices is None or weight is None:
        return None
    rows = weight.shape[0]
    worst = next((number for number in _numbers(indices) if not 0 <= number < rows), None)
    if worst is None:
        return None
    return case.finding(rows=str(rows), value=f"{worst:.0f}", last=str(rows - 1))


def _numbers(tensor: Tensor) -> list[float]:
    """The elements that are known, else the largest and the smallest."""
    numbers = [float(number) for number in tensor.data or ()]
    if not numbers and tensor.summary is not None:
        numbers = [float(tensor.summary.max), float(tensor.summary.min)]
    return numbers


def gathered(case: Case) -> Finding | None:
    """`gather` takes an index with as many axes as the tensor."""
    pair = case.inputs()[:2]
    if len(pair) != 2 or len(pair[0].shape) == len(pair[1].shape) or case.op is None:
        return None
    axis = next((argument.text for argument in case.op.arguments if argument.tensor is None), None) or "1"
    one_less = len(pair[0].shape) == len(pair[1].shape) + 1
    return case.finding(axis=axis, fix=case.cast(pair[1], f".unsqueeze({axis})") if one_less else ())


def transposed_batch(case: Case) -> Finding | None:
    """`.t()` of more than a matrix."""
    match case.call:
        case ast.Call(func=ast.Attribute(attr="t", value=value), args=[]) as call:
            return case.finding(fix=(case.code.replace(call, f"{case.code.text(value)}.transpose(-2, -1)"),))
    return None


def expanded_written(case: Case) -> Finding | None:
    """Writing into a tensor whose elements are one and the same number in memory."""
    given = next(iter(case.inputs()), None)
    if given is None:
        return None
    identity = case.diagnosis.identity(given.id)
    maker = next((op for op in case.diagnosis.ops_named(BROADCASTING & VIEWS) if identity in op.outputs), None)
    made = case.code.call_at(maker.span) if maker is not None else None
    said = {"name": case.diagnosis.say(given.id)}
    fix = (case.code.after(made, ".clone()"),) if made is not None else ()
    return case.finding("", said, span=maker.span if maker is not None else None, fix=fix)


def unpacked(case: Case) -> Finding | None:
    """A tuple or tensor with another number of parts than names on the left."""
    statement = case.statement
    if not isinstance(statement, ast.Assign | ast.For):
        return None
    value = statement.value if isinstance(statement, ast.Assign) else statement.iter
    got = re.search(r"got (\d+)", case.failure.message)
    common = {"value": case.code.short(value), "got": got[1] if got else ""}
    if isinstance(statement, ast.For):
        return _parts_of_turn(case, statement, common)
    return saved_nothing(case, statement, value) or case.finding("", common)


def _parts_of_turn(case: Case, loop: ast.For, common: dict[str, str]) -> Finding:
    """What a loop takes apart in each turn: a batch, or a number and a batch."""
    target, counted = loop.target, loop.iter
    span = case.code.span(target)
    is_counted = isinstance(counted, ast.Call) and ast.unparse(counted.func) == "enumerate" and len(counted.args) == 1
    if is_counted and isinstance(target, ast.Tuple) and len(target.elts) > 2:
        text = case.code.text(target).strip("()")
        first, _, rest = text.partition(",")
        right = f"{first}, ({rest.strip()})"
        fix = (case.code.replace(target, right),) if not text.startswith("(") else ()
        return case.finding("enumerate_parts", common, span=span, right=right, fix=fix)
    return case.finding("turn_parts", common, span=span, names=case.code.short(target))


# Layers


def channels(case: Case) -> Finding | None:
    """A convolution given another number of channels than it was made for."""
    given = case.argument(0, "input")
    if given is None or case.op is None:
        return None
    wanted, got = int(case.groups["wanted"]), int(case.groups["got"])
    axes, is_image = len(given.shape), case.op.name == "conv2d"
    batch = axes - int(case.op.name[4:5]) - 1 if case.op.name[4:5].isdecimal() else axes
    if batch in (0, 1) and given.shape[-1] == wanted:
        order = ", ".join(map(str, (*range(batch), axes - 1, *range(batch, axes - 1))))
        code = "channels_last" if is_image else "features_last"
        return case.finding(code, order=order, fix=case.cast(given, f".permute({order})"))
    if is_image and axes == 3 and wanted == 1:
        return case.finding("channel_axis_missing", fix=case.cast(given, ".unsqueeze(1)"))
    fix = _first_number(case, "in_channels", wanted, got)
    return case.finding("", case.origin(given, axes - 3 if is_image else 1), fix=fix)


def norm_features(case: Case) -> Finding | None:
    """A batch norm made for another number of channels."""
    given = case.argument(0, "input")
    if given is None or len(given.shape) < 2:
        return None
    fix = _first_number(case, "num_features", int(case.groups["wanted"]), int(case.groups["got"]))
    return case.finding("", case.origin(given, 1), fix=fix)


def recurrent_input(case: Case) -> Finding | None:
    """A recurrent layer given vectors of another length than it was made for."""
    call = case.call
    given = case.tensor_of(call.args[0]) if call is not None and call.args else None
    wanted, got = int(case.groups["wanted"]), int(case.groups["got"])
    if call is None or given is None or given.shape[-1:] != (got,):
        return None
    case.layer_made = _made_of_path(case, call.func)
    said = {**case.about(given), **case.origin(given, len(given.shape) - 1), "layer": ast.unparse(call.func)}
    fix = _first_number(case, "input_size", wanted, got)
    return case.finding("", {**said, **case.made_at}, tensors=(given,), fix=fix)


def _made_of_path(case: Case, function: ast.expr) -> ast.Call | None:
    """Where a layer was made that failed before any op ran in it."""
    name = ast.unparse(function).removeprefix("self.")
    found = [one for one in case.diagnosis.trace.modules if f".{one.path}".endswith(f".{name}")]
    return layer_call(case.diagnosis, found[0].id) if len(found) == 1 else None


def hidden_size(case: Case) -> Finding | None:
    """A first state whose shape does not go with the input; when its batch is the input's other axis, the layer takes
    that axis for time."""
    match case.call:
        case ast.Call(func=function, args=[first, state, *_]) if (given := case.tensor_of(first)) is not None:
            said = {"layer": case.code.short(function), "name": case.code.short(state)}
            said["input_shape"] = sizes(given.shape)
            wanted, got = (tuple(map(int, case.groups[name].split(","))) for name in ("wanted", "got"))
            made = case.layer_made = _made_of_path(case, function)
            only_batch = len(got) == len(wanted) == len(given.shape) == 3 and (got[0], got[2]) == (wanted[0], wanted[2])
            if made is None or not only_batch or (wanted[1], got[1]) != (given.shape[1], given.shape[0]):
                return case.finding("", said)
            fix = (case.code.argument_added(made, "batch_first=True"),) if not keyword(made, "batch_first") else ()
            more = {"input": case.code.short(first), "samples": str(got[1]), **case.made_at}
            return case.finding("batch_first_missing", {**said, **more}, span=case.code.span(made), fix=fix)
    return None


# Losses


def heads(case: Case) -> Finding | None:
    """Attention whose features cannot be shared out among its heads: the two numbers, when the call gives them."""
    call = case.call
    if call is None:
        return None
    named = {word.arg or "": word.value for word in call.keywords}
    given = dict(zip((("embed_dim", "d_model"), ("num_heads", "nhead")), call.args, strict=False))
    sides: list[str] = []
    for names in (("embed_dim", "d_model"), ("num_heads", "nhead")):
        node = given.get(names) or next((named[name] for name in names if name in named), None)
        sides.append(case.code.short(node) if node is not None else names[0])
    return case.finding(features=sides[0], heads=sides[1])


def loss_batch(case: Case) -> Finding | None:
    """Scores and targets of different numbers of samples: which of the two an earlier line has cut or joined."""
    pair = case.inputs()[:2]
    if len(pair) != 2 or not pair[0].shape:
        return None
    before = [_before_flattening(case, one) for one in pair]
    if before[0] is not None and before[1] is not None:
        left, right = (one.shape[: len(before[1].shape)] for one in before if one is not None)
        clash = [axis for axis, (here, there) in enumerate(zip(left, right, strict=False)) if here != there]
        if len(left) == len(right) > 1 and len(clash) == 1:
            said = {"axis": str(clash[0]), "given": sizes(before[0].shape), "other_given": sizes(before[1].shape)}
            counts = {"here": str(left[clash[0]]), "there": str(right[clash[0]])}
            return case.finding("loss_lengths", {**said, **counts})
    return case.finding("", case.origin(pair[0], 0))


def _before_flattening(case: Case, tensor: Tensor) -> Tensor | None:
    """What a tensor was before its first axes were put into one."""
    maker = case.diagnosis.maker.get(tensor.id)
    return (
        case.diagnosis.input_of(maker) if maker is not None and maker.name in ("view", "reshape", "flatten") else None
    )


def batch_squeezed(case: Case) -> Finding | None:
    """Scores without a batch axis, beside a batch of targets: a `squeeze()` without an axis took the batch of one
    sample away."""
    failed = case.diagnosis.failed_pass()
    root = failed.roots[0].node if failed is not None and failed.roots else None
    op = case.op or case.diagnosis.op_of_node(root)
    scores = case.diagnosis.input_of(op) if op is not None else None
    if scores is None:
        return None
    said = {**case.about(scores), "name": case.diagnosis.say(scores.id)}
    maker = case.diagnosis.maker.get(scores.id)
    for _ in range(_FAR):
        given = case.diagnosis.input_of(maker) if maker is not None else None
        if maker is None or given is None:
            return None
        if maker.name == "squeeze" and len(given.shape) > 1:
            call = case.code.call_at(maker.span)
            fix = (case.code.argument_added(call, "1"),) if call is not None and _squeezes_all(call, given) else ()
            return case.finding("", said, span=maker.span, given=sizes(given.shape), fix=fix)
        maker = case.diagnosis.maker.get(given.id)
    return None


def _squeezes_all(call: ast.Call, given: Tensor) -> bool:
    """Whether it is `x.squeeze()` of a tensor whose other axis of size 1 comes right after the batch."""
    return not call.args and not call.keywords and given.shape[1:2] == (1,)


def class_axis(case: Case) -> Finding | None:
    """Scores with the classes on the last axis, beside targets for each place in a sequence or an image."""
    pair = case.inputs()[:2]
    if len(pair) != 2 or pair[0].shape[:-1] != pair[1].shape:
        return None
    axes = len(pair[0].shape)
    order = ", ".join(map(str, (0, axes - 1, *range(1, axes - 1))))
    return case.finding(order=order, classes=str(pair[0].shape[-1]), fix=case.cast(pair[0], f".permute({order})"))


def lengths(case: Case) -> Finding | None:
    """`pack_padded_sequence` takes the longest sequence first, unless it is told to sort."""
    call = case.call
    fix: Edits = ()
    if call is not None and keyword(call, "enforce_sorted") is None:
        fix = (case.code.argument_added(call, "enforce_sorted=False"),)
    return case.finding(fix=fix)


def target_axes(case: Case) -> Finding | None:
    """Class numbers with an axis too many."""
    if len(case.inputs()) < 2:
        return None
    target = case.inputs()[1]
    extra = [axis for axis, size in enumerate(target.shape) if axis and size == 1]
    fix = case.cast(target, f".squeeze({extra[0]})") if extra else ()
    return swapped(case) or case.finding(tensors=(target,), fix=fix)


def target_shape(case: Case) -> Finding | None:
    """A loss of two tensors that must have the same shape."""
    pair = case.inputs()[:2]
    if len(pair) != 2:
        return None
    written = case.written(pair[0])
    fix: Edits = ()
    same = math.prod(pair[0].shape) == math.prod(pair[1].shape) and pair[0].shape != pair[1].shape
    if same and isinstance(written, ast.Name | ast.Attribute):
        fix = case.cast(pair[1], f".view_as({case.code.text(written)})")
    return case.finding(fix=fix)


def target_range(case: Case) -> Finding | None:
    """A class number that the scores have no column for."""
    scores = next(iter(case.inputs()), None)
    if scores is None or not scores.shape or len(case.inputs()) < 2:
        return None
    classes = scores.shape[1] if len(scores.shape) > 1 else scores.shape[0]
    return case.finding(classes=str(classes), last=str(classes - 1))


def probability_range(case: Case) -> Finding | None:
    """`binary_cross_entropy` takes probabilities; scores of a last layer are none."""
    given, target = case.argument(0, "input"), case.argument(1, "target")
    if case.op is None or given is None or target is None:
        return None
    wrong = target if case.groups["which"] == "target" else given
    farthest = max(_numbers(wrong), key=lambda number: abs(number - 0.5), default=math.nan)
    common = {"name": case.say(wrong), "value": f"{farthest:.4g}", "loss": case.op.name}
    if wrong is target:
        return case.finding("bce_target_range", common, tensors=(target,))
    return case.finding("", common, tensors=(given,), fix=logits_loss(case.diagnosis, case.op))
