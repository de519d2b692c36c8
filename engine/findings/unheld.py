"""Parameters that a loss is computed with and no optimizer holds: layers made in a forward, parameters behind an op,
copies taken for ties, one layer put into several places, a model that was never trained evaluated for one that was."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from engine.findings.diagnosis import Diagnosis, by_number, is_alike, near, numbers_of, says, times
from engine.findings.gradient_flow import PRODUCTS
from engine.program.edits import Edits
from engine.program.names import called, dotted, is_reference, keyword
from engine.program.spans import holds
from engine.trace import Finding, Module, ModuleCall, Op, Span, Tensor

MODES = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
"""Layers that eval mode changes."""
COPIES_VALUES = ("data", "copy_", "clone")


def layers_made_in_forward(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Layers that belong to no model and are new in every forward: their parameters are never trained, and no
    `eval()` reaches them."""
    made: dict[tuple[Span | None, str], list[Module]] = {}
    calls = {call.module: call for call in reversed(diagnosis.trace.calls)}
    drawn = {diagnosis.identity(op.inputs[0]): op for op in reversed(diagnosis.trace.ops) if op.in_place and op.inputs}
    for module in diagnosis.trace.modules:
        birth = _birth(diagnosis, module, calls.get(module.id), drawn)
        if birth is not None:
            made.setdefault((birth, module.type), []).append(module)
    for (birth, kind), layers in made.items():
        leaves = [diagnosis.identity(member.tensor) for layer in layers for member in layer.parameters]
        untrained = [leaf for leaf in leaves if leaf in diagnosis.fed and leaf not in diagnosis.stepped]
        if len(layers) < 2 or (leaves and (not diagnosis.steps or not untrained)):
            continue
        if not leaves and not _is_deaf(diagnosis, layers):
            continue
        yield diagnosis.warning(
            "layer_made_in_forward" if leaves else "mode_layer_made_in_forward",
            birth,
            tensors=untrained[:8],
            layer=kind,
            count=diagnosis.counted(layers),
        )


def _birth(diagnosis: Diagnosis, module: Module, call: ModuleCall | None, drawn: dict[str, Op]) -> Span | None:
    """Where a module that no model holds was made, while another one's forward ran; `call` is its first one, `drawn`
    what first wrote into a parameter."""
    if not module.path.rpartition(".")[2].startswith("("):
        return None
    around = diagnosis.calls.get(call.parent or "") if call is not None else None
    if call is None or around is None or call.span is None:
        return None
    first = drawn.get(diagnosis.identity(module.parameters[0].tensor)) if module.parameters else None
    if first is not None and first.module is None:
        return None
    forward = diagnosis.code.statement_at(call.span)
    function = diagnosis.code.function(forward) if forward is not None else None
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call)) if function is not None else ()
    made = [diagnosis.code.span(node) for node in calls if called(node) == module.type]
    here = first.span if first is not None else call.span
    return next((span for span in made if here and (holds(span, here) or holds(here, span))), next(iter(made), None))


def _is_deaf(diagnosis: Diagnosis, layers: list[Module]) -> bool:
    """Whether one is in train mode while the model around it is in eval mode."""
    ids = {layer.id for layer in layers if layer.type in MODES}
    inside = (call for call in diagnosis.trace.calls if call.module in ids and call.training)
    return any(not diagnosis.calls[call.parent].training for call in inside if call.parent in diagnosis.calls)


