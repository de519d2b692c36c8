"""The ready queue, against what PyTorch's own does with ties."""

import random

from engine.replay.queue import LAST, ReadyQueue


def _taken(*priorities: int) -> list[int]:
    queue = ReadyQueue()
    for index, priority in enumerate(priorities):
        queue.push(priority, str(index))
    order = queue.in_order()
    assert list(order) == [queue.pop() for _ in priorities], "looking ahead says what popping gives"
    return [int(node) for node in order]


def test_the_node_made_last_goes_first() -> None:
    numbers = random.Random(0).sample(range(1000), 200)
    assert [numbers[node] for node in _taken(*numbers)] == sorted(numbers, reverse=True)


def test_ties_are_not_first_in_first_out() -> None:
    assert _taken(*[LAST] * 3) == [0, 1, 2]
    assert _taken(*[LAST] * 4) == [0, 2, 1, 3]
    assert _taken(*[LAST] * 7) == [0, 2, 5, 6, 4, 1, 3]  # observed in pytorch 2.13: `cat` of seven leaves


def test_a_node_can_be_taken_out_of_turn() -> None:
    queue = ReadyQueue()
    for node, priority in (("a", 3), ("b", 2), ("c", 1)):
        queue.push(priority, node)
    queue.take("b")
    assert "b" not in queue
    assert (queue.head(), queue.in_order(1), len(queue)) == ("a", ("a",), 2)
