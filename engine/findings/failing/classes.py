"""The user's own classes put together wrongly: modules, custom Functions, datasets; and what is assigned to a
module."""

import ast

from engine.findings.failing.case import Case
from engine.program.names import dotted
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
    made = inner if isinstance(inner, ast.Call) else None
    cls = _function_class(case, ast.unparse(made.func) if made is not None else "")
    if cls is None and isinstance(inner, ast.Name):
        assigned = case.code.assignments(inner.id)
        value = assigned[0].value if len(assigned) == 1 else None
        cls = _function_class(case, ast.unparse(value.func)) if isinstance(value, ast.Call) else None
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


def custom_shape(case: Case) -> Finding | None:
    """A custom backward whose gradient has another shape than the input it belongs to."""
    cls = _function_class(case, case.groups["function"].removesuffix("Backward"))
    backward = defined_in(cls, "backward") if cls is not None else None
    forward = defined_in(cls, "forward") if cls is not None else None
    returns = [node for node in ast.walk(backward) if isinstance(node, ast.Return)] if backward is not None else []
    if cls is None or len(returns) != 1 or returns[0].value is None:
        return None
    at, value = int(case.groups["at"]), returns[0].value
    if isinstance(value, ast.Tuple) and at < len(value.elts):
        value = value.elts[at]
    names = [arg.arg for arg in forward.args.args[1:]] if forward is not None else []
    return case.finding(
        span=case.code.span(value),
        cls=cls.name,
        input=names[at] if at < len(names) else f"#{at}",
        code=case.code.short(value),
    )


def saved_nothing(case: Case, statement: ast.stmt, value: ast.expr) -> Finding | None:
    """`ctx.saved_tensors` with another number of tensors than `forward` saved."""
    if not isinstance(value, ast.Attribute) or value.attr != "saved_tensors":
        return None
    cls = case.code.enclosing(statement, ast.ClassDef)
    forward = defined_in(cls, "forward") if cls is not None else None
    if cls is None or forward is None or not forward.args.args:
        return None
    context = forward.args.args[0].arg
    saving = [
        node
        for node in ast.walk(forward)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".save_for_backward")
    ]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    wanted = [ast.unparse(elt) for elt in target.elts] if isinstance(target, ast.Tuple | ast.List) else []
    given = [arg.arg for arg in forward.args.args[1:]]
    fix: tuple[Edit, ...] = ()
    last = forward.body[-1]
    if not saving and wanted and set(wanted) <= set(given) and isinstance(last, ast.Return):
        fix = (case.code.line_above(last, f"{context}.save_for_backward({', '.join(wanted)})"),)
    where = case.code.span(case.code.statement(saving[0]) or last) if saving else case.code.head(forward)
    return case.finding(
        "saved_count",
        span=where,
        cls=cls.name,
        used_line=str(statement.lineno),
        got=str(len(saving[0].args)) if saving else "0",
        names=", ".join(wanted),
        fix=fix,
        right=f"{context}.save_for_backward({', '.join(wanted)})",
    )


# Datasets


