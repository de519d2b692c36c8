"""What a worker says in one event where it would say the same again and again in several: those several."""

from engine.events import (
    OF_RESULT,
    OF_TEXT,
    Again,
    Flowing,
    NodeSeen,
    OpRan,
    Passed,
    Pattern,
    SavedWord,
    TensorSeen,
    Visited,
)


class Patterns:
    """The patterns said so far."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Pattern, tuple[SavedWord, ...] | None]] = {}

    def add(self, pattern: Pattern) -> None:
        """Takes note of one."""
        constant = all(source == OF_TEXT for _, source, _, _ in pattern.saved)
        saved = tuple([(field, 0, -1, text, size, "") for field, _, text, size in pattern.saved]) if constant else None
        self._known[pattern.id] = pattern, saved

    def spread(self, again: Again) -> tuple[NodeSeen, TensorSeen, OpRan]:
        """What an op of a pattern made, and the op; raises LookupError when it fits no pattern."""
        pattern, saved = self._known[again.pattern]
        inputs = again.inputs
        if saved is None:
            saved = tuple([_saved(word, again) for word in pattern.saved])
        node = NodeSeen(
            id=again.node,
            type=pattern.node_type,
            sequence_nr=str(again.sequence_nr),
            op=again.op,
            edges=again.edges,
            outputs=pattern.outputs,
            saved=saved,
        )
        tensor = TensorSeen(
            id=again.tensor,
            role="result",
            shape=pattern.shape,
            dtype=pattern.dtype,
            size_bytes=pattern.size_bytes,
            data=again.data,
            storage=again.storage,
            requires_grad=True,
            node=again.node,
            summary=again.summary,
            thumbnail=again.thumbnail,
        )
        op = OpRan(
            id=again.op,
            function=pattern.function,
            arguments=tuple([inputs[2 * word] if type(word) is int else word for word in pattern.words]),
            keywords=None,
            outputs=(again.tensor,),
            site=again.site,
            module=again.module,
            flags=0,
            pass_id=0,
            time_us=again.time_ns / 1000,
            gone=again.gone,
        )
        return node, tensor, op


def _saved(word: tuple[str, int, str, int], again: Again) -> SavedWord:
    field, source, text, size = word
    if source == OF_TEXT:
        return field, 0, -1, text, size, ""
    if source == OF_RESULT:
        return field, again.tensor, 0, "", size, ""
    return field, again.inputs[2 * source], again.inputs[2 * source + 1], "", size, ""


def spread_visit(passed: Passed) -> tuple[list[TensorSeen], Visited]:
    """The new gradients, and the visit."""
    visit = Visited(passed.pass_id, passed.node, passed.entered, passed.left, passed.time_us, passed.gone)
    return [as_seen(gradient) for gradient in passed.new], visit


def as_seen(gradient: Flowing) -> TensorSeen:
    """A gradient in the words for any tensor."""
    return TensorSeen(
        id=gradient.id,
        role=gradient.role,
        shape=gradient.shape,
        dtype=gradient.dtype,
        size_bytes=gradient.size_bytes,
        data=gradient.data,
        strides=gradient.strides,
        device=gradient.device,
        layout=gradient.layout,
        summary=gradient.summary,
        thumbnail=gradient.thumbnail,
        contents=gradient.contents,
        reason=gradient.reason,
    )
