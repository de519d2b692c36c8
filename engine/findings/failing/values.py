"""Something else stands where a tensor was meant: nothing, a class, a layer, a pair, a number. What it is, and which
line made it."""

import ast
import math
import re
from collections.abc import Callable, Iterator
from itertools import takewhile

from engine.findings.diagnosis import RESETS, line, walk
from engine.findings.failing.case import Case, Rule, a, first_told, known, only_if
from engine.findings.failing.classes import unreturned
from engine.findings.leaves import subtraction
from engine.program.names import called, dotted, is_grad_of
from engine.program.rewriting import written
from engine.program.tree import defined_in, given_by
from engine.trace import Edit, Finding, Op, Tensor, Update

PAIRS = frozenset({"max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin"})
"""Functions that give values and indices together along an axis."""
RECURRENT = {"MultiheadAttention": ("output", "weights"), "LSTM": ("output", "(h, c)"), "LSTMCell": ("h", "c")}
RECURRENT |= dict.fromkeys(("RNN", "GRU"), ("output", "state"))
"""Layers whose call gives two things."""
METHODS = frozenset({"method", "method_descriptor", "builtin_function_or_method"})
_GIVES_NOTHING = frozenset(
    "append extend insert sort reverse clear remove update add shuffle backward step zero_grad load_state_dict"
    " register_buffer add_module".split()
)
"""Methods that do their work in place and return None; `load_state_dict` of optimizers."""
_TAKE_MORE = frozenset(
    "view reshape permute transpose expand repeat unsqueeze to add sub mul div matmul mm bmm gather masked_fill split"
    " chunk topk copy_ fill_ clamp pow".split()
)
"""Methods that ask for something in their brackets."""
_GIVES_NUMBER = frozenset({"item", "float", "int"})


def odd_value(case: Case) -> Finding | None:
    """Of the parts of the failing expression whose kind the message complains of, the first whose origin is known."""
    for node in _parts(case):
        operand = case.operand(node)
        kind = operand.type if operand is not None else ""
        if kind and not _complained_of(kind, case.failure.message):
            continue
        told = first_told((_about(origin, node, kind) for origin in _ORIGINS), case)
        if told is not None:
            return told
    return None


def _about(origin: Callable[[Case, ast.expr, str], Finding], node: ast.expr, kind: str) -> Rule:
    return lambda case: origin(case, node, kind)


def _parts(case: Case) -> Iterator[ast.expr]:
    """What the failing expression is made of, the whole of a chain of attributes before its beginning."""
    for node in ast.walk(case.node) if case.node is not None else ():
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Compare) and (
            node is not case.node or isinstance(node, ast.Call | ast.Name)
        ):
            yield node


def _complained_of(kind: str, message: str) -> bool:
    """Whether the message is about a value of that class; of a class itself it never says so, and what `max` gives is a
    tuple to it."""
    if kind in METHODS:
        return any(f"'{method}'" in message or message.endswith(f"not {method}") for method in METHODS)
    named = re.search(rf"(?<!\w){re.escape(kind)}(?!\w)", message) is not None
    is_pair = kind.rpartition(".")[2] in {*PAIRS, "tuple"}
    return named or kind == "type" or (is_pair and _is_of_several(message))


def _is_of_several(message: str) -> bool:
    return "tuple" in message or "sequence" in message


def _asked_of(case: Case, node: ast.expr) -> ast.Attribute:
    """What the failing expression asks of a part of it."""
    asked = a(ast.Attribute, case.node)
    only_if(asked.value is node)
    return asked


# Nothing


