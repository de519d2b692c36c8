"""Values that the program's text keeps in vain: a counter that nothing counts up, an argument that is overlooked for an
attribute of the same name, or that a gradient is asked for and nothing reads, what a hook makes and does not return,
and what is written into a tensor after its last reading."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import LEAST_TURNS, Diagnosis, grouped, is_alike, line, near
from engine.findings.no_effect import MAKES_NEW
from engine.ops import FILLS, READS
from engine.program.names import called, dotted, names_read
from engine.trace import Finding, Op

FEWEST = 3
"""Steps of an optimizer in a training that a counter would count."""
BEGINS = (0, 1)
_SLOPES = ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian")
"""What differentiates a function in its first argument."""
_MAY_CHANGE = {"tensor": (1, 0), "forward": (3, 2), "backward": (3, 1)}
"""How many arguments kinds of hooks get, and which of them is replaced by what they return."""


def counters_that_stand(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`if self.steps % period == 0`, where `steps` is given one number and nothing ever changes it."""
    code = diagnosis.code
    for test in (node for node in code.nodes if isinstance(node, ast.If) and len(diagnosis.steps) >= FEWEST):
        for part in ast.walk(test.test):
            name = dotted(part.left) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) else ""
            if not name or not diagnosis.has_run(test) or not (code.function(test) or code.in_loop(test)):
                continue
            made = code.assignments(name)
            start = made[0].value if len(made) == 1 else None
            is_count = isinstance(start, ast.Constant) and start.value in BEGINS  # a size is not counted up
            if not isinstance(start, ast.Constant) or not is_count or _is_changed(code.nodes, name):
                continue
            if code.function(made[0]) is code.function(test) and not code.in_loop(test):
                continue
            yield diagnosis.warning(
                "counter_stands",
                test.test,
                name=name,
                value=str(start.value),
                made_line=str(made[0].lineno),
                test=code.short(test.test),
                is_end="0",
            )


