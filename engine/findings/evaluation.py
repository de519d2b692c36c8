"""What a model is measured by and is not what it is taken for: test data that were trained on, data standardised by
their own figures, means of batches divided by the number of samples."""

import ast
import re
from collections.abc import Iterator
from itertools import islice

from engine.findings.diagnosis import Diagnosis, argument, line, once_a_line, walk
from engine.findings.losses import LOSS_FUNCTIONS, PASSING
from engine.ops import DETACHES
from engine.program.names import called, dotted, keyword
from engine.program.tree import Loop, covers
from engine.trace import Finding, Op, Tensor

HELD_OUT = re.compile(r"(^|_)([xy]_?)?(te|test|testing|val|valid|validation|holdout)(_|\d|$)", re.IGNORECASE)
TRAINING = re.compile(r"(^|_)([xy]_?)?(tr|train|training)(_|\d|$)", re.IGNORECASE)
PICKERS = ("sampler", "batch_sampler")
KEEPS_SCALE = PASSING | {"add", "clamp", "clamp_min", "maximum", "where"}
MOST_AHEAD = 200


def _is_held_out(name: str) -> bool:
    return HELD_OUT.search(name) is not None and TRAINING.search(name) is None


def tested_on_training_data(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loader called that of the test, of the very dataset that the training's loader draws from."""
    loaders = dict(_loaders(diagnosis))
    for name, call in loaders.items():
        data = dotted(call.args[0])
        twins = [other for other, made in loaders.items() if other != name and dotted(made.args[0]) == data]
        is_training = TRAINING.search(data.rpartition(".")[2]) is not None and len(diagnosis.code.assignments(data)) < 2
        if not _is_held_out(name) or not is_training or not twins or _is_held_out(twins[0]):
            continue
        if any(keyword(call, picker) for picker in PICKERS) or not diagnosis.has_run(call):
            continue
        unread = _never_loaded(diagnosis)
        yield diagnosis.warning(
            "tested_on_training_data",
            call,
            fix=(diagnosis.code.replace(call.args[0], unread),) if unread else (),
            loader=name,
            data=data,
            training=twins[0],
        )


def _loaders(diagnosis: Diagnosis) -> Iterator[tuple[str, ast.Call]]:
    """The loaders that names are bound to, by the last part of the name."""
    for binding in diagnosis.code.bindings:
        match binding.value:
            case ast.Call(args=[_, *_]) as call if called(call) == "DataLoader":
                yield dotted(binding.targets[0]).rpartition(".")[2], call


def _never_loaded(diagnosis: Diagnosis) -> str:
    """The one name of held-out data that the program binds and never reads."""
    names = [node for node in diagnosis.code.nodes if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store) and _is_held_out(node.id)}
    unread = [name for name in bound - read if re.search("set|data|ds$", name)]
    return unread[0] if len(unread) == 1 else ""


