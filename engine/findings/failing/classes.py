"""The user's own classes put together wrongly: modules, custom Functions, datasets; and what is assigned to a
module."""

import ast

from engine.findings.failing.case import Case, a, known, only_if
from engine.program.edits import Edits, in_line
from engine.program.names import called, dotted
from engine.program.spelling import nearest
from engine.program.tree import defined_in
from engine.trace import Edit, Finding, Span

MAIN_CLASSES = {
    **{"nn": "Module", "module": "Module", "optim": "Optimizer", "optimizer": "Optimizer", "dataset": "Dataset"},
    **{"data": "Dataset", "autograd": "Function", "function": "Function", "sampler": "Sampler"},
}
"""The class that programs build on, in modules of PyTorch."""


def module_as_base(case: Case) -> Finding:
    """`class Net(nn):`, `import torch.optim.optimizer as Optimizer`: a module where a class of it is meant."""
    code, cls = case.code, a(ast.ClassDef, case.statement)
    only_if(len(cls.bases) == 1)
    base, written_as = cls.bases[0], dotted(cls.bases[0])
    head, _, rest = written_as.partition(".")
    renamed = [(one, each) for one in code.nodes if isinstance(one, ast.Import) for each in one.names if each.asname]
    taken = next((pair for pair in renamed if pair[1].asname == written_as), None)
    module = taken[1].name if taken is not None else ".".join(filter(None, (code.origins.get(head), head, rest)))
    only_if(module.partition(".")[0] == "torch")
    name = MAIN_CLASSES.get(module.rpartition(".")[2], "")
    is_read = any(dotted(node.value) == written_as for node in code.attributes)
    fix: Edits = (code.after(base, f".{name}"),) if name else ()
    if name == written_as and taken is not None and len(taken[0].names) == 1 and not is_read:
        fix = (code.replace(taken[0], f"from {module} import {name}"),)
    said = {"base": written_as, "module": module, "meant": name, "has_name": str(int(bool(name)))}
    return case.finding("module_as_base", said, fix=fix, tensors=())


# Custom Functions


def is_function_class(cls: ast.ClassDef) -> bool:
    """Whether a class is a custom autograd Function."""
    return any(dotted(base).rpartition(".")[2] == "Function" for base in cls.bases)


def _function_class(case: Case, name: str) -> ast.ClassDef:
    found = [class_ for class_ in case.code.classes(name) if is_function_class(class_)]
    only_if(len(found) == 1)
    return found[0]


def function_called(case: Case) -> Finding:
    """`Square()(x)` of today's static Functions, or methods that were left without `@staticmethod`."""
    call = known(case.call)
    made = [call.func, *(one.value for one in case.code.assignments(dotted(call.func)))]
    calls = [one for one in made if isinstance(one, ast.Call)]
    only_if(len(calls) == 1)
    cls = _function_class(case, dotted(calls[0].func))
    methods = (defined_in(cls, "forward"), defined_in(cls, "backward"))
    plain = [method for method in methods if method is not None and not method.decorator_list]
    fix: tuple[Edit, ...] = tuple(case.code.line_above(method, "@staticmethod") for method in plain)
    fix += (case.code.replace(call.func, f"{cls.name}.apply"),)
    if plain:
        forward = methods[0] or plain[0]
        has_self = (
            len(forward.args.args) - len(forward.args.defaults) > len(call.args) + 1 and not forward.decorator_list
        )
        lacks = methods[1] is None and defined_in(cls, "vjp") is None
        said = {"cls": cls.name, "methods": ", ".join(f"`{method.name}`" for method in plain)}
        said |= {"is_several": str(int(len(plain) > 1)), "lacks_backward": str(int(lacks))}
        said["self"] = forward.args.args[0].arg if has_self else ""
        said["has_self"] = str(int(has_self))
        return case.finding(
            "function_not_static", said, span=case.code.head(plain[0]), fix=() if lacks or has_self else fix
        )
    return case.finding("function_not_applied", cls=cls.name, written=case.code.short(call), fix=fix)


def function_forward(case: Case) -> Finding:
    """`Square.forward(x)`: the engine must make the `ctx`, so the call goes through `apply`."""
    found = known(case.written_as("CLS.forward(...)"))
    _function_class(case, found.said["cls"])
    written = case.code.short(found.node)
    return case.finding("function_not_applied", found.said, written=written, fix=found.instead("CLS.apply(...)"))


