"""What a program cannot have here: files, network, other processes, a keyboard, endless recursion, or more memory."""

import ast
import re
from collections.abc import Iterator, Mapping

from engine.findings.failing.case import Case, a, known, only_if
from engine.trace import Finding, Tensor, Trace

_PROCESSES = re.compile(r"\b(?:Process|fork|spawn|Pool|subprocess|Popen|run|system|DataLoader|start)\b")


def forbidden(case: Case) -> Finding | None:
    """Network, other processes, or else the call itself."""
    if case.failure.kind != "forbidden" or case.node is None:
        return None
    files = [frame.file for frame in case.failure.frames]
    text = case.code.text(case.node)
    if any(file.endswith(("socket.py", "urllib/request.py", "http/client.py")) for file in files) or "socket" in text:
        return case.finding("no_network")
    processes = any("multiprocessing" in file or file.endswith("subprocess.py") for file in files)
    if processes or _PROCESSES.search(text):
        return case.finding("no_processes")
    return case.finding("not_allowed") if case.call is not None else None


def recursion(case: Case) -> Finding | None:
    """A function that calls itself without end: the one in the innermost frames."""
    function = a(ast.FunctionDef, case.code.function(known(case.statement)))
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    own = any(ast.unparse(call.func).rpartition(".")[2] == function.name for call in calls)
    name = function.name
    if name in ("forward", "__call__") and not own:
        own = any(ast.unparse(call.func) in ("self", "self.__call__") for call in calls)
    return case.finding(function=name, defined_line=str(function.lineno)) if own else None


def memory(case: Case) -> Finding:
    """More memory than there is; the line and, when PyTorch or NumPy says so, how many bytes it asked for. Where that
    alone is no more than a run may use, what held the most before."""
    asked = case.facts.get("asked_bytes", "")
    only_if(case.failure.kind == "memory" and asked.isdecimal())
    is_part = int(asked) <= case.diagnosis.trace.limits.memory_bytes
    held, name = max(_held(case.diagnosis.trace, case.diagnosis.tensors), default=(0, ""))
    is_held = is_part and held > int(asked)
    return case.finding(
        amount=_amount(int(asked)),
        is_part=str(int(is_part)),
        is_held=str(int(is_held)),
        name=name if is_held else "",
        held=_amount(held) if is_held else "",
    )


def _held(trace: Trace, tensors: Mapping[str, Tensor]) -> Iterator[tuple[int, str]]:
    """How many bytes the tensors of each global name lie in."""
    for variable in trace.variables:
        known = (tensors.get(tensor or "") for tensor in (variable.tensor, *variable.tensors))
        yield sum({tensor.storage: tensor.size_bytes for tensor in known if tensor is not None}.values()), variable.name


def _amount(given: int) -> str:
    return f"{given / 1e9:,.1f} GB" if given >= 1e9 else f"{given / 1e6:,.1f} MB"
