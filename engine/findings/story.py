"""What all families of findings ask of a trace: names, lines, and what came before what."""

from engine.graph.index import Index
from engine.trace import Op, Pass, Span, Trace

NAMED = 3  # names in one sentence


class Story(Index):
    """An index that also knows the order of things."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.passes: dict[str, Pass] = {one.id: one for one in trace.passes}
        self.op_step: dict[str, int] = {}
        self.pass_step: dict[str, int] = {}
        self.update_step: dict[str, int] = {}
        for number, step in enumerate(trace.timeline):
            if step.kind == "op" and step.op is not None:
                self.op_step[step.op] = number
            elif step.kind == "pass" and step.pass_id is not None:
                self.pass_step[step.pass_id] = number
            elif step.update is not None:
                self.update_step.setdefault(step.update, number)

    def say(self, tensor: str | None) -> str:
        """What to call a tensor in a sentence: its name, else the expression that made it."""
        if tensor is None:
            return "?"
        maker = self.maker.get(tensor)
        return self.name(tensor) or (self.source.text(maker.span) if maker is not None else "") or tensor

    def say_all(self, tensors: list[str]) -> str:
        """Several tensors: the first names, then how many more."""
        names = list(dict.fromkeys(self.say(tensor) for tensor in tensors))
        return ", ".join(names[:NAMED]) + (f" (+{len(names) - NAMED})" if len(names) > NAMED else "")

    def failed_pass(self) -> Pass | None:
        """The pass that ended the program."""
        return next((one for one in reversed(self.trace.passes) if one.failed), None)

    def op_of_node(self, node: str | None) -> Op | None:
        """The op that made a node."""
        record = self.nodes.get(node) if node is not None else None
        return self.ops.get(record.op) if record is not None and record.op is not None else None


def line(span: Span | None) -> str:
    """A line number for a sentence."""
    return str(span.line) if span is not None else "?"
