"""Gradgraph's engine: a program in, the trace of what autograd did out."""

from engine import own_builtins

own_builtins.keep()

from engine.limits import DEFAULT_LIMITS  # noqa: E402 - what is imported from here on keeps its builtins
from engine.local import run  # noqa: E402
from engine.request import RunRequest  # noqa: E402
from engine.trace import Program, RunLimits, Trace  # noqa: E402

__all__ = ["DEFAULT_LIMITS", "Program", "RunLimits", "RunRequest", "Trace", "run"]