def _no_gradient(case: Case, node: ast.expr, kind: str) -> Finding:
    """A `.grad` that is None: not tracked, no leaf, its name given to another, no backward yet, dropped by `zero_grad`,
    or not reached."""
    grad = a(ast.Attribute, node)
    only_if(kind == "NoneType" and grad.attr == "grad")
    tensor = known(case.tensor_of(grad.value))
    said = {"name": case.code.short(grad.value), "grad": case.code.short(grad)}
    maker = case.diagnosis.maker.get(tensor.id)
    made = {"made_line": line(maker.span), "op": maker.name} if maker is not None else {}
    is_untracked = not tensor.requires_grad and maker is not None and maker.grad_mode != "grad"
    if maker is not None and (is_untracked or _took_the_name(case, tensor, maker, said["name"])):
        fix = _in_place(case, maker)
        return case.finding("grad_none_made_untracked", {**said, **made}, span=maker.span, tensors=(tensor,), fix=fix)
    if not tensor.requires_grad:
        return case.finding("grad_none_untracked", said, tensors=(tensor,))
    if not tensor.is_leaf:
        only_if(made)
        return case.finding("grad_none_non_leaf", {**said, **made}, tensors=(tensor,))
    guard, passes = _guarded(case, grad), case.diagnosis.trace.passes
    if not passes:
        code = "grad_none_before_backward" if guard else "grad_none_never_computed"
        return case.finding(code, said, tensors=(tensor,), fix=guard)
    identity = case.diagnosis.identity(tensor.id)
    if not any(added.tensor == identity for pass_ in passes for added in pass_.accumulations):
        asked = [one for one in passes if identity in map(case.diagnosis.identity, filter(None, one.inputs or ()))]
        said |= {"pass_line": line((asked or passes)[-1].span), "is_returned": str(int(bool(asked)))}
        return case.finding("grad_none_unreached", said, tensors=(tensor,))
    dropped = _dropped(case, identity)
    code = "grad_none_after_zero_grad" if dropped.kind == "zero_grad" else "grad_none_dropped"
    said |= {"reset_line": line(dropped.span), "is_reset": str(int(bool(guard)))}
    return case.finding(code, said, tensors=(tensor,), fix=guard)


def _took_the_name(case: Case, tensor: Tensor, maker: Op, name: str) -> bool:
    """Whether it is a leaf made since the last pass, computed from one that has a gradient and had its name."""
    diagnosis = case.diagnosis
    if not tensor.is_leaf or diagnosis.op_step[maker.id] < max(diagnosis.pass_step.values(), default=math.inf):
        return False
    behind = {diagnosis.identity(each) for each in walk([tensor.id], diagnosis.made_from)} & diagnosis.fed
    return any(name in one.names for one in diagnosis.trace.tensors if diagnosis.identity(one.id) in behind)


def _in_place(case: Case, maker: Op) -> tuple[Edit, ...]:
    """Each `w = w - lr * w.grad` written as `w -= lr * w.grad`, where that may stand."""
    bound = ((one, dotted(one.targets[0])) for one in case.code.bindings)
    updates = [one for one, name in bound if any(is_grad_of(node, name) for node in ast.walk(one.value))]
    right = [subtraction(case.code, one) for one in updates] if maker.grad_mode != "grad" else []
    return tuple(map(case.code.replace, updates, right)) if all(right) else ()


def _dropped(case: Case, identity: str) -> Update:
    """What set the gradient of a leaf to None last."""
    diagnosis = case.diagnosis
    updates = (update for update in reversed(diagnosis.trace.updates) if update.kind in RESETS)
    owners = ((update, map(diagnosis.gradient_owner.get, diagnosis.changed_by(update))) for update in updates)
    return known(next((update for update, leaves in owners if identity in leaves), None))


def _guarded(case: Case, node: ast.Attribute) -> tuple[Edit, ...]:
    """Zeroing under `if …grad is not None:`, and that of other gradients below; nothing for a statement that does more
    than that."""
    code, found = case.code, case.code.statement(node)
    block = code.block(found) if found is not None else []
    zeroed = [(one, _zeroed(one)) for one in block[block.index(found) :]] if found in block else []
    together = takewhile(lambda pair: pair[1] is not None, zeroed)
    heads = [(one, f"if {code.text(grad)} is not None:") for one, grad in together if grad is not None]
    return tuple(edit for one, head in heads for edit in code.indent(one, head))


