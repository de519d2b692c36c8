"""What `torch.utils.checkpoint` without reentry holds: the inputs of each region, and what it computes again for backward.

PyTorch keeps both in Python objects that no node shows: a frame for each region and a handle for each tensor computed again,
gone as soon as a node has taken it (pytorch 2.13, `torch/utils/checkpoint.py`).
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
import torch.utils.checkpoint as torch_checkpoint

from engine.worker.capture.record import Ledger
from engine.worker.capture.saved_tensors import tensors_held

Frame: TypeAlias = Any
_disabled = torch._C.DisableTorchFunction


def watch_checkpoints(ledger: Ledger) -> None:
    """Has the ledger told what regions hold, from their first tensor on."""
    frames: Any = torch_checkpoint._CheckpointFrame
    hooks: Any = torch_checkpoint._recomputation_hook
    save_inputs, begin = frames.save_inputs, hooks.__init__

    @functools.wraps(save_inputs)
    def saved(self: Frame, *args: Any) -> None:
        save_inputs(self, *args)
        _guarded(ledger, functools.partial(_hold_inputs, ledger, self))

    @functools.wraps(begin)
    def begun(self: Any, target: "weakref.ref[Frame]", group: Any) -> None:
        begin(self, target, group)
        self.pack_hook = _watched(ledger, self.pack_hook, target, group)

    frames.save_inputs = saved
    hooks.__init__ = begun


def _hold_inputs(ledger: Ledger, frame: Frame) -> None:
    given = [kept.data if isinstance(kept, _SavedTensor) else kept for kept in frame.saved_args]
    function = frame.recompute_fn
    kept = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)).get("kwargs")
    if kept is not None:
        given.append(kept.cell_contents)
    tensors = dict.fromkeys(ledger.walker.record_of(tensor) for tensor in tensors_held(given))
    ledger.holds(frame, tuple(tensors), by_nodes=True)


def _watched(
    ledger: Ledger, pack: Callable[[torch.Tensor], Any], target: "weakref.ref[Frame]", group: Any
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


def _note(ledger: Ledger, frame: Frame, group: Any) -> None:
    """Notes the tensor that was packed last: the op that made it still runs, and its results have no records yet."""
    index = frame.recomp_counter[group] - 1
    holder = frame.weak_holders[index]() if 0 <= index < len(frame.weak_holders) else None
    handle = None if holder is None else holder.handles.get(group)
    if handle is not None:
        kept = frame.recomputed[group][handle]
        ledger.walker.recomputed.append((weakref.ref(handle), weakref.ref(kept)))


def _guarded(ledger: Ledger, work: Callable[[], None]) -> None:
    if ledger.here.muted or ledger.closed:
        return
    try:
        with ledger.lock, _disabled():
            work()
            ledger.publish()
    except Exception as error:
        ledger.trouble("checkpoint", error)


_SavedTensor: Any = torch._C._autograd.SavedTensor

__name__ = "__main__"
__warningregistry__ = None
