"""Shapes that do not fit: products, broadcasting, joining, reshaping, indices."""

import ast
import math
import re

from engine.findings.axes import is_permuted
from engine.findings.diagnosis import extent, line, near, number, numbers_of, says
from engine.findings.failing.case import Case, a, known, of_one, only_if
from engine.findings.failing.origins import layer_call, sizes
from engine.findings.failing.values import module_type
from engine.findings.no_effect import assignment_meant
from engine.ops import BROADCASTING, VIEWS
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword, names_read
from engine.trace import Finding, Op, Tensor

PLACES = frozenset("multinomial argmax".split())
"""Ops that give places of scores."""
JOINS = frozenset("cat concat stack to long repeat expand expand_as getitem".split())

CHOOSING = frozenset("gather index_select take_along_dim".split())
"""Ops that pick elements by numbers."""
_WRITING = ("scatter", "index_add", "index_copy", "index_fill")
"""How ops begin that write to places given by numbers."""

_REGRESSIONS = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss".split())

# Products


def product(case: Case) -> Finding:
    """A matrix product whose inner sizes differ."""
    pair = left, right = known(tuple(case.inputs()[-2:]) if len(case.inputs()) > 1 else None)
    inner, outer = left.shape[-1:], right.shape[-2:][:1]
    only_if(inner and outer and inner != outer)
    said = {**case.about(left, right), "inner": str(inner[0]), "outer": str(outer[0])}
    fix, found = _transposed(case, left, right), case.written_as("LEFT @ RIGHT")
    fits = right.shape[-1:] == left.shape[:1] and {len(left.shape), len(right.shape)} == {2}
    is_either = len(left.shape) == 2 and left.shape == right.shape  # `.T` of any of the two makes a product
    if right.shape[-1:] == inner and len(left.shape) == len(right.shape) > 1 and not is_either:
        return case.finding("product_turned", said, tensors=pair, fix=fix or case.cast(right, ".transpose(-2, -1)"))
    said["is_order"] = str(int(fits and not fix and found is not None and not is_either))
    if found is not None and said["is_order"] == "1":
        said["right"], fix = found.as_("RIGHT @ LEFT"), found.instead("RIGHT @ LEFT")
    return case.finding("", {"right": "", **said, **case.origin(left)}, tensors=pair, fix=fix)


def _transposed(case: Case, left: Tensor, right: Tensor) -> Edits:
    """Transposing one side, when only that makes the product possible."""
    if len(left.shape) != 2 or len(right.shape) != 2:
        return ()
    fits_right, fits_left = right.shape[1] == left.shape[1], left.shape[0] == right.shape[0]
    return case.cast(right if fits_right else left, ".T") if fits_right != fits_left else ()


