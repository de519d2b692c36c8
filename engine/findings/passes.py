"""Passes that could not run, and gradients that were asked for where none is kept."""

import re
from collections.abc import Iterator

from engine.findings.story import Story, line
from engine.graph.visible import reach
from engine.trace import Failure, Finding, Node, Op, Pass, Saved, Span

SECOND_TIME = "backward through the graph a second time"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
CHANGED = "modified by an inplace operation"
NOT_LEAF = "that is not a leaf Tensor is being accessed"
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")


def failed_passes(story: Story) -> Iterator[Finding]:
    """Why the last pass raised."""
    failed, failure = story.failed_pass(), story.trace.failure
    if failure is None:
        return
    if NOT_SCALAR in failure.message:
        yield from _not_scalar(story, failure)
    elif failed is None:
        return
    elif SECOND_TIME in failure.message:
        yield from _second_time(story, failed)
    elif CHANGED in failure.message:
        yield from _saved_changed(story, failed, failure.message)


def _second_time(story: Story, failed: Pass) -> Iterator[Finding]:
    reached = reach(story, [root.node for root in failed.roots if root.node is not None])
    before = [
        one
        for one in story.trace.passes
        if one.id != failed.id and not one.failed and not one.retain_graph and _ran_any_of(story, one, reached)
    ]
    if before:
        first = before[-1]
        yield Finding(
            code="second_backward",
            severity="error",
            span=failed.span,
            tensors=tuple(root.tensor for root in failed.roots if root.tensor is not None),
            nodes=tuple(root.node for root in failed.roots if root.node is not None),
            parameters={"first_line": line(first.span), "line": line(failed.span)},
        )


def _ran_any_of(story: Story, one: Pass, nodes: set[str]) -> bool:
    return any(visit.node in nodes and story.nodes[visit.node].variable is None for visit in one.visits)


def _not_scalar(story: Story, failure: Failure) -> Iterator[Finding]:
    """PyTorch refuses before the engine starts, so the tensor is found by what was written before `.backward`."""
    tensor = story.tensors.get(_receiver(story, failure.span) or "")
    yield Finding(
        code="non_scalar_backward",
        severity="error",
        span=failure.span,
        tensors=(tensor.id,) if tensor is not None else (),
        nodes=(tensor.grad_fn.node,) if tensor is not None and tensor.grad_fn is not None else (),
        parameters={
            "name": story.say(tensor.id) if tensor is not None else story.source.text(failure.span),
            "shape": "×".join(map(str, tensor.shape)) if tensor is not None else "?",
            "count": str(story.elements(tensor.id)) if tensor is not None else "?",
        },
    )


def _receiver(story: Story, span: Span | None) -> str | None:
    """The tensor a method was called on: a global name, or the result of the expression."""
    written = story.source.text(span).partition(".backward")[0]
    for variable in story.trace.variables:
        if variable.name == written and variable.tensor is not None:
            return variable.tensor
    bare = written.removeprefix("(").removesuffix(")")
    for op in reversed(story.trace.ops):
        if op.outputs and story.source.text(op.span) in (written, bare):
            return op.outputs[0]
    return None


def _saved_changed(story: Story, failed: Pass, message: str) -> Iterator[Finding]:
    versions = _VERSIONS.search(message)
    for node, saved, changer in _stale(story, failed):
        if versions is not None and saved.version is not None and int(versions[2]) != saved.version:
            continue
        saver = story.op_of_node(node.id)
        yield Finding(
            code="saved_tensor_changed",
            severity="error",
            span=changer.span,
            tensors=(saved.tensor,) if saved.tensor is not None else (),
            nodes=(node.id,),
            parameters={
                "name": story.say(saved.tensor),
                "op": saver.name if saver is not None else node.type,
                "saved_line": line(saver.span if saver is not None else None),
                "change": changer.name,
                "changed_line": line(changer.span),
                "saved_version": versions[2] if versions is not None else str(saved.version),
                "version": versions[1] if versions is not None else "",
            },
        )
        return


def _stale(story: Story, failed: Pass) -> Iterator[tuple[Node, Saved, Op]]:
    """Saved tensors that were written after they were saved, with the first op that wrote."""
    visited = {visit.node for visit in failed.visits}
    pending = [root.node for root in failed.roots if root.node is not None]
    seen = set(pending)
    writers = _writers(story)
    while pending:
        node = story.nodes.get(pending.pop())
        if node is None:
            continue
        if node.id not in visited:
            for saved in node.saved:
                if saved.tensor is not None and saved.version is not None:
                    for version, op in writers.get(story.identity(saved.tensor), ()):
                        if version > saved.version:
                            yield node, saved, op
                            break
        for edge in node.edges:
            if edge.to is not None and edge.to not in seen:
                seen.add(edge.to)
                pending.append(edge.to)


def _writers(story: Story) -> dict[str, list[tuple[int, Op]]]:
    """Identity, and that of the tensors it shares storage with, to the ops that wrote it and the versions they made."""
    writers: dict[str, list[tuple[int, Op]]] = {}
    by_storage: dict[str, set[str]] = {}
    for tensor in story.trace.tensors:
        if tensor.storage is not None:
            by_storage.setdefault(tensor.storage, set()).add(tensor.identity or tensor.id)
    for op in story.trace.ops:
        for output in op.outputs if op.in_place else ():
            record = story.tensors.get(output)
            if record is None:
                continue
            for identity in by_storage.get(record.storage or "", {record.identity or record.id}):
                writers.setdefault(identity, []).append((record.version, op))
    return writers


def gradients_not_kept(story: Story) -> Iterator[Finding]:
    """`.grad` read from a tensor that keeps none; PyTorch warns of it."""
    for warning in story.trace.warnings:
        if NOT_LEAF in warning.message:
            yield Finding(
                code="grad_of_non_leaf", severity="warning", span=warning.span, parameters={"line": line(warning.span)}
            )
            return
