"""Train and eval, recording and not: layers in the wrong mode, graphs nobody uses."""

import ast
from collections.abc import Iterator

from engine.findings.attention_masks import FUSED
from engine.findings.diagnosis import UNKNOWN, Diagnosis, argument, fed_by, line, listed, walk
from engine.findings.losses import LOSS_FUNCTIONS
from engine.findings.uphill import squares_differences
from engine.program.names import called, dotted, is_grad
from engine.program.source import Source
from engine.trace import Finding, ModuleCall, Op, Pass, Update

DROPOUTS = frozenset("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split())
RATES = {**dict.fromkeys(DROPOUTS, ("p", 1)), FUSED: ("dropout_p", 4)}
"""Where functions that drop take their rate."""
NORMS = frozenset(("batch_norm",))
JUDGES = LOSS_FUNCTIONS | {"eq", "ne"}
SWITCHES = frozenset("no_grad inference_mode enable_grad".split())
MODULE_PREFIXES = ("torch.", "torch.autograd.")


def _is_training(op: Op) -> bool:
    return argument(op, "training") == "True"


def _layers(diagnosis: Diagnosis) -> list[Op]:
    """The ops that compute otherwise in eval mode, in the order they ran."""
    return sorted(diagnosis.ops_named(DROPOUTS | NORMS), key=lambda op: diagnosis.op_at[op.id])


def trained_in_eval(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps after forward passes in eval mode, of layers that had been trained in train mode before: by the same
    `backward()`, or by another, which then trains on what it should only look at. Also of layers that never were,
    because an evaluation stands between `train()` and the first step."""
    before: dict[str | None, Pass] = {}
    evaluated: set[str | None] = set()
    is_undone = _is_undone(diagnosis)
    for op in _layers(diagnosis) if diagnosis.steps else ():
        module = diagnosis.modules.get(op.module or "")
        pass_ = _trained_by(diagnosis, op)
        if op.grad_mode != "grad" or module is None or pass_ is None:
            evaluated |= set() if _is_training(op) else {op.module}
            continue
        if _is_training(op):
            before[op.module] = pass_
        elif any(diagnosis.is_parameter(added.tensor) for added in pass_.accumulations):
            earlier = before.get(op.module, pass_ if is_undone else None)
            step, own = _step_after(diagnosis, pass_), diagnosis.leaves_of.get(diagnosis.outermost(module).id)
            is_moved = step is None or not own or not own.isdisjoint(diagnosis.held_by(step))  # not a teacher's
            is_used = step is None or not _is_reset(diagnosis, pass_, step)
            if earlier is None or not is_moved or not is_used or _is_switched_alone(diagnosis, op):
                continue
            model = diagnosis.module_name(diagnosis.outermost(module))
            switch, is_same = _switch(diagnosis.code, "eval", model), earlier.span == pass_.span
            if is_same and op.module not in evaluated and not _is_in_each_turn(diagnosis.code, switch):
                continue  # the mode was switched for the training itself
            yield diagnosis.warning(
                "trained_in_eval" if is_same else "trained_while_evaluating",
                op.span if is_same else pass_.span,
                tensors=op.outputs[:1],
                nodes=op.nodes[:1],
                module=diagnosis.module_name(module),
                type=module.type,
                model=model if model.replace(".", "").isidentifier() else "model",
                eval_line=str(switch.lineno) if switch is not None else UNKNOWN,
                step_line=line(step.span if step is not None else None),
                train_line=line(earlier.span),
                trained=str(int(op.module in before)),
            )
            return


def _is_in_each_turn(code: Source, switch: ast.Call | None) -> bool:
    return switch is not None and code.in_loop(switch) and code.enclosing(switch, ast.If) is None


def _is_undone(diagnosis: Diagnosis) -> bool:
    """Whether a model is put into train mode where it is trained, and into eval mode in a function that evaluates
    it."""
    code = diagnosis.code
    calls = [call for call in code.calls if diagnosis.has_run(call)]
    evals = [call for call in calls if _switched_model(call, "eval")]
    models = {_switched_model(call, "eval") for call in evals}
    is_trained = models <= {_switched_model(call, "train") for call in calls}
    evaluating = {code.function(call) for call in evals}
    training = {code.function(call) for call in calls if called(call) == "backward"}
    return len(models) == 1 and is_trained and None not in evaluating and evaluating.isdisjoint(training)


def _is_switched_alone(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether the model around a layer in eval mode was in train mode: the layer alone is meant to keep its figures.
    Not where all that steps move is in eval mode, and only what computes its loss is not."""
    calls = list(diagnosis.calls_around(op))
    if not calls or not calls[0].training:
        return False
    module = next((diagnosis.modules.get(call.module) for call in calls if not call.training), None)
    if module is None:
        return True
    inside = [each for each in diagnosis.trace.modules if f"{each.path}.".startswith(f"{module.path}.")]
    return not diagnosis.stepped <= {diagnosis.identity(held.tensor) for each in inside for held in each.parameters}


def _step_after(diagnosis: Diagnosis, pass_: Pass) -> Update | None:
    at = diagnosis.pass_step[pass_.id]
    return next((step for step in diagnosis.steps if diagnosis.update_step.get(step.id, -1) > at), None)


def _is_reset(diagnosis: Diagnosis, pass_: Pass, step: Update) -> bool:
    """Whether what a pass left in parameters was zeroed before a step, as after an attack on the input."""
    begin, end = diagnosis.pass_step[pass_.id], diagnosis.update_step.get(step.id, -1)
    resets = (each for each in diagnosis.trace.updates if begin < diagnosis.update_step.get(each.id, -1) < end)
    zeroed = (each for each in resets if each.kind in ("zero_grad", "grad_reset"))
    owners = {diagnosis.gradient_owner.get(changed) for each in zeroed for changed in diagnosis.changed_by(each)}
    return not owners.isdisjoint(fed_by(pass_))


def _takes_part(op: Op) -> bool:
    """Whether its mode makes a difference."""
    return op.name in NORMS or argument(op, "p", 1) not in ("0", "0.0")


def _trained_by(diagnosis: Diagnosis, op: Op) -> Pass | None:
    """The pass that came back through what was made of its output, when a step followed."""
    output, last = diagnosis.output_of(op), diagnosis.trained_until
    made = output.grad_fn if output is not None else None
    number = diagnosis.visited.get(made.node) if made is not None else None
    pass_ = diagnosis.trace.passes[number] if number is not None else None
    return pass_ if pass_ is not None and diagnosis.pass_step.get(pass_.id, last) < last else None


def _switch(code: Source, method: str, model: str = "") -> ast.Call | None:
    """The first `model.eval()` or `model.train()`, of the model of that name where there is one."""
    methods = (call for call in code.calls if isinstance(call.func, ast.Attribute) and not call.args)
    switches = [call for call in methods if called(call) == method]
    own = [call for call in switches if _switched_model(call, method) == model]
    return min(own or switches, key=lambda call: call.lineno, default=None)


def evaluated_in_train(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Dropout or batch norm in train mode under no_grad, or in a call to which no pass ever comes back, of results
    that are held against targets; in a program that calls `train()` somewhere only where nobody asked for it."""
    code = diagnosis.code
    if not diagnosis.steps:
        return
    layers = [op for op in _layers(diagnosis) if op.module in diagnosis.modules and _is_training(op)]
    trained = {(op.module, op.name): op for op in layers if diagnosis.reaches_a_pass(op)}
    alike = [op for op in layers if (op.module, op.name) in trained and _takes_part(op)]
    tops = (call for call in diagnosis.trace.calls if call.parent is None)
    place = {op.id: call.span for call in tops for op in diagnosis.ops_of(call)}
    is_whole = diagnosis.trace.status == "ok"
    learnt = {None, *(place.get(op.id) for op in layers if not is_whole or diagnosis.reaches_a_pass(op))}
    unrecorded = [op for op in alike if op.grad_mode != "grad" or place.get(op.id) not in learnt]
    switched = _switch(code, "train") is not None
    evaluated = in_eval(diagnosis) | _in_eval_as_a_whole(diagnosis) if unrecorded else set()
    found = [
        op
        for op in unrecorded
        if diagnosis.op_at[op.id] not in evaluated
        and (op.grad_mode == "grad" or not _is_learnt_from(diagnosis, op))
        and (
            is_judged(diagnosis, op)
            or (not switched and op.grad_mode != "grad" and _predicts(diagnosis, op, trained[op.module, op.name]))
        )
        and not (switched and _is_asked_for(diagnosis, op))
        and not is_drawn_again(diagnosis, op)
    ]
    if not found:
        return
    first = found[0]
    wrong = [diagnosis.modules[path] for path in dict.fromkeys(op.module or "" for op in found)]
    around = diagnosis.call_around(first)
    span = around.span if around is not None and around.span is not None else first.span
    statement = code.statement_at(span)
    if isinstance(statement, ast.Expr) and statement.value is code.call_at(span):
        return  # nobody looks at what it gives: only its figures are to move
    top = diagnosis.outermost(wrong[0]).path
    above = code.enclosing(statement, ast.With)
    is_safe = above is not None and (code.runs_once(above) or _comes_back(code, above, top))
    known = any(variable.name == top and variable.module is not None for variable in diagnosis.trace.variables)
    yield diagnosis.warning(
        "evaluated_in_train",
        span,
        tensors=first.outputs[:1],
        fix=code.line_before(above, f"{top}.eval()") if above is not None and known and is_safe else (),
        model=diagnosis.module_name(diagnosis.outermost(wrong[0])),
        recorded=str(int(first.grad_mode == "grad")),
        layers=listed([*dict.fromkeys(f"{diagnosis.module_name(module)} ({module.type})" for module in wrong)]),
        drops="1" if any(op.name in DROPOUTS for op in found) else "0",
        norms="1" if any(op.name in NORMS for op in found) else "0",
    )


def _switched_model(call: ast.Call, method: str) -> str:
    """The model that a call puts into a mode: `model.eval()`."""
    is_switch = isinstance(call.func, ast.Attribute) and call.func.attr == method and not (call.args or call.keywords)
    return dotted(call.func.value) if is_switch and isinstance(call.func, ast.Attribute) else ""


def _comes_back(code: Source, evaluation: ast.With, model: str) -> bool:
    """Whether `train()` is called before the model is trained again: in the same loop, or in a function of its own that
    does not evaluate in between."""
    evaluating = code.function(evaluation)
    name = evaluating.name if evaluating is not None else ""
    for call in (call for call in code.calls if dotted(call.func) == f"{model}.train"):
        training = code.function(call)
        if not set(code.loops(call)[:1]).isdisjoint(code.loops(evaluation)):
            return True
        if training is None or training is evaluating or code.in_loop(call):
            continue
        if not any(
            node is evaluation or (isinstance(node, ast.Call) and called(node) == name) for node in ast.walk(training)
        ):
            return True
    return False


def _is_asked_for(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether `train()` was called for this very evaluation: above it, with no pass between."""
    code = diagnosis.code
    top = diagnosis.call_around(op)
    place = code.statement_at(top.span) if top is not None else None
    passes = [pass_.span.line for pass_ in diagnosis.trace.passes if pass_.span is not None]
    for call in code.calls:
        is_switch = isinstance(call.func, ast.Attribute) and call.func.attr == "train" and not call.args
        if place is None or not is_switch or call.lineno > place.lineno:
            continue
        same = code.function(call) is code.function(place)
        if same and not any(call.lineno <= line <= place.lineno for line in passes):
            return True
    return False


def is_drawn_again(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether its model ran again on the same input before the next step, and both results were put together: a sample
    of several, random on purpose."""
    around = diagnosis.call_around(op)
    if around is None:
        return False
    given, at = diagnosis.ops_of(around)[0].inputs, diagnosis.op_step.get(op.id, 0)
    together = _takers_of_made(diagnosis, op)
    for call in diagnosis.trace.calls:
        ops = diagnosis.ops_of(call) if call.module == around.module and call is not around else ()
        if not ops or ops[0].inputs != given:
            continue
        first, last = sorted((at, diagnosis.op_step.get(ops[0].id, 0)))
        moved = any(first <= diagnosis.update_step.get(step.id, -1) <= last for step in diagnosis.steps)
        if not moved and not together.isdisjoint(_takers_of_made(diagnosis, ops[-1])):
            return True
    return False


def _takers_of_made(diagnosis: Diagnosis, op: Op) -> set[str]:
    return {taker.id for value in _made_of(diagnosis, op) for taker in diagnosis.takers.get(value, ())}


def _is_learnt_from(diagnosis: Diagnosis, op: Op) -> bool:
    made = walk(op.outputs, diagnosis.made_of)
    return any(taker.grad_mode == "grad" and taker.nodes for value in made for taker in diagnosis.takers.get(value, ()))


def is_judged(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether what its model made of it is held against targets, unlike a sample that is only looked at."""
    takers = (taker for value in _made_of(diagnosis, op) for taker in diagnosis.takers.get(value, ()))
    return any(taker.name in JUDGES or squares_differences(diagnosis, taker) for taker in takers)


def _predicts(diagnosis: Diagnosis, op: Op, trained: Op) -> bool:
    """Whether the whole model ran, and training begins at what the model gives alone; a generator learns through
    another, and its samples are drawn as it was trained."""
    calls = (call for call in diagnosis.trace.calls if call.parent is None and call.module == _model(diagnosis, op))
    runs = any(op in diagnosis.ops_of(call) for call in calls if call.grad_mode != "grad")
    roots = {root.tensor for pass_ in diagnosis.trace.passes for root in pass_.roots}
    made = set(_made_of(diagnosis, trained))
    takers = (taker for value in made for taker in diagnosis.takers.get(value, ()))
    is_judged_by_another = any(_model(diagnosis, taker) not in (_model(diagnosis, op), None) for taker in takers)
    return runs and not roots.isdisjoint(made) and not is_judged_by_another


def _made_of(diagnosis: Diagnosis, op: Op) -> Iterator[str]:
    """What was computed from the results of an op outside of other models."""
    own = _model(diagnosis, op)

    def through(tensor: str) -> Iterator[str]:
        for taker in diagnosis.takers.get(tensor, ()):
            yield from taker.outputs if _model(diagnosis, taker) in (own, None) else ()

    return walk(op.outputs, through)


def _model(diagnosis: Diagnosis, op: Op) -> str | None:
    """The outermost module with parameters that an op ran in."""
    module = diagnosis.modules.get(op.module or "")
    root = diagnosis.outermost(module).id if module is not None else None
    return root if root in diagnosis.leaves_of else None


def in_eval(diagnosis: Diagnosis) -> set[int]:
    """Places of the ops whose innermost running module was in eval mode."""
    found: set[int] = set()
    for call in diagnosis.trace.calls:  # outer calls first
        inside = [diagnosis.op_at[op.id] for op in diagnosis.ops_of(call)]
        (found.difference_update if call.training else found.update)(inside)
    return found


def frozen_norms_that_drift(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Batch norm in train mode whose weights are frozen all along: its running statistics go on changing, and with
    them what the frozen layers give."""
    run: dict[str, list[Op]] = {}
    moved, begun = _last_moves(diagnosis), min(diagnosis.pass_step.values(), default=0)
    for op in diagnosis.ops_named(NORMS) if diagnosis.steps else ():
        module, now = diagnosis.modules.get(op.module or ""), diagnosis.op_step.get(op.id, 0)
        named = {diagnosis.identity(member.tensor) for member in module.parameters} if module is not None else set()
        weights = [given for given in op.inputs if diagnosis.identity(given) in named]
        is_frozen = bool(weights) and not any(
            diagnosis.is_tracked(given) or moved.get(diagnosis.identity(given), -1) > now for given in weights
        )
        is_for_training = now < diagnosis.trained_until
        if module is not None and is_frozen and _is_training(op) and op.grad_mode == "grad" and is_for_training:
            run.setdefault(module.id, []).append(op)
    often = [ops for ops in run.values() if len(ops) > 1 and diagnosis.op_step.get(ops[-1].id, 0) > begun]
    if not often:
        return
    module = diagnosis.modules[often[0][0].module or ""]
    switch = _switch(diagnosis.code, "train")
    yield diagnosis.warning(
        "frozen_norm_drifts",
        switch if switch is not None else often[0][0],
        tensors=often[0][0].outputs[:1],
        nodes=(),
        module=diagnosis.module_name(module),
        type=module.type,
        count=diagnosis.counted(often[0]),
    )


def _last_moves(diagnosis: Diagnosis) -> dict[str, int]:
    """When updates, or ops that write, changed each tensor last since the first pass: as an average of other weights
    is written, too."""
    begun = min(diagnosis.pass_step.values(), default=0)
    moves = {
        leaf: diagnosis.update_step.get(move.id, -1) for move in diagnosis.moves for leaf in diagnosis.changed_by(move)
    }
    for op in diagnosis.trace.ops:
        at = diagnosis.op_step.get(op.id, 0)
        if op.in_place and op.inputs and at > begun:
            leaf = diagnosis.identity(op.inputs[0])
            moves[leaf] = max(moves.get(leaf, -1), at)
    return moves


def _in_eval_as_a_whole(diagnosis: Diagnosis) -> set[int]:
    """Places of the ops of models in eval mode: where a part of one is in train mode, it was put there on purpose."""
    tops = (call for call in diagnosis.trace.calls if call.parent is None and not call.training)
    return {diagnosis.op_at[op.id] for call in tops for op in diagnosis.ops_of(call)}


def evaluated_with_grad(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model in eval mode that was recorded for a backward pass that never came, or that brought gradients to its
    parameters alone, as to those of a teacher, which no step moves any more."""
    trained = bool(diagnosis.steps)
    tops = [call for call in diagnosis.trace.calls if call.parent is None and not call.raised] if trained else []
    quiet = [call for call in tops if not call.training and call.grad_mode == "grad"]
    quiet = [call for call in quiet if not _is_of_the_library(diagnosis, call)]
    idle = [call for call in quiet if _is_for_nothing(diagnosis, call)]
    fed = [call for call in quiet if _is_fed_in_vain(diagnosis, call)]
    for calls, is_fed in ((idle, "0"), (fed, "1")):
        if not calls:
            continue
        ops = [op for call in calls for op in diagnosis.ops_of(call)]
        code, first = diagnosis.code, calls[0]
        statement = code.statement_at(first.span)
        is_shared = any(call.span == first.span and call not in calls for call in tops)
        is_plain = calls is idle and not is_shared and code.enclosing(statement, ast.For) is None
        simple = statement if is_plain else None
        yield Finding(
            code="evaluated_with_grad",
            severity="note",
            span=first.span,
            tensors=tuple(op.outputs[0] for op in ops[-1:] if op.outputs),
            parameters={
                "line": line(first.span),
                "module": diagnosis.module_name(module) if (module := diagnosis.modules.get(first.module)) else "",
                "bytes": str(sum(op.saved_bytes for op in ops)),
                "nodes": str(sum(len(op.nodes) for op in ops)),
                "count": diagnosis.counted(calls),
                "is_fed": is_fed,
                "is_shared": str(int(is_shared)),
            },
            fix=code.indent(simple, "with torch.no_grad():") if simple is not None and len(calls) == 1 else (),
        )


def _is_of_the_library(diagnosis: Diagnosis, call: ModuleCall) -> bool:
    """Whether a function of a library ran a module on nothing but parameters, as `convert` does with what is to round
    the weights: no model of the program is evaluated."""
    written = diagnosis.code.call_at(call.span)
    if written is None or dotted(written.func).partition(".")[0] not in diagnosis.code.imported:
        return False
    ops = diagnosis.ops_of(call)
    made = {output for op in ops for output in op.outputs}
    given = {tensor for op in ops for tensor in op.inputs} - made
    return all(diagnosis.tensors[tensor].role in ("parameter", "buffer") for tensor in given)


def _is_fed_in_vain(diagnosis: Diagnosis, call: ModuleCall) -> bool:
    """Whether gradients came through a model to its parameters and to nothing else, in passes for another model that
    steps go on to move, while none moves this one and nobody reads its gradients."""
    ops, module = diagnosis.ops_of(call), diagnosis.modules.get(call.module)
    own = diagnosis.leaves_of.get(diagnosis.outermost(module).id, set()) if module is not None else set()
    through = {diagnosis.visited[node] for op in ops for node in op.nodes if node in diagnosis.visited}
    passes = [diagnosis.trace.passes[number] for number in through]
    made = {output for op in ops for output in op.outputs}
    given = {tensor for op in ops for tensor in op.inputs if diagnosis.is_tracked(tensor)} - made
    fed = {leaf for pass_ in passes for leaf in fed_by(pass_)}
    if own.isdisjoint(fed) or not all(diagnosis.identity(each) in own for each in given):
        return False
    begin = min(diagnosis.pass_step[pass_.id] for pass_ in passes)
    later = [step for step in diagnosis.steps if diagnosis.update_step.get(step.id, -1) > begin]
    held = {leaf for step in later for leaf in diagnosis.held_by(step)}
    return own.isdisjoint(held) and not fed.isdisjoint(held) and not any(map(is_grad, diagnosis.code.attributes))


def _is_for_nothing(diagnosis: Diagnosis, call: ModuleCall) -> bool:
    ops = diagnosis.ops_of(call)
    return any(op.nodes for op in ops) and not any(map(diagnosis.reaches_a_pass, ops))


def switches_without_with(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`torch.no_grad()` as a statement of its own: made and thrown away."""
    code = diagnosis.code
    for call in code.calls:
        above = code.parents.get(call)
        name = dotted(call.func)
        is_switch = called(call) in SWITCHES and name.startswith(MODULE_PREFIXES)
        if is_switch and isinstance(above, ast.Expr) and diagnosis.has_run(call):
            yield diagnosis.finding("switch_without_with", "error", call, code=code.short(call))
