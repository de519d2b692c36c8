"""Layers and losses given tensors of another shape than they were made for."""

import ast
import math
import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from engine.findings.axes import turned_round
from engine.findings.batch_axis import TURNS
from engine.findings.diagnosis import argument, is_of_ones_and_zeros, line, says
from engine.findings.failing.case import Case, known, of_first, of_one, only_if
from engine.findings.failing.origins import layer_call, sizes
from engine.findings.failing.shapes import numbers
from engine.findings.losses import PASSING, last_maker, logits_loss, renamed
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.program.rewriting import written
from engine.program.tree import given_by
from engine.trace import Finding, Op, Tensor

_FLATTENED = ("view", "reshape", "flatten")
_BENT = {"tanh": "Tanh", "log_sigmoid": "LogSigmoid", "softsign": "Softsign"}
"""Functions of one argument that keep numbers in other bounds than 0 and 1, and their layers."""
_SQUASHING = frozenset(_BENT) | set("relu leaky_relu elu gelu silu softplus hardtanh log_softmax".split())
_ARITHMETIC = frozenset("add sub mul div neg".split())
_MOST_STEPS = 8
"""Shapes that a sentence lists."""

# Layers


def _of_other_size(case: Case, given: Tensor, size: str, code: str = "", **said: str) -> Finding:
    """A layer made for another size of an axis than its input has: the number in the call that made it, and the line
    that made the input."""
    wanted, got = (said.get(name) or case.groups[name] for name in ("wanted", "got"))
    about = {**case.about(given), **case.origin(given), **case.made_at, **_number_given_at(case, size), **said}
    tensors = case.inputs()[:2] if given in case.inputs() else [given]
    return case.finding(code, about, tensors=tensors, fix=_number_corrected(case, given, size, int(wanted), got))


def _number_given_at(case: Case, size: str) -> dict[str, str]:
    """The line that makes the part of the model around a layer, where that one hands the layer's number on."""
    made, module = case.layer_made, case.layer
    function = case.code.function(made) if made is not None else None
    if made is None or function is None:
        return {}
    node = next((word.value for word in made.keywords if word.arg == size), next(iter(made.args), None))
    owner = getattr(case.code.enclosing(made, ast.ClassDef), "name", "")
    while module is not None and module.type != owner:
        module = case.diagnosis.modules.get(module.parent or "")
    outer = layer_call(case.diagnosis, module.id) if module is not None else None
    names = [arg.arg for arg in function.args.args[1:]]
    at = names.index(node.id) if isinstance(node, ast.Name) and node.id in names else len(names)
    is_handed_on = outer is not None and at < len(names) and (at < len(outer.args) or keyword(outer, names[at]))
    return {"made_line": str(outer.lineno)} if outer is not None and is_handed_on else {}


def _number_corrected(case: Case, given: Tensor, size: str, wrong: int, right: str) -> Edits:
    """Another number in the call that made the layer; not where axes may be in another order, or one axis too few."""
    made = case.layer_made
    if made is None or wrong in given.shape or wrong == math.prod(given.shape) or len(given.shape) == 1:
        return ()
    named = [word.value for word in made.keywords if word.arg == size]
    node = next(iter([*named, *made.args]), None)
    factors = _factors(node)
    return (case.code.replace(node, right),) if node is not None and factors and math.prod(factors) == wrong else ()


def _factors(node: ast.expr | None) -> tuple[int, ...]:
    """The whole numbers that a number is written as the product of, `4 * 28 * 28`; nothing for anything else."""
    match node:
        case ast.Constant(value=int(value)):
            return (value,)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            before, after = _factors(left), _factors(right)
            return (*before, *after) if before and after else ()
    return ()


def linear(case: Case) -> Finding:
    """A linear layer given vectors of another length than it was made for."""
    given, said = _given_to_linear(case)
    way = _way_of_map(case, given)
    is_whole = len(given.shape) > 1 and math.prod(given.shape) == int(said["wanted"])
    said |= {"was_map": str(int(bool(way))), "way": " → ".join(way), "is_whole": str(int(is_whole))}
    said |= {"is_row": str(int(len(given.shape) == 1)), **_both_directions(case, given, int(said["wanted"]))}
    told = _of_other_size(case, given, "in_features", "linear_shape", **said)
    return replace(told, fix=()) if _taken_before(case, int(said["wanted"])) else told


def _both_directions(case: Case, given: Tensor, wanted: int) -> dict[str, str]:
    """The recurrent layer that doubled the features by reading in both directions."""
    ops = [op for op in case.makers(given) if op.name in ("lstm", "gru", "rnn_tanh", "rnn_relu")]
    made = layer_call(case.diagnosis, ops[0].module or "") if ops and given.shape[-1] == 2 * wanted else None
    output = case.diagnosis.output_of(ops[0]) if made is not None else None
    is_it = made is not None and output is not None and says(made, "bidirectional") == "True"
    if made is None or output is None or not is_it or output.shape[-1] != given.shape[-1]:
        return {"is_both": "0", "recurrent": "", "recurrent_line": ""}
    recurrent = case.diagnosis.modules[ops[0].module or ""].path
    return {"is_both": "1", "recurrent": recurrent, "recurrent_line": str(made.lineno)}


