"""The user's own classes put together wrongly: modules, custom Functions, datasets; and what is assigned to a
module."""

import ast

from engine.findings.failing.case import Case
from engine.program.edits import in_line
from engine.program.names import called, dotted
from engine.program.spelling import nearest
from engine.program.tree import defined_in
from engine.trace import Edit, Finding, Span

# Custom Functions


def is_function_class(cls: ast.ClassDef) -> bool:
    """Whether a class is a custom autograd Function."""
    return any(dotted(base).rpartition(".")[2] == "Function" for base in cls.bases)


def _function_class(case: Case, name: str) -> ast.ClassDef | None:
    found = [class_ for class_ in case.code.classes(name) if is_function_class(class_)]
    return found[0] if len(found) == 1 else None


def function_called(case: Case) -> Finding | None:
    """`Square()(x)` of today's static Functions, or methods that were left without `@staticmethod`."""
    call = case.call
    inner = call.func if call is not None else None
    made = [inner] if isinstance(inner, ast.Call) else []
    if inner is not None and dotted(inner):
        made = [one.value for one in case.code.assignments(dotted(inner)) if isinstance(one.value, ast.Call)]
    cls = _function_class(case, dotted(made[0].func)) if len(made) == 1 else None
    if cls is None or call is None or inner is None:
        return None
    methods = (defined_in(cls, "forward"), defined_in(cls, "backward"))
    plain = [method for method in methods if method is not None and not method.decorator_list]
    fix: tuple[Edit, ...] = tuple(case.code.line_above(method, "@staticmethod") for method in plain)
    fix += (case.code.replace(inner, f"{cls.name}.apply"),)
    if plain:
        return case.finding("function_not_static", span=case.code.head(plain[0]), cls=cls.name, fix=fix)
    return case.finding("function_not_applied", cls=cls.name, written=case.code.short(call), fix=fix)


def function_forward(case: Case) -> Finding | None:
    """`Square.forward(x)`: the engine must make the `ctx`, so the call goes through `apply`."""
    call = case.call
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="forward") as function):
            cls = _function_class(case, name)
            if cls is not None and call is not None:
                fix = (case.code.replace(function, f"{name}.apply"),)
                return case.finding("function_not_applied", cls=name, written=case.code.short(call), fix=fix)
    return None


def custom_gradient(case: Case) -> Finding | None:
    """A custom backward whose gradients are too many, too few, or of another shape than the input they belong to."""
    cls = _function_class(case, case.groups["function"].removesuffix("Backward"))
    backward = defined_in(cls, "backward") if cls is not None else None
    forward = defined_in(cls, "forward") if cls is not None else None
    returns = [node for node in ast.walk(backward) if isinstance(node, ast.Return)] if backward is not None else []
    if cls is None or forward is None or not returns:
        return None
    if "at" not in case.groups:
        return case.finding(span=case.code.span(returns[-1]), cls=cls.name)
    at, value = int(case.groups["at"]), returns[-1].value
    if value is None:
        return None
    if isinstance(value, ast.Tuple) and at < len(value.elts):
        value = value.elts[at]
    names = [arg.arg for arg in forward.args.args[1:]]
    where, name = case.code.span(value), names[at] if at < len(names) else f"#{at}"
    return case.finding(span=where, cls=cls.name, input=name, code=case.code.short(value))


def custom_backward_missing(case: Case) -> Finding | None:
    """A custom Function that has no backward, or has it under another name."""
    classes = [node for node in case.code.nodes if isinstance(node, ast.ClassDef) and is_function_class(node)]
    found = [cls for cls in classes if not (defined_in(cls, "backward") or defined_in(cls, "vjp"))]
    if len(found) != 1:
        return None
    own = [method for method in found[0].body if isinstance(method, ast.FunctionDef)]
    near = next((method for method in own if method.name.startswith("back")), None)
    if near is not None:
        return renamed(case, "custom_backward_misspelt", near, "backward", found[0])
    return case.finding(span=case.code.head(found[0]), cls=found[0].name)


def renamed(case: Case, code: str, method: ast.FunctionDef, right: str, cls: ast.ClassDef) -> Finding:
    """A method whose name is not the one that PyTorch looks for."""
    start = case.code.lines[method.lineno - 1].find(method.name, case.code.span(method).column + len("def "))
    span = Span(
        line=method.lineno, end_line=method.lineno, column=start, end_column=start + len(method.name)
    )  # fmt: skip
    edit = (Edit(span=span, text=right),)
    return case.finding(code, span=span, fix=edit, name=method.name, cls=cls.name, method=right)


