"""Shapes that do not fit: products, broadcasting, joining, reshaping, indices, layers and losses."""

import ast
import math
import re

from engine.findings.failing.case import Case, sizes
from engine.findings.failing.classes import saved_nothing
from engine.findings.losses import logits_loss
from engine.ops import BROADCASTING, VIEWS
from engine.trace import Edit, Finding, Module, Tensor


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
    fix = _transposed(case, left, right)
    return _of_pair(case, left, right, fix=fix, inner=str(inner[0]), outer=str(outer[0]))


def _of_pair(case: Case, left: Tensor, right: Tensor, fix: tuple[Edit, ...] = (), **parameters: str) -> Finding:
    """Two tensors that do not fit, with their shapes."""
    shapes = {"left_shape": sizes(left.shape), "right_shape": sizes(right.shape)}
    given = {"left": case.say(left), "right": case.say(right), **shapes, **parameters}
    return case.finding("", given, tensors=(left, right), fix=fix)


def _transposed(case: Case, left: Tensor, right: Tensor) -> tuple[Edit, ...]:
    """Transposing one side, when only that makes the product possible."""
    if len(left.shape) != 2 or len(right.shape) != 2 or not isinstance(case.node, ast.BinOp | ast.Call):
        return ()
    fits_right, fits_left = right.shape[1] == left.shape[1], left.shape[0] == right.shape[0]
    if fits_right == fits_left:
        return ()
    node = case.written(right if fits_right else left)
    return case.code.method(node, ".T") if node is not None else ()


def _linear(case: Case) -> Finding | None:
    given, weight = case.argument(0, "input"), case.argument(1, "weight")
    if given is None or weight is None or len(weight.shape) != 2 or not given.shape:
        return None
    got, wanted = given.shape[-1], weight.shape[1]
    if got == wanted:
        return None
    module = case.diagnosis.modules.get(case.op.module or "") if case.op is not None else None
    layer = module.path if module is not None and module.type == "Linear" else "F.linear"
    common = {
        "layer": layer, "shape": sizes(given.shape), "got": str(got), "wanted": str(wanted),
    }  # fmt: skip
    if len(given.shape) > 2 and math.prod(given.shape[1:]) == wanted:
        return case.finding("flatten_missing", common, tensors=(given,), fix=_flattened(case, given, module))
    if len(given.shape) == 1 and wanted > 1 and got % wanted == 0:
        return _batch_flattened(case, given, common)
    made = layer_call(case, module.id) if module is not None and layer != "F.linear" else None
    fix = _first_number(case, made, "in_features", wanted, got)
    line_made = str(made.lineno) if made is not None else "–"
    return case.finding("linear_shape", common, tensors=(given, weight), fix=fix, made_line=line_made)