def batch_behind(case: Case) -> Finding:
    """A product of batches of which one has its batch axis second: turned round, it fits."""
    left, right = known(tuple(case.inputs()[-2:]) if len(case.inputs()) > 1 else None)
    only_if(len(left.shape) == len(right.shape) == 3 and left.shape[0] != right.shape[0])
    is_left = (left.shape[1], left.shape[2]) == right.shape[:2]
    is_right = (right.shape[1], right.shape[0]) == (left.shape[0], left.shape[2])
    only_if(is_left != is_right)
    given, other = (left, right) if is_left else (right, left)
    node, name = case.written(given), case.say(given)
    reads = [one for one in case.code.nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    is_only = isinstance(node, ast.Name) and sum(_is_beside(case, one, node) for one in reads) == 1
    said = {**case.about(given, other), "turned": f"{name}.transpose(0, 1)"}
    turned = given.shape[1], given.shape[0], given.shape[2]
    said |= {"turned_shape": sizes(turned), "is_several": str(int(isinstance(node, ast.Name) and not is_only))}
    return case.finding(
        "batch_behind", said, tensors=(given, other), fix=case.cast(given, ".transpose(0, 1)") if is_only else ()
    )


def _is_beside(case: Case, one: ast.Name, node: ast.Name) -> bool:
    """Whether two names are the same one in the same function."""
    return one.id == node.id and case.code.function(one) is case.code.function(node)


def product_of_batches(case: Case) -> Finding:
    """`bmm`, `mm`, `mv` and `dot` take tensors of one number of axes only."""
    only_if(known(case.op).name != "linear")  # whose weight was replaced by one with fewer axes
    pair = left, right = known(tuple(case.inputs()[-2:]) if len(case.inputs()) > 1 else None)
    fits = left.shape and right.shape and left.shape[-1] == right.shape[-2:][0]
    found = case.written_as(*(f"LEFT.{name}(...)" for name in ("mm", "bmm", "mv", "dot")))
    is_certain = fits and min(len(left.shape), len(right.shape)) <= 2 and found is not None
    fix = found.instead("LEFT.matmul(...)") if found is not None and is_certain else ()
    return case.finding("", case.about(*pair), tensors=pair, fix=fix)


# Two tensors side by side


def broadcast(case: Case) -> Finding:
    """Two shapes that no stretching makes equal: the axis, and both sizes there."""
    left, right, back = _clashing(case)
    found = case.written_as("LEFT @ NAME.T")
    if found is not None and len(right.shape) > 2 and (whole := case.tensor_of(found.part("NAME"))) is not None:
        fix = found.instead("LEFT @ NAME.transpose(-2, -1)")
        return case.finding("t_of_batch", {**case.about(whole), "name": found.said["name"]}, tensors=(whole,), fix=fix)
    origins = [case.origin(one) for one in (left, right)]
    latest = max(origins, key=lambda origin: ("origin_given" in origin, int(origin.get("origin_line", "0"))))
    said = {**case.about(left, right), **latest, "back": str(back)}
    is_stretched = 1 in (left.shape[-back], right.shape[-back]) or len(left.shape) != len(right.shape)
    code = "" if is_stretched else "shape_mismatch_sizes"
    least = min(len(left.shape), len(right.shape))
    ways = _windows(case, left, right, back)
    said |= {"is_window": str(int(bool(ways))), "way": "", "other_way": "", "common": "", **ways}
    held = next((one for one in (left, right) if one.role in ("parameter", "buffer")), None)
    makers = (op for one in (left, right) for op in case.makers(one))
    modules = filter(None, (case.diagnosis.modules.get(op.module or "") for op in makers))
    is_of_layers = least > 1 and held is None and any(not case.code.classes(one.type) for one in modules)
    said["is_of_layers"] = str(int(is_of_layers))
    for scores, labels in ((left, right), (right, left)):
        if known(case.op).name in ("eq", "ne") and scores.shape[:1] == labels.shape and len(scores.shape) == 2:
            only_if(scores.dtype.startswith("float") and labels.dtype.startswith("int"))
            said = case.about(scores, labels)
            return case.finding("scores_compared", said, tensors=(scores, labels), fix=case.cast(scores, ".argmax(1)"))
        if known(case.op).name in _REGRESSIONS and scores.shape[:1] == labels.shape and len(scores.shape) == 2:
            only_if(labels.dtype.startswith("int") and not scores.dtype.startswith("int"))
            said = {**case.about(scores, labels), "classes": str(scores.shape[1])}
            return case.finding("class_numbers_regressed", said, tensors=(scores, labels))
    small, large = sorted((left, right), key=lambda one: len(one.shape))
    axes, size = len(large.shape), len(small.shape)
    fits = [at for at in range(axes - size) if large.shape[at : at + size] == small.shape] if code == "" else []
    is_led = len(fits) == 1 and size > 0 and 1 not in small.shape
    index = ", ".join([":"] * size + ["None"] * (axes - size - fits[0])) if is_led else ""
    said |= {"is_led": str(int(is_led)), "small": case.say(small), "index": index}
    said["led"] = ", ".join(map(str, range(fits[0], fits[0] + size))) if is_led else ""
    node = case.written(small) if is_led else None
    fix = case.code.method(node, f"[{index}]") if node is not None else ()
    return case.finding(code, said, tensors=(left, right), least=str(least), fix=fix)


def _windows(case: Case, left: Tensor, right: Tensor, back: int) -> dict[str, str]:
    """The size that two tensors had along an axis where they were still one, and the sizes that the windows of layers
    made of it on either way; nothing where one of them has it from anything else."""
    ways = [[*case.makers(one)] for one in (left, right)]
    given = [[case.diagnosis.input_of(op) for op in way] for way in ways]
    ids = [[one.id if one is not None else "" for one in way] for way in given]
    common = next((one for one in ids[0] if one and one in ids[1]), "")
    start = case.diagnosis.tensors.get(common)
    if start is None or len(start.shape) < back:
        return {}
    said = {"common": str(start.shape[-back])}
    for name, way, met in zip(("way", "other_way"), ways, ids, strict=True):
        steps, size = [said["common"]], start.shape[-back]
        for op in reversed(way[: met.index(common) + 1]):
            made = case.diagnosis.output_of(op)
            if made is None or len(made.shape) != len(start.shape):
                return {}
            if made.shape[-back] != size and (op.window is None or len(op.window.axes) < back):
                return {}
            if made.shape[-back] != size:
                module, size = case.diagnosis.modules.get(op.module or ""), made.shape[-back]
                steps.append(f"{size} (`{op.name if module is None else module.path}`)")
        said[name] = " → ".join(steps)
    return said


def _clashing(case: Case) -> tuple[Tensor, Tensor, int]:
    """The two tensors that the message means, and their axis, counted from behind."""
    given, axis = case.inputs(), int(case.groups["axis"])
    wanted = {int(case.groups["a"]), int(case.groups["b"])}
    for left, right in ((left, right) for at, left in enumerate(given) for right in given[at + 1 :]):
        back = max(len(left.shape), len(right.shape)) - axis
        if min(len(left.shape), len(right.shape)) >= back and {left.shape[-back], right.shape[-back]} == wanted:
            return left, right, back
    return known(None)


def nothing_kept(case: Case) -> Finding:
    """`x - layer(x)` as a line of its own in a function: what shapes it has makes no difference to anything."""
    left, right, _ = _clashing(case)
    meant, statement = assignment_meant(case.code, case.statement), known(case.statement)
    only_if(meant and case.node is a(ast.Expr, statement).value and not case.code.runs_once(statement))
    said, fix = {**case.about(left, right), "right": meant}, (case.code.replace(statement, meant),)
    return case.finding("sign_for_equals", said, tensors=(left, right), fix=fix)


def cut_short(case: Case) -> Finding:
    """A slice that asked for as many as the other tensor has of an axis that has less, such as a table of positions."""
    left, right, back = _clashing(case)
    ways = ((part, other, op) for part, other in ((left, right), (right, left)) for op in case.makers(part))
    for part, other, op in ways:
        got, asked, whole = part.shape[-back], other.shape[-back], case.diagnosis.input_of(op)
        axis = _stopping_at(op, asked) if op.name == "getitem" and got < asked else None
        if whole is None or axis is None or whole.shape[axis : axis + 1] != (got,):
            continue
        owned = (
            each.id
            for each in case.diagnosis.trace.modules
            for own in each.buffers + each.parameters
            if own.tensor == whole.id
        )
        made = next(filter(None, (layer_call(case.diagnosis, module) for module in owned)), None)
        maker, node = case.diagnosis.maker.get(whole.id), case.code.at(op.span)
        made_line = str(made.lineno) if made is not None else line(maker.span if maker is not None else op.span)
        said = {
            "got": str(got),
            "asked": str(asked),
            "axis": str(axis),
            "made_line": made_line,
            **case.about(whole, other),
        }
        said["name"] = case.code.short(node.value) if isinstance(node, ast.Subscript) else said["name"]
        return case.finding("slice_cut_short", said, span=known(op.span), tensors=(whole, other))
    return known(None)


def _stopping_at(op: Op, stop: int) -> int | None:
    """The axis of which an index takes what there is before a place."""
    for axis, part in enumerate(re.findall(r"slice\(.*?\)|[^(), ]+", op.arguments[-1].text or "")):
        if part in (f"slice(None, {stop}, None)", f"slice(0, {stop}, None)"):
            return axis
        if part in ("None", "Ellipsis"):
            return None
    return None


def reduced(case: Case) -> Finding:
    """`x - x.mean(dim=1)`: the axis that went is needed again, as one of size 1."""
    left, right, _ = _clashing(case)
    for small, large in ((left, right), (right, left)):
        op = next((op for op in case.makers(small) if _shape_given(case, op) != small.shape), None)
        call = case.code.call_at(op.span) if op is not None else None
        is_one_less = len(small.shape) == len(large.shape) - 1
        if op is None or call is None or not is_one_less or _shape_given(case, op) != large.shape:
            continue
        if op.name in _REDUCING and not any(keyword(call, name) for name in ("keepdim", "keepdims")):
            said = {**case.about(small, large), "made": case.code.short(call), "given": sizes(large.shape)}
            fix = (case.code.argument_added(call, "keepdim=True"),)
            where = case.code.span(call)
            return case.finding("keepdim_missing", said, span=where, tensors=(small, large), op=op.name, fix=fix)
    return known(None)


_OF_NO_LOSS = {"loss": "", "loss_line": "", "target": "", "is_number": "0"}
_REDUCING = frozenset("mean sum std var norm prod amax amin logsumexp median".split())


def _shape_given(case: Case, op: Op) -> tuple[int, ...]:
    given = case.diagnosis.input_of(op)
    return given.shape if given is not None else ()


def expanded(case: Case) -> Finding:
    """`expand` to sizes that do not go with those there are; or what is written into a part of a tensor."""
    match case.statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value) if case.call is not value or not case.call:
            said = {"target_name": case.code.short(target), "value": case.code.short(value)}
            is_last = case.groups["axis"] == str(case.groups["target"].count(","))
            odd = _odd_places(case, target) if is_last else 0
            fix = case.code.method(value, f"[..., :{case.groups['wanted']}]") if odd else ()
            return case.finding("written_shape", {**said, "is_odd": str(int(bool(odd))), "places": str(odd)}, fix=fix)
    return of_one(case)


