"""The model of the engine takes the nodes PyTorch took, and says so where it cannot know."""

from collections.abc import Iterator, Sequence

import msgspec
import pytest

from engine import run
from engine.replay import NoSuchPass, Replay, engine_view, failed_node
from engine.replay.types import Arrived, Engine, EngineState, Open
from engine.trace import Pass, Trace


def _played(trace: Trace, pass_: Pass) -> Replay:
    replay = Replay({node.id: node for node in trace.nodes}, pass_)
    while replay.advance(told=False) is not None:
        pass
    return replay


def _program(*lines: str) -> Trace:
    return run("\n".join(("import torch", *lines)))


def _types(trace: Trace, nodes: Sequence[str]) -> list[str]:
    by_id = {node.id: node.type for node in trace.nodes}
    return [by_id[node] for node in nodes]


DIAMOND = ("x = torch.tensor(3., requires_grad=True)", "y = x * x", "z = y + y.sin()", "z.backward()")


def test_counts_buffers_and_queue_before_each_step() -> None:
    trace = _program(*DIAMOND)
    (one,) = trace.passes
    engine = engine_view(trace, one.id)
    assert engine.total == len(engine.steps) == 4
    assert _types(trace, [step.node for step in engine.steps]) == [
        "AddBackward0", "SinBackward0", "MulBackward0", "AccumulateGrad",
    ]  # fmt: skip
    add, sin, mul, sink = (step.node for step in engine.steps)
    assert {each.node: each.count for each in engine.state.open} == {sin: 1, mul: 2, sink: 2}
    assert engine.state.queue == (add,)
    assert engine.state.arrived == (Arrived(node=add, input_nr=0, tensor=one.roots[0].seed),)
    first, second, third, last = engine.steps
    assert first.closed == (Open(node=mul, count=1), Open(node=sin, count=0))
    assert first.ready == (sin,)
    assert second.ready == (mul,)
    assert [each.tensor for each in third.sent] == list(one.visits[2].left), "parallel edges both send"
    assert third.closed == (Open(node=sink, count=1), Open(node=sink, count=0))
    assert (last.visit, last.sent, last.ready) == (3, (), ())


def _applied(engine: Engine) -> Iterator[EngineState]:
    """The state before each step, from the state before the first one and what each step changed."""
    opened = {each.node: each.count for each in engine.state.open}
    arrived = list(engine.state.arrived)
    for step in engine.steps:
        yield EngineState(
            open=tuple(Open(node=node, count=count) for node, count in opened.items()),
            arrived=tuple(arrived),
            queue=step.queue,
        )
        arrived = [each for each in arrived if each.node != step.node] + list(step.sent)
        for each in step.closed:
            opened[each.node] = each.count
            if not each.count:
                del opened[each.node]


BRANCHES = (
    "x = torch.ones(2, requires_grad=True)",
    "w = torch.ones(2, requires_grad=True)",
    "y = x * 2",
    "a = (w * y).sum()",
    "b = (y * 3).sum()",
    "torch.autograd.backward([a, b, y.sum()])",
)


PATHS = ("x = torch.tensor(2.0, requires_grad=True)", "(x * x + x**3 + torch.sin(x)).backward()")


@pytest.mark.parametrize("lines", [DIAMOND, BRANCHES, PATHS])
def test_a_stretch_is_what_the_steps_before_it_lead_to(lines: tuple[str, ...]) -> None:
    trace = _program(*lines)
    pass_id = trace.passes[0].id
    whole = engine_view(trace, pass_id)
    for number, state in enumerate(_applied(whole)):
        part = engine_view(trace, pass_id, number, 1)
        assert part.steps == whole.steps[number : number + 1]
        assert part.state.queue == state.queue
        assert part.state.open == state.open
        assert part.state.arrived == state.arrived
    end = engine_view(trace, pass_id, whole.total + 7, 5)
    assert (end.steps, end.start, end.total, end.state.queue) == ((), whole.total, whole.total, ())


def test_inputs_leave_nodes_out_and_capture_gradients() -> None:
    trace = _program(*BRANCHES[:-1], "torch.autograd.grad([a, b], [y, x])")
    engine = engine_view(trace, "p1")
    assert engine.agrees
    types = _types(trace, [step.node for step in engine.steps])
    assert types[-1] == "AccumulateGrad"
    assert [(step.outcome, step.captured) for step in engine.steps[-2:]] == [("ran", True), ("captured", True)]
    assert engine.steps[-1].visit is None
    leaf_w = next(node.id for node in trace.nodes if node.variable == trace.variables[1].tensor)
    named = {each.node for step in engine.steps for each in step.sent} | {each.node for each in engine.state.open}
    assert leaf_w not in named, "nobody asked for the gradient of w"


def test_a_root_that_leads_nowhere_is_skipped() -> None:
    trace = _program(*BRANCHES[:-1], "print(torch.autograd.grad(b, [w], allow_unused=True))")
    (step,) = engine_view(trace, "p1").steps
    assert (step.outcome, step.sent) == ("skipped", ())