def saved_nothing(case: Case, statement: ast.stmt, value: ast.expr) -> Finding | None:
    """`ctx.saved_tensors` with another number of tensors than `forward` saved."""
    cls = case.code.enclosing(statement, ast.ClassDef)
    forward = defined_in(cls, "forward") if cls is not None else None
    is_saved = isinstance(value, ast.Attribute) and value.attr == "saved_tensors"
    if not is_saved or cls is None or forward is None or not forward.args.args:
        return None
    context, *given = [arg.arg for arg in forward.args.args]
    calls = [node for node in ast.walk(forward) if isinstance(node, ast.Call)]
    saving = next((call for call in calls if called(call) == "save_for_backward"), None)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    wanted = [ast.unparse(part) for part in target.elts] if isinstance(target, ast.Tuple | ast.List) else []
    right = f"{context}.save_for_backward({', '.join(wanted)})"
    last = forward.body[-1]
    fix: tuple[Edit, ...] = ()
    if saving is None and wanted and set(wanted) <= set(given) and isinstance(last, ast.Return):
        fix = (case.code.line_above(last, right),)
    where = case.code.span(case.code.statement(saving) or last) if saving is not None else case.code.head(forward)
    said = {"cls": cls.name, "got": str(len(saving.args)) if saving is not None else "0"}
    return case.finding("saved_count", said, span=where, names=", ".join(wanted), right=right, fix=fix)


# Datasets


def dataset_method(case: Case) -> Finding | None:
    """A dataset that lacks `__len__` or `__getitem__`, or has it under another name."""
    wanted = "__len__" if "len()" in case.failure.message else "__getitem__"
    classes = case.code.classes(case.groups.get("type", "")) or [
        cls for cls in _datasets(case) if defined_in(cls, wanted) is None
    ]
    if len(classes) != 1:
        return None
    (cls,) = classes
    own = [method.name for method in cls.body if isinstance(method, ast.FunctionDef)]
    if wanted in own or not {"__getitem__", "__len__"} & {*own, *(_misspelt(own, "__getitem__"),)}:
        return None
    method = defined_in(cls, _misspelt(own, wanted))
    if method is not None:
        return renamed(case, "dataset_method_misspelt", method, wanted, cls)
    return case.finding("dataset_method_missing", span=case.code.head(cls), cls=cls.name, method=wanted)


def _datasets(case: Case) -> list[ast.ClassDef]:
    classes = [node for node in case.code.nodes if isinstance(node, ast.ClassDef)]
    return [cls for cls in classes if any("Dataset" in ast.unparse(base) for base in cls.bases)]


def sample_of_no_use(case: Case) -> Finding | None:
    """A dataset whose `__getitem__` gives what no batch can be made of: None where a way through it has no
    `return`."""
    methods = [(cls, defined_in(cls, "__getitem__")) for cls in _datasets(case)]
    known = [(cls, method, _unreturned(method.body)) for cls, method in methods if method is not None]
    if len(known) != 1 or case.groups["type"] != "NoneType":
        return case.finding("sample_not_batched")
    cls, method, last = known[0]
    if last is None:
        return _none_in_sample(case, cls, method)
    where = case.code.span(last)
    alone = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant | ast.Call)
    fix = (case.code.before(last, "return "),) if alone else ()
    return case.finding("sample_is_none", span=where, cls=cls.name, fix=fix)


def too_many_samples(case: Case) -> Finding | None:
    """A DataLoader asked for no more than `__len__` promises, and `__getitem__` has not as many."""
    function = case.code.function(case.statement) if case.statement is not None else None
    cls = case.code.enclosing(function, ast.ClassDef) if function is not None else None
    length = defined_in(cls, "__len__") if cls is not None else None
    by_loader = any("data/_utils" in frame.file for frame in case.failure.frames)
    if function is None or cls is None or length is None or function.name != "__getitem__" or not by_loader:
        return None
    inside = list(ast.walk(case.node.slice)) if isinstance(case.node, ast.Subscript) else []
    by_number = {arg.arg for arg in function.args.args[1:]} & {one.id for one in inside if isinstance(one, ast.Name)}
    if not by_number or any(isinstance(one, ast.Subscript) for one in inside):  # another number is beyond the end
        return None
    return case.finding("dataset_too_long", span=case.code.span(length.body[-1]), cls=cls.name)


