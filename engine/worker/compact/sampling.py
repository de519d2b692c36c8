"""Bounds what a long loop of backward passes records: all of its first turns, then a sample that grows sparser, and the
latest.

A *turn* of a loop is what happens from the moment the program jumps back after a pass until it does so again: forward
operations, the pass, the updates after it. Until `FULL` facts are recorded nothing is left out. From then on each turn
is

* kept, when its number is in the sample;
* provisional: recorded but held back, and forgotten as soon as the next turn is recorded, so that the last one is there
  at the end;
* skipped, once provisional turns have taken `EFFORT`: nothing is recorded but two numbers for the curve.

Only counts decide, never the clock: a program has the same trace on a machine that is slow or busy.

Forgetting must leave no trace of the numbers that were forgotten: `_sift` takes the states of live tensors out of
recording, or keeps the one row that says what they are now.
"""

import math
from collections.abc import Callable, Sequence
from threading import RLock
from types import FrameType
from typing import Any

from engine import events
from engine.events import (
    Accumulated,
    CurveSaid,
    Event,
    Found,
    Gone,
    ModuleSeen,
    NodeSeen,
    Omitted,
    OpRan,
    PassEnded,
    PassStarted,
    Printed,
    Said,
    SkippedBefore,
    StorageSize,
    TensorBrief,
    TensorChanged,
    TensorSeen,
    Updated,
    Visited,
    Warned,
    as_read,
)
from engine.trace import spoken
from engine.worker.capture.counts import Counts
from engine.worker.capture.nodes import Nodes
from engine.worker.capture.op_names import Called
from engine.worker.capture.outbox import Outbox
from engine.worker.capture.sites import Sites
from engine.worker.capture.storages import Storages
from engine.worker.capture.tensor_state import State
from engine.worker.capture.tensors import Tensors
from engine.worker.capture.thread_state import ThreadState
from engine.worker.compact.curve import loss_of, norm, norm_of, sinks
from engine.worker.compact.turns import Calls, LeftOut, Place, step_around, went_back
from engine.worker.pytorch.internals import get_frame
from engine.worker.pytorch.modes import unseen

FULL = 16_000
"""Operations, tensors and nodes that are recorded before anything is left out: a trace of some 6 MB."""
FULL_VALUES = 600_000
"""Elements of tensors that are said before loops are sampled: a trace of some 12 MB."""
SAMPLE = 8_000
"""How many more the sample may take."""
_CURVE = 2_000
"""Points of the curve that are said at one distance; then the distance doubles."""
_LONGEST_PERIOD = 64
EFFORT = 60_000
"""Facts recorded in provisional turns after which most are skipped: some two seconds."""
_BYTES_A_FACT = 40_000
"""Bytes of a tensor that are looked at in the time that a fact takes."""
_SPARE = 16
"""Then one turn in so many is recorded, for the sake of the last."""
_ALWAYS = (events.FunctionSeen, Found, ModuleSeen, Omitted, CurveSaid, Gone, StorageSize)
"""What is said though its turn is forgotten, beside what it printed."""


