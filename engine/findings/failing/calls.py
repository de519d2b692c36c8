"""Calls that do not fit: wrong arguments, brackets too many or too few, modules put together wrongly."""

import ast
import re

from engine.findings.failing.case import Case
from engine.findings.failing.classes import forward_inside, function_forward, renamed
from engine.findings.failing.dtypes import of_numpy
from engine.findings.failing.values import class_kept, made_with_data
from engine.findings.leaves import asked_last, meant_as_leaves
from engine.findings.plain_containers import plain_containers, said_of, wrapped
from engine.program.names import dotted
from engine.program.spelling import nearest
from engine.program.tree import defined_in
from engine.trace import Edit, Finding

PROPERTIES = frozenset("shape dtype device T H mT mH grad data ndim is_leaf grad_fn requires_grad".split())
OPTIMIZERS = ("torch.optim.", "optim.")
NOT_MODULES = frozenset("int float bool complex type function method builtin_function_or_method".split())


def module_called(case: Case) -> Finding | None:
    """`torch([1, 2])`: a module where a function of it is meant."""
    call = case.call
    operand = case.operand(call.func) if call is not None else None
    if call is None or operand is None:
        return None
    written = case.code.text(call.func)
    if operand.type != "torch":
        return case.finding("other_module_called", receiver=written)
    right = f"{written}.tensor"
    return case.finding(receiver=written, suggestion=right, fix=(case.code.replace(call.func, right),))


def not_callable(case: Case) -> Finding | None:
    """Brackets after something that is no function: `x.shape()`, `x.T()`, or a tensor meant to be indexed or
    multiplied."""
    call = case.call
    if call is None:
        return None
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in PROPERTIES and not call.args and not call.keywords:
        fix = (case.code.replace(call, case.code.text(func)),)
        code = "size_not_callable" if case.groups["type"] == "torch.Size" else "attribute_called"
        return case.finding(code, name=func.attr, receiver=case.code.short(func.value), fix=fix)
    if isinstance(func, ast.Constant) and len(call.args) == 1:
        said = {"written": case.code.short(call), "right": f"{case.code.short(func)} * (…)"}
        return case.finding("product_sign", said, fix=(case.code.after(func, " * "),))
    return case.finding("value_called", name=case.code.short(func))


def not_indexable(case: Case) -> Finding | None:
    """Square brackets after what has no items: a DataLoader, a function, an object of a class."""
    node = case.node
    if not isinstance(node, ast.Subscript):
        return None
    name = case.code.short(node.value)
    if case.groups["type"] != "DataLoader":
        return case.finding(name=name)
    is_first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
    fix = (case.code.replace(node, f"next(iter({case.code.text(node.value)}))"),) if is_first else ()
    return case.finding("loader_indexed", name=name, fix=fix)


def divided(case: Case) -> Finding | None:
    """A division whose divisor is 0: often the length of something that is empty."""
    return case.finding(divisor=case.code.short(case.node.right)) if isinstance(case.node, ast.BinOp) else None


def keyword(case: Case) -> Finding | None:
    """A keyword that the function does not take."""
    call, name = case.call, case.groups["name"]
    word = next((word for word in call.keywords if word.arg == name), None) if call is not None else None
    if call is None:
        return None
    if word is None:  # handed on inside
        return case.finding(function=case.code.short(call.func))
    suggestion, span = case.facts.get("suggestion", ""), case.code.span(word)
    said = {"function": case.code.short(call.func), "suggestion": suggestion}
    if not suggestion:
        known = case.facts.get("known", "")
        if name in known.split(", "):  # something that it calls does not take it
            return of_numpy(case, call)
        if not known:
            return case.finding("", said, span=span)
        return case.finding("keyword_other", {**said, "known": known}, span=span)
    free = case.facts.get("only") == "yes" and suggestion not in {one.arg for one in call.keywords}
    fix = (case.code.replace(word, f"{suggestion}={case.code.text(word.value)}"),) if free else ()
    return case.finding("keyword_misspelt", said, span=span, fix=fix)


