"""Two numbers of a call of the engine that is left out: its loss, and the norm of what reaches the leaves."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from engine.events import Data, Figures
from engine.worker.capture.tensor_facts import dtype_kind_of, look, small_data
from engine.worker.pytorch.modes import unseen

Node: TypeAlias = Any  # PyTorch's nodes have no static type


def norm_of(data: Data | None, summary: Figures | None) -> float:
    """The norm of what was seen of a tensor."""
    if data is not None:
        return math.sqrt(sum(float(value) ** 2 for value in data))
    return math.nan if summary is None else float(summary[4])


def norm(tensor: torch.Tensor) -> float:
    """The norm of a tensor."""
    seen = look(tensor)
    return norm_of(seen.data, seen.summary)


def loss_of(outputs: Sequence[Any]) -> float | str | None:
    """The only element of what a call of the engine begins at."""
    first = outputs[0] if outputs else None
    if not isinstance(first, torch.Tensor):
        return None
    try:
        with unseen():
            if first.numel() != 1 or first.is_complex():
                return None
            value = small_data(first.detach(), dtype_kind_of(first.dtype), 1)[0]
            return value if isinstance(value, str) else float(value)
    except Exception:  # a tensor without memory
        return None


def sinks(outputs: Sequence[Any]) -> Iterator[Node]:
    """The AccumulateGrad nodes that can be reached."""
    todo: list[Node] = []
    for output in outputs:
        if isinstance(output, GradientEdge):
            todo.append(output.node)
        elif isinstance(output, torch.Tensor) and output.requires_grad:
            todo.append(get_gradient_edge(output).node)
    seen = set(todo)
    while todo:
        node = todo.pop()
        targets = node.next_functions
        if not targets and hasattr(node, "variable"):
            yield node
        for target, _ in targets:
            if target is not None and target not in seen:
                seen.add(target)
                todo.append(target)
