"""Puts ranks that are threads where programs ask for processes, for a rendezvous and for a process group.

What PyTorch checks of addresses, environment and arguments it checks as ever; only the store and the group that would
open sockets are others.
"""

import functools
import types
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from engine.events import Found
from engine.worker.capture.ops import Recording
from engine.worker.capture.passes import Backward
from engine.worker.distributed.group import RankGroup, Table, joining
from engine.worker.distributed.processes import Process, Queue, Spawned, spawn_with
from engine.worker.distributed.told import Told
from engine.worker.distributed.turns import Turns
from engine.worker.pytorch.internals import (
    CREATE_GROUP,
    CREATE_STORE,
    FILE_STORE,
    SPAWN_PROCESSES,
    START_COLLECTIVE,
    SYNC_BUFFERS,
    SYNC_STATES,
    HashStore,
    Store,
    get_frame,
    isolate_ranks,
    join_ranks,
    name_backend,
)
from engine.worker.pytorch.patching import EntryPoint, Patches

MOST_RANKS = 4
BACKEND = "ranks"
PROCESS = EntryPoint(mp, "Process")
QUEUE = EntryPoint(mp, "Queue")
SIMPLE_QUEUE = EntryPoint(mp, "SimpleQueue")
GET_CONTEXT = EntryPoint(mp, "get_context")
START_PROCESSES = EntryPoint(mp, "start_processes")
PARALLEL_INIT = EntryPoint(torch.nn.parallel.DistributedDataParallel, "__init__")
PARALLEL_FORWARD = EntryPoint(torch.nn.parallel.DistributedDataParallel, "forward")


