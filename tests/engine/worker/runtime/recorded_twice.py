"""Run by `test_recorder`: records the same twice in a plain process, and ends badly if anything is left replaced."""

import sys
import threading
import traceback
import warnings

import torch
import torch.utils.data
from torch.utils.hooks import RemovableHandle

from engine.worker.runtime.instrumentation import recording

OWNERS = (
    torch, torch.Tensor, torch.nn.Module, torch.autograd, torch.autograd.Function, torch.autograd.graph,
    torch.overrides, torch.optim.Optimizer, torch.optim.SGD, torch.optim.Adam, torch.utils,
    torch.utils.data.DataLoader, torch.utils.checkpoint,
    torch._C._autograd, torch._C._autograd.SavedTensor, torch.utils.checkpoint._CheckpointFrame,
    torch.utils.checkpoint._recomputation_hook, RemovableHandle, threading.Thread, warnings, traceback.StackSummary,
)  # fmt: skip
"""Whatever is patched stands in one of these."""


class Double(torch.autograd.Function):
    """A custom Function."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: object, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0] * 2


def compute() -> tuple[list[float], torch.Tensor]:
    """Something of each kind that is patched."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.backward((x * 3).sum())
    layer = torch.nn.Linear(2, 1, bias=False).double().float()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.zero_grad()
    torch.autograd.backward(layer(x).sum())
    optimizer.step()
    left = Double.apply(x).sum()  # type: ignore[no-untyped-call]
    torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)
    assert x.grad is not None
    return x.grad.tolist(), left


def held() -> dict[tuple[int, str], object]:
    """What all owners hold, by owner and name."""
    return {(place, name): value for place, owner in enumerate(OWNERS) for name, value in vars(owner).items()}


def main() -> None:
    """Records twice, and looks at what stands where afterwards."""
    torch.manual_seed(0)
    plain, _ = compute()
    before = held()
    said = []
    for _ in range(2):
        pieces: list[bytes] = []
        torch.manual_seed(0)
        with recording(pieces.append):
            recorded, left = compute()
        assert recorded == plain, (recorded, plain)
        after = held()
        changed = [key for key in before.keys() | after.keys() if before.get(key) is not after.get(key)]
        assert not changed, [(OWNERS[place], name) for place, name in changed]
        torch.autograd.backward(left)  # a graph that was recorded may be used afterwards
        said.append(b"\n".join(pieces))
    try:
        with recording(lambda piece: None):
            raise KeyError("the caller's")
    except KeyError:
        assert before == held()
    sys.stdout.buffer.write(b"\n\n".join(said))


if __name__ == "__main__":
    main()
