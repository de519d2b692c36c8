"""Several devices, the engine inside, the fields of a tensor, what lies around PyTorch. Rows 135 to 156."""

import pytest

from tests.curriculum.seen import Seen, same, words
from tests.golden import GALLERY

pytestmark = pytest.mark.slow

NN = "import torch\nfrom torch import nn\n"


def test_135_a_model_cut_in_two() -> None:
    seen = Seen(
        "first, second = nn.Linear(4, 3), nn.Linear(3, 1)\nx = torch.ones(2, 4)\nh = torch.tanh(first(x))\n"
        'there = h.to("cpu")\nsame = there is h\ncut = h.nbytes\nsecond(there).sum().backward()\n',
        imports=NN,
    )
    assert seen.variable("cut").text == "24"
    assert seen.variable("same").text == "True"


def test_135_the_parts_of_a_model_lie_in_a_lane_for_each_device() -> None:
    seen = Seen((GALLERY / "split_model.py").read_text(encoding="utf-8"), imports="")
    assert "devices_simulated" in seen.told
    assert [group.title for group in seen.graph.groups if group.kind == "device"] == ["cuda:0", "cuda:1"]
    cut = [one for one in seen.trace.transfers if one.span and one.span.line == 16]
    assert [(one.origin, one.to, one.size_bytes, one.back) for one in cut] == [
        ("cuda:0", "cuda:1", 24, False), ("cuda:1", "cuda:0", 24, True)
    ]  # fmt: skip


def test_135_a_model_cut_between_ranks_that_stand_for_devices() -> None:
    seen = Seen(
        "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
        "if dist.get_rank() == 0:\n"
        "    hidden = nn.Linear(4, 3)(torch.ones(2, 4))\n    dist.send(hidden.detach(), dst=1)\n"
        "    back = torch.empty(2, 3)\n    dist.recv(back, src=1)\n    hidden.backward(back)\n"
        "else:\n"
        "    here = torch.empty(2, 3)\n    dist.recv(here, src=0)\n    here.requires_grad_()\n"
        "    nn.Linear(3, 1)(here).sum().backward()\n    dist.send(here.grad, dst=0)\n",
        imports="# torchrun --nproc_per_node=2 pipeline.py\n" + NN,
    )
    assert "launched_ranks" in seen.told
    assert [group.title for group in seen.graph.groups if group.kind == "rank"] == ["rank 0", "rank 1"]
    sent = [seen.index.tensors[op.inputs[0]] for op in seen.trace.ops if op.name == "send"]
    assert [4 * tensor.shape[0] * tensor.shape[1] for tensor in sent] == [24, 24]


def test_136_a_layer_cut_in_two() -> None:
    seen = Seen(
        "whole = nn.Linear(4, 6, bias=False)\nx = torch.randn(2, 4)\nupper, lower = whole.weight.chunk(2)\n"
        "joined = torch.cat([x @ upper.t(), x @ lower.t()], dim=1)\nalike = torch.allclose(joined, whole(x))\n"
        "joined.sum().backward()\n",
        imports=NN,
    )
    assert seen.variable("alike").text == "True"
    assert "CatBackward0" in seen.types()


HALVES = """
import copy
net = nn.Linear(2, 1)
batch = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
net(batch).mean().backward()
one, two = copy.deepcopy(net), copy.deepcopy(net)
for part, rows in zip((one, two), batch.chunk(2)):
    part.zero_grad()
    part(rows).mean().backward()
alike = torch.allclose((one.weight.grad + two.weight.grad) / 2, net.weight.grad)
"""


def test_137_halves_of_a_batch_give_the_whole_gradient() -> None:
    assert Seen(HALVES, imports=NN).variable("alike").text == "True"


def test_138_data_parallel_passes_straight_through_here() -> None:
    seen = Seen(
        "net = nn.DataParallel(nn.Linear(2, 1))\nnames = [name for name, _ in net.named_parameters()]\n", imports=NN
    )
    assert seen.variable("names").text == "['module.weight', 'module.bias']"


