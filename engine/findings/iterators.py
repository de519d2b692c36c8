"""What can be gone through only once and is gone through again, when nothing is left."""

import ast
from collections.abc import Iterator
from itertools import takewhile

from engine.findings.diagnosis import Diagnosis, by_number, grouped
from engine.findings.optimizer_code import PARAMETERS
from engine.program.names import called, dotted, names_read
from engine.program.tree import Loop, given_by
from engine.trace import Finding

BUILT_IN = frozenset("iter zip map filter enumerate reversed chain from_iterable".split())
METHODS = frozenset((*PARAMETERS, *"buffers named_buffers modules named_modules children chain from_iterable".split()))
"""Functions and methods that give their things one by one, and only once."""
WHOLE = frozenset("list tuple set dict sorted sum max min".split())
CLIPS = frozenset(("clip_grad_norm_", "clip_grad_value_"))
"""What goes through all that it is given."""
_AROUND = frozenset("enumerate tqdm list tuple sorted".split())
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_MAYBE = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.Lambda)


def gives_once(diagnosis: Diagnosis, value: ast.expr) -> bool:
    """Whether an expression makes something that can be gone through only once."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.GeneratorExp)
    own = [function for function in diagnosis.code.functions if function.name == called(value)]
    if own:
        inside = [*ast.walk(own[0])]
        yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside)
        return len(own) == 1 and yields and not own[0].decorator_list
    return called(value) in (METHODS if isinstance(value.func, ast.Attribute) else BUILT_IN)


def used_up(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`pairs = zip(xs, ys)` that each epoch goes through, `clip(model.parameters())` with two loops over them in
    `clip`: all but the first find nothing."""
    code = diagnosis.code
    found = [(value, read) for read in _gone_through(diagnosis) for value in _made(diagnosis, read)]
    for value, pairs in grouped(found if diagnosis.trace.failure is None else (), lambda pair: pair[0]).items():
        reads = sorted((read for _, read in pairs), key=lambda read: (read.lineno, read.col_offset))
        again = next((each for read in reads if (each := _again(diagnosis, value, read, reads)) is not None), None)
        if again is None or not gives_once(diagnosis, value):
            continue
        read, first = again
        text = code.text(value)
        kept = f"list{text}" if isinstance(value, ast.GeneratorExp) else f"list({text})"
        if isinstance(value, ast.Call) and called(value) == "iter" and len(value.args) == 1:
            kept = code.text(value.args[0])
        yield diagnosis.warning(
            "generator_looped_twice",
            read,
            tensors=sorted(diagnosis.held, key=by_number)[:8],
            fix=(code.replace(value, f"({kept})" if _is_bare(diagnosis, value) else kept),),
            name=dotted(read),
            given=code.short(value),
            kept=kept,
            call_line=str(value.lineno),
            first_line=str(first.lineno),
            is_turn=str(int(isinstance(first, Loop))),
        )


def _is_bare(diagnosis: Diagnosis, value: ast.expr) -> bool:
    """Whether the brackets of a call are those of a generator too: `fit(x for x in xs)`."""
    above = diagnosis.code.parents.get(value)
    is_alone = isinstance(above, ast.Call) and [*above.args, *above.keywords] == [value]
    return is_alone and isinstance(value, ast.GeneratorExp)


def _gone_through(diagnosis: Diagnosis) -> Iterator[ast.expr]:
    """The names that a loop, a comprehension or a call goes through to the end."""
    optimizers = {step.optimizer or "" for step in diagnosis.steps}
    for node in diagnosis.code.nodes:
        match node:
            case ast.For(iter=over) if not _is_left(diagnosis, node):
                pass
            case ast.ListComp(generators=[one, *_]) | ast.SetComp(generators=[one, *_]):
                over = one.iter
            case ast.Call(args=[first, *_]) if called(node) in optimizers | WHOLE | CLIPS:
                over = first.generators[0].iter if isinstance(first, ast.GeneratorExp) else first
            case _:
                continue
        while isinstance(over, ast.Call) and called(over) in _AROUND and len(over.args) == 1:
            over = over.args[0]
        if dotted(over) and diagnosis.has_run(over):
            yield over