def arguments_missing(case: Case) -> Finding | None:
    """A call with fewer arguments than the function needs."""
    call, function = case.call, case.groups["function"]
    if call is None:
        return None
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    operand = case.operand(receiver)
    known = function_forward(case) or class_kept(case, receiver, operand.type if operand is not None else "")
    if known is not None:
        return known
    missing = ", ".join(re.findall(r"['\"](\w+)['\"]", case.groups["names"]))
    made = _line_of_definition(case, function)
    code = "arguments_missing_own" if made else ""
    return case.finding(code, function=function.removesuffix(".__init__"), missing=missing, defined_line=made)


def _line_of_definition(case: Case, function: str) -> str:
    """Line of the program's own definition of that function; empty for one of a library."""
    cls, _, method = function.rpartition(".")
    inside = [node for scope in case.code.classes(cls) for node in scope.body]
    for node in inside if cls else case.code.functions:
        is_own = bool(cls) or not isinstance(case.code.parents.get(node), ast.ClassDef)
        if isinstance(node, ast.FunctionDef) and node.name == method and is_own:
            return str(node.lineno)
    return ""


def arguments_many(case: Case) -> Finding | None:
    """More arguments than the function takes: its definition forgot `self`, its class stands for an object, or a
    library calls it with more than it was written for."""
    call = case.call
    if call is not None:
        operand = case.operand(call.func)
        known = class_kept(case, call.func, operand.type if operand else "") or made_with_data(case, call, "")
        if known is not None:
            return known
    function = case.groups["function"]
    cls, _, method = function.rpartition(".")
    for definition in case.code.classes(cls):
        if (own := defined_in(definition, method)) is not None:
            return _own_definition(case, definition, own)
        if method == "__init__":
            return init_misspelt(case, definition)
    made = _line_of_definition(case, function)
    by_library = bool(made) and call is not None and dotted(call.func).rpartition(".")[2] != function
    if by_library:
        return case.finding("called_back", function=function, defined_line=made)
    return case.finding(function=function.removesuffix(".__init__")) if call is not None else None


def _own_definition(case: Case, cls: ast.ClassDef, node: ast.FunctionDef) -> Finding:
    arguments = [*node.args.posonlyargs, *node.args.args]
    is_static = any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list
    )
    if not is_static and (not arguments or arguments[0].arg != "self"):
        fix = (case.code.before(arguments[0], "self, "),) if arguments else ()
        return case.finding("self_missing", span=case.code.head(node), fix=fix, function=node.name, cls=cls.name)
    return case.finding("arguments_many_own", function=f"{cls.name}.{node.name}", defined_line=str(node.lineno))


def init_misspelt(case: Case, cls: ast.ClassDef) -> Finding | None:
    """A class whose constructor is called `__int__`, `init` or the like has PyTorch's own instead."""
    near = {"__int__", "__init_", "_init__", "_init_", "__Init__", "__inti__", "init", "__ini__", "__init"}
    for node in cls.body:
        if isinstance(node, ast.FunctionDef) and node.name in near:
            return renamed(case, "init_misspelt", node, "__init__", cls)
    return None


def forward_missing(case: Case) -> Finding | None:
    """A module without `forward`: misspelt, or a container that is none to call."""
    name = case.groups["type"]
    for cls in case.code.classes(name):
        own = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
        suggestion, _ = nearest("forward", own)
        if suggestion:
            return renamed(case, "forward_misspelt", own[suggestion], "forward", cls)
        return forward_inside(case, cls) or case.finding(defined_line=str(cls.lineno))
    return case.finding("list_called") if name in ("ModuleList", "ModuleDict") else None


