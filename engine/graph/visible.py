"""What a pass reaches: the nodes its roots lead to, and around them the ops that autograd did not record."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from engine.graph.origins import origins
from engine.graph.start import Start
from engine.ops import PASSES, READS
from engine.trace import Op, Tensor
from engine.trace_index import TraceIndex
from engine.unfollowed import is_source


class Visible(NamedTuple):
    """Nodes, and ops without nodes: ghosts."""

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


def recorded(index: TraceIndex, start: Start) -> Visible:
    """The nodes alone; of a run that recorded none, the ghosts."""
    if not start.roots and not start.tensors:
        return _without_roots(index)
    return Visible(frozenset(index.reached_from(start.roots)), frozenset(), (), ())


def see(index: TraceIndex, start: Start) -> Visible:
    """The nodes and the ghosts around them."""
    if not start.roots and not start.tensors:
        return _without_roots(index)
    reached = index.reached_from(start.roots)
    search = _Search(index, reached, start)
    search.begin_at(start.tensors)
    search.climb(index.nodes[node].op for node in reached)
    search.descend()
    search.meet()
    search.add_failed()
    return Visible(
        frozenset(reached),
        frozenset(search.nodes - reached),
        tuple(sorted(search.ghosts.values(), key=lambda op: index.op_at[op.id])),
        tuple(search.leaves),
    )


class _Search:
    """Grows the visible part along tensors: up to what made an untracked input, down to what the user named."""

    def __init__(self, index: TraceIndex, reached: set[str], start: Start) -> None:
        self.index = index
        self.start = start
        self.reached = reached
        self.nodes = set(reached)
        self.ghosts: dict[str, Op] = {}
        self.leaves: dict[str, None] = {}
        unrecorded = [op for op in index.trace.ops if not op.nodes and not self._is_source(op)]
        self._unrecorded = {tensor for op in unrecorded for tensor in op.outputs}

    @cached_property
    def era(self) -> Era:
        """The forward ops that led to the chosen pass: asked for where something was not recorded."""
        return _era(self.index, self.start, self.reached)

    def _is_source(self, op: Op) -> bool:
        """Whether its results come from nowhere: no number in it was read from a tensor that could have received a
        gradient."""
        return is_source(op) and op.id not in self.index.escapes

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
            if is_ghost and op.collective in self.index.met:
                above.extend(self._others_in(op.collective))
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

    def _others_in(self, collective: str) -> Iterable[str]:
        met = self.index.met[collective]
        self.ghosts.update((op.id, op) for op in met)
        return [op.id for op in met]

    def meet(self) -> None:
        """Add the collectives that were given something visible, and what stands between."""
        for met in self.index.met.values():
            for op in met:
                for tensor in op.gave:
                    for node, way in origins(self.index, tensor, ()).nodes.items():
                        if node in self.nodes:
                            self.ghosts.update((between.id, between) for between in (*way, *met))

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
        if maker is None or maker.nodes or self._is_source(maker) or self.index.writes_a_leaf(maker):
            return ()
        is_spread = record.role == "buffer" and maker.collective is not None  # `exchange` joins it
        is_filled = (maker.view or maker.in_place) and maker.collective is None
        if is_spread or (is_filled and not any(self.index.is_tracked(tensor) for tensor in maker.inputs)):
            return ()  # a piece of plain data, or a filled buffer, is shown by its name
        self.ghosts[maker.id] = maker
        return (maker.id,)

    def _behind_a_cut(self, node: str) -> Iterable[str]:
        if node in self.nodes or node in self.era.spent or node not in self.index.nodes:
            return ()
        added = self.index.reached_from([node]) - self.nodes
        self.nodes |= added
        return [op for op in (self.index.nodes[id_].op for id_ in added) if op is not None]

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
        walked = {walk.span for walk in index.trace.walks}  # `model.to(…)`: what it made became the parameters
        candidates: list[Op] = []
        for op in index.trace.ops[era.since : era.until]:
            if op.nodes or op.pass_id is not None or op.id in self.ghosts or op.name in PASSES:
                continue
            if op.span is not None and op.span in walked:
                continue
            if self.index.writes_a_leaf(op) or any(self.index.is_tracked(tensor) for tensor in op.outputs):
                continue
            if any(tensor in touched or index.identity(tensor) in leaves for tensor in op.inputs):
                candidates.append(op)
                touched.update(op.outputs)
        wanted = {tensor for op in self.ghosts.values() for tensor in op.inputs}
        kept: list[Op] = []
        for op in reversed(candidates):
            if any(tensor in wanted or index.has_names(tensor) for tensor in op.outputs):
                kept.append(op)
                wanted.update(op.inputs)
        self.ghosts.update((op.id, op) for op in kept)
        self.climb(op.id for op in kept)

    def add_failed(self) -> None:
        """Add the op that ended the program, where it was given something visible."""
        op = _failed(self.index)
        if op is None or self.index.op_at[op.id] >= self.era.until:
            return
        given = [tensor for tensor in map(self.index.tensors.get, op.inputs) if tensor is not None]
        made = {tensor.grad_fn.node for tensor in given if tensor.grad_fn is not None}
        if made & self.nodes:
            self.ghosts[op.id] = op
            self.climb([op.id])


def _failed(index: TraceIndex) -> Op | None:
    """The op of the forward that ended the program."""
    failure = index.trace.failure
    op = index.ops.get(failure.op) if failure is not None and failure.op is not None else None
    if op is None or op.outputs or op.nodes or op.pass_id is not None or op.name in PASSES:
        return None
    return op


def _without_roots(index: TraceIndex) -> Visible:
    """All there is of a run that recorded nothing: its leaves that wait for a graph, and its ops; those that filled
    the parameters only where there is nothing else, and no layer either."""
    ops = _everything(index)
    leaves = [op for op in ops if is_source(op) and all(index.is_tracked_leaf(tensor) for tensor in op.outputs)]
    hidden = {op.id for op in leaves}
    identities = dict.fromkeys(index.identity(tensor) for op in leaves for tensor in op.outputs)
    ghosts = tuple(op for op in ops if op.id not in hidden)
    computed = tuple(op for op in ghosts if not _is_initialisation(index, op) and not _is_drawn_inside(index, op))
    if not computed and not any(module.parameters for module in index.trace.modules):
        computed = ghosts
    return Visible(frozenset(), frozenset(), computed, tuple(identities))


def _is_initialisation(index: TraceIndex, op: Op) -> bool:
    """Whether it took memory that no name holds, or filled a parameter."""
    if op.in_place:
        return all(map(index.is_parameter, op.outputs))
    blank = (tensor for tensor in map(index.tensors.get, op.outputs) if tensor is not None)
    return is_source(op) and all(tensor.contents == "uninitialised" and not tensor.names for tensor in blank)


def _is_drawn_inside(index: TraceIndex, op: Op) -> bool:
    """Whether a call into library code drew a number that only it read: the seed of a `DataLoader`, its order."""
    if not index.is_inside_library(op) or not (is_source(op) or op.in_place):
        return False
    used = [taker for tensor in op.outputs for taker in index.takers.get(tensor, ())]
    read = [taker for taker in used if taker.name in READS or _is_drawn_inside(index, taker)]
    return used == read != [] and not any(map(index.has_names, op.outputs))


def _everything(index: TraceIndex) -> tuple[Op, ...]:
    failed = _failed(index)
    ops = (op for op in index.trace.ops if op.outputs or op is failed or (op.inputs and op.collective in index.met))
    return tuple(op for op in ops if op.pass_id is None and op.name not in PASSES)


def _era(index: TraceIndex, start: Start, reached: set[str]) -> Era:
    since = done = 0
    latest: str | None = None
    until: int | None = None
    spent: set[str] = set()
    for step in index.trace.timeline:
        if step.kind == "op" and step.op is not None:
            latest = step.op
        elif step.kind == "pass" and step.pass_id is not None:
            if latest is not None:
                done = index.op_at.get(latest, done - 1) + 1
            if start.of is not None and step.pass_id == start.of.id:
                until = done
                break
            since = done
            if (earlier := index.passes.get(step.pass_id)) is not None:
                spent.update(visit.node for visit in earlier.visits)
    first = min((index.op_at[op] for op in _ops_of(index, reached)), default=0)
    return Era(min(since, first), len(index.trace.ops) if until is None else until, frozenset(spent - reached))


def _ops_of(index: TraceIndex, nodes: set[str]) -> Iterable[str]:
    return (op for op in (index.nodes[node].op for node in nodes) if op in index.op_at and op is not None)