def _zeroed(statement: ast.stmt) -> ast.Attribute | None:
    """The `.grad` that is all a statement changes."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="zero_" | "detach_" | "fill_") as function)):
            parts = ast.walk(function)
            return next((one for one in parts if isinstance(one, ast.Attribute) and one.attr == "grad"), None)
    return None


def _nothing_returned(case: Case, node: ast.expr, kind: str) -> Finding:
    """None from a function or a `forward` of the program that ends without `return`."""
    only_if(kind in ("", "NoneType") and "NoneType" in case.failure.message)
    function = known(_definition(case, a(ast.Call, case.value_of(node))))
    if _returned(function):
        branch = known(unreturned(function.body))
        return case.finding("return_missing_in_branch", span=case.code.span(branch), function=function.name)
    last = function.body[-1]
    fix: tuple[Edit, ...] = ()
    match last:
        case ast.Expr(value=value) if case.tensor_of(value) is not None:
            fix = (case.code.before(last, "return "),)
        case ast.Assign(targets=[ast.Name(id=name)]):
            fix = case.code.line_after(last, f"return {name}")
    return case.finding("return_missing", span=case.code.span(last), function=function.name, fix=fix)


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    """What the `return`s of a function give."""
    found = (inner.value for inner in ast.walk(function) if isinstance(inner, ast.Return))
    return [value for value in found if value is not None]


def _definition(case: Case, call: ast.expr) -> ast.FunctionDef | None:
    """The function of the program that a call runs: the only one of that name, or `forward` of the module's class."""
    if not isinstance(call, ast.Call):
        return None
    named = [one for one in case.code.functions if isinstance(one, ast.FunctionDef) and one.name == called(call)]
    if len(named) == 1:
        return named[0]
    made = called(call.func) if isinstance(call.func, ast.Call) else module_type(case, call.func)
    found = (defined_in(cls, "forward") for cls in case.code.classes(made))
    return next((forward for forward in found if forward is not None), None)


def _nothing_given_back(case: Case, node: ast.expr, kind: str) -> Finding:
    """`xs = xs.append(x)`, `opt = opt.step()`: such methods do something and give None."""
    bound = case.code.assignments(dotted(node))
    only_if(kind == "NoneType" and not any(isinstance(one.value, ast.Constant) for one in bound))
    calls = (written(case.code, one, "NAME = RECEIVER.METHOD(...)") for one in bound if case.diagnosis.has_run(one))
    made = [found for found in calls if found is not None and found.said["method"] in _GIVES_NOTHING]
    only_if(len(made) == 1)
    said, own = made[0].said, {one.name for one in case.code.functions if isinstance(one, ast.FunctionDef)}
    only_if(said["method"] not in own)
    others = [one for one in bound if one is not made[0].node]
    only_if(made[0].node is case.made_last(node) or all(_is_never_none(one.value) for one in others))
    is_other = len(bound) > 1 or said["name"] == said["receiver"]
    fix = (case.code.replace(made[0].node, made[0].as_("RECEIVER.METHOD(...)")),) if is_other else ()
    said["is_pass"] = str(int(said["method"] == "backward"))
    return case.finding("list_method_result", said, span=case.code.span(made[0].node), fix=fix)


def _is_never_none(value: ast.expr) -> bool:
    """Whether an expression gives an object of a class, or a list or dictionary written out."""
    made = called(value) if isinstance(value, ast.Call) else ""
    return made[:1].isupper() or isinstance(value, ast.List | ast.Dict)


def _gives(statement: ast.Assign, name: str) -> bool:
    """Whether it gives a name its value, be it one of many."""
    parts = (part for target in statement.targets for part in ast.walk(target))
    return any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in parts)


def _none_asked(case: Case, node: ast.expr, kind: str) -> Finding:
    """A name that is None still, asked for something."""
    asked = _asked_of(case, node)
    only_if(kind == "NoneType" and isinstance(node, ast.Name))
    stores = (one for one in case.code.nodes if isinstance(one, ast.Assign) and _gives(one, dotted(node)))
    made = [one for one in stores if case.code.function(one) is case.code.function(node)]
    only_if(case.statement not in made or not case.code.in_loop(node))  # the turn before may have made it None
    made = [one for one in made if one.lineno <= node.lineno and case.diagnosis.has_run(one)]
    made = [one for one in made if one is not case.statement]
    said = {"receiver": case.code.short(node), "name": asked.attr}
    return case.finding("none_asked", said, made_line=str(known(made[-1] if made else None).lineno))


# A class or a layer


def class_kept(case: Case, node: ast.expr, kind: str) -> Finding:
    """`model = Net`: the class itself, no object made of it."""
    only_if(kind == "type" and not case.code.classes(dotted(node)))
    kept = [one for one in case.code.bindings if dotted(one.value)]
    own = [one for one in kept if dotted(one.targets[0]) == dotted(node)]
    function = case.code.function(node)
    if function is not None and dotted(node) in [arg.arg for arg in function.args.args]:  # handed over by a caller
        own = [one for one in kept if case.code.classes(dotted(one.value))]
    only_if(len(own) == 1)
    cls = dotted(own[0].value)
    definitions = case.code.classes(cls)
    init = next((defined_in(definition, "__init__") for definition in definitions), None)
    takes_more = init is not None and len(init.args.args) > 1 + len(init.args.defaults)
    is_sure = cls.endswith("Loss") or (bool(definitions) and not takes_more)
    fix = (case.code.after(own[0].value, "()"),) if is_sure else ()
    return case.finding("class_not_made", span=case.code.span(own[0]), name=dotted(node), cls=cls, fix=fix)