def _none_in_sample(case: Case, cls: ast.ClassDef, method: ast.FunctionDef) -> Finding | None:
    """Every way returns something: it is None, or a part of it is."""
    inside = [one for one in ast.walk(method) if isinstance(one, ast.Constant) and one.value is None]
    where = case.code.span(case.code.statement(inside[0]) or method) if len(inside) == 1 else case.code.head(method)
    return case.finding("sample_holds_none", span=where, cls=cls.name)


def _unreturned(block: list[ast.stmt]) -> ast.stmt | None:
    """The last statement of a way through a block that ends without `return`."""
    match block[-1]:
        case ast.Return(value=value) as last:
            return last if value is None else None
        case ast.If(body=body, orelse=orelse) as last:
            return _unreturned(body) or (_unreturned(orelse) if orelse else last)
        case ast.With(body=body):
            return _unreturned(body)
        case ast.Raise():
            return None
        case last:
            return last


def _misspelt(own: list[str], wanted: str) -> str:
    others = [method for method in own if not (method.startswith("__") and method.endswith("__"))]
    bare = next((other for other in others if other.strip("_").lower() == wanted.strip("_")), "")
    return bare or nearest(wanted, others)[0]


# What is put into a module


def not_a_module(case: Case) -> Finding | None:
    """A list, a class or a function where `nn.Sequential` or `nn.ModuleList` takes layers."""
    call, got = case.call, case.groups["got"]
    if call is None or not call.args:
        return None
    container, first = case.code.short(call.func), call.args[0]
    if got == "list" and len(call.args) == 1 and not isinstance(first, ast.Starred):
        fix: tuple[Edit, ...] = (case.code.before(first, "*"),)
        return case.finding("modules_in_list", container=container, written=case.code.short(first), fix=fix)
    last = got.rpartition(".")[2]
    parts = [inner for arg in call.args for inner in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])]
    lambdas = [part for part in parts if isinstance(part, ast.Lambda) and last == "<lambda>"]
    named = [part for part in parts if last and dotted(part).rpartition(".")[2] == last] or lambdas
    if not named:
        return None
    given = {"container": container, "written": case.code.short(named[0])}
    span = case.code.span(named[0])
    if got.startswith("torch.nn.modules.") or case.code.classes(last):
        return case.finding("layer_class_given", given, span=span)
    layer = _LAYERS.get(last, "")
    made = layer and case.code.is_bound("nn")
    fix = tuple(case.code.replace(part, f"nn.{layer}()") for part in named) if made else ()
    right = f"nn.{layer}()" if layer else "nn.Module"
    return case.finding("function_among_layers", given, span=span, right=right, fix=fix)


_LAYERS = {
    "relu": "ReLU", "sigmoid": "Sigmoid", "tanh": "Tanh", "gelu": "GELU", "leaky_relu": "LeakyReLU", "elu": "ELU",
    "silu": "SiLU", "flatten": "Flatten", "softplus": "Softplus",
}  # fmt: skip


def assigned_to_module(case: Case) -> Finding | None:
    """`net.weight = tensor`, and `self.fc = self.fc(x)` in `forward`."""
    statement = case.statement
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return None
    target, value = statement.targets[0], statement.value
    given = {"name": case.code.short(target), "owner": case.code.short(target.value), "attribute": target.attr}
    if case.rule == "layer_overwritten":
        return case.finding("", given)
    fix: tuple[Edit, ...] = ()
    if case.code.is_bound("torch") and "Tensor" in case.groups["given"]:
        copied = f"with torch.no_grad(): {case.code.text(target)}.copy_({case.code.text(value)})"
        fix = (case.code.replace(statement, copied),) if case.code.stands_alone(statement) else ()
    return case.finding("", given, fix=fix)


def forward_inside(case: Case, cls: ast.ClassDef) -> Finding | None:
    """`def forward` indented into `__init__`: a function in a function, gone when that ends."""
    init = defined_in(cls, "__init__")
    inner = defined_in(init, "forward") if init is not None else None
    if init is None or inner is None or inner.end_lineno is None:
        return None
    depth = case.code.span(inner).column - case.code.span(init).column
    fix: tuple[Edit, ...] = ()
    if init.body[-1] is inner and init.body[0] is not inner and depth > 0 and not inner.decorator_list:
        lines = range(inner.lineno, inner.end_lineno + 1)
        fix = tuple(in_line(number, 0, depth, "") for number in lines if case.code.lines[number - 1].strip())
    return case.finding("forward_inside_init", span=case.code.head(inner), cls=cls.name, fix=fix)
