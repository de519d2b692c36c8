"""Collectives: one box for the calls of all ranks that met, joined to what each gave and to what each got."""

from collections.abc import Iterator
from typing import NamedTuple

from engine.graph.boxes import Drawing
from engine.graph.origins import origins
from engine.graph.start import Start
from engine.graph.types import Link
from engine.trace import Op


class _End(NamedTuple):
    """A box whose leaf, or whose first gradient, a rank's call of a collective took or wrote."""

    op: Op
    box: str
    got: str | None
    gave: str | None
    is_seed: bool = False


def exchange(drawing: Drawing, start: Start) -> None:
    """Joins collectives to leaves, buffers and roots whose values or gradients they took or wrote: gradients go up."""
    if not drawing.index.met:
        return
    ends = _Ends(drawing, start)
    for met in drawing.index.met.values():
        found = [end for op in met for end in ends.of(op, is_drawn=op.id in drawing.box_of_op)]
        if found:
            box = drawing.add_collective(met)
            drawing.links += [_link(box, end) for end in found]


def _link(collective: str, end: _End) -> Link:
    if end.is_seed:
        return Link(source=end.box, target=collective, kind="exchange", op=end.op.id, back=end.got)
    return Link(source=collective, target=end.box, kind="exchange", op=end.op.id, tensor=end.got, back=end.gave)


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
            states += [given for given in draft.op.inputs if self._is_buffer(given)] if draft.op is not None else []
            for state in (*states, draft.tensor if draft.kind == "leaf" else None):
                if state is not None:
                    self._box_of_state.setdefault(state, draft.id)
        self._box_of_leaf = {index.identity(state): box for state, box in self._box_of_state.items()}
        self._written = {update.op: update.changes for update in index.trace.updates if update.op is not None}

    def of(self, op: Op, *, is_drawn: bool) -> Iterator[_End]:
        """Where one rank's call of a collective ends. One that is drawn already says itself what it was given."""
        if op.bucket and op.pass_id in self._passes:
            boxes = dict.fromkeys(self._box_of_leaf[leaf] for leaf in op.bucket if leaf in self._box_of_leaf)
            yield from (_End(op, box, op.outputs[0], op.inputs[0]) for box in boxes)
            return
        if not is_drawn:
            for tensor in op.gave:
                yield from self._given(op, tensor)
        for tensor in op.outputs:
            root = self._drawing.box_of_node.get(self._seeds.get(self._index.identity(tensor), ""))
            if root is not None:
                yield _End(op, root, tensor, None, is_seed=True)
        after = [change.after for change in self._written.get(op.id, ()) if change.after is not None]
        for state in dict.fromkeys((*op.outputs, *after)):
            if state in self._box_of_state:
                yield _End(op, self._box_of_state[state], state, None)

    def _is_buffer(self, tensor: str) -> bool:
        record = self._index.tensors.get(tensor)
        return record is not None and record.role == "buffer"

    def _given(self, op: Op, tensor: str) -> Iterator[_End]:
        """A gradient, which the collective may have written into too; a leaf, which it then wrote another state of."""
        index = self._index
        got = next((made for made in op.outputs if index.identity(made) == index.identity(tensor)), None)
        for state in origins(index, tensor, {*self._leaf_of, *self._box_of_state}).states:
            leaf = self._leaf_of.get(state)
            if leaf in self._box_of_leaf:
                yield _End(op, self._box_of_leaf[leaf], got, tensor)
            elif state in self._box_of_state and index.tensors[state].storage == index.tensors[tensor].storage:
                yield _End(op, self._box_of_state[state], None, state)
