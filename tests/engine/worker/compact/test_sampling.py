"""Long loops are recorded in part: the parts are right, the end is exact, and the trace says what is missing."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
import pytest
import torch

from engine import laws
from engine.limits import DEFAULT_LIMITS
from engine.trace import RunLimits, Trace
from engine.worker.capture import counts
from engine.worker.compact import sampling as thin
from tests.engine.worker import forked

pytestmark = pytest.mark.slow
record = partial(forked.record, patched=True)

HEAD = "import torch\nfrom torch import nn\ntorch.manual_seed(3)\n"

LOOPS = {
    "by hand": """
w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([0.5, 0.25])
losses = []
for i in range(120):
    loss = ((w * x).sum() - 3.0) ** 2
    losses.append(loss.item())
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad.zero_()
""",
    "optimizer and module": """
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.randn(8, 1)
losses = []
def step():
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    losses.append(loss.item())
    loss.backward()
    optimizer.step()
    return loss
for i in range(90):
    loss = step()
    if i % 30 == 0:
        print(i, loss.item())
""",
    "data edits": """
w = torch.ones(3, requires_grad=True)
losses = []
for i in range(100):
    loss = (w * w).sum()
    losses.append(loss.item())
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad = None
""",
    "total loss": """
w = torch.ones(3, requires_grad=True)
total_loss = 0
losses = []
for i in range(60):
    loss = (w * (i + 1)).sum()
    losses.append(loss.item())
    loss.backward(retain_graph=True)
    total_loss += loss
total_loss.backward()
losses.append(total_loss.item())
""",
    "recurrent state": """
cell = nn.RNNCell(2, 3)
h = torch.zeros(1, 3)
losses = []
for i in range(80):
    h = cell(torch.ones(1, 2), h)
    loss = h.sum()
    losses.append(loss.item())
    loss.backward()
    h = h.detach()
""",
    "two alternating": """
g, d = nn.Linear(2, 2), nn.Linear(2, 1)
og, od = torch.optim.SGD(g.parameters(), lr=0.01), torch.optim.SGD(d.parameters(), lr=0.01)
losses = []
for i in range(60):
    z = torch.ones(4, 2)
    od.zero_grad()
    loss_d = d(g(z).detach()).mean() - d(z).mean()
    losses.append(loss_d.item())
    loss_d.backward()
    od.step()
    og.zero_grad()
    loss_g = -d(g(z)).mean()
    losses.append(loss_g.item())
    loss_g.backward()
    og.step()
""",
    "inner loop": """
w = torch.ones(2, requires_grad=True)
losses = []
for i in range(30):
    fast = w
    for j in range(3):
        inner = (fast * fast).sum()
        losses.append(inner.item())
        g, = torch.autograd.grad(inner, fast, create_graph=True)
        fast = fast - 0.1 * g
    outer = ((fast - 1) ** 2).sum()
    losses.append(outer.item())
    outer.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
""",
    "one graph again and again": """
w = torch.ones(2, requires_grad=True)
loss = (w * 3).sum()
losses = []
for i in range(300):
    losses.append(loss.item())
    loss.backward(retain_graph=True)
""",
    "nested in a hook": """
w = torch.ones(2, requires_grad=True)
losses = []
def again(grad):
    with torch.enable_grad():
        v = torch.ones(1, requires_grad=True)
        inner = (v * 2).sum()
        inner.backward()
    return grad * v.grad
for i in range(60):
    y = w * 2
    y.register_hook(again)
    loss = y.sum()
    losses.append(loss.item())
    loss.backward()
    losses.append(2.0)
""",
    "two loops": """
losses = []
for lr in (0.1, 0.01):
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=lr, momentum=0.9)
    for i in range(60):
        optimizer.zero_grad()
        loss = (w ** 2).sum()
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
v = torch.ones(2, requires_grad=True)
for i in range(60):
    other = (v ** 3).sum()
    losses.append(other.item())
    other.backward()
    with torch.no_grad():
        v -= 0.01 * v.grad
        v.grad.zero_()
""",
    "closure": """
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.1, max_iter=4)
losses = []
def closure():
    optimizer.zero_grad()
    loss = ((w - 3) ** 4).sum()
    losses.append(loss.item())
    loss.backward()
    return loss
