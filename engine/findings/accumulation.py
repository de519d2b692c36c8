"""Gradients of several passes that ended up in one sum."""

from collections.abc import Iterator

from engine.findings.story import Story, line
from engine.trace import Finding, Pass


def gradients_added_up(story: Story) -> Iterator[Finding]:
    """The first pass that added to gradients left over: after a step it is a mistake, otherwise worth knowing."""
    latest: dict[str, Pass] = {}
    stepped = _steps_by_leaf(story)
    for one in story.trace.passes:
        added = [each for each in one.accumulations if each.before is not None and each.delta is not None]
        mistaken = [each.tensor for each in added if _stepped_between(story, stepped, each.tensor, latest, one)]
        if mistaken or (added and one.parent is None):
            leaves = mistaken or [each.tensor for each in added if each.tensor in latest]
            if leaves:
                yield _added(story, one, latest[leaves[0]], leaves, is_mistake=bool(mistaken))
                return
        latest.update((each.tensor, one) for each in one.accumulations if each.delta is not None)


def _steps_by_leaf(story: Story) -> dict[str, list[int]]:
    """When an optimizer, or the program itself, moved each leaf."""
    steps: dict[str, list[int]] = {}
    for update in story.trace.updates:
        if update.kind in ("step", "data") and update.id in story.update_step:
            for change in update.changes:
                if change.before is not None:
                    steps.setdefault(story.identity(change.before), []).append(story.update_step[update.id])
    return steps


def _stepped_between(
    story: Story, stepped: dict[str, list[int]], leaf: str, latest: dict[str, Pass], now: Pass
) -> bool:
    if leaf not in latest:
        return False
    start, end = story.pass_step.get(latest[leaf].id, 0), story.pass_step.get(now.id, 0)
    return any(start < step < end for step in stepped.get(leaf, ()))


def _added(story: Story, now: Pass, before: Pass, leaves: list[str], *, is_mistake: bool) -> Finding:
    return Finding(
        code="step_without_zero_grad" if is_mistake else "gradient_added_up",
        severity="warning" if is_mistake else "note",
        span=now.span,
        tensors=tuple(leaves),
        parameters={
            "names": story.say_all(leaves),
            "line": line(now.span),
            "first_line": line(before.span),
            "count": str(sum(1 for one in story.trace.passes if any(a.tensor == leaves[0] for a in one.accumulations))),
        },
    )
