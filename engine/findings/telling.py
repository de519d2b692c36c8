"""How diagnoses are told: the gravest first, what follows from another under it, and what is not proven as a
possibility."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from engine.findings.diagnosis import Diagnosis
from engine.trace import Finding

RANK = {"error": 0, "warning": 1, "note": 2}
CUTS = (
    *("cut_", "leaf_", "asked_too_late", "recording_switched_off", "rebound_without_graph", "parameters_frozen"),
    *("graph_lost", "checkpoint_without_gradient"),
)
"""How codes begin that say why leaves get no gradient."""
_THROWN_OFF = tuple("diverged grows_without_end uphill steps_too_long step_without_zero_grad clip_after_step".split())
CAUSES = {
    "step_moves_nothing": (*CUTS, "zero_grad_before_step", "not_in_optimizer"),
    "optimizer_of_old_model": ("optimizer_holds_others",),
    "ends_in_new_leaf": CUTS,
    "cut_by_integer": ("taken_straight_through",),
    "view_for_permute": ("batch_cut_anew", "batch_flattened"),
    "not_in_optimizer": ("parameter_made_in_forward", "optimizer_holds_others", "ends_in_new_leaf"),
    "samples_share": ("softmax_over_batch", "weights_along_the_wrong_axis"),
    "step_without_backward": ("zero_grad_before_step",),
    "gradient_left_by_another": ("step_without_zero_grad",),
    "step_without_zero_grad": ("trained_while_evaluating", "trained_in_eval", "method_not_called"),
    "backward_without_step": ("method_not_called", "step_never_reached"),
    "difference_broadcast": ("result_dropped",),
    "comparison_broadcast": ("result_dropped",),
    "loss_broadcast": ("result_dropped",),
    "answer_seen": ("masked_by_zero_scores",),
    "softmax_of_masked_row": ("past_hidden",),
    "term_without_gradient": CUTS,
    "first_nan_forward": ("uninitialised_read", "past_hidden", "kl_"),
    "first_inf_forward": ("uninitialised_read", "clip_after_step"),
    "dead_relu": _THROWN_OFF,
    "saturated": _THROWN_OFF,
    "zeros_hold_each_other": ("dead_relu",),
    "gradient_added_up": (
        *("loss_computed_once", "gradient_left_by_another", "not_in_optimizer", "optimizer_", "leaf_rebound"),
        "modules_in_plain_list",
    ),
    "gradient_": ("scaled_and_stepped", "diverged", "nan_in_data", "steps_too_long"),
    "grows_": ("scaled_and_stepped", "uphill", "closure_adds_up", "step_without_zero_grad", "steps_too_long"),
    "diverged": (
        *("scaled_and_stepped", "closure_adds_up", "step_without_zero_grad"),
        *("changed_by_reading", "steps_too_long", "clip_after_step", "generator_looped_twice"),
    ),
    "steps_too_long": (
        *("scaled_and_stepped", "changed_by_reading", "uphill", "maximize_of"),
        *("loss_negated", "closure_adds_up", "step_without_zero_grad"),
    ),
    "targets_too_far": ("steps_too_short", "scheduled_", "loss_broadcast"),
    "fed_and_never_moved": ("modules_in_plain_list",),
    "grad_of_non_leaf": ("grad_none_non_leaf",),
    "grad_none_non_leaf": ("leaf_rebound", "leaf_made_non_leaf"),
    "root_at_zero": ("anomaly_nan",),
    "evaluated_in_train": ("method_not_called",),
    "evaluated_with_grad": ("trained_while_evaluating", "trained_in_eval"),
}
"""How codes begin, and how those of what they come of, where both are about the same."""
OF_ALL = (
    "scaled_and_stepped",
    "scheduled_per_batch",
    "generator_looped_twice",
    "changed_by_reading",
    "clip_after_step",
    "diverged",
    "steps_too_long",
    "steps_too_short",
)
"""Codes of what concerns all that a training computes."""

SAID_BETTER = {
    "samples_share": "softmax_over_batch",
    "one_class_softmax": "weights_along_the_wrong_axis",
    "optimizer_made_anew": "layer_repeated",
}
"""Codes that say less than others of the same tensors do."""

POSSIBLE = frozenset(
    "model_without_optimizer trained_while_evaluating evaluated_in_train target_learns"
    " shuffled_alone shuffled_by_numpy layers_are_one best_for_done".split()
)
"""Codes of what may be meant, or may come of something else; their sentences say so."""


def in_order(
    diagnosis: Diagnosis, explaining: Sequence[Finding], others: Sequence[Finding] = ()
) -> tuple[Finding, ...]:
    """The gravest cause first, among them what explains the failure, then by line; under each what follows from it, and
    as grave as that."""
    found = _once([*explaining, *others])
    above = {at: cause for at in range(len(found)) if (cause := _cause(diagnosis, found, at)) is not None}
    tops = [at for at in range(len(found)) if at not in above]
    below = {top: [at for at in above if _top(above, at) == top] for top in tops}

    def rank(at: int) -> tuple[int, bool, int]:
        span = found[at].span
        return RANK[found[at].severity], at >= len(explaining), span.line if span is not None else 0

    grave = {top: min((rank(at)[0], found[at].severity) for at in (top, *below[top]))[1] for top in tops}
    ordered: list[Finding] = []
    for top in sorted(tops, key=lambda top: (RANK[grave[top]], *rank(top)[1:])):
        main = len(ordered)
        ordered.append(replace(found[top], severity=grave[top]))
        ordered += [replace(found[at], follows=main) for at in sorted(below[top], key=rank)]
    return tuple(replace(told, certainty="possible") if told.code in POSSIBLE else told for told in ordered)


def _once(found: list[Finding]) -> list[Finding]:
    """Without those that another says better."""
    told = {(finding.code, finding.tensors) for finding in found}
    return [finding for finding in found if (SAID_BETTER.get(finding.code, ""), finding.tensors) not in told]


def _top(above: dict[int, int], at: int) -> int:
    while at in above:
        at = above[at]
    return at


def _cause(diagnosis: Diagnosis, found: Sequence[Finding], at: int) -> int | None:
    """The first finding that one comes of."""
    finding = found[at]
    prefixes = next((causes for code, causes in CAUSES.items() if finding.code.startswith(code)), ("\0",))
    for other, cause in enumerate(found):
        is_cause = cause.code.startswith(prefixes) and (cause.code in OF_ALL or _is_of_one(diagnosis, finding, cause))
        if other != at and is_cause:
            return other
    return None


def _is_of_one(diagnosis: Diagnosis, one: Finding, other: Finding) -> bool:
    """Whether two findings are about the same: they share a tensor or an optimizer, or one stands on a line that the
    other names; where one is about no tensors, their sentences name a variable in common."""
    if (
        _share_tensors(diagnosis, one, other)
        or {*_lines(one)[:1]} & {*_lines(other)}
        or {*_lines(other)[:1]} & {*_lines(one)}
    ):
        return True
    if (of := _optimizer(one)) is not None and of == _optimizer(other):
        return True
    return not (one.tensors and other.tensors) and not _names(diagnosis, one).isdisjoint(_names(diagnosis, other))


def _optimizer(finding: Finding) -> tuple[str, str] | None:
    """The optimizer that it is about, by name and the line that made it."""
    said = finding.parameters
    return (said["optimizer"], said["made_line"]) if said.keys() >= {"optimizer", "made_line"} else None


def _share_tensors(diagnosis: Diagnosis, one: Finding, other: Finding) -> bool:
    return not {*map(diagnosis.identity, one.tensors)}.isdisjoint(map(diagnosis.identity, other.tensors))


def _lines(finding: Finding) -> list[str]:
    """The line that it stands on, and then those that its sentences name."""
    named = [said for name, said in finding.parameters.items() if name.endswith("_line")]
    return [str(finding.span.line), *named] if finding.span is not None else []


def _names(diagnosis: Diagnosis, finding: Finding) -> set[str]:
    """The program's own names in what its sentences say."""
    names = {name for said in finding.parameters.values() for name in re.findall(r"[^\W\d]\w*", said)}
    return {name for name in names if diagnosis.code.is_bound(name) and name not in diagnosis.code.imported}