def dataset_method(case: Case) -> Finding | None:
    """A dataset that lacks `__len__` or `__getitem__`, or has it under another name."""
    wanted = "__len__" if "len()" in case.failure.message else "__getitem__"
    name = case.groups.get("type", "")
    named = case.code.classes(name) if name else []
    classes = named or [
        node
        for node in case.code.nodes
        if isinstance(node, ast.ClassDef) and any("Dataset" in ast.unparse(base) for base in node.bases)
        and defined_in(node, wanted) is None
    ]  # fmt: skip
    if len(classes) != 1:
        return None
    (cls,) = classes
    own = [method.name for method in cls.body if isinstance(method, ast.FunctionDef)]
    if wanted in own or not {"__getitem__", "__len__"} & {*own, *(_misspelt(own, "__getitem__"),)}:
        return None
    near = _misspelt(own, wanted)
    method = defined_in(cls, near) if near else None
    if method is not None:
        text = case.code.lines[method.lineno - 1]
        start = text.find(near)
        place = Span(line=method.lineno, end_line=method.lineno, column=start, end_column=start + len(near))
        fix = (Edit(span=place, text=wanted),)
        return case.finding("dataset_method_misspelt", span=place, cls=cls.name, name=near, method=wanted, fix=fix)
    return case.finding("dataset_method_missing", span=case.code.head(cls), cls=cls.name, method=wanted)


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
    container = case.code.short(call.func)
    if got == "list" and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
        fix: tuple[Edit, ...] = (case.code.before(call.args[0], "*"),)
        return case.finding("modules_in_list", container=container, written=case.code.short(call.args[0]), fix=fix)
    last = got.rpartition(".")[2]
    parts = [inner for arg in call.args for inner in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])]
    named = [
        part
        for part in parts
        if isinstance(part, ast.Attribute | ast.Name) and ast.unparse(part).rpartition(".")[2] == last
    ]
    if not named:
        return None
    written, span = case.code.short(named[0]), case.code.span(named[0])
    if got.startswith("torch.nn.modules.") or case.code.classes(last):
        return case.finding("layer_class_given", span=span, container=container, written=written)
    layer = _LAYERS.get(last, "")
    fix = ()
    if layer and case.code.is_bound("nn"):
        fix = tuple(case.code.replace(part, f"nn.{layer}()") for part in named)
    right = f"nn.{layer}()" if layer else "nn.Module"
    return case.finding("function_among_layers", span=span, container=container, written=written, right=right, fix=fix)


_LAYERS = {
    "relu": "ReLU", "sigmoid": "Sigmoid", "tanh": "Tanh", "gelu": "GELU", "leaky_relu": "LeakyReLU", "elu": "ELU",
    "silu": "SiLU", "flatten": "Flatten", "softplus": "Softplus",
}  # fmt: skip


def assigned_to_module(case: Case) -> Finding | None:
    """`net.weight = tensor`, and `self.fc = self.fc(x)` in `forward`."""
    statement = case.code.statement(case.node) if case.node is not None else None
    if statement is None and case.failure.span is not None:
        statement = case.code.statement_on(case.failure.span.line)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Attribute):
        return None
    written = case.code.short(target)
    if case.rule == "parameter_overwritten":
        value = statement.value
        fix: tuple[Edit, ...] = ()
        if case.code.is_bound("nn") and "Tensor" in case.groups["given"]:
            fix = (case.code.before(value, "nn.Parameter("), case.code.after(value, ")"))
        elif case.code.is_bound("torch") and "Tensor" in case.groups["given"]:
            fix = (case.code.before(value, "torch.nn.Parameter("), case.code.after(value, ")"))
        return case.finding(name=written, owner=case.code.short(target.value), attribute=target.attr, fix=fix)
    called = isinstance(statement.value, ast.Call) and ast.unparse(statement.value.func) == ast.unparse(target)
    return case.finding("layer_overwritten", name=written, attribute=target.attr, called="yes" if called else "")


def forward_inside(case: Case, cls: ast.ClassDef) -> Finding | None:
    """`def forward` indented into `__init__`: a function in a function, gone when that ends."""
    init = defined_in(cls, "__init__")
    inner = defined_in(init, "forward") if init is not None else None
    if init is None or inner is None or inner.end_lineno is None:
        return None
    depth = case.code.span(inner).column - case.code.span(init).column
    lines = range(inner.lineno, inner.end_lineno + 1)
    fix: tuple[Edit, ...] = ()
    if init.body[-1] is inner and init.body[0] is not inner and depth > 0 and not inner.decorator_list:
        cut = [
            Span(line=line_, end_line=line_, column=0, end_column=depth)
            for line_ in lines
            if case.code.lines[line_ - 1].strip()
        ]
        fix = tuple(Edit(span=span, text="") for span in cut)
    return case.finding("forward_inside_init", span=case.code.head(inner), cls=cls.name, fix=fix)
