"""Custom Functions of `torch.autograd`: a backward that is not the derivative of its forward, does not read what it is
given, or gives nothing back."""

import ast
from collections.abc import Iterable, Iterator

from engine.findings.diagnosis import Diagnosis, by_number, extent, is_alike, size_of
from engine.findings.ways import unfed
from engine.program.names import dotted, names_read
from engine.program.tree import defined_in
from engine.trace import Finding, Node, Op, Visit


def backward_does_not_fit(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A custom Function whose backward a check found to be no derivative of its forward; where the forward is flat or
    hands its input on, another gradient is meant."""
    for check in diagnosis.trace.checks:
        node = diagnosis.nodes.get(check.nodes[0]) if check.nodes and check.reason == "custom" else None
        op = diagnosis.op_of_node(node.id) if node is not None else None
        if node is None or op is None or all(element.difference == 0 for element in check.elements):
            continue
        if _hands_on(diagnosis, op):
            continue
        element = max(check.elements, key=lambda each: abs(float(each.autograd) - float(each.difference)))
        yield diagnosis.warning(
            "backward_does_not_fit",
            node.code,
            tensors=(check.tensor,),
            nodes=(node.id,),
            function=check.parameters.get("function", node.type),
            leaf=diagnosis.say(check.tensor),
            given=f"{float(element.autograd):.6g}",
            true=f"{float(element.difference):.6g}",
        )
        return


def _hands_on(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether the values that come out are those that went in."""
    return is_alike(diagnosis.input_of(op), diagnosis.output_of(op))


def backward_gives_none(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A custom backward that returns None for an input through which alone leaves were to get their gradient."""
    custom = [node for node in diagnosis.trace.nodes if node.custom and node.id in diagnosis.visited]
    wanting = unfed(diagnosis) if custom else set()
    for node in custom:
        op, visits = diagnosis.op_of_node(node.id), diagnosis.visits_of[node.id]
        owner = next((each for each in diagnosis.code.classes(node.type.removesuffix("Backward"))), None)
        forward = defined_in(owner, "forward") if owner is not None else None
        backward = defined_in(owner, "backward") if owner is not None else None
        if op is None or forward is None or backward is None or not any(map(_enters, visits)):
            continue
        names = [
            argument.arg for argument, given in zip(forward.args.args[1:], op.arguments, strict=False) if given.tensor
        ]
        for slot, edge in enumerate(node.edges if len(names) == len(node.edges) else ()):
            reached = diagnosis.reached_from([edge.to]) if edge.to is not None else set()
            leaves = sorted({diagnosis.nodes[each].variable or "" for each in reached} & wanting, key=by_number)
            if leaves and all(visit.left[slot] is None for visit in visits):
                returned = [part for part in ast.walk(backward) if isinstance(part, ast.Return)]
                yield diagnosis.warning(
                    "backward_gives_none",
                    returned[-1] if returned else backward,
                    tensors=leaves[:8],
                    nodes=(node.id,),
                    function=node.type.removesuffix("Backward"),
                    argument=names[slot],
                    names=diagnosis.say_all(leaves),
                )
                return


def _enters(visit: Visit) -> bool:
    return any(entered is not None for entered in visit.entered)


def backward_ignores_gradient(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A custom backward that never reads the gradient it is given, in the middle of a graph, or that returns something
    for one of its inputs that does not come of it."""
    roots = {root.node for pass_ in diagnosis.trace.passes for root in pass_.roots}
    inner = [node for node in diagnosis.trace.nodes if node.id in diagnosis.visited and node.id not in roots]
    used = {node.type: node for node in inner}
    for owner in (node for node in diagnosis.code.nodes if isinstance(node, ast.ClassDef)):
        node = used.get(f"{owner.name}Backward")
        backward = next((part for part in owner.body if getattr(part, "name", "") == "backward"), None)
        if node is None or not isinstance(backward, ast.FunctionDef) or len(backward.args.args) != 2:
            continue
        given = backward.args.args[1].arg
        returns = [part.value for part in ast.walk(backward) if isinstance(part, ast.Return)]
        visits = diagnosis.visits_of.get(node.id, ())
        is_some = any(size_of(diagnosis.tensors.get(left or "")) for visit in visits for left in visit.left)
        if (
            not is_some
            or _is_of_one(diagnosis, visits)
            or any(value is None or isinstance(value, ast.Constant) for value in returns)
        ):
            continue
        is_read = given in names_read(backward)
        loose = _made_without(diagnosis, backward, node) if is_read else next(iter(returns), None)
        if is_read and loose is None:
            continue
        made = (part for part in ast.walk(backward) if isinstance(part, ast.Assign) and is_read)
        named = [part for part in made if dotted(part.targets[0]) == dotted(loose) != ""]
        yield diagnosis.warning(
            "backward_ignores_gradient",
            named[-1] if named else loose if loose is not None else node.code,
            nodes=(node.id,),
            function=owner.name,
            given=given,
            is_read=str(int(is_read)),
            part=diagnosis.code.short(loose) if loose is not None else given,
        )


def _is_of_one(diagnosis: Diagnosis, visits: Iterable[Visit]) -> bool:
    """Whether the gradient that came in was 1, or is not known: then leaving it out changes nothing."""
    return any(extent(diagnosis.tensors.get(visit.entered[0] or "")) in ((1, 1), None) for visit in visits)


def _made_without(diagnosis: Diagnosis, backward: ast.FunctionDef, node: Node) -> ast.expr | None:
    """The first of the gradients that a backward returns which does not come of the one it is given, where that is not
    1 and the other not 0; what a Function hands its input on for, as for a loss beside it, is on purpose."""
    op, visits = diagnosis.op_of_node(node.id), diagnosis.visits_of.get(node.id, ())
    returns = [part.value for part in ast.walk(backward) if isinstance(part, ast.Return)]
    is_plain = not any(isinstance(part, ast.FunctionDef) for part in ast.walk(backward) if part is not backward)
    if op is None or _hands_on(diagnosis, op) or not is_plain or len(returns) != 1:
        return None
    parts = returns[0].elts if isinstance(returns[0], ast.Tuple) else []
    parts = [part for part in parts if not isinstance(part, ast.Constant)]
    led = _led_to(backward, backward.args.args[1].arg)
    for at, part in enumerate(parts if len(parts) == len(node.edges) else ()):
        is_some = all(size_of(diagnosis.tensors.get(visit.left[at] or "")) for visit in visits)
        if is_some and names_read(part).isdisjoint(led):
            return part
    return None


def _led_to(function: ast.FunctionDef, given: str) -> set[str]:
    """The names whose values may come of one in a function: a call that stands alone may write into all it is told."""
    led, size = {given}, 0
    statements = [part for part in ast.walk(function) if isinstance(part, ast.stmt) and part is not function]
    while size < len(led):
        size = len(led)
        for part in statements:
            heads = (child for child in ast.iter_child_nodes(part) if not isinstance(child, ast.stmt))
            if isinstance(part, ast.Return) or led.isdisjoint(name for head in heads for name in names_read(head)):
                continue
            written = part.targets if isinstance(part, ast.Assign) else [part]
            led |= {name.id for target in written for name in ast.walk(target) if isinstance(name, ast.Name)}
    return led
