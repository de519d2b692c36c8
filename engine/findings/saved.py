"""Values that were changed behind autograd's back after a node had saved them."""

from bisect import bisect_left
from collections.abc import Iterator

from engine.findings.story import Story, line
from engine.trace import Change, Finding, Pass, Update


def data_edits(story: Story) -> Iterator[Finding]:
    """Writes that raised no version, between the op that saved a tensor and the pass that used it."""
    savers = _savers(story)
    written: dict[str, list[tuple[int, str]]] = {}
    told: set[tuple[str, str]] = set()
    for update in story.trace.updates:
        if update.kind not in ("data", "outside"):
            continue
        for change in update.changes:
            identity = _silently_changed(story, change)
            for node in savers.get(identity, ()):
                used = _used_by(story, node, update)
                key = (node, line(update.span))
                if used is None or key in told:
                    continue
                written = written or _written(story)
                if _put_back(story, written, node, identity, used):
                    continue
                told.add(key)
                yield _edit(story, update, change, node, used)


def _savers(story: Story) -> dict[str, list[str]]:
    savers: dict[str, list[str]] = {}
    for node in story.trace.nodes:
        for saved in node.saved:
            if saved.tensor is not None:
                nodes = savers.setdefault(story.identity(saved.tensor), [])
                if node.id not in nodes:
                    nodes.append(node.id)
    return savers


def _silently_changed(story: Story, change: Change) -> str:
    """The tensor whose values changed while its version stayed; empty when none did."""
    before, after = story.tensors.get(change.before or ""), story.tensors.get(change.after or "")
    if before is None or after is None or story.identity(before.id) != story.identity(after.id):
        return ""
    return story.identity(before.id) if before.version == after.version else ""


def _written(story: Story) -> dict[str, list[tuple[int, str]]]:
    """For each tensor its records after updates, with their places in the timeline."""
    written: dict[str, list[tuple[int, str]]] = {}
    for update in story.trace.updates:
        for change in update.changes:
            if change.after is not None:
                found = written.setdefault(story.identity(change.after), [])
                found.append((story.update_step.get(update.id, -1), change.after))
    return written


def _put_back(story: Story, written: dict[str, list[tuple[int, str]]], node: str, identity: str, used: Pass) -> bool:
    """Whether the pass begins with the values that the node saved, as those of `gradcheck` do."""
    kept = (saved.tensor for saved in story.nodes[node].saved if saved.tensor is not None)
    saved = next(story.tensors[one] for one in kept if story.identity(one) == identity)
    records = written[identity]
    then = story.tensors[records[bisect_left(records, (story.pass_step.get(used.id, -1),)) - 1][1]]
    return (saved.data, saved.summary) == (then.data, then.summary)


def _used_by(story: Story, node: str, update: Update) -> Pass | None:
    """The first pass that ran the node after the edit, when the node was older than the edit."""
    op = story.op_of_node(node)
    edited = story.update_step.get(update.id)
    if op is None or edited is None or story.op_step.get(op.id, edited) >= edited:
        return None
    for one in story.trace.passes:
        if story.pass_step.get(one.id, -1) > edited and any(visit.node == node for visit in one.visits):
            return one
    return None


def _edit(story: Story, update: Update, change: Change, node: str, used: Pass) -> Finding:
    op = story.op_of_node(node)
    return Finding(
        code="saved_value_edited",
        severity="warning",
        span=update.span,
        tensors=tuple(one for one in (change.before, change.after) if one is not None),
        nodes=(node,),
        parameters={
            "name": story.say(change.before),
            "op": op.name if op is not None else "",
            "saved_line": line(op.span if op is not None else None),
            "changed_line": line(update.span),
            "used_line": line(used.span),
        },
    )
