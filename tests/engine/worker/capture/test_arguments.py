"""What an op was given is told as text that is bounded, and that a program cannot tell was made."""

from tests.engine.worker.forked import record

HUGE = """import torch
x = torch.ones(2)
for number in (10**70, 10**200, 10**5000):
    for call in (x.mul, lambda n: torch.full((2,), fill_value=n), lambda n: x[0:n]):
        try:
            call(number)
        except OverflowError:
            print("too large")
"""


def test_a_number_of_any_length_is_told_shortly_and_refused_as_pytorch_refuses_it() -> None:
    trace = record(HUGE)
    texts = [op.arguments[-1].text or "" for op in trace.ops[1:]]
    assert texts[:2] == [str(10**70)] * 2
    assert texts[3:5] == ["1" + "0" * 78 + "…"] * 2
    assert texts[6:] == ["<int>", "<int>", "<slice>"]
    assert max(len(text) for text in texts) == 80
    assert "".join(said.text for said in trace.output) == "too large\n" * 6


def test_tensors_in_lists_of_lists_are_inputs_too() -> None:
    trace = record(
        "import torch\na, b = torch.ones(2)\nc = torch.tensor([[1, a], [0, 0], [b, a]])\nd = torch.tensor([[1], [2]])\n"
    )
    *_, made, plain = trace.ops
    assert (len(set(made.inputs)), plain.inputs) == (2, ())
    assert made.arguments[0].tensors == (None, made.inputs[0], None, made.inputs[1], made.inputs[0])