def super_init(case: Case) -> Finding | None:
    """A module whose `__init__` never called that of `nn.Module`."""
    inner = case.statement
    function = case.code.function(inner) if inner is not None else None
    cls = case.code.enclosing(inner, ast.ClassDef)
    if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        classes = case.code.classes(case.facts.get("owner", ""))
        cls = classes[0] if len(classes) == 1 else None
        function = defined_in(cls, "__init__") if cls is not None else None
    if function is None or cls is None:
        return None
    for node in ast.walk(function):  # `super().__init__` without its brackets
        if isinstance(node, ast.Attribute) and node.attr == "__init__" and "super" in case.code.text(node.value):
            call = case.code.parents.get(node)
            if isinstance(call, ast.Call):
                return case.finding("super_init_late", span=case.code.span(call), cls=cls.name)
            fix = (case.code.after(node, "()"),)
            return case.finding("super_init_not_called", span=case.code.span(node), cls=cls.name, fix=fix)
    fix = (case.code.line_above(function.body[0], "super().__init__()"),)
    return case.finding(span=case.code.head(function), cls=cls.name, fix=fix)


def no_device(case: Case) -> Finding | None:
    """A device that is not here, or that PyTorch calls otherwise; the line may have it from an assignment."""
    match case.node:
        case ast.Call(func=ast.Attribute(attr="cuda", value=value)) as call:
            return case.finding(fix=(case.code.replace(call, case.code.text(value)),))
    made = [one.value for operand in case.failure.operands for one in case.code.assignments(operand.text)]
    places = [case.node, *(value for value in made if not isinstance(value, ast.IfExp))]
    inside = [inner for place in places if place is not None for inner in ast.walk(place)]
    name = case.groups.get("name", "cuda").lower()
    written = [one for one in inside if isinstance(one, ast.Constant) and str(one.value).lower().startswith(name)]
    choice = '"cuda" if torch.cuda.is_available() else "cpu"'
    known = len(written) == 1 and case.code.is_bound("torch")
    return case.finding(fix=(case.code.replace(written[0], choice),) if known else ())


def optimizer_given(case: Case) -> Finding | None:
    """One tensor, or the module itself, where a list of parameters is needed."""
    call = case.call
    if call is None or not call.args:
        return None
    first = call.args[0]
    name, operand = case.code.short(first), case.operand(first)
    if not case.groups.get("module"):
        return case.finding(name=name, fix=(case.code.before(first, "["), case.code.after(first, "]")))
    if operand is None or operand.type != case.groups["module"] or operand.type in NOT_MODULES:
        return None
    known = {module.path for module in case.diagnosis.trace.modules}
    if operand.text not in known and not dotted(call.func).startswith(OPTIMIZERS):
        return None
    return case.finding("optimizer_of_module", name=name, fix=(case.code.after(first, ".parameters()"),))


def not_an_optimizer(case: Case) -> Finding | None:
    """A scheduler that was given the model."""
    call = case.call
    if call is None or not call.args:
        return None
    values = [(one, dotted(one.value.func)) for one in case.code.bindings if isinstance(one.value, ast.Call)]
    made = [one for one, name in values if name.startswith(OPTIMIZERS) and "lr_scheduler" not in name]
    names = [*{dotted(one.targets[0]) for one in made}]
    if len(names) != 1 or not names[0]:
        return None
    first = call.args[0]
    return case.finding(name=case.code.short(first), right=names[0], fix=(case.code.replace(first, names[0]),))


def optimizer_not_leaf(case: Case) -> Finding | None:
    """A computed tensor given to an optimizer: often `.to(…)`, `.double()` or `* 0.1` after creation."""
    names = (node for node in ast.walk(case.call) if isinstance(node, ast.expr)) if case.call is not None else ()
    given = [(node, case.tensor_of(node)) for node in names if isinstance(node, ast.Name | ast.Attribute)]
    found = [(node, tensor) for node, tensor in given if tensor is not None and not tensor.is_leaf]
    if len(found) != 1:
        return None
    node, tensor = found[0]
    maker = case.diagnosis.maker.get(tensor.id)
    if maker is None:
        return None
    name = ast.unparse(node)
    meant = meant_as_leaves(case.diagnosis).get(name)
    fix = asked_last(case.diagnosis, meant[0], meant[1]) if meant is not None else ()
    return case.finding(span=maker.span, name=name, op=maker.name, tensors=(tensor,), fix=fix)


