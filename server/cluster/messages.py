"""What the nodes of a cluster say to each other, each as one MessagePack record."""

from collections.abc import Mapping
from typing import Literal, TypeVar

import msgspec

from engine.trace import Isolation, Record
from server.cluster.subjects import Pool
from server.problems import Problem
from server.queue import Client
from server.runner import Printed, Progressed, Started

TASK_FORMAT = "gradgraph.task/1"
"""Name and version of a task and of all that is said about it; a worker gives back what it does not know."""

M = TypeVar("M")
Event = Started | Printed | Progressed
"""What happens to a run before it is over."""
State = Literal["waiting", "running", "finished"]
OrderKind = Literal["cancel", "abandon", "yield_processor", "take_processor"]
"""A cancelled run gives its trace so far; of one that is abandoned nobody wants to hear any more."""


# the leader and its workers


class Task(Record, frozen=True):
    """A run that a worker is to take."""

    run: str
    token: str
    """Names the subject on which its worker is heard; nobody can guess it who was not given the task."""
    request: bytes
    """The request as JSON: what a program may choose in it stays as it was said."""
    waited_ms: float
    engine: str
    """Version of the engine that the run's id was made with; empty where a web node of another version than the leader
    made it. What another engine makes of the run is not kept."""
    trace: str
    """Format the trace is to have."""
    format: str


class TaskFormat(msgspec.Struct, frozen=True):
    """The one field that all versions of a task have."""

    format: str


class Claim(Record, frozen=True, tag="claim"):
    """A worker has the task, and wants it."""

    by: str
    """Chosen by the worker; what others say about the task is not listened to."""
    worker: str


class Granted(Record, frozen=True, tag="granted"):
    """It is the worker's."""

    yields: bool
    """It is to have only what others leave of the processor."""
    cancelled: bool


class Denied(Record, frozen=True, tag="denied"):
    """Another worker has it."""


class Said(Record, frozen=True, tag="said"):
    """Something happened."""

    by: str
    event: Event


class Alive(Record, frozen=True, tag="alive"):
    """The worker still has the run."""

    by: str


class Piece(Record, frozen=True, tag="piece"):
    """A part of a result."""

    by: str
    number: int
    data: bytes


class Manifest(Record, frozen=True):
    """What the pieces of a result make together."""

    run: str
    status: str
    lost: bool
    kept: bool
    format: str
    body_bytes: int
    tensors: Mapping[str, int]
    """Bytes of each tensor, in the order in which they follow the body."""
    size_bytes: int
    digest: str
    """SHA-256 over all of it, in hex."""


class Made(Record, frozen=True, tag="made"):
    """All pieces were sent."""

    by: str
    manifest: Manifest


class Down(Record, frozen=True, tag="down"):
    """The machinery of the worker failed before there was a trace."""

    by: str


class GivenBack(Record, frozen=True, tag="given_back"):
    """The worker is to stop: another one may perform the run."""

    by: str


class Received(Record, frozen=True, tag="received"):
    """The result is there and right."""


class Incomplete(Record, frozen=True, tag="incomplete"):
    """Some of it was lost on the way: send it again."""


OfWorker = Claim | Said | Alive | Piece | Made | Down | GivenBack
ToClaim = Granted | Denied
ToMade = Received | Incomplete


class Order(Record, frozen=True):
    """What a worker is to do about a run it has."""

    token: str
    what: OrderKind


class Beat(Record, frozen=True):
    """What a worker node is and has, told every second."""

    worker: str
    pool: Pool
    slots: int
    slow_slots: int
    running: int
    devices: tuple[str, ...]
    isolation: Isolation
    engine: str
    trace: str
    """Format of the traces it makes."""
    task: str
    """Format of the tasks it knows."""


# web nodes and their leader


class Caller(Record, frozen=True):
    """A `Client` on the way."""

    address: str
    session: str | None

    @classmethod
    def of(cls, client: Client) -> "Caller":
        return cls(address=client.address, session=client.session)

    @property
    def client(self) -> Client:
        return Client(self.address, self.session)


