"""The program as a file that runs by itself: its head says what it ran on, and sets seed and threads again."""

import ast

from engine.program.tree import parse
from engine.trace import Environment, Trace


def script(trace: Trace) -> str:
    """Python source; the program's own lines follow the head unchanged.

    Only a docstring and `from __future__` imports stay above what is set, as Python asks for. The names that the head
    imports begin with an underscore, so a program that forgot an import fails here as it failed there."""
    code = trace.program.code
    lines = code.splitlines(keepends=True)
    above = _opening(code)
    head = (
        f"# A run recorded by Gradgraph {trace.environment.engine}: {trace.id}\n",
        f"# {_versions(trace.environment)}\n",
    )
    end = "" if code.endswith("\n") else "\n"
    return "".join((*head, *lines[:above], *_settings(trace), *lines[above:], end))


def _opening(code: str) -> int:
    """Number of lines that must stay first."""
    tree = parse(code)
    last = 0
    for statement in tree.body if tree is not None else ():
        match statement:
            case ast.Expr(value=ast.Constant(value=str())) if last == 0:
                last = statement.end_lineno or 0
            case ast.ImportFrom(module="__future__"):
                last = statement.end_lineno or 0
            case _:
                break
    return last


def _versions(environment: Environment) -> str:
    numpy = f", NumPy {environment.numpy}" if environment.numpy else ""
    return f"Python {environment.python}, PyTorch {environment.torch}{numpy}, on {environment.device}"


def _settings(trace: Trace) -> list[str]:
    seed, threads = trace.program.seed, trace.environment.threads
    return [
        "import random as _random\n",
        *(["import numpy as _numpy\n"] if trace.environment.numpy else []),
        "import torch as _torch\n",
        f"_random.seed({seed})\n",
        *([f"_numpy.random.seed({seed})\n"] if trace.environment.numpy else []),
        f"_torch.manual_seed({seed})\n",
        f"_torch.set_num_threads({threads})\n",
    ]
