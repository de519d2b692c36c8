"""Ops that are like earlier ones at their place: found by their plan, and told in one event.

This is run for each op of a long loop, so it asks as little as it can and touches nothing but plain attributes.
"""

import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

import torch

from engine.events import Again, AgainBrief, Data, Picture
from engine.worker.capture.lifetimes import Lifetimes
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.tensor_facts import TensorFacts, look, spoken
from engine.worker.capture.tensor_state import State
from engine.worker.compact.patterns import Plan

_Tensor = torch.Tensor


class PlannedOps:
    """The plans of one run, by place."""

    def __init__(self, recorder: Recorder) -> None:
        self._counts = recorder.counts
        self._lifetimes: Lifetimes = recorder.lifetimes
        self._outbox = recorder.outbox
        self._sites = recorder.sites
        self._storages = recorder.storages
        self._tensors = recorder.tensors
        self._states = recorder.tensors.states
        self._nodes = recorder.nodes
        self._forms = recorder.forms
        self._saved_hooks = recorder.saved_hooks
        self.plans: dict[int, Plan] = {}

    def find(self, func: Callable[..., Any], args: tuple[Any, ...], frame: FrameType) -> tuple[Plan, list[int]] | None:
        """The plan of a call, with records and versions of its tensors in turn; None when none fits."""
        code = frame.f_code
        plan = self.plans.get(id(code) + frame.f_lasti)
        inputs: list[int] | None = None
        while plan is not None:
            if plan.func is func and plan.code is code and plan.count == len(args):
                inputs = self._inputs(plan, args)
                if inputs is not None:
                    break
            plan = plan.other
        counts = self._counts
        if (
            plan is None or inputs is None or plan.passes or self._saved_hooks.in_force
            or counts.ops >= counts.attention or counts.nodes >= counts.nodes_to_spare
            or (plan.twice is not None and plan.twice is not (args[plan.tensors[0][0]] is args[plan.tensors[1][0]]))
        ):  # fmt: skip
            return None
        return plan, inputs

    def _inputs(self, plan: Plan, args: tuple[Any, ...]) -> list[int] | None:
        """Records and versions of the tensors among the arguments; None when they are not such as the plan is for."""
        states = self._states
        inputs: list[int] = []
        for place, form in plan.tensors:
            tensor: torch.Tensor = args[place]
            state = states.get(id(tensor))
            if state is None or tensor is not state.ref():
                return None
            if state.form is not form and (state.form is not None or self._forms.of(tensor, state) is not form):
                return None
            if state.version != tensor._version:
                return None
            inputs += (state.id, state.version)
        for place, constant in plan.constants:
            if args[place] is not constant:
                return None
        return inputs

    def tell(
        self, plan: Plan, inputs: list[int], args: tuple[Any, ...], result: Any, since: int, time_ns: int,
        frame: FrameType,
    ) -> bool:  # fmt: skip
        """Tells of an op that has run; False when it did something else than the plan says."""
        node = result.grad_fn if type(result) is _Tensor and result.dtype is plan.dtype else None
        if node is None or type(node) is not plan.node_type or node._sequence_nr() != since:
            return False
        first = self._states[id(args[plan.tensors[0][0]])]
        if first.node and plan.no_more is not None:
            edges: tuple[int, ...] | None = (first.node, *plan.no_more)
        else:
            edges = plan.edges(args, node, self._states, self._nodes)
        read = plan.number
        seen = look(result, False, first.look) if read is None else _number(plan, read, result)
        if edges is None or seen.shape != plan.shape or not (seen.rest is None or seen.rest.is_plain):
            return False
        op, number, node_number = self._counts.new_planned()
        self._nodes.enter(node, node_number, since, edges)
        state = State(self._lifetimes.reference(result, number), number, number, "result", seen, 0, True, node_number)
        state.form = plan.form
        storage = self._storages.start(state)
        if plan.keeps:
            storage.kept = weakref.ref(result.untyped_storage())
        if len(self._states) >= self._tensors.next_purge:
            self._tensors.purge()
        self._states[id(result)] = state
        site = plan.site or self._sites.of(frame)
        module = plan.modules[-1] if plan.modules else 0
        gone = self._lifetimes.take() if self._lifetimes.dead else ()
        said = (
            plan.id,
            op,
            number,
            node_number,
            since,
            tuple(inputs),
            edges,
            seen.data,
            storage.id,
            site,
            module,
            time_ns,
            gone,
        )
        rest = seen.rest
        if rest is None:
            self._outbox.put(AgainBrief(*said))
        else:
            self._outbox.put(Again(*said, rest.summary, cast(Picture | None, rest.thumbnail)))
        return True


def _number(plan: Plan, read: Callable[[int], Any], result: torch.Tensor) -> TensorFacts:
    """What the only element of a result looks like."""
    address = result.data_ptr()
    value = read(address).value
    data: Data = (value,) if value - value == 0 else (spoken(value),)
    return TensorFacts(plan.shape, plan.dtype_name, address, plan.size_bytes, data)


__name__ = "__main__"
__warningregistry__ = None
