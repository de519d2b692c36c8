"""Tensors that are not the leaves they were meant to be."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import UNKNOWN, Diagnosis, by_number, line, listed, says
from engine.ops import MAKES_LEAF
from engine.program.edits import Edits
from engine.program.names import called, dotted, is_grad_of, keyword
from engine.program.source import Source
from engine.trace import Finding, Op, Span, Tensor

PIECES = ("unbind", "getitem", "select", "split", "chunk", "narrow")
STEPS_TOO_FAR = 4
SMALL_STEPS = frozenset(
    "mul add sub div rdiv rsub neg to float double half bfloat16 cuda cpu type view reshape unsqueeze squeeze flatten"
    " t T transpose permute clone contiguous".split()
)
"""What people do to a tensor while they make it."""


def gradients_not_kept(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`.grad` read from a tensor that keeps none; PyTorch warns of it."""
    meant = meant_as_leaves(diagnosis)
    for warning in diagnosis.trace.warnings:
        if "that is not a leaf Tensor is being accessed" not in warning.message:
            continue
        node = diagnosis.code.at(warning.span)
        name = dotted(node.value) if isinstance(node, ast.Attribute) else ""
        attribute = f"self.{name.rpartition('.')[2]}"  # `l.w` from without is `self.w` in its class
        own = name if name in meant else attribute if "." in name else ""
        if len(meant) == 1 and name in _taken_in_turn(diagnosis):
            name = own = next(iter(meant))
        if own in meant:
            yield _one_step_too_far(diagnosis, name, *meant[own])
            return
        if name in _rebound(diagnosis):
            return  # told by `leaves_rebound`
        made = _last_result(diagnosis, node.value) if isinstance(node, ast.Attribute) else None
        maker = diagnosis.maker.get(made.id) if made is not None else None
        is_early = made is not None and node is not None and _is_before_passes(diagnosis, node, made)
        yield diagnosis.warning(
            "grad_of_non_leaf",
            warning.span,
            tensors=(made.id,) if made is not None else (),
            nodes=(made.grad_fn.node,) if made is not None and made.grad_fn is not None else (),
            fix=_retained(diagnosis, name, maker) if not is_early else (),
            is_early=str(int(is_early)),
            name=name or diagnosis.code.excerpt(warning.span).removesuffix(".grad"),
            op=maker.name if maker is not None else UNKNOWN,
            made_line=line(maker.span if maker is not None else None),
        )


def _taken_in_turn(diagnosis: Diagnosis) -> set[str]:
    """The names that loops give what they go through, such as `p` of a list of parameters."""
    return {dotted(node.target) for node in diagnosis.code.nodes if isinstance(node, ast.For)}


def _last_result(diagnosis: Diagnosis, node: ast.expr) -> Tensor | None:
    """The result that an expression last gave; of a name of the program the last that is not only made below."""
    code, bound = diagnosis.code, diagnosis.bound_to(node)
    here = (diagnosis.tensors[output] for op in diagnosis.ops_at(code.span(node)) for output in op.outputs)
    named = [] if code.is_in_function(node) else [one for one in diagnosis.trace.tensors if dotted(node) in one.names]
    made = {one.id: maker.span if (maker := diagnosis.maker.get(one.id)) is not None else None for one in named + bound}
    own = (one for one in named if (at := code.statement_at(made[one.id])) is not None and not code.is_in_function(at))
    held = (one for one in (*own, *bound) if not _is_before(diagnosis, node, made[one.id]))
    computed = [tensor for tensor in (*here, *held) if tensor.grad_fn is not None]
    return computed[-1] if computed else None


def _is_before(diagnosis: Diagnosis, node: ast.AST, later: Span | None) -> bool:
    """Whether the one time that a node is read is over when the program first comes to another place."""
    code = diagnosis.code
    first, second = code.statement(node), code.statement_at(later)
    return first is not None and second is not None and not code.in_loop(node) and code.runs_before(first, second)


def _is_before_passes(diagnosis: Diagnosis, node: ast.AST, read: Tensor) -> bool:
    """Whether all passes that came to a tensor begin below."""
    own = read.grad_fn.node if read.grad_fn is not None else ""
    passes = [one for one in diagnosis.trace.passes if any(visit.node == own for visit in one.visits)]
    return bool(passes) and all(_is_before(diagnosis, node, one.span) for one in passes)


def _retained(diagnosis: Diagnosis, name: str, maker: Op | None) -> Edits:
    statement = diagnosis.code.statement_at(maker.span) if maker is not None else None
    if not isinstance(statement, ast.Assign) or dotted(statement.targets[0]) != name or not name.isidentifier():
        return ()
    return diagnosis.code.line_after(statement, f"{name}.retain_grad()")


