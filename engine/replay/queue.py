"""The engine's ready queue: C++'s `std::priority_queue` as libstdc++ makes it, ties included.

Source: `torch/csrc/autograd/engine.h` (`CompareNodeTaskTime`), `bits/stl_heap.h`. Among equals, such as several
AccumulateGrads that became ready together, it is not first-in-first-out: after a `cat` of four leaves: first, third,
second, fourth.
"""

LAST = 2**64 - 1
"""Priority of an AccumulateGrad: its sequence number."""


class ReadyQueue:
    """Nodes by priority."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def __contains__(self, node: str) -> bool:
        return any(item[1] == node for item in self._heap)

    def push(self, priority: int, node: str) -> None:
        """Add a node."""
        self._heap.append((priority, node))
        self._raise(len(self._heap) - 1, (priority, node))

    def head(self) -> str:
        """The node `pop` gives."""
        return self._heap[0][1]

    def pop(self) -> str:
        """Take the node of highest priority."""
        heap = self._heap
        first, value = heap[0], heap.pop()
        if heap:
            self._sink(value)
        return first[1]

    def take(self, node: str) -> None:
        """Take a node out of turn."""
        rest = [item for item in self._heap if item[1] != node]
        self._heap = []
        for priority, other in rest:
            self.push(priority, other)

    def in_order(self, most: int | None = None) -> tuple[str, ...]:
        """The first nodes in the order they will be taken if none is added."""
        copy = ReadyQueue()
        copy._heap = self._heap.copy()
        count = len(copy) if most is None else min(most, len(copy))
        return tuple([copy.pop() for _ in range(count)])

    def _raise(self, hole: int, value: tuple[int, str]) -> None:
        heap = self._heap
        while hole and heap[(hole - 1) // 2][0] < value[0]:
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = value

    def _sink(self, value: tuple[int, str]) -> None:
        """libstdc++ lets the hole sink to the bottom, the right child first among equals, and raises the value from
        there."""
        heap, count = self._heap, len(self._heap)
        hole = child = 0
        while child < (count - 1) // 2:
            child = 2 * child + 2
            if heap[child][0] < heap[child - 1][0]:
                child -= 1
            heap[hole] = heap[child]
            hole = child
        if count % 2 == 0 and child == (count - 2) // 2:
            child = 2 * child + 1
            heap[hole] = heap[child]
            hole = child
        self._raise(hole, value)
