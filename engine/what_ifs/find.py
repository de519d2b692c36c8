"""Finds what a run could be done otherwise in. An edit is offered only for what certainly is at its place: a call that
ran there and did nothing else, a statement of its own, a name that is bound once."""

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from engine.program.edits import in_line
from engine.program.names import dotted
from engine.program.source import Source
from engine.trace import Op, Span, Trace
from engine.trace_index import TraceIndex
from engine.what_ifs.types import FORMAT, WhatIf, WhatIfs

MOST = 400
MOST_OPS = 64
_DRAWING = frozenset(
    "rand randn randint randperm normal bernoulli multinomial rand_like randn_like randint_like dropout alpha_dropout "
    "normal_ uniform_ random_ bernoulli_ exponential_".split()
)
_OTHER_DTYPES = ("float32", "float16", "bfloat16", ".float()", ".half()", "FloatTensor", "set_default_dtype")
"""Where a program names a dtype, the default one does not decide."""
_DOUBLE = "(lambda value: (value.register_hook(lambda grad: 2 * grad), value)[1])("


def what_ifs(trace: Trace) -> WhatIfs:
    """What a run could be done otherwise in, in the order of the program; what is at no place of it stands first."""
    index = TraceIndex(trace)
    source = index.code
    found = (each for family in _FAMILIES for each in family(index, source))
    in_order = sorted(islice(found, MOST), key=lambda each: _place(each.span))
    return WhatIfs(format=FORMAT, run=trace.id, what_ifs=tuple(in_order))


def _place(span: Span | None) -> tuple[int, int]:
    return (span.line, span.column) if span is not None else (0, 0)


