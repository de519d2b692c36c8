"""What can be concluded from a finished trace: pure, each part in time linear in the size of the trace."""

from collections.abc import Iterator

import msgspec

from engine.derive.curve import curve
from engine.derive.lines import lines_that_exist
from engine.derive.memory import memory
from engine.derive.numpy_writes import with_lines_outside
from engine.derive.promotion import with_promotions
from engine.derive.questions import questions
from engine.derive.reruns import with_reruns
from engine.derive.side_facts import SideFacts
from engine.derive.storage_sizes import StorageSizes
from engine.derive.storages import MOST_STORAGES, storages
from engine.derive.transfers import transfers
from engine.derive.views_made_anew import with_regrown_linked
from engine.derive.windows import with_windows
from engine.program.sliders import sliders_in
from engine.trace import Trace, Truncation
from engine.trace_index import TraceIndex

__all__ = ["SideFacts", "derive"]


def derive(trace: Trace, facts: SideFacts) -> TraceIndex:
    """The trace with the parts that need all of it."""
    trace, facts = with_lines_outside(with_regrown_linked(trace), facts)
    index = TraceIndex(trace)
    sizes = StorageSizes(trace, facts.storage_sizes)
    shared = storages(index, facts, sizes)
    is_program = trace.failure is None or trace.failure.kind != "syntax"  # else no line has a place
    derived = msgspec.structs.replace(
        trace,
        curve=curve(index, facts.points),
        lines_not_run=lines_that_exist(facts.lines_not_run, trace.program.code),
        memory=memory(index, facts, sizes),
        questions=questions(index) if is_program else (),
        sliders=sliders_in(trace.program.code) if is_program else (),
        ops=with_windows(with_promotions(with_reruns(trace), index.tensors), index.tensors),
        storages=shared[:MOST_STORAGES],
        transfers=transfers(index),
        truncated=(*trace.truncated, *_storages_left_out(len(shared) - MOST_STORAGES)),
    )
    return TraceIndex(derived, index)


def _storages_left_out(count: int) -> Iterator[Truncation]:
    if count > 0:
        yield Truncation(what="storages", limit="storages", kept=MOST_STORAGES, omitted=count)
