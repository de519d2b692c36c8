"""A trace with its parts by id, for what looks them up."""

from functools import cached_property

from engine.trace import Module, Node, Op, Pass, Tensor, Trace, Update


class TraceIndex:
    """A trace with its parts by id; `known` are those of the trace it was derived from, which has the same tensors and nodes."""

    def __init__(self, trace: Trace, known: "TraceIndex | None" = None) -> None:
        self.trace = trace
        self.tensors: dict[str, Tensor] = (
            {tensor.id: tensor for tensor in trace.tensors} if known is None else known.tensors
        )
        self.nodes: dict[str, Node] = {node.id: node for node in trace.nodes} if known is None else known.nodes

    @cached_property
    def ops(self) -> dict[str, Op]:
        """The ops."""
        return {op.id: op for op in self.trace.ops}

    @cached_property
    def passes(self) -> dict[str, Pass]:
        """The passes."""
        return {one.id: one for one in self.trace.passes}

    @cached_property
    def updates(self) -> dict[str, Update]:
        """The updates."""
        return {update.id: update for update in self.trace.updates}

    @cached_property
    def modules(self) -> dict[str, Module]:
        """The modules."""
        return {module.id: module for module in self.trace.modules}
