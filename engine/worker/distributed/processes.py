"""What stands in for the processes of `torch.multiprocessing`: threads that take turns."""

import copy
import functools
import itertools
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException

from engine.worker.distributed.turns import Terminated, Turns
from engine.worker.pytorch.modes import unseen

MOST_PROCESSES = 16
"""Alive at once: each is a thread with a stack of its own."""
_TERMINATED = -15


class Process(threading.Thread):
    """Has what programs use of `multiprocessing.Process`. `turns` is set once, in a class of the run's own."""

    turns: Turns
    tells = True
    """What it raises is printed: nobody else says it."""
    numbers = itertools.count(1)

    def __init__(
        self, group: None = None, target: Callable[..., object] | None = None, name: str | None = None,
        args: Iterable[Any] = (), kwargs: Mapping[str, Any] | None = None, *, daemon: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(group, None, name or f"Process-{next(self.numbers)}", daemon=daemon)
        self._called = target, tuple(args), dict(kwargs or {})
        self.error: BaseException | None = None
        self.exitcode: int | None = None

    @property
    def pid(self) -> int | None:
        """Of the thread: there is one process."""
        return self.native_id

    def start(self) -> None:
        """Begins once it has its turn; its arguments are copies, as another process would get."""
        if self.turns.alive > MOST_PROCESSES:
            raise RuntimeError(f"processes are threads here, and at most {MOST_PROCESSES} of them may run at once")
        with unseen():
            self._called = copy.deepcopy(self._called)
        self._seat = self.turns.add(self.name)
        self.run = functools.partial(self._take_turns, self.run)  # type: ignore[method-assign]
        super().start()

    def run(self) -> None:
        """Calls its target; a class of the program's may do something else."""
        target, args, kwargs = self._called
        if target is not None:
            target(*args, **kwargs)

    def _take_turns(self, run: Callable[[], None]) -> None:
        self.exitcode = _TERMINATED
        try:
            self.turns.begin(self._seat)
            run()
            self.exitcode = 0
        except Terminated:
            pass
        except SystemExit as error:
            self.exitcode = error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException as error:
            self.error, self.exitcode = error, 1
            if self.tells:
                print(f"Process {self.name}:\n{traceback.format_exc()}", end="", file=sys.stderr)
        finally:
            self.turns.leave()

    def has_ended(self) -> bool:
        """Whether its target is done."""
        return self._seat.ended

    def join(self, timeout: float | None = None) -> None:
        """Waits for its end, however long."""
        self.turns.wait(self.has_ended, f"join of {self.name}", for_end=True)
        super().join()

    def terminate(self) -> None:
        """Ends it where it waits."""
        self._seat.terminated = True

    kill = terminate

    def close(self) -> None:
        """Nothing is left to let go of."""


class Spawned:
    """Has what programs use of the context that `mp.spawn(join=False)` gives."""

    def __init__(self, processes: list[Process]) -> None:
        self.processes = processes

    def pids(self) -> list[int | None]:
        """Of its threads."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits for all. Where one failed the others are ended, and what it raised is the cause of what is raised."""
        turns = self.processes[0].turns if self.processes else Turns()
        turns.wait(self._is_over, "join of mp.spawn", for_end=True)
        failed = [at for at, process in enumerate(self.processes) if process.exitcode and process.has_ended()]
        if failed:
            for process in self.processes:
                process.terminate()
        for process in self.processes:
            process.join()
        if failed:
            self._raise(failed[0])
        return True

    def _is_over(self) -> bool:
        ended = [process for process in self.processes if process.has_ended()]
        return len(ended) == len(self.processes) or any(process.exitcode for process in ended)

    def _raise(self, at: int) -> None:
        process = self.processes[at]
        pid = process.pid or 0
        if process.error is None:
            code = process.exitcode or 0
            raise ProcessExitedException(f"process {at} terminated with exit code {code}", at, pid, code)
        text = "".join(traceback.format_exception(process.error))
        raise ProcessRaisedException(
            f"\n\n-- Process {at} terminated with the following error:\n{text}", at, pid
        ) from process.error


def spawn_with(process: type[Process]) -> Callable[..., Spawned | None]:
    """What stands in for `start_processes`, and so for `mp.spawn`, with processes of a run's own class."""

    def start_processes(
        fn: Callable[..., object], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True,
        daemon: bool = False, start_method: str = "spawn",
    ) -> Spawned | None:  # fmt: skip
        context = Spawned([process(target=fn, args=(at, *args), daemon=daemon) for at in range(nprocs)])
        for one in context.processes:
            one.tells = False
            one.start()
        if not join:
            return context
        context.join()
        return None

    return start_processes


class Queue:
    """Has what programs use of `multiprocessing.Queue`."""

    turns: Turns

    def __init__(self, maxsize: int = 0) -> None:
        self._items: deque[object] = deque()

    def __deepcopy__(self, memo: dict[int, object]) -> "Queue":
        return self

    def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:
        """Never waits."""
        self._items.append(item)

    def get(self, block: bool = True, timeout: float | None = None) -> object:
        """Lets others run until there is something."""
        self.turns.wait(lambda: bool(self._items), "get of a queue")
        return self._items.popleft()

    def empty(self) -> bool:
        """Whether nothing is in it now."""
        return not self._items

    def qsize(self) -> int:
        """How much is in it now."""
        return len(self._items)

    def close(self) -> None:
        """Nothing is left to let go of."""

    join_thread = close