@once_a_line
def standardised_by_themselves(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Test data less their own mean over their own deviation, where those of the training have figures of their own."""
    scaled = [(op, of) for op in diagnosis.ops_named(("div",)) if (of := _standardised(diagnosis, op)) is not None]
    trained = [
        each for each in scaled if not _is_named_held_out(diagnosis, *each) and _is_trained_on(diagnosis, each[0])
    ]
    for op, given in scaled if trained else ():
        first, of = trained[0]
        if not _is_named_held_out(diagnosis, op, given) or _is_trained_on(diagnosis, op) or of.id == given.id:
            continue
        if of.shape[1:] != given.shape[1:]:
            continue
        test, train = (_called(diagnosis, each, tensor) for each, tensor in ((op, given), (first, of)))
        yield diagnosis.warning(
            "standardised_by_itself",
            op.span,
            tensors=(given.id, *op.outputs[:1]),
            name=test,
            train=train,
            train_line=line(first.span),
        )


def _standardised(diagnosis: Diagnosis, op: Op) -> Tensor | None:
    """The samples that an op gives less their own mean over their own deviation, column by column."""
    less, scale = (diagnosis.maker.get(tensor) for tensor in op.inputs[:2]) if len(op.inputs) == 2 else (None, None)
    if less is None or scale is None or less.name != "sub" or len(less.inputs) != 2 or op.inputs[0] not in less.outputs:
        return None
    spread = diagnosis.origin(op.inputs[1], KEEPS_SCALE) if scale.name != "std" else scale
    mean, given = diagnosis.maker.get(less.inputs[1]), diagnosis.input_of(less)
    if spread is None or mean is None or given is None or (mean.name, spread.name) != ("mean", "std"):
        return None
    over = {argument(each, "dim", 1) or argument(each, "axis") for each in (mean, spread)}
    is_own = mean.inputs[:1] == spread.inputs[:1] == less.inputs[:1]
    is_data = not diagnosis.is_followed(given.id) and len(given.shape) > 0 and given.shape[0] > 1
    return given if is_own and is_data and over <= {"0", "(0,)", "", "None"} else None


def _is_named_held_out(diagnosis: Diagnosis, op: Op, given: Tensor) -> bool:
    made = diagnosis.output_of(op)
    return any(_is_held_out(name) for tensor in (given, made) if tensor is not None for name in tensor.names)


def _called(diagnosis: Diagnosis, op: Op, given: Tensor) -> str:
    made = diagnosis.output_of(op)
    return next((name for name in (*(made.names if made else ()), *given.names)), diagnosis.say(given.id))


def _is_trained_on(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a pass went back through something that was computed from it."""
    used = islice(walk(op.outputs, diagnosis.made_of), MOST_AHEAD)
    makers = (diagnosis.maker.get(tensor) for tensor in used)
    return any(maker is not None and diagnosis.reaches_a_pass(maker) for maker in makers)


def means_over_samples(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The sum of a mean for each batch over the number of samples."""
    code = diagnosis.code
    for node in code.nodes:
        match node:
            case ast.BinOp(
                left=ast.Name() | ast.Attribute() as total,
                op=ast.Div(),
                right=ast.Call(func=ast.Name("len"), args=[counted]),
            ) if diagnosis.has_run(node):
                yield from _over_samples(diagnosis, node, dotted(total), counted)


def _over_samples(diagnosis: Diagnosis, node: ast.BinOp, total: str, counted: ast.expr) -> Iterator[Finding]:
    code = diagnosis.code
    added = [each for each in code.nodes if isinstance(each, ast.AugAssign) and dotted(each.target) == total]
    loop = next(iter(code.loops(added[0])), None) if len(added) == 1 and isinstance(added[0].op, ast.Add) else None
    loader = _looped_over(loop) if loop is not None else ""
    read = _read_at(diagnosis, added[0]) if loader and code.function(added[0]) is code.function(node) else None
    if read is None or not loader:
        return
    made = diagnosis.value_of(loader)
    own = made if isinstance(made, ast.Call) and called(made) == "DataLoader" else None
    data = dotted(own.args[0]) if own is not None and own.args else ""
    sizes = [
        _batch_size(diagnosis, call) for call in code.calls if called(call) == "DataLoader" and own in (None, call)
    ]
    is_samples = dotted(counted) in {f"{loader}.dataset", data} - {""}
    is_mean = read.name in LOSS_FUNCTIONS and argument(read, "reduction") in ("'mean'", "")
    if not sizes or min(sizes) < 2 or not is_samples or not is_mean:
        return
    yield diagnosis.warning(
        "means_over_samples",
        node,
        total=total,
        size=str(min(sizes)),
        loader=loader,
        added=code.short(added[0]),
        added_line=str(added[0].lineno),
    )


def _looped_over(loop: Loop) -> str:
    """The name that a loop runs over, numbered or not."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name("enumerate" | "tqdm"), args=[data, *_])) | ast.For(iter=data):
            return dotted(data)
    return ""


def _read_at(diagnosis: Diagnosis, statement: ast.AugAssign) -> Op | None:
    """The op whose number alone a statement adds."""
    if isinstance(statement.value, ast.BinOp):
        return None
    for op in diagnosis.ops_named(("item",)):
        if op.span is not None and covers(statement, op.span.line, op.span.end_line):
            return diagnosis.origin(op.inputs[0], DETACHES)
    return None


def _batch_size(diagnosis: Diagnosis, loader: ast.Call) -> int:
    """How many samples a loader was told to put together; 1 where that is not written."""
    word = keyword(loader, "batch_size")
    written = word.value if word is not None else loader.args[1] if len(loader.args) > 1 else None
    known = diagnosis.value_of(written.id) if isinstance(written, ast.Name) else written
    return known.value if isinstance(known, ast.Constant) and isinstance(known.value, int) else 1
