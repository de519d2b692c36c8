"""Collectives: one box for the calls of all ranks that met, joined to what each gave and to what each got."""

from collections.abc import Iterator
from typing import NamedTuple

from engine.graph.boxes import Drawing
from engine.graph.origins import origins
from engine.graph.start import Start
from engine.graph.types import Link
from engine.trace import Op


class _End(NamedTuple):
    """A box whose leaf, or whose first gradient, a collective took or wrote."""

    box: str
    got: str | None
    gave: str | None
    is_seed: bool = False


def exchange(drawing: Drawing, start: Start) -> None:
    """Joins collectives to the leaves and roots whose values or gradients they took or wrote: gradients go up."""
    if not drawing.index.met:
        return
    ends = _Ends(drawing, start)
    for met in drawing.index.met.values():
        found = [end for op in met for end in ends.of(op, is_drawn=op.id in drawing.box_of_op)]
        if not found:
            continue
        box = drawing.add_collective(met)
        for end in found:
            drawing.links.append(
                Link(source=end.box, target=box, kind="exchange", back=end.got)
                if end.is_seed
                else Link(source=box, target=end.box, kind="exchange", tensor=end.got, back=end.gave)
            )


class _Ends:
    def __init__(self, drawing: Drawing, start: Start) -> None:
        self._drawing = drawing
        self._index = index = drawing.index
        self._passes = {pass_.id for pass_ in start.passes}
        self._leaf_of = {
            kept.after: index.identity(kept.tensor)
            for pass_ in start.passes
            for kept in pass_.accumulations
            if kept.after is not None
        }
        """The state of a `.grad` that these passes left to its leaf."""
        self._seeds = {
            index.identity(root.seed): root.node
            for pass_ in start.passes
            for root in pass_.roots
            if root.seed is not None and root.node is not None
        }
        self._box_of_state: dict[str, str] = {}
        for draft in drawing.drafts.values():
            states = [parameter.tensor for parameter in draft.parameters]
            for state in (*states, draft.tensor if draft.kind == "leaf" else None):
                if state is not None:
                    self._box_of_state.setdefault(state, draft.id)
        self._box_of_leaf = {index.identity(state): box for state, box in self._box_of_state.items()}

    def of(self, op: Op, *, is_drawn: bool) -> Iterator[_End]:
        """Where one rank's call of a collective ends. One that is drawn already says itself what it was given."""
        if op.bucket and op.pass_id in self._passes:
            boxes = dict.fromkeys(self._box_of_leaf[leaf] for leaf in op.bucket if leaf in self._box_of_leaf)
            yield from (_End(box, op.outputs[0], op.inputs[0]) for box in boxes)
            return
        index = self._index
        written = {index.identity(tensor): tensor for tensor in op.outputs}
        for tensor in () if is_drawn else index.gave(op):
            got = written.pop(index.identity(tensor), None)
            states = origins(index, tensor, self._leaf_of).gradients
            found = [self._box_of_leaf.get(self._leaf_of[state]) for state in states]
            found = found or [self._box_of_state.get(tensor)]
            yield from (_End(box, got, tensor) for box in found if box is not None)
        for identity, tensor in written.items():
            root = self._drawing.box_of_node.get(self._seeds.get(identity, ""))
            if root is not None:
                yield _End(root, tensor, None, is_seed=True)
            elif tensor in self._box_of_state:
                yield _End(self._box_of_state[tensor], tensor, None)
