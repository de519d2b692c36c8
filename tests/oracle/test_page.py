"""What the page makes of its numbers: a cell out of its window; and that the comparison with plain PyTorch can fail."""

import random
import re

import pytest

import engine
from tests.oracle.equations import terms_hold
from tests.oracle.facts import Question
from tests.oracle.page import Page, asked, differences
from tests.oracle.test_oracle import Plain

WINDOWS = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
x = torch.randn(2, 4, 7)
y = torch.randn(4, 5, 6)
{call}
"""
WINDOW_CALLS = (
    "z = nn.Conv1d(4, 2, 3)(x)",
    "z = nn.Conv1d(4, 4, 3, stride=2, padding=1, dilation=2, groups=2, bias=False)(x)",
    "z = F.conv1d(x, torch.randn(4, 1, 2), torch.randn(4), padding='same', groups=4)",
    "z = nn.Conv2d(4, 2, (2, 3), stride=(1, 2), padding=(1, 2), dilation=(2, 1), groups=2)(y)",
    "z = F.conv2d(y[:, :4, :4], weight=torch.randn(2, 4, 2, 2), bias=None, stride=2)",
    "z = nn.ConvTranspose1d(4, 4, 3, stride=2, padding=1, output_padding=1, groups=2)(x[..., :3])",
    "z = nn.ConvTranspose2d(4, 2, 2, stride=2, dilation=2)(y[:, :2, :2])",
    "z = nn.MaxPool1d(3, stride=2, padding=1)(x)",
    "z = F.max_pool2d(y, 2, stride=1, padding=1, dilation=2, ceil_mode=True)",
    "z = nn.AvgPool1d(3, stride=2, padding=1)(x)",
    "z = nn.AvgPool1d(3, 2, 1, False, False)(x)",
    "z = F.avg_pool2d(y, (2, 3), padding=1, ceil_mode=True)",
    "z = F.avg_pool2d(y, 3, 2, padding=1, count_include_pad=False)",
    "z = nn.AvgPool2d(2, divisor_override=3)(y)",
)


@pytest.mark.parametrize("call", WINDOW_CALLS)
def test_a_cell_is_made_of_its_window(call: str, page: Page) -> None:
    """Every cell that is asked about has an equation, and its terms are the recorded numbers in its window."""
    trace = engine.run(WINDOWS.format(call=call))
    assert trace.failure is None
    made = next(op for op in reversed(trace.ops) if op.window)
    (tensor,) = (tensor for tensor in trace.tensors if tensor.id == made.outputs[0])
    cells = page.shows(trace, []).equations.cells
    assert len(cells) == min(12, len(tensor.data or ()))
    assert all(re.search("[=≈]", cell) and terms_hold(cell) for cell in cells)


@pytest.mark.slow
def test_the_comparison_can_fail(plain: Plain, page: Page) -> None:
    code = "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\n"
    trace = engine.run(code)
    other, chance = code.replace("2).sum", "3).sum"), random.Random(0)
    moments = asked(trace, other, chance)
    facts = plain.run(
        Question(code=other, threads=trace.environment.threads, hooks=True, moments=tuple(end for end, _ in moments))
    )
    found = list(differences(trace, other, moments, facts, page, chance))
    for start in (
        "end: variable x: grad",
        "end: ledger of x",
        "end: variable y",
        "end: node MulBackward0 left",
        "end: sentence of MulBackward0",
    ):
        assert any(item.startswith(start) for item in found), start
    assert any(item.startswith("step") for item in found)
