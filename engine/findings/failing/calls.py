"""Calls that do not fit: wrong arguments, brackets too many or too few, modules put together wrongly."""

import ast
import re

from engine.findings.diagnosis import line
from engine.findings.failing.case import Case
from engine.findings.failing.classes import forward_inside, function_forward
from engine.findings.leaves import asked_last, meant_as_leaves
from engine.findings.plain_containers import plain_containers, said_of, wrapped
from engine.program.names import dotted
from engine.program.spelling import nearest
from engine.program.tree import defined_in
from engine.trace import Edit, Finding

PROPERTIES = frozenset(
    {"shape", "dtype", "device", "T", "H", "mT", "mH", "grad", "data", "ndim", "is_leaf", "grad_fn", "requires_grad"}
)
NOT_MODULES = frozenset("int float bool complex type function method builtin_function_or_method".split())


def module_called(case: Case) -> Finding | None:
    """`torch([1, 2])`: a module where a function of it is meant."""
    call = case.call
    if call is None:
        return None
    written = case.code.text(call.func)
    operand = case.operand(ast.unparse(call.func))
    if operand is not None and operand.type == "torch":
        fix = (case.code.replace(call.func, f"{written}.tensor"),)
        return case.finding(receiver=written, suggestion=f"{written}.tensor", fix=fix)
    return case.finding("other_module_called", receiver=written)


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
        first = case.code.span(call)
        at = case.code.after(func, " * ")
        return case.finding(
            "product_sign", span=first, written=case.code.short(call), right=f"{case.code.short(func)} * (…)", fix=(at,)
        )
    return case.finding("value_called", name=case.code.short(func))


def method_not_called(case: Case) -> Finding | None:
    """A method used as if it were its result: `x.mean.backward()`, `SGD(model.parameters, …)`."""
    node = case.node
    if node is None:
        return None
    found = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute)
        and not (isinstance(call := case.code.parents.get(inner), ast.Call) and call.func is inner)
        and inner is not node
        and _is_method(case, inner)
    ]
    if len(found) != 1:
        return None
    (method,) = found
    fix: tuple[Edit, ...] = (case.code.after(method, "()"),)
    above = case.code.parents.get(method)
    if isinstance(above, ast.Subscript):
        if method.attr != "size":
            return None
        fix = (case.code.after(method, "()"),)
    return case.finding("method_as_value", method=case.code.short(method), name=method.attr, fix=fix)


def method_kept(case: Case) -> Finding | None:
    """`h = h.detach`: the line that kept the method in place of its result."""
    span = case.failure.span
    kept = [
        operand
        for operand in case.failure.operands
        if operand.type in ("method", "builtin_function_or_method") and operand.text.isidentifier()
    ]
    for operand in kept if span is not None else ():
        made = [
            assignment
            for assignment in case.code.assignments(operand.text)
            if isinstance(assignment.value, ast.Attribute)
        ]
        if len(made) == 1 and isinstance(value := made[0].value, ast.Attribute):
            fix = (case.code.after(value, "()"),)
            where = case.code.span(value)
            return case.finding("method_as_value", span=where, method=case.code.short(value), name=value.attr, fix=fix)
    return method_not_called(case)


def divided(case: Case) -> Finding | None:
    """A division whose divisor is 0: often the length of something that is empty."""
    node = case.node
    if not isinstance(node, ast.BinOp):
        return None
    return case.finding(divisor=case.code.short(node.right))


def _is_method(case: Case, node: ast.Attribute) -> bool:
    operand = case.operand(ast.unparse(node))
    if operand is None:
        return node.attr in ("parameters", "mean", "sum", "named_parameters")
    return operand.type in ("method", "method_descriptor", "builtin_function_or_method")


