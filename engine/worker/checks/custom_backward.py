"""A user's autograd.Function by itself: its backward against differences of its own forward."""

from functools import partial

import torch

from engine.worker.checks.tape import Entry, mapped
from engine.worker.checks.tape_replay import Player, direction

_STEP = 2.0**-20


def _called(entry: Entry, player: Player, shift: float, leaves: list[torch.Tensor] | None) -> list[torch.Tensor]:
    """The Function on its own inputs, moved along the direction; with `leaves` the inputs are collected there."""

    def moved(item: object) -> object:
        if not isinstance(item, torch.Tensor) or not item.is_floating_point():
            return item
        fresh = item.detach() + shift * direction(item)
        if leaves is None:
            return fresh
        leaves.append(fresh.requires_grad_())
        return fresh.clone()  # a Function may write into it

    with torch.set_grad_enabled(leaves is not None):
        args, kwargs = (mapped(player.filled(given, True), moved) for given in (entry.args, entry.kwargs))
        result = entry.func(*args, **kwargs)
    return [
        each for each in (result if isinstance(result, tuple | list) else [result]) if isinstance(each, torch.Tensor)
    ]


def backward_fits(entry: Entry, player: Player) -> bool:
    """Whether a Function's backward fits its forward, along one direction, where `player` has played what comes before
    it."""
    call = partial(_called, entry, player)
    leaves: list[torch.Tensor] = []
    outputs = [tensor for tensor in call(0.0, leaves) if tensor.requires_grad]
    seeds = [direction(output, 0.7) for output in outputs]
    given = torch.autograd.grad(outputs, leaves, seeds, allow_unused=True)
    mine = sum(
        float((tensor * direction(leaf)).sum())
        for tensor, leaf in zip(given, leaves, strict=True)
        if tensor is not None
    )

    def at(shift: float) -> float:
        made = [tensor for tensor in call(shift, None) if tensor.is_floating_point()]
        return sum(float((tensor * seed).sum()) for tensor, seed in zip(made, seeds, strict=False))

    theirs = (at(_STEP) - at(-_STEP)) / (2 * _STEP)
    return abs(mine - theirs) <= 1e-4 * max(abs(mine), abs(theirs), 1e-6)