def optimizer_empty(case: Case) -> Finding | None:
    """No parameters: all layers are in a plain list, or there are none."""
    hidden = list(plain_containers(case.diagnosis))
    if len(hidden) != 1:
        return case.finding()
    span, fix = case.code.span(hidden[0].value), wrapped(case.diagnosis, hidden[0])
    return case.finding("optimizer_empty_list", said_of(hidden[0]), span=span, fix=fix)


def state_dict(case: Case) -> Finding | None:
    """A state_dict whose names or shapes are not those of the model."""
    message = case.failure.message[:4000] + " "
    missing = _quoted(re.search(r"Missing key\(s\) in state_dict: (.*?)\.\s", message))
    unexpected = _quoted(re.search(r"Unexpected key\(s\) in state_dict: (.*?)\.\s", message))
    sizes = re.findall(
        r"size mismatch for ([\w.]+): copying a param with shape torch\.Size\((\[[\d, ]*\])\) from checkpoint, "
        r"the shape in current model is torch\.Size\((\[[\d, ]*\])\)",
        message,
    )
    if unexpected and all(key.startswith("module.") for key in unexpected):
        return case.finding("state_dict_prefix", first=unexpected[0])
    if sizes:
        name, given, wanted = sizes[0]
        return case.finding("state_dict_shape", name=name, given=given, wanted=wanted, count=str(len(sizes)))
    inside = [key for key in unexpected if "model" in key or "state" in key or "net" in key]
    call = case.call
    if inside and missing and not any("." in key for key in unexpected) and call is not None and call.args:
        given = case.code.short(call.args[0])
        fix = (case.code.after(call.args[0], f"[{inside[0]!r}]"),) if len(inside) == 1 else ()
        return case.finding("state_dict_inside", given=given, key=inside[0], found=_listed(unexpected), fix=fix)
    if missing or unexpected:
        return case.finding(missing=_listed(missing), unexpected=_listed(unexpected))
    return None


def _quoted(found: re.Match[str] | None) -> list[str]:
    return re.findall(r'"([^"]+)"', found[1]) if found else []


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" (+{len(names) - 3})" if len(names) > 3 else "") if names else "–"


def weights_only(case: Case) -> Finding | None:
    """`torch.load` of a whole model, where today it reads tensors only."""
    call = case.call
    fix: tuple[Edit, ...] = ()
    if call is not None and not any(word.arg == "weights_only" for word in call.keywords):
        fix = (case.code.argument_added(call, "weights_only=False"),)
    return case.finding(fix=fix) if call is not None else None


def state_given(case: Case) -> Finding | None:
    """`load_state_dict("model.pth")`: the name of the file in place of what is in it."""
    call = case.call
    if call is None or not call.args:
        return None
    given = call.args[0]
    fix: tuple[Edit, ...] = ()
    if case.groups["type"] == "str" and case.code.is_bound("torch"):
        fix = (case.code.before(given, "torch.load("), case.code.after(given, ")"))
    return case.finding(given=case.code.short(given), fix=fix)


def next_called(case: Case) -> Finding | None:
    """`loader_iterator.next()` of older versions."""
    node = case.node
    call = case.code.parents.get(node) if node is not None else None
    if not isinstance(node, ast.Attribute) or not isinstance(call, ast.Call):
        return None
    right = f"next({case.code.text(node.value)})"
    return case.finding(written=case.code.short(call), right=right, fix=(case.code.replace(call, right),))


def parameter_groups(case: Case) -> Finding | None:
    """`opt.param_groups.lr = …`: the groups are a list of dictionaries."""
    statement = case.statement
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    node = next((one for one in targets if isinstance(one, ast.Attribute)), case.node)
    if not isinstance(node, ast.Attribute) or not dotted(node.value).endswith(".param_groups"):
        return None
    groups = case.code.text(node.value)
    right = f"{groups}[0][{node.attr!r}]"
    return case.finding(groups=groups, right=right, fix=(case.code.replace(node, right),))
