"""All families of findings, asked in turn."""

import logging

from engine.findings import (
    accumulation,
    class_axis,
    cut_gradients,
    devices,
    errors,
    failed_passes,
    gradient_flow,
    graphs_kept,
    learning_rate,
    leaves,
    losses,
    made_anew,
    modes,
    no_effect,
    nonfinite,
    optimizer_parameters,
    plain_containers,
    recurrent,
    saved_values,
    starved_leaves,
    training_loop,
    unrecorded,
    uphill,
    values,
)
from engine.findings.diagnosis import Diagnosis, Family
from engine.findings.telling import in_order
from engine.trace import Finding, Trace
from engine.trace_index import TraceIndex

FAMILIES: tuple[Family, ...] = (
    errors.errors,
    failed_passes.failed_passes,
    cut_gradients.cut_gradients,
    cut_gradients.unused_parameters,
    saved_values.data_edits,
    accumulation.gradients_added_up,
    starved_leaves.lost_influence,
    unrecorded.unrecorded,
    unrecorded.losses_made_anew,
    nonfinite.first_nonfinite,
    leaves.gradients_not_kept,
    leaves.untracked_gradients,
    leaves.leaves_rebound,
    leaves.parameters_made_in_forward,
    plain_containers.modules_in_plain_containers,
    training_loop.idle_steps,
    optimizer_parameters.left_out_of_optimizers,
    optimizer_parameters.models_without_optimizer,
    training_loop.never_stepped,
    training_loop.methods_not_called,
    learning_rate.scheduler_before_step,
    optimizer_parameters.frozen_but_moved,
    modes.trained_in_eval,
    modes.never_in_train_mode,
    modes.evaluated_in_train,
    modes.evaluated_with_grad,
    modes.switches_without_with,
    losses.losses_broadcast,
    losses.differences_broadcast,
    losses.comparisons_broadcast,
    losses.losses_of_the_wrong_kind,
    losses.softmax_without_dim,
    class_axis.softmax_over_batch,
    class_axis.argmax_over_batch,
    class_axis.classes_on_the_last_axis,
    recurrent.last_of_the_pair,
    learning_rate.steps_of_zero,
    uphill.uphill,
    values.values_cut,
    values.squeezes_without_effect,
    values.uninitialised_reads,
    devices.tests_without_call,
    devices.visible_devices,
    graphs_kept.losses_kept,
    graphs_kept.totals_kept,
    graphs_kept.graphs_retained,
    graphs_kept.graphs_of_gradients,
    no_effect.results_dropped,
    no_effect.flags_without_effect,
    no_effect.clipped_at_the_wrong_time,
    no_effect.states_shared,
    made_anew.models_made_anew,
    made_anew.optimizers_made_anew,
    no_effect.tensors_not_parameters,
    no_effect.updates_lost,
    no_effect.dropouts_ignoring_eval,
    gradient_flow.gradients_over_depth,
    gradient_flow.dead_relus,
    gradient_flow.saturated_units,
    gradient_flow.symmetric_units,
    gradient_flow.flat_ops,
)
_log = logging.getLogger(__name__)


def find(trace: Trace, known: TraceIndex | None = None) -> tuple[Finding, ...]:
    """Every diagnosis, the gravest first, each with what follows from it; `known` is as `TraceIndex` has it."""
    if not trace.ops and trace.failure is None and trace.status != "ok":
        return ()
    diagnosis = Diagnosis(trace, known)
    return in_order(diagnosis, [finding for family in FAMILIES for finding in _asked(family, diagnosis)])


def _asked(family: Family, diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What one family finds; a bug in it, or a program too deep for it, costs no more than its findings."""
    try:
        return tuple(family(diagnosis))
    except Exception:
        _log.exception("%s failed on run %s", family.__name__, diagnosis.trace.id)
        return ()
