"""Calls of the engine: also those that fail before it begins."""

import pytest

from engine import laws
from tests.engine.worker.forked import record

CODE = """import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
for again in range(2):
    try:
        y.backward(retain_graph=True)
    except RuntimeError:
        pass
try:
    torch.autograd.grad(y, x, torch.ones(2), create_graph=True)
except RuntimeError:
    pass
y.sum().backward()
"""


def test_a_caught_call_that_failed_before_the_engine_began_is_a_failed_pass() -> None:
    trace = record(CODE)
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    told = [(p.kind, p.failed, p.span.line if p.span else 0, p.retain_graph, p.create_graph) for p in trace.passes]
    assert told == [
        ("backward", True, 6, True, False),
        ("backward", True, 6, True, False),
        ("grad", True, 10, False, True),
        ("backward", False, 13, False, False),
    ]
    refused = trace.passes[0]
    assert [root.tensor for root in refused.roots] == [trace.ops[1].outputs[0]]
    assert (refused.visits, refused.accumulations, refused.failed_node) == ((), (), None)
    assert [pass_.caught and pass_.caught.type for pass_ in trace.passes] == [*["RuntimeError"] * 3, None]


def test_a_seed_that_the_engine_casts_was_changed_by_no_hook() -> None:
    trace = record("import torch\nx = torch.ones(2, requires_grad=True)\nx.sum().backward(torch.tensor(1))\n")
    (first, *_) = trace.passes[0].visits
    assert first.sums == ()
    assert "hook" not in [step.kind for step in trace.timeline]


def test_a_program_that_ends_there_names_the_pass() -> None:
    trace = record("import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).backward()\n")
    assert trace.failure is not None
    assert trace.failure.pass_id == trace.passes[0].id
    assert trace.passes[0].caught is None


def test_what_a_program_caught_is_told_with_the_pass_and_what_ended_it_is_not() -> None:
    again = "import torch\nx = torch.ones(3, requires_grad=True)\ny = (x * x).sum()\ny.backward()\n"
    went_on = record(f"{again}try:\n    y.backward()\nexcept RuntimeError:\n    pass\nx.numpy()\n")
    caught = went_on.passes[1].caught
    assert caught is not None
    assert (caught.type, caught.message[:21]) == ("RuntimeError", "Trying to backward th")
    ended = record(f"{again}try:\n    y.backward()\nfinally:\n    print(x.grad)\n")
    assert [pass_.caught for pass_ in ended.passes] == [None, None]


def test_gradients_meet_before_what_the_node_computes_inside() -> None:
    trace = record("""import torch
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (3 * x ** 2)
x = torch.ones(2, requires_grad=True)
y = Cube.apply(x)
(y.sum() + (y * 2).sum() + (x * 2).sum()).backward()
""")
    assert laws.broken(trace) == []
    ops = {op.id: op.name for op in trace.ops}
    kinds = [ops.get(step.op or "", step.kind) for step in trace.timeline if step.pass_id is not None]
    assert kinds[kinds.index("sum") :] == [
        "sum", "pow", "mul", "mul", "visit", "sum", "visit", "accumulate", "pass_end",
    ]  # fmt: skip


def test_gradients_meet_before_the_turn_that_a_checkpoint_runs_anew() -> None:
    trace = record("""import torch
from torch.utils.checkpoint import checkpoint
x = torch.ones(2, requires_grad=True)
y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
(y.sum() + (y * 2).sum()).backward()
""")
    assert laws.broken(trace) == []
    ops = {op.id: op.name for op in trace.ops}
    told = [ops.get(step.op or "", step.kind) for step in trace.timeline if step.pass_id is not None]
    assert told.index("sum") < told.index("exp")


def test_sums_over_a_broadcast_are_told_inside_torch_func_and_not_where_vmap_hides_an_axis() -> None:
    trace = record(
        "import torch\nfrom torch.func import grad, vmap\nb, x = torch.ones(1), torch.ones(3, 2)\n"
        "grad(lambda b: (x.sum(1) * b).sum())(b)\nvmap(grad(lambda b, row: (row * b).sum()))(torch.ones(3, 2), x)\n"
    )
    first, second = trace.passes
    assert [(one.slot, one.axes, one.shape) for visit in first.visits for one in visit.reduced] == [(1, (0,), (3,))]
    assert [one for visit in second.visits for one in visit.reduced] == []


def test_an_engine_has_one_thread_while_a_pass_is_recorded_and_no_longer() -> None:
    """An accelerator's nodes would run on another, where their visits belong to no pass."""
    code = """import torch
asked = torch._C._is_multithreading_enabled
def refuse(gradient):
    raise ValueError
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda _: print("in", asked()))
(x * x).sum().backward()
print("after", asked())
x.register_hook(refuse)
try:
    (x * x).sum().backward()
except ValueError:
    print("failed", asked())
"""
    trace = record(code)
    assert laws.broken(trace) == []
    assert "".join(piece.text for piece in trace.output) == "in False\nafter True\nin False\nfailed True\n"
    assert not [op.name for op in trace.ops if "multithreading_enabled" in op.name and "is_" not in op.name]


@pytest.mark.parametrize(("turn", "leaves"), [("d.requires_grad_(False)", ["g"]), ("pass", ["d", "g"])])
def test_a_leaf_frozen_since_its_graph_was_made_keeps_nothing_of_what_arrives(turn: str, leaves: list[str]) -> None:
    trace = record(
        "import torch\ng, d = torch.tensor(3.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)\n"
        f"y = g * d\n(d * d).backward()\n{turn}\ny.backward()\n"
    )
    assert laws.broken(trace) == []
    names = {tensor.id: tensor.names[0] for tensor in trace.tensors if tensor.names}
    assert sorted(names[added.tensor] for added in trace.passes[1].accumulations) == leaves
    assert ("gradient_added_up" in {finding.code for finding in trace.findings}) == (len(leaves) > 1)
