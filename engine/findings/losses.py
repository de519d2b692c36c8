"""Losses that were given something else than they expect, and shapes that grew by broadcasting."""

import ast
import math
from collections.abc import Iterator
from functools import partial

from engine.findings.diagnosis import LEAST_TURNS, Diagnosis, argument, extent, line, numbers_of, times, walk
from engine.ops import out_of_place
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Finding, Op, Span, Tensor

STRETCHING = {
    "sub": "difference_broadcast",
    "rsub": "difference_broadcast",
    "eq": "comparison_broadcast",
    "ne": "comparison_broadcast",
}
DIFFERENT_SIZE = "Using a target size"
ELEMENTWISE_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss".split())
SCALED = ("mul", "neg", "div")
PASSING = frozenset("squeeze unsqueeze view view_as reshape flatten contiguous float double to clone dropout".split())
"""Ops that hand their values on."""
MADE_BY_LAYERS = frozenset("linear matmul mm addmm bmm mv baddbmm".split())
AFTER_LAYERS = frozenset(
    "add sub mul sigmoid tanh relu softplus leaky_relu gelu exp dropout batch_norm layer_norm".split()
)
GIVEN = MADE_BY_LAYERS | AFTER_LAYERS | {"grad", "conv1d", "conv2d", "conv3d", "adaptive_avg_pool2d"}
DECIDES = frozenset("gt ge lt le round sign argmax max topk".split())
"""Ops that make a class out of a score."""
CLASS_LOSSES = ("cross_entropy", "nll_loss")
PARTS = ("chunk", "split")
WITHOUT_WEIGHTS = 2
LOSSES = (*CLASS_LOSSES, "binary_cross_entropy", "binary_cross_entropy_with_logits")
LOSS_FUNCTIONS = frozenset(
    (
        *LOSSES,
        *ELEMENTWISE_LOSSES,
        *"kl_div poisson_nll_loss gaussian_nll_loss ctc_loss".split(),
        *"soft_margin_loss multi_margin_loss multilabel_margin_loss".split(),
    )
)
WITH_TARGETS = (*LOSSES, *sorted(ELEMENTWISE_LOSSES))
"""Losses that hold predictions against targets."""
SOFTMAXES = ("softmax", "log_softmax", "softmin")
SQUASHING = ("softmax", "sigmoid", "relu", "tanh")
RECURRENT = ("rnn_tanh", "rnn_tanh_cell")
WITHIN_ONE = ("tanh", *RECURRENT)
"""What they give lies between -1 and 1."""
ONE_ROUNDED = 1.0001
SOFTMAX_LAYERS = frozenset(("Softmax", "LogSoftmax", "Softmin"))
"""What PyTorch calls the layers that do the same."""


