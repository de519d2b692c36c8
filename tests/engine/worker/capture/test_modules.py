"""Modules and optimizers carry the words PyTorch and the program have for them."""

from collections.abc import Callable

import pytest

from engine import Trace
from tests.engine.worker.forked import said, traced

PROGRAM = """
import torch

class Quiet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 3)
    def extra_repr(self):
        print("never called")
        return "mine"
    def forward(self, x):
        return self.inner(x)

net = Quiet()
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
sgd.zero_grad()
net(torch.ones(1, 2)).sum().backward()
sgd.step()
"""


def test_own_modules_say_their_settings_and_users_are_left_alone(trace: Callable[[str], Trace]) -> None:
    made = trace(PROGRAM)
    texts = {module.path: module.text for module in made.modules}
    assert texts == {"net": "", "net.inner": "in_features=2, out_features=3, bias=True"}
    assert made.output == ()


def test_updates_name_the_variable_of_the_optimizer(trace: Callable[[str], Trace]) -> None:
    made = trace(PROGRAM)
    named = [(update.kind, update.variable) for update in made.updates if update.optimizer]
    assert named == [("zero_grad", "sgd"), ("step", "sgd")]


def test_a_part_put_in_later_stands_where_it_was_put(trace: Callable[[str], Trace]) -> None:
    made = trace("""
import torch
def main():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    net(torch.ones(1, 2))
    net[1] = torch.nn.Linear(2, 3)
    net(torch.ones(1, 2)).sum().backward()
main()
""")
    assert [module.path for module in made.modules] == ["net", "net.0", "net.1", "net.1"]


STOPPED = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2))
net[2].weight = net[0].weight
for _ in range(3):
    net(torch.ones(2, 2)).sum().backward()
"""


@pytest.mark.slow
def test_parameters_have_their_paths_wherever_a_run_stops() -> None:
    lines = said(STOPPED)
    whole = traced(STOPPED, lines)
    assert whole.variables
    traces = [traced(STOPPED, lines[:count]) for count in range(len(lines))]
    assert any(not trace.variables and trace.modules for trace in traces)
    for one in (whole, *traces):
        names = {tensor.id: tensor.names for tensor in one.tensors}
        for module in one.modules:
            for member in (*module.parameters, *module.buffers):
                assert f"{module.path}.{member.name}" in names[member.tensor]
