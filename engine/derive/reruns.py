"""Ops that checkpointing runs again during backward."""

from collections import defaultdict

import msgspec

from engine.trace import Op, Span, Trace

_Key = tuple[str, Span | str | None, tuple[str, ...], tuple[str | None, ...]]
"""Function, place (module, span, or anywhere), tensors that went in, and the other arguments."""


def with_reruns(trace: Trace) -> tuple[Op, ...]:
    """The ops; those that repeat one from outside of passes (same call, place and tensors) are linked to it."""
    if not any(op.pass_id for op in trace.ops):
        return trace.ops
    return _Reruns(trace).ops()


class _Reruns:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.identities = {tensor.id: tensor.identity or tensor.id for tensor in trace.tensors}
        self.stands_for: dict[str, str] = {}
        """What a recomputed or detached tensor is a copy of."""
        self.spans = {pass_.id: pass_.span for pass_ in trace.passes}
        self.first: dict[_Key, list[int]] = defaultdict(list)
        """Ops that ran outside of passes, by their index."""
        self.taken: set[tuple[str, int]] = set()

    def ops(self) -> tuple[Op, ...]:
        """All of them."""
        made = list(self.trace.ops)
        before: int | None = None
        running: str | None = None
        for index, op in enumerate(self.trace.ops):
            if op.pass_id != running:
                running, before = op.pass_id, None
            if op.pass_id is None:
                for place in {op.module, op.span, None}:
                    self.first[self._key(op, place)].append(index)
                continue
            original = self._original(op, before)
            if original is not None:
                before = original
                self.taken.add((op.pass_id, original))
                made[index] = msgspec.structs.replace(op, rerun_of=self.trace.ops[original].id)
                for copy, first in zip(op.outputs, self.trace.ops[original].outputs, strict=False):
                    self.stands_for.setdefault(self._identity(copy), self._identity(first))
            elif op.name == "detach" and op.inputs and op.outputs:
                self.stands_for[self._identity(op.outputs[0])] = self._standing(op.inputs[0])
        return tuple(made)

    def _original(self, op: Op, before: int | None) -> int | None:
        """The op it repeats: of those that this pass has not repeated the next after the one repeated last, else the
        latest; without tensors, the one that came next then."""
        place = op.module or op.span
        if op.pass_id is None or place is None:
            return None
        if place == self.spans.get(op.pass_id):  # no code of the program is between the pass and the op
            if op.name == "detach":  # what `checkpoint` itself does to the inputs
                return None
            place = None
        found = self.first.get(self._key(op, place), ())
        if op.inputs:
            left = [index for index in found if (op.pass_id, index) not in self.taken]
            left = [index for index in left if self.trace.ops[index].span == op.span] or left
            after = (index for index in left if before is not None and index > before)
            return next(after, left[-1] if left else None)
        return next((index for index in found if before is not None and index == before + 1), None)

    def _key(self, op: Op, place: Span | str | None) -> _Key:
        inputs = tuple([self._standing(tensor) for tensor in op.inputs])
        return op.function or op.name, place, inputs, tuple([argument.text for argument in op.arguments])

    def _identity(self, tensor: str) -> str:
        return self.identities.get(tensor, tensor)

    def _standing(self, tensor: str) -> str:
        identity = self._identity(tensor)
        return self.stands_for.get(identity, identity)