def class_called(case: Case) -> Finding:
    """The same, called as if it were an object, or asked for a method of one."""
    call = known(case.call)
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return class_kept(case, receiver, known(case.operand(receiver)).type)


def made_with_data(case: Case, node: ast.expr, kind: str) -> Finding:
    """`nn.ReLU(x)` and `nn.MSELoss(a, b)`: the tensors went into the brackets that take options."""
    value = a(ast.Call, case.value_of(node))
    name, operand = called(value), case.operand(value.func)
    is_maker = operand.type == "type" if operand is not None else name == kind and name[:1].isupper()
    is_own = bool(case.code.classes(name))
    only_if(is_maker and value.args and not value.keywords and (not is_own or (kind and _takes_as_many(case, value))))
    only_if(all(is_tensor(case, arg) for arg in value.args))
    layer, given = case.code.text(value.func), ", ".join(map(case.code.short, value.args))
    said = {"name": name, "layer": layer, "right": f"{layer}()({given})", "type": "type"}
    said["is_own"] = str(int(is_own))
    return case.finding("layer_not_made", said, span=case.code.span(value), fix=(case.code.after(value.func, "()"),))


def _takes_as_many(case: Case, call: ast.Call) -> bool:
    """Whether the `forward` of the program's class takes as many as are given to the class, which needs none."""
    (cls, *others) = case.code.classes(called(call))
    init, forward = defined_in(cls, "__init__"), defined_in(cls, "forward")
    is_free = init is None or len(init.args.args) - len(init.args.defaults) == 1
    return not others and is_free and forward is not None and len(forward.args.args) - 1 == len(call.args)


def maker_called(case: Case) -> Finding:
    """The same, refused at once."""
    return made_with_data(case, known(case.call), "")


def is_tensor(case: Case, node: ast.expr) -> bool:
    """Whether an expression, here or on a line before, gave a tensor."""
    if isinstance(node, ast.Name | ast.Attribute):
        return case.tensor_of(node) is not None or bool(case.diagnosis.bound_to(node))
    return bool(case.diagnosis.ops_at(case.code.span(node)))


def layer_not_called(case: Case, node: ast.expr, kind: str) -> Finding:
    """A layer handed on where its result was meant."""
    asked = known(re.search(r"^(\w+)\(\): argument .* must be", case.failure.message))
    only_if(isinstance(node, ast.Attribute | ast.Name) and _is_layer(case, kind))
    function = case.code.function(node)
    arguments = [arg.arg for arg in function.args.args if arg.arg != "self"] if function is not None else []
    layer, x = case.code.short(node), arguments[0] if len(arguments) == 1 else "…"
    fix = (case.code.after(node, f"({x})"),) if x not in ("…", layer) else ()
    said = {"layer": layer, "type": kind, "right": f"{layer}({x})", "function": asked[1]}
    return case.finding("layer_not_called", said, fix=fix)


def _is_layer(case: Case, kind: str) -> bool:
    """Whether a class is one of layers: of a module that ran, of the program's own modules or of `torch.nn`."""
    own = (dotted(base) for cls in case.code.classes(kind) for base in cls.bases)
    made = (dotted(one.func) for one in case.code.calls if called(one) == kind)
    places = (case.code.origins.get(name, name) for name in made)
    is_of_torch = any(place.startswith(("nn.", "torch.nn")) for place in places)
    return (
        is_of_torch
        or any(base.endswith("Module") for base in own)
        or kind in {one.type for one in case.diagnosis.trace.modules}
    )


# Several things under one name


