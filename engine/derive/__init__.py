"""What can be concluded from a finished trace: pure, each part in time linear in the size of the trace."""

import msgspec

from engine.derive.curve import curve
from engine.derive.lines import lines_that_exist
from engine.derive.memory import memory
from engine.derive.numpy_writes import with_lines_outside
from engine.derive.promotion import with_promotions
from engine.derive.regrown import link_regrown
from engine.derive.reruns import with_reruns
from engine.derive.side_facts import SideFacts
from engine.derive.storage_sizes import Rooms
from engine.derive.storages import storages
from engine.derive.transfers import transfers
from engine.derive.windows import with_windows
from engine.trace import Trace
from engine.trace_index import TraceIndex

__all__ = ["SideFacts", "derive", "link_regrown"]


def derive(trace: Trace, told: SideFacts) -> TraceIndex:
    """The trace with the parts that need all of it."""
    trace, told = with_lines_outside(trace, told)
    looked = TraceIndex(trace)
    rooms = Rooms(trace, told.rooms)
    derived = msgspec.structs.replace(
        trace,
        curve=curve(looked, told.points),
        lines_not_run=lines_that_exist(told.lines_not_run, trace.program.code),
        memory=memory(looked, told, rooms),
        ops=with_windows(with_promotions(with_reruns(trace), looked.tensors), looked.tensors),
        storages=storages(looked, told, rooms),
        transfers=transfers(looked),
    )
    return TraceIndex(derived, looked)
