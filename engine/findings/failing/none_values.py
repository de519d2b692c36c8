"""None where a value was meant: a function without `return`, a method that changes its list in place."""

import ast

from engine.findings.diagnosis import line
from engine.findings.failing.case import Case
from engine.program.tree import defined_in
from engine.trace import Edit, Finding

_CHANGE_LISTS = frozenset({"append", "extend", "insert", "sort", "reverse", "clear"})


def no_return(case: Case, node: ast.expr) -> Finding | None:
    """The value comes from a function or a `forward` of the program that ends without `return`."""
    call = node
    if isinstance(node, ast.Name):
        made = case.code.assignments(node.id)
        call = made[-1].value if len(made) == 1 else node
    if not isinstance(call, ast.Call):
        return None
    name = ast.unparse(call.func)
    function = _definition(case, name)
    if function is None or any(
        isinstance(inner, ast.Return) and inner.value is not None for inner in ast.walk(function)
    ):
        return None
    fix: tuple[Edit, ...] = ()
    last = function.body[-1]
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
        fix = (case.code.before(last, "return "),)
    elif isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.targets[0], ast.Name):
        margin = " " * case.code.span(last).column
        fix = (case.code.after(last, f"\n{margin}return {last.targets[0].id}"),)
    span = case.code.span(last)
    return case.finding("return_missing", span=span, function=function.name, used_line=line(case.failure.span), fix=fix)


def _definition(case: Case, name: str) -> ast.FunctionDef | None:
    """The function of the program that a call runs: by its own name, or `forward` of the module's class."""
    for node in case.code.nodes:
        is_function = isinstance(node, ast.FunctionDef) and not isinstance(case.code.parents.get(node), ast.ClassDef)
        if isinstance(node, ast.FunctionDef) and is_function and node.name == name:
            return node
    module = next((module for module in case.diagnosis.trace.modules if module.path == name), None)
    operand = case.operand(name)
    cls = module.type if module is not None else operand.type if operand is not None else ""
    if not cls and name.endswith("()"):
        cls = name[:-2]
    for definition in case.code.classes(cls):
        if (forward := defined_in(definition, "forward")) is not None:
            return forward
    return None


def list_method(case: Case, node: ast.expr) -> Finding | None:
    """`xs = xs.append(x)`: such methods change the list and give None."""
    statement = made_last(case, node)
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=method)) as call) if method in _CHANGE_LISTS:
            receiver = case.code.text(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            fix = (case.code.replace(statement, case.code.text(call)),)
            return case.finding(
                "list_method_result", span=case.code.span(statement), receiver=receiver, method=method,
                used_line=str(case.failure.span.line) if case.failure.span is not None else "?", fix=fix,
            )  # fmt: skip
    return None


def made_last(case: Case, node: ast.expr) -> ast.Assign | None:
    """The last assignment above the failing line to what is written there."""
    span = case.failure.span
    if not isinstance(node, ast.Name) or span is None:
        return None
    scope = case.code.function(node)
    made = [
        assignment
        for assignment in case.code.assignments(node.id)
        if assignment.lineno <= span.line and case.code.function(assignment) is scope
    ]
    return made[-1] if made else None
