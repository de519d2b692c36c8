"""Recomputation by checkpointing, and the user's own backward lines."""

import pytest
import torch.utils.checkpoint  # noqa: F401  # once, before the forks

from engine.trace import Op, Trace
from tests.engine.worker.forked import record

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.checkpoint import checkpoint, checkpoint_sequential\n"
SEGMENT = "def seg(x, w):\n    y = x * w\n    z = torch.zeros(3) + y\n    return z.sin()\n"
LEAVES = "x = torch.ones(3, requires_grad=True)\nw = torch.full((3,), 2.0, requires_grad=True)\n"


def _repeated(trace: Trace) -> list[tuple[str, str]]:
    ops = {op.id: op for op in trace.ops}
    return [(op.id, op.rerun_of) for op in trace.ops if op.rerun_of and ops[op.rerun_of].name == op.name]


def _named(trace: Trace, name: str) -> list[Op]:
    return [op for op in trace.ops if op.name == name]


@pytest.mark.parametrize("reentrant", [True, False])
def test_each_op_that_is_run_again_names_the_first(reentrant: bool) -> None:
    trace = record(
        HEAD + SEGMENT + LEAVES + "y = x\nfor i in range(3):\n"
        f"    y = checkpoint(seg, y, w, use_reentrant={reentrant})\ny.sum().backward()\n"
    )
    muls = _named(trace, "mul")
    assert [op.rerun_of for op in muls] == [None] * 3 + [muls[2].id, muls[1].id, muls[0].id]
    sins = _named(trace, "sin")
    assert [op.rerun_of for op in sins if op.pass_id] == [sins[2].id, sins[1].id, sins[0].id]
    made = _named(trace, "zeros")
    assert [op.rerun_of for op in made if op.pass_id] == [made[2].id, made[1].id, made[0].id]


@pytest.mark.parametrize("first, second", [("x.triu()", "x.triu(1)"), ("x.exp()", "x.exp()"), ("2 * x", "x * 2")])
def test_two_calls_of_one_kind_on_one_input_are_told_apart(first: str, second: str) -> None:
    trace = record(
        HEAD + "class Part(nn.Module):\n    def forward(self, x):\n"
        f"        b = {first} + {second}.sin()\n        return x * b\nseg = Part()\n"
        "x = torch.ones(3, 3, requires_grad=True)\n"
        "y = checkpoint(seg, checkpoint(seg, x, use_reentrant=False), use_reentrant=False)\ny.sum().backward()\n"
    )
    ops = [op for op in trace.ops if op.pass_id is None][1:-1]
    again = [op.rerun_of for op in trace.ops if op.pass_id]
    half = len(ops) // 2
    ways = [[op.id for op in ops[half:]], [op.id for op in ops[:half]]]
    assert [again[: len(again) // 2], again[len(again) // 2 :]] == [way[: len(again) // 2] for way in ways]


def test_modules_in_segments() -> None:
    trace = record(
        HEAD + "net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(4)])\n"
        "x = torch.randn(2, 4, requires_grad=True)\n"
        "checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()\n"
    )
    linears = _named(trace, "linear")
    first = [op.id for op in linears if not op.pass_id]
    again = [op.rerun_of for op in linears if op.pass_id]
    assert len(first) == 4
    assert again
    assert set(again) <= set(first)
    assert len(set(again)) == len(again)


def test_recomputed_twice_over_a_retained_graph() -> None:
    trace = record(
        HEAD + SEGMENT + LEAVES + "y = checkpoint(seg, x, w, use_reentrant=False).sum()\n"
        "y.backward(retain_graph=True)\ny.backward()\n"
    )
    muls = _named(trace, "mul")
    assert [op.rerun_of for op in muls] == [None, muls[0].id, muls[0].id]


def test_backward_of_a_function_and_hooks_repeat_nothing() -> None:
    trace = record(
        HEAD + "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return x * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
        + LEAVES + "def hook(g):\n    return g * 2\nx.register_hook(hook)\nscaled = w * 2\n"
        "Double.apply(x * 2).sum().backward()\n"
    )  # fmt: skip
    assert [op for op in trace.ops if op.pass_id]
    assert _repeated(trace) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return g * x\n",
            (8, 11),
        ),
        (
            "    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(ctx, g):\n"
            "        def inner():\n            return [g\n                ]\n        return inner()[0]\n",
            (8, 14),
        ),
        ("    @staticmethod\n    def vjp(ctx, g): return g\n", (8, 9)),
        ("    @staticmethod\n    def 反向(ctx, g): return g\n    backward = 反向\n", (8, 9)),
    ],
)
def test_a_node_knows_the_lines_of_its_own_backward(body: str, lines: tuple[int, int]) -> None:
    code = HEAD + "class Mine(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    code += "        ctx.save_for_backward(x); return x.clone()\n" + body + LEAVES + "Mine.apply(x).sum().backward()\n"
    trace = record(code)
    assert trace.status == "ok"
    node = next(node for node in trace.nodes if node.type == "MineBackward")
    assert node.code is not None
    assert (node.code.line, node.code.end_line) == lines
    assert node.code.column == 4
    assert node.code.end_column == len(code.splitlines()[lines[1] - 1])
    assert _named(trace, "Mine")


def test_setup_context_and_two_functions_of_one_name() -> None:
    same = "class Same(torch.autograd.Function):\n    @staticmethod\n    def forward(x):\n        return x.clone()\n"
    same += "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        pass\n    @staticmethod\n"
    same += "    def backward(ctx, g):\n        return g\n"
    trace = record(HEAD + same + LEAVES + "y = Same.apply(x)\n" + same + "z = Same.apply(y)\n")
    assert [node.code.line for node in trace.nodes if node.code is not None] == [11, 24]


def test_functions_of_pytorch_have_no_lines_here() -> None:
    trace = record(HEAD + SEGMENT + LEAVES + "checkpoint(seg, x, w, use_reentrant=True).sum().backward()\n")
    node = next(node for node in trace.nodes if node.type == "CheckpointFunctionBackward")
    assert node.custom
    assert node.code is None
