"""A trace with its parts by id, for laws that look them up."""

from engine.trace import Trace


class Looked:
    """A trace with its parts by id."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.tensors = {tensor.id: tensor for tensor in trace.tensors}
        self.nodes = {node.id: node for node in trace.nodes}
        self.ops = {op.id: op for op in trace.ops}
        self.passes = {one.id: one for one in trace.passes}
        self.updates = {update.id: update for update in trace.updates}
        self.modules = {module.id: module for module in trace.modules}