def keyword(case: Case) -> Finding | None:
    """A keyword that the function does not take."""
    call, name = case.call, case.groups["name"]
    word = next((word for word in call.keywords if word.arg == name), None) if call is not None else None
    if word is None or call is None:
        return None
    suggestion = case.facts.get("suggestion", "")
    function = case.code.short(call.func)
    if suggestion:
        fix: tuple[Edit, ...] = ()
        taken = {keyword.arg for keyword in call.keywords}
        if case.facts.get("only") == "yes" and suggestion not in taken:
            fix = (case.code.replace(word, f"{suggestion}={case.code.text(word.value)}"),)
        return case.finding(
            "keyword_misspelt", span=case.code.span(word), function=function, suggestion=suggestion, fix=fix
        )
    return case.finding(span=case.code.span(word), function=function)


def arguments_missing(case: Case) -> Finding | None:
    """A call with fewer arguments than the function needs."""
    if case.call is None:
        return None
    applied = function_forward(case)
    if applied is not None:
        return applied
    missing = case.groups["names"].replace(" and ", ", ").replace("'", "").replace('"', "").replace(",,", ",")
    function = case.groups["function"]
    made = _class_of_forward(case, function)
    return case.finding(
        "arguments_missing" if made == "–" else "arguments_missing_own",
        function=function.removesuffix(".__init__"),
        missing=missing,
        defined_line=made,
        count=case.groups["count"],
    )


def _class_of_forward(case: Case, function: str) -> str:
    """Line of the user's own definition of that function; a dash for one of a library."""
    cls, _, method = function.rpartition(".")
    scopes: list[ast.ClassDef] = case.code.classes(cls)
    inside = [node for scope in scopes for node in scope.body]
    for node in inside if cls else case.code.nodes:
        is_own = bool(cls) or not isinstance(case.code.parents.get(node), ast.ClassDef)
        if isinstance(node, ast.FunctionDef) and node.name == method and is_own:
            return str(node.lineno)
    return "–"


def arguments_many(case: Case) -> Finding | None:
    """More arguments than the function takes; most often its definition forgot `self`."""
    function = case.groups["function"]
    cls, _, method = function.rpartition(".")
    for definition in case.code.classes(cls):
        if (own := defined_in(definition, method)) is not None:
            return _own_definition(case, definition, own)
        if method == "__init__":
            return init_misspelt(case, definition)
    if case.call is None:
        return None
    return case.finding(function=function.removesuffix(".__init__"))


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
            return _renamed(case, "init_misspelt", node, "__init__", cls)
    return None


def _renamed(case: Case, code: str, node: ast.FunctionDef, right: str, cls: ast.ClassDef) -> Finding | None:
    text = case.code.lines[node.lineno - 1]
    start = text.find(f"def {node.name}", case.code.span(node).column)
    if start < 0:
        return None
    where = case.code.span(node)
    name = type(where)(line=node.lineno, end_line=node.lineno, column=start + 4, end_column=start + 4 + len(node.name))
    return case.finding(code, span=name, fix=(Edit(span=name, text=right),), name=node.name, cls=cls.name)


def forward_missing(case: Case) -> Finding | None:
    """A module without `forward`: misspelt, or a container that is none to call."""
    name = case.groups["type"]
    for cls in case.code.classes(name):
        own = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
        suggestion, _ = nearest("forward", own)
        if suggestion:
            return _renamed(case, "forward_misspelt", own[suggestion], "forward", cls)
        inside = forward_inside(case, cls)
        if inside is not None:
            return inside
        return case.finding(type=name, defined_line=str(cls.lineno))
    if name in ("ModuleList", "ModuleDict"):
        return case.finding("list_called", type=name)
    return None


