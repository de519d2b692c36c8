"""A loader's batches are told with the indices that plain PyTorch takes, and what it drops; nothing of the program is asked
for it."""

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset, WeightedRandomSampler

from engine.trace import Batch, Trace
from tests.engine.worker.forked import record

HEAD = (
    "import torch\nfrom torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, Sampler\n"
    "from torch.utils.data import SequentialSampler, SubsetRandomSampler, TensorDataset, WeightedRandomSampler\n"
    "data = TensorDataset(torch.arange(7.0))\n"
)


def _told(code: str) -> tuple[Trace, list[tuple[int, int, tuple[int | str, ...]]]]:
    trace = record(HEAD + code)
    assert trace.status == "ok", trace.failure
    assert not [finding for finding in trace.findings if finding.code == "not_recorded"]
    return trace, [(batch.epoch, batch.number, batch.indices) for batch in trace.batches]


@pytest.mark.parametrize(
    "how",
    [
        "batch_size=3",
        "batch_size=3, shuffle=True",
        "batch_size=3, shuffle=True, generator=torch.Generator().manual_seed(5)",
        "batch_size=2, sampler=WeightedRandomSampler([1.0] * 7, 4)",
        "batch_sampler=BatchSampler(SequentialSampler(range(7)), 4, False)",
        "batch_sampler=[[6, 0], [2]]",
        "batch_size=None",
    ],
)
def test_indices_are_those_that_pytorch_takes(how: str) -> None:
    trace, told = _told(f"for epoch in range(2):\n    for part in DataLoader(data, {how}):\n        print(part[0])\n")
    torch.manual_seed(0)
    names = {
        "torch": torch, "BatchSampler": BatchSampler, "SequentialSampler": SequentialSampler,
        "WeightedRandomSampler": WeightedRandomSampler, "dict": dict,
    }  # fmt: skip
    data = TensorDataset(torch.arange(7.0))
    plain = [part[0] for _ in range(2) for part in DataLoader(data, **eval(f"dict({how})", names))]
    assert [list(indices) for _, _, indices in told] == [part.reshape(-1).int().tolist() for part in plain]
    assert "".join(piece.text for piece in trace.output) == "".join(str(part) + "\n" for part in plain)


def test_what_is_handed_out_is_named() -> None:
    trace, _ = _told("for (part,) in DataLoader(data, batch_size=3):\n    pass\n")
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    assert [tensors[batch.tensors[0]].data for batch in trace.batches] == [(0, 1, 2), (3, 4, 5), (6,)]
    steps = [step for step in trace.timeline if step.kind == "batch"]
    assert [step.index for step in steps] == [0, 1, 2]
    assert {step.span.line for step in steps if step.span} == {5}


def test_what_a_sampler_gave_and_no_batch_took_was_dropped() -> None:
    _, told = _told("loader = DataLoader(data, batch_size=4, drop_last=True)\nfor _ in range(2):\n    list(loader)\n")
    assert told == [(1, 1, (0, 1, 2, 3)), (1, 0, (4, 5, 6)), (2, 1, (0, 1, 2, 3)), (2, 0, (4, 5, 6))]
    _, told = _told("list(DataLoader(data, batch_size=9, drop_last=True))\n")
    assert told == [(1, 0, (0, 1, 2, 3, 4, 5, 6))], "a loop that never runs"
    _, told = _told("list(DataLoader(data, batch_size=2, drop_last=True, sampler=SubsetRandomSampler([5])))\n")
    assert told == [(1, 0, (5,))], "the sampler never gave the others"


def test_an_epoch_that_is_left_early_drops_nothing() -> None:
    _, told = _told("for part in DataLoader(data, batch_size=4, drop_last=True):\n    break\n")
    assert told == [(1, 1, (0, 1, 2, 3))]


def test_two_loaders_are_told_apart() -> None:
    trace, _ = _told("for _ in zip(DataLoader(data, batch_size=4), DataLoader(data, batch_size=5)):\n    pass\n")
    assert [(batch.loader, batch.number, batch.count) for batch in trace.batches] == [
        (1, 1, 4), (2, 1, 5), (1, 2, 3), (2, 2, 2),
    ]  # fmt: skip


def test_the_draws_of_pytorchs_samplers_are_not_the_programs() -> None:
    loop = "for (part,) in DataLoader(data, batch_size=7, {how}):\n    pass\n"
    trace, _ = _told(loop.format(how="shuffle=True"))
    assert {op.name for op in trace.ops}.isdisjoint(("empty", "random_", "randperm", "item"))
    own = "class Own(Sampler):\n    def __iter__(self):\n        return iter(torch.randperm(7).tolist())\n"
    trace, _ = _told(own + loop.format(how="sampler=Own()"))
    assert "randperm" in {op.name for op in trace.ops}


def test_a_dataset_without_indices_has_none_to_tell() -> None:
    stream = "class Stream(IterableDataset):\n    def __iter__(self):\n        yield from torch.arange(3.0)\n"
    _, told = _told(stream + "list(DataLoader(Stream(), batch_size=2, drop_last=True))\n")
    assert told == []


def test_nothing_of_the_program_is_asked_more_often_than_by_pytorch() -> None:
    counted = (
        "asked = []\nclass Counted(Dataset):\n    def __len__(self):\n        asked.append('len')\n        return 3\n"
        "    def __getitem__(self, at):\n        asked.append(at)\n        return at\n"
        "list(DataLoader(Counted(), batch_size=2, shuffle=True, drop_last=True))\n"
    )
    trace, _ = _told(counted)
    plain: dict[str, object] = {}
    torch.manual_seed(0)
    exec(HEAD + counted, plain)
    assert next(name.text for name in trace.variables if name.name == "asked") == str(plain["asked"])


def test_keys_and_lists_of_many_samples_are_cut_short() -> None:
    named = "class Named(Dataset):\n    def __getitem__(self, at):\n        return 1.0\n"
    _, told = _told(named + "list(DataLoader(Named(), sampler=['a', 'b'], batch_size=2))\n")
    assert told == [(1, 1, ("'a'", "'b'"))]
    trace, _ = _told("list(DataLoader(TensorDataset(torch.zeros(300)), batch_size=300))\n")
    (batch,) = trace.batches
    assert (len(batch.indices), batch.count) == (128, 300)
    assert isinstance(batch, Batch)
