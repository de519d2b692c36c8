"""Devices that the CPU simulates keep PyTorch's rules and change no number."""

import re

import pytest

import engine
from engine.graph import Level, view
from engine.laws import broken
from engine.trace import Trace

HEAD = "# devices: cuda:0, cuda:1\nimport torch\nfrom torch import nn\n"
X = "x = torch.ones(2, device='cuda:0')\ny = torch.ones(2, device='cuda:1')\n"
MODEL = """import torch
from torch import nn
torch.manual_seed(0)
lower = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Tanh()).to(one)
upper = nn.LSTM(3, 2, batch_first=True).to(two)
optimizer = torch.optim.{optimizer}([*lower.parameters(), *upper.parameters()], lr=0.1)
scale = torch.tensor(1.5, requires_grad=True)
x = torch.randn(5, 4).to(one)
for step in range(3):
    optimizer.zero_grad()
    hidden = lower(x) * scale
    crossed = hidden.to(two)
    out = upper(crossed[None])[0][0]
    loss = (out.to(one) - x[:, :2]).pow(2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(lower.parameters(), 1.0)
    optimizer.step()
    print(loss.item(), scale.grad.item(), [p.grad.norm().item() for p in optimizer.param_groups[0]["params"]])
"""


def run(code: str) -> Trace:
    trace = engine.run(code)
    assert not list(broken(trace))
    return trace


def said(code: str) -> list[str]:
    """What a program prints that ends well."""
    trace = run(HEAD + code)
    assert trace.failure is None, trace.failure
    return "".join(each.text for each in trace.output if each.stream == "stdout").splitlines()


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_numbers_are_those_of_the_program_without_devices(optimizer: str) -> None:
    placed = 'one, two = torch.device("cuda:0"), torch.device("cuda:1")\n'
    code = MODEL.format(optimizer=optimizer)
    on_cpu = run(code.replace("torch.manual", 'one = two = torch.device("cpu")\ntorch.manual', 1))
    on_two = run("# devices: cuda:0, cuda:1\n" + code.replace("torch.manual", f"{placed}torch.manual", 1))
    assert on_two.failure is None, on_two.failure
    found, wanted = ([float(n) for n in re.findall(r"-?\d\.\d+(?:e-\d+)?", "".join(o.text for o in trace.output))]
                     for trace in (on_two, on_cpu))  # fmt: skip
    assert len(wanted) == 3 * 10
    assert found == pytest.approx(wanted, rel=1e-4, abs=1e-7)