def _odd_places(case: Case, target: ast.Subscript) -> int:
    """How many places an axis has of which `1::2` takes one less than `0::2`, the number that there are values for; 0
    where it is otherwise."""
    whole, parts = case.tensor_of(target.value), target.slice.elts if isinstance(target.slice, ast.Tuple) else []
    at = next((at for at, part in enumerate(parts) if ast.unparse(part) == "1::2"), None)
    if whole is None or at is None or not all(isinstance(part, ast.Slice | ast.Constant) for part in parts):
        is_last = ast.unparse(target.slice) in ("..., 1::2", "(..., 1::2)") and whole is not None
        at = len(whole.shape) - 1 if is_last and whole is not None and whole.shape else None
    size = whole.shape[at] if whole is not None and at is not None and at < len(whole.shape) else 0
    return size if size == int(case.groups["wanted"]) + int(case.groups["got"]) and size % 2 else 0


def joined(case: Case) -> Finding:
    """`cat` of tensors that differ in another axis than the one they are joined along."""
    first, other, clash = _not_joining(case)
    said = {**case.about(first, other), "axis": str(clash[0]), **case.origin(other)}
    is_one = len(clash) == 1 and len(first.shape) == len(other.shape)
    fits = [one.shape[: clash[0]] + one.shape[clash[0] + 1 :] for one in case.inputs()]
    said["would_fit"] = str(int(is_one and len({*fits}) == 1))
    return case.finding("", said, tensors=(first, other))


