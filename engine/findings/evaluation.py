"""What a model is measured by and is not what it is taken for: data standardised by their own figures, counts that go
on from epoch to epoch."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis
from engine.program.names import called, dotted, names_read
from engine.program.tree import Loop, assigned
from engine.trace import Finding


def totals_overwritten(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`loss = criterion(...)` and then `loss += loss.item()` in a loop before which `loss` was 0: no sum, only the last
    turn's."""
    code = diagnosis.code
    grown = [node for node in code.nodes if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)]
    for added in (node for node in grown if diagnosis.has_run(node)):
        name, block = dotted(added.target), code.block(added)
        loop = next(iter(code.loops(added)), None)
        reads = [node for node in ast.walk(added.value) if isinstance(node, ast.Call) and called(node) == "item"]
        if loop is None or not any(name in names_read(read) for read in reads):  # a loss may well be built on itself
            continue
        made = [
            each
            for each in block[: block.index(added)]
            if isinstance(each, ast.Assign) and dotted(each.targets[0]) == name and name not in names_read(each.value)
        ]
        begins = [
            statement
            for statement in code.bindings
            for target, value in assigned(statement)
            if dotted(target) == name and isinstance(value, ast.Constant) and value.value == 0
        ]
        if made and any(code.runs_before(begin, loop) for begin in begins):
            yield diagnosis.warning(
                "total_overwritten",
                made[-1],
                name=name,
                code=code.short(made[-1]),
                added=code.short(added),
                added_line=str(added.lineno),
            )


def totals_never_reset(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A count that begins before the loop over epochs, grows inside, and is divided by what one epoch has."""
    code = diagnosis.code
    totals = {
        dotted(node.target): node
        for node in code.nodes
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and diagnosis.has_run(node)
    }
    for name, added in totals.items():
        loops, begins = code.loops(added), code.assignments(code.stands_for(name))
        is_count = isinstance(added.value, ast.Constant) or _is_length(added.value)  # how many epochs have gone by
        if len(loops) < 2 or len(begins) != 1 or not isinstance(begins[0].value, ast.Constant) or is_count:
            continue
        epoch = loops[-1]
        share = _share_of_one_turn(diagnosis, name, loops, totals)
        if epoch in code.loops(begins[0]) or share is None or not code.runs_before(begins[0], epoch):
            continue
        yield diagnosis.warning(
            "total_never_reset",
            added,
            fix=(code.line_above(epoch.body[0], f"{name} = {code.text(begins[0].value)}"),),
            name=name,
            start_line=str(begins[0].lineno),
            loop_line=str(epoch.lineno),
            share=code.short(share),
            is_rate=str(int(any(isinstance(part, ast.Compare) for part in ast.walk(added.value)))),
            read_line=str(share.lineno),
        )


def _is_length(node: ast.expr) -> bool:
    """Whether it says how many rows something has: `len(x)`, `x.size(0)`, `x.shape[0]`."""
    of_shape = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return of_shape or (isinstance(node, ast.Call) and called(node) in ("len", "size"))


def _share_of_one_turn(
    diagnosis: Diagnosis, name: str, loops: list[Loop], totals: dict[str, ast.AugAssign]
) -> ast.BinOp | None:
    """Where a count is divided, in the outer loop and below the inner one, by something that does not grow with it."""
    inner, epoch = loops[-2:]
    within = list(ast.walk(epoch))
    grown = {other for other in totals if not any(made in within for made in diagnosis.code.assignments(other))}
    if isinstance(epoch, ast.For):
        grown.update(node.id for node in ast.walk(epoch.target) if isinstance(node, ast.Name))
    for share in (node for node in within if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        divisor = names_read(share.right)
        is_below = share.lineno > (inner.end_lineno or inner.lineno)
        if name in names_read(share.left) and is_below and divisor and divisor.isdisjoint(grown):
            return share
    return None


def best_is_the_model(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`best_model = model` in the turns that beat a record: a second name for what goes on learning."""
    code = diagnosis.code
    calls = [(code.call_at(call.span), call.module) for call in diagnosis.trace.calls if call.parent is None]
    for binding, target, value in ((each, *pair) for each in code.bindings for pair in assigned(each)):
        loop, choice = next(iter(code.loops(binding)), None), code.enclosing(binding, ast.If)
        if loop is None or not isinstance(choice, ast.If) or not dotted(value) or not diagnosis.has_run(binding):
            continue
        asked = {dotted(each) for each in ast.walk(choice.test)} if isinstance(choice.test, ast.Compare) else set()
        stored = [dotted(to) for each in choice.body if isinstance(each, ast.Assign) for to, _ in assigned(each)]
        is_last = any(isinstance(each, ast.Break | ast.Return) for each in choice.body)
        if asked.isdisjoint(filter(None, stored)) or is_last or loop not in [*code.around(choice)]:
            continue
        runs = {own for call, own in calls if call and dotted(call.func) == dotted(value) and loop in code.loops(call)}
        learnt = [leaf for own in runs for leaf in diagnosis.leaves_of.get(own, ()) if leaf in diagnosis.stepped]
        steps = filter(None, (code.at(step.span) for step in diagnosis.steps))
        is_anew = any(loop in code.loops(each) for each in code.assignments(dotted(value)))
        read = (
            each for each in code.nodes if isinstance(each, ast.Name | ast.Attribute) and dotted(each) == dotted(target)
        )
        later = [each for each in read if each.lineno > (loop.end_lineno or loop.lineno)]
        if len(runs) == 1 and learnt and later and not is_anew and any(loop in code.loops(each) for each in steps):
            is_known = "copy" in code.imported
            yield diagnosis.warning(
                "best_is_the_model",
                binding,
                tensors=learnt[:8],
                fix=(code.replace(value, f"copy.deepcopy({code.text(value)})"),) if is_known else (),
                name=dotted(target),
                model=dotted(value),
                read_line=str(later[0].lineno),
            )