def _way_of_map(case: Case, given: Tensor) -> list[str]:
    """Shapes of one sample of a map that was flattened: the first, and each that a layer made another; nothing for what
    was no map."""
    makers = list(case.makers(given))
    at = next((at for at, op in enumerate(makers) if known(case.diagnosis.output_of(op)).shape != given.shape), None)
    whole = known(case.diagnosis.output_of(makers[at])) if at else given
    if not at or makers[at - 1].name not in _FLATTENED or whole.shape[:1] != given.shape[:1]:
        return []
    maps = [(op, known(case.diagnosis.output_of(op)).shape[1:]) for op in reversed(makers[at:])]
    maps = [(op, shape) for op, shape in maps if len(shape) == len(maps[-1][1]) > 1]
    changed = [here for before, here in pairwise(maps) if before[1] != here[1]]
    steps = [f"{op.name} {'×'.join(map(str, shape))}" for op, shape in changed]
    return ["×".join(map(str, maps[0][1])), *steps] if 0 < len(steps) <= _MOST_STEPS else []


def _given_to_linear(case: Case) -> tuple[Tensor, dict[str, str]]:
    only_if(known(case.op).name == "linear")
    given, weight = case.argument(0, "input"), case.argument(1, "weight")
    only_if(len(weight.shape) == 2 and given.shape and given.shape[-1] != weight.shape[1])
    return given, {"got": str(given.shape[-1]), "wanted": str(weight.shape[1])}


def _taken_before(case: Case, size: int) -> bool:
    """Whether the same layer once took what it was made for."""
    own = (op for op in case.diagnosis.ops_named({"linear"}) if op.module == known(case.op).module and not op.raised)
    given = (case.diagnosis.input_of(op) for op in own if known(case.op).module is not None)
    return any(tensor is not None and tensor.shape[-1:] == (size,) for tensor in given)


def not_flattened(case: Case) -> Finding:
    """Images where one long row for each is wanted; or what a convolution made, with a layer of another size."""
    given, said = _given_to_linear(case)
    wanted, size = int(said["wanted"]), math.prod(given.shape[1:])
    only_if(len(given.shape) > 2 and (size == wanted or _is_map(case, given, wanted)))
    found = case.written_as("LAYER(GIVEN)")
    operand = case.operand(found.part("LAYER")) if found is not None else None
    is_here = found is not None and case.written(given) is found.part("GIVEN")
    if found is not None and is_here and operand is not None and operand.type == "Linear":
        fix = case.code.method(found.part("GIVEN"), ".flatten(1)")
    else:
        fix = _flattened_before(case)
    if size != wanted:
        number = _number_corrected(case, given, "in_features", wanted, str(size))
        fix = (*fix, *number) if fix and number else ()
    said |= {**case.origin(given), **case.made_at, "is_exact": str(int(size == wanted)), "size": str(size)}
    return case.finding("flatten_missing", said, tensors=(given,), fix=fix)


def _is_map(case: Case, given: Tensor, wanted: int) -> bool:
    """Whether a batch of maps came from a convolution as it is, and no axis is of the size that is wanted."""
    if wanted in given.shape or _taken_before(case, wanted):
        return False
    for op in case.makers(given):
        if op.name.startswith("conv"):
            return f"conv{len(given.shape) - 2}d" in op.name.replace("_transpose", "")
        before, after = case.diagnosis.input_of(op), case.diagnosis.output_of(op)
        is_kept = before is not None and after is not None and before.shape == after.shape and op.name not in TURNS
        if not is_kept and "pool" not in op.name:
            return False
    return False


def _flattened_before(case: Case) -> Edits:
    """One more layer in front, in the `nn.Sequential` that the layer was made in."""
    made = case.layer_made
    above = case.code.parents.get(made) if made is not None else None
    if made is None or not isinstance(above, ast.Call) or not case.code.text(above.func).endswith("Sequential"):
        return ()
    prefix = case.code.text(made.func).rpartition(".")[0]
    return (case.code.before(made, f"{prefix}.Flatten(), "),) if prefix else ()