def _detached(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """`(x * 2).detach()` to `(x * 2)`."""
    for call, ops in _calls(index, source, lambda op: op.name == "detach"):
        name = call.func
        if not isinstance(name, ast.Attribute) or name.attr != "detach" or call.args or call.keywords:
            continue
        whole, end = source.span(call), source.span(name)
        dot = source.lines[end.end_line - 1].rfind(".", 0, end.end_column)
        if end.end_line == whole.end_line and dot >= 0:
            edit = in_line(end.end_line, dot, whole.end_column, "")
            yield WhatIf(code="not_detached", edits=(edit,), span=whole, name=source.short(call), ops=_ids(ops))


def _unrecorded(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """`with torch.no_grad():` to `with torch.enable_grad():`, where something ran under it."""
    quiet = [op for op in index.trace.ops if op.grad_mode == "no_grad" and op.span is not None]
    for call in source.calls:
        above = source.parents.get(call)
        block = source.parents.get(above) if isinstance(above, ast.withitem) else above
        is_head = isinstance(block, ast.With) or (isinstance(block, ast.FunctionDef) and call in block.decorator_list)
        if not is_head or not isinstance(call.func, ast.Attribute) or call.func.attr != "no_grad" or call.args:
            continue
        assert isinstance(block, ast.With | ast.FunctionDef)
        first, last = block.body[0].lineno, block.end_lineno or block.lineno
        ops = [op for op in quiet if op.span is not None and first <= op.span.line <= last]
        if ops:
            end = source.span(call.func)
            edit = in_line(end.end_line, end.end_column - len("no_grad"), end.end_column, "enable_grad")
            yield WhatIf(code="recorded", edits=(edit,), span=source.span(call), name=source.short(call), ops=_ids(ops))


def _resets(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """A statement that resets gradients to `pass`."""
    spans = {update.span: None for update in index.trace.updates if update.kind in ("zero_grad", "grad_reset")}
    for span in spans:
        statement = source.statement_at(span)
        if statement is None or not isinstance(statement, ast.Expr | ast.Assign):
            continue
        yield WhatIf(
            code="not_reset",
            edits=(source.replace(statement, "pass"),),
            span=source.span(statement),
            name=source.short(statement),
        )


def _gradients(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """What an operation's result receives, doubled or cut, where backward came through it."""
    for node, ops in _expressions(index, source):
        if not any(one in index.visits_of for op in ops for one in op.nodes):
            continue
        span, name = source.span(node), source.short(node)
        double = (source.before(node, _DOUBLE), source.after(node, ")"))
        yield WhatIf(code="gradient_doubled", edits=double, span=span, name=name, ops=_ids(ops))
        cut = source.method(node, ".detach()")
        yield WhatIf(code="gradient_cut", edits=cut, span=span, name=name, ops=_ids(ops))


def _frozen(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """A leaf that got a gradient, where others did too; told to require none behind the line that makes it."""
    got = {index.identity(each.tensor): None for one in index.trace.passes for each in one.accumulations if each.delta}
    if len(got) < 2:
        return
    modules = {variable.name for variable in index.trace.variables if variable.kind == "module"}
    for leaf in got:
        name = index.name(leaf)
        root, _, path = name.partition(".")
        bound = source.assignments(root)
        if len(bound) != 1 or not source.runs_once(bound[0]) or (path and root not in modules):
            continue
        owner = f"{root}.get_parameter({path!r})" if path else root
        if edits := source.line_after(bound[0], f"{owner}.requires_grad_(False)"):
            yield WhatIf(code="frozen", edits=edits, span=source.span(bound[0]), name=name, tensor=leaf)


def _seeds(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """Another seed: in the program where it sets its own, else for the whole run."""
    seeds = [call.args[0] for call in source.calls if dotted(call.func) == "torch.manual_seed" and len(call.args) == 1]
    for seed in seeds:
        if isinstance(seed, ast.Constant) and type(seed.value) is int and seed.value < 2**31:
            edit = source.replace(seed, str(seed.value + 1))
            yield WhatIf(code="other_seed", edits=(edit,), span=source.span(seed), name=str(seed.value + 1))
    is_random = bool(index.trace.modules) or next(index.ops_named(_DRAWING), None) is not None
    if not seeds and is_random:
        other = (index.trace.program.seed or 0) + 1
        yield WhatIf(code="other_seed", seed=other, name=str(other))


def _double_precision(index: TraceIndex, source: Source) -> Iterator[WhatIf]:
    """The default dtype, where nothing else says one."""
    code = index.trace.program.code
    if any(dtype in code for dtype in _OTHER_DTYPES) or not any(
        each.dtype == "float32" for each in index.trace.tensors
    ):
        return
    for statement in source.tree.body:
        is_torch = isinstance(statement, ast.Import) and any(
            alias.name == "torch" and alias.asname is None for alias in statement.names
        )
        if is_torch and (edits := source.line_after(statement, "torch.set_default_dtype(torch.float64)")):
            yield WhatIf(code="float64", edits=edits)
            return


_FAMILIES: tuple[Callable[[TraceIndex, Source], Iterator[WhatIf]], ...] = (
    _detached, _unrecorded, _resets, _frozen, _seeds, _double_precision, _gradients
)  # fmt: skip


def _calls(index: TraceIndex, source: Source, wanted: Callable[[Op], bool]) -> Iterator[tuple[ast.Call, Sequence[Op]]]:
    """Calls of the program by the ops they were, all of one kind."""
    for span in {op.span: None for op in index.trace.ops if wanted(op)}:
        call = source.call_at(span)
        ops = index.ops_at(span)
        if call is not None and all(wanted(op) for op in ops):
            yield call, ops


def _expressions(index: TraceIndex, source: Source) -> Iterator[tuple[ast.expr, Sequence[Op]]]:
    """Expressions of the program whose value is the result of one recorded op each time they are evaluated."""
    for span in {op.span: None for op in index.trace.ops if op.nodes}:
        node = source.at(span)
        ops = index.ops_at(span)
        is_one = len({(op.name, op.module) for op in ops}) == 1 and len({op.iteration for op in ops}) == len(ops)
        is_plain = all(op.nodes and len(op.outputs) == 1 and not op.in_place and not op.raised for op in ops)
        if isinstance(node, ast.expr) and is_one and is_plain and _gives_a_value(node, source):
            yield node, ops


def _gives_a_value(node: ast.expr, source: Source) -> bool:
    """Whether something else can stand in its place; the parts of an f-string have no places of their own."""
    is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return is_read and not any(isinstance(above, ast.JoinedStr) for above in source.around(node))


def _ids(ops: Sequence[Op]) -> tuple[str, ...]:
    return tuple(op.id for op in ops[:MOST_OPS])
