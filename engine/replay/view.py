"""A stretch of the engine's steps as data."""

from engine.replay.play import Replay
from engine.replay.types import FORMAT, Engine, EngineState, EngineStep
from engine.trace import Trace
from engine.trace_index import TraceIndex

MOST_STEPS = 1_000
"""Steps told at once."""


class NoSuchPass(LookupError):
    """The trace has no pass of this id."""


def engine_view(trace: Trace, pass_id: str, start: int = 0, count: int = MOST_STEPS) -> Engine:
    """The engine's state before step `start` of a pass and the steps from there, at most `count`.

    Beyond the last step the state is that at the end. Raises NoSuchPass.
    """
    index = TraceIndex(trace)
    pass_ = index.passes.get(pass_id)
    if pass_ is None:
        raise NoSuchPass(f"the run has no pass {pass_id!r}")
    replay = Replay(index.nodes, pass_, index.hooked_after(pass_id))
    state: EngineState | None = None
    steps: list[EngineStep] = []
    total = 0
    while True:
        if total == start:
            state = replay.state()
        told = start <= total < start + min(count, MOST_STEPS)
        step = replay.advance(told)
        if step is None:
            break
        total += 1
        if told:
            steps.append(step)
    return Engine(
        format=FORMAT,
        pass_id=pass_id,
        total=total,
        start=min(start, total),
        agrees=replay.agrees,
        state=replay.state() if state is None else state,
        steps=tuple(steps),
        reason=replay.reason,
    )
