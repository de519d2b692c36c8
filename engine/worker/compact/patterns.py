"""Ops that a loop does again: what one turn has in common with the next is worked out and said once.

A `Plan` is made of the rows of an op that was recorded in full, when its function always gives a new tensor, and every
edge and saved value of its one node is an argument, the result or a text. It holds for calls from the same place whose
arguments have the same forms; that the call made exactly one node, of the same kind, is asked each time.
"""

from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

import torch

from engine.events import MISSING, OF_RESULT, OF_TEXT, NodeBrief, OpRan, Pattern, Said
from engine.worker.capture.nodes import Nodes
from engine.worker.capture.op_names import Called
from engine.worker.capture.tensor_facts import FLOATS
from engine.worker.capture.tensor_state import Form, State, Taken

MOST = 4
"""Ops of one place that are looked at: more kinds of arguments, or none that a plan can be made for, are not worth
it."""

_CONSTANTS = frozenset((int, float, bool, type(None), str))
_PLAIN = (torch.Tensor, torch.nn.Parameter)


ODD = Form((), torch.bool, -1)
"""Of tensors that no plan is made for."""


class Forms:
    """All forms met."""

    def __init__(self) -> None:
        self.known: dict[tuple[tuple[int, ...], torch.dtype, int], Form] = {}

    def of(self, tensor: torch.Tensor, state: State) -> Form:
        """The form of a tensor whose state is as recorded; `ODD` for one that does not lie in memory in the plainest
        way."""
        form = state.form = self._of(tensor, state)
        return form

    def _of(self, tensor: torch.Tensor, state: State) -> Form:
        rest = state.look.rest
        if (rest is not None and not rest.is_plain) or not state.look.address:
            return ODD
        if (
            type(tensor) not in _PLAIN
            or tensor.is_inference()
            or state.watched
            or tensor._is_view()
            or tensor.output_nr
        ):
            return ODD
        key = state.look.shape, tensor.dtype, 0 if not state.requires_grad else 1 if state.node else 2
        form = self.known.get(key)
        if form is None:
            form = self.known[key] = Form(*key)
        return form


class Plan:
    """How an op of one place is recorded when its arguments are like those of an earlier call."""

    __slots__ = (
        "called", "code", "constants", "count", "dtype", "dtype_name", "form", "func", "id", "keeps", "modules",
        "no_more", "node_type", "number", "other", "passes", "shape", "site", "size_bytes", "slots", "tensors",
        "twice", "words",
    )  # fmt: skip

    id: int
    func: Any
    code: CodeType
    called: Called
    site: int
    """0 when the place is asked for each time."""
    passes: list[int]
    modules: list[int]
    """Of the program's only thread."""
    count: int
    """Arguments."""
    tensors: tuple[tuple[int, Form], ...]
    constants: tuple[tuple[int, object], ...]
    twice: bool | None
    """Of two tensors: whether they are one and the same."""
    words: tuple[int | str, ...]
    """As `Pattern.words`."""
    node_type: type
    keeps: bool
    """The node keeps the result."""
    slots: tuple[int, ...]
    """As `Pattern.slots`."""
    no_more: tuple[int, ...] | None
    """What follows on the number of the only node that is led to, when it is the first edge's."""
    form: Form
    """Of the result."""
    shape: tuple[int, ...]
    dtype: torch.dtype
    dtype_name: str
    size_bytes: int
    number: Callable[[int], Any] | None
    """Reads the only element."""
    other: "Plan | None"
    """For other arguments at the same place."""

    def filled(self, inputs: Sequence[int]) -> tuple[int | str, ...]:
        """The words for arguments with these records and versions."""
        return tuple([word if isinstance(word, str) else inputs[2 * word] for word in self.words])

    def taken(self, args: tuple[Any, ...], inputs: Sequence[int], states: Mapping[int, State]) -> Taken:
        """The tensors among the arguments as `Recording` has them."""
        tensors = [args[place] for place, _ in self.tensors]
        return [
            (tensor, states[id(tensor)], inputs[2 * index], inputs[2 * index + 1])
            for index, tensor in enumerate(tensors)
        ]

    def edges(
        self, args: tuple[Any, ...], node: Any, states: Mapping[int, State], nodes: Nodes
    ) -> tuple[int, ...] | None:
        """The edges of a node made of these arguments; None when one leads where nothing was seen."""
        edges: list[int] = []
        for slot, place in enumerate(self.slots):
            target = 0
            if place >= 0:
                state = states[id(args[self.tensors[place][0]])]
                target = state.node or nodes.sinks.get(state.first, 0)
                if not target:
                    return None
                if not state.node and nodes.hook is not None:
                    node.next_functions[slot][0].register_hook(nodes.hook)  # PyTorch may have made it anew
            edges += (target, 0)
        return tuple(edges)