def test_139_140_hooks_on_accumulators_can_average() -> None:
    seen = Seen(
        "ranks = [nn.Linear(2, 1, bias=False) for _ in range(2)]\nready = []\nfor rank in ranks:\n"
        "    rank.weight.register_post_accumulate_grad_hook(ready.append)\n"
        "for rank in ranks:\n    rank(torch.ones(1, 2)).sum().backward()\n"
        "mean = sum(rank.weight.grad for rank in ranks) / 2\n",
        imports=NN,
    )
    assert [hook.kind for hook in seen.trace.hooks] == ["accumulate", "accumulate"]
    assert same(seen.value("mean"), [[1, 1]])


def test_140_threads_share_one_lock_and_replicas_are_copied_in_each_step() -> None:
    seen = Seen((GALLERY / "global_lock.py").read_text(), imports="")
    named = [line.split(":")[0] for line in seen.printed.splitlines()]
    assert named[:2] == ["two loops, one after the other", "two loops in two threads"]
    assert named[3:] == ["scatter", "replicate", "two forwards", "gather"]
    assert seen.tensor("joined").shape == (4, 1)
    assert {op.rank for op in seen.trace.ops} == {None}


def test_139_ranks_name_the_bucket_whose_gradients_they_exchange() -> None:
    seen = Seen(
        "import os\nimport torch.distributed as dist\ndist.init_process_group('gloo')\n"
        "net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))\n"
        "net(torch.ones(1, 2) * (dist.get_rank() + 1)).sum().backward()\n"
        "grad = net.module.weight.grad\n",
        imports="# torchrun --nproc_per_node=2 train.py\n" + NN,
    )
    exchanges = [op for op in seen.trace.ops if op.bucket]
    assert [op.rank for op in exchanges] == [0, 1]
    assert len({op.collective for op in exchanges}) == 1
    added = {one.tensor for pass_ in seen.trace.passes for one in pass_.accumulations}
    assert {id_ for op in exchanges for id_ in op.bucket} == added
    assert same(seen.value("grad"), [[1.5, 1.5]])


TOY = """
class Number:
    def __init__(self, data, maker=None):
        self.data, self.maker, self.grad = data, maker, 0.0

    def __sub__(self, other):
        return Sub()(self, other)

class Sub:
    def __call__(self, a, b):
        self.before = [(a.maker, a), (b.maker, b)]
        return Number(self.forward(a.data, b.data), self)

    def forward(self, a, b):
        return a - b

    def backward(self, g):
        return g, -g

def run_backward(root):
    ready = [(root.maker, 1.0)]
    while ready:
        rule, g = ready.pop()
        for (maker, number), part in zip(rule.before, rule.backward(g)):
            number.grad += part
            if maker is not None:
                ready.append((maker, part))

a, b = Number(5.0), Number(3.0)
run_backward(a - b)
print(a.grad, b.grad)
"""


def test_142_143_144_an_engine_of_ones_own_call_by_call() -> None:
    seen = Seen(TOY, checks=("calls",))
    called = [call.function for call in seen.trace.python_calls]
    assert [name for name in called if not name.endswith("__init__")] == [
        "Number.__sub__",
        "Sub.__call__",
        "Sub.forward",
        "run_backward",
        "Sub.backward",
    ]
    assert seen.printed == "1.0 -1.0\n"


def test_144_145_the_real_engine_waits_and_has_an_order() -> None:
    seen = Seen(
        "w = torch.tensor(2.0, requires_grad=True)\ny = torch.tensor(4.0, requires_grad=True)\n"
        "error = w * 3 - y\n(error * w).backward()\n"
    )
    order = [seen.index.nodes[visit.node] for visit in seen.trace.passes[0].visits]
    assert [node.type.removesuffix("Backward0") for node in order] == [
        "Mul",
        "Sub",
        "AccumulateGrad",
        "Mul",
        "AccumulateGrad",
    ]
    words("dock.engine")


