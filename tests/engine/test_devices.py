"""The table of device kinds."""

import re

import pytest
import torch

from engine import Program, RunRequest, devices
from engine.devices import ACCELERATORS, CPU, CUDA, KINDS, PATTERN, SPELLINGS, first_of_its_kind, kind_of


@pytest.mark.parametrize(
    ("device", "is_one"),
    [
        ("auto", True), ("cpu", True), ("cuda", True), ("cuda:0", True), ("cuda:17", True), ("cpu:0", False),
        ("cuda:", False), ("cuda:x", False), ("cuda:123", False), ("mps", False), ("", False), ("xcuda", False),
    ],
)  # fmt: skip
def test_what_may_be_asked_for(device: str, is_one: bool) -> None:
    assert bool(re.match(PATTERN, device)) is is_one


@pytest.mark.parametrize("device", ["mps", "tpu", "cuda:", ""])
def test_an_unknown_device_is_refused_with_what_there_is(device: str) -> None:
    with pytest.raises(ValueError, match=f"{device!r} is no device .* auto, cpu, cuda, cuda:N; choose `auto`"):
        RunRequest(program=Program(code="", device=device))


def test_a_device_is_of_a_kind_and_has_an_index() -> None:
    assert (kind_of("cuda:1"), kind_of("cuda"), kind_of("cpu"), kind_of("auto"), kind_of("mps")) == (
        CUDA, CUDA, CPU, CPU, CPU,
    )  # fmt: skip
    assert [first_of_its_kind(name) for name in ("cuda", "cuda:1", "cpu", "mps")] == ["cuda:0", "cuda:1", "cpu", "mps"]
    assert SPELLINGS == ("auto", "cpu", "cuda", "cuda:N")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_pytorch_knows_each_kind(kind: devices.DeviceKind) -> None:
    assert torch.device(kind.spelled(0)).type == kind.name
    assert hasattr(torch.Tensor, kind.name)
    if kind in ACCELERATORS:
        backend = torch.get_device_module(kind.name)
        for name in ("is_available", "device_count", "set_device", "set_per_process_memory_fraction"):
            assert hasattr(backend, name)