def custom_gradient(case: Case) -> Finding:
    """A custom backward whose gradients are too many, too few, or of another shape than the input they belong to."""
    cls = _function_class(case, case.groups["function"].removesuffix("Backward"))
    forward, backward = known(defined_in(cls, "forward")), known(defined_in(cls, "backward"))
    last = next((node for node in reversed([*ast.walk(backward)]) if isinstance(node, ast.Return)), None)
    if "at" not in case.groups:
        inputs = known(", ".join(f"`{name}`" for name in _inputs(cls, forward)) or None)
        is_few, is_none = int(case.groups["got"]) < int(case.groups["expected"]), last is None
        flags = {"is_none": is_none, "is_few": is_few and not is_none, "is_many": not is_few and not is_none}
        said = {"cls": cls.name, "inputs": inputs, **{name: str(int(flag)) for name, flag in flags.items()}}
        return case.finding("", said, span=case.code.span(last) if last is not None else case.code.head(backward))
    at, value = int(case.groups["at"]), known(known(last).value)
    if isinstance(value, ast.Tuple) and at < len(value.elts):
        value = value.elts[at]
    made = [
        one for one in ast.walk(backward) if isinstance(one, ast.Assign) and dotted(one.targets[0]) == dotted(value)
    ]
    if dotted(value) and len(made) == 1:
        value = made[0].value
    names = _inputs(cls, forward)
    said = {"cls": cls.name, "input": names[at] if at < len(names) else f"#{at}"}
    return case.finding("", said, span=case.code.span(value), code=case.code.short(value))


def custom_gradient_not_none(case: Case) -> Finding:
    """A custom backward that returns a gradient for an argument of forward that was no tensor."""
    cls = _function_class(case, case.groups["function"].removesuffix("Backward"))
    forward, backward = known(defined_in(cls, "forward")), known(defined_in(cls, "backward"))
    returns = [node for node in ast.walk(backward) if isinstance(node, ast.Return)]
    only_if(len(returns) == 1)
    at, names, value = int(case.groups["place"]) - 1, _inputs(cls, forward), known(returns[0].value)
    only_if(at < len(names))
    is_apart = isinstance(value, ast.Tuple) and at < len(value.elts)
    given = value.elts[at] if isinstance(value, ast.Tuple) and is_apart else value
    said = {"cls": cls.name, "input": names[at], "is_apart": str(int(is_apart)), "place": str(at + 1)}
    fix = (case.code.replace(given, "None"),) if is_apart else ()
    return case.finding("", said, span=case.code.span(returns[0]), code=case.code.short(given), fix=fix)


def _inputs(cls: ast.ClassDef, forward: ast.FunctionDef) -> list[str]:
    """What a custom forward is given. One with a `setup_context` has no `ctx`."""
    has_context = defined_in(cls, "setup_context") is None
    names = [arg.arg for arg in forward.args.args[1 if has_context else 0 :]]
    return [*names, f"*{forward.args.vararg.arg}"] if forward.args.vararg is not None else names


def custom_backward_missing(case: Case) -> Finding:
    """A custom Function that has no backward, or has it under another name."""
    classes = [node for node in case.code.nodes if isinstance(node, ast.ClassDef) and is_function_class(node)]
    found = [cls for cls in classes if not (defined_in(cls, "backward") or defined_in(cls, "vjp"))]
    only_if(len(found) == 1)
    own = (method for method in found[0].body if isinstance(method, ast.FunctionDef))
    near = next((method for method in own if method.name.startswith("back")), None)
    if near is not None:
        return renamed(case, "custom_backward_misspelt", near, "backward", found[0])
    return case.finding(span=case.code.head(found[0]), cls=found[0].name)


def renamed(case: Case, code: str, method: ast.FunctionDef, right: str, cls: ast.ClassDef) -> Finding:
    """A method whose name is not the one that PyTorch looks for; what it calls so of `super()` is renamed with it."""
    start = case.code.lines[method.lineno - 1].find(method.name, case.code.span(method).column + len("def "))
    span = Span(
        line=method.lineno, end_line=method.lineno, column=start, end_column=start + len(method.name)
    )  # fmt: skip
    inside = [one.func for one in ast.walk(method) if isinstance(one, ast.Call) and called(one) == method.name]
    above = [one for one in inside if case.code.text(one).startswith("super(")]
    more = [case.code.replace(one, case.code.text(one).removesuffix(method.name) + right) for one in above]
    edit = (Edit(span=span, text=right), *more)
    return case.finding(code, span=span, fix=edit, name=method.name, cls=cls.name, method=right)