def test_each_state_says_its_device_and_a_finding_says_that_it_is_simulated() -> None:
    trace = run(
        HEAD + "net = nn.Linear(2, 1).to('cuda:1')\nx = torch.ones(1, 2, device='cuda:0', requires_grad=True)\n"
        "h = x * 2\nloss = net(h.cuda(1)).sum()\nloss.backward()\ntorch.optim.Adam(net.parameters()).step()\n"
    )
    where = {name: tensor.device for tensor in trace.tensors for name in tensor.names}
    assert {name: where[name] for name in ("x", "h", "loss", "net.weight")} == {
        "x": "cuda:0", "h": "cuda:0", "loss": "cuda:1", "net.weight": "cuda:1"
    }  # fmt: skip
    assert (where["x.grad"], where["net.weight.grad"]) == ("cuda:0", "cuda:1")
    device_of = {tensor.id: tensor.device for tensor in trace.tensors}
    copy = next(node for node in trace.nodes if node.type == "ToCopyBackward0")
    visit = next(visit for visit in trace.passes[0].visits if visit.node == copy.id)
    assert [device_of[tensor] for tensor in (*visit.entered, *visit.left) if tensor] == ["cuda:1", "cuda:0"]
    assert device_of[trace.passes[0].roots[0].seed or ""] == "cuda:1"
    assert {device_of[change.after] for change in trace.updates[-1].state if change.after} == {"cpu", "cuda:1"}
    (told,) = [finding for finding in trace.findings if finding.code == "devices_simulated"]
    assert (told.span and told.span.line, told.parameters) == (1, {"devices": "cuda:0, cuda:1"})
    assert trace.environment.simulated_devices == ("cuda:0", "cuda:1")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x + y", "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!"),
        ("torch.ones(2).add_(x)", "but found at least two devices, cuda:0 and cpu!"),
        ("torch.stack([x.sum(), torch.tensor(1.)])", "but found at least two devices, cuda:0 and cpu!"),
        ("nn.Linear(2, 2).to('cuda:1')(x)", "but found at least two devices, cuda:0 and cuda:1!"),
        ("torch.ones(2)[y.long()]", "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
        ("x.grad = y", "assigned grad has data located on a different device"),
        ("x.numpy()", "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy"),
        ("x.to('cuda:9')", "CUDA error: invalid device ordinal"),
        ("torch.ones(2, device='cuda:2')", "CUDA error: invalid device ordinal"),
        ("x.cuda(-1)", "Invalid device string: 'cuda:-1'"),
        ("torch.cuda.memory_allocated()", "torch.cuda.memory_allocated: the devices of this run are simulated"),
        ("torch.cuda.set_device(7)", "CUDA error: invalid device ordinal"),
        ("x.to('gpu')", "device type at start of device string: gpu"),
        ("x.to(1, 2, 3, 4, 5)", "to() takes from 0 to 4 positional arguments but 5 were given"),
        ("x.register_hook(print); w = x.requires_grad_(); w.register_hook(lambda g: g + y); (w * 2).sum().backward()",
         "cannot register a hook on a tensor that doesn't require gradient"),
        ("w = x.requires_grad_(); w.register_hook(lambda g: g + y); (w * 2).sum().backward()", "cuda:0 and cuda:1!"),
    ],
)  # fmt: skip
def test_what_pytorch_refuses_is_refused_in_its_words(code: str, message: str) -> None:
    failure = run(HEAD + X + code).failure
    assert failure is not None
    assert message in failure.message


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("print(x, x.device, x.is_cuda, x.get_device(), x.type())",
         "tensor([1., 1.], device='cuda:0') cuda:0 True 0 torch.cuda.FloatTensor"),
        ("print(f'{y}', [y.sum()], f'{y.sum():.1f}')",
         "tensor([1., 1.], device='cuda:1') [tensor(2., device='cuda:1')] 2.0"),
        ("print((x * torch.tensor(2.)).device, x[torch.tensor([0])].device, x.view(2, 1).t().device)",
         "cuda:0 cuda:0 cuda:0"),
        ("print(x.to('cuda:0') is x, x.to(y).device, x.cpu().device, x.to(torch.float64).device, x.cuda() is x)",
         "True cuda:1 cpu cuda:0 True"),
        ("print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device())", "True 2 0"),
        ("with torch.cuda.device(1): print(torch.ones(1).cuda().device, torch.zeros(1, device='cuda').device)",
         "cuda:1 cuda:1"),
        ("torch.set_default_device('cuda:1')\nprint(torch.ones(2).device, nn.Linear(2, 2)(torch.ones(2)).device)",
         "cuda:1 cuda:1"),
        ("with torch.device('cuda:1'): print(nn.Dropout()(torch.ones(2)).device, torch.tensor([1]).device)",
         "cuda:1 cuda:1"),
        ("x.data = y\nprint(x.device)", "cuda:1"),
        ("x.copy_(y); x[0] = y[1]\nprint(x.device)", "cuda:0"),
        ("import copy, pickle\nprint(copy.deepcopy(y).device, pickle.loads(pickle.dumps(y)).device)", "cuda:1 cuda:1"),
        ("import io\nkept = io.BytesIO()\ntorch.save(y, kept)\n"
         "for at in None, 'cpu', 'cuda:0':\n    kept.seek(0)\n    print(torch.load(kept, map_location=at).device, end=' ')",
         "cuda:1 cpu cuda:0 "),
        ("print(torch.as_tensor(x, device='cuda:1').device, x.new_zeros(1).device, torch.zeros_like(y).device)",
         "cuda:1 cuda:0 cuda:1"),
        ("w = y.requires_grad_()\nw.register_hook(lambda g: print(g.device, end=' '))\n(w.to(x) * x).sum().backward()\n"
         "print(w.grad.device, torch.autograd.grad((w * 2).sum(), w)[0].device)",
         "cuda:1 cuda:1 cuda:1 cuda:1"),
        ("class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
         "    @staticmethod\n    def backward(ctx, g):\n        print(g.device, (g * 2).device, end=' ')\n        return g * 2\n"
         "w = torch.ones(2, requires_grad=True)\nTwice.apply(w.to('cuda:1')).sum().backward()\nprint(w.grad.device)",
         "cuda:1 cuda:1 cpu"),
        ("import threading\nt = threading.Thread(target=lambda: print((x * 2).device))\nt.start(); t.join()", "cuda:0"),
        ("w = torch.ones(2, requires_grad=True)\n(g,) = torch.autograd.grad((w.cuda() ** 3).sum(), w, create_graph=True)\n"
         "(h,) = torch.autograd.grad(g.sum(), w)\nprint(g.device, h)", "cpu tensor([6., 6.])"),
        ("from torch.func import grad, vmap\ndef f(y):\n    print(y.device, end=' ')\n    return (y * y).sum()\n"
         "print(vmap(grad(f))(y[:, None]).device)", "cuda:1 cuda:1"),
        ("s = torch.eye(2).to('cuda:1').to_sparse()\nprint(s.device, (s @ y[:, None]).device, s.cpu().device)",
         "cuda:1 cuda:1 cpu"),
        ("words = nn.Embedding(3, 2, sparse=True).cuda(1)\nwords(torch.tensor([1], device='cuda:1')).sum().backward()\n"
         "print(words.weight.grad.is_sparse, words.weight.grad.device)", "True cuda:1"),
    ],
)  # fmt: skip
def test_tensors_are_where_pytorch_has_them(code: str, printed: str) -> None:
    assert said(X + code) == printed.splitlines()


