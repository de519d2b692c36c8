"""Gradgraph's engine: a program in, the trace of what autograd did out."""

from engine import own_builtins as own_builtins  # first: what is imported after it keeps its builtins
from engine.limits import DEFAULT_LIMITS
from engine.local import run
from engine.request import RunRequest
from engine.trace import Program, RunLimits, Trace

__all__ = ["DEFAULT_LIMITS", "Program", "RunLimits", "RunRequest", "Trace", "run"]