def saved_no_tensor(case: Case) -> Finding:
    """`ctx.save_for_backward(scale)` with a plain number: it is kept as an attribute of `ctx`."""
    at, kind = int(case.groups["at"] or 0), case.groups["kind"] or ""
    name = dotted(known(case.call).func).removesuffix(".apply")
    (cls,) = case.code.classes(name)[:1] or (known(None),)
    forward, backward = known(defined_in(cls, "forward")), known(defined_in(cls, "backward"))
    saving = [node for node in ast.walk(forward) if isinstance(node, ast.Call) and called(node) == "save_for_backward"]
    only_if(len(saving) == 1 and at < len(saving[0].args) and forward.args.args and backward.args.args)
    given = saving[0].args[at]
    kept = case.code.short(given)
    said = {"kind": kind, "kept": kept, "cls": cls.name, "context": forward.args.args[0].arg}
    said |= {"is_named": str(int(isinstance(given, ast.Name))), "right": f"{said['context']}.{kept} = {kept}"}
    if not isinstance(given, ast.Name):
        return case.finding("", said, span=case.code.span(saving[0]))
    context, later = said["context"], backward.args.args[0].arg
    others = [ast.unparse(one) for number, one in enumerate(saving[0].args) if number != at]
    reading = [
        one
        for one in ast.walk(backward)
        if isinstance(one, ast.Assign) and dotted(one.value) == f"{later}.saved_tensors"
    ]
    names = reading[0].targets[0] if len(reading) == 1 else None
    elements = names.elts if isinstance(names, ast.Tuple) and len(names.elts) == len(saving[0].args) else []
    saved = case.code.statement(saving[0])
    if not elements or not isinstance(saved, ast.Expr):
        return case.finding("", said, span=case.code.span(saving[0]))
    rest = [ast.unparse(one) for number, one in enumerate(elements) if number != at]
    keeps = f"{context}.save_for_backward({', '.join(others)}); " if others else ""
    reads = f"{', '.join(rest)}{',' if len(rest) == 1 else ''} = {later}.saved_tensors; " if rest else ""
    fix = (
        case.code.replace(saved, keeps + said["right"]),
        case.code.replace(reading[0], f"{reads}{ast.unparse(elements[at])} = {later}.{kept}"),
    )
    return case.finding("", said, span=case.code.span(saving[0]), fix=fix)


# Datasets


def dataset_method(case: Case) -> Finding:
    """A dataset that lacks `__len__` or `__getitem__`, or has it under another name."""
    wanted = "__len__" if "len()" in case.failure.message else "__getitem__"
    without = [cls for cls in _datasets(case) if defined_in(cls, wanted) is None]
    classes = case.code.classes(case.groups.get("type", "")) or without
    only_if(len(classes) == 1)
    (cls,) = classes
    own = [method.name for method in cls.body if isinstance(method, ast.FunctionDef)]
    only_if(wanted not in own and {"__getitem__", "__len__"} & {*own, _misspelt(own, "__getitem__")})
    method = defined_in(cls, _misspelt(own, wanted))
    if method is not None:
        return renamed(case, "dataset_method_misspelt", method, wanted, cls)
    return case.finding("dataset_method_missing", span=case.code.head(cls), cls=cls.name, method=wanted)


def _misspelt(own: list[str], wanted: str) -> str:
    others = [method for method in own if not (method.startswith("__") and method.endswith("__"))]
    bare = next((other for other in others if other.strip("_").lower() == wanted.strip("_")), "")
    return bare or nearest(wanted, others)[0]


def _datasets(case: Case) -> list[ast.ClassDef]:
    classes = [node for node in case.code.nodes if isinstance(node, ast.ClassDef)]
    return [cls for cls in classes if any("Dataset" in ast.unparse(base) for base in cls.bases)]


def sample_of_none(case: Case) -> Finding:
    """A dataset whose `__getitem__` gives None, most often where a way through it has no `return`."""
    methods = [(cls, defined_in(cls, "__getitem__")) for cls in _datasets(case)]
    found = [(cls, method) for cls, method in methods if method is not None]
    type_ = case.groups.get("type") or case.groups["got"]
    only_if(len(found) == 1 and type_ == "NoneType" and case.is_in_loader)
    ((cls, method),) = found
    last = unreturned(method.body)
    if last is not None:
        is_value = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant | ast.Call)
        fix = (case.code.before(last, "return "),) if is_value else ()
        return case.finding("sample_is_none", span=case.code.span(last), cls=cls.name, is_said="0", fix=fix)
    given = [one.value for one in ast.walk(method) if isinstance(one, ast.Return) and one.value is not None]
    given += [part for one in given if isinstance(one, ast.IfExp) for part in (one.body, one.orelse)]
    inside = [one for value in given for one in ast.walk(value) if isinstance(one, ast.Constant) and one.value is None]
    if inside and {*inside} <= {*given}:
        where = case.code.span(known(case.code.statement(inside[0])))
        return case.finding("sample_is_none", span=where, cls=cls.name, is_said="1")
    inside = [one for one in ast.walk(method) if isinstance(one, ast.Constant) and one.value is None]
    where = case.code.span(case.code.statement(inside[0]) or method) if len(inside) == 1 else case.code.head(method)
    return case.finding("sample_holds_none", span=where, cls=cls.name)