class LoopSampler:
    """Decides what of a long loop is recorded; the ops, the passes and the optimizers ask it."""

    def __init__(
        self, counts: Counts, outbox: Outbox, sites: Sites, thread: ThreadState, storages: Storages,
        tensors: Tensors, nodes: Nodes,
    ) -> None:  # fmt: skip
        self._counts = counts
        self._outbox = outbox
        self._sites = sites
        self._thread = thread
        self._storages = storages
        self._tensors = tensors
        self._nodes = nodes
        self.lock = RLock()
        """The time limit settles from another thread."""
        self.full = True
        """Nothing is left out yet."""
        self.muted = False
        """This turn is skipped."""
        self.armed: list[Place] | None = None
        """Where the anchor's last pass was called, outermost first, until the program jumps back."""
        self.steps = 0
        """Optimizer steps that are running."""
        self.calls: dict[int, Calls] = {}
        self.anchor = 0
        """The line whose pass ends a turn."""
        self.outermost = self.inside = self.spent = 0
        self.effort = 0
        """Spent on turns that were forgotten."""
        self.volume = 0
        """What was recorded when the block began."""
        self.provisional = False
        self.places = 0
        """Places met when the block began."""
        self.floor = 0
        """Number of tensors when the block began."""
        self.carry: list[Said] = []
        """Events of live tensors, said with the next block."""
        self.carried: set[int] = set()
        self.before, self.gap = LeftOut(), LeftOut()
        """What was left out before the block, and since."""
        self.aside_floor = 0
        self.block_rows: list[Said] = []
        self.since = self.usual = self.ops_at_pass = 0
        """Operations skipped since the last pass, how many there were in a turn, and how many had been recorded at the
        last pass."""
        self.said = 0
        self.stride = 1
        self.point: CurveSaid | None = None
        """The latest point of the curve that was not said."""
        self.squares: float | None = None

    def begin(self) -> None:
        """The program begins, and its limits are known."""
        self._attend()

    # What the others ask

    def skips(self, called: Called | None, frame: FrameType, tracked: bool = True) -> bool:
        """Whether an operation is to run unrecorded; `tracked`: it may make a node of the graph."""
        if self.armed is not None:
            self.turn(frame)
        if not self.muted:
            return self._at_limit(tracked)
        if called is None or called.special:
            return True
        places = len(self._sites.places)
        site = self._sites.of(frame)
        if self._may_turn() and (site > places or self.since > 4 * self.usual + 100) and self.spent < 4 * SAMPLE:
            self._keep_from_here()  # code that never ran before, or the loop was left
            return False
        if called.gave_nothing:
            return True
        self.gap.ops[site, called.id, self._thread.running_module] += 1
        self.since += 1
        return True

    def skips_update(self) -> bool:
        """Whether a change outside the graph is to go unrecorded."""
        if self.muted or self._counts.updates_kept < self._counts.limits.ops:
            return self.muted
        self._counts.omit_update()
        return True

    def turn(self, frame: FrameType, again: bool = False) -> None:
        """Begins a new turn when the program has jumped back; `again`: here a pass is called."""
        if self.armed is not None and self._may_turn() and went_back(self.armed, self._sites.stack(frame), again):
            self.armed = None
            with self.lock:
                self._next_turn()

    def _may_turn(self) -> bool:
        thread = self._thread
        return not (thread.passes or thread.modules or self.steps or self.inside)

    def _at_limit(self, tracked: bool) -> bool:
        counts, limits = self._counts, self._counts.limits
        if counts.ops_kept < counts.most_ops(tracked) and counts.nodes_kept < limits.nodes and not counts.is_wide:
            return False
        if not counts.ops_omitted:
            self._outbox.say(Omitted("ops", "ops", counts.ops_kept, 0))  # should the run be killed
        counts.omit_op()
        return True

    def _attend(self) -> None:
        """Sets from which op on the calls ask."""
        counts = self._counts
        full = counts.nodes_kept >= counts.limits.nodes or counts.is_wide
        counts.attend(full or self.muted or self.armed is not None)

    # Steps

    def begin_step(self) -> None:
        """A step of an optimizer runs: no turn ends within it."""
        self.steps += 1

    def end_step(self) -> None:
        """It has ended."""
        self.steps -= 1

    # Passes

    def passed(self, frame: FrameType | None) -> None:
        """An outermost call of the engine has ended."""
        self.outermost += 1
        if self._nodes.threaded:
            self._stop()
            return
        site = self._sites.of(frame)
        calls = self.calls.get(site)
        if calls is None:
            if len(self.calls) > 1000:
                self.calls = {s: c for s, c in self.calls.items() if self._recurs(c)}
            calls = self.calls[site] = Calls()
        calls.period = self.outermost - calls.last if calls.count else 0
        calls.last = self.outermost
        calls.count += 1
        if self.full:
            if self._counts.recorded < FULL and self._counts.values < FULL_VALUES:
                self.ops_at_pass = self._counts.ops
                return
            self.full = False
        self.anchor = self._anchor()
        if self.anchor == site and site:
            self.armed = self._sites.stack(frame)
            self.usual = max(self.usual, self.since + self._counts.ops - self.ops_at_pass)
            self.since, self.ops_at_pass = 0, self._counts.ops
        self._attend()

    def _recurs(self, calls: Calls) -> bool:
        return 0 < calls.period <= _LONGEST_PERIOD and self.outermost - calls.last <= 2 * calls.period + 2

    def _anchor(self) -> int:
        """The line that ends a turn: of those that recur, the one between whose calls all others come."""
        living = {site: calls for site, calls in self.calls.items() if self._recurs(calls)}
        if not living:
            return 0
        longest = max(calls.period for calls in living.values())
        if self.anchor in living and living[self.anchor].period == longest:
            return self.anchor
        return max(living, key=lambda site: (living[site].period, living[site].last))

    def pass_over(self, engine: Callable[..., Any], outputs: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """Runs the engine unrecorded; only the loss and the norm of what reaches the leaves are noted."""
        number = self._counts.new_pass()
        site = self._sites.of(get_frame(1))
        loss = loss_of(outputs)
        self.inside += 1
        handles: list[Any] = []
        self.squares = None
        try:
            with unseen():
                if kwargs.get("accumulate_grad", True) and self.inside == 1:
                    self.squares = 0.0
                    self._thread.is_internal = True
                    handles = [node.register_hook(self._arrived) for node in sinks(outputs)]
                self._thread.is_internal = False
            return engine(outputs, *args, **kwargs)
        except BaseException:
            self.squares = None  # no gradient of it is whole
            raise
        finally:
            self._thread.is_internal = False
            for handle in handles:
                handle.remove()
            self.inside -= 1
            norm = None if self.squares is None else spoken(math.sqrt(self.squares))
            self.gap.add_pass(number)
            self.curve(number, loss, norm, site)
            if not self.inside:
                self.passed(get_frame(1))

    def _arrived(self, left: tuple[Any, ...], entered: tuple[Any, ...]) -> None:
        if entered and entered[0] is not None and self.squares is not None:
            with unseen():
                self.squares += norm(entered[0]) ** 2

    def curve(self, number: int, loss: float | str | None, norm: float | str | None, site: int) -> None:
        """Notes one call of the engine that is left out."""
        point = CurveSaid(number, loss, norm, site)
        if number % self.stride:
            self.point = point
            return
        self.point = None
        self._outbox.send(point)
        self.said += 1
        if self.said >= _CURVE:
            self.said, self.stride = 0, 2 * self.stride

    # Turns

    def _next_turn(self) -> None:
        """The anchor's loop goes round."""
        number = self.calls[self.anchor].count + 1
        late = self.effort >= EFFORT
        if self._may_keep() and number % step_around(number, self._fineness()) == 0:
            self._open(provisional=False)
        elif not late or number % _SPARE == 0:
            self._open(provisional=True)
        elif not self.muted:
            self._mute()
        self._attend()

    def _may_keep(self) -> bool:
        return self.spent < SAMPLE and not self._counts.is_wide

    def _fineness(self) -> int:
        """How many of each further doubling the sample can afford."""
        turns = max(self.calls[self.anchor].count, 1)
        return max(1, min(10, SAMPLE * turns // FULL // 8))

    def _keep_from_here(self) -> None:
        with self.lock:
            self._open(provisional=False)
            self._attend()

    def _stop(self) -> None:
        """The program has threads: turns cannot be told apart any more."""
        with self.lock:
            self._settle()
            self.armed = None
            self._attend()

    def _open(self, provisional: bool) -> None:
        """Begins a block with a turn that is recorded."""
        self._unmute()
        self._close()
        self.provisional = provisional
        self.places = len(self._sites.places)
        self.floor = self._counts.tensors
        self.volume = self._counts.recorded
        if provisional:
            self.before, self.gap = self.gap, LeftOut()
            self.carried = {event.id for event in self.carry if isinstance(event, TensorBrief)}
            self._outbox.divert(self.carry)
            self.carry = []
            return
        self._say_gap()
        self._outbox.send(*self.carry)
        self.carry = []
        self.carried.clear()

    def _close(self) -> None:
        """Ends the block: says it or forgets it."""
        if not self.provisional:
            self.spent += 0 if self.volume == 0 else self._counts.recorded - self.volume
            return
        if len(self._sites.places) > self.places and self.spent < 4 * SAMPLE:  # it ran code that never ran before
            self._say_block()
            self.spent += self._counts.recorded - self.volume
            return
        held = self._outbox.divert(self._outbox.queue)
        self.provisional = False
        later, self.gap = self.gap, self.before
        self.carry = [*self._sift(held, self.floor, self.carried), *self.carry]
        self.gap.add(later)

    def _say_block(self) -> None:
        """Says what was held back, after what was left out before it."""
        held = self._outbox.divert(self._outbox.queue)
        later, self.gap = self.gap, self.before
        self._say_gap()
        self.gap = later
        self._outbox.send(*held)
        self.provisional = False
        self.carried.clear()

    def _say_gap(self) -> None:
        if self.gap:
            self._outbox.send(self.gap.said())
            self.gap = LeftOut()

    def _mute(self) -> None:
        self.muted = True
        self._thread.mute()
        self.aside_floor = self._counts.tensors
        self.block_rows = self._outbox.divert([])
        self.since = 0

    def _unmute(self) -> None:
        if not self.muted:
            return
        self.muted = False
        self._thread.unmute()
        aside = self._outbox.divert(self.block_rows)
        rows = self._sift(aside, self.aside_floor, set())
        self.carry += rows
        for state in list(self._tensors.states.values()):
            if state.role in ("leaf", "parameter", "buffer", "gradient", "state"):
                state.version = -1  # may have been written past its version counter

    def _settle(self) -> None:
        self._unmute()
        if self.provisional:
            self._say_block()
        self._outbox.send(*self.carry)
        self.carry = []
        self.carried.clear()
        self._say_gap()

    def end(self) -> None:
        """The program has ended, or is about to be: says all that was held back."""
        with self.lock:
            self._settle()
            self.armed = None
            if self.point is not None:
                self._outbox.send(self.point)
                self.point = None
            self._counts.attend(asks=True)

    # Forgetting

    def _sift(self, rows: list[Said], floor: int, carried: set[int]) -> list[Said]:
        """Says what is always said of some events; gives those that live tensors need; forgets the others.

        Numbers above `floor`, and those carried over, are in these events only."""
        block = [as_read(row) for row in rows]
        tensors = {event.id: event for event in block if isinstance(event, TensorSeen)}
        self.effort += len(block) + sum(tensor.size_bytes for tensor in tensors.values()) // _BYTES_A_FACT
        tied = {event.id for event in tensors.values() if event.node}
        needed = self._needed(floor, carried, tied)
        for event in block:
            self._count(event)
        self._draw(block, tensors)
        return [event for event in block if self._is_kept(event, needed, floor, carried)]

    def _count(self, event: Event) -> None:
        """Says what is always said of an event, and notes the rest in the gap."""
        outbox = self._outbox
        match event:
            case OpRan():
                self.gap.ops[event.site, event.function, event.module] += 1
                self._counts.forget_op()
                if event.gone:
                    outbox.send(Gone(event.gone))
            case Visited() if event.gone:
                outbox.send(Gone(event.gone))
            case Updated():
                self._counts.forget_update()
            case PassStarted():
                self.gap.add_pass(event.id)
            case Printed() | Warned():
                if self.gap and not self.gap.has_printed:
                    self.gap.has_printed = True
                    outbox.put(SkippedBefore())
                outbox.put(event)
            case _ if isinstance(event, _ALWAYS):
                outbox.send(event)

    def _is_kept(self, event: Event, needed: set[int], floor: int, carried: set[int]) -> bool:
        """Whether what stays recorded needs an event."""
        match event:
            case TensorSeen():
                if event.id not in needed:
                    self._counts.forget_values(event.data)
                return event.id in needed
            case TensorChanged():
                stays = event.id in needed or (event.id <= floor and event.id not in carried)
                return stays and not event.node
            case NodeSeen():
                return self._keeps_node(event, needed, floor, carried)
        return False

    def _needed(self, floor: int, carried: set[int], tied: set[int]) -> set[int]:
        """Takes states that would name what is forgotten out of recording; gives the records the others need."""
        staying: dict[int, State] = {}
        needed: set[int] = set()
        leaving: list[State] = []
        for key, state in list(self._tensors.states.items()):
            if state.ref() is None:
                continue
            if state.id <= floor and state.id not in carried:
                staying[key] = state
            elif state.node or state.id in tied or state.first in tied:
                leaving.append(state)
            else:
                staying[key] = state
                needed.update((state.id, state.first))
        for key, state in list(staying.items()):
            if (state.base > floor or state.base in carried) and state.base not in needed:
                leaving.append(staying.pop(key))
        self._tensors.keep_only(staying)
        for state in leaving:
            self._storages.leave(state)
        return needed

    def _keeps_node(self, event: NodeSeen, needed: set[int], floor: int, carried: set[int]) -> bool:
        """An AccumulateGrad stays as long as its leaf; other nodes are numbered anew should they be met again."""
        if event.type == "AccumulateGrad":
            leaf = event.variable
            if leaf in needed or (leaf <= floor and leaf not in carried):
                return True
            self._nodes.forget_leaf(leaf, event.id)
        else:
            self._nodes.forget(int(event.sequence_nr) if event.sequence_nr else None, event.id)
        self._counts.forget_node()
        return False

    def _draw(self, block: list[Event], tensors: dict[int, TensorSeen]) -> None:
        """Notes a point of the curve for each forgotten call of the engine."""
        squares: dict[int, float] = {event.id: 0.0 for event in block if isinstance(event, PassStarted)}
        for event in block:
            if isinstance(event, Accumulated) and event.pass_id in squares and (delta := tensors.get(event.delta)):
                squares[event.pass_id] += norm_of(delta.data, delta.summary) ** 2
        failed = {event.id for event in block if isinstance(event, PassEnded) and event.failed}
        for event in block:
            if isinstance(event, PassStarted):
                is_whole = event.kind == "backward" and event.id not in failed
                norm = spoken(math.sqrt(squares[event.id])) if is_whole else None
                self.curve(event.id, self._loss(event, tensors), norm, event.site)

    def _loss(self, started: PassStarted, tensors: dict[int, TensorSeen]) -> float | str | None:
        """The only element of what a call of the engine began at."""
        if not started.roots:
            return None
        _, _, root, _, _ = started.roots[0]
        if root in tensors:
            data = tensors[root].data
        else:
            states = self._tensors.states.values()
            data = next((state.look.data for state in states if state.id == root), None)
        return data[0] if data is not None and len(data) == 1 else None
