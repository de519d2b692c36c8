"""Leaves that got no gradient, and the line that cut them off."""

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from engine.findings.diagnosis import UNKNOWN, Diagnosis, by_number, extent, fed_by, line, near, says, walk
from engine.findings.unrecorded import cut_by_checkpoint, is_off_in_library, lost_influence, switched
from engine.findings.ways import Cut, collected_reads, cuts, is_target, starved_leaves, wanting_leaves
from engine.ops import DETACHES, MAKES_LEAF
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword, taker_of
from engine.trace import Finding, Op, Pass, Span
from engine.unfollowed import CUTS

REACHES_ALL = frozenset("getattr children named_children modules named_modules get_submodule vars".split())
"""Calls through which a layer may run that is named nowhere."""


def cut_gradients(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Each cut between a leaf without gradient and the root of a pass; where there is none, why nothing was tracked."""
    lost = diagnosis.lost_pass
    if lost is None and diagnosis.trace.failure is not None and not diagnosis.held:
        return  # it stopped before anything was to be moved
    told = [*cut_by_checkpoint(diagnosis, lost)] if lost is not None else []
    told = told or [*_told(diagnosis)]
    yield from told
    if lost is not None and not any(UNKNOWN not in finding.parameters.values() for finding in told):
        yield from [*_untracked(diagnosis, lost)] or _lost(diagnosis, lost)


def _told(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Those of the last passes, each told once; an error where they left a pass without anything to start from."""
    places: dict[tuple[str, Span | None], list[Cut]] = {}
    for cut in cuts(diagnosis):
        told = lost_influence(diagnosis, cut)
        reason = _reason(diagnosis, cut)
        if told is not None:
            yield told
        elif reason in (*CUTS, "data") and cut.is_open and cut.is_direct:
            places.setdefault((reason, cut.op.span), []).append(cut)
    for (reason, _), alike in places.items():
        cut, passes = alike[0], list({pass_.id: pass_ for cut in alike for pass_ in cut.passes}.values())
        is_meant = reason in ("detach", "data", "no_grad") and is_target(diagnosis, cut.op)
        if not is_meant and not all(_is_for_others(diagnosis, pass_, cut.leaves) for pass_ in passes):
            yield _straight_through(diagnosis, cut) or _cut(diagnosis, cut, reason, passes)


def _straight_through(diagnosis: Diagnosis, cut: Cut) -> Finding | None:
    """`z + (q - z).detach()` has the values of `q` and hands its gradient to `z`: a loss that is to train what `q` was
    made of has to take `q` itself."""
    difference = diagnosis.maker.get(cut.op.inputs[0]) if cut.op.name == "detach" and cut.op.inputs else None
    if difference is None or difference.name != "sub" or len(difference.inputs) != 2:
        return None
    value, way = difference.inputs
    sums = (op for output in cut.op.outputs for op in diagnosis.takers.get(output, ()) if op.name == "add")
    joined = next((op for op in sums if way in op.inputs), None)
    code = diagnosis.code.excerpt(joined.span) if joined is not None else ""
    if joined is None or not {*cut.leaves} <= {*diagnosis.leaves_behind([value])} - {*diagnosis.leaves_behind([way])}:
        return None
    return diagnosis.warning(
        "taken_straight_through",
        joined,
        tensors=cut.leaves,
        leaf=diagnosis.say_all(cut.leaves),
        made=code if diagnosis.say(joined.outputs[0]) == diagnosis.say(value) else diagnosis.say(joined.outputs[0]),
        value=diagnosis.say(value),
        way=diagnosis.say(way),
    )


def _reason(diagnosis: Diagnosis, cut: Cut) -> str:
    reason = diagnosis.why_unfollowed(cut.op)
    if cut.op.inside and cut.op.name in ("data", *DETACHES):
        return ""  # as `jacobian` takes its inputs out of the graph
    if cut.op.name == "data":
        return "data"
    if cut.name:
        return "tensor"
    return "" if reason == "no_grad" and is_off_in_library(diagnosis, cut.op) else reason


def _is_for_others(diagnosis: Diagnosis, pass_: Pass, leaves: Sequence[str]) -> bool:
    """Whether the steps that follow a pass move other things than these leaves: then it was not to reach them, as the
    discriminator's pass is not to reach the generator."""
    begin = diagnosis.pass_step.get(pass_.id, -1)
    end = min((at for at in diagnosis.pass_step.values() if at > begin), default=math.inf)
    steps = [step for step in diagnosis.steps if begin < diagnosis.update_step.get(step.id, -1) < end]
    return bool(steps) and all(set(leaves).isdisjoint(diagnosis.held_by(step)) for step in steps)


def _untracked(diagnosis: Diagnosis, failed: Pass) -> Iterator[Finding]:
    """Nothing was cut: nothing that the root was made of is tracked."""
    tensors = tuple(root.tensor for root in failed.roots if root.tensor is not None and root.node is None)
    sources = _sources(diagnosis, tensors)
    graphless = _pass_without_graph(diagnosis, tensors) or _step_without_graph(diagnosis, failed)
    is_moved = graphless is not None and graphless.kind == "backward" and _is_moved(diagnosis, tensors, graphless)
    if graphless is not None and not is_moved and (sources is not None or graphless.kind == "grad"):
        yield _no_second_order(diagnosis, failed, graphless)
        return
    if sources is None or _is_in_step(diagnosis):
        return
    frozen = [source for source in sources if diagnosis.is_parameter(source)]
    name = _called(diagnosis, tensors[0] if tensors else None, failed)
    if frozen and diagnosis.say_all(frozen) != UNKNOWN:
        switch, table = _frozen_at(diagnosis), _table_frozen(diagnosis)
        new = _put_in(diagnosis, frozen, switch)
        yield diagnosis.finding(
            "parameters_frozen",
            "error",
            switch or table or failed.span,
            tensors=(*tensors, *frozen),
            name=name,
            names=diagnosis.say_all(frozen),
            line=line(failed.span),
            is_table=str(int(switch is None and table is not None)),
            is_new=str(int(new is not None)),
            new=dotted(new.targets[0]) if new is not None else "",
            new_line=str(new.lineno) if new is not None else "",
        )
        return
    # where leaves want it, a gradient for the loss itself would silence PyTorch and train nothing
    apart = not is_moved and bool(wanting_leaves(diagnosis))
    made = [call for source in sources if not apart and (call := _made(diagnosis, source)) is not None]
    fix = (diagnosis.code.argument_added(made[0], "requires_grad=True"),) if len(made) == 1 and not is_moved else ()
    yield diagnosis.finding(
        "nothing_requires_grad", "error", failed.span, tensors=tensors, fix=fix, name=name, is_apart=str(int(apart))
    )


def _lost(diagnosis: Diagnosis, failed: Pass) -> Iterator[Finding]:
    """The last op behind the root that was given something tracked and gave nothing that is: all that is known of a cut
    whose reason the trace does not tell."""
    roots = [root.tensor for root in failed.roots if root.tensor is not None and root.node is None]
    behind = (
        op for tensor in walk(roots, partial(_untracked_inputs, diagnosis)) if (op := diagnosis.maker.get(tensor))
    )
    ends = [op for op in behind if op.span is not None and any(_is_live(diagnosis, each) for each in op.inputs)]
    ends.sort(key=lambda op: diagnosis.op_at[op.id])
    if ends and (drawn := [op for op in ends if _is_drawn(diagnosis, op)])[-1:] == ends[-1:]:
        yield _drawn(diagnosis, drawn, failed)
        return
    for op in ends[-1:]:
        given = next(each for each in op.inputs if _is_live(diagnosis, each))
        yield diagnosis.finding(
            "graph_lost",
            "error",
            op,
            tensors=(given, *op.outputs[:1]),
            name=_called(diagnosis, roots[0], failed),
            value=diagnosis.say(given) if diagnosis.say(given) != UNKNOWN else diagnosis.code.excerpt(op.span),
            is_off=str(int(op.grad_mode != "grad")),
            pass_line=line(failed.span),
        )


def _is_drawn(diagnosis: Diagnosis, op: Op) -> bool:
    call = diagnosis.code.call_at(op.span)
    return op.name == "normal" and call is not None and called(call) == "sample"


def _drawn(diagnosis: Diagnosis, drawn: Sequence[Op], failed: Pass) -> Finding:
    """All that a pass begins at comes of what `sample()` gave, which records nothing."""
    code = diagnosis.code
    methods = [call.func for op in drawn if (call := code.call_at(op.span)) is not None]
    behind = near([each for op in drawn for each in op.inputs], diagnosis.made_from)
    leaves = {diagnosis.identity(each) for each in behind if _is_own_leaf(diagnosis, each)}
    return diagnosis.finding(
        "sample_without_gradient",
        "error",
        drawn[0],
        tensors=drawn[0].outputs[:1],
        fix=tuple(
            code.replace(method, f"{code.text(method.value)}.rsample")
            for method in dict.fromkeys(methods)
            if isinstance(method, ast.Attribute)
        ),
        is_function="0",
        is_all="1",
        code=code.excerpt(drawn[0].span),
        leaves=diagnosis.say_all(sorted(leaves, key=by_number)),
        pass_line=line(failed.span),
    )


def _is_own_leaf(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether gradients stop at it, and it is no view of such a one made while nothing was recorded."""
    made = diagnosis.maker.get(tensor)
    is_view = made is not None and any(_is_live(diagnosis, each) for each in made.inputs)
    return diagnosis.is_tracked_leaf(tensor) and not is_view


def _called(diagnosis: Diagnosis, root: str | None, failed: Pass) -> str:
    """What the root of a pass is called, or else what is written there, or the pass."""
    name, call = diagnosis.say(root), diagnosis.code.call_at(failed.span)
    written = call.args[0] if call is not None and called(call) == "grad" and call.args else None
    excerpt = diagnosis.code.excerpt(failed.span) if written is None else diagnosis.code.short(written)
    return excerpt if name == UNKNOWN else name


def _frozen_at(diagnosis: Diagnosis) -> Span | None:
    """The only line that writes `requires_grad = False` or calls `requires_grad_(False)`."""
    code = diagnosis.code
    written = (node for node in code.attributes if isinstance(node.ctx, ast.Store) or node.attr.endswith("_"))
    found = [code.statement(node) for node in written if node.attr.rstrip("_") == "requires_grad"]
    only = found[0] if len(found) == 1 else None
    return code.span(only) if only is not None else None


def _put_in(diagnosis: Diagnosis, frozen: Sequence[str], switch: Span | None) -> ast.Assign | None:
    """The line that put a new layer into a model whose parameters were all frozen by another one after it: a layer is
    made with parameters that require a gradient."""
    ops = (op for op in diagnosis.trace.ops if op.in_place and op.span is not None and switch is not None)
    filled = {line(op.span) for op in ops if _fills(diagnosis, op, frozen)} - {line(switch)}
    stores = (one for one in diagnosis.code.bindings if isinstance(one.value, ast.Call) and str(one.lineno) in filled)
    put = (one for one in stores if "." in (name := dotted(one.targets[0])) and not name.startswith("self."))
    return next(put, None) if len(filled) > 1 else None


def _fills(diagnosis: Diagnosis, op: Op, leaves: Sequence[str]) -> bool:
    return diagnosis.identity(next(iter(op.inputs), "")) in map(diagnosis.identity, leaves)


def _table_frozen(diagnosis: Diagnosis) -> Span | None:
    """The first table that was made of given vectors without being told to learn."""
    calls = (each for each in diagnosis.code.calls if called(each) == "from_pretrained" and diagnosis.has_run(each))
    made = (each for each in calls if "Embedding" in diagnosis.code.text(each.func) and says(each, "freeze") != "False")
    return next(map(diagnosis.code.span, made), None)


def _pass_without_graph(diagnosis: Diagnosis, tensors: tuple[str, ...]) -> Pass | None:
    """The pass whose gradients the root was computed from and that recorded nothing."""
    left = {diagnosis.identity(added.after): pass_ for pass_, added in diagnosis.accumulations if added.after}
    given = left | diagnosis.given_by
    behind = map(diagnosis.identity, walk(tensors, diagnosis.made_from) if given else ())
    return next((given[at] for at in behind if at in given and not given[at].create_graph), None)


def _is_moved(diagnosis: Diagnosis, tensors: tuple[str, ...], pass_: Pass) -> bool:
    """Whether the gradients that a pass left are behind a root as the step that they are for its leaves: beside these,
    which are behind it too, by other tensors with their numbers."""
    fed = [diagnosis.last_states.get(leaf) for leaf in fed_by(pass_)]
    known = {(one.shape, range_) for one in fed if one is not None and (range_ := extent(one)) is not None}
    others = (each for each in walk(tensors, diagnosis.made_from) if diagnosis.leaf_of(each) is None)
    behind = (
        diagnosis.tensors.get(each) for each in others if diagnosis.identity(each) not in diagnosis.gradient_owner
    )
    return any(one is not None and (one.shape, extent(one)) in known for one in behind)


def _is_in_step(diagnosis: Diagnosis) -> bool:
    """Whether it failed in the step of an optimizer, of whose ops the trace has none."""
    failure = diagnosis.trace.failure
    return failure is not None and any(frame.file == "torch/optim/optimizer.py" for frame in failure.frames)


def _step_without_graph(diagnosis: Diagnosis, failed: Pass) -> Pass | None:
    """The last pass, which recorded nothing, where an optimizer asks for the slope of what it made of the `.grad` that
    was left by it."""
    asked = {diagnosis.identity(leaf) for leaf in failed.inputs or () if leaf is not None}
    last = next((pass_ for pass_ in reversed(diagnosis.ended) if asked and asked <= {*fed_by(pass_)}), None)
    failure, code = diagnosis.trace.failure, diagnosis.code
    frames = failure.frames if failure is not None else ()
    nodes = [node for frame in frames if (node := code.at(frame.span)) is not None]
    inside = {code.function(node) for node in nodes}
    reads = any(one.attr == "grad" and code.function(one) in inside - {None} for one in code.attributes)
    return last if _is_in_step(diagnosis) and reads and last is not None and not last.create_graph else None


def _no_second_order(diagnosis: Diagnosis, failed: Pass, first: Pass) -> Finding:
    """Gradients that were computed without recording how."""
    code = diagnosis.code
    call, is_left = code.call_at(first.span), first.kind == "backward"
    is_summed = is_left and failed.kind == "backward"  # what it adds to the `.grad` would be no second derivative
    fix: Edits = ()
    if call is not None and call.args and keyword(call, "create_graph") is None and not is_left:
        # a second derivative that is taken beside it goes into the same loss, and would be a plain number there
        beside = [each for each in code.calls if code.function(each) is code.function(call)]
        alike = [each for each in beside if code.text(each.func) == code.text(call.func) and each.args]
        # of the last one of the program nothing is differentiated any more
        passes = [each for each in code.calls if called(each) in ("grad", "backward")]
        last = max(passes, key=lambda each: each.lineno, default=None)
        fix = tuple(
            code.argument_added(each, "create_graph=True")
            for each in alike
            if keyword(each, "create_graph") is None and (each is call or each is not last or not code.runs_once(each))
        )
    return diagnosis.finding(
        "create_graph_missing",
        "error",
        first.span,
        tensors=tuple(root.tensor for root in failed.roots if root.tensor is not None),
        fix=fix,
        name=_called(diagnosis, next((root.tensor for root in failed.roots), None), failed),
        first_line=line(first.span),
        is_more=str(int(len(fix) > 1)),
        is_left=str(int(is_left)),
        is_summed=str(int(is_summed)),
    )


def _sources(diagnosis: Diagnosis, tensors: tuple[str, ...]) -> list[str] | None:
    """The tensors that others were computed from and that no op computed; None where an op took a tracked tensor."""
    found: dict[str, None] = {}
    for tensor in walk(tensors, partial(_untracked_inputs, diagnosis)):
        given = _inputs_of_result(diagnosis, tensor)
        if any(_is_live(diagnosis, each) for each in given):
            return None
        if not given:
            found[diagnosis.identity(tensor)] = None
    return list(found)


def _inputs_of_result(diagnosis: Diagnosis, tensor: str) -> tuple[str, ...]:
    """What it was computed from; nothing for what the program made as it is."""
    record = diagnosis.tensors.get(tensor)
    return () if record is not None and record.role in ("leaf", "parameter") else diagnosis.made_from(tensor)


def _untracked_inputs(diagnosis: Diagnosis, tensor: str) -> list[str]:
    return [given for given in _inputs_of_result(diagnosis, tensor) if not _is_live(diagnosis, given)]


def _is_live(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether it requires a gradient, and what it is or is a view of was not frozen since."""
    record = diagnosis.tensors.get(tensor)
    return (
        record is not None
        and record.requires_grad
        and diagnosis.identity(record.base or tensor) not in diagnosis.frozen
    )


def _made(diagnosis: Diagnosis, tensor: str) -> ast.Call | None:
    """The call that made a floating tensor from numbers and named it."""
    maker = diagnosis.maker.get(tensor)
    record = diagnosis.tensors.get(tensor)
    if maker is None or record is None or maker.name not in MAKES_LEAF:
        return None
    if not record.dtype.startswith(("float", "bfloat")):
        return None
    call = diagnosis.code.call_at(maker.span)
    if call is None or not (call.args or call.keywords):
        return None
    return None if any(word.arg in ("requires_grad", None) for word in call.keywords) else call


def _cut(diagnosis: Diagnosis, cut: Cut, reason: str, passes: list[Pass]) -> Finding:
    given, leaves, span = cut.given, cut.leaves, cut.op.span
    leaf_node = diagnosis.leaf_nodes.get(diagnosis.identity(given.id))
    node = given.grad_fn.node if given.grad_fn is not None else leaf_node
    lines = sorted({line(pass_.span) for pass_ in passes}, key=by_number)
    is_shared = len(lines) > 1 and reason in ("detach", "data")
    return diagnosis.finding(
        "cut_for_two_passes" if is_shared else "cut_by_detach" if reason == "data" else f"cut_by_{reason}",
        "error" if diagnosis.lost_pass in passes else "warning",
        span,
        tensors=leaves,
        nodes=() if node is None else (node,),
        fix=() if is_shared else _uncut(diagnosis, cut.op, reason),
        leaf=diagnosis.say_all(leaves),
        value=diagnosis.say(given.id),
        op=_written(diagnosis, cut.op, reason),
        **(_taken_out(diagnosis, cut) if reason == "item" else {}),
        **(switched(diagnosis, cut.op) if reason == "no_grad" else {}),
        **({"first_line": lines[0], "pass_line": lines[-1]} if is_shared else {}),
    )


def _written(diagnosis: Diagnosis, cut: Op, reason: str) -> str:
    """A cut as a program spells it."""
    call = diagnosis.code.call_at(cut.span)
    if reason == "item":
        taker = taker_of(call, cut.name)
        return f".{taker}()" if taker == cut.name else f"{taker}(…)"
    return called(call) if call is not None and reason == "tensor" else ".data" if reason == "data" else cut.name


def _uncut(diagnosis: Diagnosis, cut: Op, reason: str) -> Edits:
    """Takes the cut out of its expression, when the expression is the cut and nothing else."""
    code = diagnosis.code
    node = code.at(cut.span)
    match reason, node:
        case "data", ast.Attribute(attr="data", value=inner):
            pass
        case "detach" | "item", ast.Call(func=ast.Attribute(attr="detach" | "item", value=inner), args=[], keywords=[]):
            pass
        case "item", ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
            pass
        case "detach", _ if cut.name == "Variable" and (bare := _in_variable(node)) is not None:
            inner = bare
        case "tensor", ast.Call(args=[ast.Name() | ast.Attribute() | ast.Call() | ast.BinOp() as inner], keywords=[]):
            pass
        case _:
            return ()
    if node is None or (reason == "item" and any(_makes_anew(above) for above in code.around(node))):
        return ()
    if _is_collected(diagnosis, cut):
        return ()
    text = code.text(inner)
    around = next((call for call in code.calls if _in_variable(call) is node), None)
    calls = {later.span: code.call_at(later.span) for later in _variables_after(diagnosis, cut)}.values()
    again = [(call, code.text(given)) for call in calls if call is not None and (given := _in_variable(call))]
    return (
        code.replace(around or node, f"({text})" if isinstance(inner, ast.BinOp | ast.UnaryOp) else text),
        *(code.replace(call, given) for call, given in again if call is not around),
    )


def _is_collected(diagnosis: Diagnosis, cut: Op) -> bool:
    """Whether its number went into a list, or a sum, that a tensor was then made of."""
    return any(read.span == cut.span for _, read in collected_reads(diagnosis))


def _taken_out(diagnosis: Diagnosis, cut: Cut) -> dict[str, str]:
    is_many = cut.op.name == "tolist" and len(cut.given.shape) > 0
    return {"is_many": str(int(is_many)), "is_listed": str(int(_is_listed(diagnosis, cut.op)))}


def _is_listed(diagnosis: Diagnosis, cut: Op) -> bool:
    """Whether its number went into a list that a tensor was then made of."""
    call = diagnosis.code.call_at(cut.span) if _is_collected(diagnosis, cut) else None
    around = diagnosis.code.around(call) if call is not None else ()
    return any(isinstance(above, ast.Call) and called(above) == "append" for above in around)


def _in_variable(node: ast.AST | None) -> ast.expr | None:
    """What a call of `Variable` is given and nothing else."""
    match node:
        case ast.Call(args=[given], keywords=[]) if called(node) == "Variable":
            return given
    return None


def _variables_after(diagnosis: Diagnosis, cut: Op) -> Iterator[Op]:
    """What cuts a value off once more that was cut off."""
    made = near(cut.outputs, lambda at: (each for each in diagnosis.made_of(at) if not diagnosis.is_followed(each)))
    return (op for at in made for op in diagnosis.takers.get(at, ()) if op.name == "Variable")


def _makes_anew(node: ast.AST) -> bool:
    """Whether the number would be made into a new tensor, or a number again, even without the `.item()`."""
    if isinstance(node, ast.Call):
        return called(node) in ("tensor", "as_tensor", "float", "int", "full")
    return isinstance(node, ast.List | ast.Tuple)


def unused_parameters(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Layers of a trained model that nothing in the program ever asks for; one that some other input would have used
    is no mistake."""
    starved = starved_leaves(diagnosis)
    code = diagnosis.code
    if not starved or any(called(call) in REACHES_ALL for call in code.calls):
        return
    reads = {tensor for op in diagnosis.trace.ops if not op.in_place for tensor in op.inputs}  # initialisers write only
    used = {diagnosis.identity(tensor) for tensor in reads}
    asked = {node.attr for node in code.attributes if isinstance(node.ctx, ast.Load)}
    idle: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    trained: set[str] = set()
    for module in diagnosis.trace.modules:
        root = diagnosis.outermost(module)
        for member in module.parameters:
            leaf = diagnosis.identity(member.tensor)
            below = f"{module.path}.{member.name}"[len(root.path) + 1 :].split(".")[0]
            if leaf in diagnosis.fed | diagnosis.held:
                trained.add(root.path)
            if leaf in starved and leaf not in used and below not in asked:
                idle[root.path, root.type, below].append(leaf)
    for (top, kind, attribute), leaves in idle.items():
        span = _defined(diagnosis, attribute, kind, top)
        if top in trained and span is not None:
            yield diagnosis.warning(
                "unused_parameters",
                span,
                tensors=leaves,
                model=top,
                names=diagnosis.say_all(leaves),
                count=str(len(leaves)),
            )


def _defined(diagnosis: Diagnosis, attribute: str, kind: str, model: str) -> Span | None:
    """Where the class of a module gives it that attribute, or a line beside it does."""
    code = diagnosis.code
    for binding in code.bindings:
        for target, value in _pairs(binding):
            owner = code.enclosing(value, ast.ClassDef)
            is_of_kind = isinstance(owner, ast.ClassDef) and owner.name == kind
            is_own = is_of_kind and isinstance(target, ast.Attribute) and target.attr == attribute
            if is_own or dotted(target) == f"{model}.{attribute}":
                return code.span(value)
    return None


def _pairs(statement: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Targets and what they get: of `self.a, self.b = x, y` two."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            return list(zip(targets, values, strict=True))
    return [(statement.targets[0], statement.value)]