def super_init(case: Case) -> Finding | None:
    """A module whose `__init__` never called that of `nn.Module`."""
    span = case.failure.span
    inner = case.code.statement_on(span.line) if span is not None else None
    function = case.code.function(inner) if inner is not None else None
    cls = case.code.enclosing(inner, ast.ClassDef)
    if function is None or function.name != "__init__":
        classes = case.code.classes(case.facts.get("owner", ""))
        cls = classes[0] if len(classes) == 1 else None
        function = defined_in(cls, "__init__") if cls is not None else None
    if function is None or cls is None or inner is None or span is None:
        return None
    for node in ast.walk(function):  # `super().__init__` without its brackets
        if isinstance(node, ast.Attribute) and node.attr == "__init__" and "super" in case.code.text(node.value):
            call = case.code.parents.get(node)
            if isinstance(call, ast.Call):
                return case.finding("super_init_late", span=case.code.span(call), cls=cls.name)
            fix = (case.code.after(node, "()"),)
            return case.finding("super_init_not_called", span=case.code.span(node), cls=cls.name, fix=fix)
    first = function.body[0]
    fix = (case.code.line_above(first, "super().__init__()"),)
    return case.finding(span=case.code.head(function), cls=cls.name, fix=fix)


def is_floats(node: ast.expr) -> bool:
    """A literal whose numbers all make one floating tensor."""
    leaves = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    plain = all(
        isinstance(inner, ast.List | ast.Tuple | ast.Constant | ast.Load | ast.UnaryOp | ast.USub)
        for inner in ast.walk(node)
    )
    return plain and any(isinstance(leaf.value, float) for leaf in leaves)


def made_wrong(case: Case) -> Finding | None:
    """Arguments that a function of PyTorch has no version for."""
    return case.finding() if case.call is not None else None


def operands(case: Case) -> Finding | None:
    """A tensor and a list, a string or a function on two sides of an operator."""
    node = case.node
    if not isinstance(node, ast.BinOp):
        return None
    left, right = case.groups["left"], case.groups["right"]
    if "Tensor" not in (left, right) or left == right:
        return None
    other = node.right if left == "Tensor" else node.left
    got = right if left == "Tensor" else left
    fix: tuple[Edit, ...] = ()
    if got in ("list", "tuple") and is_floats(other) and case.code.is_bound("torch"):
        fix = (case.code.replace(other, f"torch.tensor({case.code.text(other)})"),)
    return case.finding(other=case.code.short(other), got=got, operator=case.groups["operator"], fix=fix)


def pair_returned(case: Case) -> Finding | None:
    """`max`, `min`, `sort` and `topk` along an axis give values and indices together."""
    node = case.node
    sides = (
        [node.left, node.right]
        if isinstance(node, ast.BinOp)
        else [node.value]
        if isinstance(node, ast.Attribute)
        else []
    )
    for side in sides:
        call = side
        if isinstance(side, ast.Name):
            made = case.code.assignments(side.id)
            call = made[0].value if len(made) == 1 else side
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in PAIRS:
            fix = case.code.method(side, ".values")
            return case.finding(op=call.func.attr, name=case.code.short(side), fix=fix)
    return None


PAIRS = frozenset({"max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin"})


def device_name(case: Case) -> Finding | None:
    """`torch.device("gpu")`."""
    return case.finding(fix=_cuda_literal(case, case.groups["name"]))


def _cuda_literal(case: Case, name: str) -> tuple[Edit, ...]:
    """A device written as a literal, replaced by a choice that runs everywhere; nothing when it is written
    elsewhere."""
    if case.node is None or not case.code.is_bound("torch"):
        return ()
    found = [node for node in ast.walk(case.node) if isinstance(node, ast.Constant) and node.value == name]
    if len(found) != 1:
        return ()
    return (case.code.replace(found[0], '"cuda" if torch.cuda.is_available() else "cpu"'),)


def no_cuda(case: Case) -> Finding | None:
    """A device that is not here."""
    node = case.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
        return case.finding(fix=(case.code.replace(node, case.code.text(node.func.value)),))
    literals = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)] if node is not None else []
    for literal in literals:
        if isinstance(literal.value, str) and literal.value.startswith("cuda"):
            return case.finding(fix=_cuda_literal(case, literal.value))
    return case.finding(fix=_cuda_assigned(case))


