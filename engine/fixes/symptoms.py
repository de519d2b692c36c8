"""What shows that an edit quiets a message while the trouble goes on: gradients that stay away or are lost, graphs that
grow from turn to turn."""

from collections.abc import Iterator
from itertools import pairwise

from engine.compare import Comparison
from engine.trace import Finding, Pass, Trace
from engine.trace_index import TraceIndex

FEWEST_TURNS = 3
"""Passes of one line that tell whether each walks back further than the one before."""


def stays_without_gradient(before: Trace, finding: Finding, after: Trace, told: Comparison) -> bool:
    """Whether a leaf that a finding names, and that no pass reached, is still not reached."""
    if not before.passes or not after.passes:
        return False
    here, there = _Fed(before), _Fed(after)
    named = {here.index.identity(tensor) for tensor in finding.tensors}
    wanting = {leaf for leaf in named if here.index.is_tracked_leaf(leaf) and leaf not in here.leaves}
    return any(ours in wanting and theirs not in there.leaves for ours, theirs in _same(told, here, there))


def nothing_better(before: Trace, after: Trace, told: Comparison) -> bool:
    """Whether nothing that was to be seen is better: no leaf that was without gets a gradient, and after several passes
    the loss is no lower."""
    here, there = _Fed(before), _Fed(after)
    newly = any(ours not in here.leaves and theirs in there.leaves for ours, theirs in _same(told, here, there))
    old, new = told.here.loss, told.there.loss
    is_lower = old is not None and new is not None and not float(new) >= float(old)
    return len(before.passes) > 1 and not newly and not is_lower


def gradient_lost(before: Trace, after: Trace, told: Comparison) -> bool:
    """Whether a leaf that got gradients, and still asks for them, gets none now. Another of its name may have got them
    before: what a program that goes on loads or makes anew lost nothing."""
    here, there = _Fed(before), _Fed(after)
    asking = {leaf for leaf, last in there.index.last_states.items() if last.requires_grad and last.grad_fn is None}
    named = {name for leaf in there.leaves for name in there.index.tensors[leaf].names if leaf in there.index.tensors}
    lost = asking - there.leaves
    alike = ((ours, theirs) for ours, theirs in _same(told, here, there) if ours in here.leaves and theirs in lost)
    return any(named.isdisjoint(there.index.tensors[theirs].names) for _, theirs in alike)


def graph_grows(trace: Trace) -> bool:
    """Whether the passes of a line walk back through ever more earlier turns: what a graph that was kept, where a value
    was to be detached, lets a program do without an error."""
    by_line: dict[int, list[Pass]] = {}
    for pass_ in trace.passes:
        if pass_.parent is None and pass_.span is not None and not pass_.failed:
            by_line.setdefault(pass_.span.line, []).append(pass_)
    sinks = set(TraceIndex(trace).leaf_nodes.values())
    return any(_go_back_further(passes, sinks) for passes in by_line.values() if len(passes) >= FEWEST_TURNS)


def _go_back_further(passes: list[Pass], sinks: set[str]) -> bool:
    walked = [{visit.node for visit in pass_.visits} - sinks for pass_ in passes[:FEWEST_TURNS]]
    again = [len(later & earlier) for earlier, later in pairwise(walked)]
    return again[0] > 0 and all(less < more for less, more in pairwise(again))


class _Fed:
    """The leaves of a run at which gradients arrived, or whose gradients were handed out."""

    def __init__(self, trace: Trace) -> None:
        self.index = TraceIndex(trace)
        arrived = (added.tensor for pass_ in trace.passes for added in pass_.accumulations if added.delta is not None)
        handed = (
            asked
            for pass_ in trace.passes
            for asked, result in zip(pass_.inputs or (), pass_.results, strict=False)
            if asked is not None and result is not None
        )
        self.leaves = {self.index.identity(tensor) for tensor in (*arrived, *handed)}


def _same(told: Comparison, here: _Fed, there: _Fed) -> Iterator[tuple[str, str]]:
    """Tensors of one name in both runs, by their first records."""
    for row in told.tensors:
        if row.here is not None and row.there is not None:
            yield here.index.identity(row.here), there.index.identity(row.there)