def batch_flattened(case: Case) -> Finding:
    """`x.view(-1)`: all samples in one long row, or in rows that are not the samples."""
    given, said = _given_to_linear(case)
    wanted = int(said["wanted"])
    only_if(len(given.shape) in (1, 2) and wanted > 1)
    steps = (op for op in case.makers(given) if known(case.diagnosis.input_of(op)).shape != given.shape)
    maker = next(steps, None)
    before = case.diagnosis.input_of(maker) if maker is not None else None
    only_if(before is not None and len(before.shape) > 1 and math.prod(before.shape[1:]) == wanted)
    only_if(known(before).shape[0] * wanted == math.prod(given.shape))
    only_if(len(given.shape) == 1 or known(maker).name in _FLATTENED)
    made = case.code.at(maker.span) if maker is not None else None
    shapes = [shape for name in _FLATTENED for shape in (f"torch.{name}(GIVEN, ...)", f"GIVEN.{name}(...)")]
    found = next((found for shape in shapes if (found := written(case.code, made, shape))), None)
    fix = found.instead("GIVEN.flatten(1)") if found is not None else ()
    where = maker.span if maker is not None and maker.name in _FLATTENED else None
    said |= {**case.origin(given), "samples": str(math.prod(given.shape) // wanted)}
    said |= {"before": sizes(known(before).shape), "is_one": str(int(len(given.shape) == 1))}
    return case.finding("batch_flattened", said, span=where, tensors=(given,), fix=fix)


def one_value(case: Case) -> Finding:
    """A batch norm given one sample: its variance is not defined."""
    return _last_batch(case) or case.finding(tensors=(known(case.first),))


def _last_batch(case: Case) -> Finding | None:
    """The same in a loop over a DataLoader, whose last batch is what is left."""
    loader, last = _loader(case), case.diagnosis.trace.batches[-1:]
    if loader is None or not last or last[0].count != 1 or last[0].number == 1:
        return None
    fix = (case.code.argument_added(loader, "drop_last=True"),)
    return case.finding("batch_norm_last_batch", span=case.code.span(loader), fix=fix, tensors=(case.first,))


def batch_counted_on(case: Case) -> Finding:
    """A new shape with the number of samples written out, which the batches before had."""
    given, diagnosis = case.argument(0), case.diagnosis
    ran = [op for op in diagnosis.ops_at(case.failure.span) if op.name == known(case.op).name and not op.raised]
    before, made = (known(find(ran[-1]) if ran else None) for find in (diagnosis.input_of, diagnosis.output_of))
    wanted = [int(text) for text in re.findall(r"-?\d+", case.groups["shape"])]
    only_if(
        len(wanted) == len(made.shape) and all(size in (-1, had) for size, had in zip(wanted, made.shape, strict=True))
    )
    only_if(len(before.shape) == len(given.shape))
    axes = [axis for axis, sizes_had in enumerate(zip(before.shape, given.shape, strict=True)) if len({*sizes_had}) > 1]
    only_if(len(axes) == 1)
    (axis,), loader = axes, _loader(case)
    said = {"given_shape": sizes(given.shape), "before_shape": sizes(before.shape), "axis": str(axis)}
    said |= {"rows": str(given.shape[axis]), "before_rows": str(before.shape[axis]), "name": case.say(given)}
    said |= {"is_last": str(int(loader is not None)), "loader_line": str(loader.lineno) if loader is not None else ""}
    return case.finding(
        "batch_counted_on", said, tensors=(given,), fix=_rows_asked(case, wanted, before.shape[axis], axis)
    )


def _rows_asked(case: Case, wanted: list[int], rows: int, axis: int) -> Edits:
    """The size asked of the tensor, where a name or number stands for it that no other call takes but a DataLoader."""
    found = case.written_as("NAME.METHOD(...)")
    size = next(iter(case.call.args), None) if case.call is not None and wanted[0] == rows else None
    if found is None or not isinstance(size, ast.Name | ast.Constant | ast.Attribute) or not dotted(found.part("NAME")):
        return ()
    takers = [one for one in case.code.calls if called(one) != "DataLoader"]
    taken = [arg for one in takers for arg in one.args if ast.unparse(arg) == ast.unparse(size)]
    return (case.code.replace(size, f"{found.said['name']}.size({axis})"),) if len(taken) == 1 else ()


def _loader(case: Case) -> ast.Call | None:
    """The DataLoader that the failing line's loop goes through, where its last batch may be smaller."""
    for loop in _loops_around(case):
        inner = [one for one in ast.walk(loop.iter) if isinstance(one, ast.Name | ast.Call)]
        made = (value for one in inner for value in (case.value_of(one), case.diagnosis.value_of(dotted(one))))
        calls = dict.fromkeys(value for value in made if isinstance(value, ast.Call))
        loaders = [one for one in calls if called(one) == "DataLoader" and _may_leave_one(one)]
        if len(loaders) == 1:
            return loaders[0]
    return None


def _loops_around(case: Case) -> Iterator[ast.For]:
    """The loops that the failing line ran in: those around it, and around the lines that called on its way."""
    lines = [case.failure.span, *(frame.span for frame in reversed(case.failure.frames))]
    for statement in filter(None, map(case.code.statement_at, lines)):
        yield from (loop for loop in case.code.loops(statement) if isinstance(loop, ast.For))


def _may_leave_one(loader: ast.Call) -> bool:
    """Whether a DataLoader makes batches of more than one sample, and keeps the last one whatever its size."""
    size = keyword(loader, "batch_size")
    is_many = size is not None and not (isinstance(size.value, ast.Constant) and size.value.value == 1)
    return is_many and keyword(loader, "drop_last") is None


def channels(case: Case) -> Finding:
    """A convolution given another number of channels than it was made for."""
    given, op = case.argument(0, "input"), known(case.op).name
    wanted = int(case.groups["wanted"])
    axes = len(given.shape)
    slid = re.search(r"(\d)d$", op)
    batch = axes - int(slid[1]) - 1 if slid is not None else axes
    parts, is_map = _joined_channels(case, given, batch), _is_in_order(case, given)
    if batch in (0, 1) and given.shape[-1] == wanted and not parts and not is_map:
        order = ", ".join(map(str, (*range(batch), axes - 1, *range(batch, axes - 1))))
        code, is_flat = "channels_last" if op == "conv2d" else "features_last", axes == 2
        fix = () if is_flat else case.cast(given, f".permute({order})")
        return case.finding(code, order=order, is_flat=str(int(is_flat)), fix=fix)
    if batch == 0 and wanted == 1:
        return case.finding("channel_axis_missing", fix=case.cast(given, ".unsqueeze(1)"))
    said = {"parts": " + ".join(parts[1:]), "joined_line": next(iter(parts), ""), "is_joined": str(int(bool(parts)))}
    groups = case.groups.get("groups", "1")
    is_uneven = int(case.groups["got"]) % int(groups) > 0
    said |= {"is_single": str(int(batch == 0)), "is_uneven": str(int(is_uneven)), "groups": groups}
    is_flat = batch == 0 and op == "conv2d" and given.shape[1] == wanted
    side = math.isqrt(given.shape[-1])
    said |= {"is_flat": str(int(is_flat)), "last": str(given.shape[-1])}
    said["sides"] = f"{side}, {side}" if side * side == given.shape[-1] else "height, width"
    weight = case.argument(1, "weight") if case.layer is None else None
    if weight is not None and (maker := case.diagnosis.maker.get(weight.id)) is not None:
        said |= {"layer": case.say(weight), "made_line": line(maker.span)}
    told = _of_other_size(case, given, "in_channels", axis=str(batch), **said)
    return replace(told, fix=()) if batch == 0 or is_uneven else told


def conv_axes(case: Case) -> Finding:
    """An input of too few axes, or too many: what flattened it, where that is known."""
    told = of_one(case)
    before = [size for size in told.parameters.get("origin_given", "").split(", ") if size]
    is_whole = re.fullmatch(r"conv(?:_transpose)?\dd", case.groups["op"]) is not None
    is_flat = is_whole and len(case.first.shape) == 2 and len(before) == int(case.groups["op"][-2]) + 2
    said = {"origin_line": "", "origin_code": "", "origin_given": ""} | dict(told.parameters)
    return replace(told, parameters={**said, "is_flat": str(int(is_flat)), "is_open": str(int(not is_flat))})


def _joined_channels(case: Case, given: Tensor, axis: int) -> list[str]:
    """The line that joined what a tensor comes from along its channels, and how many each part had; nothing where a
    layer has made another number of them since, or none were joined."""
    for op in case.makers(given):
        made = case.diagnosis.output_of(op)
        parts = [one for one in map(case.diagnosis.tensors.get, op.inputs) if one is not None]
        if made is None or made.shape[axis : axis + 1] != given.shape[axis : axis + 1]:
            return []
        if op.name in ("cat", "concat", "concatenate"):
            sizes_joined = [one.shape[axis] for one in parts if len(one.shape) > axis]
            return [line(op.span), *map(str, sizes_joined)] if sum(sizes_joined) == made.shape[axis] else []
        if any(one.role == "parameter" and len(one.shape) > 1 for one in parts):
            return []
    return []


def _is_in_order(case: Case, given: Tensor) -> bool:
    """Whether a convolution, a pooling or a norm gave the numbers, and nothing has turned or cut the axes since."""
    for op in case.makers(given):
        if op.name.startswith(("conv", "batch_norm", "instance_norm", "group_norm")) or "pool" in op.name:
            return True
        before = case.diagnosis.input_of(op)
        if before is None or op.name in TURNS or len(before.shape) != len(given.shape) or op.name in _FLATTENED:
            return False
    return False


def norm_axes(case: Case) -> Finding:
    """A batch norm for another number of axes than its input has."""
    got, wanted = int(case.groups["got"]), max(map(int, re.findall(r"\d", case.groups["wanted"])))
    made, right = f"BatchNorm{wanted - 2}d", f"BatchNorm{max(got - 2, 1)}d"
    calls = [one for one in case.code.calls if called(one) == made]
    only_if(made != right and got < 6 and calls)
    only_if(not any(called(one).startswith("InstanceNorm") for one in case.code.calls))  # says the same
    is_alone = got == 3  # perhaps one sample
    name, is_sure = calls[0].func, len(calls) == 1 and not is_alone
    fix = (case.code.replace(name, case.code.text(name).replace(made, right)),) if is_sure else ()
    return of_first(case.finding("", {"made": made, "right": right, "is_alone": str(int(is_alone))}, fix=fix))


def norm_features(case: Case) -> Finding:
    """A batch norm made for another number of channels."""
    given = case.argument(0, "input")
    only_if(len(given.shape) > 1)
    is_elsewhere = int(case.groups["wanted"]) in given.shape[2:]
    return _of_other_size(case, given, "num_features", is_elsewhere=str(int(is_elsewhere)))


def recurrent_input(case: Case) -> Finding:
    """A recurrent layer given vectors of another length than it was made for."""
    found = known(case.written_as("LAYER(GIVEN, ...)"))
    given = known(case.tensor_of(found.part("GIVEN")))
    only_if(given.shape[-1:] == (int(case.groups["got"]),))
    case.take_layer(found.part("LAYER"))
    layer = ast.unparse(found.part("LAYER"))
    if len(given.shape) == 2 and case.groups["wanted"] == "1":
        part = found.part("GIVEN")
        fix = (case.code.replace(part, f"{case.code.text(part)}.unsqueeze(-1)"),) if isinstance(part, ast.Name) else ()
        said = {**case.about(given), "layer": layer, "size": str(given.shape[1])}
        return case.finding("features_without_axis", said, tensors=(given,), fix=fix)
    is_second = given.shape[1:2] == (int(case.groups["wanted"]),) and len(given.shape) == 3
    return _of_other_size(case, given, "input_size", layer=layer, is_second=str(int(is_second)))


def hidden_size(case: Case) -> Finding:
    """A first state whose shape does not go with the input: along which of its axes, or in how many it has."""
    found = known(case.written_as("LAYER(INPUT, NAME, ...)"))
    given = known(case.tensor_of(found.part("INPUT")))
    name, made = found.part("NAME"), case.take_layer(found.part("LAYER"))
    states = [case.tensor_of(node) for node in (name.elts if isinstance(name, ast.Tuple) else [name])]
    state = next((one for one in states if one is not None), None) or _kept_pair(case, name)
    said = {"layer": found.said["layer"], "name": found.said["name"], "input_shape": sizes(given.shape)}
    said |= case.origin(state) if state is not None else {}
    said["is_carried"] = str(int(state is None or state.requires_grad or any(op.module for op in case.makers(state))))
    if case.rule == "hidden_axes":
        return _without_axis(case, given, state, said, made)
    wanted, got = (case.groups[name].split(", ") for name in ("wanted", "got"))
    layers, batch, hidden = wanted[0] != got[0], wanted[1:-1] != got[1:-1], wanted[-1] != got[-1]
    is_both = made is not None and says(made, "bidirectional") == "True"
    is_first = made is not None and says(made, "batch_first") == "True"
    is_turned = batch and is_first and state is not None and state.shape[1:2] == given.shape[1:2]
    said |= {"is_layers": str(int(layers)), "is_batch": str(int(batch)), "is_hidden": str(int(hidden))}
    said |= {"is_turned": str(int(is_turned)), "is_anew": str(int(batch and not is_turned))}
    said |= {"is_both": str(int(layers and is_both)), "is_built": str(int(said["is_carried"] == "1" and not batch))}
    is_older = hidden and state is not None and said["is_carried"] == "1"
    number = _hidden_given(case, made) if is_older and made is not None else None
    right = _factor_chosen(case, number) if number is not None and wanted[-1] == "1" else ""
    said |= {"is_own": str(int(hidden and number is None)), "is_given": str(int(number is not None))}
    said |= {
        "given": case.code.short(number) if number is not None else "",
        "given_line": str(getattr(number, "lineno", "")),
    }
    said |= {"is_choice": str(int(bool(right))), "right": right}
    fix = (case.code.replace(number, right),) if number is not None and right else ()
    batches = str(given.shape[1:2] and given.shape[1])
    return case.finding("", said, first=wanted[0], hidden=wanted[-1], batch=batches, fix=fix)


def _hidden_given(case: Case, made: ast.Call) -> ast.expr | None:
    """What a recurrent layer has its hidden size from, in its own call or in that of the class that makes it."""
    code, function = case.code, case.code.function(made)
    word = keyword(made, "hidden_size")
    node = word.value if word is not None else next(iter(made.args[1:]), None)
    kept = [one.value for one in code.assignments(dotted(node)) if code.function(one) is function]
    node = kept[0] if len(kept) == 1 else node
    outer = code.only_call(function) if function is not None and isinstance(node, ast.Name) else None
    handed = given_by(outer, function, dotted(node)) if outer is not None and function is not None else None
    return handed or node


def _factor_chosen(case: Case, number: ast.expr) -> str:
    """`n * 2 if both else 1` with the choice in brackets, as a factor."""
    match number:
        case ast.IfExp(test=test, body=ast.BinOp(op=ast.Mult(), left=left, right=right), orelse=ast.Constant(value=1)):
            whole, factor, condition = map(case.code.text, (left, right, test))
            return f"{whole} * ({factor} if {condition} else 1)"
    return ""


def _kept_pair(case: Case, name: ast.expr) -> Tensor | None:
    """The first tensor of a pair of states that an attribute keeps, where all pairs it was given are alike."""
    last = name.attr if isinstance(name, ast.Attribute) else ""
    bound = [one for one in case.code.bindings if any(dotted(to).rpartition(".")[2] == last for to in one.targets)]
    pairs = [one.value.elts[0] for one in bound if last and isinstance(one.value, ast.Tuple) and one.value.elts]
    made = [output for one in pairs for op in case.diagnosis.ops_at(case.code.span(one)) for output in op.outputs]
    tensors = [case.diagnosis.tensors[output] for output in made]
    return tensors[-1] if tensors and len({one.shape for one in tensors}) == 1 else None


def _without_axis(
    case: Case, given: Tensor, state: Tensor | None, said: dict[str, str], made: ast.Call | None
) -> Finding:
    """Which axis the input lacks that the state of a batch tells of: that of the batch, of a single sequence, or that
    of the time, of a single step."""
    batch = state.shape[1] if state is not None and len(state.shape) == 3 else 0
    is_known = made is not None and len(given.shape) == 2 and batch and (batch, given.shape[0]) != (1, 1)
    is_step = is_known and batch == given.shape[0]
    is_single = is_known and batch == 1
    is_first = made is not None and says(made, "batch_first") == "True"
    call = f".unsqueeze({int(is_first == bool(is_step))})"
    flags = {"is_step": is_step, "is_single": is_single, "is_open": not is_step and not is_single}
    said |= {name: str(int(bool(flag))) for name, flag in flags.items()} | {"call": call}
    said["is_free"] = str(int(said["is_carried"] == "0" and said["is_open"] == "1"))
    fix = case.cast(given, call) if is_single else ()  # the output of a step is used further without the axis
    return case.finding("", said, batch=str(batch), rows=str(given.shape[:1] and given.shape[0]), fix=fix)


def batch_first_missing(case: Case) -> Finding:
    """The same, when its batch is the input's other axis: the layer takes that axis for time."""
    found = known(case.written_as("LAYER(INPUT, NAME, ...)"))
    given = known(case.tensor_of(found.part("INPUT")))
    wanted, got = (tuple(map(int, case.groups[name].split(","))) for name in ("wanted", "got"))
    only_if(len(got) == len(wanted) == len(given.shape) == 3 and (got[0], got[2]) == (wanted[0], wanted[2]))
    only_if((wanted[1], got[1]) == (given.shape[1], given.shape[0]))
    made = known(case.take_layer(found.part("LAYER")))
    fix = (case.code.argument_added(made, "batch_first=True"),) if not keyword(made, "batch_first") else ()
    said = {**found.said, "input_shape": sizes(given.shape), "samples": str(got[1]), **case.made_at}
    return case.finding("batch_first_missing", said, span=case.code.span(made), fix=fix)


def lstm_state(case: Case) -> Finding:
    """An LSTM given one tensor for its pair of states."""
    found = known(case.written_as("LAYER(INPUT, NAME)"))
    operand, given = case.operand(found.part("LAYER")), found.part("NAME")
    only_if(case.rule == "lstm_state" or (operand is not None and operand.type == "LSTM"))
    known(case.tensor_of(given))
    text = case.code.text(given)
    is_certain = isinstance(given, ast.Name) and case.has_torch
    fix = (case.code.replace(given, f"({text}, torch.zeros_like({text}))"),) if is_certain else ()
    said = {name: found.said[name] for name in ("layer", "name")}
    return case.finding("lstm_state", said, span=case.code.span(given), fix=fix)


def heads(case: Case) -> Finding:
    """Attention whose features cannot be shared out among its heads: the two numbers, when the call gives them."""
    call = known(case.call)
    said: dict[str, str] = {}
    for at, (part, *names) in enumerate((("features", "embed_dim", "d_model"), ("heads", "num_heads", "nhead"))):
        named = [word.value for word in call.keywords if word.arg in names]
        node = next(iter([*call.args[at : at + 1], *named]), None)
        said[part] = case.code.short(node) if node is not None else names[0]
    return case.finding("", said)


def padding_mask(case: Case) -> Finding:
    """Which words are padding, for another batch or length than the words have."""
    words = [word.value for word in known(case.call).keywords if (word.arg or "").endswith("padding_mask")]
    masks = [(node, tensor) for node in words if (tensor := case.tensor_of(node)) is not None]
    node, mask = known(next((one for one in masks if len(one[1].shape) == 2), None))
    said = {**case.about(mask), "mask": case.code.short(node), "mask_shape": sizes(mask.shape)}
    is_turned = mask.shape[1 - int(case.groups["axis"])] == int(case.groups["wanted"])
    layers = [one for one in case.code.calls if called(one).startswith(("Transformer", "MultiheadAttention"))]
    layers = [one for one in layers if called(one) not in ("TransformerEncoder", "TransformerDecoder")]
    is_first = bool(layers) and all(says(one, "batch_first") == "True" for one in layers)
    fix = case.code.method(node, ".T") if is_turned and is_first else ()
    said["is_first"] = str(int(is_first))
    return case.finding("padding_mask_turned" if is_turned else "", said, tensors=(mask,), fix=fix)


def attention_mask(case: Case) -> Finding:
    """Which words see which, for another number of words; or for each sample, and not for each of its heads."""
    given = (case.diagnosis.tensors.get(one.tensor or "") for one in case.failure.operands)
    mask = known(next((one for one in given if one is not None and sizes(one.shape) == case.groups["got"]), None))
    said = {"mask": next(one.text for one in case.failure.operands if one.tensor == mask.id), "is_length": "1"}
    said |= {"samples": "", "heads": "", **case.about(mask)}
    wanted = tuple(map(int, case.groups["wanted"].split(",")))
    if mask.shape[-2:] != wanted[-2:] or len(wanted) < 3:
        return _axes_turned(case, mask, wanted) or case.finding("", {**said, **case.origin(mask)}, tensors=(mask,))
    words = known(case.tensor_of(next(iter(known(case.call).args), None))).shape[:-1]
    samples = math.prod(words) // wanted[-2]
    heads = wanted[0] // samples
    node = case.written(mask) if mask.shape[0] == samples != heads else None
    fix = case.code.method(node, f".repeat_interleave({heads}, dim=0)") if node is not None else ()
    said |= {"samples": str(samples), "heads": str(heads), "is_length": "0"}
    return case.finding("", said, tensors=(mask,), fix=fix)


def _axes_turned(case: Case, mask: Tensor, wanted: tuple[int, ...]) -> Finding | None:
    """The same, where the mask has the size of the input's other axis: the layer takes that one for the samples."""
    given = case.tensor_of(next(iter(known(case.call).args), None))
    length, taken = mask.shape[-1], wanted[-1]
    if given is None or len(given.shape) != 3 or mask.shape[-2] != length or {*given.shape[:2]} != {length, taken}:
        return None
    at = given.shape.index(taken)
    said = {**case.about(given, mask), "mask": case.say(mask), "length": str(length), "taken": str(taken)}
    said |= {"is_first": str(at), "axis": str(at), "other_axis": str(1 - at)}
    fix = turned_round(case.diagnosis, is_first=at == 1)
    return case.finding("attention_axes_turned", said, tensors=(given, mask), fix=fix)


# Losses


def batch_cut_anew(case: Case) -> Finding:
    """Scores of another number of rows than there are samples, since a view put numbers of several into one row."""
    scores, targets = case.pair
    samples, rows = known(targets.shape[:1]), scores.shape[:1]
    for maker in case.makers(scores):
        given, made = known(case.diagnosis.input_of(maker)), known(case.diagnosis.output_of(maker))
        is_cut = given.shape[:1] == samples and made.shape[:1] == rows and len(made.shape) == 2
        each, view = math.prod(given.shape[1:]), case.code.excerpt(maker.span)
        if is_cut and each % made.shape[1] != 0 and maker.name in _FLATTENED and "-1" in view:
            said = {"given": case.say(given), "given_shape": sizes(given.shape), "view": view, "each": str(each)}
            said |= {"sizes": "×".join(map(str, given.shape[1:])), "width": str(made.shape[1])}
            return case.finding("batch_cut_anew", said, span=maker.span)
    return known(None)


def loss_batch(case: Case) -> Finding:
    """Scores and targets of different numbers of samples."""
    scores, targets = case.pair
    is_table = scores.shape[:1] == (math.prod(targets.shape),)
    fix = case.cast(targets, ".flatten()") if is_table else ()
    cut = next(
        (one for one in case.makers(scores) if _rows_of(case, one) == (targets.shape[:1], scores.shape[:1])), None
    )
    said = {"is_cut": str(int(cut is not None)), "cut_line": "", "cut": "", "steps": ""}
    before, after = (
        find(cut) if cut is not None else None for find in (case.diagnosis.input_of, case.diagnosis.output_of)
    )
    is_steps = (
        before is not None and after is not None and len(before.shape) == 3 and before.shape[-1:] == after.shape[1:]
    )
    hot, one_each = _rows_of_ones(case, scores, targets)
    said |= {"is_hot": str(int(bool(hot))), "classes": str(scores.shape[-1]), "hot": hot}
    is_told = is_table or bool(hot)
    said |= {"is_steps": str(int(is_steps and not is_told)), "is_open": str(int(not is_steps and not is_told))}
    if cut is not None and before is not None:
        said |= {"cut_line": line(cut.span), "cut": case.code.excerpt(cut.span), "steps": str(before.shape[1:2][0])}
    return case.finding("", {**case.origin(scores), **said}, is_table=str(int(is_table)), fix=fix or one_each)


def _rows_of_ones(case: Case, scores: Tensor, targets: Tensor) -> tuple[str, Edits]:
    """The name of what has a row for each sample, a single 1 in it, and was put into one long row of targets."""
    diagnosis, count = case.diagnosis, math.prod(targets.shape)
    maker, total = diagnosis.maker.get(targets.id), targets.summary
    whole = diagnosis.input_of(maker) if maker is not None and maker.name in _FLATTENED else None
    ones = count - total.zeros if total is not None else sum(number == 1 for number in numbers(targets))
    is_hot = whole is not None and whole.shape == scores.shape and len(scores.shape) == 2 and ones == scores.shape[0]
    if not is_hot or whole is None or not is_of_ones_and_zeros(targets):
        return "", ()
    shapes = (f"NAME.{name}(...)" for name in _FLATTENED)
    written_here = (written(case.code, case.written(targets), shape) for shape in shapes)
    found = next(filter(None, written_here), None)
    if found is None:
        return diagnosis.say(whole.id), ()
    return found.said["name"], found.instead("NAME.argmax(1)")


def _rows_of(case: Case, op: Op) -> tuple[tuple[int, ...], ...]:
    """The first size of what an op was given and of what it gave."""
    ends = case.diagnosis.input_of(op), case.diagnosis.output_of(op)
    return tuple(end.shape[:1] for end in ends if end is not None)


def batch_squeezed(case: Case) -> Finding:
    """Scores without a batch axis, beside a batch of targets: a `squeeze()` without an axis took the batch of one
    sample away."""
    failed = case.diagnosis.failed_pass()
    root = failed.roots[0].node if failed is not None and failed.roots else None
    scores = known(case.diagnosis.input_of(known(case.op or case.diagnosis.op_of_node(root))))
    for maker in case.makers(scores):
        if maker.name == "squeeze" and len(known(case.diagnosis.input_of(maker)).shape) > 1:
            return _squeezed(case, maker, scores, is_loss="1")
    return known(None)


def batch_squeezed_now(case: Case) -> Finding:
    """The same before any op that fails of it, where its line has kept the batch axis of larger batches."""
    diagnosis, failed = case.diagnosis, known(case.op)
    only_if(any(op.name == failed.name and not op.raised for op in diagnosis.ops_at(failed.span)))
    for given, maker in ((one, maker) for one in case.inputs() for maker in case.makers(one)):
        before, after = diagnosis.input_of(maker), diagnosis.output_of(maker)
        if maker.name != "squeeze" or before is None or after is None or before.shape[:1] != (1,):
            continue
        others = [diagnosis.output_of(op) for op in diagnosis.ops_at(maker.span) if op.name == "squeeze"]
        if any(one is not None and len(one.shape) > len(after.shape) for one in others):
            return _squeezed(case, maker, given, is_loss="0", targets="")
    return known(None)


def _squeezed(case: Case, maker: Op, scores: Tensor, **said: str) -> Finding:
    given = known(case.diagnosis.input_of(maker))
    call = written(case.code, case.code.call_at(maker.span), "SCORES.squeeze()")
    is_second = given.shape[1:2] == (1,)  # the other axis of size 1 comes right after the batch
    fix = call.instead("SCORES.squeeze(1)") if call is not None and is_second else ()
    about = {**case.about(scores), "name": case.diagnosis.say(scores.id), "given": sizes(given.shape), **said}
    return case.finding("batch_squeezed", about, span=maker.span, fix=fix)


def class_axis(case: Case) -> Finding:
    """Scores with the classes on the last axis, beside targets for each place in a sequence or an image."""
    scores, target = case.pair
    only_if(scores.shape[:-1] == target.shape)
    axes = len(scores.shape)
    order = ", ".join(map(str, (0, axes - 1, *range(1, axes - 1))))
    said = {"order": order, "classes": str(scores.shape[-1]), "last": str(axes - 2)}
    return case.finding("", said, fix=case.cast(scores, f".permute({order})"))


def target_axes(case: Case) -> Finding:
    """Class numbers with an axis too many, perhaps floats besides."""
    _, target = case.pair
    extra = [axis for axis, size in enumerate(target.shape) if axis and size == 1]
    is_long = target.dtype in ("int64", "uint8")
    is_whole = is_long or all(number.is_integer() for number in numbers(target))
    fix = case.cast(target, f".squeeze({extra[0]}){'' if is_long else '.long()'}") if extra and is_whole else ()
    return case.finding(tensors=(target,), fix=fix, is_long=str(int(is_long)))


def target_shape(case: Case) -> Finding:
    """A loss of two tensors that must have the same shape."""
    given, target = case.pair
    name = dotted(case.written(given))
    is_same = math.prod(given.shape) == math.prod(target.shape) and given.shape != target.shape
    fix = case.cast(target, f".view_as({name})") if is_same and name else ()
    axis = case.facts.get("repeated", "")
    node = case.written(target)
    part = f"[{':, ' * int(axis)}:1]" if axis else ""
    fix = case.code.method(node, part) if part and node is not None else fix
    said = {"is_same": str(int(is_same)), "is_repeated": str(int(bool(axis))), "axis": axis, "part": part}
    said |= {"is_unlike": str(int(not is_same and not axis)), "size": str(target.shape[int(axis)]) if axis else ""}
    return case.finding("", said, fix=fix)


def target_range(case: Case) -> Finding:
    """A class number that the scores have no column for."""
    scores, _ = case.pair
    only_if(scores.shape)
    classes = scores.shape[1] if len(scores.shape) > 1 else scores.shape[0]
    labels = numbers(case.pair[1])
    is_from_one = min(labels, default=0) == 1 and max(labels) == classes
    is_low = case.groups["value"].startswith("-")
    said = {"classes": str(classes), "last": str(classes - 1), "is_one_hot": "0", "is_low": str(int(is_low))}
    if len(scores.shape) > 1 and classes == 1 and not is_low:
        return case.finding("one_score", said)
    return case.finding("target_from_one" if is_from_one else "", said)


def one_hot_range(case: Case) -> Finding:
    """A class number that a one-hot vector of the asked length has no place for."""
    labels, count = case.first, argument(known(case.op), "num_classes", 1)
    found = sorted(numbers(labels))
    only_if(found and count.isdecimal())
    is_low = found[0] < 0
    is_from_one = found[0] == 1 and found[-1] == int(count)
    said = {"other": case.say(labels), "value": f"{found[0] if is_low else found[-1]:g}", "classes": count}
    said |= {"last": str(int(count) - 1), "is_one_hot": "1", "name": "", "shape": "", "is_low": str(int(is_low))}
    return case.finding("target_from_one" if is_from_one else "", said, tensors=(labels,))


def probability_range(case: Case) -> Finding:
    """`binary_cross_entropy` takes probabilities; scores of a last layer are none, nor is what another function
    than a sigmoid squashed."""
    op, is_target = known(case.op), case.groups["which"] == "target"
    wrong = case.argument(1, "target") if is_target else case.argument(0, "input")
    farthest = max(numbers(wrong), key=lambda number: abs(number - 0.5), default=math.nan)
    only_if(not math.isnan(farthest) and not 0 <= farthest <= 1)
    said = {"name": case.say(wrong), "value": f"{farthest:.4g}", "loss": op.name}
    if is_target:
        return case.finding("bce_target_range", said, tensors=(wrong,))
    diagnosis, maker = case.diagnosis, last_maker(case.diagnosis, wrong)
    bent = maker if maker is not None and maker.name in _SQUASHING else None
    behind = diagnosis.origin(wrong.id, PASSING | _ARITHMETIC)
    is_scores = behind is None or behind.name not in _SQUASHING | {"sigmoid", "softmax", "exp"}
    said |= {"is_scores": str(int(is_scores)), "is_bent": str(int(bent is not None))}
    said |= {"maker": bent.name if bent is not None else "", "maker_line": line(bent.span) if bent is not None else ""}
    fix = logits_loss(diagnosis, op) if is_scores else ()
    if bent is not None and bent.name in _BENT:
        fix = renamed(diagnosis, bent, {bent.name.replace("log_", "log"): "sigmoid"}, {_BENT[bent.name]: "Sigmoid"})
    return case.finding("", said, tensors=(wrong,), fix=fix)