def test_an_undefined_gradient_closes_a_dependency() -> None:
    trace = _program(
        "class Half(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, a, b): return a + b",
        "    @staticmethod",
        "    def backward(ctx, g): return g, None",
        "x = torch.ones(1, requires_grad=True)",
        "y = x.exp()",
        "Half.apply(x, y).sum().backward()",
    )
    engine = engine_view(trace, "p1")
    assert engine.agrees
    half = next(step for step in engine.steps if len(step.sent) == 2)
    assert [each.tensor is None for each in half.sent] == [False, True]
    assert _types(trace, half.ready) == ["ExpBackward0"]


def test_a_failed_pass_ends_in_the_node_that_raised() -> None:
    trace = _program(
        "x = torch.ones(2, requires_grad=True)", "y = x.exp()", "z = y.sin().sum()", "y.add_(1)", "z.backward()"
    )
    (one,) = trace.passes
    engine = engine_view(trace, one.id)
    assert one.failed
    last = engine.steps[-1]
    assert (last.outcome, last.visit, last.sent) == ("failed", None, ())
    assert last.node == one.failed_node
    assert _types(trace, [last.node]) == ["SinBackward0"]
    assert len(engine.state.open) == 3, "sin, exp and the leaf wait for sum"


@pytest.mark.parametrize(
    "lines",
    [
        ("x = torch.ones(2)", "x.sum().backward()"),
        ("x = torch.ones(2, requires_grad=True)", "x.exp().backward()"),
        ("x = torch.ones((), requires_grad=True)", "torch.autograd.grad(x * 2, [torch.ones(1, requires_grad=True)])"),
        (  # in the hook of a node that had run: what would have come next did nothing
            "a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)",
            "a.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.mul_(0.1))",
            "(a * b).sum().backward()",
        ),
    ],
)
def test_a_pass_that_failed_in_no_node_names_none(lines: tuple[str, ...]) -> None:
    trace = _program(*lines)
    for pass_ in trace.passes:
        assert pass_.failed
        assert pass_.failed_node is None
        assert all(step.outcome != "failed" for step in engine_view(trace, pass_.id).steps)


def test_what_the_trace_left_out_is_said() -> None:
    trace = _program(*DIAMOND)
    (one,) = trace.passes
    nodes = {node.id: node for node in trace.nodes}
    short = msgspec.structs.replace(one, visits=one.visits[:2])
    assert _played(msgspec.structs.replace(trace, passes=(short,)), short).reason == "visits"
    sin = next(node.id for node in trace.nodes if node.type == "SinBackward0")
    fewer = {key: node for key, node in nodes.items() if key != sin}
    assert Replay(fewer, one).reason == "nodes"
    unknown = msgspec.structs.replace(one, inputs=("t1",))
    assert Replay(nodes, unknown).reason == "edges"


def test_an_order_the_model_does_not_know_is_said_not_hidden() -> None:
    trace = _program(*BRANCHES)
    (one,) = trace.passes
    nodes = {node.id: node for node in trace.nodes}
    swapped = msgspec.structs.replace(one, visits=(one.visits[1], one.visits[0], *one.visits[2:]))
    replay = Replay(nodes, swapped)
    first = replay.advance()
    assert first is not None
    assert (first.node, first.expected) == (one.visits[1].node, one.visits[0].node)
    assert not replay.agrees
    impossible = msgspec.structs.replace(one, visits=tuple(reversed(one.visits)))
    replay = Replay(nodes, impossible)
    assert replay.advance() is None
    assert (replay.reason, replay.agrees) == ("order", False)
    repeated = msgspec.structs.replace(one, visits=(*one.visits, one.visits[0]))
    assert _played(msgspec.structs.replace(trace, passes=(repeated,)), repeated).reason == "order"


def test_an_empty_pass_has_no_steps() -> None:
    one = Pass(id="p1", kind="backward", roots=(), visits=(), accumulations=(), failed=True)
    assert failed_node({}, one) is None


def test_a_pass_that_does_not_exist_is_refused() -> None:
    with pytest.raises(NoSuchPass, match="p9"):
        engine_view(_program("x = 1"), "p9")


@pytest.mark.slow
def test_a_long_pass_is_told_in_stretches() -> None:
    trace = _program(
        "x = torch.ones((), requires_grad=True)", "y = x", "for _ in range(10_000): y = y * 1.0", "y.backward()"
    )
    engine = engine_view(trace, "p1", 9_990, 5)
    assert (engine.total, engine.start, len(engine.steps), engine.agrees) == (10_001, 9_990, 5, True)
    assert len(engine.state.open) == 10
    assert len(msgspec.json.encode(engine)) < 5_000


def test_ready_nodes_told_with_a_step_are_bounded() -> None:
    trace = _program("w = [torch.ones(1, requires_grad=True) for _ in range(100)]", "torch.cat(w).sum().backward()")
    engine = engine_view(trace, "p1", 2, 1)
    assert (len(engine.steps[0].queue), engine.steps[0].queued, len(engine.state.queue)) == (32, 100, 100)
    assert engine.agrees
