"""What `torch.utils.checkpoint` without reentry holds: the inputs of each region, and what it computes again for backward.

PyTorch keeps both in Python objects that no node shows: a frame for each region and a handle for each tensor computed again,
gone as soon as a node has taken it (pytorch 2.13, `torch/utils/checkpoint.py`).
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch

from engine.worker.capture.record import Ledger
from engine.worker.capture.saved_tensors import tensors_held
from engine.worker.pytorch.internals import (
    RECOMPUTATION_INIT,
    SAVE_CHECKPOINT_INPUTS,
    CheckpointFrame,
    checkpoint_inputs,
    disable_torch_function,
    last_recomputed,
)
from engine.worker.pytorch.patching import Patches


def watch_checkpoints(ledger: Ledger, patches: Patches) -> None:
    """Has the ledger told what regions hold, from their first tensor on."""
    save_inputs, begin = SAVE_CHECKPOINT_INPUTS.get(), RECOMPUTATION_INIT.get()

    @functools.wraps(save_inputs)
    def saved(self: CheckpointFrame, *args: Any) -> None:
        save_inputs(self, *args)
        _guarded(ledger, functools.partial(_hold_inputs, ledger, self))

    @functools.wraps(begin)
    def begun(self: Any, target: "weakref.ref[CheckpointFrame]", group: Any) -> None:
        begin(self, target, group)
        self.pack_hook = _watched(ledger, self.pack_hook, target, group)

    patches.replace(SAVE_CHECKPOINT_INPUTS, saved)
    patches.replace(RECOMPUTATION_INIT, begun)


def _hold_inputs(ledger: Ledger, frame: CheckpointFrame) -> None:
    tensors = dict.fromkeys(ledger.walker.record_of(tensor) for tensor in tensors_held(checkpoint_inputs(frame)))
    ledger.holds(frame, tuple(tensors), by_nodes=True)


def _watched(
    ledger: Ledger, pack: Callable[[torch.Tensor], Any], target: "weakref.ref[CheckpointFrame]", group: Any
) -> Callable[[torch.Tensor], Any]:
    @functools.wraps(pack)
    def pack_hook(tensor: torch.Tensor) -> Any:
        note = functools.partial(_note, ledger, target(), group)
        try:
            kept = pack(tensor)
        except BaseException:  # the last one that is needed stops the computing, and its op
            _guarded(ledger, note)
            _guarded(ledger, ledger.walker.keep_recomputed)
            raise
        _guarded(ledger, note)
        return kept

    return pack_hook


def _note(ledger: Ledger, frame: CheckpointFrame, group: Any) -> None:
    """Notes the tensor that was packed last: the op that made it still runs, and its results have no records yet."""
    packed = last_recomputed(frame, group)
    if packed is not None:
        handle, tensor = packed
        ledger.walker.recomputed.append((weakref.ref(handle), weakref.ref(tensor)))


def _guarded(ledger: Ledger, work: Callable[[], None]) -> None:
    if ledger.here.muted or ledger.closed:
        return
    try:
        with ledger.lock, disable_torch_function():
            work()
            ledger.publish()
    except Exception as error:
        ledger.trouble("checkpoint", error)


__name__ = "__main__"
__warningregistry__ = None