for i in range(25):
    optimizer.step(closure)
""",
    "views and numpy": """
import numpy
w = torch.ones(4, requires_grad=True)
buffer = numpy.zeros(4, dtype="float32")
shared = torch.from_numpy(buffer)
history = torch.zeros(100)
losses = []
for i in range(80):
    buffer += 1
    view = w.view(2, 2)[0]
    loss = (view * shared[:2]).sum()
    losses.append(loss.item())
    history[i] = loss.detach()
    loss.backward()
    w.grad.mul_(0.5)
""",
}  # fmt: skip


@pytest.fixture(params=["shadow", "mute"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Thresholds that let short loops be long ones."""
    monkeypatch.setattr(thin, "FULL", 300)
    monkeypatch.setattr(thin, "SAMPLE", 300)
    monkeypatch.setattr(thin, "EFFORT", thin.EFFORT if request.param == "shadow" else 0)
    yield request.param


def plain(code: str) -> dict[str, Any]:
    """What the program leaves without recording."""
    state = torch.random.get_rng_state()
    names: dict[str, Any] = {"print": lambda *words: None}
    exec(code, names)
    torch.random.set_rng_state(state)
    return names


def value(trace: Trace, name: str) -> list[Any]:
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    named = next(variable for variable in trace.variables if variable.name == name)
    data = tensors[named.tensor or ""].data
    return list(data or ())


@pytest.mark.parametrize("name", LOOPS)
def test_long_loops_keep_every_law(name: str, small: str) -> None:
    code = HEAD + LOOPS[name]
    trace = record(code, patient())
    assert trace.status == "ok"
    assert laws.broken(trace) == []
    assert {cut.what for cut in trace.truncated} >= {"passes"}
    assert not any(finding.code == "not_recorded" for finding in trace.findings), trace.findings
    names = plain(code)
    assert [point.loss for point in trace.curve] == pytest.approx(names["losses"])
    assert len(trace.passes) + sum(gap.passes for gap in trace.gaps) == len(names["losses"])


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_left_at_the_end_is_exact(name: str, small: str) -> None:
    code = HEAD + LOOPS[name]
    trace = record(code, patient())
    tensors, names = {tensor.id: tensor for tensor in trace.tensors}, plain(code)
    for variable in trace.variables:
        if variable.kind != "tensor":
            continue
        mine, there = tensors[variable.tensor or ""], names[variable.name]
        assert list(mine.data or ()) == there.flatten().tolist(), variable.name
        grad = there.grad if there.is_leaf else None
        kept = tensors[mine.grad].data if mine.grad else None
        assert (None if kept is None else list(kept)) == (None if grad is None else grad.tolist()), variable.name


def test_the_last_turn_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "FULL", 300)
    trace = record(HEAD + LOOPS["by hand"], patient())
    assert trace.passes[0].id == "p1"
    assert trace.passes[-1].id == "p120"
    assert len(trace.passes) < 60
    last = [op for op in trace.ops if op.name == "mul" and op.grad_mode == "grad"][-1]
    assert last.iteration == 119
    assert trace.timeline[-1].kind in ("op", "reset")
    first = next(gap for gap in trace.gaps)
    assert f"p{(first.first or 0) - 1}" in {pass_.id for pass_ in trace.passes}


ACTING = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
seen, batch = torch.randn(90, 4), torch.randn(5, 4)
def act(i):
    if i % 3 == 0:  # as where chance decides instead
        net(seen[i]).argmax().item()
def learn():
    chosen = net(batch)[range(5), [0, 1, 0, 1, 0]]
    opt.zero_grad()
    (chosen - 1).pow(2).mean().backward()
    opt.step()
for i in range(90):
    act(i)
    learn()
"""


MEASURED = """
w = torch.ones(3, requires_grad=True)
rows = torch.randn(150, 3)
for i in range(90):
    loss = (rows @ w).pow(2).mean()
    worst = max(rows[j].sum().item() for j in range(150))
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


