"""What really lives in memory while PyTorch runs backward: every storage ever made, followed until it is freed.

Nothing here looks at nodes or saved tensors: a dispatch mode sees each storage when an op makes it, PyTorch's own weak
references tell when it is gone. What was made with grad mode on is a result of a forward, first or computed again; the
engine makes gradients with grad mode off. Programs keep no such result in a variable, so what lives is what something
keeps for backward.
"""

import gc
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch.autograd.graph import get_gradient_edge
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from engine.worker.runtime.program_name import PROGRAM


class Living(msgspec.Struct):
    """Bytes during one call of the engine."""

    before: list[int] = []
    """When each node is about to run, in the order of the engine."""
    most: int = 0
    """While any of them ran."""


class Alive(msgspec.Struct):
    """Bytes in storages of forward results that are no trained leaf's and no root's."""

    passes: list[Living] = []
    end: int = 0


class _Storage:
    def __init__(self, storage: torch.UntypedStorage) -> None:
        self.weak: Any = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
        self.size_bytes = storage.nbytes()


class _Follow(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.made: dict[int, _Storage] = {}
        self.aside: set[int] = set()
        """What is no forward result: what lives longer, roots and their gradients."""
        self.running: list[Living] = []
        self.alive = Alive()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packing = torch._C._autograd._top_saved_tensors_default_hooks(True) is not None
        forward = not self.running or torch.is_grad_enabled() or packing
        if not forward:
            self._look()
        given = {_key(tensor) for tensor in _tensors((args, tuple((kwargs or {}).values())))}
        result = func(*args, **(kwargs or {}))
        if forward:
            for tensor in _tensors(result):
                if _key(tensor) not in given:
                    self.made[_key(tensor)] = _Storage(tensor.untyped_storage())
                    self.aside.discard(_key(tensor))
        return result

    def now(self) -> int:
        living = [(key, storage) for key, storage in self.made.items() if not storage.weak.expired()]
        return sum(storage.size_bytes for key, storage in living if key not in self.aside)

    def _look(self) -> None:
        now = self.now() if self.running else 0
        for living in self.running:
            living.most = max(living.most, now)

    def about_to_run(self, living: Living, roots: set[int]) -> None:
        if living.before:  # their nodes have run; a reentrant checkpoint still holds them
            self.aside |= roots
        living.before.append(self.now())
        self._look()


def _tensors(result: Any) -> Iterator[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, tuple | list):
        for item in result:
            yield from _tensors(item)


def alive_in_pytorch(source: str) -> Alive:
    """Runs a program in plain PyTorch, in a process of its own, and follows its storages."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alive"
        child = os.fork()
        if child == 0:
            try:
                path.write_bytes(msgspec.json.encode(_follow(source)))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return msgspec.json.decode(path.read_bytes(), type=Alive)


def _follow(source: str) -> Alive:
    gc.freeze()  # what the tests have made is looked through no more
    warnings.resetwarnings()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    follow = _Follow()
    engine: Any = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        living = Living()
        follow.alive.passes.append(living)
        roots = {_key(output) for output in outputs}
        if not follow.running:  # a reentrant checkpoint has leaves of its own, and roots that their nodes save
            follow.aside |= _lasting() | roots
        follow.aside |= {_key(seed) for seed in args[0] if seed is not None}
        handles = [node.register_prehook(lambda _: follow.about_to_run(living, roots)) for node in _nodes(outputs)]
        follow.running.append(living)
        try:
            return engine(outputs, *args, **kwargs)
        finally:
            follow.running.pop()
            for handle in handles:
                handle.remove()

    torch.autograd._engine_run_backward = run  # type: ignore[attr-defined, assignment]
    names: dict[str, object] = {"__name__": "__main__"}
    with follow:
        exec(compile(source, PROGRAM, "exec"), names)
    follow.aside |= _lasting()
    follow.alive.end = follow.now()
    return follow.alive


def _nodes(outputs: list[torch.Tensor]) -> list[Any]:
    todo = [get_gradient_edge(output).node for output in outputs]
    seen = set(todo)
    while todo:
        for target, _ in todo.pop().next_functions:
            if target is not None and target not in seen:
                seen.add(target)
                todo.append(target)
    return list(seen)


def _key(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _lasting() -> set[int]:
    """Leaves that are trained or were frozen, buffers and optimizer state."""
    found: set[int] = set()
    for held in gc.get_objects():
        kind = type(held)  # `isinstance` would ask the object
        if issubclass(kind, torch.nn.Parameter) or (
            issubclass(kind, torch.Tensor) and held.is_leaf and held.requires_grad
        ):
            found.add(_key(held))
        elif issubclass(kind, torch.nn.Module):
            found.update(_key(buffer) for buffer in held.buffers(recurse=False))
        elif issubclass(kind, torch.optim.Optimizer):
            found.update(
                _key(item) for state in held.state.values() for item in state.values() if torch.is_tensor(item)
            )
    return found