def _batch_flattened(case: Case, given: Tensor, common: dict[str, str]) -> Finding:
    """`x.view(-1)`: all samples in one long row."""
    maker = case.diagnosis.maker.get(given.id)
    call = case.code.at(maker.span) if maker is not None else None
    fix: tuple[Edit, ...] = ()
    match call:
        case ast.Call(func=ast.Attribute(value=inner, attr="view" | "reshape" | "flatten"), args=arguments) if (
            not arguments or ast.unparse(arguments[0]) == "-1"
        ):
            fix = (case.code.replace(call, f"{case.code.text(inner)}.flatten(1)"),)
    samples = str(given.shape[-1] // int(common["wanted"]))
    where = maker.span if maker is not None and maker.name in ("view", "reshape", "flatten") else None
    return case.finding("batch_flattened", common, span=where, samples=samples, tensors=(given,), fix=fix)


def _flattened(case: Case, given: Tensor, module: Module | None) -> tuple[Edit, ...]:
    call = case.call
    if call is not None and len(call.args) == 1 and case.written(given) is call.args[0]:
        operand = case.operand(ast.unparse(call.func))
        if operand is not None and operand.type == "Linear":
            return case.code.method(call.args[0], ".flatten(1)")
    made = layer_call(case, module.id) if module is not None else None
    above = case.code.parents.get(made) if made is not None else None
    if made is not None and isinstance(above, ast.Call) and case.code.text(above.func).endswith("Sequential"):
        prefix = case.code.text(made.func).rpartition(".")[0]
        return (case.code.before(made, f"{prefix + '.' if prefix else ''}Flatten(), "),) if prefix else ()
    return ()


def layer_call(case: Case, module: str) -> ast.Call | None:
    """The call in the program that made a module, when there is exactly one."""
    record = case.diagnosis.modules.get(module)
    if record is None:
        return None
    name = record.path.rpartition(".")[2]
    parent = case.diagnosis.modules.get(record.parent or "")
    if parent is None:
        made = case.code.assignments(record.path)
        return _call(made[0].value) if len(made) == 1 else None
    if parent.type == "Sequential" and name.isdigit():
        around = layer_call(case, parent.id)
        if around is None or any(isinstance(arg, ast.Starred) for arg in around.args) or int(name) >= len(around.args):
            return None
        return _call(around.args[int(name)])
    classes = case.code.classes(parent.type)
    if len(classes) != 1:
        return None
    made = [
        assignment for assignment in case.code.assignments(f"self.{name}") if classes[0] in case.code.around(assignment)
    ]
    return _call(made[0].value) if len(made) == 1 else None


def _call(node: ast.expr) -> ast.Call | None:
    return node if isinstance(node, ast.Call) else None


def _first_number(case: Case, made: ast.Call | None, keyword: str, wrong: int, right: int) -> tuple[Edit, ...]:
    """Corrects a size written as a number in the call that made a layer."""
    if made is None:
        return ()
    node = next((word.value for word in made.keywords if word.arg == keyword), made.args[0] if made.args else None)
    if isinstance(node, ast.Constant) and node.value == wrong:
        return (case.code.replace(node, str(right)),)
    return ()


def product_of_batches(case: Case) -> Finding | None:
    """`bmm`, `mm`, `mv` and `dot` take tensors of one number of axes only."""
    op = case.op
    if op is None or op.name not in ("mm", "bmm", "mv", "dot", "matmul", "vdot", "addmm", "inner"):
        return None
    pair = case.inputs()[-2:]
    if len(pair) != 2:
        return None
    fix: tuple[Edit, ...] = ()
    left, right = pair
    fits = _matmul_fits(left.shape, right.shape)
    call = case.call
    if fits and op.name in ("mm", "bmm", "mv", "dot") and call is not None and isinstance(call.func, ast.Attribute):
        fix = (case.code.replace(call.func, f"{case.code.text(call.func.value)}.matmul"),)
    return _of_pair(case, left, right, fix=fix, op=op.name)


def _matmul_fits(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    if not left or not right:
        return False
    return left[-1] == (right[-2] if len(right) > 1 else right[0]) and (len(left) <= 2 or len(right) <= 2)


def broadcast(case: Case) -> Finding | None:
    """Two shapes that no stretching makes equal: the axis, and both sizes there."""
    a, b, axis = int(case.groups["a"]), int(case.groups["b"]), int(case.groups["axis"])
    pair = _clashing(case, a, b)
    if pair is None:
        return None
    left, right = pair
    least = min(len(left.shape), len(right.shape))
    widest = max(len(left.shape), len(right.shape))
    return _of_pair(case, left, right, back=str(widest - axis), least=str(least))


def _clashing(case: Case, a: int, b: int) -> tuple[Tensor, Tensor] | None:
    """The two inputs whose sizes, counted from the last axis, really clash as the message says."""
    given = case.inputs()
    for at, left in enumerate(given):
        for right in given[at + 1 :]:
            clash = [
                (x, y)
                for x, y in zip(reversed(left.shape), reversed(right.shape), strict=False)
                if x != y and 1 not in (x, y)
            ]
            if (a, b) in clash or (b, a) in clash:
                return left, right
    return None


def joined(case: Case) -> Finding | None:
    """`cat` of tensors that differ in another axis than the one they are joined along."""
    at = int(case.groups["at"])
    given = case.inputs()
    if at >= len(given):
        return None
    first, other = given[0], given[at]
    along = int(case.groups["along"])
    clash = [i for i, (x, y) in enumerate(zip(first.shape, other.shape, strict=False)) if x != y and i != along]
    if not clash:
        return None
    return case.finding(
        tensors=(first, other),
        first=case.diagnosis.say(first.id),
        other=case.diagnosis.say(other.id),
        axis=str(clash[0]),
        first_shape=sizes(first.shape),
        other_shape=sizes(other.shape),
    )


def joined_axes(case: Case) -> Finding | None:
    """`cat` of tensors with different numbers of axes."""
    given = case.inputs()
    other = next((tensor for tensor in given if len(tensor.shape) != len(given[0].shape)), None)
    if other is None:
        return None
    return case.finding(
        tensors=(given[0], other), first=case.diagnosis.say(given[0].id), other=case.diagnosis.say(other.id),
        first_shape=sizes(given[0].shape), other_shape=sizes(other.shape),
    )  # fmt: skip


def stacked(case: Case) -> Finding | None:
    """`stack` of tensors of different shapes; in a DataLoader: samples of different shapes."""
    code = "stack_shapes" if case.op is not None and case.op.span == case.failure.span and case.inputs() else ""
    is_loader = any("data/_utils" in frame.file for frame in case.failure.frames)
    return case.finding("batch_shapes" if is_loader else code)


def reshaped(case: Case) -> Finding | None:
    """A new shape with another number of elements."""
    wanted = [int(text) for text in re.findall(r"-?\d+", case.groups["shape"])]
    given = case.argument(0)
    call = case.call
    name = case.say(given) if given is not None else "?"
    if given is None or call is None:
        return None
    known = math.prod(size for size in wanted if size != -1)
    count = int(case.groups["count"])
    common = {
        "name": name,
        "shape": str(wanted),
        "given_shape": sizes(given.shape),
        "count": str(count),
        "wanted": str(known),
    }
    if count == 0:
        maker = case.diagnosis.maker.get(given.id)
        made = str(maker.span.line) if maker is not None and maker.span is not None else "?"
        return case.finding("reshape_of_nothing", common, tensors=(given,), made_line=made)
    return case.finding("", common, tensors=(given,))


def not_contiguous(case: Case) -> Finding | None:
    """`view` of a tensor whose elements do not lie in order."""
    call = case.call
    given = case.argument(0)
    if call is None or given is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "view":
        return None
    fix = (case.code.replace(call.func, f"{case.code.text(call.func.value)}.reshape"),)
    return case.finding(name=case.say(given), shape=sizes(given.shape), strides=str(list(given.strides or ())), fix=fix)


def axis_out_of_range(case: Case) -> Finding | None:
    """An axis that the tensor does not have."""
    given = next(iter(case.inputs()), None)
    if given is None:
        return None
    low, high = int(case.groups["low"]), int(case.groups["high"])
    axes = len(given.shape)
    if axes and (low, high) != (-axes, axes - 1) and (low, high) != (-axes - 1, axes):
        return None
    return case.finding(name=case.say(given), shape=sizes(given.shape), axes=str(axes), tensors=(given,))


def index(case: Case) -> Finding | None:
    """An index beyond the end of an axis."""
    given = next(iter(case.inputs()), None)
    axis, size = int(case.groups["axis"]), int(case.groups["size"])
    state = _state_of_lstm(case)
    if state is not None:
        return state
    if given is None or axis >= len(given.shape) or given.shape[axis] != size:
        return None
    return case.finding(name=case.say(given), shape=sizes(given.shape), last=str(size - 1), tensors=(given,))


def _state_of_lstm(case: Case) -> Finding | None:
    """One tensor where an LSTM takes two: it is indexed as if it were the pair."""
    call = case.call
    operand = case.operand(ast.unparse(call.func)) if call is not None else None
    if call is None or operand is None or operand.type != "LSTM" or len(call.args) != 2:
        return None
    given, tensor = call.args[1], case.tensor_of(call.args[1])
    if tensor is None:
        return None
    text = case.code.text(given)
    fix: tuple[Edit, ...] = ()
    if isinstance(given, ast.Name) and case.code.is_bound("torch"):
        fix = (case.code.replace(given, f"({text}, torch.zeros_like({text}))"),)
    return case.finding(
        "lstm_state", span=case.code.span(given), layer=case.code.short(call.func), name=case.code.short(given), fix=fix
    )


def index_of_list(case: Case) -> Finding | None:
    """An index beyond the end of a list."""
    node = case.node
    if not isinstance(node, ast.Subscript):
        return None
    return case.finding(name=case.code.short(node.value), index=case.code.short(node.slice))


def indices_many(case: Case) -> Finding | None:
    """More indices than axes."""
    given = next(iter(case.inputs()), None)
    if given is None:
        return None
    return case.finding(name=case.say(given), shape=sizes(given.shape), axes=str(len(given.shape)), tensors=(given,))


def index_of_scalar(case: Case) -> Finding | None:
    """`loss.data[0]`: a scalar has no axis to index; old programs took its number this way."""
    node = case.node
    given = next(iter(case.inputs()), None)
    if not isinstance(node, ast.Subscript) or given is None or given.shape:
        return None
    receiver = node.value
    if isinstance(receiver, ast.Attribute) and receiver.attr == "data":
        receiver = receiver.value
    fix: tuple[Edit, ...] = ()
    if isinstance(node.slice, ast.Constant) and node.slice.value in (0, -1) and isinstance(node.ctx, ast.Load):
        fix = (case.code.replace(node, f"{case.code.text(receiver)}.item()"),)
    return case.finding(name=case.code.short(receiver), fix=fix)


def mask(case: Case) -> Finding | None:
    """A mask of another length than the axis it chooses from."""
    return case.finding(
        axis=case.groups["axis"], mask_shape=case.groups["mask"], shape=case.groups["shape"],
    )  # fmt: skip


def embedding(case: Case) -> Finding | None:
    """A number beyond the rows of an embedding table, or of the axis an index function chooses from."""
    op = case.op
    if op is None:
        return None
    if op.name == "embedding":
        indices, weight = case.argument(0, "input"), case.argument(1, "weight")
        if indices is None or weight is None:
            return None
        worst = _outside(indices, weight.shape[0])
        if worst is None:
            return None
        return case.finding(
            "embedding_index",
            tensors=(indices, weight),
            name=case.say(indices),
            rows=str(weight.shape[0]),
            value=str(worst),
            last=str(weight.shape[0] - 1),
        )
    return None


def _outside(tensor: Tensor, size: int) -> int | None:
    """The first element that is no index below a size."""
    numbers = [int(number) for number in tensor.data or () if isinstance(number, int)]
    if not numbers and tensor.summary is not None:
        numbers = [int(float(tensor.summary.max)), int(float(tensor.summary.min))]
    return next((number for number in numbers if not 0 <= number < size), None)


def channels(case: Case) -> Finding | None:
    """A convolution given another number of channels than it was made for."""
    given = case.argument(0, "input")
    if given is None or case.op is None:
        return None
    module = case.diagnosis.modules.get(case.op.module or "")
    layer = module.path if module is not None and module.type.startswith("Conv") else case.op.name
    made = layer_call(case, module.id) if module is not None and layer != case.op.name else None
    wanted, got = int(case.groups["wanted"]), int(case.groups["got"])
    if len(given.shape) in (3, 4) and given.shape[-1] == wanted and case.op.name == "conv2d":
        return _channels_last(case, layer, given)
    if len(given.shape) == 3 and wanted == 1 and case.op.name == "conv2d":
        node = case.written(given)
        fix = case.code.method(node, ".unsqueeze(1)") if node is not None else ()
        return case.finding(
            "channel_axis_missing",
            layer=layer,
            name=case.say(given),
            shape=sizes(given.shape),
            tensors=(given,),
            fix=fix,
        )
    return case.finding(
        layer=layer,
        name=case.say(given),
        shape=sizes(given.shape),
        tensors=(given,),
        made_line=str(made.lineno) if made is not None else "–",
        fix=_first_number(case, made, "in_channels", wanted, got),
    )


def _channels_last(case: Case, layer: str, given: Tensor) -> Finding:
    """Images as NumPy and most image libraries store them: height × width × channels."""
    order = "0, 3, 1, 2" if len(given.shape) == 4 else "2, 0, 1"
    node = case.written(given)
    fix = case.code.method(node, f".permute({order})") if node is not None else ()
    return case.finding(
        "channels_last",
        layer=layer,
        name=case.say(given),
        shape=sizes(given.shape),
        order=order,
        tensors=(given,),
        fix=fix,
    )


def layer_axes(case: Case) -> Finding | None:
    """An image without its batch or channel axis."""
    given = case.argument(0, "input")
    if given is None or case.op is None:
        return None
    return case.finding(name=case.say(given), shape=sizes(given.shape), op=case.op.name, tensors=(given,))


def kernel(case: Case) -> Finding | None:
    """A kernel larger than what it slides over."""
    given = case.argument(0, "input")
    return case.finding(name=case.say(given), shape=sizes(given.shape)) if given is not None else None


def one_value(case: Case) -> Finding | None:
    """Batch normalisation needs more than one value in each channel."""
    given = case.argument(0, "input")
    if given is None or case.op is None:
        return None
    module = case.diagnosis.modules.get(case.op.module or "")
    return case.finding(
        layer=module.path if module is not None else case.op.name, name=case.say(given), shape=sizes(given.shape),
        tensors=(given,),
    )  # fmt: skip


def in_place_shape(case: Case) -> Finding | None:
    """An in-place operation cannot make its tensor larger."""
    pair = case.inputs()[:2]
    if len(pair) != 2:
        return None
    return case.finding(
        name=case.say(pair[0]), tensors=pair, left_shape=sizes(pair[0].shape), right_shape=sizes(pair[1].shape),
        result=case.groups["result"], fix=(),
    )  # fmt: skip


def loss_batch(case: Case) -> Finding | None:
    """Scores and targets of different numbers of samples."""
    scores, target = case.argument(0, "input"), case.argument(1, "target")
    if scores is None or target is None:
        return None
    return case.finding(
        tensors=(scores, target), scores=case.say(scores), target=case.say(target), scores_shape=sizes(scores.shape),
        target_shape=sizes(target.shape),
    )  # fmt: skip


def target_axes(case: Case) -> Finding | None:
    """Class numbers with an axis too many."""
    scores, target = case.argument(0, "input"), case.argument(1, "target")
    if scores is None or target is None:
        return None
    node = case.written(target)
    extra = [axis for axis, size in enumerate(target.shape) if axis and size == 1]
    fix = (
        case.code.method(node, f".squeeze({extra[0]})") if node is not None and len(target.shape) == 2 and extra else ()
    )
    return case.finding(tensors=(target,), target=case.say(target), target_shape=sizes(target.shape), fix=fix)


def target_shape(case: Case) -> Finding | None:
    """A loss of two tensors that must have the same shape."""
    scores, target = case.argument(0, "input"), case.argument(1, "target")
    if scores is None or target is None:
        return None
    node = case.written(target)
    fix: tuple[Edit, ...] = ()
    if node is not None and math.prod(scores.shape) == math.prod(target.shape) and scores.shape != target.shape:
        pred = case.written(scores)
        if pred is not None and isinstance(pred, ast.Name | ast.Attribute):
            fix = case.code.method(node, f".view_as({case.code.text(pred)})")
    return case.finding(
        tensors=(scores, target), scores=case.say(scores), target=case.say(target), scores_shape=sizes(scores.shape),
        target_shape=sizes(target.shape), fix=fix,
    )  # fmt: skip


def target_range(case: Case) -> Finding | None:
    """A class number that the scores have no column for."""
    scores, target = case.argument(0, "input"), case.argument(1, "target")
    if scores is None or target is None or not scores.shape:
        return None
    classes = scores.shape[1] if len(scores.shape) > 1 else scores.shape[0]
    return case.finding(
        tensors=(scores, target),
        scores=case.say(scores),
        target=case.say(target),
        classes=str(classes),
        last=str(classes - 1),
        scores_shape=sizes(scores.shape),
    )


def recurrent_input(case: Case) -> Finding | None:
    """A recurrent layer given vectors of another length than it was made for."""
    call = case.call
    given = case.tensor_of(call.args[0]) if call is not None and call.args else None
    if call is None or given is None:
        return None
    wanted, got = int(case.groups["wanted"]), int(case.groups["got"])
    if not given.shape or given.shape[-1] != got:
        return None
    name = ast.unparse(call.func)
    modules = [
        module
        for module in case.diagnosis.trace.modules
        if module.path == name.replace("self.", "", 1) or module.path == name
    ]
    made = layer_call(case, modules[0].id) if len(modules) == 1 else None
    return case.finding(
        layer=name,
        name=case.say(given),
        shape=sizes(given.shape),
        tensors=(given,),
        made_line=str(made.lineno) if made is not None else "–",
        fix=_first_number(case, made, "input_size", wanted, got),
    )


def hidden_size(case: Case) -> Finding | None:
    """A first state whose shape does not go with the input."""
    call = case.call
    if call is None:
        return None
    given = case.tensor_of(call.args[0]) if call.args else None
    shape = sizes(given.shape) if given is not None else "?"
    state = case.code.short(call.args[1]) if len(call.args) > 1 else "?"
    return case.finding(layer=case.code.short(call.func), input_shape=shape, name=state)


def norm_features(case: Case) -> Finding | None:
    """A batch norm made for another number of channels."""
    given = case.argument(0, "input")
    if given is None or case.op is None:
        return None
    module = case.diagnosis.modules.get(case.op.module or "")
    made = layer_call(case, module.id) if module is not None else None
    wanted, got = int(case.groups["wanted"]), int(case.groups["got"])
    return case.finding(
        layer=module.path if module is not None else case.op.name,
        shape=sizes(given.shape),
        tensors=(given,),
        made_line=str(made.lineno) if made is not None else "–",
        fix=_first_number(case, made, "num_features", wanted, got),
    )


def gathered(case: Case) -> Finding | None:
    """`gather` takes an index with as many axes as the tensor."""
    pair = case.inputs()[:2]
    if len(pair) != 2 or len(pair[0].shape) == len(pair[1].shape):
        return None
    given, index = pair
    node = case.written(index)
    axis = next(
        (argument.text for argument in (case.op.arguments if case.op is not None else ()) if argument.tensor is None),
        "1",
    )
    one_less = len(given.shape) == len(index.shape) + 1
    fix = case.code.method(node, f".unsqueeze({axis})") if node is not None and one_less else ()
    return case.finding(
        name=case.say(given),
        shape=sizes(given.shape),
        index=case.say(index),
        index_shape=sizes(index.shape),
        axis=axis or "1",
        tensors=pair,
        fix=fix,
    )


def expanded(case: Case) -> Finding | None:
    """`expand` stretches axes of size 1 only."""
    given = case.argument(0)
    return case.finding(name=case.say(given), tensors=(given,)) if given is not None else None


def unpacked(case: Case) -> Finding | None:
    """A tuple or tensor with another number of parts than names on the left."""
    span = case.failure.span
    statement = case.code.statement_on(span.line) if span is not None else None
    if not isinstance(statement, ast.Assign | ast.For):
        return None
    value = statement.value if isinstance(statement, ast.Assign) else statement.iter
    got = re.search(r"got (\d+)", case.failure.message)
    common = {"value": case.code.short(value), "got": got[1] if got else ""}
    saved = saved_nothing(case, statement, value)
    if saved is not None or not isinstance(statement, ast.For):
        return saved or case.finding("", common)
    return _parts_of_turn(case, statement, common)


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


def ragged(case: Case) -> Finding | None:
    """Nested lists whose rows differ in length."""
    return case.finding()


def transposed_batch(case: Case) -> Finding | None:
    """`.t()` of more than a matrix."""
    call = case.call
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "t" or call.args:
        return None
    given = case.argument(0)
    fix = (case.code.replace(call, f"{case.code.text(call.func.value)}.transpose(-2, -1)"),)
    shape = sizes(given.shape) if given is not None else "?"
    return case.finding(name=case.code.short(call.func.value), shape=shape, tensors=(given,), fix=fix)


def two_inferred(case: Case) -> Finding | None:
    """Two sizes left to PyTorch, which can work out one."""
    given = case.argument(0)
    if given is None:
        return None
    return case.finding(
        name=case.say(given), shape=sizes(given.shape), count=str(math.prod(given.shape)), tensors=(given,)
    )


def expanded_written(case: Case) -> Finding | None:
    """Writing into a tensor whose elements are one and the same number in memory."""
    given = next(iter(case.inputs()), None)
    if given is None:
        return None
    name = case.diagnosis.say(given.id)
    identity = case.diagnosis.identity(given.id)
    maker = next((op for op in case.diagnosis.ops_named(_STRETCHES) if identity in op.outputs), None)
    made = case.code.at(maker.span) if maker is not None else None
    fix = (case.code.after(made, ".clone()"),) if isinstance(made, ast.Call) else ()
    return case.finding(
        span=maker.span if maker is not None else None, name=name, shape=sizes(given.shape), tensors=(given,), fix=fix,
    )  # fmt: skip


_STRETCHES = BROADCASTING & VIEWS


def probability_range(case: Case) -> Finding | None:
    """`binary_cross_entropy` takes probabilities; scores of a last layer are none."""
    given, target = case.argument(0, "input"), case.argument(1, "target")
    if case.op is None or given is None or target is None:
        return None
    wrong = target if case.groups["which"] == "target" else given
    common = {"name": case.say(wrong), "value": f"{_farthest(wrong):.4g}", "loss": case.op.name}
    if wrong is target:
        return case.finding("bce_target_range", common, tensors=(target,))
    return case.finding("", common, tensors=(given,), fix=logits_loss(case.diagnosis, case.op))


def _farthest(tensor: Tensor) -> float:
    """The element farthest outside 0 to 1."""
    numbers = [float(number) for number in tensor.data or ()]
    if not numbers and tensor.summary is not None:
        numbers = [float(tensor.summary.max), float(tensor.summary.min)]
    return max(numbers, key=lambda number: abs(number - 0.5), default=math.nan)
