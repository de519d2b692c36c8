"""Autograd nodes, as the trace has them."""

import msgspec

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.rules import rule_of
from engine.rules.derivatives import slot_names
from engine.trace import Edge, Node, NodeOutput, Saved

_Outputs = tuple[tuple[tuple[int, ...], str, str], ...]


def nodes(recorded: Recorded, ids: Ids) -> tuple[Node, ...]:
    """All of them, in the order they got their numbers."""
    maker = _Nodes(recorded, ids)
    return tuple([maker.node(recorded.nodes[number]) for number in sorted(recorded.nodes)])


class _Nodes:
    """Makes nodes; those of a loop share what they have in common."""

    def __init__(self, recorded: Recorded, ids: Ids) -> None:
        self.recorded = recorded
        self.ids = ids
        self.outputs: dict[_Outputs, tuple[NodeOutput, ...]] = {}
        self.slots: dict[tuple[str, int], tuple[str, ...]] = {}
        self.missing: dict[tuple[int, int, str], Edge] = {}
        self.saved_numbers: dict[tuple[str, tuple[ev.SavedWord, ...]], tuple[tuple[Saved, ...], str | None]] = {}
        """What nodes of a type keep that keep no tensor, and their rule."""
        self.has_complex = any(_is_complex(tensor.dtype) for tensor in recorded.tensors.values())

    def node(self, event: ev.NodeSeen) -> Node:
        """One of them."""
        outputs = self.outputs.get(event.outputs)
        if outputs is None:
            outputs = self.outputs[event.outputs] = _outputs(event.outputs)
        saved, rule = self._saved_and_rule(event)
        if self.has_complex and self._meets_complex(event):
            rule = rule_of(event.type, saved, is_complex=True)
        ids = self.ids
        node = Node(
            id=ids.node[event.id],
            type=event.type,
            edges=self._edges(event),
            outputs=outputs,
            op=ids.op.among(event.op, self.recorded.ops),
            sequence_nr=event.sequence_nr or None,
            saved=saved,
            rule=rule,
        )
        if not (event.variable or event.made_by or event.pass_id or event.custom or event.code or event.reason):
            return node
        return msgspec.structs.replace(
            node,
            variable=ids.tensor.optional(event.variable),
            made_by=ids.node.optional(event.made_by),
            pass_id=ids.pass_.optional(event.pass_id),
            custom=event.custom,
            code=self.recorded.spans.get(event.code),
            reason=event.reason,
        )

    def _meets_complex(self, event: ev.NodeSeen) -> bool:
        """Whether it comes of complex numbers or made some."""
        dtypes = {dtype for _, dtype, _ in event.outputs}
        dtypes |= {tensor.dtype for word in event.saved if (tensor := self.recorded.tensors.get(word[1]))}
        return any(map(_is_complex, dtypes))

    def _edges(self, event: ev.NodeSeen) -> tuple[Edge, ...]:
        targets, node_ids = event.edges, self.ids.node
        key = (event.type, len(targets) // 2)
        names = self.slots.get(key)
        if names is None:
            names = self.slots[key] = slot_names(*key)
        edges = []
        for slot, name in enumerate(names):
            to, input_nr = targets[2 * slot], targets[2 * slot + 1]
            if to > 0:
                edges.append(Edge(to=node_ids[to], input_nr=input_nr, name=name))
            else:
                edges.append(self._missing_edge(to, input_nr, name))
        return tuple(edges)

    def _missing_edge(self, to: int, input_nr: int, name: str) -> Edge:
        known = self.missing.get((to, input_nr, name))
        if known is None:
            omitted = to == ev.OMITTED
            known = self.missing[to, input_nr, name] = Edge(to=None, input_nr=input_nr, name=name, omitted=omitted)
        return known

    def _saved_and_rule(self, event: ev.NodeSeen) -> tuple[tuple[Saved, ...], str | None]:
        key = (event.type, event.saved)
        known = self.saved_numbers.get(key)
        if known is None:
            saved = tuple([self._saved(word) for word in event.saved])
            known = saved, rule_of(event.type, saved)
            if all(value.tensor is None for value in saved):
                self.saved_numbers[key] = known
        return known

    def _saved(self, word: ev.SavedWord) -> Saved:
        name, number, version, text, size, reason = word
        return Saved(
            field=name,
            tensor=self.ids.tensor.among(number, self.recorded.tensors),
            version=None if version < 0 else version,
            text=text or None,
            size_bytes=size,
            reason=reason,
        )


def _is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def _outputs(words: _Outputs) -> tuple[NodeOutput, ...]:
    return tuple(
        NodeOutput(shape=shape, dtype=dtype, device="cpu" if device == "cpu" else device)
        for shape, dtype, device in words
    )