def _cuda_assigned(case: Case) -> tuple[Edit, ...]:
    """The device was chosen in a line of its own."""
    for text in [operand.text for operand in case.failure.operands]:
        made = case.code.assignments(text)
        if len(made) == 1:
            found = [
                node
                for node in ast.walk(made[0].value)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda")
            ]
            chosen = isinstance(made[0].value, ast.IfExp)
            if len(found) == 1 and not chosen and case.code.is_bound("torch"):
                return (case.code.replace(found[0], '"cuda" if torch.cuda.is_available() else "cpu"'),)
    return ()


def optimizer_given(case: Case) -> Finding | None:
    """One tensor, or the module itself, where a list of parameters is needed."""
    call = case.call
    if call is None or not call.args:
        return None
    first = call.args[0]
    if case.groups.get("module"):
        operand = case.operand(ast.unparse(first))
        if operand is None or operand.type != case.groups["module"] or operand.type in NOT_MODULES:
            return None
        known = {module.path for module in case.diagnosis.trace.modules}
        if operand.text not in known and not dotted(call.func).startswith(("torch.optim.", "optim.")):
            return None
        return case.finding(
            "optimizer_of_module", name=case.code.short(first), fix=(case.code.after(first, ".parameters()"),)
        )
    return case.finding(name=case.code.short(first), fix=(case.code.before(first, "["), case.code.after(first, "]")))


def optimizer_not_leaf(case: Case) -> Finding | None:
    """A computed tensor given to an optimizer: often `.to(…)`, `.double()` or `* 0.1` after creation."""
    call = case.call
    found = []
    for node in ast.walk(call) if call is not None else ():
        tensor = case.tensor_of(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if tensor is not None and not tensor.is_leaf:
            found.append((node, tensor))
    if len(found) != 1:
        return None
    node, tensor = found[0]
    maker = case.diagnosis.maker.get(tensor.id)
    name = ast.unparse(node)
    meant = meant_as_leaves(case.diagnosis).get(name)
    fix = asked_last(case.diagnosis, meant[0], meant[1]) if meant is not None else ()
    return case.finding(
        span=maker.span if maker is not None else None, name=name, op=maker.name if maker is not None else "?",
        used_line=line(case.failure.span), tensors=(tensor,), fix=fix,
    )  # fmt: skip


def optimizer_empty(case: Case) -> Finding | None:
    """No parameters: all layers are in a plain list, or there are none."""
    hidden = list(plain_containers(case.diagnosis))
    if len(hidden) != 1:
        return case.finding()
    used = {"used_line": line(case.failure.span)}
    span, fix = case.code.span(hidden[0].value), wrapped(case.diagnosis, hidden[0])
    return case.finding("optimizer_empty_list", {**said_of(hidden[0]), **used}, span=span, fix=fix)


def state_dict(case: Case) -> Finding | None:
    """A state_dict whose names or shapes are not those of the model."""
    message = case.failure.message[:4000]
    missing = _quoted(re.search(r"Missing key\(s\) in state_dict: (.*?)\.\s", message + " "))
    unexpected = _quoted(re.search(r"Unexpected key\(s\) in state_dict: (.*?)\.\s", message + " "))
    sizes = re.findall(
        r"size mismatch for ([\w.]+): copying a param with shape torch\.Size\((\[[\d, ]*\])\) from checkpoint, "
        r"the shape in current model is torch\.Size\((\[[\d, ]*\])\)",
        message,
    )
    common = {"type": case.groups["type"]}
    if unexpected and all(key.startswith("module.") for key in unexpected):
        return case.finding("state_dict_prefix", common, first=unexpected[0])
    if sizes:
        name, given, wanted = sizes[0]
        return case.finding("state_dict_shape", common, name=name, given=given, wanted=wanted, count=str(len(sizes)))
    if missing or unexpected:
        return case.finding("", common, missing=_listed(missing), unexpected=_listed(unexpected))
    return None


def _quoted(found: re.Match[str] | None) -> list[str]:
    return re.findall(r'"([^"]+)"', found[1]) if found else []


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" (+{len(names) - 3})" if len(names) > 3 else "") if names else "–"