def _several(case: Case, node: ast.expr, kind: str) -> Finding:
    """What a recurrent layer, or a function of the program, gives together, kept under one name."""
    call = a(ast.Call, case.value_of(node))
    only_if(kind in ("", "tuple") and _is_of_several(case.failure.message) and call is not case.node)
    type_, function = _last_inside(case, call.func), _definition(case, call)
    parts: tuple[str, ...] = RECURRENT.get(type_, ())
    returned = _returned(function) if function is not None else []
    for given in returned:
        if isinstance(given, ast.Tuple):
            parts = tuple(map(case.code.short, given.elts))
    only_if(len(parts) > 1)
    is_mixed = not all(isinstance(given, ast.Tuple) for given in returned)
    statement = case.made_last(node)
    fix = case.code.after(call, "[0]")
    if statement is not None and isinstance(statement.targets[0], ast.Name):
        fix = case.code.after(statement.targets[0], ", _" * (len(parts) - 1))
    said = {"layer": case.code.short(call.func), "type": type_, "name": case.code.short(node)}
    said |= {"names": said["name"] + ", _" * (len(parts) - 1), "is_named": str(int(isinstance(node, ast.Name)))}
    said |= {"parts": ", ".join(parts), "count": str(len(parts)), "is_mixed": str(int(is_mixed))}
    fixes = () if is_mixed else (fix,)
    return case.finding("recurrent_pair", said, span=case.code.span(statement or call), fix=fixes)


def _by_comma(case: Case, node: ast.expr, kind: str) -> Finding:
    """`self.fc = nn.Linear(2, 3),`: a comma behind a value makes a tuple of it; or the tuple of saved tensors that a
    custom Function gets, taken for the only one."""
    code, last = case.code, dotted(node).rpartition(".")[2]
    only_if(kind in ("", "tuple") and "tuple" in case.failure.message and last)
    targets = ((one, target) for one in code.bindings for target in one.targets)
    of_attribute = [one for one, to in targets if isinstance(to, ast.Attribute) and to.attr == last]
    made = of_attribute if isinstance(node, ast.Attribute) else filter(None, [case.made_last(node)])
    (statement,) = known([*made][:1] or None)
    value, name = statement.value, case.code.short(node)
    if isinstance(value, ast.Attribute) and value.attr == "saved_tensors" and isinstance(node, ast.Name):
        saved = [one for one in code.calls if called(one) == "save_for_backward"]
        fix = (code.after(statement.targets[0], ","),) if len(saved) == 1 == len(saved[0].args) else ()
        said = {"name": name, "saved": code.text(value)}
        return case.finding("saved_tuple", said, span=code.span(statement), fix=fix)
    only_if(len(of_attribute) < 2 and isinstance(value, ast.Tuple) and len(value.elts) == 1)
    only_if(code.text(value).endswith(","))  # brackets say that a tuple is meant
    fix = (code.replace(value, code.text(a(ast.Tuple, value).elts[0])),)
    return case.finding("comma_makes_tuple", name=name, span=code.span(statement), fix=fix)


def module_type(case: Case, function: ast.expr) -> str:
    """Class of the module that a call runs, by its path in the model."""
    operand = case.operand(function)
    if operand is not None:
        return operand.type
    last = case.code.stands_for(ast.unparse(function)).rpartition(".")[2]
    types = {module.type for module in case.diagnosis.trace.modules if module.path.rpartition(".")[2] == last}
    return types.pop() if len(types) == 1 else ""


def _last_inside(case: Case, function: ast.expr) -> str:
    """Class of the module that a call runs, or of the last one in it if that is a `Sequential`: it gives the result."""
    type_, name = module_type(case, function), case.code.stands_for(ast.unparse(function)).rpartition(".")[2]
    outer = [one.path for one in case.diagnosis.trace.modules if one.path.rpartition(".")[2] == name]
    if type_ != "Sequential" or len(outer) != 1:
        return type_
    inside = [one for one in case.diagnosis.trace.modules if one.path.rpartition(".")[0] == outer[0]]
    return inside[-1].type if inside else type_


def _values_and_indices(case: Case, node: ast.expr, kind: str) -> Finding:
    """`x.max(1)` used as if it were a tensor."""
    op = known(_pair_of(case, node))
    only_if("return_types" in case.failure.message or _is_of_several(case.failure.message))
    return case.finding("pair_returned", op=op, name=case.code.short(node), fix=case.code.method(node, ".values"))


def _pair_of(case: Case, node: ast.expr) -> str | None:
    """The function that gave values and indices."""
    match case.value_of(node):
        case ast.Call(func=ast.Attribute(attr=op)) if op in PAIRS:
            return op
    return None