def test_146_151_a_rule_as_formula_matrix_and_code() -> None:
    seen = Seen(
        "a = torch.tensor([6.0, 1.0], requires_grad=True)\nb = torch.tensor([2.0, 4.0], requires_grad=True)\n"
        "(a / b).sum().backward()\n",
        checks=("jacobian",),
    )
    assert seen.node("DivBackward0").rule == "div"
    local = [jacobian for jacobian in seen.trace.jacobians if jacobian.node == seen.node("DivBackward0").id]
    assert [float(number) for number in local[0].values] == [0.5, 0, 0, 0.25]
    words("inspect.rule", "inspect.jacobian", "inspect.rule_code")


def test_147_148_hooks_of_a_leaf() -> None:
    seen = Seen(
        "x = torch.tensor(2.0, requires_grad=True)\nx.register_hook(lambda g: g * 2)\n"
        "x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))\n(x * -11).backward()\n(x * 1).backward()\n"
    )
    assert [hook.kind for hook in seen.trace.hooks] == ["tensor", "accumulate"] * 2
    assert seen.printed == "tensor(-22.)\ntensor(-20.)\n"


def test_150_products_of_jacobians_are_the_same() -> None:
    seen = Seen(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x ** 2\nz = y * torch.tensor([3.0, 5.0])\n"
        "z.backward(torch.tensor([1.0, 1.0]))\n",
        checks=("jacobian",),
    )
    whole = next(jacobian for jacobian in seen.trace.jacobians if jacobian.node is None)
    assert [float(number) for number in whole.values] == [6, 0, 0, 20]
    assert same(seen.grad("x"), [6, 20])
    words("jacobian.equal", "dock.jacobian")


def test_152_all_fields_of_a_tensor() -> None:
    seen = Seen(
        "a = torch.tensor(2.0, requires_grad=True)\nb = torch.tensor(6.0, requires_grad=True)\nQ = 3 * a ** 3 - b ** 2\n"
    )
    found = seen.tensor("Q")
    assert (found.data, found.device, found.dtype, found.layout, found.is_leaf) == (
        (-12.0,),
        "cpu",
        "float32",
        "strided",
        False,
    )
    fields = "data device dtype grad grad_fn grad_fn.next_functions is_cuda is_leaf is_sparse layout name ndim output_nr shape"
    words(*(f"field.{name}" for name in fields.split()))


def test_153_what_needs_no_gradient_is_left_out() -> None:
    seen = Seen("x = torch.tensor(2.0, requires_grad=True)\nc = torch.tensor(3.0)\nd = c * 4\n(x * d).backward()\n")
    assert [link.kind for link in seen.links_to("x * d")] == ["data", "ghost"]
    assert seen.grad("d") is None


def test_154_a_map_of_the_modules() -> None:
    seen = Seen("import torch.nn, torch.optim, torch.utils.data, torch.autograd\n")
    assert seen.trace.status == "ok"
    around = _said_in("around")
    assert all(f"torch.{module}" in around for module in ("utils.data", "nn", "autograd", "optim"))


def test_155_what_a_closed_room_has_no_part_in() -> None:
    assert "no_network" in Seen('torch.hub.load("pytorch/vision", "resnet18")\n').told
    assert (
        Seen("import torch\nexport = torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))\n").trace.status == "ok"
    )
    words("share.json", "share.svg")
    assert all(name in _said_in("around") for name in ("TorchServe", "Hub", "Lightning"))


def _said_in(lesson: str) -> str:
    return (GALLERY / f"{lesson}.toml").read_text(encoding="utf-8")


def test_156_nothing_has_to_be_installed() -> None:
    for line in ("pip install torch", "conda install pytorch -c pytorch", "!pip install torch"):
        assert {"shell_line", "notebook_magic"} & Seen(line + "\nimport torch\n", imports="").told.keys()