def losses_broadcast(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Predictions and targets stretched against each other: PyTorch warns of it in a loss, unless its warnings are
    filtered; of (n,) against the (n, 1) of a layer, subtracted or compared, it says nothing."""
    for op in diagnosis.ops_named((*sorted(ELEMENTWISE_LOSSES), *STRETCHING)):
        first, second = diagnosis.input_of(op), diagnosis.input_of(op, 1)
        if first is None or second is None or first.shape == second.shape:
            continue
        if op.name in STRETCHING:
            column, row = sorted((first, second), key=lambda operand: -len(operand.shape))
            if _is_stretched_layer(diagnosis, op, column, row):
                yield _stretched(diagnosis, op, STRETCHING[op.name], column, row)
            continue
        sizes = diagnosis.elements(first.id), diagnosis.elements(second.id)
        made = math.prod(_broadcast(first.shape, second.shape))
        if made > max(sizes) or (made > min(sizes) and _is_warned_of(diagnosis, op)):
            yield _stretched(diagnosis, op, "loss_broadcast", first, second)


def _is_warned_of(diagnosis: Diagnosis, op: Op) -> bool:
    return any(DIFFERENT_SIZE in warning.message and warning.span == op.span for warning in diagnosis.trace.warnings)


def _is_stretched_layer(diagnosis: Diagnosis, op: Op, column: Tensor, row: Tensor) -> bool:
    """Whether it is an (n, 1) that a layer gave, or a derivative by one, and an (n,), or the like of more axes; what
    `unsqueeze` or `view` made is meant."""
    is_pair = op.name in ("sub", "rsub") or len(column.shape) == 2
    if len(op.broadcast) != 2 or not is_pair or not _is_all_against_all(column.shape, row.shape):
        return False
    if STRETCHING[op.name] == "comparison_broadcast":
        by, before = (
            last_maker(diagnosis, column),
            diagnosis.tensors.get(next(iter(diagnosis.made_from(column.id)), "")),
        )
        is_set = before is not None and len(before.shape) < len(column.shape)
        return not is_set and by is not None and by.name in MADE_BY_LAYERS | AFTER_LAYERS | DECIDES
    maker = diagnosis.maker.get(column.id)
    if maker is not None and maker.name in ("detach", "data", *PARTS):
        maker = diagnosis.maker.get(next(iter(maker.inputs), ""))
    is_own = diagnosis.identity(column.id) in map(diagnosis.identity, diagnosis.made_from(row.id)[:1])
    is_given = maker is not None and out_of_place(maker.name) in GIVEN
    if not is_given and not diagnosis.is_tracked(column.id):  # a column of targets against what a product gave
        by = diagnosis.origin(row.id, PASSING | AFTER_LAYERS, 4)
        is_given = by is not None and by.name in MADE_BY_LAYERS and not _is_set_upright(diagnosis, maker)
    is_used = any(map(diagnosis.reaches_a_pass, (op, *diagnosis.computed_from(op.outputs)))) or (
        op.grad_mode != "grad" and maker is not None and maker.module is not None
    )
    return is_given and is_used and not is_own


def _is_set_upright(diagnosis: Diagnosis, maker: Op | None) -> bool:
    """Whether a column was made of a row on the spot, as by `unsqueeze`, `view` or `y[:, None]`."""
    if maker is None or not maker.inputs:
        return False
    made, given = diagnosis.output_of(maker), diagnosis.input_of(maker)
    is_longer = made is not None and given is not None and len(made.shape) > len(given.shape)
    return maker.name in PASSING or (maker.name == "getitem" and is_longer)


def _is_all_against_all(longer: tuple[int, ...], shorter: tuple[int, ...]) -> bool:
    """Whether two operands have the same axes, but for those of 1, and are stretched to a result in which each number
    of one meets each of the other."""
    count = math.prod(shorter)
    same = [size for size in longer if size != 1] == [size for size in shorter if size != 1]
    return same and len(longer) > len(shorter) and count > 1 and math.prod(_broadcast(longer, shorter)) == count**2


def _stretched(diagnosis: Diagnosis, op: Op, code: str, first: Tensor, second: Tensor) -> Finding:
    shape = _broadcast(first.shape, second.shape)
    few, many = sorted((first, second), key=lambda each: diagnosis.elements(each.id))
    is_all = diagnosis.elements(many.id) < math.prod(shape) == diagnosis.elements(few.id) * diagnosis.elements(many.id)
    is_like = diagnosis.elements(few.id) == diagnosis.elements(many.id)
    maker = diagnosis.maker.get(first.id)
    is_part = maker is not None and maker.name in PARTS  # whose other parts stay columns
    return diagnosis.warning(
        code,
        op,
        tensors=(first.id, second.id),
        fix=_squeezed(diagnosis, op, is_part) if is_like else (),
        first=_said_in(diagnosis, op, first),
        second=_said_in(diagnosis, op, second),
        first_shape=times(first),
        second_shape=times(second),
        shape="×".join(map(str, shape)),
        is_all=str(int(is_all)),
        is_like=str(int(is_like)),
        is_part=str(int(is_part)),
        few=_said_in(diagnosis, op, few),
        many=_said_in(diagnosis, op, many),
        each=str(math.prod(shape) // max(diagnosis.elements(few.id), 1)),
        cut=_given_shape_of(diagnosis, first, second),
        grown=_given_shape_of(diagnosis, second, first),
    )


def _said_in(diagnosis: Diagnosis, op: Op, operand: Tensor) -> str:
    """What an operand is called where it is written: a function may have other names than its caller."""
    match diagnosis.code.at(op.span):
        case ast.BinOp(left=ast.Name(id=left), right=ast.Name(id=right)) if (
            op.name != "rsub" and len({*op.inputs}) == 2
        ):
            names = dict(zip(op.inputs, (left, right), strict=True))
            return names.get(operand.id) or diagnosis.say(operand.id)
    return diagnosis.say(operand.id)


def _given_shape_of(diagnosis: Diagnosis, one: Tensor, other: Tensor) -> str:
    """The call that gives a tensor the shape of another of as many numbers."""
    if one.shape == (*other.shape, 1):
        return ".squeeze(-1)"
    return ".unsqueeze(-1)" if other.shape == (*one.shape, 1) else f".view_as({diagnosis.say(other.id)})"


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> list[int]:
    size = max(len(first), len(second))
    pairs = zip((1,) * (size - len(first)) + first, (1,) * (size - len(second)) + second, strict=True)
    return [max(pair) for pair in pairs]


def _squeezed(diagnosis: Diagnosis, op: Op, is_part: bool) -> Edits:
    """The last axis of 1 taken off the operand that has it, or given to the other, where the code shows that."""
    operands = (diagnosis.tensors[given] for given in op.inputs[:2])
    shorter, longer = sorted(operands, key=lambda operand: len(operand.shape))
    if longer.shape != (*shorter.shape, 1):
        return ()
    code = diagnosis.code
    match code.at(op.span):
        case (
            ast.BinOp(left=left, right=right)
            | ast.Compare(left=left, comparators=[right])
            | ast.Call(args=[left, right])
        ) if len(op.inputs) > 1:
            column, row = (left, right) if op.inputs[0] == longer.id else (right, left)
            return code.method(row, ".unsqueeze(-1)") if is_part else code.method(column, ".squeeze(-1)")
    return ()


def last_maker(diagnosis: Diagnosis, tensor: Tensor | None) -> Op | None:
    """The op a value comes from, seen through ops that hand values on."""
    return diagnosis.origin(tensor.id, PASSING, 3) if tensor is not None else None


def said_at(diagnosis: Diagnosis, op: Op, target: Tensor) -> str:
    """What the call of a loss calls its target: a batch of a loader is made in the head of a loop."""
    call = diagnosis.code.call_at(op.span)
    at = op.inputs.index(target.id) if target.id in op.inputs else 0
    is_written = call is not None and 0 < at < len(call.args)
    return diagnosis.code.short(call.args[at]) if call is not None and is_written else diagnosis.say(target.id)


def losses_of_the_wrong_kind(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Softmax or sigmoid twice, or not at all, or a ReLU before; one that several losses are given is told of once."""
    told: set[tuple[str, Span]] = set()
    for op in diagnosis.ops_named((*LOSSES, "log_softmax", "sigmoid")):
        wrong = _wrong(diagnosis, op)
        if wrong is None:
            continue
        maker = last_maker(diagnosis, diagnosis.input_of(op))
        does = _squashes(diagnosis, maker) if maker is not None and maker.inputs else ""
        if maker is not None and maker.span is not None and does in SQUASHING:
            if (wrong, maker.span) in told:
                continue
            told.add((wrong, maker.span))
        yield diagnosis.warning(
            wrong,
            op,
            tensors=op.inputs[:1],
            fix=_mended(diagnosis, op, maker, wrong) if does in SQUASHING or wrong == "bce_without_sigmoid" else (),
            loss=op.name,
            is_twice=str(int(op.name == "sigmoid")),
            name=diagnosis.say(op.inputs[0]),
            op=_said(diagnosis, maker, does),
            is_seen=str(int(does not in SQUASHING)),
            op_line=line(maker.span if maker is not None else None),
            **(_bound(op, diagnosis.input_of(op)) if wrong == "bounded_before_logits_loss" else {}),
        )


def _said(diagnosis: Diagnosis, maker: Op | None, does: str) -> str:
    """The kind of layer for what only a layer does."""
    layer = diagnosis.modules.get(maker.module or "") if maker is not None and does in RECURRENT else None
    return layer.type if layer is not None else does


def _bound(op: Op, given: Tensor | None) -> dict[str, str]:
    """The largest probability of the right answer that scores between -1 and 1 can give, and so the least loss."""
    others = math.exp(-1)
    if op.name == "cross_entropy" and given is not None:
        others = (given.shape[min(1, len(given.shape) - 1)] - 1) * math.exp(-2)
    return {"most": f"{1 / (1 + others):.3g}", "least": f"{math.log1p(others):.3g}"}


def _wrong(diagnosis: Diagnosis, op: Op) -> str | None:
    maker = last_maker(diagnosis, diagnosis.input_of(op))
    name = _squashes(diagnosis, maker) if maker is not None and maker.inputs else ""
    if op.name == "sigmoid":
        return "sigmoid_before_logits_loss" if name == "sigmoid" and diagnosis.reaches_a_pass(op) else None
    takers = [taker.name for taker in diagnosis.takers.get(op.outputs[0], ()) if taker.nodes]
    if op.name == "log_softmax" and name == "softmax":
        return "softmax_before_cross_entropy" if {*takers} & {"nll_loss", "gather", "getitem"} else None
    if op.name == "log_softmax":
        return "relu_before_logits_loss" if name == "relu" and diagnosis.reaches_a_pass(op) else None
    if op.name in ("cross_entropy", "binary_cross_entropy_with_logits") and name == "relu":
        return "relu_before_logits_loss"
    if op.name in ("cross_entropy", "binary_cross_entropy_with_logits") and name in WITHIN_ONE:
        ends = extent(diagnosis.input_of(op))
        is_bound = ends is not None and -1 <= ends[0] <= ends[1] <= 1 and len(op.inputs) == WITHOUT_WEIGHTS
        return "bounded_before_logits_loss" if is_bound else None
    if op.name == "cross_entropy":
        is_squashed = name in ("softmax", "sigmoid") or _are_probabilities(diagnosis, op)
        return "softmax_before_cross_entropy" if is_squashed else None
    if op.name == "binary_cross_entropy_with_logits":
        return "sigmoid_before_logits_loss" if name in ("sigmoid", "softmax") else None
    made_from = maker.inputs if maker is not None else ()
    is_of_layer = name == "linear" or (name in MADE_BY_LAYERS and any(map(diagnosis.is_tracked_leaf, made_from)))
    is_scored = op.name == "binary_cross_entropy" and (is_of_layer or name == "relu")
    return "bce_without_sigmoid" if is_scored else None


def _are_probabilities(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a loss was given in all turns rows of numbers from 0 up that add up to 1; of large tables on average."""
    turns = [diagnosis.input_of(turn) for turn in diagnosis.ops_at(op.span) if turn.name == op.name and turn.nodes]
    return len(turns) >= LEAST_TURNS and all(given is not None and _add_up_to_one(given) for given in turns)


def _add_up_to_one(given: Tensor) -> bool:
    ends, numbers, summary = extent(given), numbers_of(given), given.summary
    if ends is None or not 0 <= ends[0] < ends[1] < ONE_ROUNDED or len(given.shape) != 2 or min(given.shape) < 2:
        return False
    rows, classes = given.shape
    if summary is not None and not numbers:
        return math.isclose(float(summary.mean) * classes, 1, abs_tol=1e-5)
    sums = (sum(numbers[at * classes : (at + 1) * classes]) for at in range(rows))
    return bool(numbers) and all(math.isclose(each, 1, abs_tol=1e-5) for each in sums)


def _squashes(diagnosis: Diagnosis, op: Op) -> str:
    """What an op does, by PyTorch's name; a softmax and a sigmoid are known when they are written out too."""
    above, below = (diagnosis.origin(tensor, PASSING, 3) for tensor in (op.inputs[0], op.inputs[-1]))
    if below is None or above is None or not below.inputs:
        return op.name
    summed = diagnosis.maker.get(below.inputs[0])
    if op.name == "div" and below.name == "sum" and above.name == "exp" and summed is not None:
        return "softmax" if summed.name == "exp" and summed.inputs == above.inputs else op.name
    if op.name == "exp" and above.name == "log_softmax":
        return "softmax"
    is_inverse = op.name == "reciprocal" or (op.name == "rdiv" and argument(op, "other", 1) in ("1", "1.0"))
    is_above_one = below.name == "add" and argument(below, "other", 1) in ("1", "1.0")
    return "sigmoid" if is_inverse and is_above_one and summed is not None and summed.name == "exp" else op.name


def _mended(diagnosis: Diagnosis, op: Op, maker: Op | None, wrong: str) -> Edits:
    if wrong.endswith(("before_cross_entropy", "before_logits_loss")) and maker:
        made = walk([each.outputs[0] for each in _written_by(diagnosis, maker)], partial(_handed_on, diagnosis))
        takers = (each for at in made for each in diagnosis.takers.get(at, ()) if diagnosis.reaches_a_pass(each))
        is_alone = all(each.name in (op.name, *LOSSES, *PASSING) for each in takers)
        return left_out(diagnosis, maker) if is_alone else ()
    return logits_loss(diagnosis, op) if wrong == "bce_without_sigmoid" else ()


def _handed_on(diagnosis: Diagnosis, tensor: str) -> list[str]:
    """What ops gave that only hand its values on."""
    return [output for op in diagnosis.takers.get(tensor, ()) if op.name in PASSING for output in op.outputs]


def _written_by(diagnosis: Diagnosis, op: Op) -> list[Op]:
    """All that the same words of the program ran as: a class may stand for several layers of a model, of which one edit
    changes all."""
    layer = diagnosis.modules.get(op.module or "")
    alike = [each for each in diagnosis.ops_at(op.span) if each.name == op.name]
    if layer is None or diagnosis.code.classes(layer.type):
        return alike
    place = layer.path.rpartition(".")[2]
    return [each for each in alike if diagnosis.module_path(each).rpartition(".")[2] == place]


def logarithms(diagnosis: Diagnosis, op: Op) -> Edits:
    """The logarithm of a softmax in place of the softmax, or the loss that takes scores in place of the one that takes
    log-probabilities; nothing in place of other probabilities."""
    maker, ends = last_maker(diagnosis, diagnosis.input_of(op)), extent(diagnosis.input_of(op))
    if maker is None or maker.name != "softmax":
        if ends is not None and 0 <= ends[0] <= ends[1] <= 1:
            return ()
        return renamed(diagnosis, op, {"nll_loss": "cross_entropy"}, {"NLLLoss": "CrossEntropyLoss"})
    return renamed(diagnosis, maker, {"softmax": "log_softmax"}, {"Softmax": "LogSoftmax"})


def logits_loss(diagnosis: Diagnosis, op: Op) -> Edits:
    """The loss that takes scores, in place of the one that takes probabilities."""
    functions = {"binary_cross_entropy": "binary_cross_entropy_with_logits"}
    return renamed(diagnosis, op, functions, {"BCELoss": "BCEWithLogitsLoss"})


def left_out(diagnosis: Diagnosis, maker: Op) -> Edits:
    """The call replaced by what it was given, or the layer taken out of its `nn.Sequential`."""
    code = diagnosis.code
    call = code.call_at(maker.span)
    if call is not None and called(call) == maker.name:
        layer = diagnosis.modules.get(maker.module or "")
        is_layer = layer is not None and layer.type.lower() == maker.name  # then `self.softmax(x)` is no method of `x`
        kept = (None if is_layer else code.receiver(call)) or (call.args[0] if call.args else None)
        return (code.replace(call, code.text(kept)),) if kept is not None else ()
    return _out_of_sequential(
        diagnosis, {"softmax": "Softmax", "relu": "ReLU", "tanh": "Tanh"}.get(maker.name, "Sigmoid")
    )


def _out_of_sequential(diagnosis: Diagnosis, layer: str) -> Edits:
    code = diagnosis.code
    layers = [
        call for call in code.calls if called(call) == layer and dotted(call.func).startswith(("nn.", "torch.nn."))
    ]
    if layer in ("ReLU", "Tanh"):  # others before it are meant
        last = {call.args[-1] for call in code.calls if call.args}
        layers = [call for call in layers if call in last]
    above = code.parents.get(layers[0]) if len(layers) == 1 else None
    if isinstance(above, ast.Call) and called(above) == "Sequential" and len(above.args) > 1:
        return code.argument_removed(above, layers[0])
    return ()


def renamed(diagnosis: Diagnosis, op: Op, functions: dict[str, str], layers: dict[str, str]) -> Edits:
    """Another function in the same call, or another layer where the only one of its kind is made, if it runs on no
    other line: `self.tanh(x)` calls a layer, and no name beside it is known to be one."""
    code, layer = diagnosis.code, diagnosis.modules.get(op.module or "")
    call = code.call_at(op.span)
    if layer is None or layer.type not in layers:
        if call is None or called(call) not in functions or not isinstance(call.func, ast.Attribute):
            return ()
        text = code.text(call.func)
        return (code.replace(call.func, text[: -len(call.func.attr)] + functions[call.func.attr]),)
    if len({each.span for each in diagnosis.ops_named((op.name,)) if each.module == op.module}) > 1:
        return ()
    made = [maker for maker in code.calls if called(maker) in layers and isinstance(maker.func, ast.Attribute)]
    if len(made) == 1 and isinstance(made[0].func, ast.Attribute):
        function = made[0].func
        return (code.replace(function, code.text(function)[: -len(function.attr)] + layers[function.attr]),)
    return ()


def weights_after_the_mean(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Weights of samples, or a mask of their parts, times a loss that is one number already: only their mean counts."""
    for op in diagnosis.ops_named(("mul",)):
        operands = [diagnosis.tensors[each] for each in op.inputs if each in diagnosis.tensors]
        loss, weights = sorted(operands, key=lambda each: len(each.shape)) if len(operands) == 2 else (None, None)
        maker = diagnosis.origin(loss.id, SCALED) if loss is not None and not loss.shape else None
        target = _parts(diagnosis, maker)
        if maker is None or target is None or weights is None or loss is None:
            continue
        takers = {taker.name for taker in diagnosis.takers.get(op.outputs[0], ())} if op.outputs else set()
        ends = extent(weights) or (0.0, 0.0)
        differ = weights.shape == target.shape[: len(weights.shape)] and ends[0] < ends[1]
        if not differ or weights.requires_grad or not takers <= {"mean", "sum", "add"}:
            continue
        if diagnosis.reaches_a_pass(op):
            yield diagnosis.warning(
                "weights_after_the_mean",
                op,
                tensors=(weights.id, *maker.outputs[:1]),
                name=diagnosis.say(weights.id),
                loss=maker.name,
                loss_line=line(maker.span),
                count=str(math.prod(weights.shape)),
                is_loss=str(int(maker.name in LOSS_FUNCTIONS)),
            )


def _parts(diagnosis: Diagnosis, maker: Op | None) -> Tensor | None:
    """What the parts of one number have the shape of: the target of a loss, or what was summed by hand."""
    if maker is None or not maker.inputs:
        return None
    if maker.name in LOSS_FUNCTIONS:
        return diagnosis.input_of(maker, 1) if argument(maker, "reduction") == "'mean'" else None
    summed = diagnosis.input_of(maker) if maker.name in ("sum", "mean") else None
    return summed if summed is not None and summed.requires_grad else None


def softmax_without_dim(diagnosis: Diagnosis) -> Iterator[Finding]:
    """PyTorch warns that it chose the axis itself."""
    for warning in diagnosis.trace.warnings:
        if "Implicit dimension choice for" not in warning.message:
            continue
        op = next((ran for ran in diagnosis.ops_at(warning.span) if ran.name in SOFTMAXES), None)
        given = diagnosis.input_of(op) if op is not None else None
        if op is None or given is None:
            continue
        dim = 0 if len(given.shape) in (0, 1, 3) else 1
        yield diagnosis.warning(
            "softmax_without_dim",
            warning.span,
            tensors=(given.id,),
            nodes=op.nodes,
            fix=_dim_added(diagnosis, op, dim) if dim == len(given.shape) - 1 else (),
            op=op.name,
            dim=str(dim),
            shape=times(given),
        )
        return


def _dim_added(diagnosis: Diagnosis, op: Op, dim: int) -> Edits:
    code = diagnosis.code
    call = code.call_at(op.span)
    if call is not None and called(call) == op.name:
        return (code.argument_added(call, f"dim={dim}"),)
    layers = [
        maker for maker in code.calls if called(maker) in SOFTMAX_LAYERS and not maker.args and not maker.keywords
    ]
    return (code.argument_added(layers[0], f"dim={dim}"),) if len(layers) == 1 else ()
