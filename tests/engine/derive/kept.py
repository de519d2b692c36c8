"""What PyTorch itself keeps for backward, counted by `saved_tensors_hooks` in a process of its own."""

import gc
import os
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import torch

from engine.worker.runtime.program_name import PROGRAM


class Kept(msgspec.Struct):
    """Bytes in unique storages that are no trained leaf's."""

    at_backward: list[int] = []
    """When each call of the engine begins."""
    most: int = 0
    end: int = 0


class _Count:
    def __init__(self) -> None:
        self.storages: Counter[int] = Counter()
        self.sizes: dict[int, int] = {}
        self.kept = Kept()

    def now(self) -> int:
        return sum(self.sizes[pointer] for pointer, count in self.storages.items() if count)

    def pack(self, tensor: torch.Tensor) -> "_Held":
        pointer = tensor.untyped_storage().data_ptr()
        if (tensor.is_leaf and tensor.requires_grad) or pointer in _trained():
            pointer = 0
        held = _Held(self, tensor.detach(), pointer)  # an output in its own node would be a cycle
        self.kept.most = max(self.kept.most, self.now())
        return held


class _Held:
    """In the place of a saved tensor: its end is the end of the keeping."""

    def __init__(self, count: _Count, tensor: torch.Tensor, pointer: int) -> None:
        self.count, self.tensor, self.pointer = count, tensor, pointer
        count.sizes[pointer] = tensor.untyped_storage().nbytes() if pointer else 0
        count.storages[pointer] += 1

    def __del__(self) -> None:
        self.count.storages[self.pointer] -= 1


def _trained() -> set[int]:
    return {
        tensor.untyped_storage().data_ptr()
        for tensor in gc.get_objects()
        if isinstance(tensor, torch.Tensor) and tensor.is_leaf and tensor.requires_grad
    }


def kept_by_pytorch(source: str) -> Kept:
    """Runs a program in plain PyTorch and counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept"
        child = os.fork()
        if child == 0:
            try:
                path.write_bytes(msgspec.json.encode(_count(source)))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return msgspec.json.decode(path.read_bytes(), type=Kept)


def _count(source: str) -> Kept:
    gc.freeze()  # what the tests have made is looked through no more
    warnings.resetwarnings()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    count = _Count()
    engine: Any = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def run(*args: Any, **kwargs: Any) -> Any:
        count.kept.at_backward.append(count.now())
        return engine(*args, **kwargs)

    torch.autograd._engine_run_backward = run  # type: ignore[attr-defined]
    names: dict[str, object] = {"__name__": "__main__"}
    with torch.autograd.graph.saved_tensors_hooks(count.pack, lambda held: held.tensor):
        exec(compile(source, PROGRAM, "exec"), names)
    count.kept.end = count.now()
    return count.kept
