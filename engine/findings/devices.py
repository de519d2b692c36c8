"""Words about devices that Python takes without complaint and that do nothing."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from engine.findings.diagnosis import Diagnosis
from engine.program.edits import Edits
from engine.program.names import dotted
from engine.program.source import Source
from engine.trace import Finding

VISIBLE = "CUDA_VISIBLE_DEVICES"
ALIKE = 0.85
TESTS = frozenset("is_available is_bf16_supported is_built is_initialized".split())
ASKS_CUDA = frozenset("is_available current_device get_device_name init get_device_properties".split())


def tests_without_call(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`if torch.cuda.is_available:` asks whether there is such a function, and there always is."""
    code = diagnosis.code
    for node in code.attributes:
        if node.attr not in TESTS or not dotted(node).startswith("torch.") or not _is_tested(code, node):
            continue
        yield diagnosis.finding(
            "test_without_call",
            "error",
            node,
            fix=(code.after(node, "()"),),
        )


def _is_tested(code: Source, node: ast.Attribute) -> bool:
    above = code.parents.get(node)
    match above:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return True
    return False


def visible_devices(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The variable misspelt, or set after CUDA was asked."""
    code = diagnosis.code
    for key, statement in _environment_keys(code):
        name = key.arg or "" if isinstance(key, ast.keyword) else str(key.value)
        if name != VISIBLE and SequenceMatcher(None, name.upper(), VISIBLE).ratio() >= ALIKE:
            quote = code.text(key)[0]
            fix: Edits = (code.replace(key, f"{quote}{VISIBLE}{quote}"),) if quote in "'\"" else ()
            if isinstance(key, ast.keyword):
                fix = (code.replace(key, f"{VISIBLE}={code.text(key.value)}"),)
            yield diagnosis.finding("visible_devices_misspelt", "error", key, fix=fix, written=name, right=VISIBLE)
        elif name == VISIBLE and not code.in_loop(statement):
            asked = _asked_before(code, statement)
            if asked is not None:
                yield diagnosis.warning(
                    "visible_devices_too_late",
                    statement,
                    asked_line=str(asked.lineno),
                    asked=code.short(asked),
                )


def _environment_keys(code: Source) -> Iterator[tuple[ast.Constant | ast.keyword, ast.stmt]]:
    """Keys that the program writes into `os.environ`."""
    for node in code.nodes:
        keys: list[ast.expr | ast.keyword | None] = []
        match node:
            case ast.Subscript(value=value, slice=key, ctx=ast.Store()) if dotted(value).endswith("environ"):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=value, attr="setdefault"), args=[key, *_]) if dotted(value).endswith(
                "environ"
            ):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=value, attr="update")) if dotted(value).endswith("environ"):
                keys = [*node.keywords]
                for given in node.args:
                    keys += given.keys if isinstance(given, ast.Dict) else []
            case ast.Call(func=function, args=[key, *_]) if dotted(function) == "os.putenv":
                keys = [key]
        statement = code.statement(node) if keys else None
        for written in keys:
            if statement is not None and isinstance(written, ast.Constant | ast.keyword):
                yield written, statement


def _asked_before(code: Source, statement: ast.stmt) -> ast.Call | None:
    """A call before it in the same function, or at the level of the program, that made CUDA look at the variable
    already."""
    for call in code.calls:
        name = dotted(call.func)
        asks = name.startswith("torch.cuda.") and name.rpartition(".")[2] in ASKS_CUDA
        moves = isinstance(call.func, ast.Attribute) and call.func.attr == "cuda" and not asks
        if (asks or moves) and call.lineno < statement.lineno and code.function(call) is code.function(statement):
            return call
    return None
