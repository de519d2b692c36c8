"""Lines that run without an error and change nothing: results thrown away, attributes that nobody reads, calls too
early or late."""

import ast
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from itertools import islice

from engine.findings.attention_masks import FUSED
from engine.findings.diagnosis import LEAST_TURNS, RESETS, Diagnosis, argument, grouped, line, number
from engine.findings.leaves import subtraction
from engine.findings.modes import RATES, in_eval, is_drawn_again
from engine.findings.optimizer_code import PARAMETERS
from engine.findings.zeroing import written_at
from engine.ops import LIKES
from engine.program.edits import Edits
from engine.program.names import called, dotted, is_grad_of, keyword, names_read
from engine.program.source import Source
from engine.program.spelling import nearest
from engine.program.tree import defined_in
from engine.trace import Finding, Op, Pass, Update

SAFE_TO_KEEP = frozenset(
    "add sub mul div clamp clip float round abs sqrt exp log relu sigmoid tanh softmax normalize masked_fill scatter"
    " scatter_add index_add index_copy index_fill index_put masked_scatter".split()
)
"""Operations that people write as a statement because they take them for in-place ones, and whose result has the shape
and the type that the rest of the program counts on."""
MAKES_NEW = SAFE_TO_KEEP.union(
    "to half double bfloat16 long int bool cuda cpu view reshape squeeze unsqueeze transpose permute t flatten detach"
    " clone".split()
)
"""All of them."""
CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_"})
BY_SIGN = frozenset("add sub mul div".split())
"""Ops that are written as signs between two operands."""
BY_STEP = BY_SIGN | LIKES | {"lerp"}
"""Ops that give another value for a tensor."""
INFINITIES = ("float('inf')", 'float("inf")', "torch.inf", "math.inf", "np.inf", "inf")
"""Norms that clip nothing: the call measures."""
UNREACHED = 1e4
"""A norm that is asked for to clip nothing either."""
LEAST_ENTRIES = 4
"""Of two lists that belong together and are as long as each other by no chance."""
GRAD_FLAG = "requires_grad"


