"""Errors inside a function that `torch.func` runs: what it sees there, and what it may do."""

import ast
import re
from collections import Counter
from itertools import pairwise

from engine.findings.diagnosis import line, walk
from engine.findings.failing.case import Case, known, of_first, only_if
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Finding, Span, Tensor

_FOLDER = "torch/_functorch/"
_INSTEAD = {"jacobian": "jacrev", "hessian": "hessian", "vjp": "vjp", "jvp": "jvp", "vhp": "vjp"}
"""What `torch.func` has for a function of `torch.autograd.functional`."""
_FUNCTIONAL = "torch.autograd.functional."


def sample_alone(case: Case) -> Finding:
    """A function under `vmap` that counts on the axis of the batch, which is taken away there."""
    frames = case.failure.frames
    begun = next((at for at, frame in enumerate(frames) if frame.function == "vmap_impl"), 0)
    asked = known(frames[begun - 2].span if begun > 1 else None)  # else another transform maps, as `jacfwd` does
    given = known(next((one for one in _looked_at(case) if _is_part(case, one, asked)), None))
    only_if(_lacks_one(case, len(given.shape)))
    node = case.node
    places = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    is_index = bool(places) and ast.unparse(places[0]) == ":"
    right: str = ""
    fix: Edits = ()
    if isinstance(node, ast.Subscript) and is_index:
        rest = ", ".join(map(case.code.text, places[1:]))
        right = f"{case.code.text(node.value)}[..., {rest}]"
        fix = (case.code.replace(places[0], "..."),)
    is_norm = "input (got" in case.failure.message
    flags = {"is_norm": is_norm, "is_index": is_index, "is_other": not is_norm and not is_index}
    said = {name: str(int(flag)) for name, flag in flags.items()}
    said |= {**case.about(given), "map_line": line(asked), "right": right}
    return case.finding("sample_alone", said, tensors=(given,), fix=fix)


def _looked_at(case: Case) -> list[Tensor]:
    """What the failing op was given; a batch norm looks at it before any op runs: what was computed last."""
    last = case.diagnosis.trace.ops[-1:] if case.op is None else ()
    return case.inputs() or [case.diagnosis.tensors[output] for op in last for output in op.outputs[:1]]


def _is_part(case: Case, tensor: Tensor, asked: Span) -> bool:
    """Whether it comes of what is like one part of a tensor that a call of a mapped function was given."""
    call, diagnosis = case.code.call_at(asked), case.diagnosis
    written = call.args if call is not None else []
    given = [one for part in written for one in diagnosis.bound_to(part)]
    made = (output for part in written for op in diagnosis.ops_at(case.code.span(part)) for output in op.outputs)
    given += [diagnosis.tensors[output] for output in made]
    parts = {one.shape[:at] + one.shape[at + 1 :] for one in given for at in range(len(one.shape))}
    behind = (diagnosis.tensors[one] for one in walk([tensor.id], diagnosis.made_from) if one in diagnosis.tensors)
    return any(one.shape in parts and one.role != "parameter" for one in behind if one.id not in diagnosis.maker)


def _lacks_one(case: Case, axes: int) -> bool:
    """Whether one axis more is all that a tensor would need."""
    message, node = case.failure.message, case.node
    if isinstance(node, ast.Subscript) and "too many indices" in message:
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        plain = [one for one in places if isinstance(one, ast.Slice | ast.Constant | ast.Name | ast.UnaryOp)]
        return len(plain) == len(places) == axes + 1
    wanted = re.search(r"^expected (.*?) input \(got", message)
    asked = re.search(r"range of \[-\d+, (\d+)\], but got (\d+)", message)
    is_next = asked is not None and int(asked[2]) == int(asked[1]) + 1
    return is_next or (wanted is not None and str(axes + 1) in re.findall(r"\d", wanted[1]))


def mapped_sizes(case: Case) -> Finding:
    """Arguments of a mapped function that differ in size: how many parts each has, and the one that is odd."""
    call, sizes = known(case.call), Counter(re.findall(r"\d+", case.groups["sizes"]))
    tensors = [(case.code.short(one), case.tensor_of(one)) for one in call.args]
    parts = [(name, str(one.shape[0])) for name, one in tensors if one is not None and one.shape]
    is_known = Counter(size for _, size in parts) == sizes
    (most, count), *others = sizes.most_common()
    odd = [name for name, size in parts if size != most]
    is_odd = is_known and count > 1 and len(others) == len(odd) == 1
    said = {"given": ", ".join(f"{name}: {size}" for name, size in parts), "is_known": str(int(is_known))}
    said |= {"odd": odd[0] if is_odd else "", "most": most, "is_odd": str(int(is_odd)), "is_open": str(int(not is_odd))}
    return of_first(case.finding("", said))


def asked_to_track(case: Case) -> Finding:
    """`requires_grad_()` in a function that `torch.func` runs: its own, or that of `torch.autograd.functional`."""
    frames = case.failure.frames
    after = (one for one, inner in pairwise(frames) if _FOLDER in inner.file and one.span)
    start = known(next(after, None)).span
    asked = [one for one in case.code.attributes if (case.code.stands_for(dotted(one))).startswith(_FUNCTIONAL)]
    names = {one.attr for one in asked if one.attr in _INSTEAD} if frames[-1].span is None else set()
    is_own = case.call is not None and called(case.call) == "requires_grad_"
    only_if(is_own or len(names) == 1)
    name = "" if is_own else names.pop()
    said = {"is_own": str(int(is_own)), "function": name, "instead": _INSTEAD.get(name, ""), "start_line": line(start)}
    said |= {"is_pair": str(int(name in ("vjp", "vhp"))), "is_made": str(int(name in ("jacobian", "hessian")))}
    return case.finding("", said, tensors=())


def captured_written(case: Case) -> Finding:
    """A tensor from outside written in place in a function whose gradient `torch.func` computes."""
    layer = case.layer
    is_norm = layer is not None and "Norm" in layer.type
    name = layer.path if layer is not None and is_norm else case.say(case.first)
    only_if(is_norm or layer is None)
    return case.finding("", {"name": name, "layer": layer.type if layer is not None else ""}, is_norm=str(int(is_norm)))
