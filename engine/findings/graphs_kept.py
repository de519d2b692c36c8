"""Graphs that are kept longer than anyone needs them."""

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, islice

from engine.findings.diagnosis import Diagnosis, grouped
from engine.program.names import called, dotted
from engine.program.source import Source
from engine.program.tree import assigned
from engine.trace import Finding, Op, Pass, Tensor


def losses_kept(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A list of tensors that still hold their graphs after their passes."""
    code = diagnosis.code
    done = [pass_ for pass_ in diagnosis.trace.passes if pass_.kind == "backward" and not pass_.create_graph]
    appends = [
        (call, _owner(code, call.func.value))
        for call in code.calls
        if called(call) == "append" and isinstance(call.func, ast.Attribute) and len(call.args) == 1
    ]
    roots = {root.tensor for pass_ in done for root in pass_.roots}
    for variable in diagnosis.trace.variables:
        kept = _with_graph(diagnosis, (tensor for tensor in variable.tensors if tensor in roots))
        call = next((call for call, owner in appends if owner == variable.name and code.in_loop(call)), None)
        if variable.type == "list" and len(kept) >= 2 and call is not None:
            yield _kept(diagnosis, call, kept)
    yield from islice(_kept_in_functions(diagnosis, appends, done), 1)


def _kept_in_functions(
    diagnosis: Diagnosis, appends: Iterable[tuple[ast.Call, str]], done: Iterable[Pass]
) -> Iterator[Finding]:
    """The same with a list that only a function, an object or a dictionary knows: what is appended is what a pass there
    began at."""
    code = diagnosis.code
    empty = dict(_empty_lists(code))
    for call, owner in appends:
        made, name = empty.get(owner), dotted(call.args[0])
        is_hidden = code.is_in_function(call) or owner.endswith("]")
        if made is None or not name or not is_hidden or call.lineno in diagnosis.trace.lines_not_run:
            continue
        if not code.in_loop(call) and code.function(made) is code.function(call):
            continue
        passes = [pass_ for pass_ in done if _begins_at(code, pass_, name, call)]
        kept = _with_graph(
            diagnosis, (root.tensor for pass_ in passes for root in pass_.roots if root.tensor is not None)
        )
        if len(kept) >= 2:
            yield _kept(diagnosis, call, kept)


def _owner(code: Source, node: ast.expr) -> str:
    """What a list was called where it was made."""
    if isinstance(node, ast.Subscript):
        return f"{_owner(code, node.value)}[{ast.unparse(node.slice)}]"
    return code.stands_for(dotted(node), node) or ast.unparse(node)


def _empty_lists(code: Source) -> Iterator[tuple[str, ast.Assign]]:
    """The lists that are made empty, by the names they are reached by: `losses`, `self.history['loss']`."""
    for binding, target, value in ((each, *pair) for each in code.bindings for pair in assigned(each)):
        name = ast.unparse(target)
        match value:
            case ast.List(elts=[]):
                yield name, binding
            case ast.Dict(keys=keys, values=values):
                places = zip(keys, values, strict=True)
                lists = (key for key, value in places if isinstance(value, ast.List) and not value.elts)
                yield from ((f"{name}[{ast.unparse(key)}]", binding) for key in lists if key is not None)


def _begins_at(code: Source, pass_: Pass, name: str, call: ast.Call) -> bool:
    """Whether a pass is written `name.backward()` in the function of a call, and the name is the same thing at both."""
    backward = code.call_at(pass_.span)
    if backward is None or not isinstance(backward.func, ast.Attribute) or dotted(backward.func.value) != name:
        return False
    first, last = sorted((backward.lineno, call.lineno))
    between = (binding for binding in code.bindings if first < binding.lineno < last)
    names = {dotted(target) for binding in between for target, _ in assigned(binding)}
    return name not in names and code.function(backward) is code.function(call)


def _with_graph(diagnosis: Diagnosis, tensors: Iterable[str]) -> list[Tensor]:
    records = (diagnosis.tensors.get(tensor) for tensor in tensors)
    return [tensor for tensor in records if tensor is not None and tensor.grad_fn is not None]


def _kept(diagnosis: Diagnosis, call: ast.Call, kept: list[Tensor]) -> Finding:
    code = diagnosis.code
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call
    return diagnosis.warning(
        "losses_kept",
        call,
        tensors=tuple(tensor.id for tensor in kept[:8]),
        nodes=tuple(tensor.grad_fn.node for tensor in kept[:8] if tensor.grad_fn is not None),
        fix=code.method(call.args[0], ".detach()"),
        list=ast.unparse(owner),
        name=code.short(call.args[0]),
        count=diagnosis.counted(kept),
    )


def totals_kept(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`total += loss`: a running sum whose graph grows by one iteration each time and that nothing goes back through;
    or weights kept as `w = w + lr * change` from one training to the next."""
    code, passes = diagnosis.code, sorted(diagnosis.pass_step.values())
    for turns in grouped(diagnosis.ops_named(("add", "add_", "iadd")), lambda op: op.span).values():
        target, added = _running_sum(diagnosis, turns[0])
        rounds = ((op, _round_before(diagnosis, op)) for op in turns if op.iteration and op.nodes)
        lost = [(op, before) for op, before in rounds if before is not None and not diagnosis.reaches_a_pass(op)]
        total = next((op for op, _ in lost if _adds_a_root(diagnosis, op)), None) if added is not None else None
        is_total = total is not None
        op = total or next((op for op, before in lost if _is_between(diagnosis, before, passes, op)), None)
        if added is None or op is None or not (is_total or _is_never_begun_anew(diagnosis, op)):
            continue
        node = code.at(op.span)
        kept = node if isinstance(node, ast.BinOp) and not is_total else added
        short = code.short(added)
        yield diagnosis.warning(
            "total_kept",
            op,
            tensors=op.outputs[:1],
            fix=code.method(kept, ".detach()"),
            name=target,
            added=short,
            whole=f"({short})" if isinstance(added, ast.BinOp | ast.UnaryOp) else short,
            is_total=str(int(is_total)),
            count=diagnosis.counted(range(_longest(diagnosis, op))),
        )


def _running_sum(diagnosis: Diagnosis, op: Op) -> tuple[str, ast.expr | None]:
    """The name of the total, be a share of it kept, and what is added to it."""
    node = diagnosis.code.at(op.span)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return dotted(node.target), node.value
    statement = diagnosis.code.statement_at(op.span)
    if isinstance(node, ast.BinOp) and isinstance(statement, ast.Assign) and statement.value is node:
        name = ast.unparse(statement.targets[0])
        for kept, added in ((node.left, node.right), (node.right, node.left)):
            parts = [kept.left, kept.right] if isinstance(kept, ast.BinOp) and isinstance(kept.op, ast.Mult) else [kept]
            if name in map(ast.unparse, parts):
                return name, added
    return "", None


def _round_before(diagnosis: Diagnosis, op: Op) -> Op | None:
    """The op of the same place, one round before, whose result is an operand, or a factor of one. What is added
    to a number makes a tensor, to which the next round adds in place."""
    makers = [maker for input_ in op.inputs if (maker := diagnosis.maker.get(input_))]
    factors = [each for maker in makers if maker.name == "mul" for each in maker.inputs]
    makers += [maker for each in factors if (maker := diagnosis.maker.get(each))]
    here = (maker for maker in makers if maker.span == op.span)
    return next((maker for maker in here if maker.iteration < op.iteration or maker.name != op.name), None)


def _longest(diagnosis: Diagnosis, op: Op) -> int:
    """How many rounds of a sum hang together, until it is set back; each layer that runs there has a sum of its own. A
    round whose operand a long loop left out hangs on one that is not known."""
    length: dict[str, int] = {}
    for turn in diagnosis.ops_at(op.span):
        before = _round_before(diagnosis, turn)
        unknown = before is None and any(map(diagnosis.is_followed, _unmade(diagnosis, turn)))
        length[turn.id] = 1 + (length.get(before.id, 1) if before is not None else int(unknown))
    return max(length.values(), default=1)


def _is_between(diagnosis: Diagnosis, before: Op, passes: Sequence[int], op: Op) -> bool:
    """Whether passes ran between two rounds of a sum; their steps are in order."""
    begin, end = (diagnosis.op_step.get(each.id, 0) for each in (before, op))
    return bisect_right(passes, begin) < bisect_left(passes, end)


def _is_never_begun_anew(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether no pass goes through a sum, and no round of it begins at something else than the round before."""
    turns = [turn for turn in diagnosis.ops_at(op.span) if turn.name == op.name]
    begun = dropwhile(lambda turn: _round_before(diagnosis, turn) is None, turns)
    anew = (turn for turn in begun if _round_before(diagnosis, turn) is None)
    is_one = all(any(map(diagnosis.is_followed, _unmade(diagnosis, turn))) for turn in anew)
    is_sum = isinstance(diagnosis.code.at(op.span), ast.BinOp)
    return is_sum and is_one and not any(map(diagnosis.reaches_a_pass, turns))


def _unmade(diagnosis: Diagnosis, op: Op) -> list[str]:
    """The operands of an op whose making is not recorded, as in turns that a long loop left out."""
    return [each for each in op.inputs if each not in diagnosis.maker]


def _adds_a_root(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether what is added is the loss of a pass, or a share of it."""
    roots = {root.node for pass_ in diagnosis.trace.passes for root in pass_.roots}
    shares = [maker for input_ in op.inputs if (maker := diagnosis.maker.get(input_)) and maker.name in ("div", "mul")]
    return any(
        (record := diagnosis.tensors.get(input_)) and record.grad_fn and record.grad_fn.node in roots
        for each in (op, *shares)
        for input_ in each.inputs
    )