def _compared(case: Case, node: ast.expr, kind: str) -> Finding:
    """`(pred == labels).sum()` where one side is no tensor: Python compares the two as wholes."""
    compared = a(ast.Compare, case.value_of(node))
    only_if(kind in ("", "bool") and "'bool'" in case.failure.message)
    for side in (compared.left, *compared.comparators):
        if op := _pair_of(case, side):
            span, fix = case.code.span(compared), case.code.method(side, ".indices")
            return case.finding("pair_returned", span=span, op=op, name=case.code.short(side), fix=fix)
    attribute = case.node.attr if isinstance(case.node, ast.Attribute) else ""
    return case.finding("compared_as_wholes", compared=case.code.short(compared), attribute=attribute)


# Methods and numbers


def _method_kept(case: Case, node: ast.expr, kind: str) -> Finding:
    """A method used as if it were its result: `x.mean.backward()`, `h = h.detach`, `SGD(model.parameters, …)`."""
    above, value = case.code.parents.get(node), a(ast.Attribute, case.value_of(node))
    only_if(kind in METHODS and not (isinstance(above, ast.Call) and above.func is node))
    only_if(not isinstance(above, ast.Subscript) or value.attr == "size")
    span = case.failure.span if value is node else case.code.span(value)
    own = [one.args for one in case.code.functions if one.name == value.attr]
    is_more = value.attr in _TAKE_MORE or any(len(one.args) - len(one.defaults) > 1 for one in own)
    said = {"method": case.code.short(value), "name": value.attr, "is_more": str(int(is_more))}
    return case.finding("method_as_value", said, span=span, fix=() if is_more else (case.code.after(value, "()"),))


def _turn_number(case: Case, node: ast.expr, kind: str) -> Finding:
    """`for x, y in enumerate(loader)`: the number of the turn, where the first part of a batch was meant."""
    code, name = case.code, a(ast.Name, node).id
    loop = known(next((one for one in code.loops(node) if isinstance(one, ast.For)), None))
    target, turns = a(ast.Tuple, loop.target), a(ast.Call, loop.iter)
    only_if(kind == "int" and dotted(turns.func) == "enumerate" and turns.args and not code.is_bound("enumerate"))
    names = [dotted(one) for one in target.elts]
    only_if(len(names) == 2 and names[0] == name and case.made_last(node) is None)
    handed = [one.tensors for one in case.diagnosis.trace.batches if one.span and one.span.line == loop.lineno]
    returned = (value for one in code.functions if isinstance(one, ast.FunctionDef) for value in _returned(one))
    only_if(handed and len(handed[-1]) == 2 and not any(isinstance(value, ast.Dict) for value in returned))
    said = {"name": name, "other": names[1], "source": code.short(turns.args[0])}
    fix = (code.replace(turns, code.text(turns.args[0])),)
    return case.finding("turn_number", said, span=code.span(turns), fix=fix)


def _number(case: Case, node: ast.expr, kind: str) -> Finding:
    """A Python number that was asked for what only tensors have."""
    asked = _asked_of(case, node)
    only_if(kind in ("", "float", "int"))
    type_ = known(re.search(r"'(float|int)' object has no attribute", case.failure.message))[1]
    said = {"name": case.code.short(node), "type": type_, "attribute": asked.attr}
    if asked.attr == "backward":
        return _backward_of_number(case, node, said)
    only_if(case.place == "torch.Tensor")
    found = case.written_as("NAME.item()", "NAME.detach()", "NAME.cpu()")
    return case.finding("already_number", said, fix=found.instead("NAME") if found is not None else ())


def _backward_of_number(case: Case, node: ast.expr, said: dict[str, str]) -> Finding:
    """`backward` of a number: `.item()` or `float()` took it out of the graph, or no tensor was ever added to it."""
    value = case.value_of(node)
    function = _definition(case, value)
    returned = _returned(function) if function is not None else []
    value = returned[0] if len(returned) == 1 else value
    if value is not node and isinstance(value, ast.Call) and called(value) in _GIVES_NUMBER:
        inner = value.func.value if isinstance(value.func, ast.Attribute) else next(iter(value.args), value)
        edits = (case.code.replace(value, case.code.text(inner)),) if inner is not value else ()
        return case.finding("number_taken_out", said, span=case.code.span(value), fix=edits)
    names = {part.id: case.value_of(part) for part in ast.walk(value) if isinstance(part, ast.Name)}
    calls = {name: found for name, call in names.items() if (found := written(case.code, call, "TENSOR.item()"))}
    for name, call in calls.items():
        fix = tuple(edit for one in calls.values() for edit in one.instead("TENSOR"))
        return case.finding("number_taken_out", {**said, "name": name}, span=case.code.span(call.node), fix=fix)
    added = case.added_last(node)
    taken = written(case.code, added.value, "TENSOR.item()") if added is not None else None
    unpacked, place, count = case.unpacked_last(node)
    statement = added or case.made_last(node) or unpacked
    is_unpacked = statement is not None and statement is unpacked
    said |= {"made_line": str(statement.lineno) if statement is not None else line(case.failure.span)}
    said |= {"is_unpacked": str(int(is_unpacked)), "place": str(place), "count": str(count)}
    fix = taken.instead("TENSOR") if taken is not None else ()
    return case.finding("backward_of_number", said, fix=fix)


