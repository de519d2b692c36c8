"""All families of findings, asked in turn."""

import logging
from collections.abc import Iterator
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from engine.findings import cut_gradients, errors
from engine.findings.diagnosis import UNKNOWN, Diagnosis, Family, line
from engine.findings.experiments import with_experiments
from engine.findings.failing import stopped
from engine.findings.telling import in_order
from engine.trace import Finding, Trace
from engine.trace_index import TraceIndex

ASKS = {"diagnosis": Diagnosis, "return": Iterator[Finding]}
"""How a function is annotated that asks for findings."""


def _families(folder: Path) -> Iterator[Family]:
    """The public functions of a folder's files that ask a diagnosis for findings. Raises TypeError for one that is
    annotated otherwise."""
    for file in sorted(folder.glob("*.py")):
        module = import_module(f"engine.findings.{file.stem}") if file.stem not in ("__init__", "find") else None
        for name, function in vars(module).items() if module is not None else ():
            is_own = isfunction(function) and function.__module__ == f"engine.findings.{file.stem}"
            said = function.__annotations__ if is_own and not name.startswith("_") else {}
            if said == ASKS:
                yield function
            elif [*said.values()][:-1] == [Diagnosis] and Finding in get_args(said["return"]):
                raise TypeError(f"{function.__qualname__} in {file.name} is to be annotated as {ASKS}")


FAMILIES: tuple[Family, ...] = (*_families(Path(__file__).parent), stopped.unfinished, stopped.ended)
"""Asked in the order of their files."""
MOST_QUOTED = 160
"""Characters of one thing that a sentence names."""
SIGNS = {
    **{"add": "+", "sub": "-", "rsub": "-", "neg": "-", "mul": "*", "div": "/", "rdiv": "/", "pow": "**", "rpow": "**"},
    **{"floor_divide": "//", "remainder": "%", "matmul": "@", "getitem": "[...]", "setitem": "[...]"},
    **{"add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/=", "pow_": "**="},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
"""How ops are written that have a sign in Python."""
_log = logging.getLogger(__name__)
EXPLAIN_FAILURES: frozenset[Family] = frozenset((errors.errors, cut_gradients.cut_gradients))
"""Whose errors tell why the program failed; those of the others stood in it as well."""


def find(trace: Trace, known: TraceIndex | None = None, said: tuple[Finding, ...] = ()) -> tuple[Finding, ...]:
    """Every diagnosis, the gravest first, each with what follows from it; `known` is as `TraceIndex` has it, `said` are
    those of the worker."""
    if not trace.ops and trace.failure is None and trace.status != "ok":
        return said
    diagnosis = Diagnosis(trace, known)
    found = [(family, finding) for family in FAMILIES for finding in _asked(family, diagnosis)]
    if not any(family in EXPLAIN_FAILURES and finding.severity == "error" for family, finding in found):
        found += [(errors.errors, finding) for finding in _asked(stopped.stopped, diagnosis)]
    explaining = [finding for family, finding in found if family in EXPLAIN_FAILURES]
    others = [finding for family, finding in found if family not in EXPLAIN_FAILURES]
    return with_experiments(diagnosis, in_order(diagnosis, explaining, [*said, *others]))


def _asked(family: Family, diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What one family finds and has all the words for, of each line the first; a bug in it, or a program too deep for
    it, costs no more than its findings."""
    told: dict[tuple[str, str], Finding] = {}
    try:
        for finding in family(diagnosis):
            if UNKNOWN not in finding.parameters.values():
                told.setdefault((finding.code, line(finding.span)), _quoted(diagnosis, finding))
    except Exception:
        _log.exception("%s failed on run %s", family.__name__, diagnosis.trace.id)
        return ()
    return tuple(told.values())


def _quoted(diagnosis: Diagnosis, finding: Finding) -> Finding:
    """The finding with an op called as the program writes it, `*` and not `mul`, and with what its sentences quote cut
    short: the name of a class may have any length."""
    said = {name: text if name == "says" else _cut(text) for name, text in finding.parameters.items()}
    op = said.get("op", "")
    if op in SIGNS and f"{op}(" not in diagnosis.trace.program.code:
        said["op"] = SIGNS[op]
    return finding if said == finding.parameters else replace(finding, parameters=said)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 1] + "…"
