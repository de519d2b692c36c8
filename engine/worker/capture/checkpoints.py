"""What `torch.utils.checkpoint` without reentry holds: the inputs of each region, and what it computes again for
backward.

PyTorch keeps both in Python objects that no node shows: a frame for each region and a handle for each tensor computed
again, gone as soon as a node has taken it (pytorch 2.13, `torch/utils/checkpoint.py`).
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch

from engine.worker.capture.recorder import Recorder
from engine.worker.capture.saved_tensors import tensors_held
from engine.worker.pytorch.internals import (
    RECOMPUTATION_INIT,
    SAVE_CHECKPOINT_INPUTS,
    CheckpointFrame,
    checkpoint_inputs,
    last_recomputed,
)
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.patching import Patches


def watch_checkpoints(recorder: Recorder, patches: Patches) -> None:
    """Has the recorder told what regions hold, from their first tensor on."""
    save_inputs, begin = SAVE_CHECKPOINT_INPUTS.get(), RECOMPUTATION_INIT.get()

    @functools.wraps(save_inputs)
    def saved(self: CheckpointFrame, *args: Any) -> None:
        save_inputs(self, *args)
        _guarded(recorder, functools.partial(_hold_inputs, recorder, self))

    @functools.wraps(begin)
    def begun(self: Any, target: "weakref.ref[CheckpointFrame]", group: Any) -> None:
        begin(self, target, group)
        self.pack_hook = _watched(recorder, self.pack_hook, target, group)

    patches.replace(SAVE_CHECKPOINT_INPUTS, saved)
    patches.replace(RECOMPUTATION_INIT, begun)


def _hold_inputs(recorder: Recorder, frame: CheckpointFrame) -> None:
    tensors = dict.fromkeys(recorder.nodes.record_of(tensor) for tensor in tensors_held(checkpoint_inputs(frame)))
    recorder.lifetimes.hold(frame, tuple(tensors), by_nodes=True)


def _watched(
    recorder: Recorder, pack: Callable[[torch.Tensor], Any], target: "weakref.ref[CheckpointFrame]", group: Any
) -> Callable[[torch.Tensor], Any]:
    @functools.wraps(pack)
    def pack_hook(tensor: torch.Tensor) -> Any:
        note = functools.partial(_note, recorder, target(), group)
        try:
            kept = pack(tensor)
        except BaseException:  # the last one that is needed stops the computing, and its op
            _guarded(recorder, note)
            _guarded(recorder, recorder.nodes.hold_recomputed)
            raise
        _guarded(recorder, note)
        return kept

    return pack_hook


def _note(recorder: Recorder, frame: CheckpointFrame, group: Any) -> None:
    """Notes the tensor that was packed last: the op that made it still runs, and its results have no records yet."""
    packed = last_recomputed(frame, group)
    if packed is not None:
        handle, tensor = packed
        recorder.nodes.note_recomputed(handle, tensor)


def _guarded(recorder: Recorder, work: Callable[[], None]) -> None:
    if recorder.thread.muted or recorder.closed:
        return
    try:
        with recorder.lock, unseen():
            work()
            recorder.outbox.publish()
    except Exception as error:
        recorder.trouble("checkpoint", error)


__name__ = "__main__"
__warningregistry__ = None
