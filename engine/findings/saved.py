"""Values that were changed behind autograd's back after a node had saved them."""

from collections.abc import Iterator

from engine.findings.story import Story, line
from engine.trace import Change, Finding, Pass, Update


def data_edits(story: Story) -> Iterator[Finding]:
    """Writes that raised no version, between the op that saved a tensor and the pass that used it."""
    savers = _savers(story)
    told: set[tuple[str, str]] = set()
    for update in story.trace.updates:
        if update.kind not in ("data", "outside"):
            continue
        for change in update.changes:
            for node in savers.get(_silently_changed(story, change), ()):
                used = _used_by(story, node, update)
                key = (node, line(update.span))
                if used is None or key in told:
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


def _used_by(story: Story, node: str, update: Update) -> Pass | None:
    """The first pass that ran the node after the edit, when the node was older than the edit."""
    op = story.op_of_node(node)
    edited = story.update_step.get(update.id)
    if op is None or edited is None or story.op_step.get(op.id, edited) >= edited:
        return None
    if op.span == update.span and story.is_inside_library(op):
        return None  # such as `gradcheck`, which moves its inputs and puts them back
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
