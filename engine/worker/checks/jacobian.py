"""Jacobians of a pass on a playing of its own: of each small root by each small leaf, and of each small node by
itself."""

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

from engine.events import JacobianSeen
from engine.trace import spoken
from engine.worker.capture.recorder import Recorder
from engine.worker.checks.tape import Leaf
from engine.worker.checks.tape_replay import Player, Problem, ReplayMode

MOST_ELEMENTS = 64
MOST_LOCAL = 16
MOST_LEAVES = 8


def jacobians(problem: Problem, recorder: Recorder, deadline: float) -> None:
    """Says them; what is too large, complex or cannot be played is left out."""
    try:
        player = Player(problem, ReplayMode(wide=False, graph=True), deadline).play()
        roots = player.roots()
    except MemoryError:
        return
    except Exception:  # what cannot be played is told of by the check of its gradients
        return
    for root, tensor in zip(problem.roots, roots, strict=True):
        if not tensor.requires_grad or not _small(tensor, MOST_ELEMENTS):
            continue
        for reached in problem.reached[:MOST_LEAVES]:
            row = None
            with contextlib.suppress(Exception):  # such as a backward that runs only once
                row = _full(player, tensor, reached.leaf)
            if row is not None:
                matrix, checked, error = row
                _say(recorder, problem, matrix, root.record, reached.leaf.number, 0, 0, checked, error)
    if len(roots) == 1 and roots[0].requires_grad:
        _local(problem, recorder, roots[0])


def _small(tensor: torch.Tensor, most: int) -> bool:
    return tensor.is_floating_point() and tensor.layout is torch.strided and 0 < tensor.numel() <= most


def _full(player: Player, root: torch.Tensor, leaf: Leaf) -> tuple[torch.Tensor, int, float] | None:
    """The Jacobian, how many rows were compared with a backward of their own, and the largest difference."""
    mine = [tensor for owner, tensor in player.leaves.values() if owner is leaf]
    if not mine or not _small(mine[0], MOST_ELEMENTS):
        return None
    units = torch.eye(root.numel(), dtype=root.dtype).reshape(root.numel(), *root.shape)
    alone = torch.stack([_row(root, mine, unit, batched=False) for unit in units])
    try:
        matrix = _row(root, mine, units, batched=True)
    except Exception:  # a custom backward that vmap cannot take
        return alone, 0, 0.0
    return matrix, len(units), float((matrix - alone).abs().nan_to_num().max())


def _row(root: torch.Tensor, leaves: Sequence[torch.Tensor], seed: torch.Tensor, batched: bool) -> torch.Tensor:
    given = torch.autograd.grad(
        root, leaves, seed, retain_graph=True, allow_unused=True, is_grads_batched=batched
    )  # fmt: skip
    rows = (seed.shape[0], -1) if batched else (-1,)
    width = leaves[0].numel()
    found = [tensor.reshape(*rows) for tensor in given if tensor is not None]
    empty = torch.zeros((seed.shape[0], width) if batched else (width,), dtype=leaves[0].dtype)
    return torch.stack([empty, *found]).sum(0).detach()


def _local(problem: Problem, recorder: Recorder, root: torch.Tensor) -> None:
    """Each node of a small graph called by hand on unit vectors, its gradients summed over broadcast axes as the engine
    does."""
    nodes: list[Any] = [root.grad_fn]
    rows = problem.nodes
    for place, (_, kind, edges) in enumerate(rows):
        node = nodes[place] if place < len(nodes) else None
        targets = None if node is None else [target for target, _ in node.next_functions]
        if targets is None or type(node).__name__ != kind or len(targets) != len(edges):
            return  # not the graph the program had
        for target, edge in zip(targets, edges, strict=True):
            if edge == len(nodes):
                nodes.append(target)
    for (number, kind, _), node in zip(rows, nodes, strict=False):
        if kind != "AccumulateGrad" and number:
            with contextlib.suppress(Exception):  # a custom backward may raise; the others are told all the same
                _of_node(problem, recorder, node, number)


def _of_node(problem: Problem, recorder: Recorder, node: Any, number: int) -> None:
    outputs = node._input_metadata
    if len(outputs) != 1 or not outputs[0].dtype.is_floating_point:
        return
    shape = tuple(outputs[0].shape)
    count = torch.Size(shape).numel()
    if not 0 < count <= MOST_LOCAL:
        return
    units = torch.eye(count, dtype=outputs[0].dtype).reshape(count, *shape)
    call = node.apply if isinstance(node, torch.autograd.function.BackwardCFunction) else node
    with torch.no_grad():
        given = [call(unit) for unit in units]
    rows = [each if isinstance(each, tuple) else (each,) for each in given]
    for slot, (target, input_nr) in enumerate(node.next_functions):
        if target is None:
            continue
        shape = _entering(target, input_nr)
        width = torch.Size(shape).numel()
        if not 0 < width <= MOST_LOCAL:
            continue
        parts = [row[slot] if slot < len(row) else None for row in rows]
        if any(part is not None and (part.is_complex() or part.layout is not torch.strided) for part in parts):
            continue
        empty = torch.zeros(width)
        matrix = torch.stack([empty if part is None else part.sum_to_size(shape).reshape(-1) for part in parts])
        _say(recorder, problem, matrix, 0, 0, number, slot, 0, 0.0)


def _entering(node: Any, input_nr: int) -> tuple[int, ...]:
    variable = getattr(node, "variable", None)
    return tuple(node._input_metadata[input_nr].shape if variable is None else variable.shape)


def _say(
    recorder: Recorder, problem: Problem, matrix: torch.Tensor, output: int, leaf: int, node: int, slot: int,
    checked: int, error: float,
) -> None:  # fmt: skip
    values = tuple([spoken(value) for value in matrix.reshape(-1).tolist()])
    rows, columns = matrix.shape
    recorder.outbox.say(
        JacobianSeen(problem.number, rows, columns, values, output, leaf, node, slot, checked, spoken(error))
    )
