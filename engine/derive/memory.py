"""Bytes over time in four parts, from tensors that came and went and nodes that live as long as they are needed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from engine.derive.side_facts import SideFacts
from engine.derive.storage_sizes import StorageSizes
from engine.trace import Accumulation, Change, MemoryPoint, Op, Pass, Step, Tensor, Update, Visit
from engine.trace_index import TraceIndex

MOST_POINTS = 1980
_BUCKETS = MOST_POINTS // 3

_PARAMETERS, _GRADIENTS, _OPTIMIZER, _ACTIVATIONS = range(4)


def memory(index: TraceIndex, facts: SideFacts, sizes: StorageSizes) -> tuple[MemoryPoint, ...]:
    """What is held after each step that changed it; of very many points the largest of each stretch and its last."""
    points = list(_Ledger(index, facts, sizes).points())
    return tuple(points if len(points) <= MOST_POINTS else _thinned(points))


def _thinned(points: Sequence[MemoryPoint]) -> list[MemoryPoint]:
    kept: list[MemoryPoint] = []
    for number in range(_BUCKETS):
        bucket = points[number * len(points) // _BUCKETS : (number + 1) * len(points) // _BUCKETS]
        most = {max(bucket, key=_total).step, max(bucket, key=lambda point: point.activations).step, bucket[-1].step}
        kept += [point for point in bucket if point.step in most]
    return kept


def _total(point: MemoryPoint) -> int:
    return point.parameters + point.gradients + point.optimizer + point.activations


class _Bytes:
    """Which memory is held as what; memory held as several things counts as the first of them."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = {**sizes}
        self.held: dict[str, list[int]] = {}
        self.totals = [0, 0, 0, 0]

    def hold(self, part: int, key: str) -> None:
        """Counts one holder more."""
        holders = self.held.get(key)
        if holders is None:
            holders = self.held[key] = [0, 0, 0, 0]
            self.totals[part] += self.sizes.get(key, 0)
        elif not holders[part] and part < (before := _first(holders)):
            self._move(key, before, part)
        holders[part] += 1

    def drop(self, part: int, key: str) -> None:
        """Counts one holder less."""
        holders = self.held[key]
        holders[part] -= 1
        if holders[part]:
            return
        if not any(holders):
            del self.held[key]
            self.totals[part] -= self.sizes.get(key, 0)
        elif part < (after := _first(holders)):
            self._move(key, part, after)

    def _move(self, key: str, before: int, after: int) -> None:
        size = self.sizes.get(key, 0)
        self.totals[before] -= size
        self.totals[after] += size


def _first(holders: list[int]) -> int:
    return next(part for part, count in enumerate(holders) if count)