def leaves_not_listed(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`self.w = torch.randn(…, requires_grad=True)`, which the model does not list, or `self.w = nn.Parameter(x) * 2`,
    where what is kept is the product: leaves that get gradients, and nobody trains them. Or a tensor without gradient
    that `nn.init` was given, as weights are."""
    code = diagnosis.code
    types = {module.type for module in diagnosis.trace.modules}
    for statement in code.bindings if diagnosis.steps else ():
        name, owner = dotted(statement.targets[0]), code.enclosing(statement, ast.ClassDef)
        call = next((node for node in ast.walk(statement.value) if _makes_leaf(node)), None)
        made = {output for op in diagnosis.ops_at(code.span(statement.value)) for output in op.outputs}
        plain = [leaf for leaf in made if not diagnosis.is_parameter(leaf)]
        is_own = owner is not None and owner.name in types and name.startswith("self.")
        asked = _untrained(diagnosis, plain)
        loose = asked or (_set_out_as_weights(diagnosis, plain) if is_own else [])
        if owner is not None and is_own and loose:
            yield diagnosis.warning(
                "tensor_not_parameter",
                statement,
                tensors=loose,
                fix=as_parameter(diagnosis, statement.value, is_asked=bool(asked)),
                name=name,
                model=owner.name,
                is_asked=str(int(bool(asked))),
            )
        elif call is not None and call is not statement.value and not _is_data(call) and not code.in_loop(statement):
            above = (node for node in code.around(call) if isinstance(node, ast.expr))
            ops = [op for node in above for op in diagnosis.ops_at(code.span(node))]
            given = (leaf for op in ops if op.nodes for leaf in op.inputs if not diagnosis.has_names(leaf))
            is_meant = called(call) == "Parameter" or _weighs_data(diagnosis, made)
            if is_meant and (lost := _untrained(diagnosis, given)):
                yield diagnosis.warning(
                    "parameter_behind_op",
                    statement,
                    tensors=lost[:1],
                    nodes=ops[0].nodes[:1],
                    name=name,
                    code=code.short(statement.value),
                    op=ops[-1].name,
                    leaf=code.short(call),
                )


def _weighs_data(diagnosis: Diagnosis, made: set[str]) -> bool:
    """Whether what a line made, once, is a weight: data is multiplied with it. A point that a model is differentiated
    at is multiplied with the model's weights."""
    taken = (op.inputs for op in diagnosis.ops_named(PRODUCTS) if len(op.inputs) > 1)
    by_data = (weight for data, weight, *_ in taken if not diagnosis.is_tracked(data))
    return len(made) == 1 and any(not made.isdisjoint((weight, *diagnosis.made_from(weight))) for weight in by_data)


def _set_out_as_weights(diagnosis: Diagnosis, made: list[str]) -> list[str]:
    """Those that `nn.init` filled and a loss then came from, when no gradient was asked for them and none moved."""
    filled: set[str] = set()
    for op in diagnosis.trace.ops if made else ():
        call = diagnosis.code.call_at(op.span) if op.in_place and op.inputs else None
        leaf = diagnosis.identity(op.inputs[0]) if call is not None else ""
        if call is not None and leaf in made and "init" in dotted(call.func).split(".")[:-1]:
            later = near(op.outputs, diagnosis.made_of)
            if any(map(diagnosis.reaches_a_pass, (taker for one in later for taker in diagnosis.takers.get(one, ())))):
                filled.add(leaf)
    return sorted(filled - diagnosis.fed - diagnosis.stepped - diagnosis.held, key=by_number)


def _untrained(diagnosis: Diagnosis, tensors: Iterable[str]) -> list[str]:
    """Those that are leaves and got gradients, when no step moved any of them."""
    leaves = sorted(diagnosis.fed.intersection(map(diagnosis.identity, tensors)), key=by_number)
    return leaves if diagnosis.stepped.isdisjoint(leaves) else []


def as_parameter(diagnosis: Diagnosis, value: ast.expr, *, is_asked: bool) -> Edits:
    """A parameter of what a call makes, with or without a gradient asked for."""
    code = diagnosis.code
    word = keyword(value, "requires_grad") if isinstance(value, ast.Call) else None
    name = code.under_nn("Parameter")
    if not isinstance(value, ast.Call) or (word is None) == is_asked or not name:
        return ()
    asked = code.argument_removed(value, word) if word is not None else ()
    return (code.before(value, f"{name}("), *asked, code.after(value, ")"))


def _makes_leaf(node: ast.AST) -> TypeGuard[ast.Call]:
    """`nn.Parameter(...)`, or a call with `requires_grad=True`."""
    if not isinstance(node, ast.Call):
        return False
    return called(node) == "Parameter" or says(node, "requires_grad") == "True"


def _is_data(call: ast.Call) -> bool:
    """Whether a tensor is made of values that the program has from elsewhere: an input, not the start of a weight."""
    names = (node for given in call.args for node in ast.walk(given) if isinstance(node, ast.Name))
    return called(call) in ("tensor", "as_tensor") and any(names)


def layers_repeated(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`[nn.Linear(8, 8)] * 3`: one layer three times, so one set of parameters."""
    code = diagnosis.code
    often = _calls_in_one_forward(diagnosis)
    trained = {root for root, leaves in diagnosis.leaves_of.items() if not leaves.isdisjoint(diagnosis.moved)}
    whole = Counter(call.module for call in diagnosis.trace.calls if call.parent is None and call.module in trained)
    for node in code.nodes:
        layer, text, places = _repeated(diagnosis, node) if isinstance(node, ast.expr) else (None, "", 1)
        if layer is None or node not in code.parents or not isinstance(node, ast.expr):
            continue
        kin = [module for module in diagnosis.trace.modules if module.type == layer]
        is_made_here = any(isinstance(each, ast.Call) and called(each) == layer for each in ast.walk(node))
        ran = whole if is_made_here and not any(often.get(module.id, 0) > 1 for module in kin) else often
        alike = [module for module in kin if ran.get(module.id, 0) > 1]
        if len(alike) == places:
            yield diagnosis.finding(
                "layer_repeated",
                "warning" if is_made_here else "note",  # one that has a name may well be shared on purpose
                node,
                tensors=sorted(diagnosis.leaves_of.get(alike[0].id, ()), key=by_number),
                layer=alike[0].path,
                count=str(ran[alike[0].id]),
                made=text,
            )


def _repeated(diagnosis: Diagnosis, node: ast.expr) -> tuple[str | None, str, int]:
    """The class of the layer in a list that holds one object several times, how one is made, and how many of the class
    it has."""
    item: ast.expr | None = None
    match node:
        case (
            ast.BinOp(op=ast.Mult(), left=ast.List(elts=[only])) | ast.BinOp(op=ast.Mult(), right=ast.List(elts=[only]))
        ):
            item = only
        case ast.BinOp(op=ast.Mult(), left=ast.List(elts=parts)) | ast.BinOp(op=ast.Mult(), right=ast.List(elts=parts)):
            learn = {
                each.type for each in diagnosis.trace.modules if each.parameters or diagnosis.code.classes(each.type)
            }
            kinds = [called(part) for part in parts if isinstance(part, ast.Call) and called(part) in learn]
            made = f"{diagnosis.code.under_nn('Sequential')}({', '.join(map(diagnosis.code.short, parts))})"
            return (kinds[0], made, kinds.count(kinds[0])) if kinds else (None, "", 1)
        case ast.ListComp(elt=ast.Name() as name, generators=[ast.comprehension(target=target)]) if (
            dotted(target) != name.id
        ):
            item = name
    text = ""
    if item is not None and is_reference(item):
        given = _handed_over(diagnosis, item)
        text = f"copy.deepcopy({dotted(item)})" if given is not None else ""
        item = given if given is not None and not is_reference(given) else diagnosis.value_of(dotted(given or item))
    return (called(item), text or diagnosis.code.short(item), 1) if isinstance(item, ast.Call) else (None, "", 1)


def _handed_over(diagnosis: Diagnosis, name: ast.expr) -> ast.expr | None:
    """What the one call of a function, or of a class, gives for the parameter that a name is in it."""
    function, owner = diagnosis.code.function(name), diagnosis.code.enclosing(name, ast.ClassDef)
    if not isinstance(function, ast.FunctionDef):
        return None
    parameters = [each.arg for each in function.args.args if owner is None or each.arg != "self"]
    made = owner.name if owner is not None else function.name
    calls = [call for call in diagnosis.code.calls if called(call) == made]
    if dotted(name) not in parameters or len(calls) != 1:
        return None
    given = dict(zip(parameters, calls[0].args, strict=False)) | {word.arg: word.value for word in calls[0].keywords}
    return given.get(dotted(name))


def _calls_in_one_forward(diagnosis: Diagnosis) -> dict[str, int]:
    """For each module how often it ran in one run of the module around it."""
    found: dict[str, int] = {}
    for (parent, module), count in Counter((call.parent, call.module) for call in diagnosis.trace.calls).items():
        found[module] = max(count if parent is not None else 0, found.get(module, 0))
    return found


def tied_by_copy(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Two weights of one model that began with the same numbers, in layers of different kinds, and went apart: a copy
    was taken for a tie."""
    first: dict[tuple[str, tuple[int, ...], object], tuple[Module, str]] = {}
    starts, now = _before_training(diagnosis), diagnosis.last_states
    for module in diagnosis.trace.modules if diagnosis.steps else ():
        for member in module.parameters:
            identity = diagnosis.identity(member.tensor)
            start = starts.get(identity)
            if start is None or len(start.shape) < 2:
                continue
            key = (diagnosis.outermost(module).id, start.shape, start.data or start.summary)
            other, leaf = first.setdefault(key, (module, identity))
            is_same = leaf == identity or is_alike(now.get(leaf), now.get(identity))
            if is_same or other.type == module.type or not _varies(start):
                continue
            copy = _copied_at(diagnosis, {leaf, identity})
            yield diagnosis.warning(
                "tied_by_copy",
                copy,
                tensors=(leaf, identity),
                first=f"{other.path}.weight",
                second=f"{module.path}.{member.name}",
                shape=times(start),
            )


def _before_training(diagnosis: Diagnosis) -> dict[str, Tensor]:
    """The states that the first steps found, by identity."""
    found: dict[str, Tensor] = {}
    for step in diagnosis.steps:
        for change in step.changes:
            before = diagnosis.tensors.get(change.before or "")
            if before is not None:
                found.setdefault(diagnosis.identity(before.id), before)
    return found


def _varies(tensor: Tensor) -> bool:
    """Whether its numbers are drawn, not all alike: what is filled with zeros is equal by chance."""
    numbers = numbers_of(tensor)
    return len(set(numbers)) > 2 if numbers else tensor.summary is not None and tensor.summary.std != 0


def _copied_at(diagnosis: Diagnosis, leaves: set[str]) -> Span | None:
    """The line that copied one into the other."""
    storages = {record.storage for leaf in leaves if (record := diagnosis.tensors.get(leaf)) is not None}
    for op in diagnosis.ops_named(COPIES_VALUES):
        given = diagnosis.input_of(op)
        if given is not None and given.storage in storages and op.pass_id is None:
            return op.span
    return None


def nothing_loaded(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`load_state_dict(..., strict=False)` that wrote into no parameter: no name in the file is one of the model's."""
    code = diagnosis.code
    cut = [left for left in diagnosis.trace.truncated if left.what in ("ops", "updates")]
    is_whole, is_sampled = not cut, all(left.limit == "sample" for left in cut)
    for call in code.calls if diagnosis.trace.failure is None else ():
        lenient = called(call) == "load_state_dict" and says(call, "strict") == "False"
        is_told = is_whole or (is_sampled and code.runs_once(call))  # of long loops alone turns are left out
        if not lenient or not call.args or not diagnosis.has_run(call) or not is_told:
            continue
        written = any(update.span == code.span(call) for update in diagnosis.trace.updates)
        if not written and not diagnosis.ops_at(code.span(call)) and ast.unparse(call.args[0]) != "{}":
            yield diagnosis.finding(
                "nothing_loaded",
                "error",
                call,
                model=dotted(call.func).removesuffix(".load_state_dict"),
                given=code.short(call.args[0]),
            )