def _not_joining(case: Case) -> tuple[Tensor, Tensor, list[int]]:
    """The tensors that `cat` could not join, and the axes in which they differ."""
    other, along = known(next(iter(case.inputs()[int(case.groups["at"]) :]), None)), int(case.groups["along"])
    pairs = enumerate(zip(case.first.shape, other.shape, strict=False))
    clash = [axis for axis, (here, there) in pairs if here != there and axis != along]
    only_if(clash)
    return case.first, other, clash


def rounded(case: Case) -> Finding:
    """`cat` of what a pooling or convolution made, with a step that did not divide a size evenly."""
    first, other, (axis, *_) = _not_joining(case)
    small, large = sorted((first, other), key=lambda tensor: tensor.shape[axis])
    size = large.shape[axis]
    op = known(next((op for op in case.makers(small) if _rounds(case, op, size)), None))
    said = {**case.about(first, other), "axis": str(axis), "op": op.name, "size": str(size)}
    said |= {"small": case.say(small), "back": str(small.shape[axis])}
    said |= {"large": case.say(large), "large_shape": sizes(large.shape)}
    return case.finding("cat_rounded", said, span=op.span, tensors=(first, other))


def _rounds(case: Case, op: Op, size: int) -> bool:
    given, made = case.diagnosis.input_of(op), case.diagnosis.output_of(op)
    if op.window is None or given is None or made is None:
        return False
    before, after = given.shape[-1], made.shape[-1]
    return before == size and 0 < after <= before // 2 and before % after > 0


def joined_scalars(case: Case) -> Finding:
    """`cat` of numbers."""
    only_if(not any(tensor.shape for tensor in case.inputs()))
    found = case.written_as("FUNCTION(...)")
    fix = found.instead("torch.stack(...)") if found is not None else ()
    return case.finding("cat_scalars", count=str(len(case.inputs())), fix=fix)


def joined_axes(case: Case) -> Finding:
    """`cat` of tensors with different numbers of axes."""
    other = known(next((one for one in case.inputs() if len(one.shape) != len(case.first.shape)), None))
    return case.finding("cat_axes", case.about(case.first, other), tensors=(case.first, other))