@pytest.mark.parametrize(("code", "leaves", "most"), [(ACTING, 4, 90), (MEASURED, 1, 20)])
def test_passes_that_are_kept_have_their_forward(small: str, code: str, leaves: int, most: int) -> None:
    """Where a turn begins with a model, and where it has many operations."""
    trace = record(HEAD + code)
    nodes = {node.id: node for node in trace.nodes}
    assert trace.gaps
    assert len(trace.passes) < most
    for made in trace.passes:
        through = [nodes[visit.node] for visit in made.visits]
        assert [node.type for node in through if node.op is None] == ["AccumulateGrad"] * leaves, made.id


def test_iterations_are_the_true_ones(small: str) -> None:
    trace = record(HEAD + LOOPS["by hand"], patient())
    line = next(op.span.line for op in trace.ops if op.span is not None and op.name == "sum")
    by_pass = {}
    for step in trace.timeline:
        if step.op is not None:
            op = next(one for one in trace.ops if one.id == step.op)
            if op.name == "sum" and op.span is not None and op.span.line == line:
                latest = op.iteration
        elif step.kind == "pass":
            by_pass[step.pass_id] = latest
    assert {pass_.id: int(pass_.id[1:]) - 1 for pass_ in trace.passes} == by_pass


@pytest.mark.parametrize("name", [name for name in LOOPS if name != "nested in a hook"])
def test_the_ops_left_out_are_those_that_would_be_recorded(
    name: str, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = HEAD + LOOPS[name]
    sampled = record(code, patient())
    monkeypatch.setattr(thin, "FULL", 1_000_000)
    whole = record(code, patient())
    assert sum(gap.ops for gap in sampled.gaps) + len(sampled.ops) == len(whole.ops)


@pytest.mark.parametrize("turns", [100, 117])
def test_what_a_turn_left_out_printed_comes_after_the_gap_it_is_in(small: str, turns: int) -> None:
    code = LOOPS["by hand"].replace("range(120)", f"range({turns})") + "    if i % 7 == 0:\n        print(i + 1)\n"
    trace = record(HEAD + code, patient())
    first = last = 0
    printed: list[int] = []
    for step in trace.timeline:
        if step.kind == "pass":
            first = last = int((step.pass_id or "p0")[1:])
        elif step.kind == "gap":
            gap = trace.gaps[step.index or 0]
            first, last = gap.first or 0, gap.last or 0
        elif step.kind == "output":
            printed.append(int(trace.output[step.index or 0].text))
            assert first <= printed[-1] <= last
    assert printed == [*range(1, turns + 1, 7)]
    assert len({pass_.id for pass_ in trace.passes} & {f"p{number}" for number in printed}) < len(printed)


def test_norms_of_the_curve_are_those_of_the_gradients(small: str) -> None:
    trace = record(HEAD + LOOPS["by hand"], patient())
    names: dict[str, Any] = {}
    norms: list[float] = []
    exec(
        (HEAD + LOOPS["by hand"]).replace(
            "    w.grad.zero_()", "    norms.append(w.grad.norm().item())\n    w.grad.zero_()"
        ),
        names | {"norms": norms},
    )
    assert [point.gradient_norm for point in trace.curve] == pytest.approx(norms, rel=1e-5)


def test_a_call_of_the_engine_that_raised_has_no_norm(small: str) -> None:
    refused = LOOPS["by hand"].replace(
        "    w.grad.zero_()",
        "    try:\n        loss.backward()\n    except RuntimeError:\n        pass\n    w.grad.zero_()",
    )
    trace = record(HEAD + refused, patient())
    assert {point.gradient_norm is None for point in trace.curve[::2]} == {False}
    assert {point.gradient_norm is None for point in trace.curve[1::2]} == {True}
    assert any(point.pass_id is None for point in trace.curve)


def test_the_curve_is_whole_up_to_two_thousand_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "FULL", 200)
    monkeypatch.setattr(thin, "EFFORT", 0)
    trace = record(
        HEAD + "w = torch.ones(1, requires_grad=True)\nfor i in range(2000):\n    (w * i).backward()\n", patient()
    )
    assert len(trace.passes) < 2000
    assert [point.loss for point in trace.curve] == list(range(2000))


