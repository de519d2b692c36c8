"""The names under which the nodes of a cluster meet at the broker; `broker.py` says who may use which."""

from typing import Literal

Pool = Literal["cpu", "cuda"]
POOLS: tuple[Pool, ...] = ("cpu", "cuda")
"""Kinds of workers: a run goes to one that has the device it asks for."""

RUNS = "GRADGRAPH_RUNS"
"""Stream of the runs that wait for a free slot; each pool has a consumer of its own name."""
LEADER_BUCKET = "GRADGRAPH_LEADER"
"""Key-value bucket that holds the lease of the web node whose queue is everybody's."""
LEADER_KEY = "leader"
ROOMS_BUCKET = "GRADGRAPH_ROOMS"
"""Key-value bucket of what is said in the rooms of classes, in the broker's memory."""

ASK = "gradgraph.ask"
"""Web nodes ask the leader."""
LEADER = "gradgraph.leader"
"""The leader tells how its queue is doing."""
CALL = "gradgraph.call"
"""A web node asks all workers to tell at once what they have."""


def runs(pool: Pool) -> str:
    """The leader publishes runs for a pool."""
    return f"gradgraph.run.{pool}"


def said(token: str) -> str:
    """What the worker that has the run of this token says to the leader."""
    return f"gradgraph.said.{token}"


def orders(worker: str) -> str:
    """The leader's orders to a worker."""
    return f"gradgraph.order.{worker}"


def beats(worker: str) -> str:
    """A worker tells web nodes what it has."""
    return f"gradgraph.beat.{worker}"


def told(node: str) -> str:
    """The leader tells a web node of the runs it asked for."""
    return f"gradgraph.told.{node}"


def inbox(user: str) -> str:
    """Where answers to this user's requests go, and to a worker the runs it takes: no other user can read it."""
    return f"_INBOX_{user}"


def next_run(pool: Pool) -> str:
    """JetStream's subject for taking a pool's next run."""
    return f"$JS.API.CONSUMER.MSG.NEXT.{RUNS}.{pool}"


def taken(pool: Pool) -> str:
    """JetStream's subjects for saying that a run of a pool was taken."""
    return f"$JS.ACK.{RUNS}.{pool}.>"


def leader_values() -> str:
    """The subjects under which JetStream keeps the lease."""
    return f"$KV.{LEADER_BUCKET}.>"


def room_values() -> str:
    """The subjects under which JetStream keeps what is said in rooms."""
    return f"$KV.{ROOMS_BUCKET}.>"


def room_flow() -> str:
    """A web node that reads them tells JetStream that it keeps up."""
    return f"$JS.FC.KV_{ROOMS_BUCKET}.>"
