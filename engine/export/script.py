"""The program of a trace as a file that anybody can run."""

import ast

from engine.program.spans import lines_of
from engine.program.tree import parse
from engine.trace import Trace

_PREPARED = """\
def _as_recorded():
    import random
{imported}    import torch

    torch.set_num_threads({threads})
    torch.manual_seed({seed})
    random.seed({seed})
{seeded}
_as_recorded()
del _as_recorded
"""


def runnable(trace: Trace, link: str) -> str:
    """The program, and before its first line what Gradgraph does there: seeds and threads, so that the numbers are
    those of the trace. Above it stands what it ran with."""
    seed, ran = trace.program.seed, trace.environment
    numpy = f"NumPy {ran.numpy}, " if ran.numpy else ""
    header = (
        link,
        f"Made by Gradgraph {ran.engine} of a run with PyTorch {ran.torch}, {numpy}Python {ran.python},",
        f"device {ran.device}, {ran.threads} thread(s), seed {seed}.",
    )
    prepared = _PREPARED.format(
        imported="\n    import numpy\n" if ran.numpy else "",
        threads=ran.threads,
        seed=seed,
        seeded=f"    numpy.random.seed({seed})\n" if ran.numpy else "",
    )
    first, rest = _split(trace)
    # the versions are a worker's words: they stay on their line
    return "".join(f"# {' '.join(line.split())}\n" for line in header) + f"{first}{prepared}\n{rest}"


def _split(trace: Trace) -> tuple[str, str]:
    """What must stay first in a file, its docstring and `__future__`, and the rest."""
    code = trace.program.code
    tree = parse(code) if trace.status != "crashed" else None  # what brought a parser down is not parsed here
    end = 0
    for statement in tree.body if tree else ():
        if not _leads(statement):
            break
        end = statement.end_lineno or 0
    lines = lines_of(code)
    return "".join(f"{line}\n" for line in lines[:end]), "\n".join(lines[end:])


def _leads(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
