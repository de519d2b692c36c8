"""Tensors, ops and nodes of the trace from what was read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from engine import events as ev
from engine.assemble.reader import Reader
from engine.assemble.state import Known, Place, of_pass, of_tensor
from engine.ops import BROADCASTING
from engine.rules import rule_of
from engine.rules.derivatives import slot_names
from engine.trace import (
    Argument,
    Broadcast,
    Edge,
    Node,
    NodeOutput,
    Op,
    OutputOf,
    Reads,
    Saved,
    Summary,
    Tensor,
    Thumbnail,
)


class Records(Reader):
    """Tensors, ops and nodes, as the trace has them."""

    def _all_tensors(self) -> Iterator[Tensor]:
        ids, nodes, shared, changes = self.t, self.n, self.shared, self.changes
        for number, event in self.tensors.items():
            change = changes.get(number)
            if change is None:
                node, nr, role, requires_grad = event.node, event.output_nr, event.role, event.requires_grad
            else:
                node, nr = change.node or event.node, change.output_nr or event.output_nr
                role = change.role or event.role
                requires_grad = event.requires_grad if change.requires_grad is None else change.requires_grad
            identity = event.identity
            usual = Tensor(
                id=ids[number],
                shape=event.shape,
                dtype=event.dtype,
                role=role,
                identity=ids[identity] if identity else None,
                names=shared.get(identity or number, ()),
                storage=f"s{event.storage}" if event.storage else None,
                size_bytes=event.size_bytes,
                version=version if (version := event.version) > 0 else 0,
                requires_grad=requires_grad,
                is_leaf=not node and not (requires_grad and role == "result"),  # a written view's node is not asked for
                grad_fn=OutputOf(node=nodes[node], output_nr=nr) if node else None,
                data=event.data,
            )
            yield usual if change is None and _is_usual(event) else _with_the_rest(usual, event, change or _NOTHING)

    def _all_ops(self, by_op: Mapping[int, list[ev.NodeSeen]]) -> Iterator[Op]:
        places: dict[tuple[int, int, int], Place] = {}
        skipped = self.skipped
        for number, event in enumerate(self.ops.values()):
            key = (event.site, event.function, event.module)
            place = places.get(key)
            if place is None:
                place = places[key] = self._place(event)
            if skipped and (gaps := skipped.get(key)):
                while gaps and gaps[0][0] <= number:
                    place.ran += gaps.pop(0)[1]
            made = self._op(event, place, by_op.get(event.id, ()))
            yield self._with_reads(made, self.reads[event.id]) if self.reads and event.id in self.reads else made
            place.ran += 1

    def _place(self, event: ev.OpRan) -> "Place":
        called = self.functions.get(event.function)
        return Place(
            name="" if called is None else called.name,
            function="" if called is None else called.function,
            span=self._span(event.site),
            module=f"m{event.module}" if event.module in self.modules else None,
            broadcasts=called is not None and called.name in BROADCASTING,
        )

    def _op(self, event: ev.OpRan, place: "Place", nodes: Sequence[ev.NodeSeen]) -> Op:
        tensor_id, node_id = self.t.__getitem__, self.n
        inputs: list[int] = []
        arguments: list[Argument] = []
        for word in event.arguments:
            if type(word) is int:
                inputs.append(word)
                arguments.append(Argument(tensor=tensor_id(word)))
            else:
                arguments.append(self._argument("", word, inputs))
        for name, word in event.keywords.items() if event.keywords is not None else ():
            arguments.append(self._argument(name, word, inputs))
        in_order = nodes if len(nodes) < 2 else sorted(nodes, key=lambda node: int(node.sequence_nr or 0))
        made = Op(
            id=self.o[event.id],
            name=place.name,
            function=place.function,
            arguments=tuple(arguments),
            inputs=tuple(map(tensor_id, inputs)),
            outputs=tuple(map(tensor_id, event.outputs)),
            nodes=tuple([node_id[node.id] for node in in_order]),
            span=place.span,
            module=place.module,
            iteration=place.ran,
            broadcast=self._broadcast(inputs, event.outputs) if place.broadcasts else (),
            time_us=event.time_us,
            saved_bytes=self._newly_saved(in_order) if in_order else 0,
        )
        if not event.flags and not event.pass_id:
            return made
        mode = "inference" if event.flags & ev.INFERENCE else "no_grad" if event.flags & ev.NO_GRAD else "grad"
        return msgspec.structs.replace(
            made,
            grad_mode=mode,
            in_place=bool(event.flags & ev.IN_PLACE),
            view=bool(event.flags & ev.VIEW),
            pass_id=of_pass(event.pass_id),
            raised=bool(event.flags & ev.RAISED),
        )

    @staticmethod
    def _with_reads(made: Op, reads: Iterable[ev.CellsRead]) -> Op:
        told = tuple(
            Reads(input=one.input, cells=one.cells, output=one.output, position=one.position)
            for one in reads
            if 0 <= one.input < len(made.inputs) and 0 <= one.output < len(made.outputs)
        )
        return msgspec.structs.replace(made, reads=told)

    def _argument(self, name: str, word: ev.Word, inputs: list[int]) -> Argument:
        """The argument; its tensors are added to `inputs`."""
        if isinstance(word, int):
            inputs.append(word)
            return Argument(name=name, tensor=self.t[word])
        if isinstance(word, tuple):
            inputs += [number for number in word if number]
            return Argument(name=name, tensors=tuple(map(of_tensor, word)))
        known = self._plain.get((name, word))
        if known is None:
            known = self._plain[name, word] = Argument(name=name, text=word)
        return known

    def _newly_saved(self, nodes: Iterable[ev.NodeSeen]) -> int:
        """Bytes that backward alone keeps alive: no leaf's, and no storage twice."""
        total = 0
        for node in nodes:
            for _, number, _, _, size, _ in node.saved:
                seen = self.tensors.get(number) if number else None
                if seen is None or seen.role in ("leaf", "parameter", "buffer"):
                    continue
                storage = seen.storage or -number
                if storage not in self.saved_storages:
                    self.saved_storages.add(storage)
                    total += size
        return total

    def _broadcast(self, inputs: list[int], outputs: tuple[int, ...]) -> tuple[Broadcast, ...]:
        made = self.tensors.get(outputs[0]) if outputs else None
        if made is None or not made.shape:
            return ()
        shape = made.shape
        found = []
        for index, number in enumerate(inputs):
            given = self.tensors.get(number)
            if given is None or given.shape == shape or len(given.shape) > len(shape):
                continue
            missing = len(shape) - len(given.shape)
            axes = [*range(missing)]
            axes += [missing + i for i, size in enumerate(given.shape) if size == 1 and shape[missing + i] != 1]
            if axes:
                found.append(Broadcast(input=index, axes=tuple(axes)))
        return tuple(found)

    def _node(self, event: ev.NodeSeen) -> Node:
        outputs = self._node_outputs.get(event.outputs)
        if outputs is None:
            outputs = self._node_outputs[event.outputs] = tuple(
                NodeOutput(shape=shape, dtype=dtype, device="cpu" if device == "cpu" else device)
                for shape, dtype, device in event.outputs
            )
        saved, rule = self._saved_and_rule(event)
        made = Node(
            id=self.n[event.id],
            type=event.type,
            edges=self._edges(event),
            outputs=outputs,
            op=self.o.get(event.op),
            sequence_nr=event.sequence_nr or None,
            saved=saved,
            rule=rule,
        )
        if not (event.variable or event.made_by or event.pass_id or event.custom or event.code or event.reason):
            return made
        return msgspec.structs.replace(
            made,
            variable=of_tensor(event.variable),
            made_by=f"n{event.made_by}" if event.made_by else None,
            pass_id=of_pass(event.pass_id),
            custom=event.custom,
            code=self._span(event.code),
            reason=event.reason,
        )

    def _edges(self, event: ev.NodeSeen) -> tuple[Edge, ...]:
        edges, nodes = event.edges, self.n
        key = (event.type, len(edges) // 2)
        names = self._slots.get(key)
        if names is None:
            names = self._slots[key] = slot_names(*key)
        made = []
        for slot, name in enumerate(names):
            to, input_nr = edges[2 * slot], edges[2 * slot + 1]
            if to > 0:
                made.append(Edge(to=nodes[to], input_nr=input_nr, name=name))
            else:
                made.append(self._missing_edge(to, input_nr, name))
        return tuple(made)

    def _missing_edge(self, to: int, input_nr: int, name: str) -> Edge:
        known = self._missing.get((to, input_nr, name))
        if known is None:
            omitted = to == ev.OMITTED
            known = self._missing[to, input_nr, name] = Edge(to=None, input_nr=input_nr, name=name, omitted=omitted)
        return known

    def _saved_and_rule(self, event: ev.NodeSeen) -> tuple[tuple[Saved, ...], str | None]:
        """What a node keeps, and its rule; nodes of a loop that keep the same numbers share them."""
        key = (event.type, event.saved)
        known = self._numbers_saved.get(key)
        if known is None:
            saved = tuple(self._saved(word) for word in event.saved)
            known = saved, rule_of(event.type, saved)
            if all(one.tensor is None for one in saved):
                self._numbers_saved[key] = known
        return known

    def _saved(self, word: ev.SavedWord) -> Saved:
        name, number, version, text, size, reason = word
        return Saved(
            field=name,
            tensor=of_tensor(number) if number in self.tensors else None,
            version=None if version < 0 else version,
            text=text or None,
            size_bytes=size,
            reason=reason,
        )


def _is_usual(event: ev.Seen) -> bool:
    """Whether a tensor has only what nearly all of them have: records with many fields take long to make."""
    return not (
        event.summary is not None
        or event.base
        or event.strides is not None
        or event.thumbnail is not None
        or event.device != "cpu"
        or event.contents != "known"
        or event.layout != "strided"
        or event.reason
    )


def _with_the_rest(usual: Tensor, event: ev.Seen, change: Known) -> Tensor:
    figures, cells = event.summary, event.thumbnail
    return msgspec.structs.replace(
        usual,
        device="cpu" if event.device == "cpu" else event.device,  # msgspec leaves out the default object only
        layout="strided" if event.layout == "strided" else event.layout,
        strides=event.strides,
        base=of_tensor(change.base or event.base),
        summary=None if figures is None else Summary(
            min=figures[0], max=figures[1], mean=figures[2], std=figures[3], norm=figures[4], zeros=figures[5],
            nan=figures[6], inf=figures[7], histogram=figures[8], over=figures[9] or None,
        ),
        thumbnail=None if cells is None else Thumbnail(rows=cells[0], columns=cells[1], cells=cells[2], scale=cells[3]),
        stored=change.stored,
        contents=event.contents,
        reason=event.reason,
        grad=of_tensor(change.grad),
    )  # fmt: skip


_NOTHING = Known()
