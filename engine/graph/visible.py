"""What is drawn: nodes reached from the roots, and around them the ops that autograd did not record."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from engine.graph.choice import Chosen
from engine.graph.index import GraphIndex
from engine.graph.types import Level
from engine.trace import Op, Tensor
from engine.unfollowed import PASSES, is_source


class Visible(NamedTuple):
    """Nodes and ghosts of one view."""

    reached: frozenset[str]
    """Nodes the roots lead to."""
    unreached: frozenset[str]
    """Nodes that only a cut leads to."""
    ghosts: tuple[Op, ...]
    """Ops without nodes, in the order they ran."""
    leaves: tuple[str, ...]
    """Identities of tracked leaves that only ghosts use and that have no AccumulateGrad."""


class Era(NamedTuple):
    """The stretch of forward ops that led to a pass: `since` ≤ index < `until`."""

    since: int
    until: int
    spent: frozenset[str]
    """Nodes that earlier passes ran."""


def see(index: GraphIndex, chosen: Chosen, level: Level) -> Visible:
    """The nodes and ghosts to draw."""
    if not chosen.roots and not chosen.tensors:
        return _without_roots(index)
    reached = index.reached_from(chosen.roots)
    if level == "autograd":
        return Visible(frozenset(reached), frozenset(), (), ())
    search = _Search(index, reached, chosen)
    search.begin_at(chosen.tensors)
    search.climb(index.nodes[node].op for node in reached)
    search.descend()
    return Visible(
        frozenset(reached),
        frozenset(search.nodes - reached),
        tuple(sorted(search.ghosts.values(), key=lambda op: index.op_at[op.id])),
        tuple(search.leaves),
    )


class _Search:
    """Grows the visible part along tensors: up to what made an untracked input, down to what the user named."""

    def __init__(self, index: GraphIndex, reached: set[str], chosen: Chosen) -> None:
        self.index = index
        self.chosen = chosen
        self.reached = reached
        self.nodes = set(reached)
        self.ghosts: dict[str, Op] = {}
        self.leaves: dict[str, None] = {}
        unrecorded = [op for op in index.trace.ops if not op.nodes and not is_source(op)]
        self._unrecorded = {tensor for op in unrecorded for tensor in op.outputs}

    @cached_property
    def era(self) -> Era:
        """The forward ops that led to the chosen pass: asked for where something was not recorded."""
        return _era(self.index, self.chosen, self.reached)

    def begin_at(self, tensors: Iterable[str]) -> None:
        """Add what made tensors that a pass could not start from."""
        for tensor in tensors:
            maker = self.index.maker.get(tensor)
            if maker is not None and not maker.nodes:
                self.ghosts[maker.id] = maker
        self.climb(tuple(self.ghosts))

    def climb(self, ops: Iterable[str | None]) -> None:
        """Add what made the untracked inputs of these ops, and what was cut off behind them."""
        if not (self._unrecorded or self.ghosts or self.index.escapes):
            return
        pending = [op for op in dict.fromkeys(ops) if op is not None]
        seen = set(pending)
        while pending:
            op = self.index.ops.get(pending.pop())
            if op is None:
                continue
            above: list[str] = []
            is_ghost = op.id in self.ghosts
            for tensor in op.inputs:
                if is_ghost or tensor in self._unrecorded:
                    above.extend(self._above(tensor, is_ghost=is_ghost))
            if op.id in self.index.escapes:
                above.extend(self._read_for(op.id))
            for more in above:
                if more not in seen:
                    seen.add(more)
                    pending.append(more)

    def _read_for(self, op: str) -> tuple[str, ...]:
        reads = self.index.escapes[op]
        self.ghosts.update((read, self.index.ops[read]) for read in reads)
        return reads

    def _above(self, tensor: str, *, is_ghost: bool) -> Iterable[str]:
        """Ops to look at next above one input; notes the ghost or the cut-off nodes on the way."""
        record = self.index.tensors.get(tensor)
        if record is None:
            return ()
        if record.grad_fn is not None:
            return self._behind_a_cut(record.grad_fn.node) if is_ghost else ()
        if record.requires_grad:
            if is_ghost:
                self._add_leaf(record)
            return ()
        maker = self.index.maker.get(tensor)
        if maker is None or maker.nodes or is_source(maker) or self.index.writes_a_leaf(maker):
            return ()
        if (maker.view or maker.in_place) and not any(self.index.is_tracked(one) for one in maker.inputs):
            return ()  # a piece of plain data, or a filled buffer, is shown by its name
        self.ghosts[maker.id] = maker
        return (maker.id,)

    def _behind_a_cut(self, node: str) -> Iterable[str]:
        if node in self.nodes or node in self.era.spent or node not in self.index.nodes:
            return ()
        added = self.index.reached_from([node]) - self.nodes
        self.nodes |= added
        return [op for op in (self.index.nodes[one].op for one in added) if op is not None]

    def _add_leaf(self, record: Tensor) -> None:
        identity = record.identity or record.id
        if self.index.is_parameter(identity):
            return
        node = self.index.leaf_nodes.get(identity)
        if node is None:
            self.leaves[identity] = None
        else:
            self.nodes.add(node)

    def descend(self) -> None:
        """Add ops that use something visible, when they lead to a tensor the user named or to a ghost drawn already."""
        if not self._unrecorded:
            return
        index, era = self.index, self.era
        touched = {tensor for (node, _), tensor in index.values.items() if node in self.nodes}
        touched.update(tensor for op in self.ghosts.values() for tensor in op.outputs)
        leaves = {index.nodes[node].variable for node in self.nodes} | set(self.leaves)
        candidates: list[Op] = []
        for op in index.trace.ops[era.since : era.until]:
            if op.nodes or op.pass_id is not None or op.id in self.ghosts or op.name in PASSES:
                continue
            if self.index.writes_a_leaf(op) or any(self.index.is_tracked(one) for one in op.outputs):
                continue
            if any(one in touched or index.identity(one) in leaves for one in op.inputs):
                candidates.append(op)
                touched.update(op.outputs)
        wanted = {tensor for op in self.ghosts.values() for tensor in op.inputs}
        kept: list[Op] = []
        for op in reversed(candidates):
            if any(one in wanted or index.has_names(one) for one in op.outputs):
                kept.append(op)
                wanted.update(op.inputs)
        self.ghosts.update((op.id, op) for op in kept)
        self.climb(op.id for op in kept)


def _without_roots(index: GraphIndex) -> Visible:
    """All there is of a run that recorded nothing: its leaves that wait for a graph, and its ops."""
    ops = _everything(index)
    leaves = [op for op in ops if is_source(op) and all(index.is_tracked_leaf(one) for one in op.outputs)]
    hidden = {op.id for op in leaves}
    identities = dict.fromkeys(index.identity(one) for op in leaves for one in op.outputs)
    return Visible(frozenset(), frozenset(), tuple(op for op in ops if op.id not in hidden), tuple(identities))


def _everything(index: GraphIndex) -> tuple[Op, ...]:
    return tuple(op for op in index.trace.ops if op.outputs and op.pass_id is None and op.name not in PASSES)


def _era(index: GraphIndex, chosen: Chosen, reached: set[str]) -> Era:
    since = done = 0
    latest: str | None = None
    until: int | None = None
    spent: set[str] = set()
    visits = {one.id: one.visits for one in index.trace.passes}
    for step in index.trace.timeline:
        if step.kind == "op" and step.op is not None:
            latest = step.op
        elif step.kind == "pass" and step.pass_id is not None:
            if latest is not None:
                done = index.op_at.get(latest, done - 1) + 1
            if chosen.of is not None and step.pass_id == chosen.of.id:
                until = done
                break
            since = done
            spent.update(visit.node for visit in visits.get(step.pass_id, ()))
    first = min((index.op_at[op] for op in _ops_of(index, reached)), default=0)
    return Era(min(since, first), len(index.trace.ops) if until is None else until, frozenset(spent - reached))


def _ops_of(index: GraphIndex, nodes: set[str]) -> Iterable[str]:
    return (op for op in (index.nodes[node].op for node in nodes) if op in index.op_at and op is not None)
