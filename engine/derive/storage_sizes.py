"""What lies in each storage, and how many bytes it takes."""

from collections.abc import Mapping

from engine.trace import Tensor, Trace


class StorageSizes:
    """The storages of a trace; `larger` are the bytes of those larger than what was met in them."""

    def __init__(self, trace: Trace, larger: Mapping[str, int]) -> None:
        self.bytes = dict(larger)
        """Bytes by storage; of a tensor without one by its id."""
        self.first: dict[str, Tensor] = {}
        """The record met first in each storage, in the order of meeting."""
        self._members: dict[str, dict[str, Tensor]] = {}
        sizes, first = self.bytes, self.first
        for tensor in trace.tensors:
            storage = tensor.storage
            if storage is None:
                sizes[tensor.id] = tensor.size_bytes
                continue
            if tensor.size_bytes > sizes.get(storage, 0):
                sizes[storage] = tensor.size_bytes
            if first.setdefault(storage, tensor) is not tensor:
                self._share(storage, tensor)

    def _share(self, storage: str, tensor: Tensor) -> None:
        members = self._members.get(storage)
        if members is None:
            members = self._members[storage] = self.members(storage)
        members.setdefault(tensor.identity or tensor.id, tensor)

    def members(self, storage: str) -> dict[str, Tensor]:
        """The tensors in a storage by identity, each with its first record there."""
        first = self.first[storage]
        return self._members.get(storage) or {first.identity or first.id: first}

    def is_shared(self, storage: str) -> bool:
        """Whether several tensors lie in it."""
        return len(self._members.get(storage, ())) > 1
