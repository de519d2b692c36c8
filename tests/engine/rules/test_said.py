"""What the page says of node types that have no rule is what PyTorch sends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

SAID: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[3] / "frontend/src/core/trace/said.json").read_text("utf-8")
)
Op = Callable[[torch.Tensor], torch.Tensor]
EACH: dict[str, Op] = {
    "AsinhBackward0": torch.asinh,
    "AcoshBackward0": torch.acosh,
    "AtanhBackward0": lambda x: torch.atanh(x / 8),
    "CeluBackward0": lambda x: F.celu(2 - x, 1.3),
    "ClampMaxBackward0": lambda x: x.clamp_max(2.0),
    "CoshBackward0": torch.cosh,
    "Deg2RadBackward0": torch.deg2rad,
    "DigammaBackward0": torch.digamma,
    "EluBackward0": lambda x: F.elu(2 - x),
    "ErfcBackward0": torch.erfc,
    "ErfinvBackward0": lambda x: torch.erfinv(x / 8),
    "Exp2Backward0": torch.exp2,
    "Expm1Backward0": torch.expm1,
    "FmodBackward0": lambda x: x.fmod(2.0),
    "FracBackward0": torch.frac,
    "GeluBackward0": lambda x: F.gelu(2 - x, approximate="tanh"),
    "HardshrinkBackward0": lambda x: F.hardshrink(x, 1.7),
    "HardsigmoidBackward0": F.hardsigmoid,
    "HardswishBackward0": lambda x: F.hardswish(2 - x),
    "I0Backward0": torch.i0,
    "LgammaBackward0": torch.lgamma,
    "Log10Backward0": torch.log10,
    "LogitBackward0": lambda x: torch.logit(x / 8),
    "NanToNumBackward0": torch.nan_to_num,
    "PolygammaBackward0": lambda x: torch.polygamma(1, x),
    "SincBackward0": torch.sinc,
    "SinhBackward0": torch.sinh,
    "SoftshrinkBackward0": lambda x: F.softshrink(x, 1.7),
    "ThresholdBackward0": lambda x: F.threshold(x, 1.7, 0.5),
}


def nodes_of(result: torch.Tensor) -> set[str]:
    """The node, and those right behind it: some cases change their input first."""
    assert result.grad_fn is not None
    return {type(node).__name__ for node in (result.grad_fn, *(next_ for next_, _ in result.grad_fn.next_functions))}


def test_every_type_with_a_sentence_is_asked_about() -> None:
    assert set(SAID) == {"slope", "emb", "nowhere", "rnn"}
    assert SAID["slope"] == sorted(EACH)


@pytest.mark.parametrize("node_type", EACH)
def test_an_elements_gradient_is_multiplied_by_the_slope_there(node_type: str) -> None:
    op = EACH[node_type]
    x = torch.tensor([1.25, 2.5, 3.75], dtype=torch.float64, requires_grad=True)
    result = op(x)
    assert node_type in nodes_of(result)
    arrived = torch.tensor([0.5, -2.0, 3.0], dtype=torch.float64)
    (sent,) = torch.autograd.grad(result, x, arrived)
    near = 1e-6
    slopes = torch.stack([(op(at + near) - op(at - near)) / (2 * near) for at in x.detach()])
    torch.testing.assert_close(sent, arrived * slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_only_rows_that_were_picked_get_a_gradient(mode: str) -> None:
    table = torch.arange(12.0).reshape(4, 3).requires_grad_()
    bags = F.embedding_bag(torch.tensor([[0, 2], [2, 0]]), table, mode=mode)
    assert nodes_of(bags) & set(SAID["emb"])
    torch.autograd.backward(bags.sum())
    assert table.grad is not None
    assert table.grad[[1, 3]].count_nonzero() == 0
    assert table.grad[[0, 2]].count_nonzero() > 0


def test_backward_raises_where_there_is_no_derivative() -> None:
    result = torch.ones(2, requires_grad=True) // 2
    assert nodes_of(result) & set(SAID["nowhere"])
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.autograd.backward(result.sum())


def test_a_whole_sequence_is_one_node_whose_weights_get_the_sum_over_its_time_steps() -> None:
    layer, sequence = torch.nn.LSTM(2, 3), torch.randn(4, 1, 2)
    states, _ = layer(sequence)
    assert nodes_of(states) & set(SAID["rnn"])
    torch.autograd.backward(states.sum())
    turns = [[weight.detach().requires_grad_() for weight in layer.parameters()] for _ in sequence]
    h, c = torch.zeros(1, 3), torch.zeros(1, 3)
    total = torch.zeros(())
    for x, (into, back, bias, other) in zip(sequence, turns, strict=True):
        i, f, g, o = (x @ into.T + h @ back.T + bias + other).chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        total = total + h.sum()
    torch.autograd.backward(total)
    for weight, *each in zip(layer.parameters(), *turns, strict=True):
        assert weight.grad is not None
        grads = [turn.grad for turn in each if turn.grad is not None]
        torch.testing.assert_close(weight.grad, torch.stack(grads).sum(0))