def results_dropped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`x.add(1)` and `x.to(device)` as statements: the result is new, and nobody keeps it."""
    found = list(_dropped(diagnosis))
    shown = [finding for finding in found if finding.severity == "note"]
    if len(shown) > 1 or _shows_values(diagnosis):
        found = [finding for finding in found if finding.severity != "note"]
    yield from found


def _shows_values(diagnosis: Diagnosis) -> bool:
    """Whether the program names values to look at them, as in a notebook or an interactive session."""
    bare = ast.Name | ast.Attribute | ast.BinOp | ast.Subscript | ast.Compare | ast.Tuple
    return any(
        isinstance(statement, ast.Expr) and isinstance(statement.value, bare) for statement in diagnosis.code.tree.body
    )


def _dropped(diagnosis: Diagnosis) -> Iterator[Finding]:
    code = diagnosis.code
    for statement in code.nodes:
        if not isinstance(statement, ast.Expr):
            continue
        name, making = _worked_on(code, statement.value)
        op = next((ran for ran in diagnosis.ops_at(code.span(statement.value)) if ran.name in making), None)
        if op is None or op.in_place or op.raised or op.pass_id is not None:
            continue
        is_scaled = called(statement.value) == "scale" if isinstance(statement.value, ast.Call) else False
        if (op.inside or diagnosis.is_inside_library(op)) and not is_scaled:
            continue
        given = diagnosis.input_of(op)
        is_of_a_module = given is not None and (diagnosis.is_parameter(given.id) or given.role == "buffer")
        if given is None or not name or is_of_a_module or not _is_used_later(diagnosis, name, statement):
            continue
        yield diagnosis.finding(
            "result_dropped",
            "note" if code.runs_once(statement) else "warning",
            op.span,
            tensors=(given.id,),
            fix=(code.before(statement.value, f"{name} = "),)
            if name.isidentifier() and op.name in SAFE_TO_KEEP and not is_scaled
            else (),
            name=name,
            code=code.short(statement.value),
            right=(meant := assignment_meant(code, statement)),
            is_meant=str(int(bool(meant))),
        )


def assignment_meant(code: Source, statement: ast.stmt | None) -> str:
    """`x = layer(x)` of a line that says `x - layer(x)`, and keeps nothing of it: the keys lie side by side."""
    match statement:
        case ast.Expr(value=ast.BinOp(left=ast.Name(id=name), right=ast.Call() as call)) if name in names_read(call):
            return f"{name} = {code.text(call)}"
    return ""


def _worked_on(code: Source, value: ast.expr) -> tuple[str, Container[str]]:
    """The tensor that an expression computes something new of, as it is written, and the ops that may do it: a call
    with it, or, where no result is shown by being named, a sum or product."""
    match value:
        case ast.Call() as call if called(call) in MAKES_NEW and not keyword(call, "out"):
            return dotted(code.receiver(call)) or (dotted(call.args[0]) if call.args else ""), (called(call),)
        case ast.Call(func=ast.Attribute(attr="scale"), args=[loss]):
            return dotted(loss), ("mul",)
        case ast.BinOp(left=ast.Name(id=name)) if code.is_in_function(value) or code.in_loop(value):
            return name, BY_SIGN
    return "", ()


def _is_used_later(diagnosis: Diagnosis, name: str, statement: ast.stmt) -> bool:
    """Whether the name is read below, or in the next turn, as if it had changed: not by lines that give nothing
    either, as where the time is taken that they need."""
    code, loops = diagnosis.code, set(diagnosis.code.loops(statement))
    if any(isinstance(loop, ast.For) and name in _names_bound(loop) for loop in loops):
        return True
    named = (node for node in code.nodes if isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name)
    reading = [code.statement(node) for node in named if isinstance(node.ctx, ast.Load)]
    used = (each for each in reading if not (isinstance(each, ast.Expr) and _worked_on(code, each.value)[0]))
    return any(each and (each.lineno > statement.lineno or not loops.isdisjoint(code.loops(each))) for each in used)


def flags_without_effect(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`p.require_grad = False`, and `net.layer.requires_grad = False`: Python makes a new attribute that nobody
    reads."""
    code = diagnosis.code
    read = {node.attr for node in code.attributes if isinstance(node.ctx, ast.Load)}
    read |= {str(node.value) for node in code.nodes if isinstance(node, ast.Constant)}  # by getattr
    for statement in code.bindings:
        target, value = statement.targets[0], statement.value
        is_flag = isinstance(value, ast.Name) or (isinstance(value, ast.Constant) and isinstance(value.value, bool))
        if not isinstance(target, ast.Attribute) or not is_flag or statement.lineno in diagnosis.trace.lines_not_run:
            continue
        common = {"line": str(statement.lineno), "code": code.short(statement), "receiver": code.short(target.value)}
        is_meant = target.attr == "trainable" or nearest(target.attr, [GRAD_FLAG])[0]
        if target.attr != GRAD_FLAG and is_meant and target.attr not in read and _is_tensor(diagnosis, target.value):
            yield diagnosis.finding(
                "requires_grad_misspelt",
                "error",
                statement,
                fix=(code.replace(target, f"{code.text(target.value)}.{GRAD_FLAG}"),),
                **common,
                name=target.attr,
            )
        elif target.attr == GRAD_FLAG and _is_module(diagnosis, target.value):
            receiver = code.text(target.value)
            yield diagnosis.finding(
                "requires_grad_of_module",
                "error",
                statement,
                fix=(code.replace(statement, f"{receiver}.requires_grad_({code.text(value)})"),),
                **common,
                value=code.text(value),
            )


def _is_tensor(diagnosis: Diagnosis, node: ast.expr) -> bool:
    """Whether an expression names a tensor: by its own name, or as the parameter of a loop over a model's."""
    if diagnosis.bound_to(node):
        return True
    name, loops = diagnosis.code.stands_for(dotted(node), node), diagnosis.code.loops(node)
    return any(
        isinstance(loop, ast.For)
        and name in {inner.id for inner in ast.walk(loop.target) if isinstance(inner, ast.Name)}
        and isinstance(loop.iter, ast.Call) and called(loop.iter) in ("parameters", "named_parameters")
        for loop in loops
    )  # fmt: skip


