"""Memory that nothing was written into is marked and never shown, and what was written is shown."""

import pytest

from engine.trace import Tensor, Trace
from tests.engine.worker.forked import record

HEAD = "import torch\nfrom torch import Tensor, FloatTensor\nimport numpy as np\nn = 3\n"


def _last(trace: Trace, name: str) -> Tensor:
    wanted = next(variable.tensor for variable in trace.variables if variable.name == name)
    return next(tensor for tensor in trace.tensors if tensor.id == wanted)


@pytest.mark.parametrize(
    "made",
    [
        "torch.empty(2, 3)",
        "torch.empty_like(torch.ones(2))",
        "torch.ones(1).new_empty(4)",
        "torch.empty(2, 3).view(6)",
        "torch.empty(4)[1:]",
        "torch.nn.Parameter(torch.empty(3))",
        "torch.Tensor(2, 3)",
        "torch.FloatTensor(2, 3)",
        "torch.IntTensor(3)",
        "torch.LongTensor(n)",
        "torch.DoubleTensor(torch.Size([2])[0], 2)",
        "Tensor(2, 2)",
        "FloatTensor(n, n)",
        "[torch.Tensor(2) for _ in range(2)][1]",
        "torch.nn.Parameter(torch.Tensor(2, 3))",
        "torch.empty(3).add_(1)",
        "torch.empty(3).mul_(0).clamp_(0)",
        "torch.tensor([]).resize_(3)",
        "torch.ones(3).new().resize_as_(torch.ones(3)).mul_(2)",
    ],
)
def test_uninitialised_memory_is_marked(made: str) -> None:
    trace = record(HEAD + f"x = {made}\n")
    assert trace.status == "ok", trace.failure
    tensor = _last(trace, "x")
    assert (tensor.contents, tensor.data, tensor.summary) == ("uninitialised", None, None)


def test_a_tensor_without_elements_is_not_unknown_and_never_changes() -> None:
    trace = record(HEAD + "x = torch.empty(0, 4, requires_grad=True)\nx.sum().backward()\n")
    assert (_last(trace, "x").contents, _last(trace, "x").data) == ("known", ())
    assert not trace.updates


@pytest.mark.parametrize(
    "made",
    [
        "torch.IntTensor([1, 2])",
        "torch.FloatTensor([[1.0, 2.0]])",
        "torch.Tensor((2, 3))",
        "torch.Tensor(values)",
        "torch.Tensor(array)",
        "torch.Tensor(tensor)",
        "torch.Tensor(range(2))",
        "torch.Tensor()",
        "FloatTensor(values)",
        "Own(2, 3)",
        "mine.FloatTensor(2, 3)",
        "torch.zeros(2)",
        "torch.empty(2).fill_(1)",
        "torch.empty(3).normal_()",
        "torch.ones(3).new().resize_as_(torch.ones(3)).zero_()",
        "torch.ones(3).resize_(0).resize_(3)",
        "torch.empty(3).zero_().add_(1)",
        "torch.nn.init.xavier_uniform_(torch.empty(3, 3))",
        "torch.nn.init.eye_(torch.empty(3, 3))",
        "torch.nn.init.orthogonal_(torch.empty(3, 3))",
        "torch.nn.init.constant_(torch.Tensor(2, 3), 4)",
        "torch.add(tensor, 1, out=torch.empty(2))",
        "torch.nn.Linear(2, 3).weight",
        "torch.nn.LSTM(2, 3).weight_hh_l0",
        "torch.nn.Embedding(4, 2).weight",
        "torch.nn.BatchNorm1d(3).running_var",
    ],
)
def test_what_has_values_is_shown(made: str) -> None:
    trace = record(
        HEAD
        + "values = [1.0, 2.0]\narray = np.ones(2)\ntensor = torch.ones(2)\ndef Own(a, b):\n    return torch.ones(a, b)\n"
        f"class mine:\n    FloatTensor = Own\nx = {made}\n"
    )
    assert trace.status == "ok", trace.failure
    assert _last(trace, "x").contents == "known"


def _contents(code: str, *names: str) -> list[str]:
    trace = record(HEAD + code)
    assert trace.status == "ok", trace.failure
    return [_last(trace, name).contents for name in names]


WRITTEN = {
    "x[0] = 1": "known",
    "x[0].fill_(1)": "known",
    "x.view(6)[:4] = 1": "known",
    "x.data[0] = 1": "known",
    "x.index_fill_(0, torch.tensor([2]), 1)": "known",
    "torch.stack([torch.ones(2)] * 3, out=x)": "known",
    "x.numpy()[:] = 3": "known",
    "x.add_(1)": "uninitialised",
    "x[0] += 1": "uninitialised",
    "x.copy_(torch.empty(2))": "uninitialised",
}


@pytest.mark.parametrize("write", WRITTEN)
def test_the_first_write_that_does_not_read_defines_all_of_it(write: str) -> None:
    code = f"x = torch.empty(3, 2)\n{write}\nfirst = x[0]\nlast = x[2]\n"
    assert _contents(code, "x", "first", "last") == [WRITTEN[write]] * 3


def test_a_program_reads_and_prints_what_it_does_without_recording() -> None:
    trace = record(
        HEAD + "x = torch.IntTensor(3)\nx[:] = 5\nprint(x, type(x), torch.IntTensor, torch.FloatTensor(0).shape)\n"
        "try:\n    torch.IntTensor(-1)\nexcept RuntimeError as error:\n    print(error)\ntorch.FloatTensor('a')\n"
    )
    said = "".join(output.text for output in trace.output)
    assert said.startswith(
        "tensor([5, 5, 5], dtype=torch.int32) <class 'torch.Tensor'> <class 'torch.IntTensor'> torch.Size([0])"
    )
    assert "negative dimension" in said
    assert trace.failure is not None
    assert trace.failure.span is not None
    assert (trace.failure.type, trace.failure.span.line) == ("TypeError", 12)
    assert "engine" not in trace.failure.traceback


def test_what_a_kernel_notes_for_itself_is_not_shown() -> None:
    trace = record(HEAD + "lstm = torch.nn.LSTM(2, 3)\nout, _ = lstm(torch.ones(4, 1, 2))\nout.sum().backward()\n")
    (node,) = [node for node in trace.nodes if node.type == "MkldnnRnnLayerBackward0"]
    contents = {tensor.id: tensor.contents for tensor in trace.tensors}
    assert {saved.field for saved in node.saved if contents.get(saved.tensor or "") == "uninitialised"} == {"result3"}
    assert not trace.findings