def _is_left(diagnosis: Diagnosis, loop: Loop) -> bool:
    """Whether a loop may end before its time, or stand still in between."""
    ways = (node for each in loop.body for node in ast.walk(each))
    leaves = (node for node in ways if isinstance(node, ast.Break | ast.Return | ast.Yield | ast.YieldFrom))
    return any(diagnosis.has_run(node) for node in leaves)


def _made(diagnosis: Diagnosis, read: ast.expr) -> Iterator[ast.expr]:
    """What a name is where it is read, when it is bound nowhere else: as calls of its function give it, or bound by
    one assignment."""
    code, name = diagnosis.code, dotted(read)
    function = code.function(read)
    if function is not None and name in {taken.arg for taken in function.args.args}:
        if name in {dotted(node) for node in ast.walk(function) if isinstance(getattr(node, "ctx", None), ast.Store)}:
            return
        given = [each for call in code.calls_to(function) if (each := given_by(call, function, name)) is not None]
    else:
        given = code.values(name) if code.stores[name] == 1 else []
    for value in given:
        if not dotted(value):
            yield value
        elif code.stores[dotted(value)] == 1:
            yield from code.values(dotted(value))


def _again(
    diagnosis: Diagnosis, value: ast.expr, read: ast.expr, reads: list[ast.expr]
) -> tuple[ast.expr, Loop | ast.expr] | None:
    """A reading that comes when all has been given; and the one before it, or the loop of which one turn has had it."""
    code = diagnosis.code
    statement, around = code.statement(read), {*code.runs_in(value)}
    for earlier in reads if statement is not None else ():
        begun = code.statement(earlier)
        if begun is not None and statement is not None and code.runs_before(begun, statement):
            return (read, earlier) if _is_sure(diagnosis, earlier, around) else None
    own = {*ast.walk(statement)} if isinstance(statement, ast.For) and read in ast.walk(statement.iter) else set()
    loop = next((each for each in code.loops(read) if each not in own and each not in around), None)
    if loop is None or not _is_sure(diagnosis, read, {loop}) or not _turns_again(diagnosis, loop, own, value):
        return None
    is_given = isinstance(code.parents.get(value), ast.Call | ast.keyword)
    is_once = all(code.only_call(each) for each in around if isinstance(each, ast.FunctionDef))
    return (read, loop) if is_given or is_once or code.function(loop) is code.function(value) else None


def _is_sure(diagnosis: Diagnosis, read: ast.expr, until: set[ast.AST]) -> bool:
    """Whether it runs whenever something around it does."""
    inside = takewhile(lambda above: above not in until, diagnosis.code.runs_in(read))
    return not any(isinstance(above, _MAYBE) and "__name__" not in names_read(above) for above in inside)


def _turns_again(diagnosis: Diagnosis, loop: Loop, own: set[ast.AST], value: ast.expr) -> bool:
    """Whether a loop is known to have turned more than once, apart from what a part of it does: it counts so far, or
    an op right in it ran again."""
    code = diagnosis.code
    leaves = (node for node in ast.walk(loop) if isinstance(node, _LEAVES) and node not in own)
    if any(diagnosis.has_run(node) for node in leaves):
        return False
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name("range"), args=[end])):
            made = diagnosis.value_of(dotted(end)) if dotted(end) else end
            if isinstance(made, ast.Constant) and isinstance(made.value, int) and made.value > 1:
                return True
    placed = (code.at(op.span) for op in diagnosis.trace.ops if op.iteration and not code.loops(value))
    return any(isinstance(node, ast.AST) and code.statement(node) in loop.body for node in placed)
