"""A dispatch mode of the program's own sees what it sees without recording."""

import subprocess
import sys

import pytest

from tests.engine.worker.forked import record

CODE = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode

class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func)
        return func(*args, **(kwargs or {}))

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters())
x, w = torch.randn(5, 3), torch.ones(3, requires_grad=True)
large, table = torch.randn(40, 40, requires_grad=True), torch.nn.Embedding(5, 2, sparse=True)
with Log():
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean() + (w * torch.tensor(2.0)).exp().sum() + (large.t() @ large).t()[:3].sum()
    loss = loss + table(torch.tensor([1, 2])).sum() + (w.half() * 2).float().sum()
    loss.backward()
    optimizer.step()
    w.grad = None
    w.data = torch.randn(6)[::2]
    w.register_hook(lambda grad: grad * 2)
    (gradient,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    torch.autograd.backward(gradient, torch.ones_like(w))
    torch.autograd.backward(w, torch.ones_like(w))
    torch.nn.LSTM(2, 3)(torch.ones(4, 1, 2))
"""


@pytest.mark.slow
def test_a_dispatch_mode_sees_no_work_of_recordings() -> None:
    plain = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    trace = record(CODE)
    assert trace.status == "ok", trace.failure
    assert "".join(output.text for output in trace.output).splitlines() == plain.splitlines()