def plan_of(
    number: int, args: tuple[Any, ...], taken: Taken, said: Sequence[Said], made: State,
    result: torch.Tensor, nodes: Nodes, forms: Forms,
) -> tuple[Plan, Pattern] | None:  # fmt: skip
    """The plan for calls like one that these events tell of, and the event that announces it; None when they do not
    follow from the arguments."""
    if len(said) != 3 or len(taken) > 2 or made.version:
        return None
    node, _, op = said
    form = forms.of(result, made)
    if type(node) is not NodeBrief or not isinstance(op, OpRan) or form is ODD:
        return None
    plan = Plan()
    plan.id = number
    kinds = _kinds(plan, args, taken, forms)
    slots = _slots(node.edges, taken, nodes)
    saved = _saved(node.saved, taken, made)
    if not kinds or slots is None or saved is None:
        return None
    plan.slots = slots
    plan.keeps = any(source == OF_RESULT for _, source, _, _ in saved)
    alone = len(taken) == 1 and slots[:1] == (0,) and all(slot == MISSING for slot in slots[1:])
    plan.no_more = (0,) * (2 * len(slots) - 1) if alone else None
    plan.node_type = type(result.grad_fn)
    plan.form, plan.shape, plan.size_bytes = form, made.look.shape, made.look.size_bytes
    plan.dtype, plan.dtype_name = result.dtype, made.look.dtype
    plan.number = FLOATS[result.dtype][2] if result.dtype in FLOATS and result.numel() == 1 else None
    plan.other = None
    return plan, Pattern(
        number,
        op.function,
        plan.words,
        node.type,
        slots,
        node.outputs,
        saved,
        plan.shape,
        plan.dtype_name,
        plan.size_bytes,
    )


def _kinds(plan: Plan, args: tuple[Any, ...], taken: Taken, forms: Forms) -> bool:
    """Sorts the arguments into tensors and constants."""
    tensors: list[tuple[int, Form]] = []
    constants: list[tuple[int, object]] = []
    words: list[int | str] = []
    for place, arg in enumerate(args):
        if isinstance(arg, torch.Tensor):
            tensor, state, _, _ = taken[len(tensors)]
            form = forms.of(tensor, state)
            if tensor is not arg or form is ODD:
                return False
            words.append(len(tensors))
            tensors.append((place, form))
        elif type(arg) in _CONSTANTS and not (type(arg) is str and len(arg) >= 60):
            constants.append((place, arg))
            words.append(repr(arg))
        else:
            return False
    plan.count, plan.tensors, plan.constants, plan.words = len(args), tuple(tensors), tuple(constants), tuple(words)
    plan.twice = None if len(taken) < 2 else taken[0][0] is taken[1][0]
    return bool(tensors)


def _slots(edges: tuple[int, ...], taken: Taken, nodes: Nodes) -> tuple[int, ...] | None:
    """Which argument each edge of the node leads to; None when that cannot be told."""
    slots: list[int] = []
    for slot in range(0, len(edges), 2):
        target = edges[slot]
        if not target:
            slots.append(MISSING)
            continue
        owners = {
            id(tensor): place for place, (tensor, state, _, _) in reversed(list(enumerate(taken)))
            if state.requires_grad and target == (state.node or nodes.sinks.get(state.first))
        }  # fmt: skip
        if len(owners) != 1 or edges[slot + 1]:
            return None
        slots.append(*owners.values())
    return tuple(slots)


def _saved(
    rows: Sequence[tuple[str, int, int, str, int, str]], taken: Taken, made: State
) -> tuple[tuple[str, int, str, int], ...] | None:
    """Where each saved value comes from; None when that cannot be told."""
    saved: list[tuple[str, int, str, int]] = []
    for field, number, version, text, size_bytes, reason in rows:
        source = OF_TEXT
        if reason:
            return None
        if number == made.id:
            if version != 0:
                return None
            source = OF_RESULT
        elif number:
            places = [place for place, (_, _, record, was) in enumerate(taken) if (record, was) == (number, version)]
            if not places:
                return None
            source = places[0]
        elif version != -1:
            return None
        saved.append((field, source, text, size_bytes))
    return tuple(saved)
