"""The sentence for an error that no rule knows: the guilty line, what stood in it, and what refused it."""

import ast
import re
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis
from engine.findings.failing.case import RAISED, Case, of_first
from engine.findings.failing.origins import sizes
from engine.program.names import called, dotted
from engine.program.tree import given_by
from engine.trace import Finding, Operand

_MOST_VALUES = 6
_MOST_NUMBERS = 8
_LONGEST = 320
_NOT_VALUES = frozenset({"type", "function", "method", "builtin_function_or_method", "method_descriptor"})


def stopped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """What can be said of any exception."""
    failure = diagnosis.trace.failure
    if failure is None or failure.span is None or failure.kind not in RAISED or failure.type == failure.limit:
        return
    case = Case(diagnosis, failure)
    asked = case.call.func if case.call is not None else case.node
    itself = case.code.short(asked) if asked is not None else case.failure.type
    values = "; ".join([*_meant(case), *(_said(case, operand) for operand in _values(case, itself)[:_MOST_VALUES])])
    given = {"type": failure.type, "values": values, "says": _sentence(failure.message) or failure.type}
    given["called"] = itself
    given |= _refused(case) | _left_out(case)
    given["is_open"] = str(int("1" not in (given["is_named"], given["is_left_out"])))
    code = "op_refused" if case.op is not None else "call_refused"
    if isinstance(case.statement, ast.Raise | ast.Assert):
        code = "assertion_failed" if isinstance(case.statement, ast.Assert) else "raised_by_program"
    elif not values:
        parts = [one for one in ast.walk(case.statement) if isinstance(one, ast.Call)] if case.statement else []
        code, given["is_one"] = "line_stopped", str(int(len(parts) == 1))
    yield of_first(case.finding(code, given))


def unfinished(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The `while` that a program was in when its time was up."""
    failure = diagnosis.trace.failure
    if failure is None or failure.span is None or failure.kind != "limit" or failure.limit not in ("wall_s", "cpu_s"):
        return
    case = Case(diagnosis, failure)
    statement = case.code.statement_on(failure.span.line)  # it may have been between two expressions
    around = (statement, *case.code.around(statement)) if statement is not None else ()
    loop = next((node for node in around if isinstance(node, ast.While)), None)
    if loop is not None and not isinstance(loop.test, ast.Constant):
        said = {"condition": case.code.short(loop.test)}
        yield case.finding("loop_unfinished", said, span=case.code.span(loop.test))


def ended(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`sys.exit("no data")`: the program said why it ends."""
    failure = diagnosis.trace.failure
    if failure is None or failure.kind != "exit" or failure.type != "SystemExit" or failure.span is None:
        return
    case, said = Case(diagnosis, failure), " ".join(failure.message.split())
    if said and not said.lstrip("-").isdecimal():
        yield case.finding("ended_itself", said=said)
    else:
        asks = any(dotted(one) == "sys.argv" for one in case.code.attributes)
        yield case.finding("ended_for_arguments" if asks else "ended_with_code", said=said)


def _values(case: Case, itself: str) -> list[Operand]:
    """The names of the line that stand for something of the program's own, but for what is called itself, and for what
    only calls among its arguments were given."""
    within = [part for one in _inner_calls(case) for part in ast.walk(one)]
    whole = [part for part in ast.walk(case.call) if part not in within] if within and case.call is not None else []
    direct, handed = ({ast.unparse(part) for part in parts if isinstance(part, ast.expr)} for parts in (whole, within))
    return [
        operand
        for operand in case.failure.operands
        if operand.type not in _NOT_VALUES
        and not operand.type.startswith("torch")
        and operand.text not in ("self", operand.type, itself)
        and (operand.text in direct or operand.text not in handed)
        and not any(one.text.startswith(f"{operand.text}.") for one in case.failure.operands)
    ]


def _inner_calls(case: Case) -> list[ast.Call]:
    """The calls among the arguments of the one that failed."""
    given = (*case.call.args, *(word.value for word in case.call.keywords)) if case.call is not None else ()
    return [one for argument in given for one in ast.walk(argument) if isinstance(one, ast.Call)]


def _refused(case: Case) -> dict[str, str]:
    """The only argument, of the call or of the layer that it calls, whose name the message mentions."""
    spoken = {*re.findall(r"[^\W\d]\w*", _sentence(case.failure.message))}
    calls = [call for call in (case.call, case.layer_made or _only_made(case)) if call is not None]
    named = [word for call in calls for word in call.keywords if word.arg in spoken]
    if len(named) != 1:
        return {"is_named": "0", "argument": "", "refused": "", "argument_line": ""}
    argument, value = named[0].arg or "", named[0].value
    said = {"argument": argument, "refused": case.code.short(value), "argument_line": str(value.lineno)}
    return said | {"is_named": "1"}


def _left_out(case: Case) -> dict[str, str]:
    """What is None since the call of the function around left it out, where the message speaks of None."""
    frames, code = [one.span for one in case.failure.frames if one.span is not None], case.code
    function = code.function(case.node) if case.node is not None else None
    call = code.call_at(frames[-2]) if len(frames) > 1 else None
    none = [one.text for one in case.failure.operands if one.type == "NoneType" and "None" in case.failure.message]
    absent: list[str] = []
    if function is not None and call is not None:
        kept = [name for name in none if given_by(call, function, name) in function.args.defaults]
        absent = [name for name in kept if all(code.function(one) is not function for one in code.assignments(name))]
    if call is None or len(absent) != 1:
        return {"is_left_out": "0", "missing": "", "caller": "", "caller_line": ""}
    said = {"missing": absent[0], "caller": code.short(call), "caller_line": str(call.lineno)}
    return said | {"is_left_out": "1"}


def _only_made(case: Case) -> ast.Call | None:
    """The only call that makes layers of the class in which the op raised."""
    made = [call for call in case.code.calls if case.layer is not None and called(call) == case.layer.type]
    return made[0] if len(made) == 1 else None


def _meant(case: Case) -> list[str]:
    """What is written out in the call and of the type that the message speaks of: `1: int`."""
    arguments = (*case.call.args, *(word.value for word in case.call.keywords)) if case.call is not None else ()
    written = [(ast.unparse(one), type(one.value).__name__) for one in arguments if isinstance(one, ast.Constant)]
    return [f"{text}: {kind}" for text, kind in written if f"'{kind}' object" in case.failure.message]


def _sentence(message: str) -> str:
    """What the library says, when its first sentence is one to read: no paths, no program text."""
    first = re.split(r"(?<=[\w)\]'\"])\.\s|\n", message.strip())[0].rstrip(".")
    return " ".join(first.split()) if len(first) < _LONGEST and "/" not in first else ""


def _said(case: Case, operand: Operand) -> str:
    tensor = case.diagnosis.tensors.get(operand.tensor or "")
    if tensor is None:
        return f"{operand.text}: {operand.type}"
    numbers = tensor.data or ()
    is_short = 0 < len(numbers) <= _MOST_NUMBERS and len(tensor.shape) < 2
    values = f" = {', '.join(map(str, numbers))}" if is_short else ""
    layout = "" if tensor.layout == "strided" else f"{tensor.layout} "
    return f"{operand.text}: {layout}{tensor.dtype} {sizes(tensor.shape)}{values}"