def _other_kind(case: Case, node: ast.expr, kind: str) -> Finding:
    """A layer, a list, a text or an array that was asked for what only tensors have."""
    asked, owner = _asked_of(case, node), case.facts.get("owner", "")
    only_if(case.place == "torch.Tensor" and owner not in ("Tensor", "None"))
    only_if(dotted(node).partition(".")[0] not in case.code.imported)
    said = {"receiver": case.code.short(node), "owner": owner, "name": asked.attr}
    results = {dotted(one.targets[0]) for one in case.code.bindings if _calls(one.value, dotted(node))}
    if len(results) == 1 and "" not in results:
        (result,) = results
        return case.finding("result_meant", said, result=result, fix=(case.code.replace(node, result),))
    if owner == "list" and (told := _list_of_batch(case, node, said)) is not None:
        return told
    made, modules = case.value_of(node), {module.type for module in case.diagnosis.trace.modules}
    is_made = isinstance(made, ast.Call) and called(made) == owner and not case.code.classes(owner)
    return case.finding("layer_for_result" if owner in modules or is_made else "tensor_method_asked", said)


def _list_of_batch(case: Case, node: ast.expr, said: dict[str, str]) -> Finding | None:
    """A part of a batch that is a list of tensors, as samples hold a list there."""
    code, frames = case.code, [one.span for one in case.failure.frames if one.span is not None]
    function = code.function(node)
    taken: ast.expr | None = node
    place: ast.expr = node
    takes = [one.arg for one in function.args.args] if function is not None else []
    if len(frames) > 1 and function is not None and dotted(node) in takes:  # handed over by a caller
        call = code.call_at(frames[-2])
        taken = given_by(call, function, dotted(node)) if call is not None else None
        place = call if call is not None else node
    turns = {one.span.line for one in case.diagnosis.trace.batches if one.span is not None}
    pairs = ((one, one.target) for one in code.loops(place) if isinstance(one, ast.For))
    parts = ((one, target.elts) for one, target in pairs if isinstance(target, ast.Tuple))
    loop = next((one for one, names in parts if taken is not None and dotted(taken) in map(dotted, names)), None)
    samples = [one for one in code.functions if one.name == "__getitem__"]
    made = [one for one in code.calls if called(one) == "DataLoader"]
    is_joined = not any(word.arg == "collate_fn" for call in made for word in call.keywords)
    holder = code.enclosing(samples[0], ast.ClassDef) if samples else None
    is_joined &= holder is not None and all(_made_of(case, one, holder.name) for one in made)
    if (
        loop is None
        or loop.lineno not in turns
        or not is_joined
        or len(samples) != 1
        or code.assignments(dotted(taken))
    ):
        return None
    said = {**said, "part": dotted(taken), "loop_line": str(loop.lineno), "sample_line": str(samples[0].lineno)}
    return case.finding("samples_hold_lists", said, span=code.head(samples[0]))


def _made_of(case: Case, loader: ast.Call, cls: str) -> bool:
    """Whether a DataLoader is given an object of a class."""
    data = next((one.value for one in loader.keywords if one.arg == "dataset"), next(iter(loader.args), None))
    bound = [one.value for one in case.code.assignments(dotted(data))] if data is not None and dotted(data) else [data]
    return bool(bound) and all(isinstance(one, ast.Call) and called(one) == cls for one in bound)


def _calls(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func) == name != ""


_ORIGINS: tuple[Callable[[Case, ast.expr, str], Finding], ...] = (
    _no_gradient,
    _nothing_returned,
    _nothing_given_back,
    class_kept,
    made_with_data,
    layer_not_called,
    _by_comma,
    _several,
    _values_and_indices,
    _compared,
    _method_kept,
    _turn_number,
    _number,
    _other_kind,
    _none_asked,
)
