"""Copies between devices: those that were made, and those that a line would make on a GPU."""

import pytest
from msgspec.structs import replace

from engine import laws
from engine.derive.transfers import transfers
from engine.trace import Trace
from engine.trace_index import TraceIndex
from tests.engine.worker.forked import record

START = """import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(16, 4)
net = torch.nn.Linear(4, 2)
"""
Told = dict[int, tuple[str, int, int, int]]


def _told(trace: Trace) -> Told:
    """By line: direction, copies, different tensors, bytes."""
    found = {
        transfer.span.line: (transfer.to, transfer.times, transfer.tensors, transfer.size_bytes)
        for transfer in trace.transfers
        if transfer.span
    }
    assert len(found) == len(trace.transfers)
    return found


FORESEEN: dict[str, tuple[str, Told]] = {
    "a tensor": ("y = x.to(device)\n", {5: ("cuda", 1, 1, 256)}),
    "its bytes, also of a view": ("y = x[:, :1].to(device)\n", {5: ("cuda", 1, 1, 64)}),
    "a module, parameter by parameter": ("net.to(device)\n", {5: ("cuda", 2, 2, 40)}),
    "a module only once": ("net.to(device)\nnet.to(device)\n", {5: ("cuda", 2, 2, 40)}),
    "each turn of a loop": ("for n in range(3):\n    y = x.to(device)\n", {6: ("cuda", 3, 1, 768)}),
    "a variable that was rebound only once": ("for n in range(3):\n    x = x.to(device)\n", {6: ("cuda", 1, 1, 256)}),
    "what is read back": ("net.to(device)\ny = net(x.to(device))\nprint(y.sum().item())\n", {
        5: ("cuda", 2, 2, 40), 6: ("cuda", 1, 1, 256), 7: ("cpu", 1, 1, 4)}),
    "what is brought back, once": ("y = (x.to(device) * 2).cpu().numpy()\n", {}),
    "what is brought back by its name": ("y = x.to(device) * 2\nz = y.to('cpu')\nw = z.tolist()\n", {
        5: ("cuda", 1, 1, 256), 6: ("cpu", 1, 1, 256)}),
    "what CUDA was asked for by name": ("try: y = x.cuda()\nexcept Exception: pass\n", {5: ("cuda", 1, 1, 256)}),
    "a parameter that was updated there": (
        "net.to(device)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet.weight.sum().backward()\nopt.step()\n"
        "print(net.weight.tolist())\n",
        {5: ("cuda", 2, 2, 40), 9: ("cpu", 1, 1, 32)}),
    "one of two tensors": ("y = x.to(device)\nz = torch.ones(3)\nprint(z.sum().item())\n", {5: ("cuda", 1, 1, 256)}),
    "a type and a device": ("y = x.to(device, torch.float64)\n", {5: ("cuda", 1, 1, 256)}),
}  # fmt: skip


@pytest.mark.parametrize(("code", "told"), FORESEEN.values(), ids=FORESEEN.keys())
def test_what_a_gpu_would_be_sent_is_foretold(code: str, told: Told) -> None:
    trace = record(START + code)
    assert laws.broken(trace) == []
    assert trace.transfers and all(transfer.predicted for transfer in trace.transfers)
    if told:
        assert _told(trace) == told
    else:
        assert [(transfer.to, transfer.size_bytes) for transfer in trace.transfers] == [("cuda", 256), ("cpu", 256)]


NOTHING = {
    "another type": "y = x.to(torch.float64)\nz = x.double()\n",
    "another tensor's type": "y = x.to(torch.ones(1, dtype=torch.float64))\n",
    "back from where it is": "y = x.to('cpu')\nz = x.cpu().numpy()\nw = x.sum().item()\n",
    "made there": "y = torch.ones(3, device=device) * 2\n",
}


@pytest.mark.parametrize("code", NOTHING.values(), ids=NOTHING.keys())
def test_nothing_is_foretold_where_nothing_moves(code: str) -> None:
    assert record(START + code).transfers == ()


def test_a_program_that_does_not_speak_of_cuda_has_none() -> None:
    code = "import torch\ndevice = torch.device('cpu')\nx = torch.ones(2).to(device)\n"
    assert record(code).transfers == ()


def test_copies_that_were_made_are_told_as_such() -> None:
    """The trace of a run on the CPU, with devices as a GPU's run has them."""
    trace = record(
        "import torch\nx = torch.ones(4)\ny = x.to(torch.device('cpu'), copy=True)\nz = (y * 2).cpu()\n"
        "w = y.sum().item()\n"
    )
    moved = {op.outputs[0] for op in trace.ops if op.name in ("to", "mul", "sum")}
    tensors = tuple(replace(tensor, device="cuda:0") if tensor.id in moved else tensor for tensor in trace.tensors)
    (product,) = [op.outputs[0] for op in trace.ops if op.name == "mul"]
    home = replace(next(tensor for tensor in tensors if tensor.id == product), id="t99", device="cpu")
    ops = tuple(replace(op, outputs=("t99",)) if op.name == "cpu" else op for op in trace.ops)
    made = transfers(TraceIndex(replace(trace, tensors=(*tensors, home), ops=ops)))
    assert [(transfer.to, transfer.size_bytes, transfer.predicted) for transfer in made] == [
        ("cuda:0", 16, False),
        ("cpu", 16, False),
        ("cpu", 4, False),
    ]


def test_a_tensor_that_the_trace_left_out_is_followed_by_its_number() -> None:
    trace = record(START + "y = x.to(device) * 2\nz = y * 2\nprint(z.sum().item())\n")
    (y,) = [op.outputs[0] for op in trace.ops if op.name == "mul"][:1]
    kept = tuple(tensor for tensor in trace.tensors if tensor.id != y)
    made = transfers(TraceIndex(replace(trace, tensors=kept)))
    assert [(one.to, one.size_bytes) for one in made] == [("cuda", 256), ("cpu", 4)]


@pytest.mark.slow
def test_many_places_are_not_all_told() -> None:
    trace = record(START + "".join(f"y{n} = x.to(device)\n" for n in range(520)))
    assert len(trace.transfers) == 500


def test_wrong_counts_break_the_law() -> None:
    trace = record(START + "y = x.to(device)\n")
    (transfer,) = trace.transfers
    assert laws.broken(replace(trace, transfers=(replace(transfer, tensors=2),))) != []
    assert laws.broken(replace(trace, transfers=(replace(transfer, size_bytes=-1),))) != []
    silent = replace(trace.program, code=trace.program.code.replace("cuda", "gpu"))
    assert laws.broken(replace(trace, program=silent)) != []
