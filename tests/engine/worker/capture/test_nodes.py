"""Which op, pass and line a node comes from, also where the op's result does not lead to it."""

from engine import laws
from engine.trace import Node, Trace
from tests.engine.worker.forked import record

HEAD = "import torch\nimport torch.autograd.forward_ad as fwAD\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def _trace(code: str) -> Trace:
    trace = record(HEAD + code)
    assert trace.failure is None, trace.failure.traceback
    assert [finding for finding in trace.findings if finding.code == "not_recorded"] == []
    assert laws.broken(trace) == []
    return trace


def _of(trace: Trace, kind: str) -> list[Node]:
    return [node for node in trace.nodes if node.type == kind]


def test_the_node_of_a_function_that_marks_what_it_wrote_is_its_own() -> None:
    trace = _trace(
        "class Inc(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, t):\n"
        "        t.add_(1)\n"
        "        ctx.mark_dirty(t)\n"
        "        return t\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return g\n"
        "t = x * 1\n"
        "u = Inc.apply(t)\n"
        "u.sum().backward()\n"
    )
    (node,) = _of(trace, "IncBackward")
    (op,) = [op for op in trace.ops if op.name == "Inc"]
    assert (node.op, op.nodes) == (op.id, (node.id,))
    storage = next(each for each in trace.storages if each.writes)
    assert [(write.version, write.span and write.span.line) for write in storage.writes] == [(1, 7), (2, 14)]
    assert [op.name for op in trace.ops] == ["tensor", "mul", "add_", "Inc", "sum"], "nothing that autograd itself set"


def test_tangents_of_forward_mode_come_from_their_ops() -> None:
    trace = _trace(
        "with fwAD.dual_level():\n"
        "    d = fwAD.make_dual(x, torch.ones(2))\n"
        "    y = d.sin()\n"
        "    z = y * d\n"
        "    primal, tangent = fwAD.unpack_dual(z)\n"
        "    tangent.sum().backward()\n"
    )
    lines = {op.id: op.span.line for op in trace.ops if op.span is not None}
    (cos,) = _of(trace, "CosBackward0")
    assert lines[cos.op or ""] == 6, "the derivative of sin"
    assert {lines.get(node.op or "") for node in _of(trace, "MulBackward0")} == {6, 7}
    assert all(node.op is not None for node in trace.nodes if node.type != "AccumulateGrad")


def test_sums_of_gradients_belong_to_their_pass() -> None:
    trace = _trace(
        "y = torch.sin(x) * x ** 4\n"
        "for _ in range(3):\n"
        "    y, = torch.autograd.grad(y.sum(), x, create_graph=True)\n"
        "y.sum().backward()\n"
    )
    sums = [node for node in _of(trace, "AddBackward0") if node.op is None]
    assert len(sums) == 11
    assert {node.pass_id for node in sums} == {pass_.id for pass_ in trace.passes[:3]}


def test_what_no_op_made_is_not_the_last_ops() -> None:
    trace = _trace(
        "@torch.jit.script\n"
        "def f(a: torch.Tensor) -> torch.Tensor:\n"
        "    return a.exp()\n"
        "y = x * 2\n"
        "z = f(y)\n"
        "z.sum().backward()\n"
    )
    (exp,) = _of(trace, "ExpBackward0")
    (mul,) = [op for op in trace.ops if op.name == "mul"]
    assert exp.op != mul.id


def test_a_nodes_hook_of_a_module_is_told_with_its_op() -> None:
    trace = _trace(
        "m = torch.nn.Linear(2, 1)\n"
        "m.register_full_backward_hook(lambda module, given, gone: None)\n"
        "(m(x[None] * 1)).sum().backward()\n"
    )
    assert all(node.op is not None for node in _of(trace, "BackwardHookFunctionBackward"))


def test_nodes_made_within_a_transform_belong_to_its_pass() -> None:
    trace = _trace("g = torch.func.grad(lambda v: (v ** 3).sum())(x)\ng.sum().backward()\n")
    (one, _) = trace.passes
    unseen = [node for node in trace.nodes if node.op is None and node.type != "AccumulateGrad"]
    assert len(unseen) == 6 and {node.pass_id for node in unseen} == {one.id}


def test_ways_to_a_new_tensor_that_are_written_otherwise_are_ops() -> None:
    trace = _trace("rows = [row for row in reversed(x)]\ny = x.type(torch.float64)\n(rows[0] + y.sum()).backward()\n")
    assert all(node.op is not None for node in trace.nodes if node.type != "AccumulateGrad")
    assert [op.name for op in trace.ops[1:]] == ["reversed", "unbind", "type", "sum", "add"]


def test_passes_over_nested_tensors_are_whole() -> None:
    trace = _trace(
        "parts = [torch.ones(2), torch.ones(3)]\n"
        "a = torch.nested.nested_tensor(parts, requires_grad=True)\n"
        "torch.nested.to_padded_tensor(a * 2, 0.0).sum().backward()\n"
        "b = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)\n"
        "(b * 3).values().sum().backward()\n"
    )
    types = {node.id: node.type for node in trace.nodes}
    strided, jagged = ([types[visit.node] for visit in pass_.visits] for pass_ in trace.passes)
    assert (strided[-2:], jagged[-2:]) == (["MulBackward0", "AccumulateGrad"],) * 2


def test_a_module_is_traced_as_without_recording() -> None:
    trace = _trace(
        "class Scaled(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.w = torch.nn.Parameter(torch.ones(2))\n"
        "    def forward(self, t):\n"
        "        return (t * self.w).sum()\n"
        "traced = torch.jit.trace(Scaled(), torch.ones(2), check_trace=False)\n"
        "print([node.kind() for node in traced.graph.nodes()])\n"
        "traced(x.detach()).backward()\n"
    )
    (said,) = trace.output
    assert said.text == "['prim::GetAttr', 'aten::mul', 'prim::Constant', 'aten::sum']\n"
    assert len(trace.passes[0].visits) == 3


def test_unpack_hooks_run_only_in_passes_also_for_nodes_met_late() -> None:
    trace = _trace(
        "count = []\n"
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (count.append(1), t)[1]):\n"
        "    with torch._C.DisableTorchFunction():\n"
        "        y = x.sin() * x.exp()\n"
        "(y * 1).sum().backward()\n"
        "print(len(count))\n"
    )
    assert trace.output[-1].text == "4\n"
    (mul,) = [node for node in _of(trace, "MulBackward0") if len([edge for edge in node.edges if edge.to]) == 2]
    assert {saved.reason for saved in mul.saved} == {"kept_by_hooks"}


def test_a_number_of_the_program_takes_no_memory_until_backward() -> None:
    trace = _trace("y = x * 3\nz = x * 1j\nloss = torch.nn.functional.nll_loss(x.view(1, 2), torch.tensor([1]))\n")
    kept = {
        (saved.text, saved.size_bytes)
        for node in trace.nodes
        for saved in node.saved
        if saved.field in ("other", "total_weight")
    }
    assert kept == {("3", 0), ("1j", 0), ("1.0", 4)}
