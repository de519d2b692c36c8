"""All families of findings, asked in turn."""

import logging

from msgspec.structs import replace

from engine.findings import (
    attention_masks,
    axes,
    batch_axis,
    batches,
    class_axis,
    cut_gradients,
    devices,
    errors,
    evaluation,
    flat,
    gradient_flow,
    graphs_kept,
    indices,
    learning_rate,
    leaves,
    loss_arguments,
    losses,
    modes,
    no_effect,
    nonfinite,
    opponents,
    optimizers,
    plain_containers,
    recurrent,
    reported,
    saved_values,
    scales,
    shared_data,
    terms,
    tokens,
    training_loop,
    unheld,
    uphill,
    value_learning,
    values,
)
from engine.findings.diagnosis import UNKNOWN, Diagnosis, Family, line
from engine.findings.experiments import with_experiments
from engine.findings.failing import stopped
from engine.findings.telling import in_order
from engine.trace import Finding, Trace
from engine.trace_index import TraceIndex

FAMILIES: tuple[Family, ...] = (
    errors.errors,
    stopped.unfinished,
    stopped.ended,
    cut_gradients.cut_gradients,
    cut_gradients.unused_parameters,
    cut_gradients.results_overwritten,
    saved_values.data_edits,
    training_loop.gradients_added_up,
    loss_arguments.losses_given_something_else,
    nonfinite.first_nonfinite,
    leaves.gradients_not_kept,
    leaves.untracked_gradients,
    leaves.leaves_rebound,
    leaves.parameters_made_in_forward,
    plain_containers.modules_in_plain_containers,
    training_loop.idle_steps,
    optimizers.left_out_of_optimizers,
    optimizers.models_without_optimizer,
    optimizers.fed_and_never_moved,
    optimizers.embeddings_frozen,
    training_loop.never_stepped,
    training_loop.methods_not_called,
    training_loop.stepped_outside_the_loop,
    training_loop.backward_after_the_loop,
    training_loop.scaled_and_stepped,
    training_loop.losses_of_one_graph,
    learning_rate.scheduler_before_step,
    optimizers.parameters_used_up,
    optimizers.frozen_and_moved,
    optimizers.options_in_the_wrong_place,
    optimizers.keys_without_effect,
    optimizers.settings_without_effect,
    modes.frozen_norms_that_drift,
    modes.norms_that_never_learned,
    modes.trained_in_eval,
    modes.evaluated_in_train,
    modes.evaluated_with_grad,
    modes.switches_without_with,
    losses.losses_broadcast,
    losses.losses_of_the_wrong_kind,
    losses.softmax_without_dim,
    losses.weights_after_the_mean,
    class_axis.softmax_over_batch,
    class_axis.choices_over_batch,
    indices.added_once,
    indices.picked_for_all,
    indices.places_for_values,
    axes.views_for_permutes,
    axes.batch_taken_for_time,
    axes.weights_along_the_wrong_axis,
    axes.compared_along_another_axis,
    batch_axis.samples_mixed,
    recurrent.states_lost,
    recurrent.padding_read_last,
    class_axis.one_class_alone,
    flat.compared_with_themselves,
    flat.flattened,
    shared_data.one_tensor_many_times,
    shared_data.changed_by_reading,
    shared_data.drawn_again,
    tokens.inputs_as_targets,
    tokens.answers_seen,
    tokens.padding_of_lookup_scored,
    shared_data.inputs_all_alike,
    shared_data.rows_matched_with_themselves,
    shared_data.one_tensor_with_two_names,
    batches.first_batch_again,
    value_learning.targets_that_learn,
    value_learning.advantages_that_learn,
    batches.shuffled_apart,
    batches.loaders_shuffled_apart,
    training_loop.zeroed_in_every_part,
    training_loop.passes_thrown_away,
    learning_rate.scheduled_per_batch,
    terms.terms_without_gradient,
    terms.masks_at_the_wrong_moment,
    attention_masks.past_hidden,
    attention_masks.words_hidden,
    terms.samples_without_gradient,
    terms.targets_out_of_reach,
    terms.backward_ignores_gradient,
    terms.variances_taken_for_deviations,
    terms.noise_of_all_samples,
    terms.noise_of_another_draw,
    terms.penalties_that_drown_the_loss,
    terms.overlaps_made_small,
    terms.backward_does_not_fit,
    evaluation.scores_compared_with_classes,
    evaluation.totals_never_reset,
    evaluation.records_never_kept,
    evaluation.schedules_of_the_wrong_end,
    reported.averages_of_the_wrong_count,
    scales.inputs_of_another_size,
    scales.targets_in_other_units,
    no_effect.arguments_never_used,
    no_effect.never_used,
    loss_arguments.scores_cut_at_half,
    unheld.layers_made_in_forward,
    unheld.layers_repeated,
    unheld.tied_by_copy,
    unheld.names_of_one_memory,
    unheld.nothing_loaded,
    learning_rate.steps_of_zero,
    learning_rate.steps_too_long,
    learning_rate.weights_decayed_away,
    learning_rate.steps_too_short,
    learning_rate.losses_summed,
    uphill.uphill,
    uphill.terms_without_floor,
    opponents.opponents_helped,
    values.values_cut,
    values.axes_left_as_they_are,
    values.uninitialised_reads,
    values.uninitialised_prints,
    devices.tests_without_call,
    devices.visible_devices,
    graphs_kept.losses_kept,
    graphs_kept.totals_kept,
    no_effect.results_dropped,
    no_effect.flags_without_effect,
    no_effect.clipped_at_the_wrong_time,
    no_effect.copied_onto_themselves,
    optimizers.optimizers_made_anew,
    unheld.leaves_not_listed,
    no_effect.updates_lost,
    no_effect.dropouts_ignoring_eval,
    gradient_flow.gradients_over_depth,
    gradient_flow.dead_relus,
    gradient_flow.saturated_units,
    gradient_flow.symmetric_units,
    gradient_flow.flat_ops,
    gradient_flow.layers_that_are_one,
)
MOST_QUOTED = 160
"""Characters of one thing that a sentence names."""
SIGNS = {
    **{"add": "+", "sub": "-", "rsub": "-", "neg": "-", "mul": "*", "div": "/", "rdiv": "/", "pow": "**", "rpow": "**"},
    **{"floor_divide": "//", "remainder": "%", "matmul": "@", "getitem": "[...]", "setitem": "[...]"},
    **{"add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/=", "pow_": "**="},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
"""How ops are written that have a sign in Python."""
_log = logging.getLogger(__name__)
EXPLAIN_FAILURES: frozenset[Family] = frozenset(
    (
        errors.errors,
        cut_gradients.cut_gradients,
    )
)
"""Whose errors tell why the program failed; those of the others stood in it as well."""


def find(trace: Trace, known: TraceIndex | None = None) -> tuple[Finding, ...]:
    """Every diagnosis, the gravest first, each with what follows from it; `known` is as `TraceIndex` has it."""
    if not trace.ops and trace.failure is None and trace.status != "ok":
        return ()
    diagnosis = Diagnosis(trace, known)
    found = [(family, finding) for family in FAMILIES for finding in _asked(family, diagnosis)]
    if not any(family in EXPLAIN_FAILURES and finding.severity == "error" for family, finding in found):
        found += [(errors.errors, finding) for finding in _asked(stopped.stopped, diagnosis)]
    explaining = [finding for family, finding in found if family in EXPLAIN_FAILURES]
    others = [finding for family, finding in found if family not in EXPLAIN_FAILURES]
    return with_experiments(diagnosis, in_order(diagnosis, explaining, others))


def _asked(family: Family, diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What one family finds and has all the words for, of each line the first; a bug in it, or a program too deep for
    it, costs no more than its findings."""
    told: dict[tuple[str, str], Finding] = {}
    try:
        for finding in family(diagnosis):
            if UNKNOWN not in finding.parameters.values():
                told.setdefault((finding.code, line(finding.span)), _quoted(diagnosis, finding))
    except Exception:
        _log.exception("%s failed on run %s", family.__name__, diagnosis.trace.id)
        return ()
    return tuple(told.values())


def _quoted(diagnosis: Diagnosis, finding: Finding) -> Finding:
    """The finding with an op called as the program writes it, `*` and not `mul`, and with what its sentences quote cut
    short: the name of a class may have any length."""
    said = {name: _cut(text) for name, text in finding.parameters.items()}
    op = said.get("op", "")
    if op in SIGNS and f"{op}(" not in diagnosis.trace.program.code:
        said["op"] = SIGNS[op]
    return finding if said == finding.parameters else replace(finding, parameters=said)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 1] + "…"
