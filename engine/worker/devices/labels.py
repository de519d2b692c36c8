"""Which simulated device each storage is on: views are where their base is, and `x.data = y` brings a device along."""

from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from engine.worker.pytorch.internals import current_node, functorch_unwrapped, is_functorch_wrapped, storage_key

CPU = torch.device("cpu")
_NODE = "gradgraph.device"
"""In a node's metadata: where what enters it is."""
_PURGED = 10_000

labelled: dict[int, tuple[StorageWeakRef, torch.device]] = {}
"""By storage: its key is no other's while the reference is held. Empty unless devices are simulated."""
_purge_at = [_PURGED]


def put(storage: torch.UntypedStorage, device: torch.device) -> None:
    """From now on a storage is there."""
    if len(labelled) >= _purge_at[0]:
        for key in [key for key, (kept, _) in labelled.items() if kept.expired()]:  # type: ignore[no-untyped-call]
            del labelled[key]
        _purge_at[0] = 2 * len(labelled) + _PURGED
    kept = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
    labelled[kept.cdata] = kept, device


def put_result(tensor: torch.Tensor, device: torch.device) -> None:
    """A new tensor and its node are there; a view is where its base is."""
    storage = storage_of(tensor)
    if storage is None:
        return
    if label_of(storage) is None:
        put(storage, device)
    node: Any = tensor.grad_fn
    if node is not None:
        node.metadata[_NODE] = device


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """The memory of a tensor on the CPU: inside `torch.func` of the one it stands for, of a sparse one its values'.

    None for one without any, such as a compressed sparse one."""
    try:
        while is_functorch_wrapped(tensor):
            tensor = functorch_unwrapped(tensor)
        if tensor.is_sparse:
            tensor = tensor._values()
        return tensor.untyped_storage() if tensor.is_cpu else None
    except (NotImplementedError, RuntimeError):
        return None


def label_of(storage: torch.UntypedStorage) -> torch.device | None:
    """Where a storage is, where that was said; what others lend, such as NumPy, is on the CPU."""
    known = labelled.get(storage_key(storage))
    return known[1] if known is not None else None if storage.resizable() else CPU


def known_device(tensor: torch.Tensor) -> torch.device | None:
    """Where it is; None for what no op of the program's made, unless the engine made it where it is now."""
    storage = storage_of(tensor)
    known = None if storage is None else label_of(storage)
    return known or (_of_gradients(current_node()) if tensor.is_cpu else tensor.device)


def device_of(tensor: torch.Tensor) -> torch.device:
    """Where the program finds it."""
    return (known_device(tensor) if labelled else None) or tensor.device


def follow(gradient: torch.Tensor, tensor: torch.Tensor) -> None:
    """A gradient is where its tensor is, unless somebody said otherwise."""
    if (storage := storage_of(gradient)) is not None and label_of(storage) is None:
        put(storage, device_of(tensor))


def _of_gradients(node: Any) -> torch.device | None:
    """A gradient is where its tensor is: that of a custom Function's node where those are that it goes on to."""
    passed: list[Any] = []
    found: torch.device | None = None
    while node is not None and found is None:
        leaf = getattr(node, "variable", None)
        found = node.metadata.get(_NODE) if leaf is None else _of_leaf(leaf)
        passed.append(node)
        node = next((to for to, _ in node.next_functions if to is not None), None)
    for one in passed:
        if found is not None:
            one.metadata[_NODE] = found
    return found


def _of_leaf(leaf: torch.Tensor) -> torch.device:
    storage = storage_of(leaf)
    return (None if storage is None else label_of(storage)) or leaf.device
