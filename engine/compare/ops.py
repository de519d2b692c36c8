"""Which ops of two runs correspond, and where their results and nodes part."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from engine.compare.lines import Pairs
from engine.compare.types import Difference, Split
from engine.compare.values import UNKNOWN, alike, difference
from engine.trace import Edge, Node, Op, Tensor
from engine.trace_index import TraceIndex

OpPlace = tuple[int, int, str]
"""Line here and line there, 0 for none, and name of the op."""


class Ops:
    """The ops of two runs."""

    def __init__(self, here: TraceIndex, there: TraceIndex, lines: Pairs) -> None:
        self.here = here
        self.there = there
        self._to_there = dict(lines)
        self._to_here = {b: a for a, b in lines}
        self.pairs: list[tuple[Op, Op]] = []
        """Those that correspond, in the order here."""
        self.only_here: list[Op] = []
        self.only_there: list[Op] = []
        self.differing: list[tuple[Op, Op]] = []
        self.value: Split | None = None
        self.graph: Split | None = None
        self._match()
        self._compare()

    def nodes(self) -> dict[str, str]:
        """For each node here the one there that the same op made, one after the other."""
        return {x: y for a, b in self.pairs for x, y in zip(a.nodes, b.nodes, strict=False)}

    def line_here(self, line: int) -> int | None:
        """The line here that a line there corresponds to."""
        return self._to_here.get(line)

    def _place_here(self, op: Op) -> OpPlace:
        line = op.span.line if op.span else 0
        return line, self._to_there.get(line, 0), op.name

    def _place_there(self, op: Op) -> OpPlace:
        line = op.span.line if op.span else 0
        return self._to_here.get(line, 0), line, op.name

    def _match(self) -> None:
        """The nth op of a place in one turn corresponds to the nth there."""
        waiting: dict[tuple[OpPlace, int], list[Op]] = defaultdict(list)
        for op in self.there.trace.ops:
            waiting[self._place_there(op), op.iteration].append(op)
        taken: Counter[tuple[OpPlace, int]] = Counter()
        for op in self.here.trace.ops:
            key = self._place_here(op), op.iteration
            candidates = waiting.get(key, ())
            if taken[key] < len(candidates):
                self.pairs.append((op, candidates[taken[key]]))
                taken[key] += 1
            else:
                self.only_here.append(op)
        found = {b.id for _, b in self.pairs}
        self.only_there = [op for op in self.there.trace.ops if op.id not in found]

    def _compare(self) -> None:
        made = (
            {made for op in side.trace.ops if not _fills(op, side) for made in op.outputs}
            for side in (self.here, self.there)
        )
        made_here, made_there = made
        for a, b in self.pairs:
            results = self._parting(zip(a.outputs, b.outputs, strict=False))
            differ = bool(results) or a.raised != b.raised or len(a.outputs) != len(b.outputs)
            if differ:
                self.differing.append((a, b))
            if self.value is None:
                given = self._parting(
                    (x, y)
                    for x, y in zip(a.inputs, b.inputs, strict=False)
                    if x not in made_here and y not in made_there
                )
                if given or (differ and not (_fills(a, self.here) and self._is_drawn_anew(results))):
                    self.value = _split(a, b, given or results, given=given is not None)
            if self.graph is None and _signature(a, self.here) != _signature(b, self.there):
                self.graph = _split(a, b, None)

    def _parting(self, pairs: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
        """The first two tensors that differ."""
        for x, y in pairs:
            a, b = self.here.tensors.get(x), self.there.tensors.get(y)
            if a is not None and b is not None and not alike(self._known(a, b)):
                return x, y
        return None

    @staticmethod
    def _known(a: Tensor, b: Tensor) -> Difference:
        """How two tensors compare; memory that nothing was written to yet is nothing that a program means."""
        return UNKNOWN if "uninitialised" in (a.contents, b.contents) else difference(a, b)

    def _is_drawn_anew(self, results: tuple[str, str] | None) -> bool:
        """Whether two results differ in their elements alone."""
        if results is None:
            return False
        here, there = results
        return difference(self.here.tensors[here], self.there.tensors[there]).verdict == "differs"


def _split(a: Op, b: Op, tensors: tuple[str, str] | None, *, given: bool = False) -> Split:
    x, y = tensors or (None, None)
    return Split(
        here=a.id,
        there=b.id,
        line=a.span.line if a.span else None,
        line_there=b.span.line if b.span else None,
        tensor_here=x,
        tensor_there=y,
        given=given,
    )


def _fills(op: Op, run: TraceIndex) -> bool:
    """Whether it gives memory its first contents, as a layer does its parameters: what parts there is told where it is
    used."""
    return op.in_place and any(run.tensors[id].contents == "uninitialised" for id in op.inputs if id in run.tensors)


def _signature(op: Op, run: TraceIndex) -> list[tuple[str, tuple[str | None, ...]]]:
    """The nodes an op made, each with what its edges lead to."""
    nodes = [run.nodes[id] for id in op.nodes if id in run.nodes]
    return [(node.type, tuple(_ends(node.edges, run.nodes))) for node in nodes]


def _ends(edges: Iterable[Edge], nodes: Mapping[str, Node]) -> Iterator[str | None]:
    """Types of the next nodes."""
    for edge in edges:
        following = nodes.get(edge.to or "")
        yield following.type if following else None
