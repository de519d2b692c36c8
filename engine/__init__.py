"""Gradgraph's engine: a program in, the trace of what autograd did out."""

from engine.limits import DEFAULT_LIMITS
from engine.local import run
from engine.request import RunRequest
from engine.trace import Program, RunLimits, Trace

__all__ = ["DEFAULT_LIMITS", "Program", "RunLimits", "RunRequest", "Trace", "run"]