class _World:
    """Ranks that have found each other, or wait for the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.arrived = 0
        self.store = HashStore()
        self.ranks: set[int] = set()
        self.tables: dict[str, Table] = {}

    def is_whole(self) -> bool:
        """Whether all are there."""
        return self.arrived == self.size


class Ranks:
    """The ranks of one run."""

    def __init__(self, mode: Recording, backward: Backward, patches: Patches) -> None:
        self.turns = Turns()
        self.worlds: dict[Any, _World] = {}
        """The world each seat is in."""
        self.told = Told(mode, backward)
        self._recorder = mode.recorder
        self._patches = patches
        self._waiting: _World | None = None
        self._has_begun = False
        self._models: dict[int, tuple[torch.Tensor, Any]] = {}
        """Parameters of parallel models, each with who made the model: held, so that an id stays its own."""

    def begin(self, frame: FrameType) -> None:
        """The program starts its first rank: from here on each thread has a default group of its own."""
        if self._has_begun:
            return
        self._has_begun = True
        site = self._recorder.sites.of(frame)
        if site:  # else a launcher starts them, and has said so
            self._recorder.outbox.say(Found("ranks_are_threads", "note", site, {}))
        dist.Backend.register_backend(BACKEND, self._group, extended_api=True, devices=["cpu", "cuda"])
        isolate_ranks()
        self._patches.after_undo(join_ranks)

    def count(self, nprocs: int, frame: FrameType) -> None:
        """So many are to be started. Raises RuntimeError where that is too many."""
        if nprocs > MOST_RANKS:
            raise RuntimeError(
                f"nprocs={nprocs}: ranks are threads of one process here, and there are at most {MOST_RANKS}; write"
                f" nprocs={MOST_RANKS} or fewer"
            )
        if nprocs == 0:
            self._recorder.outbox.say(Found("no_ranks", "warning", self._recorder.sites.of(frame), {}))

    def gather(self, size: int) -> Store:
        """Waits for the other ranks; gives the store they share."""
        if size > MOST_RANKS:
            raise RuntimeError(
                f"world_size={size}: ranks are threads of one process here, and there are at most {MOST_RANKS}; write"
                f" world_size={MOST_RANKS} or fewer"
            )
        world = self._waiting or _World(size)
        if world.size != size:
            raise RuntimeError(f"this rank says world_size={size}, another says {world.size}: they never meet")
        world.arrived += 1
        self._waiting = None if world.is_whole() else world
        self.worlds[self.turns.here] = world
        self.turns.wait(world.is_whole, "init_process_group")
        return world.store

    def _group(self, options: Any, backend_options: Any) -> RankGroup:
        seat = self.turns.here
        world, rank = self.worlds[seat], options.group_rank
        if not options.global_ranks_in_group:
            if rank in world.ranks:
                raise RuntimeError(f"two ranks say rank={rank}: of {world.size} ranks each has a number of its own")
            world.ranks.add(rank)
            seat.name = f"rank {rank}"
            self.told.rank(rank, world.size)
        table = world.tables.setdefault(options.group_id, Table(self.turns, self.told))
        return RankGroup(rank, options.group_size, table)

    def claim(self, model: object) -> None:
        """A rank makes a parallel model. Raises RuntimeError where another rank's has the same parameters: processes
        have none in common."""
        for parameter in model.parameters() if isinstance(model, torch.nn.Module) else ():
            held = self._models.setdefault(id(parameter), (parameter, self.turns.here))
            if held[1] is not self.turns.here:
                raise RuntimeError(
                    f"{self.turns.here.name} wraps the parameters that {held[1].name} has wrapped: ranks are threads of"
                    " one process here and share the program's globals. Make the model in the function that each rank"
                    " runs"
                )


def replace_ranks(mode: Recording, backward: Backward, patches: Patches) -> None:
    """Ranks are threads in this process from here on."""
    ranks = Ranks(mode, backward, patches)
    _replace_processes(ranks, patches)
    _replace_meeting(ranks, patches)
    init: Callable[..., None] = PARALLEL_INIT.get()

    @functools.wraps(init)
    def __init__(self: Any, module: object, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        ranks.claim(module)
        init(self, module, *args, **kwargs)
        ranks.told.parallel(self)

    patches.replace(PARALLEL_INIT, __init__)
    run: Callable[..., Any] = PARALLEL_FORWARD.get()

    @functools.wraps(run)
    def forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        result = run(self, *inputs, **kwargs)
        ranks.told.forwarded(self)
        return result

    patches.replace(PARALLEL_FORWARD, forward)
    sync_states: Callable[..., None] = SYNC_STATES.get()

    @functools.wraps(sync_states)
    def sync_module_states(**kwargs: Any) -> None:
        module, ignored = kwargs["module"], kwargs["params_and_buffers_to_ignore"]
        buffers = module.named_buffers() if kwargs["broadcast_buffers"] else ()
        states = [state for name, state in (*module.named_parameters(), *buffers) if name not in ignored]
        run = functools.partial(sync_states, **kwargs)
        ranks.told.spread(states, kwargs["process_group"], kwargs["src"], "", run)

    patches.replace(SYNC_STATES, sync_module_states)
    sync: Callable[..., None] = SYNC_BUFFERS.get()

    @functools.wraps(sync)
    def sync_buffers(self: Any) -> None:
        is_rank_0s = not self._join_config.enable  # else the ranks agree on another first
        buffers = self.modules_buffers if is_rank_0s else []
        ranks.told.spread(buffers, self.process_group, 0, "._sync_buffers", functools.partial(sync, self))

    patches.replace(SYNC_BUFFERS, sync_buffers)


def _replace_processes(ranks: Ranks, patches: Patches) -> None:
    class OwnProcess(Process):
        turns = ranks.turns

        def start(self) -> None:
            ranks.begin(get_frame(1))
            super().start()

    class OwnQueue(Queue):
        turns = ranks.turns

    context: Callable[..., Any] = GET_CONTEXT.get()
    start = spawn_with(OwnProcess)

    def start_processes(
        fn: Callable[..., object], args: tuple[Any, ...] = (), nprocs: int = 1, *rest: Any, **kwargs: Any
    ) -> Spawned | None:
        ranks.count(nprocs, get_frame(1))
        return start(fn, args, nprocs, *rest, **kwargs)

    def get_context(method: str | None = None) -> types.SimpleNamespace:
        given = context(method)
        own = {"Process": OwnProcess, "Queue": OwnQueue, "SimpleQueue": OwnQueue}
        return types.SimpleNamespace(**{name: getattr(given, name) for name in dir(given)} | own)

    patches.replace(PROCESS, OwnProcess)
    patches.replace(QUEUE, OwnQueue)
    patches.replace(SIMPLE_QUEUE, OwnQueue)
    patches.replace(GET_CONTEXT, get_context)
    patches.replace(START_PROCESSES, start_processes)
    patches.replace(SPAWN_PROCESSES, start_processes)


def _replace_meeting(ranks: Ranks, patches: Patches) -> None:
    create_group: Callable[..., tuple[Any, Any]] = CREATE_GROUP.get()

    def create_store(hostname: str, port: int, rank: int, world_size: int, *args: Any, **kwargs: Any) -> Store:
        return ranks.gather(world_size)

    def file_store(path: str, world_size: int) -> Store:
        return ranks.gather(world_size)

    def new_process_group(
        size: int, rank: int, members: list[int], backend: str, *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        ranks.begin(get_frame(1))
        group, store = create_group(size, rank, members, BACKEND, *args, **kwargs)
        if isinstance(group, RankGroup):
            name_backend(group, backend)
        return group, store

    patches.replace(CREATE_STORE, create_store)
    patches.replace(FILE_STORE, file_store)
    patches.replace(CREATE_GROUP, new_process_group)
    patches.replace(START_COLLECTIVE, staticmethod(joining))