def unreturned(block: list[ast.stmt]) -> ast.stmt | None:
    """The last statement of a way through a block that ends without `return`."""
    match block[-1]:
        case ast.Return(value=value) as last:
            return last if value is None else None
        case ast.If(body=body, orelse=orelse) as last:
            return unreturned(body) or (unreturned(orelse) if orelse else last)
        case ast.With(body=body):
            return unreturned(body)
        case ast.Raise():
            return None
        case last if any(isinstance(one, ast.Return) for one in ast.walk(last)):
            return None  # a loop or a `try` may always come to it
        case last:
            return last


# What is put into a module


_OF_MODULES = frozenset(
    "parameters named_parameters train eval to cuda cpu float half double state_dict load_state_dict zero_grad apply"
    " children named_children modules named_modules requires_grad_ register_buffer register_parameter".split()
)
"""What every module can be asked for."""


def without_module(case: Case) -> Finding:
    """A class with a `forward` that inherits from nothing, called or asked for what a module has."""
    found, name = case.code.classes(case.groups["type"]), case.groups.get("name", "")
    only_if(len(found) == 1 and not found[0].bases and (not name or name in _OF_MODULES))
    cls = found[0]
    only_if(defined_in(cls, "forward") is not None and defined_in(cls, "__call__") is None)
    said = {"cls": cls.name, "is_called": str(int(not name)), "asked": name, "defined_line": str(cls.lineno)}
    return case.finding("", said, span=case.code.head(cls), fix=_made_module(case, cls))


def _made_module(case: Case, cls: ast.ClassDef) -> Edits:
    """The class with a base, and with that made first."""
    code, base, init = case.code, case.code.under_nn("Module"), defined_in(cls, "__init__")
    head, start = f"class {cls.name}", cls.col_offset
    rest = code.line(cls.lineno)[start:].removeprefix(head)
    if not base or not isinstance(init, ast.FunctionDef) or not rest.startswith((":", "():")):
        return ()
    if any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(init)):
        return ()
    at = start + len(head)
    named = Edit(Span(cls.lineno, cls.lineno, at, at + rest.index(":")), f"({base})")
    return named, code.line_above(init.body[0], "super().__init__()")


_LAYERS = {
    "relu": "ReLU", "sigmoid": "Sigmoid", "tanh": "Tanh", "gelu": "GELU", "leaky_relu": "LeakyReLU", "elu": "ELU",
    "silu": "SiLU", "flatten": "Flatten", "softplus": "Softplus",
}  # fmt: skip


def not_a_module(case: Case) -> Finding:
    """A class or a function where `nn.Sequential` or `nn.ModuleList` takes layers."""
    call, got = known(case.call), case.groups["got"]
    last = got.rpartition(".")[2]
    parts = [inner for arg in call.args for inner in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])]
    lambdas = [part for part in parts if isinstance(part, ast.Lambda) and last == "<lambda>"]
    named = [part for part in parts if last and dotted(part).rpartition(".")[2] == last] or lambdas
    only_if(named)
    given = {"container": case.code.short(call.func), "written": case.code.short(named[0])}
    span = case.code.span(named[0])
    if got.startswith("torch.nn.modules.") or case.code.classes(last):
        return case.finding("layer_class_given", given, span=span)
    right = f"nn.{_LAYERS[last]}()" if last in _LAYERS else ""
    fix = tuple(case.code.replace(part, right) for part in named) if right and case.code.is_bound("nn") else ()
    given["is_known"] = str(int(bool(right)))
    return case.finding("function_among_layers", given, span=span, right=right, fix=fix)


def name_taken(case: Case) -> Finding:
    """`register_buffer` and its like for a name that the module has already: where a line gave it, or nn.Module did."""
    call, name = known(case.call), case.groups["name"]
    is_own = dotted(call.func).startswith("self.")
    cls = case.code.enclosing(call, ast.ClassDef) if is_own else None
    stores = [
        one for one in case.code.assignments(f"self.{name}") if is_own and case.code.enclosing(one, ast.ClassDef) is cls
    ]
    before = [one for one in stores if one.lineno < call.lineno]
    method = defined_in(cls, name) if cls is not None else None
    taker = before[0] if before else method
    is_idle = bool(before) and isinstance(before[0].value, ast.Constant) and len(before) == 1
    said = {"name": name, "call": case.code.short(call.func), "is_own": str(int(taker is not None))}
    span = case.code.span(before[0]) if before else case.code.head(method) if method is not None else None
    return case.finding("", said, span=span, fix=case.code.removed(before[0]) if is_idle else ())


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