def meant_as_leaves(diagnosis: Diagnosis) -> dict[str, tuple[ast.Assign, ast.Call, Op]]:
    """Names bound to something computed, in the same expression, from a fresh tensor with `requires_grad=True`."""
    code = diagnosis.code
    found: dict[str, tuple[ast.Assign, ast.Call, Op]] = {}
    for statement in code.bindings:
        name = dotted(statement.targets[0])
        inner = [
            call
            for call in ast.walk(statement.value)
            if isinstance(call, ast.Call) and call is not statement.value and _asks_for_gradient(call)
        ]
        if not name or len(inner) != 1 or statement.value is inner[0]:
            continue
        for op in diagnosis.ops_at(code.span(statement.value)):
            result = diagnosis.output_of(op)
            if result is not None and result.grad_fn is not None and _starts_at_a_nameless_leaf(diagnosis, op):
                found[name] = statement, inner[0], op
    return found


def _asks_for_gradient(call: ast.Call) -> bool:
    return says(call, "requires_grad") == "True"


def _starts_at_a_nameless_leaf(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it only reshapes, converts or scales a leaf that has no name of its own."""
    maker: Op | None = op
    for _ in range(STEPS_TOO_FAR):
        tracked = list(filter(diagnosis.is_tracked, maker.inputs)) if maker is not None else []
        if maker is None or maker.name not in SMALL_STEPS or len(tracked) != 1 or diagnosis.has_names(tracked[0]):
            return False
        if diagnosis.is_tracked_leaf(tracked[0]):
            return True
        maker = diagnosis.maker.get(tracked[0])
    return False


def _one_step_too_far(diagnosis: Diagnosis, name: str, statement: ast.Assign, call: ast.Call, op: Op) -> Finding:
    return diagnosis.warning(
        "leaf_made_non_leaf",
        statement.value,
        tensors=op.outputs[:1],
        nodes=op.nodes,
        fix=asked_last(diagnosis, statement, call),
        name=name,
        op=op.name,
    )


def asked_last(diagnosis: Diagnosis, statement: ast.Assign, call: ast.Call) -> Edits:
    """`requires_grad` taken from the inner call and asked for at the end of the expression."""
    word = keyword(call, "requires_grad")
    if word is None:
        return ()
    code = diagnosis.code
    return (*code.argument_removed(call, word), *code.method(statement.value, ".requires_grad_()"))


def untracked_gradients(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`.grad` read from a tensor that took part but was made without `requires_grad`."""
    code = diagnosis.code
    if not any(pass_.accumulations for pass_ in diagnosis.trace.passes):
        return
    read = {
        dotted(node.value): node
        for node in reversed(code.attributes)
        if node.attr == "grad" and isinstance(node.ctx, ast.Load) and not _is_asked(diagnosis, node)
        and diagnosis.has_run(node)
        and not all(_is_before(diagnosis, node, pass_.span) for pass_ in diagnosis.trace.passes)
    }  # fmt: skip
    for name, node in read.items():
        alike = diagnosis.bound_to(node.value)
        if not alike or not all(_could_have_had_one(diagnosis, tensor) for tensor in alike):
            continue
        record = alike[-1]
        yield diagnosis.warning(
            "grad_of_untracked",
            node,
            tensors=(record.id,),
            fix=_asked_for(diagnosis, name),
            name=name,
        )


def _is_asked(diagnosis: Diagnosis, node: ast.Attribute) -> bool:
    """Whether it stands in a test such as `x.grad is None`, or another part of it is read."""
    above = diagnosis.code.parents.get(node)
    return isinstance(above, ast.Compare) and any(
        isinstance(side, ast.Constant) and side.value is None for side in (above.left, *above.comparators)
    )


def _could_have_had_one(diagnosis: Diagnosis, record: Tensor) -> bool:
    """Whether it is plain data of floating point that a pass used and that was never tracked."""
    identity = diagnosis.identity(record.id)
    states = [tensor for tensor in diagnosis.trace.tensors if identity in (tensor.id, tensor.identity)]
    is_float = record.dtype.startswith(("float", "bfloat"))
    if record.role != "leaf" or not is_float or not record.is_leaf or any(state.requires_grad for state in states):
        return False
    used = (op for state in states for op in diagnosis.takers.get(state.id, ()))
    return any(map(diagnosis.reaches_a_pass, used))


def _asked_for(diagnosis: Diagnosis, name: str) -> Edits:
    call = diagnosis.value_of(name)
    if not isinstance(call, ast.Call) or called(call) not in MAKES_LEAF or keyword(call, "requires_grad") is not None:
        return ()
    return (diagnosis.code.argument_added(call, "requires_grad=True"),)


def leaves_rebound(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`w = w - lr * w.grad`: the name now stands for a result, and the next pass leaves it without gradient."""
    rebound = _rebound(diagnosis)
    if not rebound:
        return
    code = diagnosis.code
    name, (statement, _) = next(iter(rebound.items()))
    fixes = [_updated_in_place(diagnosis, again) for again, _ in rebound.values()]
    leaves = [given for _, op in rebound.values() for given in op.inputs if diagnosis.is_tracked_leaf(given)]
    yield diagnosis.warning(
        "leaf_rebound",
        statement.value,
        tensors=[*(output for _, op in rebound.values() for output in op.outputs[:1]), *leaves],
        nodes=[node for _, op in rebound.values() for node in op.nodes],
        fix=tuple(edit for fix in fixes for edit in fix) if all(fixes) else (),
        name=name,
        names=listed(list(rebound)),
        line=str(statement.lineno),
        code=code.short(statement),
    )


def _rebound(diagnosis: Diagnosis) -> dict[str, tuple[ast.Assign, Op]]:
    code = diagnosis.code
    found: dict[str, tuple[ast.Assign, Op]] = {}
    turned = [each for node in code.nodes if isinstance(node, ast.For) for each in ast.walk(node.target)]
    lent = {each.arg for each in code.nodes if isinstance(each, ast.arg)} | {*map(dotted, turned)}
    for statement in code.bindings:
        name = dotted(statement.targets[0])
        if not name or not any(is_grad_of(node, name) for node in ast.walk(statement.value)):
            continue
        others = (node for node in ast.walk(statement.value) if not is_grad_of(code.parents.get(node, node), name))
        if not any(dotted(node) == name for node in others):
            continue  # the gradient alone is not the tensor
        for op in diagnosis.ops_at(code.span(statement.value)):
            result = diagnosis.output_of(op)
            if result is None or result.grad_fn is None:
                continue
            if (name in lent or diagnosis.takers.get(result.id)) and not diagnosis.reaches_a_pass(op):
                continue  # what is trained on is a new leaf with its numbers, or the old one under another name
            if any(map(diagnosis.is_tracked_leaf, op.inputs)):
                found.setdefault(name, (statement, op))
    return found


def _updated_in_place(diagnosis: Diagnosis, statement: ast.Assign) -> Edits:
    update = subtraction(diagnosis.code, statement)
    if not update or statement.lineno != statement.end_lineno:
        return ()
    head = diagnosis.code.indent(statement, "with torch.no_grad():")
    if not head:
        return ()
    name, text = dotted(statement.targets[0]), head[0].text
    is_reset = any(f"{name}.grad{reset}" in diagnosis.trace.program.code for reset in (".zero_", " = None"))
    reset = "" if is_reset else f"{text.partition(':')[2]}{name}.grad = None"
    return (diagnosis.code.replace(statement, text + update + reset),)


def subtraction(code: Source, statement: ast.Assign) -> str:
    """`w -= step` for `w = w - step`; empty for anything else."""
    match statement.value:
        case ast.BinOp(left=left, op=ast.Sub(), right=right) if dotted(left) == dotted(statement.targets[0]) != "":
            return f"{code.text(statement.targets[0])} -= {code.text(right)}"
    return ""


def parameters_made_in_forward(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`nn.Parameter(...)` in `forward`: a new leaf at each call, which no optimizer knows."""
    code = diagnosis.code
    loose = {tensor.id for tensor in diagnosis.trace.tensors if tensor.role == "parameter" and tensor.identity is None}
    leaves = sorted(loose & diagnosis.fed, key=by_number)
    for call in code.calls if any(leaf not in diagnosis.root_of for leaf in leaves) else ():
        functions = (above for above in code.runs_in(call) if isinstance(above, ast.FunctionDef))
        if called(call) != "Parameter" or not any(function.name == "forward" for function in functions):
            continue
        statement = code.statement(call)
        kept = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)
        if kept and any(isinstance(above, ast.If) for above in code.around(call)):
            continue  # made at the first call and kept
        name = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        own = [leaf for leaf in leaves if leaf not in diagnosis.root_of or name in diagnosis.tensors[leaf].names]
        yield diagnosis.warning("parameter_made_in_forward", call, tensors=own, count=str(len(own)))


def asked_of_new_pieces(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`autograd.grad` of a loss for a slice that was taken anew, and that the loss was not computed from: None, where
    unused inputs are allowed."""
    for pass_ in diagnosis.ended:
        for asked, result in zip(pass_.inputs or (), pass_.results, strict=False) if pass_.kind == "grad" else ():
            maker = diagnosis.maker.get(asked or "") if result is None else None
            record = diagnosis.tensors.get(asked or "")
            if maker is None or record is None or record.grad_fn is None or maker.name not in PIECES:
                continue
            reached = diagnosis.reached_from(root.node for root in pass_.roots if root.node is not None)
            leaf = maker.inputs[0]
            is_used = diagnosis.is_tracked_leaf(leaf) and diagnosis.leaf_nodes.get(diagnosis.identity(leaf)) in reached
            call = diagnosis.code.call_at(pass_.span)
            if is_used and record.grad_fn.node not in reached and call is not None and len(call.args) > 1:
                yield diagnosis.warning(
                    "asked_of_new_piece",
                    pass_.span,
                    tensors=(record.id, leaf),
                    nodes=maker.nodes[-1:],
                    name=diagnosis.code.short(call.args[1]),
                    leaf=diagnosis.say(leaf),
                    root=diagnosis.code.short(call.args[0]),
                    made_line=line(maker.span),
                )
                return
