"""The numbers given to what was recorded so far, and how much of the run's limits they take."""

from collections.abc import Sized

from engine.trace import RunLimits

MOST_VALUES = 1_200_000
"""Elements of tensors that are said before no more operations are recorded: a trace of some 24 MB."""

MOST_BEFORE_PASSES = 14_000
"""Ops outside the graph that are recorded before the first call of the engine: data are made in loops, and what is
trained on them is to be recorded too."""


class Counts:
    """Numbers from 1. What a long loop does again is numbered too, and no longer counts once it is forgotten."""

    def __init__(self, limits: RunLimits) -> None:
        self.tensors = self.ops = self.nodes = self.passes = self.updates = self.functions = 0
        self.ops_forgotten = self.nodes_forgotten = self.updates_forgotten = 0
        self.ops_omitted = self.updates_omitted = 0
        self.values = self.output_bytes = self.warnings = 0
        self.begin(limits)

    def begin(self, limits: RunLimits) -> None:
        """Sets the limits of the run."""
        self.limits = limits
        self.attend(asks=False)

    def new_tensor(self, data: Sized | None = None) -> int:
        """The number of a record of a tensor that says these elements, or of what else holds some."""
        self.tensors = number = self.tensors + 1
        if data is not None:
            self.values += len(data)
            if self.values >= MOST_VALUES:
                self.attend(asks=True)
        return number

    def new_op(self) -> int:
        """The number of an op."""
        self.ops = number = self.ops + 1
        return number

    def new_node(self) -> int:
        """The number of an autograd node."""
        self.nodes += 1
        return self.nodes

    def new_pass(self) -> int:
        """The number of a call of the engine."""
        self.passes += 1
        if self.passes == 1 and self.attention >= 0:
            self.attend(asks=False)
        return self.passes

    def new_update(self) -> int:
        """The number of a change outside the graph."""
        self.updates += 1
        return self.updates

    def new_function(self) -> int:
        """The number of a function that ops refer to."""
        self.functions += 1
        return self.functions

    def new_warning(self) -> int:
        """The number of a warning that is shown."""
        self.warnings += 1
        return self.warnings

    def omit_op(self) -> None:
        """An op runs unrecorded because of a limit."""
        self.ops_omitted += 1

    def omit_update(self) -> None:
        """A change outside the graph goes unrecorded because of a limit."""
        self.updates_omitted += 1

    def forget_op(self) -> None:
        """The sampler lets go of an op."""
        self.ops_forgotten += 1

    def forget_node(self) -> None:
        """The sampler lets go of a node."""
        self.nodes_forgotten += 1

    def forget_update(self) -> None:
        """The sampler lets go of an update."""
        self.updates_forgotten += 1

    def forget_values(self, data: Sized | None) -> None:
        """The sampler lets go of what was said of a tensor."""
        self.values -= len(data or ())

    def attend(self, asks: bool) -> None:
        """Sets whether each op asks the sampler, or only those beyond the limit."""
        self.attention = -1 if asks else self.most_ops(tracked=False) + self.ops_forgotten
        """From this number of ops on each op asks the sampler whether it is recorded."""

    def most_ops(self, tracked: bool) -> int:
        """How many ops may be recorded; `tracked`: such as may make a node of the graph."""
        return self.limits.ops if tracked or self.passes else min(self.limits.ops, MOST_BEFORE_PASSES)

    @property
    def is_wide(self) -> bool:
        """Whether tensors have said all that they may."""
        return self.values >= MOST_VALUES

    @property
    def ops_kept(self) -> int:
        """Recorded ops."""
        return self.ops - self.ops_forgotten

    @property
    def nodes_kept(self) -> int:
        """Recorded nodes."""
        return self.nodes - self.nodes_forgotten

    @property
    def updates_kept(self) -> int:
        """Recorded updates."""
        return self.updates - self.updates_forgotten

    @property
    def recorded(self) -> int:
        """Ops, tensors and nodes met so far."""
        return self.tensors + self.ops + self.nodes