def _is_module(diagnosis: Diagnosis, node: ast.expr) -> bool:
    """Whether an expression names a module: `net.fc`, `net[0]`, `self.fc` in its class, or the layer of a loop."""
    path = _path(diagnosis, node)
    owner = diagnosis.code.enclosing(node, ast.ClassDef)
    paths = {module.path for module in diagnosis.trace.modules}
    if isinstance(owner, ast.ClassDef) and path.startswith("self."):
        holders = (module.path for module in diagnosis.trace.modules if module.type == owner.name)
        return any(f"{holder}{path[4:]}" in paths for holder in holders)
    loops = (above for above in diagnosis.code.loops(node) if isinstance(above, ast.For))
    walked = [loop.iter for loop in loops if dotted(loop.target) == path]
    inner = walked[0] if walked else None
    if isinstance(inner, ast.Call) and called(inner) in ("children", "modules") and not inner.args:
        return isinstance(inner.func, ast.Attribute) and _path(diagnosis, inner.func.value) in paths
    holders = (module.path for module in diagnosis.trace.modules if module.type in ("Sequential", "ModuleList"))
    return _path(diagnosis, inner) in holders if inner is not None else path in paths


def _path(diagnosis: Diagnosis, node: ast.expr) -> str:
    own = diagnosis.code.stands_for(dotted(node), node)
    match node:
        case _ if own != dotted(node):
            return own
        case ast.Subscript(value=inner, slice=ast.Constant(value=int() as at)) if at >= 0 and _path(diagnosis, inner):
            return f"{_path(diagnosis, inner)}.{at}"
        case ast.Attribute(value=inner, attr=name) if _path(diagnosis, inner):
            return f"{_path(diagnosis, inner)}.{name}"
        case ast.Name(id=name):
            return name
    return ""