CUT = (
    HEAD
    + """lower = nn.Linear(4, 3).to('cuda:0')
upper = nn.Linear(3, 1).to('cuda:1')
x = torch.ones(2, 4, device='cuda:0')
for turn in range(2):
    loss = upper(lower(x).to('cuda:1')).to('cuda:0').mean()
    loss.backward()
"""
)


def test_bytes_across_each_cut_are_told_both_ways() -> None:
    told = [(one.span and one.span.line, one.origin, one.to, one.times, one.size_bytes, one.back, one.predicted)
            for one in run(CUT).transfers]  # fmt: skip
    assert told == [
        (4, "cpu", "cuda:0", 2, 60, False, False),
        (5, "cpu", "cuda:1", 2, 16, False, False),
        (8, "cuda:0", "cuda:1", 2, 48, False, False),
        (8, "cuda:1", "cuda:0", 2, 16, False, False),
        (8, "cuda:0", "cuda:1", 2, 16, True, False),
        (8, "cuda:1", "cuda:0", 2, 48, True, False),
    ]


@pytest.mark.parametrize("level", ["both", "forward", "autograd"])
def test_each_stretch_on_a_device_is_a_lane(level: Level) -> None:
    graph = view(run(CUT), level=level)
    lanes = [group for group in graph.groups if group.parent is None]
    assert [(lane.kind, lane.title) for lane in lanes] == [
        ("device", "cuda:0"), ("device", "cuda:1"), ("device", "cuda:0")
    ]  # fmt: skip
    around = {group.id: group.parent for group in graph.groups}

    def lane_of(group: str | None) -> str | None:
        while group is not None and around[group] is not None:
            group = around[group]
        return group

    lane = {box.id: lane_of(box.group) for box in graph.boxes}
    assert None not in lane.values()
    assert not [box for box in graph.boxes if box.kind == "ghost"]
    order = [group.id for group in lanes]
    crossed = [(order.index(lane[one.source] or ""), order.index(lane[one.target] or "")) for one in graph.links]
    assert crossed and all(target in (source, source + 1) for source, target in crossed)


def test_one_device_has_no_lanes() -> None:
    graph = view(run(CUT.replace("cuda:1'", "cuda:0'")))
    assert all(group.kind != "device" for group in graph.groups)


@pytest.mark.parametrize(
    "names", ["cuda:1", "cuda:0, cuda:0", "cpu", ", ".join(f"cuda:{n}" for n in range(100)), "", "gpu0"]
)
def test_a_comment_that_names_them_otherwise_is_told_so(names: str) -> None:
    trace = run(f"# devices: {names}\nimport torch\nprint(torch.cuda.is_available())\ntorch.ones(2).to('cuda:0')\n")
    assert trace.failure is not None
    assert trace.failure.message == "Torch not compiled with CUDA enabled"
    assert trace.output[0].text.strip() == "False"
    assert [finding.span and finding.span.line for finding in trace.findings if finding.code == "devices_misread"] == [
        1
    ]


@pytest.mark.parametrize("comment", ["# devices: one GPU if there is any, cuda or cpu", "# devices: cpu"])
def test_a_sentence_about_devices_is_only_a_comment(comment: str) -> None:
    trace = run(f"{comment}\nimport torch\ntorch.ones(2, requires_grad=True).sum().backward()\n")
    assert (trace.status, trace.findings) == ("ok", ())


@pytest.mark.parametrize("code", ["x = 1\n# devices: cuda:0, cuda:1\n", "'''\n# devices: cuda:0, cuda:1\n'''\n", ""])
def test_nothing_is_simulated_unasked(code: str) -> None:
    trace = run(code + "import torch\nprint(torch.cuda.is_available())\ntorch.ones(2).to('cuda:0')\n")
    assert trace.failure is not None
    assert trace.failure.message == "Torch not compiled with CUDA enabled"
    assert trace.output[0].text.strip() == "False"
