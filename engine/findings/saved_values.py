"""Values that were changed behind autograd's back after a node had saved them."""

from bisect import bisect_left
from collections.abc import Container, Iterator

from engine.findings.diagnosis import Diagnosis, grouped, is_alike, line
from engine.trace import Change, Finding, Pass, Span, Update

_Saver = tuple[int, int, str]
"""The step at which the op of a node ran, the place of the node among all, its id."""


def data_edits(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Writes that raised no version, between the op that saved a tensor and the pass that used it."""
    edits = [
        (update, change, identity)
        for update in diagnosis.trace.updates
        if update.kind in ("data", "outside", "in_place")
        for change in update.changes
        if (identity := _silently_changed(diagnosis, change))
    ]
    if not edits:
        return
    # of a write that is told of both, what it did to the tensor itself
    edits.sort(key=lambda edit: edit[2] != diagnosis.identity(edit[1].before or ""))
    savers, users = _savers(diagnosis, {identity for _, _, identity in edits}), _users(diagnosis)
    written = _written(diagnosis)
    looked_at: dict[tuple[str, Span | None], tuple[int, list[_Saver]]] = {}
    """For each line that writes: how many savers it was held against, and those that a later pass may yet find
    changed."""
    told: set[tuple[str, str]] = set()
    for update, change, identity in edits:
        edited, nodes = _when(diagnosis, update), savers.get(identity, [])
        count, waiting = looked_at.get((identity, update.span), (0, []))
        end = bisect_left(nodes, (edited,))
        left = []
        for saver in (*waiting, *nodes[count:end]):
            node = saver[2]
            passes = users.get(node, [])
            at = bisect_left(passes, (edited,))
            key = (node, line(update.span))
            if at == len(passes) or key in told:
                continue
            used = diagnosis.trace.passes[passes[at][1]]
            if _put_back(diagnosis, written, node, identity, used):
                left.append(saver)
            else:
                told.add(key)
                yield _edit(diagnosis, update, change, identity, node, used)
        looked_at[identity, update.span] = end, left


def _when(diagnosis: Diagnosis, update: Update) -> int:
    """The step of an update, or of the op that wrote."""
    return diagnosis.update_step.get(update.id, diagnosis.op_step.get(update.op or "", 0))


def _savers(diagnosis: Diagnosis, edited: Container[str]) -> dict[str, list[_Saver]]:
    """The nodes that saved each of these tensors, in the order in which their ops ran."""
    savers: dict[str, list[_Saver]] = {}
    for number, node in enumerate(diagnosis.trace.nodes):
        step = diagnosis.op_step.get(node.op or "")
        if step is None:
            continue
        for saved in node.saved:
            if saved.tensor is not None and (identity := diagnosis.identity(saved.tensor)) in edited:
                savers.setdefault(identity, []).append((step, number, node.id))
    return {identity: sorted(set(nodes)) for identity, nodes in savers.items()}


def _users(diagnosis: Diagnosis) -> dict[str, list[tuple[int, int]]]:
    """The passes that ran each node: the step each began at, and its number."""
    users: dict[str, list[tuple[int, int]]] = {}
    for number, pass_ in enumerate(diagnosis.trace.passes):
        for visit in pass_.visits:
            users.setdefault(visit.node, []).append((diagnosis.pass_step.get(pass_.id, -1), number))
    return users


def _silently_changed(diagnosis: Diagnosis, change: Change) -> str:
    """The tensor whose values changed while its version stayed; empty when none did."""
    before, after = diagnosis.tensors.get(change.before or ""), diagnosis.tensors.get(change.after or "")
    if before is None or after is None or diagnosis.identity(before.id) != diagnosis.identity(after.id):
        return ""
    memory = _memory(diagnosis, before.id)  # what is written through `.data` counts its own versions
    return memory if before.version == after.version or memory != diagnosis.identity(before.id) else ""


def _memory(diagnosis: Diagnosis, tensor: str) -> str:
    """The tensor whose memory is written: what `.data` was asked of, else itself."""
    identity = diagnosis.identity(tensor)
    maker = diagnosis.maker.get(identity)
    return diagnosis.identity(maker.inputs[0]) if maker is not None and maker.name == "data" else identity


def _written(diagnosis: Diagnosis) -> dict[str, list[tuple[int, str]]]:
    """For each tensor its records after updates, with their places in the timeline."""
    changes = ((update, change.after) for update in diagnosis.trace.updates for change in update.changes)
    written = [(_when(diagnosis, update), after) for update, after in changes if after is not None]
    return grouped(written, lambda dated: _memory(diagnosis, dated[1]))


def _put_back(
    diagnosis: Diagnosis, written: dict[str, list[tuple[int, str]]], node: str, identity: str, used: Pass
) -> bool:
    """Whether the pass begins with the values that the node saved, as those of `gradcheck` do."""
    kept = (saved.tensor for saved in diagnosis.nodes[node].saved if saved.tensor is not None)
    saved = next(diagnosis.tensors[tensor] for tensor in kept if diagnosis.identity(tensor) == identity)
    records = written[identity]
    then = diagnosis.tensors[records[bisect_left(records, (diagnosis.pass_step.get(used.id, -1),)) - 1][1]]
    return is_alike(saved, then)


def _edit(diagnosis: Diagnosis, update: Update, change: Change, saved: str, node: str, used: Pass) -> Finding:
    op = diagnosis.op_of_node(node)
    is_itself = saved == diagnosis.identity(change.before or "")
    return diagnosis.warning(
        "saved_value_edited",
        update.span,
        tensors=[tensor for tensor in (change.before, change.after) if tensor is not None],
        nodes=(node,),
        name=diagnosis.say(change.before if is_itself else saved),
        op=op.name if op is not None else "",
        saved_line=line(op.span if op is not None else None),
        changed_line=line(update.span),
        used_line=line(used.span),
    )
