"""Where the program makes its optimizers and what it gives them: parameters left out, whole models forgotten, frozen
ones among them."""

import ast
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from engine.findings.diagnosis import (
    Diagnosis,
    by_number,
    fed_by,
    grouped,
    line,
)
from engine.findings.optimizer_code import (
    PARAMETERS,
    bound_once,
    calls_bound,
    is_part_of,
    made_by,
    made_later,
    models_given,
    receiver,
    span_of,
)
from engine.program.edits import Edits
from engine.program.names import called, dotted, is_grad, keyword
from engine.program.source import Source
from engine.trace import Finding, Pass, Tensor, Update

ALIASES = {"learning_rate": "lr", "learningRate": "lr", "wd": "weight_decay", "l2": "weight_decay", "beta": "betas"}
THAWS = ("requires_grad = True", "requires_grad_()", "requires_grad_(True)")
FREEZES = ("requires_grad = False", "requires_grad_(False)")
"""How statements end that let parameters learn again, or no longer."""
LONG_LIFE = 20
"""Steps from which on the first ones of an optimizer, which has no memory yet, count for little."""


def left_out_of_optimizers(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Parameters of a model that got gradients and never moved, though an optimizer trains the rest of it: it holds
    what they have replaced, or was given all that the model had when it was made."""
    fed = {leaf for pass_ in _passes_before_the_last_step(diagnosis) for leaf in fed_by(pass_)}
    registered = {
        diagnosis.identity(member.tensor)
        for module in diagnosis.trace.modules
        if "(" not in module.path
        for member in module.parameters
    }
    still = (fed & registered) - diagnosis.held - diagnosis.stepped
    for held, step in _optimizers(diagnosis).items():
        replaced = [leaf for leaf in held if leaf not in diagnosis.root_of and leaf not in diagnosis.fed]
        made = bound_once(diagnosis, receiver(diagnosis, step))
        thawed = _thawed(diagnosis, made)
        is_outlived = _last_fed(diagnosis, held) < _first_fed(diagnosis, still)
        if _has_ended(diagnosis, held, _first_fed(diagnosis, still)):
            continue  # to move them is another's work by then
        asked = models_given(made) if thawed is not None or is_outlived else []
        leaves = sorted((*held, *still), key=by_number)
        roots = (root for leaf in leaves if (root := diagnosis.root_of.get(leaf)) is not None)
        for root in {root.id: root for root in roots}.values():
            left = sorted((leaf for leaf in still if diagnosis.root_of.get(leaf) is root), key=by_number)
            if held.isdisjoint(diagnosis.leaves_of.get(root.id, ())) and root.path not in asked:
                continue
            is_whole = root.path in models_given(made) and not _picks(made)
            if not left or not (replaced or thawed is not None or is_whole):
                continue
            bound = (each for each in diagnosis.code.bindings if dotted(each.targets[0]) == root.path)
            again = next((each for each in bound if made is not None and each.lineno > made.lineno), None)
            is_old = is_outlived and thawed is None and again is not None
            yield diagnosis.warning(
                "optimizer_of_old_model" if is_old else "not_in_optimizer" if thawed is None else "thawed_too_late",
                again if is_old else thawed or span_of(diagnosis, made) or step.span,
                tensors=left,
                fix=() if is_old else made_later(diagnosis, made),
                optimizer=step.variable or step.optimizer or "",
                model=root.path,
                names=diagnosis.say_all(left),
                count=str(len(left)),
                made_line=line(span_of(diagnosis, made) or step.span),
            )


def _picks(made: ast.Assign | None) -> bool:
    """Whether an optimizer is given some of the parameters that are asked for, by a condition or by their places."""
    nodes = ast.walk(made) if made is not None else ()
    return any(
        isinstance(node, ast.Slice)
        or (isinstance(node, ast.comprehension) and bool(node.ifs))
        or (isinstance(node, ast.Call) and called(node) in ("filter", "islice"))
        for node in nodes
    )


def _has_ended(diagnosis: Diagnosis, held: frozenset[str], at: int) -> bool:
    """Whether from a place in the timeline on only other optimizers step than the one that holds this."""
    later = [each for each in diagnosis.steps if diagnosis.update_step.get(each.id, -1) > at]
    return len(later) > 0 and all(held != frozenset(diagnosis.held_by(each)) for each in later)


def _last_fed(diagnosis: Diagnosis, leaves: Iterable[str]) -> int:
    """The place in the timeline of the last pass that brought gradients to some leaves."""
    return max((steps[-1][0] for leaf in leaves if (steps := diagnosis.gradient_steps.get(leaf))), default=-1)


def _first_fed(diagnosis: Diagnosis, leaves: Iterable[str]) -> int:
    return min((steps[0][0] for leaf in leaves if (steps := diagnosis.gradient_steps.get(leaf))), default=-1)


def fed_and_never_moved(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Parameters that get a gradient in pass after pass and that nothing moves or reads: of no model, or of a layer
    the rest of which an optimizer holds."""
    passes = _passes_before_the_last_step(diagnosis)
    counts = Counter(leaf for pass_ in passes for leaf in fed_by(pass_))
    layer = {
        diagnosis.identity(member.tensor): module.id
        for module in diagnosis.trace.modules
        for member in module.parameters
    }
    split = {layer[leaf] for leaf in diagnosis.held if leaf in layer and len(diagnosis.tensors[leaf].shape) > 1}
    still = [
        leaf
        for leaf, count in counts.items()
        if count > 1 and leaf not in diagnosis.held | diagnosis.moved and diagnosis.is_parameter(leaf)
    ]
    found = sorted(
        (leaf for leaf in still if layer.get(leaf, "") in split or (leaf not in layer and diagnosis.has_names(leaf))),
        key=by_number,
    )
    is_read = any(is_grad(node) and isinstance(node.ctx, ast.Load) for node in diagnosis.code.attributes)
    for step in diagnosis.steps[:1] if found and not is_read else ():
        made = made_by(diagnosis, step)
        yield diagnosis.warning(
            "fed_and_never_moved",
            span_of(diagnosis, made) or step.span,
            tensors=found[:8],
            names=diagnosis.say_all(found),
            count=str(counts[found[0]]),
            optimizer=receiver(diagnosis, step) or step.optimizer or "",
        )


def _thawed(diagnosis: Diagnosis, made: ast.Assign | None) -> ast.stmt | None:
    """Where parameters were told to require a gradient again, after an optimizer was made that leaves out frozen
    ones."""
    frozen = frozen_before(diagnosis, made)
    asked = (place for each in _switched(diagnosis, THAWS) for place in (each, *_calls_beside(diagnosis, each, made)))
    later = [each for each in asked if made is not None and each.lineno > made.lineno]
    return later[0] if later and frozen is not None else None


def _calls_beside(diagnosis: Diagnosis, statement: ast.stmt, made: ast.Assign | None) -> Iterator[ast.stmt]:
    """Where the function that a statement stands in was called, in the function or part that also made an optimizer."""
    code = diagnosis.code
    inside, beside = (code.function(each) if each is not None else None for each in (statement, made))
    for call in code.calls if inside is not None and inside is not beside else ():
        place = code.statement(call) if inside is not None and called(call) == inside.name else None
        if place is not None and code.function(place) is beside and diagnosis.has_run(call):
            yield place


def frozen_before(diagnosis: Diagnosis, made: ast.stmt | ast.expr | None) -> ast.stmt | None:
    """What froze parameters last, before a statement or call that leaves out frozen ones."""
    if made is None or "requires_grad" not in diagnosis.code.text(made):
        return None
    return next((each for each in _switched(diagnosis, FREEZES)[::-1] if each.lineno < made.lineno), None)


def parameters(diagnosis: Diagnosis) -> list[Tensor]:
    """The last states of the parameters that modules hold at the end, or of all there have been if none is known."""
    held = {diagnosis.identity(member.tensor) for module in diagnosis.trace.modules for member in module.parameters}
    met = {diagnosis.identity(one.id): one for one in diagnosis.trace.tensors if diagnosis.is_parameter(one.id)}
    return [one for leaf, one in met.items() if leaf in (held or met)]


def _switched(diagnosis: Diagnosis, ends: tuple[str, ...]) -> list[ast.stmt]:
    """The statements that ran and end so, of those that switch `requires_grad`, in order."""
    code = diagnosis.code
    asked = (code.statement(node) for node in code.attributes if node.attr.rstrip("_") == "requires_grad")
    ran = [each for each in asked if each is not None and diagnosis.has_run(each) and code.text(each).endswith(ends)]
    return sorted(ran, key=lambda each: each.lineno)


def models_without_optimizer(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Models in training mode that got gradients in pass after pass, while an optimizer moved another model, and
    never moved."""
    steps = diagnosis.steps
    if len(steps) < 2:
        return
    roots = {diagnosis.modules[root].path: leaves for root, leaves in diagnosis.leaves_of.items()}
    models = {path: leaves for path, leaves in roots.items() if "(" not in path}
    trained = [model for model, leaves in models.items() if leaves & diagnosis.stepped]
    asked = (call for call in diagnosis.code.calls if called(call) in (*PARAMETERS, "state_dict") or _copies(call))
    handed_out = [call.func for call in asked if not _is_for_switching(diagnosis, call)]
    passes = _passes_before_the_last_step(diagnosis)
    optimizers = {step.variable: step for step in steps}
    for model, leaves in models.items():
        fed = [pass_ for pass_ in passes if not leaves.isdisjoint(fed_by(pass_))]
        if not trained or len(fed) < 2 or leaves & (diagnosis.stepped | diagnosis.held):
            continue
        if _was_evaluated(diagnosis, model) or any(is_part_of(function, model) for function in handed_out):
            continue
        step = next(step for step in steps if diagnosis.update_step[step.id] > diagnosis.pass_step[fed[0].id])
        held = set(diagnosis.held_by(step))
        made = bound_once(diagnosis, step.variable)
        others = (name for name, other in optimizers.items() if set(diagnosis.held_by(other)) == held)
        twin = next((name for name in others if name != step.variable), None)
        is_twin = twin is not None
        yield diagnosis.warning(
            "optimizer_of_another_model" if is_twin else "model_without_optimizer",
            span_of(diagnosis, made) or step.span,
            tensors=tuple(sorted(leaves, key=by_number)),
            fix=_other_model_given(diagnosis, made, model) if is_twin else (),
            model=model,
            count=str(len(leaves)),
            passes=diagnosis.counted(fed),
            optimizer=step.variable or step.optimizer or "",
            other=twin or "",
            trained=next((name for name in trained if models[name] & held), trained[0]),
            line=line(fed[0].span),
        )


def _copies(call: ast.Call) -> bool:
    """Whether it gives a model the weights of another, which is trained in its place."""
    inside = (each for argument in call.args for each in ast.walk(argument) if isinstance(each, ast.Call))
    return called(call) == "load_state_dict" and any(called(each) == "state_dict" for each in inside)


def _optimizers(diagnosis: Diagnosis) -> dict[frozenset[str], Update]:
    """A step of each optimizer, by what it holds; of several in turn that hold the same, of the last."""
    return {frozenset(diagnosis.held_by(step)): step for step in diagnosis.steps}


def _passes_before_the_last_step(diagnosis: Diagnosis) -> list[Pass]:
    last = max(diagnosis.trained_until, 0)
    return [pass_ for pass_ in diagnosis.trace.passes if diagnosis.pass_step.get(pass_.id, last) < last]


def _was_evaluated(diagnosis: Diagnosis, name: str) -> bool:
    """Whether it ever computed in eval mode, as what is only looked through does."""
    paths = {module.id: diagnosis.outermost(module).path for module in diagnosis.trace.modules}
    return any(not call.training for call in diagnosis.trace.calls if paths.get(call.module) == name)


def _is_for_switching(diagnosis: Diagnosis, call: ast.Call) -> bool:
    """Whether parameters are asked for to freeze or thaw them: `for p in net.parameters(): p.requires_grad = …`."""
    loop = diagnosis.code.parents.get(call)
    body = loop.body if isinstance(loop, ast.For) and loop.iter is call else []
    return bool(body) and all(diagnosis.code.text(each).endswith((*THAWS, *FREEZES)) for each in body)


def _other_model_given(diagnosis: Diagnosis, made: ast.Assign | None, name: str) -> Edits:
    """The optimizer made of this model's parameters in place of another's."""
    functions = (call.func for call in ast.walk(made) if isinstance(call, ast.Call)) if made is not None else ()
    given = [function.value for function in functions if isinstance(function, ast.Attribute) and dotted(function.value)]
    asked = [model for model in given if dotted(model) in models_given(made)]
    return (diagnosis.code.replace(asked[0], name),) if len(asked) == 1 else ()


def embeddings_frozen(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`from_pretrained` without a word on `freeze`, whose table an optimizer holds and never moves."""
    idle = {leaf for step in diagnosis.steps for leaf in step.without_gradient} - diagnosis.moved
    for call in diagnosis.code.calls if idle else ():
        if called(call) != "from_pretrained" or len(call.args) != 1 or keyword(call, "freeze") is not None:
            continue
        tables = [module for module in diagnosis.trace.modules if module.type in ("Embedding", "EmbeddingBag")]
        leaves = [diagnosis.identity(member.tensor) for module in tables for member in module.parameters]
        frozen = [leaf for leaf in leaves if leaf in idle and not diagnosis.is_tracked(leaf)]
        if frozen and diagnosis.has_run(call):
            yield diagnosis.finding("embedding_frozen", "note", call, tensors=frozen, names=diagnosis.say_all(frozen))


def settings_without_effect(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`opt.lr = 0.01`: Python makes an attribute; the optimizer reads its `param_groups`."""
    code = diagnosis.code
    called_on = ((code.stands_for(receiver(diagnosis, step)), step) for step in reversed(diagnosis.steps))
    steps = {name: step for name, step in called_on if name}
    types = {definition.name for definition in code.nodes if isinstance(definition, ast.ClassDef)}
    for node in code.nodes:
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        step = steps.get(code.stands_for(dotted(target.value), target)) if isinstance(target, ast.Attribute) else None
        if step is None or not isinstance(target, ast.Attribute) or step.optimizer in types or not step.settings:
            continue
        option = ALIASES.get(target.attr, target.attr)
        if option not in step.settings[0] or not diagnosis.has_run(node):
            continue
        name = code.text(target.value)
        if any(attribute.attr == "param_groups" for attribute in code.attributes) and any(
            code.text(read) == code.text(target) and isinstance(read.ctx, ast.Load) for read in code.attributes
        ):
            continue  # the program hands it on itself
        yield diagnosis.finding(
            "setting_without_effect",
            "error",
            node,
            fix=(code.replace(target, f'{name}.param_groups[0]["{option}"]'),) if len(step.settings) == 1 else (),
            name=name,
            attribute=target.attr,
            option=option,
            value=step.settings[0][option],
        )


def optimizers_made_anew(diagnosis: Diagnosis) -> Iterator[Finding]:
    """An optimizer with a memory that is made again while the same parameters are trained: its memory is gone each
    time."""
    whole = (step for step in diagnosis.steps if step.optimizer)
    for (name, kind), own in grouped(whole, lambda step: (receiver(diagnosis, step), step.optimizer)).items():
        fresh = [step for step in own if _starts_without_memory(step)]
        made = _optimizer_maker(diagnosis, name, kind)
        if len(fresh) < 2 or made is None or not _is_same_beginning(diagnosis, fresh):
            continue
        if _has_other_data(diagnosis, own, fresh) or _begins_elsewhere(own, fresh):
            continue
        yield diagnosis.finding(
            "optimizer_made_anew",
            "warning" if len(own) < LONG_LIFE * len(fresh) else "note",
            made,
            tensors=sorted(diagnosis.held_by(own[0]), key=by_number),
            name=dotted(made.targets[0]),
            type=kind or "",
            count=diagnosis.counted(own),
            times=diagnosis.counted(fresh),
        )


def _starts_without_memory(step: Update) -> bool:
    return bool(step.state) and all(change.before is None and change.before_text is None for change in step.state)


def _optimizer_maker(diagnosis: Diagnosis, name: str, kind: str | None) -> ast.Assign | None:
    """The one statement that makes it, when that runs anew each time."""
    code = diagnosis.code
    alike = calls_bound(diagnosis, kind)
    made = [binding for binding in alike if dotted(binding.targets[0]) == name] or alike
    return made[0] if len(made) == 1 and _comes_again(code, made[0]) else None


def _comes_again(code: Source, made: ast.Assign) -> bool:
    """Whether a loop runs it, or the function that it is in: called twice in a row that trains twice, on purpose."""
    function = code.function(made)
    return code.in_loop(made) or (function is not None and any(map(code.in_loop, code.calls_to(function))))


def _is_same_beginning(diagnosis: Diagnosis, fresh: list[Update]) -> bool:
    """Whether all begin with the same parameters and options; a new beginning with others is meant."""
    first = fresh[0]
    moved = set(diagnosis.changed_by(first))
    return all(step.settings == first.settings and set(diagnosis.changed_by(step)) == moved for step in fresh)


def _begins_elsewhere(steps: list[Update], fresh: list[Update]) -> bool:
    """Whether each new one finds other values in all parameters than the one before had left, as when rewound."""
    left = {step.id: {change.after for change in last.changes} for last, step in pairwise(steps)}
    return all(left[step.id].isdisjoint(change.before for change in step.changes) for step in fresh if step.id in left)


def _has_other_data(diagnosis: Diagnosis, steps: list[Update], fresh: list[Update]) -> bool:
    """Whether each optimizer trains on one tensor of its own in all of its steps, as in a cross-validation."""
    times = [diagnosis.update_step.get(step.id, -1) for step in steps]
    begins = [diagnosis.update_step.get(step.id, -1) for step in fresh]
    given: dict[int, list[str]] = {}
    for call in (call for call in diagnosis.trace.calls if call.parent is None):
        ops = diagnosis.ops_of(call)
        at = next((time for time in times if ops and time > diagnosis.op_step.get(ops[0].id, time)), None)
        if at is not None and any(map(diagnosis.reaches_a_pass, ops)):
            given.setdefault(bisect(begins, at), []).extend(ops[0].inputs[:1])
    own = [set(tensors) for tensors in given.values() if len(tensors) > 1]
    return len(own) == len(given) == len(set[str]().union(*own)) > 1