class _Ledger:
    """The state of memory while the timeline is walked."""

    def __init__(self, index: TraceIndex, facts: SideFacts, sizes: StorageSizes) -> None:
        trace = index.trace
        self.trace = trace
        self.tensors, self.nodes, self.ops = index.tensors, index.nodes, index.ops
        self.passes, self.updates = index.passes, index.updates
        self.bytes = _Bytes(sizes.bytes)
        self.owned: tuple[dict[str, str], dict[str, str], dict[str, str]] = ({}, {}, {})
        """Storage by tensor, for parameters, gradients and optimizer state."""
        self.gone = sorted(facts.gone, key=itemgetter(0))
        """What ceases to exist, from the end of which step on."""
        last = len(trace.timeline) - 1
        self.held_from: dict[int, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for step, holder, held in facts.held:
            self.held_from[min(step, last)].append((holder, held))
        self.held_by: dict[str, list[str]] = {}
        """Memory that is held by something else than nodes."""
        self.holding: set[str] = set()
        """Tensors that ever held something followed here, by identity."""
        self.kept = self._kept()
        self.followed = self._followed()
        self.lives = bool(self.kept or self.followed)
        """Whether the life of any node matters."""
        self.inner = {
            made for op in trace.ops if op.pass_id is not None for made in op.outputs if made not in op.inputs
        }
        """What ops made while a pass ran."""
        self.coming = [
            tensor
            for tensor in trace.tensors
            if tensor.storage is not None
            and (self._is_trained(tensor) if (made := tensor.grad_fn) is None else made.node in self.followed)
        ]
        """Tensors that hold a node that is followed, and what a program trains."""
        self.order = {tensor.id: index for index, tensor in enumerate(self.coming)}
        self.latest = {tensor.identity or tensor.id: index for index, tensor in enumerate(self.coming)}
        self.come = 0
        self.unmet: list[str] = []
        """Tensors that are gone already, as a result that was only read from its node, but come with a later step."""
        self.node_of: dict[str, str] = {}
        """The node a living tensor holds."""
        self.holders: dict[str, int] = {}
        """Living tensors and nodes that hold a node; nodes that are not in it do not exist."""
        self.dead: set[str] = set()
        self.keeping: dict[str, list[str]] = {}
        """Memory that an existing node keeps."""
        self.made_in: dict[str, list[str]] = defaultdict(list)
        self.made_by: dict[tuple[str, str], list[str]] = defaultdict(list)
        for node in trace.nodes:
            if node.pass_id is not None:
                self.made_in[node.pass_id].append(node.id)
                if node.made_by is not None:
                    self.made_by[node.pass_id, node.made_by].append(node.id)

    def _kept(self) -> dict[str, list[str]]:
        """Memory that nodes keep for backward."""
        kept: dict[str, list[str]] = {}
        for node in self.trace.nodes:
            keys = []
            for saved in node.saved:
                if saved.tensor is not None and saved.tensor in self.tensors:
                    keys.append(self.tensors[saved.tensor].storage or saved.tensor)
                elif saved.size_bytes:
                    keys.append(key := f"{node.id}.{saved.field}")
                    self.bytes.sizes[key] = saved.size_bytes
            if keys:
                kept[node.id] = keys
        return kept

    def _followed(self) -> set[str]:
        """Nodes whose life must be followed: those that keep something no visit frees, and all that lead to them."""
        freed = {visit.node for pass_ in self.trace.passes if not pass_.retain_graph for visit in pass_.visits}
        todo = [
            node
            for node in self.kept
            if node not in freed or (self.nodes[node].op is None and self.nodes[node].made_by is None)
        ]
        followed = set(todo)
        users: dict[str, list[str]] = defaultdict(list)
        for node in self.trace.nodes if todo else ():
            for edge in node.edges:
                if edge.to is not None:
                    users[edge.to].append(node.id)
        while todo:
            for user in users.get(todo.pop(), ()):
                if user not in followed:
                    followed.add(user)
                    todo.append(user)
        return followed

    def _is_trained(self, tensor: Tensor) -> bool:
        """Whether a tensor without a node is what a program trains."""
        if tensor.role == "parameter":
            return True
        is_leaf = tensor.role == "leaf" and tensor.requires_grad
        # a reentrant checkpoint computes again from leaves of its own
        return is_leaf and tensor.id not in self.inner and not self._of_result(tensor)

    def _of_result(self, tensor: Tensor) -> bool:
        """Whether it is a view of a result, as inside a custom Function, which a module's backward hooks are too."""
        base = self.tensors.get(tensor.base or "")
        return base is not None and base.grad_fn is not None

    def points(self) -> Iterator[MemoryPoint]:
        """A point for each change, in order."""
        totals = self.bytes.totals
        before = [0, 0, 0, 0]
        last = len(self.trace.timeline) - 1
        gone, at = self.gone, 0
        for number, step in enumerate(self.trace.timeline):
            if number in self.held_from:
                for holder, held in self.held_from[number]:
                    self._held(holder, held)
            end = at
            while end < len(gone) and (gone[end][0] <= number or number == last):
                self._gone(gone[end][1])
                end += 1
            self._step(step)
            if number == last:
                self._meet(len(self.coming))
                for _, ended in gone[at:]:
                    self._gone(ended)
            at = end
            if self.unmet:
                unmet, self.unmet = self.unmet, []
                self._gone(unmet)
            if totals != before:
                before = totals.copy()
                yield MemoryPoint(
                    step=number, parameters=totals[0], gradients=totals[1], optimizer=totals[2], activations=totals[3]
                )

    # Steps

    def _step(self, step: Step) -> None:
        if step.kind == "op":
            if step.op is not None and (self.lives or self.come < len(self.coming)):
                self._op(self.ops[step.op])
            return
        if step.kind == "visit" and not self.keeping and not self.made_by:
            return
        pass_ = self.passes.get(step.pass_id) if step.pass_id is not None else None
        if step.kind == "visit" and pass_ is not None and step.visit is not None:
            if 0 <= step.visit < len(pass_.visits):  # as it is unless a stranger said so
                self._visit(pass_, pass_.visits[step.visit])
        elif step.kind == "accumulate" and pass_ is not None and step.accumulation is not None:
            if 0 <= step.accumulation < len(pass_.accumulations):
                self._accumulate(pass_.accumulations[step.accumulation])
        elif step.kind == "pass_end" and pass_ is not None:
            self._pass_end(pass_)
        elif step.update is not None:
            self._update(self.updates[step.update])

    def _op(self, op: Op) -> None:
        for node in op.nodes if self.lives else ():
            self._bear(node)
        self._mentioned(op.inputs)
        self._mentioned(op.outputs)

    def _visit(self, pass_: Pass, visit: Visit) -> None:
        if self.made_by:
            for node in self.made_by.get((pass_.id, visit.node), ()):
                self._bear(node)
        if not pass_.retain_graph and visit.node in self.keeping:
            self._release(visit.node)

    def _accumulate(self, added: Accumulation) -> None:
        self._gradient(added.after)
        self._mentioned((added.after,))

    def _pass_end(self, pass_: Pass) -> None:
        """What the pass made and nobody has now does not live on."""
        self._mentioned(pass_.results)
        for result in pass_.results:
            if result is not None and (tensor := self.tensors.get(result)) is not None:
                self._attach(tensor)
        for node in self.made_in.get(pass_.id, ()):
            if self.holders.get(node) == 0:
                for held in self._die(node):
                    self._let_go(held)

    def _update(self, update: Update) -> None:
        if update.kind in ("zero_grad", "grad_reset", "grad_set", "collective"):
            for change in update.changes:
                self._gradient(change.after)
        for change in update.state:
            self._state(change)
        for change in (*update.changes, *update.state):
            self._mentioned((change.before, change.after))

    # Tensors

    def _mentioned(self, tensors: Iterable[str | None]) -> None:
        """Records are told in the order they were made: those up to the latest that is named exist by now."""
        for tensor in tensors:
            index = self.order.get(tensor or "", -1)
            if index >= self.come:
                self._meet(index + 1)

    def _meet(self, count: int) -> None:
        for tensor in self.coming[self.come : count]:
            if tensor.grad_fn is not None:
                self._attach(tensor)
            else:
                self._own(_PARAMETERS, tensor.id)
        self.come = count

    def _identity(self, tensor: str) -> str:
        return self.tensors[tensor].identity or tensor if tensor in self.tensors else tensor

    def _own(self, part: int, tensor: str) -> None:
        record = self.tensors.get(tensor)
        if record is None:
            return
        identity, key = record.identity or record.id, record.storage or record.id
        before = self.owned[part].get(identity)
        if before != key:
            self.bytes.hold(part, key)
            self.owned[part][identity] = key
            self.holding.add(identity)
            if before is not None:
                self.bytes.drop(part, before)

    def _disown(self, part: int, identity: str) -> None:
        key = self.owned[part].pop(identity, None)
        if key is not None:
            self.bytes.drop(part, key)

    def _gradient(self, gradient: str | None) -> None:
        """A `.grad` is one until it is gone: setting another frees nothing that the program still holds."""
        if gradient is not None:
            self._own(_GRADIENTS, gradient)

    def _state(self, change: Change) -> None:
        if change.after is not None:
            self._own(_OPTIMIZER, change.after)
        if change.before is not None and (
            change.after is None or self._identity(change.before) != self._identity(change.after)
        ):
            self._disown(_OPTIMIZER, self._identity(change.before))

    def _held(self, holder: str, tensors: tuple[str, ...]) -> None:
        """Something holds tensors for backward that no node shows."""
        found = (self.tensors.get(held) for held in tensors)
        keys = self.held_by[holder] = list({tensor.storage or tensor.id for tensor in found if tensor is not None})
        for key in keys:
            self.bytes.hold(_ACTIVATIONS, key)

    def _gone(self, ended: Iterable[str]) -> None:
        for name in ended:
            if self.latest.get(name, -1) >= self.come:
                self.unmet.append(name)
                continue
            if name in self.held_by:
                for key in self.held_by.pop(name):
                    self.bytes.drop(_ACTIVATIONS, key)
            if name in self.holding:
                self._drop_all(name)

    def _drop_all(self, identity: str) -> None:
        self._disown(_PARAMETERS, identity)
        self._disown(_GRADIENTS, identity)
        self._disown(_OPTIMIZER, identity)
        node = self.node_of.pop(identity, None)
        if node is not None:
            self._let_go(node)

    # Nodes

    def _attach(self, tensor: Tensor) -> None:
        """A tensor holds its grad_fn, and no longer the one it had before it was written."""
        if tensor.grad_fn is None or tensor.grad_fn.node not in self.followed:
            return
        identity, node = tensor.identity or tensor.id, tensor.grad_fn.node
        before = self.node_of.get(identity)
        if before == node or node in self.dead:
            return
        self._bear(node)
        self.holders[node] += 1
        self.node_of[identity] = node
        self.holding.add(identity)
        if before is not None:
            self._let_go(before)

    def _bear(self, root: str) -> None:
        """A node comes to be, and with it what it leads to that was not known yet."""
        if root not in self.followed:
            self._keep(root)
            return
        if root in self.holders or root in self.dead:
            return
        self.holders[root] = 0
        todo = [root]
        while todo:
            name = todo.pop()
            self._keep(name)
            for edge in self.nodes[name].edges:
                target = edge.to
                if target is None or target not in self.followed or target in self.dead:
                    continue
                if target not in self.holders:
                    self.holders[target] = 0
                    todo.append(target)
                self.holders[target] += 1

    def _keep(self, node: str) -> None:
        if node in self.kept and node not in self.keeping:
            kept = self.keeping[node] = self.kept[node]
            for key in kept:
                self.bytes.hold(_ACTIVATIONS, key)

    def _release(self, node: str) -> None:
        for key in self.keeping.pop(node, ()):
            self.bytes.drop(_ACTIVATIONS, key)

    def _let_go(self, node: str) -> None:
        """One holder of a node is gone; a node without any goes too, and lets go of those it leads to."""
        todo = [node]
        while todo:
            name = todo.pop()
            if name in self.holders:
                self.holders[name] -= 1
                if not self.holders[name]:
                    todo += self._die(name)

    def _die(self, name: str) -> list[str]:
        """Removes a node; gives those it held."""
        self._release(name)
        del self.holders[name]
        node = self.nodes[name]
        if node.variable is None:  # the AccumulateGrad of a leaf is made anew
            self.dead.add(name)
        return [edge.to for edge in node.edges if edge.to is not None]