class Enter(Record, frozen=True, tag="enter"):
    """Perform a run, or let it be one more's that is there; and tell what becomes of it."""

    ask: str
    """Chosen by the asking node; asked again under the same name it is the same asking."""
    node: str
    run: str
    request: bytes
    caller: Caller
    pinned: bool
    background: bool
    detached: bool
    is_back: bool
    """An earlier leader has let it in."""
    after: int
    """Number of the last event that was heard."""


class Watch(Record, frozen=True, tag="watch"):
    """Tell what becomes of a live run, or of one that is over but not stored."""

    ask: str
    node: str
    run: str
    after: int


class Renew(Record, frozen=True, tag="renew"):
    """Somebody still waits for these."""

    node: str
    asks: tuple[str, ...]


class Leave(Record, frozen=True, tag="leave"):
    """Nobody waits any more, or all was heard."""

    ask: str


class Find(Record, frozen=True, tag="find"):
    """Where a run stands."""

    run: str


class Newest(Record, frozen=True, tag="newest"):
    """Where the newest run of a browser stands."""

    session: str


class Stop(Record, frozen=True, tag="stop"):
    """End a run that only this client asked for."""

    run: str
    caller: Caller


Ask = Enter | Watch | Renew | Leave | Find | Newest | Stop


class Standing(Record, frozen=True, tag="standing"):
    """How a live run is doing."""

    run: str
    state: State
    ahead: int
    expected_s: float
    progress: Progressed


class Nothing(Record, frozen=True, tag="nothing"):
    """There is no such run."""


class Unknown(Record, frozen=True, tag="unknown"):
    """The leader knows nothing of these: they are to be asked again."""

    asks: tuple[str, ...]


class Stopped(Record, frozen=True, tag="stopped"):
    """Whether it had begun, and gives its trace so far."""

    begun: bool


class Refused(Record, frozen=True, tag="refused"):
    """A `Problem` on the way."""

    key: str
    retry_after_s: int | None
    values: dict[str, str | int | float]

    @classmethod
    def of(cls, problem: Problem) -> "Refused":
        values = {name: value for name, value in problem.values.items() if isinstance(value, str | int | float)}
        return cls(key=problem.key, retry_after_s=problem.retry_after_s, values=values)

    @property
    def problem(self) -> Problem:
        return Problem(self.key, retry_after_s=self.retry_after_s, **self.values)


Reply = Standing | Nothing | Unknown | Stopped | Refused


class Told(Record, frozen=True, tag="told"):
    """Something happened to a run that the node asked for."""

    ask: str
    number: int
    event: Event


class Stands(Record, frozen=True, tag="stands"):
    """It still waits."""

    ask: str
    standing: Standing


class ToldPiece(Record, frozen=True, tag="told_piece"):
    """A part of its result."""

    ask: str
    number: int
    data: bytes


class Ended(Record, frozen=True, tag="ended"):
    """It is over, and all pieces were sent."""

    ask: str
    number: int
    """Number of its last event."""
    manifest: Manifest


class EndedRefused(Record, frozen=True, tag="ended_refused"):
    """It was not performed."""

    ask: str
    why: Refused


OfLeader = Told | Stands | ToldPiece | Ended | EndedRefused


class Leading(Record, frozen=True):
    """How the queue of the cluster is doing, told every second by the node that has it."""

    node: str
    running: int
    waiting: int
    length: int
    oldest_s: float
    """How long the run has waited that came first."""
    redelivered: int
    """Runs that a worker was given after another one had lost them."""


def encode(message: Record) -> bytes:
    """A message as it is sent."""
    return msgspec.msgpack.encode(message)


def decode(data: bytes, kind: type[M]) -> M:
    """A message as it came. Raises msgspec.MsgspecError for what is none."""
    return msgspec.msgpack.decode(data, type=kind)