def stacked(case: Case) -> Finding:
    """`stack` of tensors of different shapes; in a DataLoader: samples of different shapes."""
    if case.is_in_loader:
        return not_padded(case)
    shapes = [case.groups[name].strip("[]").split(", ") for name in ("first_shape", "other_shape")]
    is_longer = shapes[0][0] != shapes[1][0] and shapes[0][1:] == shapes[1][1:]
    call = case.call
    name = case.code.short(call.args[0]) if call is not None and call.args else "…"
    return case.finding("stack_lengths" if is_longer else "", name=name)


def not_padded(case: Case) -> Finding:
    """Samples of a DataLoader that differ in shape, or hold lists of different lengths."""
    lists = dict.fromkeys(("first", "first_shape", "other", "other_shape"), "") | {"is_list": "1"}
    lists = {"is_list": "0"} if "first_shape" in case.groups else lists
    is_own = case.call is not None and called(case.call) == "stack" and case.code.function(case.call) is not None
    return case.finding("batch_shapes", lists, is_own=str(int(is_own)))


# Reshaping and indices


def reshaped(case: Case) -> Finding:
    """A new shape with another number of elements."""
    known(case.call)
    given = case.argument(0)
    wanted = [int(text) for text in re.findall(r"-?\d+", case.groups["shape"])]
    count = math.prod(size for size in wanted if size != -1)
    said = {"given_shape": sizes(given.shape), "wanted": str(count), "shape": str(wanted), "name": case.say(given)}
    row, fix = _one_row_each(case, given, wanted)
    said |= {
        "samples": "",
        "each": "",
        "layer": "",
        "layer_line": "",
        "takes": "",
        **row,
        "is_row": str(int(bool(row))),
    }
    elements, split = math.prod(given.shape), _split(given, wanted)
    is_free = elements * wanted[0] % max(count, 1) == 0 and not split and not row
    front = math.prod(wanted[:2])
    side = math.isqrt(elements // front) if front > 0 else 0
    is_square = len(wanted) == 4 and front * side * side == elements and -1 not in wanted
    said |= {"is_square": str(int(is_square)), "side": str(side), "front": str(wanted[:2])}
    said |= {"whole": "", "parts": "", "each_part": "", "is_split": str(int(bool(split))), **split}
    said |= {"is_open": str(int(-1 in wanted and not row)), "is_closed": str(int(-1 not in wanted))}
    said["is_wrong"] = str(int(-1 not in wanted and not split and not row))
    return case.finding("", {**said, "is_free": str(int(is_free and -1 not in wanted)), **case.origin(given)}, fix=fix)


def _split(given: Tensor, wanted: list[int]) -> dict[str, str]:
    """What there is to say where the last axis was to be split into equal parts, as for the heads of attention, and
    leaves a rest."""
    whole, parts = given.shape[-1:], wanted[-2:]
    is_kept = tuple(wanted[:-2]) == given.shape[:-1] and len(parts) == 2 and min(parts) > 0
    if not is_kept or not any(whole[0] % one and whole[0] // one == other for one, other in (parts, parts[::-1])):
        return {}
    one, other = parts if whole[0] // parts[0] == parts[1] else parts[::-1]
    return {"whole": str(whole[0]), "parts": str(one), "each_part": str(other)}


def _one_row_each(case: Case, given: Tensor, wanted: list[int]) -> tuple[dict[str, str], Edits]:
    """What there is to say where each sample of a batch that comes of a convolution was to be a row of the length that
    one linear layer of the model takes."""
    diagnosis = case.diagnosis
    linear = (one for one in diagnosis.trace.modules if one.type == "Linear")
    takers = [one for one in linear if diagnosis.tensors[one.parameters[0].tensor].shape[1:] == tuple(wanted[-1:])]
    made = layer_call(diagnosis, takers[0].id) if len(takers) == 1 else None
    is_batch = any(
        maker.name.endswith(f"{len(given.shape) - 2}d") for maker in case.makers(given) if "conv" in maker.name
    )
    if len(wanted) != 2 or wanted[0] not in (-1, given.shape[0]) or not is_batch or made is None or not made.args:
        return {}, ()
    each, found = str(math.prod(given.shape[1:])), case.written_as("NAME.METHOD(...)")
    fix = found.instead("NAME.flatten(1)") if found is not None and not names_read(made.args[0]) else ()
    row = {"samples": str(given.shape[0]), "each": each, "layer": takers[0].path, "layer_line": str(made.lineno)}
    row["takes"] = str(wanted[1])
    return row, (*fix, case.code.replace(made.args[0], each)) if fix else ()


def not_contiguous(case: Case) -> Finding:
    """`view` of a tensor whose elements do not lie in order."""
    found, given = known(case.written_as("NAME.view(...)")), case.argument(0)
    is_mixed = is_permuted(given.shape, _asked_for(case, given))
    fix = () if is_mixed else found.instead("NAME.reshape(...)")
    return case.finding(strides=str(list(given.strides or ())), is_mixed=str(int(is_mixed)), fix=fix)


def _asked_for(case: Case, given: Tensor) -> tuple[int, ...]:
    """The shape that a `view` was to give."""
    texts = (argument.text or "" for argument in (case.op.arguments if case.op is not None else ()))
    sizes_asked = [int(size) for text in texts for size in re.findall(r"-?\d+", text)]
    rest = math.prod(given.shape) // max(math.prod(size for size in sizes_asked if size != -1), 1)
    return tuple(rest if size == -1 else size for size in sizes_asked)


def axis_out_of_range(case: Case) -> Finding:
    """An axis that the tensor does not have."""
    axes = len(case.first.shape) if case.inputs() else -1
    limits = int(case.groups["low"]), int(case.groups["high"])
    only_if(axes == 0 or limits in ((-axes, axes - 1), (-axes - 1, axes)))
    said = _compared_before(case) if case.inputs() else {}
    return case.finding("", _OF_NO_LOSS | said)


def _compared_before(case: Case) -> dict[str, str]:
    """The loss that takes the difference of what an axis is asked of and what the place found there is compared
    with."""
    above = case.code.parents.get(case.node) if case.node is not None else None
    for side in [above.left, *above.comparators] if isinstance(above, ast.Compare) else []:
        names = {case.diagnosis.identity(other.id) for other in case.diagnosis.bound_to(side)}
        for loss in case.diagnosis.takers.get(case.first.id, ()) if known(case.op).name in PLACES else ():
            if loss.name in _REGRESSIONS and not names.isdisjoint(map(case.diagnosis.identity, loss.inputs)):
                said = {"loss": loss.name, "loss_line": line(loss.span), "target": case.code.short(side)}
                return {**said, "is_number": "1"}
    return {}


def permuted_too_far(case: Case) -> Finding:
    """`permute` of more axes than there are."""
    has, asked = int(case.groups["has"]), int(case.groups["asked"])
    only_if(asked > has)
    return case.finding("", _OF_NO_LOSS, axis=str(asked - 1), low=str(-has), high=str(has - 1))


def index(case: Case) -> Finding:
    """An index beyond the end of an axis."""
    given, last = case.first, str(int(case.groups["size"]) - 1)
    only_if(given.shape[int(case.groups["axis"]) :][:1] == (int(case.groups["size"]),))
    place = case.node.slice if isinstance(case.node, ast.Subscript) else None
    tensor = case.tensor_of(place) if isinstance(place, ast.Name | ast.Attribute) else None
    is_written = known(case.op).name.startswith(_WRITING)
    if tensor is None and (known(case.op).name in CHOOSING or is_written):
        tensor = case.argument(2, "index") if is_written else case.pair[1]
        place = case.written(tensor)
    if place is not None and tensor is not None:
        is_low, said = case.groups["index"].startswith("-"), _counted_up(case, tensor)
        is_high = not is_low and said["is_added"] == "0"
        counted, (_, most) = {*numbers_of(tensor)}, extent(tensor) or (0, math.inf)
        flags = {"is_low": is_low, "is_next": is_high and most == int(last) + 1}
        flags |= {"is_far": is_high and not flags["is_next"], "is_written": is_written, "is_counted": bool(counted)}
        said |= {"place": case.code.short(place), "last": last, "count": str(len(counted)), "most": f"{most:.0f}"}
        said |= {name: str(int(flag)) for name, flag in flags.items()}
        return case.finding("index_tensor_out_of_range", said, tensors=(given, tensor))
    return case.finding(last=last, tensors=(given,))


def _counted_up(case: Case, places: Tensor) -> dict[str, str]:
    """The line that added a number to places that would fit without it."""
    maker = case.diagnosis.maker.get(places.id)
    added = number(maker.arguments[-1].text) if maker is not None and maker.name == "add" else None
    before = extent(case.diagnosis.input_of(maker)) if maker is not None and added else None
    is_so = maker is not None and before is not None and before[0] >= 0 and before[1] < int(case.groups["size"] or 0)
    made = case.code.excerpt(maker.span) if maker is not None and is_so else ""
    made_line = line(maker.span) if maker is not None and is_so else ""
    return {"is_added": str(int(is_so)), "made": made, "made_line": made_line, "added": f"{added or 0:g}"}


def _row_missing(case: Case) -> dict[str, str]:
    """Which row of an embedding table was asked for that is not there."""
    only_if(known(case.op).name == "embedding")
    indices, rows = case.argument(0, "input"), case.argument(1, "weight").shape[0]
    worst = known(next((number for number in numbers(indices) if not 0 <= number < rows), None))
    return {"rows": str(rows), "value": f"{worst:.0f}", "last": str(rows - 1), "is_low": str(int(worst < 0))}


def _length_given(case: Case) -> ast.Call:
    """The `len()` of something that an embedding table has its number of rows from."""
    code, rows = case.code, next(iter(known(case.layer_made).args), None)
    name = code.stands_for(dotted(rows))
    values = code.values(name) or code.values(f"self.{name.rpartition('.')[2]}")
    only_if(len(values) < 2)
    size = a(ast.Call, values[0] if values else rows if isinstance(rows, ast.Call) else code.given(name))
    only_if(called(size) == "len" and size.args)
    return size


def one_row_more(case: Case) -> Finding:
    """Rows of an embedding table that were counted by `len()`, where the numbers in use go from 0 up to that count: one
    is taken beside those that were counted, as 0 is for padding."""
    said, numbers_asked = _row_missing(case), numbers(case.argument(0, "input"))
    size = _length_given(case)
    only_if(min(numbers_asked) == 0 and f"{max(numbers_asked):.0f}" == said["rows"])
    said["count"] = case.code.short(size)
    return case.finding("embedding_one_short", said, span=case.code.span(size), fix=(case.code.after(size, " + 1"),))


def embedding(case: Case) -> Finding:
    """A number beyond the rows of an embedding table."""
    said, indices, diagnosis = _row_missing(case), case.argument(0, "input"), case.diagnosis

    def before(tensor: str) -> tuple[str, ...]:
        maker = diagnosis.maker.get(tensor)
        return maker.inputs if maker is not None and maker.name in VIEWS | JOINS else ()

    makers = [maker for tensor in near([indices.id], before) if (maker := diagnosis.maker.get(tensor)) is not None]
    drawn = next((maker for maker in makers if maker.name in PLACES), None)
    scores = diagnosis.input_of(drawn) if drawn is not None else None
    width = scores.shape[-1] if scores is not None and scores.shape else 0
    is_wide = drawn is not None and int(said["rows"]) < width and int(said["value"]) < width
    said |= {"is_drawn": str(int(is_wide)), "width": str(width), "draw": drawn.name if drawn is not None else ""}
    said |= {"drawn_line": line(drawn.span) if drawn is not None else ""}
    said["is_given"] = str(int(said["is_low"] == "0" and not is_wide))
    counted = next((maker for maker in makers if maker.name == "arange"), None)
    if counted is not None and drawn is None and min(numbers(indices)) == 0:
        length = str(diagnosis.elements(counted.outputs[0]))
        return case.finding("embedding_positions", said, counted_line=line(counted.span), length=length)
    return case.finding("", said)


def numbers(tensor: Tensor) -> list[float]:
    """The elements that are known, else the largest and the smallest."""
    found = [float(number) for number in tensor.data or ()]
    if not found and tensor.summary is not None:
        return [float(tensor.summary.max), float(tensor.summary.min)]
    return found


def gathered(case: Case) -> Finding:
    """`gather` and `scatter` take an index with as many axes as the tensor."""
    tensor, index = case.pair
    only_if(len(tensor.shape) != len(index.shape))
    op, call = known(case.op), known(case.call)
    axis = next((one.text for one in op.arguments if one.tensor is None), None) or "1"
    is_gather, is_alone = op.name == "gather", len(case.inputs()) == 2
    is_one_less = len(tensor.shape) == len(index.shape) + 1
    fix = case.cast(index, f".unsqueeze({axis})") if is_one_less and is_alone else ()
    is_kept = is_gather and _has_axes_of_one(case)
    if fix and is_gather and not is_kept:
        fix = (*fix, *case.code.method(call, f".squeeze({axis})"))
    flags = {"is_gather": is_gather, "is_alone": is_alone, "is_squeezed": is_gather and not is_kept, "is_kept": is_kept}
    return case.finding("", {name: str(int(flag)) for name, flag in flags.items()}, axis=axis, fix=fix)


def _has_axes_of_one(case: Case) -> bool:
    """Whether the program itself gives something an axis of 1, or takes one off: what the result goes to may count on
    it."""
    code = case.code
    is_by_call = any(
        called(one) in ("squeeze", "unsqueeze")
        or says(one, "keepdim") == "True"
        or (called(one) in ("view", "reshape") and one.args and ast.unparse(one.args[-1]) == "1")
        for one in code.calls
    )
    places = (one.slice for one in code.nodes if isinstance(one, ast.Subscript))
    parts = (one for place in places for one in ast.walk(place) if isinstance(one, ast.Constant))
    return is_by_call or any(one.value is None for one in parts)


def expanded_written(case: Case) -> Finding:
    """Writing into a tensor whose elements are one and the same number in memory."""
    identity = case.diagnosis.identity(case.first.id)
    maker = next((op for op in case.diagnosis.ops_named(BROADCASTING & VIEWS) if identity in op.outputs), None)
    span = maker.span if maker is not None else None
    made = case.code.call_at(span)
    fix = (case.code.after(made, ".clone()"),) if made is not None else ()
    return case.finding("", {"name": case.diagnosis.say(case.first.id)}, span=span, fix=fix)


def unpacked(case: Case) -> Finding:
    """A tuple or tensor with another number of parts than names on the left."""
    statement = a(ast.Assign, case.statement)
    value, names = statement.value, [one for one in ast.walk(statement.targets[0]) if isinstance(one, ast.Name)]
    is_nested = any(isinstance(one, ast.Tuple) for one in getattr(statement.targets[0], "elts", ()))
    layer = module_type(case, value.func) if isinstance(value, ast.Call) else ""
    if layer in ("LSTM", "GRU", "RNN") and len(names) == 3:
        first, *rest = (one.id for one in names)
        right = f"{first}, ({', '.join(rest)})" if layer == "LSTM" else f"{first}, {rest[0]}"
        said = {"layer": case.code.short(a(ast.Call, value).func), "right": right, "is_lstm": str(int(layer == "LSTM"))}
        fix = (case.code.replace(statement.targets[0], right),) if layer == "LSTM" else ()
        return case.finding("recurrent_parts", said, fix=fix)
    only_if(not is_nested)
    tensor = case.tensor_of(value)
    is_turned = tensor is not None and tensor.shape[1:] == (int(case.groups["expected"]),)
    return case.finding("", {"value": case.code.short(value), "got": _got(case), "is_turned": str(int(is_turned))})


def _got(case: Case) -> str:
    got = re.search(r"got (\d+)", case.failure.message)
    return got[1] if got else ""


def parts_of_turn(case: Case) -> Finding:
    """What a loop takes apart in each turn: a batch, or a number and a batch."""
    loop = a(ast.For, case.statement)
    target, counted, span = loop.target, loop.iter, case.code.span(loop.target)
    said = {"value": case.code.short(counted), "got": _got(case)}
    is_counted = isinstance(counted, ast.Call) and ast.unparse(counted.func) == "enumerate" and len(counted.args) == 1
    if not is_counted or not isinstance(target, ast.Tuple) or len(target.elts) <= 2:
        fix = _numbered_turns(case, loop)
        inner = [one for one in getattr(target, "elts", ()) if isinstance(one, ast.Tuple)] if is_counted else []
        if is_counted and len(inner) == 1:  # `enumerate` itself fits
            target, said["value"] = inner[0], case.code.short(a(ast.Call, counted).args[0])
        names = case.code.short(target)
        return case.finding("turn_parts", said, span=span, names=names, is_numbered=str(int(bool(fix))), fix=fix)
    text = case.code.text(target).strip("()")
    first, _, rest = text.partition(",")
    right = f"{first}, ({rest.strip()})"
    fix = (case.code.replace(target, right),) if not text.startswith("(") else ()
    return case.finding("enumerate_parts", said, span=span, right=right, fix=fix)


def _numbered_turns(case: Case, loop: ast.For) -> Edits:
    """`enumerate` around a DataLoader whose loop has a name for the number of its turn before those of its batch."""
    operand, made = case.operand(loop.iter), case.value_of(loop.iter)
    is_loader = operand is not None and operand.type == "DataLoader"
    is_loader |= isinstance(made, ast.Call) and called(made) == "DataLoader"
    match loop.target:
        case ast.Tuple(elts=[ast.Name(), ast.Tuple() | ast.List()]) if is_loader:
            return case.code.before(loop.iter, "enumerate("), case.code.after(loop.iter, ")")
    return ()