def test_the_curve_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "FULL", 200)
    monkeypatch.setattr(thin, "EFFORT", 0)
    monkeypatch.setattr(thin, "_CURVE", 50)
    code = HEAD + "w = torch.ones(1, requires_grad=True)\nfor i in range(2500):\n    (w * i).backward()\n"
    trace = record(code, patient())
    assert laws.broken(trace) == []
    assert trace.curve[0].number == 1
    assert trace.curve[-1].number == 2500
    assert len(trace.curve) < 500
    assert trace.curve[-1].loss == 2499.0


def test_code_that_never_ran_before_is_recorded(small: str) -> None:
    """A validation now and then, and what follows the loop."""
    code = (
        HEAD
        + """
w = torch.ones(2, requires_grad=True)
for i in range(200):
    (w * w).sum().backward()
    w.grad = None
    if i == 150:
        rare = w.exp() + 1
after = w.detach().cos()
"""
    )
    trace = record(code, patient())
    assert laws.broken(trace) == []
    assert [op.name for op in trace.ops if op.name in ("exp", "cos")] == ["exp", "cos"]


def test_passes_from_many_lines_are_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "FULL", 100)
    code = HEAD + "w = torch.ones(2, requires_grad=True)\n" + "(w * w).sum().backward()\n" * 100
    trace = record(code, patient())
    assert len(trace.passes) == 100
    assert trace.gaps == ()
    assert laws.broken(trace) == []


def test_a_loop_in_a_thread_is_recorded_as_far_as_limits_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "FULL", 100)
    code = (
        HEAD
        + """
import threading
w = torch.ones(2, requires_grad=True)
def work():
    for i in range(40):
        (w * w).sum().backward()
for i in range(40):
    (w * 2).sum().backward()
thread = threading.Thread(target=work)
thread.start()
thread.join()
for i in range(40):
    (w * 3).sum().backward()
"""
    )
    trace = record(code, patient())
    assert trace.status == "ok"
    assert [breach for breach in laws.broken(trace) if "curve" not in breach] == []
    assert len(trace.curve) == 120


def patient(**limits: Any) -> RunLimits:
    return msgspec.structs.replace(DEFAULT_LIMITS, wall_s=60.0, **limits)


def test_a_deep_chain_keeps_both_ends() -> None:
    code = (
        HEAD
        + "x = torch.tensor(1.0, requires_grad=True)\ny = x\nfor i in range(3000):\n    y = y * 1.0001\ny.backward()\n"
    )
    trace = record(code, patient(ops=500, nodes=600))
    assert laws.broken(trace) == []
    assert trace.status == "ok"
    assert len(trace.ops) == 500
    assert trace.passes[0].omitted > 0
    assert trace.passes[0].visits[0].node == trace.passes[0].roots[0].node
    assert len(trace.passes[0].accumulations) == 1
    assert any(edge.omitted for node in trace.nodes for edge in node.edges)
    whats = {cut.what: cut for cut in trace.truncated}
    assert whats["ops"].omitted == 3000 + 1 - 500
    assert whats["visits"].omitted == trace.passes[0].omitted
    grad = next(tensor for tensor in trace.tensors if tensor.id == trace.passes[0].accumulations[0].after)
    assert (grad.data or (0.0,))[0] == pytest.approx(1.0001**3000, rel=1e-3)


def test_a_wide_graph_beyond_the_limit_is_no_hooked_sum() -> None:
    """Gradients that arrive from nodes that were left out do not make a sum look changed by a hook."""
    code = (
        HEAD
        + "x = torch.tensor(1.0, requires_grad=True)\ntotal = 0\nfor i in range(400):\n    total = total + x * i\ntotal.backward()\n"
    )
    trace = record(code, patient(ops=100, nodes=150))
    assert laws.broken(trace) == []
    assert not any(met.hooked for pass_ in trace.passes for visit in pass_.visits for met in visit.sums)


