"""What lies in storages, beside a search through all tensors."""

import random

import pytest

from engine.derive.storage_sizes import StorageSizes
from engine.trace import Tensor, Trace
from engine.trace_index import TraceIndex
from tests.engine.worker.forked import record

HEAD = "import torch\n"
PROGRAMS = {
    "views": "x = torch.ones(4, requires_grad=True)\ny = x.view(2, 2)\nz = y[0] * 2\n",
    "in place": "x = torch.zeros(3)\nx += 1\nx.mul_(2)\ny = x.t()\n",
    "larger than what was met": "x = torch.arange(10.0)[:2]\nx.requires_grad_()\n(x * 2).sum().backward()\n",
    "moved": "x = torch.ones(2)\ny = torch.zeros(5)\nx.data = y\nx.add_(1)\n",
    "without memory": "x = torch.empty(3, device='meta')\ny = x.to_sparse() if False else x + 1\n",
    "nothing": "",
}


def searched(trace: Trace) -> dict[str, dict[str, Tensor]]:
    """Each storage's tensors by identity."""
    members: dict[str, dict[str, Tensor]] = {}
    for tensor in trace.tensors:
        if tensor.storage is not None:
            members.setdefault(tensor.storage, {}).setdefault(tensor.identity or tensor.id, tensor)
    return members


@pytest.mark.parametrize("name", PROGRAMS)
def test_storages_hold_what_says_it_lies_there(name: str) -> None:
    trace = record(HEAD + PROGRAMS[name])
    told = {tensor.storage: 10_000 for tensor in trace.tensors[:1] if tensor.storage is not None}
    sizes, expected = StorageSizes(trace, told), searched(trace)
    assert list(sizes.first) == list(expected)
    for storage, members in expected.items():
        assert list(sizes.members(storage).items()) == list(members.items())
        assert sizes.is_shared(storage) == (len(members) > 1)
        largest = max(tensor.size_bytes for tensor in trace.tensors if tensor.storage == storage)
        assert sizes.bytes[storage] == max(largest, told.get(storage, 0))
    assert not sizes.is_shared("s0")


def test_tensors_in_any_order_and_number_fill_storages() -> None:
    trace = record(HEAD + PROGRAMS["views"])
    chance = random.Random(3)
    for _ in range(30):
        tensors = tuple(chance.choices(trace.tensors, k=chance.randrange(9)))
        mixed = type(trace)(**{name: getattr(trace, name) for name in trace.__struct_fields__} | {"tensors": tensors})
        sizes, expected = StorageSizes(mixed, {}), searched(mixed)
        assert {storage: sizes.members(storage) for storage in sizes.first} == expected


def test_what_is_derived_looks_up_in_the_tables_of_what_it_came_from() -> None:
    trace = record(HEAD + PROGRAMS["in place"])
    known = TraceIndex(trace)
    looked = TraceIndex(trace, known)
    assert looked.tensors is known.tensors
    assert looked.nodes is known.nodes
    assert list(looked.ops.values()) == list(trace.ops)
