"""The process group of ranks that are threads: PyTorch's own for its tests, met in turns.

That one waits without end where ranks do not fit together, and has neither `send` and `recv` nor `reduce`.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import torch
import torch.distributed as dist

from engine.worker.distributed.told import Told
from engine.worker.distributed.turns import Turns
from engine.worker.pytorch.internals import ThreadedGroup, reductions, work_done
from engine.worker.pytorch.modes import unseen

Given: TypeAlias = Any
"""What one rank gives to a collective: tensors, in lists of a form that depends on the collective."""
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Collective(Protocol):
    """Moves the tensors of all ranks."""

    def work(self, data: list[Given]) -> None:
        """Writes into the tensors that take something."""


@runtime_checkable
class Reducing(Protocol):
    """A collective that makes one tensor of those of all ranks."""

    op: Any


def name_of(collective: Collective) -> str:
    """As programs call it: `all_reduce`."""
    return _WORDS.sub("_", type(collective).__name__).lower()


class Barrier:
    """Every rank is there."""

    def work(self, data: list[Given]) -> None:
        """Moves nothing."""


class Reduce:
    """One rank gets what the tensors of all come to."""

    def __init__(self, op: Any, to: int) -> None:
        self.op = op
        self.to = to

    @torch.no_grad()
    def work(self, data: list[Given]) -> None:
        """Writes it."""
        made = reductions[self.op]([given[0] for given in data])
        data[self.to][0].detach().copy_(made)


class _Meeting:
    """One collective of a group."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.given: dict[int, Given] = {}
        self.is_over = False
        self.trouble = ""


class Table:
    """What the ranks of one group have in common."""

    def __init__(self, turns: Turns, told: Told) -> None:
        self.turns = turns
        self.told = told
        self.meetings: dict[int, _Meeting] = {}
        """By their number in the order of each rank."""
        self.sent: defaultdict[tuple[int, int, int], deque[tuple[int, torch.Tensor]]] = defaultdict(deque)
        """Tensors on their way with the numbers of their meetings, by who sent them, who gets them and their tag."""


class RankGroup(ThreadedGroup):  # type: ignore[misc]
    """What one rank sees of a group."""

    def __init__(self, rank: int, size: int, table: Table) -> None:
        super().__init__(rank, size)
        self._table = table
        self._met = 0

    def meet(self, collective: Collective, given: Given) -> Any:
        """Waits for all ranks; the last one moves the tensors."""
        keywords = {"op": collective.op} if isinstance(collective, Reducing) else {}
        return self._table.told.run(name_of(collective), given, lambda: self._met_by_all(collective, given), keywords)

    def _met_by_all(self, collective: Collective, given: Given) -> tuple[Any, int]:
        name, table, rank = name_of(collective), self._table, self.rank()
        if self._met not in table.meetings:
            table.meetings[self._met] = _Meeting(name, table.told.next_number())
        meeting = table.meetings[self._met]
        number, self._met = self._met, self._met + 1
        meeting.given[rank] = given
        if meeting.name != name:
            other = next(iter(meeting.given))
            meeting.trouble = f"rank {rank} calls {name} where rank {other} calls {meeting.name}: all ranks have to"
            meeting.trouble += " make the same calls in the same order"
        elif len(meeting.given) == self.size():
            meeting.trouble = _moved(collective, [meeting.given[one] for one in range(self.size())])
            del table.meetings[number]
        meeting.is_over = bool(meeting.trouble) or len(meeting.given) == self.size()
        table.turns.wait(lambda: meeting.is_over, name)
        if meeting.trouble:
            raise RuntimeError(meeting.trouble)
        return work_done(given), meeting.number

    def barrier(self, *args: Any, **kwargs: Any) -> Any:
        """Waits until all ranks are there."""
        return self.meet(Barrier(), [])

    def monitored_barrier(self, *args: Any, **kwargs: Any) -> None:
        """The same: ranks that never come are missed anyway."""
        self.barrier()

    def reduce(self, tensors: list[torch.Tensor], opts: Any) -> Any:
        """One rank gets the sum."""
        return self.meet(Reduce(opts.reduceOp.op, opts.rootRank), tensors)

    def send(self, tensors: list[torch.Tensor], to: int, tag: int = 0) -> Any:
        """Does not wait: what is sent is kept for who gets it."""
        number = self._table.told.next_number()
        with unseen():
            self._table.sent[self.rank(), to, tag].append((number, tensors[0].detach().clone()))
        self._table.told.met(number)
        return work_done(tensors)

    def recv(self, tensors: list[torch.Tensor], source: int, tag: int = 0) -> Any:
        """Waits only when it is asked to: programs ask first and send then."""
        return Receiving(self._table, tensors[0], [(source, self.rank(), tag)])

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int = 0) -> Any:
        """The same from whoever sent something first."""
        return Receiving(self._table, tensors[0], [(source, self.rank(), tag) for source in range(self.size())])


class Receiving(dist.Work):
    """A tensor that comes from another rank."""

    def __init__(self, table: Table, tensor: torch.Tensor, ways: list[tuple[int, int, int]]) -> None:
        super().__init__()
        self._table = table
        self._tensor = tensor
        self._ways = ways
        self._source = -1

    def is_completed(self) -> bool:
        """Whether it is there."""
        return self._source >= 0 or any(self._table.sent[way] for way in self._ways)

    def wait(self, timeout: Any = None) -> bool:
        """Waits for it."""
        if self._source >= 0:
            return True
        self._table.turns.wait(self.is_completed, "recv")
        self._table.told.run("recv", self._tensor, self._taken)
        return True

    def _taken(self) -> tuple[None, int]:
        way = next(way for way in self._ways if self._table.sent[way])
        with unseen(), torch.no_grad():
            number, sent = self._table.sent[way].popleft()
            self._tensor.detach().copy_(sent)
        self._source = way[0]
        return None, number

    def _source_rank(self) -> int:
        return self._source


def _moved(collective: Collective, given: list[Given]) -> str:
    """Why the tensors could not be moved; empty when they were."""
    try:
        with unseen():
            collective.work(given)
    except Exception as error:
        shapes = "; ".join(f"rank {rank}: {_shapes(one) or 'nothing'}" for rank, one in enumerate(given))
        return f"{name_of(collective)} of tensors that do not fit together ({shapes}): {error}"
    return ""


def _shapes(given: Given) -> str:
    if isinstance(given, torch.Tensor):
        return f"{tuple(given.shape)} of {given.dtype}"
    return ", ".join(filter(None, map(_shapes, given or ())))


def joining(collective: Collective, group: RankGroup) -> Any:
    """What stands in for `_start_coll` of the group this one is made from."""
    return _Joining(lambda given: group.meet(collective, given))


class _Joining:
    def __init__(self, meet: Callable[[Given], Any]) -> None:
        self._meet = meet

    def join(self, rank: int, given: Given) -> Any:
        """Asked once for each rank."""
        return self._meet(given)
