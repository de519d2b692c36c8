"""The engine's bookkeeping for one pass: dependencies, buffers and ready queue, led by the visits that were observed.

Source: `torch/csrc/autograd/engine.cpp` (`compute_dependencies`, `init_to_execute`, `evaluate_function`; pytorch 2.13).
"""

from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Literal

from engine.replay.queue import LAST, ReadyQueue
from engine.replay.types import Arrived, EngineState, EngineStep, Open
from engine.trace import Edge, Node, Pass, Visit

Reason = Literal["", "nodes", "visits", "order", "edges"]
SHOWN = 32
"""Ready nodes told with each step."""


class Replay:
    """One pass, stepped with `advance`; linear in the size of the graph it runs over."""

    def __init__(self, nodes: Mapping[str, Node], pass_: Pass, hooked: Collection[str] = ()) -> None:
        self._nodes = nodes
        self._pass = pass_
        self._hooked = hooked
        """Nodes after which the program's hooks ran."""
        self._queue = ReadyQueue()
        self._arrived: dict[str, list[tuple[int, Arrived]]] = {}
        """By node, each with the number of its delivery."""
        self._delivered = 0
        self.reason: Reason = ""
        """Why it cannot go on, once it cannot."""
        self.agrees = True
        """Whether PyTorch did what this model expects, so far."""
        self.visits = 0
        """Visits that have been played."""
        reachable = self._reachable()
        self._captures = self._asked()
        self._runs = reachable if self._captures is None else self._needed(reachable)
        """Nodes that will run."""
        self._reached = self._runs if self._captures is None else self._runs | (reachable & self._captures.keys())
        """Nodes the engine takes up, if only to capture their gradients."""
        self._open = self._dependencies(reachable)
        self._begin()

    # Before the first step

    def _reachable(self) -> set[str]:
        nodes = self._nodes
        todo = [root.node for root in self._pass.roots if root.node in nodes]
        found = set(todo)
        while todo:
            for edge in nodes[todo.pop() or ""].edges:
                if edge.to is None or edge.to in found:
                    continue
                if edge.to not in nodes:
                    self.reason = "nodes"
                    continue
                found.add(edge.to)
                todo.append(edge.to)
        return {node for node in found if node is not None}

    def _asked(self) -> dict[str, set[int]] | None:
        """Where `inputs` take their gradients, by node; None when all of the graph runs."""
        if self._pass.inputs is None:
            return None
        if len(self._pass.input_nodes) != len(self._pass.inputs):
            self.reason = "edges"
        asked: dict[str, set[int]] = {}
        for edge in self._pass.input_nodes:
            if edge is not None:
                asked.setdefault(edge.node, set()).add(edge.output_nr)
        return asked

    def _needed(self, reachable: set[str]) -> set[str]:
        """Nodes on the way to the `inputs`; `backward` runs those of the inputs too, `grad` only captures there."""
        asked = self._captures or {}
        runs = {node for node in asked if node in reachable} if self._pass.kind == "backward" else set()
        consumers: dict[str, list[str]] = {}
        for node in reachable:
            for edge in self._nodes[node].edges:
                if edge.to is not None:
                    consumers.setdefault(edge.to, []).append(node)
        todo = [node for node in asked if node in reachable]
        seen = set(todo)
        while todo:
            for consumer in consumers.get(todo.pop(), ()):
                if consumer not in seen:
                    seen.add(consumer)
                    todo.append(consumer)
                runs.add(consumer)
        return runs

    def _dependencies(self, reachable: set[str]) -> dict[str, int]:
        """Edges that lead to each node; each of several roots hangs on a node of the engine's own as well."""
        counts = dict.fromkeys((node for node in self._nodes if node in self._reached), 0)
        for node in reachable:
            for edge in self._nodes[node].edges:
                if edge.to in counts:
                    counts[edge.to] += 1
        for root in self._pass.roots:
            if root.node in counts:
                counts[root.node] += 1
        return counts

    def _begin(self) -> None:
        """The seeds come in; where there are none the call was refused."""
        if self._pass.failed and all(root.seed is None for root in self._pass.roots):
            return
        for root in self._pass.roots:
            if root.node is None or root.node not in self._nodes:
                continue
            if root.node in self._reached:
                self._deliver(Arrived(node=root.node, input_nr=root.input_nr, tensor=root.seed))
            elif len(self._pass.roots) == 1:
                self._queue.push(self._priority(root.node), root.node)  # a root is taken up whatever it leads to

    def _priority(self, node: str) -> int:
        number = self._nodes[node].sequence_nr
        return LAST if number is None else int(number)

    def _deliver(self, gradient: Arrived) -> bool:
        """Puts a gradient into a buffer; whether its node became ready."""
        node = gradient.node
        self._delivered += 1
        self._arrived.setdefault(node, []).append((self._delivered, gradient))
        left = self._open.get(node, 0) - 1
        if left > 0:
            self._open[node] = left
            return False
        self._open.pop(node, None)
        self._queue.push(self._priority(node), node)
        return True

    # Stepping

    def state(self) -> EngineState:
        """What the engine holds now."""
        waiting = sorted((arrived for buffer in self._arrived.values() for arrived in buffer), key=itemgetter(0))
        return EngineState(
            open=tuple([Open(node=node, count=count) for node, count in self._open.items()]),
            arrived=tuple([gradient for _, gradient in waiting]),
            queue=self._queue.in_order(),
        )

    def advance(self, told: bool = True) -> EngineStep | None:
        """Takes the next node; None at the end, or when `reason` says why not. Without `told` the step's queue stays
        empty."""
        if self.reason or not self._queue:
            self._end()
            return None
        queued = len(self._queue)
        queue = self._queue.in_order(SHOWN) if told else ()
        head = self._queue.head()
        captured = bool(self._captures) and self._pass.kind == "grad" and head in (self._captures or ())
        if head not in self._runs:
            self._take(head)
            outcome: Literal["captured", "skipped"] = "captured" if captured else "skipped"
            return EngineStep(node=head, outcome=outcome, captured=captured, queue=queue, queued=queued)
        if self.visits == len(self._pass.visits):
            return self._stopped(head, queue, queued)
        visit = self._pass.visits[self.visits]
        if visit.node != head:
            self.agrees = False
            if visit.node not in self._queue:
                self.reason = "order"
                return None
            captured = captured and visit.node in (self._captures or ())
        self._take(visit.node)
        return self._ran(visit, head, captured, queue, queued)

    def _end(self) -> None:
        if not self.reason and self.visits < len(self._pass.visits):
            self.agrees = False
            self.reason = "order"

    def _take(self, node: str) -> None:
        if self._queue.head() == node:
            self._queue.pop()
        else:
            self._queue.take(node)
        self._arrived.pop(node, None)

    def _stopped(self, head: str, queue: tuple[str, ...], queued: int) -> EngineStep | None:
        """Nothing more was observed: the engine raised in the node it had taken up, or the rest was left out."""
        if not self._pass.failed:
            self.reason = "visits"
            return None
        if self._pass.visits and self._pass.visits[-1].node in self._hooked:
            return None  # a hook after that node may have raised as well
        self._take(head)
        while self._queue:
            self._queue.pop()
        self.failed = head
        return EngineStep(node=head, outcome="failed", queue=queue, queued=queued)

    failed: str | None = None
    """The node in which the pass failed, once it is reached."""

    def _ran(self, visit: Visit, head: str, captured: bool, queue: tuple[str, ...], queued: int) -> EngineStep:
        number = self.visits
        self.visits += 1
        sent, closed, ready = [], [], []
        for slot, edge in self._edges(visit.node):
            gradient = Arrived(
                node=edge.to or "",
                input_nr=edge.input_nr,
                tensor=visit.left[slot] if slot < len(visit.left) else None,
                source=visit.node,
                slot=slot,
            )
            sent.append(gradient)
            if self._deliver(gradient):
                ready.append(gradient.node)
            closed.append(Open(node=gradient.node, count=self._open.get(gradient.node, 0)))
        return EngineStep(
            node=visit.node, outcome="ran", visit=number, captured=captured,
            expected=None if head == visit.node else head, queue=queue, queued=queued, sent=tuple(sent),
            closed=tuple(closed), ready=tuple(ready),
        )  # fmt: skip

    def _edges(self, node: str) -> Iterator[tuple[int, Edge]]:
        """The edges the engine sends over, with their slots."""
        for slot, edge in enumerate(self._nodes[node].edges):
            if edge.to is not None and edge.to in self._reached:
                yield slot, edge


def failed_node(nodes: Mapping[str, Node], pass_: Pass, hooked: Collection[str] = ()) -> str | None:
    """The node a failed pass had taken up; None when that cannot be told."""
    replay = Replay(nodes, pass_, hooked)
    while replay.advance(told=False) is not None:
        pass
    return replay.failed
