"""The numbers given to what was recorded so far, and how much of the run's limits they take."""

from engine.trace import RunLimits


class Counts:
    """Numbers from 1. What a long loop does again is numbered too, and no longer counts once it is forgotten."""

    def __init__(self, limits: RunLimits) -> None:
        self.tensors = self.ops = self.nodes = self.passes = self.updates = self.functions = 0
        self.ops_forgotten = self.nodes_forgotten = self.updates_forgotten = 0
        self.ops_omitted = self.updates_omitted = 0
        self.sent_bytes = self.output_bytes = 0
        self.begin(limits)

    def begin(self, limits: RunLimits) -> None:
        """Sets the limits of the run."""
        self.limits = limits
        self.attention = limits.ops
        """From this number of ops on each op asks the sampler whether it is recorded."""

    def new_tensor(self) -> int:
        """The number of a record of a tensor, or of what else holds some."""
        self.tensors += 1
        return self.tensors

    def new_op(self) -> int:
        """The number of an op."""
        self.ops += 1
        return self.ops

    def new_node(self) -> int:
        """The number of an autograd node."""
        self.nodes += 1
        return self.nodes

    def new_pass(self) -> int:
        """The number of a call of the engine."""
        self.passes += 1
        return self.passes

    def new_update(self) -> int:
        """The number of a change outside the graph."""
        self.updates += 1
        return self.updates

    def new_function(self) -> int:
        """The number of a function that ops refer to."""
        self.functions += 1
        return self.functions

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

    def add_sent(self, size_bytes: int) -> None:
        """Events of so many bytes were sent."""
        self.sent_bytes += size_bytes

    def attend(self, asks: bool) -> None:
        """Sets whether each op asks the sampler, or only those beyond the limit."""
        self.attention = -1 if asks else self.limits.ops + self.ops_forgotten

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
