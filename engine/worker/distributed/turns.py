"""One rank runs at a time and hands over only where it waits for another: every run of a program goes the same way, and
ranks that wait for each other are found at once.

With the turn goes what each process would have of its own and threads share: random states and the environment.
"""

import os
import random
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import torch

from engine.worker.pytorch.modes import unseen
from engine.worker.runtime.deadline import line_of


class Terminated(BaseException):
    """Another process has ended this one."""


class Own(NamedTuple):
    """What a process has to itself."""

    torch: torch.Tensor
    numpy: dict[str, Any]
    python: tuple[Any, ...]
    environment: dict[str, str]

    @classmethod
    def taken(cls) -> "Own":
        """As it is now."""
        with unseen():
            state = torch.default_generator.get_state()
        return cls(state, numpy.random.get_state(legacy=False), random.getstate(), dict(os.environ))

    def put(self) -> None:
        """Puts it back."""
        with unseen():
            torch.default_generator.set_state(self.torch)
        numpy.random.set_state(self.numpy)
        random.setstate(self.python)
        if self.environment != os.environ:
            os.environ.clear()
            os.environ.update(self.environment)


class Seat:
    """One who takes turns: a rank, or the program that started them."""

    def __init__(self, name: str, own: Own) -> None:
        self.name = name
        self.own = own
        self.ended = False
        self.terminated = False
        self.is_stuck = False
        self.waits_for = ""
        self.waits_for_end = False
        """Of another: whoever waits so is told last that nobody can go on."""
        self.can_go: Callable[[], bool] = _at_once
        self._go = threading.Semaphore(0)

    @property
    def is_ready(self) -> bool:
        """Whether it could go on now."""
        return not self.ended and (self.terminated or self.is_stuck or self.can_go())

    def let_go(self) -> None:
        """It has the turn."""
        self._go.release()

    def resume(self) -> None:
        """Waits for the turn, in the seat's own thread."""
        self._go.acquire()
        self.own.put()

    def __str__(self) -> str:
        return f"{self.name} has ended" if self.ended else f"{self.name} waits in {self.waits_for}"


def _at_once() -> bool:
    return True


class Turns:
    """Whose turn it is. The first thread that asks is the program itself and has it."""

    def __init__(self) -> None:
        self._seats: list[Seat] = []
        self._here = threading.local()

    @property
    def here(self) -> Seat:
        """The seat of this thread."""
        seat: Seat | None = getattr(self._here, "seat", None)
        if seat is None:
            if self._seats:
                raise RuntimeError(
                    "ranks meet only in what mp.spawn or mp.Process started: a thread of a rank's own is none"
                )
            seat = self.add("the program that started the ranks")
            self._here.seat = seat
        return seat

    @property
    def alive(self) -> int:
        """How many have not ended, this one among them."""
        return sum(not seat.ended for seat in {self.here, *self._seats})

    def add(self, name: str) -> Seat:
        """A seat for one who begins as the one who has the turn is now."""
        seat = Seat(name, Own.taken())
        self._seats.append(seat)
        return seat

    def begin(self, seat: Seat) -> None:
        """Waits for the first turn, in the seat's own thread."""
        self._here.seat = seat
        seat.resume()
        self._heed(seat)

    def wait(self, can_go: Callable[[], bool], what: str, *, for_end: bool = False) -> None:
        """Lets others run until `can_go`; who started first goes first. Raises RuntimeError where that can never be."""
        seat = self.here
        self._heed(seat)
        line = line_of(threading.current_thread())
        seat.can_go, seat.waits_for, seat.waits_for_end = can_go, f"{what}, line {line}" if line else what, for_end
        following = self._following()
        if following is not seat:
            seat.own = Own.taken()
            following.let_go()
            seat.resume()
        seat.can_go = _at_once
        self._heed(seat)

    def leave(self) -> None:
        """This one has ended."""
        seat = self.here
        seat.ended = True
        if not all(other.ended for other in self._seats):
            self._following().let_go()

    def _heed(self, seat: Seat) -> None:
        if seat.terminated:
            raise Terminated
        if seat.is_stuck:
            seat.is_stuck = False
            others = "; ".join(str(other) for other in self._seats if other is not seat and not other.waits_for_end)
            raise RuntimeError(
                f"{seat} for ever: {others or 'no other rank was started'}. Every rank has to make the same calls;"
                " processes would hang here until their timeout."
            )

    def _following(self) -> Seat:
        """Who goes on: the first who can, else one who is told that nobody can."""
        ready = next((seat for seat in self._seats if seat.is_ready), None)
        if ready is not None:
            return ready
        waiting = [seat for seat in self._seats if not seat.ended]
        stuck = min(waiting, key=lambda seat: seat.waits_for_end)
        stuck.is_stuck = True
        return stuck
