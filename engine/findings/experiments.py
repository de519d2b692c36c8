"""Edits that take a suspected cause out where no cure is offered, so that a run may tell whether it is the cause."""

import ast
import copy
from collections.abc import Iterator

from msgspec.structs import replace

from engine.findings.diagnosis import Diagnosis
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Edit, Finding

SWITCHES = frozenset(("no_grad", "inference_mode"))
UNRECORDED = frozenset(("cut_by_no_grad", "cut_by_decorator", "recording_switched_off"))
CUT = ("cut_by_", "leaf_recreated", "flat_op")
"""How codes begin of cuts that an expression makes."""
LOSSY = frozenset("detach item tolist numpy long int short bool round floor ceil trunc sign".split())
"""Methods and functions that no gradient comes back through."""
MADE_ANEW = frozenset(("tensor", "as_tensor", "from_numpy", "Variable"))
Simple = ast.Assign | ast.AugAssign | ast.Return | ast.Expr


def with_experiments(diagnosis: Diagnosis, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings, those without a fix with an experiment where there is one."""
    return tuple(_tested(diagnosis, finding) for finding in findings)


def _tested(diagnosis: Diagnosis, finding: Finding) -> Finding:
    if finding.fix or finding.severity == "note" or finding.span is None:
        return finding
    edits = _without_cause(diagnosis, finding)
    return replace(finding, fix=edits, is_experiment=True) if edits else finding


def _without_cause(diagnosis: Diagnosis, finding: Finding) -> Edits:
    code = diagnosis.code
    statement = code.statement_at(finding.span)
    if finding.code in UNRECORDED:
        return tuple(_switched_on(diagnosis, finding))
    if finding.code == "saved_value_edited" and isinstance(statement, ast.Expr | ast.AugAssign):
        return (code.replace(statement, "pass"),)
    if not isinstance(statement, Simple) or not finding.code.startswith(CUT):
        return ()
    cut = code.at(finding.span) or statement
    uncut = _Uncut(_lists(diagnosis))
    if ast.dump(uncut.visit(copy.deepcopy(cut))) == ast.dump(cut):
        return ()  # with what cuts still there, the run would tell of something else
    return (code.replace(statement, ast.unparse(uncut.visit(copy.deepcopy(statement)))),)


def _switched_on(diagnosis: Diagnosis, finding: Finding) -> Iterator[Edit]:
    """Recording, wherever it is off around a place."""
    code = diagnosis.code
    lines = {finding.span.line} if finding.span is not None else set()
    around = code.statement_at(finding.span)
    above = [] if around is None else [around, *code.around(around)]
    lines |= {item.context_expr.lineno for node in above if isinstance(node, ast.With) for item in node.items}
    for call in code.calls:
        match call:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in SWITCHES and call.lineno in lines:
                yield code.replace(call.func, f"{code.text(owner)}.enable_grad")
            case ast.Call(args=[ast.Constant(value=False) as off]) if (
                called(call) == "set_grad_enabled" and call.lineno in lines
            ):
                yield code.replace(off, "True")


def _lists(diagnosis: Diagnosis) -> frozenset[str]:
    """The names that stand for lists."""
    bound = ((dotted(binding.targets[0]), binding.value) for binding in diagnosis.code.bindings)
    return frozenset(name for name, value in bound if name and isinstance(value, ast.List | ast.ListComp))


class _Uncut(ast.NodeTransformer):
    """Leaves out of an expression what keeps gradient from coming back through it."""

    def __init__(self, lists: frozenset[str]) -> None:
        self.lists = lists

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch")), args=[value, *_]) if called(node) in LOSSY:
                return value
            case ast.Call(func=ast.Attribute(value=value), args=[]) if called(node) in LOSSY:
                return value
            case ast.Call(func=ast.Name(id="float"), args=[value]):
                return value
            case ast.Call(args=[value, *_]) if called(node) in MADE_ANEW and not isinstance(
                value, ast.List | ast.Tuple | ast.Constant
            ):
                stack = ast.Attribute(ast.Name("torch", ast.Load()), "stack", ast.Load())
                is_list = isinstance(value, ast.ListComp | ast.GeneratorExp) or dotted(value) in self.lists
                return ast.Call(stack, [value], []) if is_list else value
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return node.value if node.attr == "data" and isinstance(node.ctx, ast.Load) else node
