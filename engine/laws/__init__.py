"""What holds of every trace. Each law yields one sentence for each place where the trace breaks it.

`structure` says that a trace is one whole, `replay` that it is right; the others are named by what their laws are
about.
"""

from engine.laws.accumulation import accumulation
from engine.laws.checks import checks
from engine.laws.memory import memory
from engine.laws.modules import modules
from engine.laws.on_request import on_request
from engine.laws.ops import ops
from engine.laws.ranks import ranks
from engine.laws.replay import replay
from engine.laws.source import source
from engine.laws.structure import structure
from engine.trace import Trace
from engine.trace_index import TraceIndex

__all__ = ["broken"]


def broken(trace: Trace) -> list[str]:
    """Every breach of every law; empty for a right trace."""
    index = TraceIndex(trace)
    laws = (structure, checks, replay, accumulation, modules, ops, memory, source, on_request, ranks)
    return [breach for law in laws for breach in law(index)]