def clipped_at_the_wrong_time(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Gradients clipped before backward has made them, or after the step has used them."""
    code = diagnosis.code
    for call in code.calls:
        statement = code.parents.get(call)
        if called(call) not in (*CLIPS, "clamp_") or not isinstance(statement, ast.Expr | ast.Assign):
            continue
        block = code.block(statement)
        while isinstance(above := code.parents.get(statement), ast.If) and not _calls_any(block, "backward", "step"):
            statement, block = above, code.block(above)
        at = block.index(statement) if statement in block else 0
        passes = [number for number, other in enumerate(block) if _calls(other, "backward")]
        steps = [
            number for number, other in enumerate(block) if _calls(other, "step") and not _calls(other, "backward")
        ]
        limits = map(code.text, call.args[1:])
        is_measured = any(limit in INFINITIES or (number(limit) or 0) >= UNREACHED for limit in limits)
        if is_measured or call.lineno in diagnosis.trace.lines_not_run:
            continue
        found: tuple[str, str, Edits] | None = None
        if called(call) == "clamp_" or not passes or not steps:
            used, later = _used_before(diagnosis, call), _given_after(diagnosis, call)
            if used is not None:
                found = "clip_after_step", line(used.span), ()
            elif later is not None:
                found = "clip_before_backward", line(later.span), ()
        elif at < min(passes) and at < min(steps) and not _is_taken(diagnosis, call):
            other = block[min(passes)]
            found = "clip_before_backward", str(other.lineno), code.moved(statement, after=other)
        elif at > max(steps) > max(passes):
            other = block[min(steps)]
            found = "clip_after_step", str(other.lineno), code.moved(statement, before=block[max(steps)])
        if found is not None:
            yield diagnosis.warning(found[0], call, fix=found[2], op=called(call), other_line=found[1])


def _is_taken(diagnosis: Diagnosis, call: ast.Call) -> bool:
    """Whether a step ever took what a clipping left, before another pass added to it."""
    span, updates = diagnosis.code.span(call), diagnosis.trace.updates
    clips = [each for each in updates if each.kind == "grad_set" and each.span == span]
    moved = written_at(diagnosis, ("step",), diagnosis.leaf_of) if clips else {}
    for clip in clips:
        at = diagnosis.update_step.get(clip.id, -1)
        for leaf in (diagnosis.gradient_owner.get(gradient, "") for gradient in diagnosis.changed_by(clip)):
            step = next((move for move in moved.get(leaf, ()) if move > at), None)
            again = next((begin for begin, _ in diagnosis.gradient_steps.get(leaf, ()) if begin > at), step)
            if step is not None and again is not None and step <= again:
                return True
    return False


def _given_after(diagnosis: Diagnosis, call: ast.Call) -> Pass | None:
    """The pass after a clipping that found no gradients each time it ran, where nothing else changes them: of the one
    model that there is, all of which is trained."""
    measures = diagnosis.ops_at(diagnosis.code.span(call))
    is_one = len({root.id for root in diagnosis.root_of.values()}) == 1
    is_trained = diagnosis.root_of.keys() <= diagnosis.fed & diagnosis.held
    given = call.args[0] if call.args else None
    is_whole = isinstance(given, ast.Call) and dotted(given.func).endswith(".parameters") and is_one and is_trained
    if not measures or not is_whole or any(each.kind == "grad_set" for each in diagnosis.trace.updates):
        return None
    at = diagnosis.op_step.get(measures[0].id, 0)
    later = (pass_ for pass_ in diagnosis.ended if diagnosis.pass_step.get(pass_.id, -1) > at)
    return next(later, None) if not any(op.inputs for op in measures) else None


def _used_before(diagnosis: Diagnosis, call: ast.Call) -> Update | None:
    """The update that had used the gradients which a call then changes, when each time it had, and nothing uses them
    again before they are reset."""
    span = diagnosis.code.span(call)
    clips = [each for each in diagnosis.trace.updates if each.kind == "grad_set" and each.span == span]
    owners = diagnosis.gradient_owner
    moved = written_at(diagnosis, ("step", "data", "in_place"), diagnosis.leaf_of) if clips else {}
    reset = written_at(diagnosis, RESETS, lambda id_: owners.get(diagnosis.identity(id_))) if clips else {}
    for clip in clips:
        at = diagnosis.update_step.get(clip.id, -1)
        for leaf in (owners.get(gradient, "") for gradient in diagnosis.changed_by(clip)):
            passes = [begin for begin, _ in diagnosis.gradient_steps.get(leaf, ())]
            made = max((begin for begin in passes if begin < at), default=at)
            again = min((begin for begin in passes if begin > at), default=None)
            moves = [move for move in moved.get(leaf, ()) if made < move and (again is None or move < again)]
            is_reset = again is None or any(at < zero < again for zero in reset.get(leaf, ()))
            if not moves or max(moves) > at or not is_reset:
                return None
    first = diagnosis.update_step.get(clips[0].id, -1) if clips else -1
    return next((move for move in reversed(diagnosis.moves) if diagnosis.update_step[move.id] < first), None)


def _calls(statement: ast.stmt, method: str) -> bool:
    """Whether it is a plain call of that method: `loss.backward()`, `opt.step()`."""
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == method


def _calls_any(block: list[ast.stmt], *methods: str) -> bool:
    return any(_calls(statement, method) for statement in block for method in methods)


def updates_lost(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`for p in params: p = p - lr * p.grad`, or `p = q` beside it: the name of the loop, or of what a function was
    given, means something new, the parameter stays."""
    code = diagnosis.code
    for statement in code.bindings:
        name, loop = dotted(statement.targets[0]), code.enclosing(statement, ast.For)
        function = code.function(statement)
        names = {each.arg for each in function.args.args} if isinstance(function, ast.FunctionDef) else set[str]()
        if not name.isidentifier() or name not in (names | (_names_bound(loop) if loop is not None else set())):
            continue
        update = subtraction(code, statement) if code.stands_alone(statement) else ""
        is_by_grad = any(is_grad_of(node, name) for node in ast.walk(statement.value))
        ops = diagnosis.ops_at(code.span(statement.value)) if update and is_by_grad else ()
        is_step = bool(ops) and not any(diagnosis.takers.get(output) for op in ops for output in op.outputs)
        is_plain = loop is not None and _is_of_same_turn(diagnosis, statement, loop)
        if is_step or is_plain or _is_untaken(diagnosis, statement, name):
            is_under = any(isinstance(above, ast.With) for above in code.around(statement))
            text = update if update and is_under else f"{name}.data.copy_({code.text(statement.value)})"
            is_whole = not is_plain or (loop is not None and _is_of_models(loop.iter))
            fix = (code.replace(statement, text),) if is_whole else ()
            said = {"name": name, "code": code.short(statement), "is_plain": str(int(is_plain))}
            yield diagnosis.warning("update_lost", statement, fix=fix, **said)


def _is_of_same_turn(diagnosis: Diagnosis, statement: ast.Assign, loop: ast.For) -> bool:
    """Whether a loop over parameters gives one of its names what another stands for, and nothing reads it after."""
    name, value = dotted(statement.targets[0]), dotted(statement.value).removesuffix(".data")
    is_of_loop = value != name and {value, name} <= _names_bound(loop)
    is_over = any(_is_of_models(each) for each in ast.walk(loop.iter))
    return is_of_loop and is_over and diagnosis.has_run(statement) and not _is_read_below(diagnosis, statement, name)


def _is_of_models(node: ast.AST) -> bool:
    """Whether it goes over parameters of models alone."""
    if isinstance(node, ast.Call) and called(node) == "zip":
        return all(map(_is_of_models, node.args))
    return isinstance(node, ast.Call) and called(node) in PARAMETERS


def parameters_rebound(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`w = m.weight` and then `w = torch.randn(w.shape)`: the name means something new that nobody reads, the parameter
    stays."""
    code = diagnosis.code
    members = {member.name for module in diagnosis.trace.modules for member in module.parameters}
    taken: dict[tuple[ast.AST | None, str], ast.Assign] = {}
    lost: dict[ast.AST | None, list[ast.Assign]] = defaultdict(list)
    for statement in sorted(code.bindings, key=lambda each: each.lineno):
        name, function = dotted(statement.targets[0]), code.function(statement)
        owner, _, member = dotted(statement.value).removesuffix(".data").rpartition(".")
        if name.isidentifier() and owner and member in members:
            taken[function, name] = statement
        elif (function, name) in taken and isinstance(statement.value, ast.Call | ast.BinOp):
            is_beside = taken.pop((function, name)) in code.block(statement)
            if is_beside and diagnosis.has_run(statement) and not _is_read_below(diagnosis, statement, name):
                lost[function].append(statement)
    for statements in lost.values():
        names = [dotted(statement.targets[0]) for statement in statements]
        made = [code.text(statement.value) for statement in statements]
        yield diagnosis.warning(
            "update_lost",
            statements[0],
            fix=tuple(map(code.replace, statements, map("{}.data.copy_({})".format, names, made))),
            name=names[0],
            code=code.short(statements[0]),
            is_plain="0",
        )


def _is_read_below(diagnosis: Diagnosis, statement: ast.Assign, name: str) -> bool:
    """Whether its function reads a name further down; what one gives back that `apply` runs, or whose calls are all
    statements, nobody takes."""
    code, function = diagnosis.code, diagnosis.code.function(statement)
    applied = {dotted(call.args[0]) for call in code.calls if called(call) == "apply" and len(call.args) == 1}
    is_applied = isinstance(function, ast.FunctionDef) and function.name in applied
    calls = code.calls_to(function) if isinstance(function, ast.FunctionDef) else []
    is_applied |= bool(calls) and all(isinstance(code.parents.get(call), ast.Expr) for call in calls)
    below = (node for node in code.nodes if isinstance(node, ast.stmt) and node.lineno > statement.lineno)
    reading = [node for node in below if code.function(node) is function and name in names_read(node)]
    return any(not (is_applied and isinstance(node, ast.Return)) for node in reading)


def _is_untaken(diagnosis: Diagnosis, statement: ast.Assign, name: str) -> bool:
    """Whether it computes another value from the tensor of that name, which a model, an optimizer or a list keeps, and
    nothing ever reads the result."""
    code = diagnosis.code
    ops = diagnosis.ops_at(code.span(statement.value))
    made = [diagnosis.tensors[output] for op in ops if op.name in BY_STEP for output in op.outputs]
    if not ops or len(made) < len(ops) or any(diagnosis.takers.get(each.id) for each in made):
        return False
    read = [node for node in ast.walk(statement.value) if dotted(node) == name]
    above = {each for node in read for each in islice(code.around(node), 2) if isinstance(each, ast.expr)}
    taken = [given for each in above for op in diagnosis.ops_at(code.span(each)) for given in op.inputs]
    turns, stored = Counter(map(diagnosis.identity, taken)), _storages_of_models(diagnosis)
    leaves = (
        each
        for each in taken
        if diagnosis.is_tracked_leaf(each)
        or diagnosis.tensors[each].storage in stored
        or turns[diagnosis.identity(each)] >= LEAST_TURNS
    )
    is_as_large = {diagnosis.tensors[each].shape for each in leaves}.issuperset(each.shape for each in made)
    return is_as_large and not _is_read_below(diagnosis, statement, name)


def _storages_of_models(diagnosis: Diagnosis) -> set[str | None]:
    members = (member for module in diagnosis.trace.modules for member in (*module.parameters, *module.buffers))
    return {record.storage for member in members if (record := diagnosis.tensors.get(member.tensor)) is not None}


def _names_bound(loop: ast.For | ast.comprehension) -> set[str]:
    return {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}


def dropouts_ignoring_eval(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`F.dropout(x)` without `training=self.training`, or attention with a `dropout_p`, in a module that is in eval
    mode."""
    code = diagnosis.code
    ops = diagnosis.ops_named(tuple(RATES)) if any(not call.training for call in diagnosis.trace.calls) else ()
    evaluated = in_eval(diagnosis) if ops else set()
    for op in ops:
        call = code.call_at(op.span)
        if diagnosis.op_at[op.id] not in evaluated or not _drops_always(op, call) or is_drawn_again(diagnosis, op):
            continue
        yield diagnosis.warning(
            "dropout_ignores_eval",
            op,
            tensors=op.outputs[:1],
            fix=_told_the_mode(diagnosis, call) if call is not None else (),
            model=diagnosis.module_path(op),
            is_attention=str(int(op.name == FUSED)),
        )
        return


def _drops_always(op: Op, call: ast.Call | None) -> bool:
    if (
        call is None
        or called(call) != op.name
        or keyword(call, "training")
        or not number(argument(op, *RATES[op.name]))
    ):
        return False
    return op.name == FUSED or argument(op, "training") == "True"


def _told_the_mode(diagnosis: Diagnosis, call: ast.Call) -> Edits:
    """The mode of the module given to a function that drops."""
    code, function, rate = diagnosis.code, diagnosis.code.function(call), keyword(call, "dropout_p")
    if function is None or not function.args.args or function.args.args[0].arg != "self":
        return ()
    if called(call) == FUSED:
        is_plain = rate is not None and isinstance(rate.value, ast.Name | ast.Attribute | ast.Constant)
        return (code.after(rate.value, " if self.training else 0.0"),) if rate is not None and is_plain else ()
    return (code.argument_added(call, "training=self.training"),) if len(call.args) < 3 else ()


def arguments_never_used(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Tensors, as a mask or a second target, and lists with an entry for each of another, that a forward or a function
    is given and that no line of it reads; a single number, as the time that a solver gives to any right side, need not
    matter."""
    code = diagnosis.code
    told: set[tuple[str, str]] = set()
    for function, said, call in _calls_of_own(diagnosis):
        taken = [arg.arg for arg in function.args.args if arg.arg != "self"]
        is_whole = not any(isinstance(each, ast.Starred) for each in call.args)
        places = zip(taken, call.args, strict=False) if is_whole else ()
        for name, node in (*places, *((word.arg, word.value) for word in call.keywords)):
            is_read = name is None or name.startswith("_") or not {name, "locals"}.isdisjoint(names_read(function))
            if name is None or is_read or (said, name) in told:
                continue
            if any(tensor.shape for tensor in diagnosis.bound_to(node)) or _runs_along(diagnosis, call, node):
                told.add((said, name))
                yield diagnosis.warning(
                    "argument_never_used",
                    code.head(function),
                    name=name,
                    given=code.short(node),
                    call_line=str(node.lineno),
                    function=said,
                )


def _runs_along(diagnosis: Diagnosis, call: ast.Call, node: ast.expr) -> bool:
    """Whether it is a list of the program with as many entries as another that the call is given."""
    others = [_entries(diagnosis, each) for each in call.args if dotted(each) != dotted(node)]
    return _entries(diagnosis, node) >= LEAST_ENTRIES and _entries(diagnosis, node) in others


def _entries(diagnosis: Diagnosis, node: ast.expr) -> int:
    """How many entries a list is written with, or how many numbers it holds at the end; 0 where that is not known."""
    if isinstance(written := diagnosis.value_of(dotted(node)), ast.List) and written.elts:
        return len(written.elts)
    lists = {bound.name: bound.text or "" for bound in diagnosis.trace.variables if bound.type == "list"}
    try:
        return len(ast.literal_eval(lists.get(dotted(node), "()")))
    except (ValueError, SyntaxError):  # of something else than numbers, or cut
        return 0


def _calls_of_own(diagnosis: Diagnosis) -> Iterator[tuple[ast.FunctionDef, str, ast.Call]]:
    """Calls of the program's own models and functions, with the one definition that they lead to."""
    code = diagnosis.code
    types = {module.id: module.type for module in diagnosis.trace.modules}
    ran = {types.get(call.module, ""): call for call in diagnosis.trace.calls if not call.raised}
    for kind, call in ran.items():
        classes, written = code.classes(kind), code.call_at(call.span)
        forward = defined_in(classes[0], "forward") if len(classes) == 1 else None
        if isinstance(forward, ast.FunctionDef) and written is not None:
            yield forward, f"{kind}.forward", written
    free = [
        each for each in code.functions if isinstance(each, ast.FunctionDef) and not code.enclosing(each, ast.ClassDef)
    ]
    calls = grouped(code.calls, lambda call: call.func.id if isinstance(call.func, ast.Name) else "")
    for name, alike in grouped(free, lambda function: function.name).items():
        called_so = calls.get(name, ()) if len(alike) == 1 else ()
        yield from ((alike[0], name, each) for each in called_so if diagnosis.has_run(each))


def pluses_without_effect(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`dx++2`, `++i` and `i =+ 1`: the second plus is the sign of a number, and changes nothing."""
    code = diagnosis.code
    for node in code.nodes:
        if not isinstance(node, ast.Expr | ast.Assign | ast.BinOp) or not diagnosis.has_run(node):
            continue
        text, name, kind = code.text(node), "", ""
        match node:
            case ast.Expr(value=ast.UnaryOp(op=ast.UAdd(), operand=ast.UnaryOp(op=ast.UAdd(), operand=inner))):
                name, kind = code.text(inner), "counted"
            case ast.Assign(targets=[target], value=ast.UnaryOp(op=ast.UAdd(), operand=inner)):
                name, kind = code.text(target), "assigned"
                if f"=+ {code.text(inner)}" not in text:
                    continue
            case ast.BinOp(left=left, op=ast.Add(), right=ast.UnaryOp(op=ast.UAdd(), operand=inner)):
                name, kind = code.text(left), "added"
                if f"{name}++{code.text(inner)}" not in text.replace(" ++ ", "++"):
                    continue
            case _:
                continue
        yield diagnosis.warning(
            "plus_without_effect",
            node,
            code=code.short(node),
            name=name,
            value=code.text(inner),
            is_counted=str(int(kind == "counted")),
            is_added=str(int(kind == "added")),
            is_assigned=str(int(kind == "assigned")),
        )