def ends_that_stand(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`while epoch < most and loss > least`, where `loss` is a number from above the loop that no line changes."""
    code = diagnosis.code
    for loop in (node for node in code.nodes if isinstance(node, ast.While) and diagnosis.has_run(node)):
        both = loop.test.values if isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And) else []
        written = {dotted(each) for each in ast.walk(loop) if isinstance(getattr(each, "ctx", None), ast.Store)}
        for part in both if any(written & names_read(each) for each in both) else []:
            compared = [part.left, *part.comparators] if isinstance(part, ast.Compare) else []
            for name in map(dotted, compared if all(_stays(diagnosis, each, written) for each in compared) else ()):
                made = code.assignments(name)
                start = made[0].value if len(made) == 1 and code.follows(made[0], loop) else None
                if isinstance(start, ast.Constant) and not _is_changed(code.nodes, name):
                    yield diagnosis.warning(
                        "counter_stands",
                        part,
                        name=name,
                        value=str(start.value),
                        made_line=str(made[0].lineno),
                        test=code.short(part),
                        is_end="1",
                    )


def _stays(diagnosis: Diagnosis, node: ast.expr, written: set[str]) -> bool:
    """Whether it is a number, or a name that stands for one and that neither some writing nor a function changes."""
    code = diagnosis.code
    if not isinstance(node, ast.Name):
        return isinstance(node, ast.Constant)
    own = [code.parents.get(each) for each in code.nodes if isinstance(each, ast.Name) and each.id == node.id]
    is_global = any(node.id in each.names for each in code.nodes if isinstance(each, ast.Global | ast.Nonlocal))
    is_tensor = any(node.id in each.names for each in diagnosis.trace.tensors)
    is_holder = any(isinstance(above, ast.Subscript | ast.Attribute) for above in own)
    return node.id not in written and not is_global | is_tensor | is_holder


def _is_changed(nodes: list[ast.AST], name: str) -> bool:
    """Whether something but one assignment gives a name or attribute a value: `+=`, a loop, another object's."""
    last = name.rpartition(".")[2]
    for node in nodes:
        is_written = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        written = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if is_written and written == last and (dotted(node) != name or _is_in_place(nodes, node)):
            return True
        if isinstance(node, ast.arg) and node.arg == last:
            return True
        if isinstance(node, ast.Constant) and node.value == last:  # as in setattr(self, "steps", …)
            return True
    return False


def _is_in_place(nodes: list[ast.AST], target: ast.AST) -> bool:
    """Whether it is written by something else than `name = …`."""
    plain = (node for node in nodes if isinstance(node, ast.Assign) and len(node.targets) == 1)
    return not any(node.targets[0] is target for node in plain)


def arguments_overlooked(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`tau = self.tau if tau is None else tau`, and below it only `self.tau` is read: what was handed over counts for
    nothing."""
    code = diagnosis.code
    for function in code.functions:
        given = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
        inside = [node for node in ast.walk(function) if isinstance(node, ast.Name | ast.Attribute)]
        inside.sort(key=lambda node: node.lineno)
        for name in given - {"self", "cls"}:
            own = [node for node in inside if isinstance(node, ast.Name) and node.id == name]
            settled = [node for node in own if isinstance(node.ctx, ast.Store)]
            is_settled = any(_falls_back(code.parents.get(node), f"self.{name}") for node in settled)
            line = max((node.lineno for node in settled), default=0)
            read = [node.lineno for node in own if isinstance(node.ctx, ast.Load) and node.lineno > line]
            used = [
                node
                for node in inside
                if isinstance(node, ast.Attribute) and dotted(node) == f"self.{name}" and node.lineno > line
            ]
            if not is_settled or read or not used or not diagnosis.has_run(used[0]):
                continue
            yield diagnosis.warning(
                "argument_overlooked",
                used[0],
                fix=tuple(code.replace(node, name) for node in used),
                name=name,
                attribute=f"self.{name}",
                settled_line=str(line),
            )


def arguments_without_slope(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`torch.func.grad(loss_of)` of a function that never reads its first argument: the gradient is 0."""
    code = diagnosis.code
    for call in (each for each in code.calls if called(each) in _SLOPES and each.args and diagnosis.has_run(each)):
        function = next((each for each in code.functions if each.name == dotted(call.args[0])), None)
        name = function.args.args[0].arg if function is not None and function.args.args else ""
        if function is None or not name or name == "self" or len(call.args) > 1 or call.keywords:
            continue
        if name not in {node for statement in function.body for node in names_read(statement)}:
            yield diagnosis.warning(
                "argument_without_slope",
                function,
                name=name,
                function=function.name,
                asked=called(call),
                asked_line=str(call.lineno),
            )


def results_of_hooks_lost(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A hook that gives its name for the output of a layer or for a gradient another value, and returns nothing."""
    code = diagnosis.code
    ran = {hook.span.line: hook for hook in diagnosis.trace.hooks if hook.span is not None and hook.kind in _MAY_CHANGE}
    changing = {hook.function for hook in diagnosis.trace.hooks if hook.after is not None}
    for function in code.functions if ran else ():
        hook = ran.get(function.lineno)
        arguments = [each.arg for each in function.args.args if each.arg != "self"]
        count, at = _MAY_CHANGE[hook.kind] if hook is not None else (0, 0)
        if hook is None or len(arguments) - len(function.args.defaults) != count or hook.function in changing:
            continue
        name, inside = arguments[at], list(ast.walk(function))
        bound = [each for each in inside if isinstance(each, ast.Assign) and dotted(each.targets[0]) == name]
        end = function.body[-1]
        is_dropped = isinstance(end, ast.Expr) and _is_made_of(end.value, name)
        last = end if is_dropped else max(bound, key=lambda each: each.lineno, default=None)
        returns = any(isinstance(each, ast.Return) and each.value is not None for each in inside)
        if last is None or returns or any(_is_below(each, last, name) for each in inside):
            continue
        yield diagnosis.warning(
            "hook_output_lost",
            last,
            fix=(code.before(end.value, "return "),)
            if isinstance(end, ast.Expr) and is_dropped
            else code.line_after(end, f"return {name}"),
            name=name,
            code=code.short(last),
            result=code.short(end.value) if isinstance(end, ast.Expr) and is_dropped else name,
            function=function.name,
            hook_line=line(hook.registered),
            is_gradient=str(int(hook.kind != "forward")),
        )


def _is_made_of(value: ast.expr, name: str) -> bool:
    """Whether an expression computes a new tensor of a name: `grad.clamp(-1, 1)`, `torch.clamp(grad, -1, 1)`."""
    return isinstance(value, ast.Call) and called(value) in MAKES_NEW and name in names_read(value)


def _is_below(node: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Whether a name is read below a statement."""
    is_it = isinstance(node, ast.Name) and node.id == name and node.lineno > (statement.end_lineno or 0)
    return is_it and name in names_read(node)


def _falls_back(statement: ast.AST | None, attribute: str) -> bool:
    """Whether a statement gives a name the value of an attribute, perhaps only where it has none."""
    match statement.value if isinstance(statement, ast.Assign) else None:
        case ast.IfExp(body=one, orelse=other):
            return attribute in (dotted(one), dotted(other))
        case ast.BoolOp(values=values):
            return attribute in map(dotted, values)
        case ast.Attribute() as whole:
            return dotted(whole) == attribute
    return False


def written_after_the_last_reading(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`target = r + g * q` and then `q[done] = 0`, where nothing reads `q` again in any turn."""
    code, writes = diagnosis.code, (op for op in diagnosis.trace.ops if op.in_place and op.inputs and op.outputs)
    own: dict[str | None, set[str]] = {}
    for tensor in diagnosis.trace.tensors:
        own.setdefault(tensor.storage, set()).add(diagnosis.identity(tensor.id))
    for span, turns in grouped(writes, lambda op: op.span).items():
        statement, name = code.statement_at(span), diagnosis.name(turns[0].inputs[0])
        is_first = len({diagnosis.identity(op.inputs[0]) for op in turns}) == len(turns) >= LEAST_TURNS
        if statement is None or not is_first or turns[0].name in FILLS or not _is_last(diagnosis, statement, name):
            continue
        readings = [_read_in_vain(diagnosis, op, own) for op in turns]
        reading = readings[0]
        if reading is None or None in readings or not any(_changes(diagnosis, op) for op in turns):
            continue
        before, block = code.statement_at(reading.span), code.block(statement)
        is_next = before in block and block.index(statement) - block.index(before) == 1
        yield diagnosis.warning(
            "written_too_late",
            statement,
            tensors=(turns[0].inputs[0], *reading.outputs[:1]),
            fix=code.moved(statement, before=before) if is_next else (),
            name=name,
            code=code.short(statement),
            read=code.short(before) if before is not None else code.excerpt(reading.span),
            read_line=line(reading.span),
        )


def _is_last(diagnosis: Diagnosis, statement: ast.stmt, name: str) -> bool:
    """Whether its function reads a name only above a statement that writes into it, and no other function does."""
    code, inside = diagnosis.code, {*ast.walk(statement)}
    names = [each for each in code.nodes if isinstance(each, ast.Name) and each.id == name and each not in inside]
    is_own = all(code.function(each) is code.function(statement) for each in names) or code.function(statement)
    read = [each for each in names if isinstance(each.ctx, ast.Load) and each.lineno >= statement.lineno]
    is_read_here = any(code.function(each) is code.function(statement) for each in read)
    is_kept = any(_may_keep(diagnosis, each) for each in names if isinstance(each.ctx, ast.Load))
    is_target = any(isinstance(each, ast.Name) and each.id == name for each in inside)
    return name.isidentifier() and is_target and bool(names) and bool(is_own) and not is_read_here | is_kept


def _may_keep(diagnosis: Diagnosis, read: ast.Name) -> bool:
    """Whether what reads a name may keep the tensor: as another name, in a list, or in a call that is no op."""
    above = diagnosis.code.parents.get(read)
    keeping = ast.Assign | ast.Tuple | ast.List | ast.Dict | ast.keyword | ast.Starred | ast.Return | ast.Yield
    is_call = isinstance(above, ast.Call) and not diagnosis.ops_at(diagnosis.code.span(above))
    return isinstance(above, keeping) or is_call


def _read_in_vain(diagnosis: Diagnosis, write: Op, own: dict[str | None, set[str]]) -> Op | None:
    """The last op before a write that read the tensor and led to a pass; None where one reads it later, or another
    tensor shares its memory."""
    tensor, at = diagnosis.identity(write.inputs[0]), diagnosis.op_at[write.id]
    record, maker = diagnosis.tensors.get(tensor), diagnosis.maker.get(tensor)
    if record is None or maker is None or maker.in_place or own.get(record.storage) != {tensor}:
        return None
    states = {tensor, *write.inputs[:1], *write.outputs}
    takers = [taker for state in states for taker in diagnosis.takers.get(state, ()) if taker is not write]
    is_kept = any(diagnosis.op_at[taker.id] > at or taker.name in READS for taker in takers)
    for taker in reversed(takers) if not is_kept else ():
        later = (diagnosis.takers.get(made, ()) for made in near(taker.outputs, diagnosis.made_of))
        if not taker.in_place and any(diagnosis.reaches_a_pass(user) for users in later for user in users):
            return taker
    return None


def _changes(diagnosis: Diagnosis, write: Op) -> bool:
    """Whether other numbers stand in a tensor after a write."""
    return not is_alike(diagnosis.input_of(write), diagnosis.output_of(write))
