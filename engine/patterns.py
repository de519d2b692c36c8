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
            again.node, pattern.node_type, str(again.sequence_nr), again.op, again.edges, pattern.outputs, saved
        )
        tensor = TensorSeen(
            again.tensor, "result", pattern.shape, pattern.dtype, pattern.size_bytes, again.data, again.storage, 0,
            True, again.node, summary=again.summary, thumbnail=again.thumbnail,
        )  # fmt: skip
        arguments = tuple([inputs[2 * word] if type(word) is int else word for word in pattern.words])
        op = OpRan(
            again.op, pattern.function, arguments, None, (again.tensor,), again.site, again.module, 0, 0, again.time_ns / 1000,
            gone=again.gone,
        )  # fmt: skip
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
    return [as_seen(one) for one in passed.new], visit


def as_seen(one: Flowing) -> TensorSeen:
    """A gradient in the words for any tensor."""
    return TensorSeen(
        one.id, one.role, one.shape, one.dtype, one.size_bytes, one.data, strides=one.strides, device=one.device,
        layout=one.layout, summary=one.summary, thumbnail=one.thumbnail, contents=one.contents, reason=one.reason,
    )  # fmt: skip
