"""All families of findings, asked in turn."""

import logging
from collections.abc import Callable, Iterable

from engine.findings.accumulation import gradients_added_up
from engine.findings.class_axis import argmax_over_batch, classes_on_the_last_axis, softmax_over_batch
from engine.findings.cut_gradients import cut_gradients, unused_parameters
from engine.findings.devices import tests_without_call, visible_devices
from engine.findings.diagnosis import Diagnosis
from engine.findings.errors import errors
from engine.findings.failed_passes import failed_passes
from engine.findings.gradient_flow import (
    dead_relus,
    flat_ops,
    gradients_over_depth,
    saturated_units,
    symmetric_units,
)
from engine.findings.graphs_kept import graphs_of_gradients, graphs_retained, losses_kept, totals_kept
from engine.findings.leaves import (
    compared_too_early,
    gradients_not_kept,
    leaves_rebound,
    modules_in_plain_containers,
    parameters_made_in_forward,
    untracked_gradients,
)
from engine.findings.losses import (
    comparisons_broadcast,
    differences_broadcast,
    losses_broadcast,
    losses_of_the_wrong_kind,
    softmax_without_dim,
)
from engine.findings.made_anew import models_made_anew, optimizers_made_anew
from engine.findings.modes import (
    evaluated_in_train,
    evaluated_with_grad,
    never_in_train_mode,
    switches_without_with,
    trained_in_eval,
)
from engine.findings.no_effect import (
    clipped_at_the_wrong_time,
    dropouts_ignoring_eval,
    flags_without_effect,
    results_dropped,
    states_shared,
    tensors_not_parameters,
    updates_lost,
)
from engine.findings.nonfinite import first_nonfinite
from engine.findings.recurrent import last_of_the_pair
from engine.findings.saved_values import data_edits
from engine.findings.starved_leaves import lost_influence
from engine.findings.training_loop import (
    frozen_and_stepped,
    idle_steps,
    left_out_of_optimizers,
    methods_not_called,
    models_without_optimizer,
    never_stepped,
    scheduler_before_step,
)
from engine.findings.unrecorded import losses_made_anew, unrecorded
from engine.findings.uphill import steps_of_zero, uphill
from engine.findings.values import promoted, squeezes_without_effect, uninitialised_reads, values_cut
from engine.trace import Finding, Trace
from engine.trace_index import TraceIndex

FAMILIES: tuple[Callable[[Diagnosis], Iterable[Finding]], ...] = (
    errors,
    failed_passes,
    cut_gradients,
    unused_parameters,
    data_edits,
    gradients_added_up,
    lost_influence,
    unrecorded,
    losses_made_anew,
    first_nonfinite,
    gradients_not_kept,
    untracked_gradients,
    leaves_rebound,
    compared_too_early,
    parameters_made_in_forward,
    modules_in_plain_containers,
    idle_steps,
    left_out_of_optimizers,
    models_without_optimizer,
    never_stepped,
    methods_not_called,
    scheduler_before_step,
    frozen_and_stepped,
    trained_in_eval,
    never_in_train_mode,
    evaluated_in_train,
    evaluated_with_grad,
    switches_without_with,
    losses_broadcast,
    differences_broadcast,
    comparisons_broadcast,
    losses_of_the_wrong_kind,
    softmax_without_dim,
    softmax_over_batch,
    argmax_over_batch,
    classes_on_the_last_axis,
    last_of_the_pair,
    steps_of_zero,
    uphill,
    values_cut,
    promoted,
    squeezes_without_effect,
    uninitialised_reads,
    tests_without_call,
    visible_devices,
    losses_kept,
    totals_kept,
    graphs_retained,
    graphs_of_gradients,
    results_dropped,
    flags_without_effect,
    clipped_at_the_wrong_time,
    states_shared,
    models_made_anew,
    optimizers_made_anew,
    tensors_not_parameters,
    updates_lost,
    dropouts_ignoring_eval,
    gradients_over_depth,
    dead_relus,
    saturated_units,
    symmetric_units,
    flat_ops,
)
_log = logging.getLogger(__name__)
_RANK = {"error": 0, "warning": 1, "note": 2}


def find(trace: Trace, known: TraceIndex | None = None) -> tuple[Finding, ...]:
    """Every diagnosis, the gravest first, then by line; `known` is as `TraceIndex` has it."""
    if not trace.ops and trace.failure is None and trace.status != "ok":
        return ()
    diagnosis = Diagnosis(trace, known)
    found = [finding for family in FAMILIES for finding in _asked(family, diagnosis)]
    return tuple(sorted(found, key=lambda one: (_RANK[one.severity], one.span.line if one.span is not None else 0)))


def _asked(family: Callable[[Diagnosis], Iterable[Finding]], diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What one family finds; a bug in it, or a program too deep for it, costs no more than its findings."""
    try:
        return tuple(family(diagnosis))
    except Exception:
        _log.exception("%s failed on run %s", family.__name__, diagnosis.trace.id)
        return ()