def test_the_time_limit_shows_the_latest_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin, "FULL", 100)
    code = HEAD + "w = torch.ones(1, requires_grad=True)\nwhile True:\n    (w * 2).backward()\n    w.grad = None\n"
    trace = record(code, msgspec.structs.replace(DEFAULT_LIMITS, wall_s=1.0))
    assert trace.status == "limited"
    assert laws.broken(trace) == []
    kept = len(trace.passes) + sum(gap.passes for gap in trace.gaps)
    assert kept == pytest.approx(trace.curve[-1].number, rel=0.2)  # the loop goes on while another thread tells
    assert trace.curve[-1].number > len(trace.passes), "the latest turn comes after ones that were left out"


def test_changes_without_passes_are_bounded() -> None:
    """An optimizer that steps, zeroes and sets for ever without a backward."""
    code = (
        HEAD
        + """
w = torch.ones(2, requires_grad=True)
w.grad = torch.ones(2)
optimizer = torch.optim.SGD([w], lr=0.001)
for i in range(400):
    optimizer.step()
    w.grad = torch.ones(2)
    w.data = w.data * 1
    optimizer.zero_grad(set_to_none=False)
"""
    )
    trace = record(code, patient(ops=300))
    assert trace.status == "ok"
    assert laws.broken(trace) == []
    assert 250 < len(trace.updates) <= 330  # an op that writes is within the limit of ops
    (cut,) = [cut for cut in trace.truncated if cut.what == "updates"]
    assert (cut.kept, cut.limit) == (len(trace.updates), "ops")
    assert len(trace.updates) + (cut.omitted or 0) >= 1600
    assert value(trace, "w") == pytest.approx([0.999, 0.999], rel=1e-5)  # only the first step had a gradient


def test_wide_tensors_end_the_recording_of_ops_before_the_trace_is_huge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.worker.capture.counts.MOST_VALUES", 30_000)
    code = HEAD + "x = torch.rand(16, 16)\nfor i in range(600):\n    y = x * i\n"
    trace = record(code, patient())
    assert trace.status == "ok"
    assert laws.broken(trace) == []
    assert len(trace.ops) == 118  # each of 256 elements
    assert {cut.what for cut in trace.truncated} == {"ops"}


def test_prints_without_end_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.assemble.timeline.MOST_OUTPUTS", 50)
    trace = record(HEAD + "for i in range(200):\n    print(i)\n")
    assert len(trace.output) == 50
    assert "".join(output.text for output in trace.output) == "".join(f"{i}\n" for i in range(200))
    assert laws.broken(trace) == []


def test_what_is_sampled_depends_on_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that is slow, as on a busy machine, under a time limit that is near, leaves what a quick one leaves."""
    monkeypatch.setattr(thin, "FULL", 300)
    monkeypatch.setattr(thin, "SAMPLE", 300)
    loop = """import time
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
for i in range(150):
    optimizer.zero_grad()
    (w * w).sum().backward()
    optimizer.step()
"""
    quick, slow = (
        record(HEAD + loop + f"    time.sleep({pause})\n", msgspec.structs.replace(DEFAULT_LIMITS, wall_s=wall_s))
        for pause, wall_s in ((0, 60.0), (0.004, 6.0))
    )
    assert slow.status == "ok", slow.failure
    assert slow.gaps == quick.gaps != ()
    assert [pass_.id for pass_ in slow.passes] == [pass_.id for pass_ in quick.passes]
    assert slow.truncated == quick.truncated


def test_what_is_trained_is_recorded_after_much_data_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MOST_BEFORE_PASSES", 60)
    code = (
        HEAD
        + """rows = []
for i in range(50):
    rows.append(torch.randn(3) * 2 + 1)
x = torch.stack(rows)
net = nn.Linear(3, 1)
for i in range(4):
    net.zero_grad()
    net(x).pow(2).mean().backward()
"""
    )
    trace = record(code)
    assert laws.broken(trace) == []
    (cut,) = (cut for cut in trace.truncated if cut.what == "ops")
    made = [op for op in trace.ops if op.span is not None and op.span.line == 6]
    assert (len(made), cut.limit, cut.kept) == (60, "ops", len(trace.ops))
    assert (cut.omitted or 0) >= 90
    trained = [op.name for op in trace.ops if op.span is not None and op.span.line == 11]
    assert trained == ["linear", "pow", "mean"] * 4
    given = {given.id: given for given in trace.tensors}[trace.ops[-3].inputs[0]]
    assert given.shape == (50, 3)
