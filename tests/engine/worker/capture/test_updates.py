"""Changes of values outside the graph: of which kind, on which line, before and after."""

import msgspec
import pytest

from engine import laws
from engine.limits import DEFAULT_LIMITS
from engine.trace import Trace, Update
from tests.engine.worker.forked import record

HEAD = """import torch, copy, threading
x = torch.tensor([1.0, 2.0], requires_grad=True)
def go(): (x * x).sum().backward()
go()
"""


def _trace(code: str) -> Trace:
    trace = record(HEAD + code)
    assert trace.failure is None, trace.failure.traceback
    assert [finding for finding in trace.findings if finding.code == "not_recorded"] == []
    assert laws.broken(trace) == []
    return trace


def _data(trace: Trace, tensor: str | None) -> tuple[object, ...] | None:
    return next((one.data for one in trace.tensors if one.id == tensor), None)


def _of(trace: Trace, name: str) -> list[tuple[str, tuple[object, ...] | None, tuple[object, ...] | None]]:
    """Kind, before and after of every update of a tensor, by its name."""
    return [
        (update.kind, _data(trace, change.before), _data(trace, change.after))
        for update in trace.updates
        for change in update.changes
        if change.name == name
    ]


RESETS = [
    "x.grad = None", "del x.grad", "setattr(x, 'grad', None)", "x.grad.zero_()", "x.grad.data.zero_()", "x.grad *= 0",
    "x.grad.mul_(0)", "x.grad.fill_(0)", "x.grad[:] = 0", "x.grad.copy_(torch.zeros(2))", "x.grad = torch.zeros_like(x)",
    "torch._foreach_zero_([x.grad])", "x.grad.sub_(x.grad)", "x.grad.data = torch.zeros(2)", "x.grad.detach().zero_()",
]  # fmt: skip


@pytest.mark.parametrize("line", RESETS)
def test_a_gradient_reset_by_hand(line: str) -> None:
    trace = _trace(f"{line}\ngo()\n")
    ((kind, before, after),) = _of(trace, "x.grad")
    none = line in RESETS[:3]
    assert (kind, before, after) == ("grad_reset", (2.0, 4.0), None if none else (0.0, 0.0))
    (update,) = [update for update in trace.updates if update.kind == "grad_reset"]
    assert update.span is not None and update.span.line == 5
    assert update.set_to_none == none
    assert [step.kind for step in trace.timeline if step.update == update.id] == ["reset"]
    assert trace.passes[1].accumulations[0].before == update.changes[-1].after


@pytest.mark.parametrize(("line", "after"), [
    ("x.grad = torch.ones(2)", (1.0, 1.0)), ("x.grad = x.grad / 2", (1.0, 2.0)), ("x.grad /= 2", (1.0, 2.0)),
    ("x.grad.data *= 0.5", (1.0, 2.0)), ("x.grad.clamp_(max=3.0)", (2.0, 3.0)), ("x.grad[1] = 0", (2.0, 0.0)),
    ("torch.nn.utils.clip_grad_value_([x], 1.0)", (1.0, 1.0)), ("x.grad.data = torch.ones(2)", (1.0, 1.0)),
    ("torch._foreach_mul_([x.grad], 0.5)", (1.0, 2.0)), ("x.grad.copy_(torch.ones(2))", (1.0, 1.0)),
])  # fmt: skip
def test_a_gradient_set_by_hand(line: str, after: tuple[float, float]) -> None:
    trace = _trace(f"{line}\ngo()\n")
    updates = _of(trace, "x.grad")
    assert {kind for kind, _, _ in updates} == {"grad_set"}
    assert (updates[0][1], updates[-1][2]) == ((2.0, 4.0), after)
    assert _data(trace, trace.passes[1].accumulations[0].before) == after


@pytest.mark.parametrize("target", ["x.data", "x.detach()", "x.data[0]", "x.grad", "x.grad.data"])
@pytest.mark.parametrize("start", ["", "x.grad.zero_()\n"])
def test_the_kind_of_a_write_does_not_depend_on_the_number_written(target: str, start: str) -> None:
    kinds = []
    for number in ("0.0", "3.0"):
        trace = _trace(f"{start}target = {target}\ntarget -= {number}\n")
        written = trace.updates[-1]
        kinds.append((written.kind, [change.name for change in written.changes]))
    assert kinds[0] == kinds[1]


def test_a_clipped_gradient_is_set_once() -> None:
    trace = _trace("norm = torch.nn.utils.clip_grad_norm_([x], 1.0)\ngo()\n")
    ((kind, before, after),) = _of(trace, "x.grad")
    assert (kind, before) == ("grad_set", (2.0, 4.0))
    assert after is not None and [round(float(str(one)), 4) for one in after] == [0.4472, 0.8944]


@pytest.mark.parametrize(
    "line", ["x.grad", "y = x.grad * 2", "x.grad.detach_()", "x.grad = x.grad", "x.grad.requires_grad_(False)"]
)
def test_a_gradient_that_is_only_read_is_no_update(line: str) -> None:
    assert _trace(f"{line}\ngo()\n").updates == ()


def test_zero_grad_of_modules_and_optimizers_each_once() -> None:
    trace = _trace("""
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for reset in (net.zero_grad, opt.zero_grad, lambda: opt.zero_grad(set_to_none=False), lambda: net.zero_grad(False)):
    net(torch.ones(1, 1)).sum().backward()
    reset()
""")
    resets = [update for update in trace.updates if update.kind == "zero_grad"]
    assert [(reset.owner, reset.set_to_none, len(reset.changes)) for reset in resets] == [
        ("module", True, 2), ("optimizer", True, 2), ("optimizer", False, 2), ("module", False, 2),
    ]  # fmt: skip
    assert [step.kind for step in trace.timeline if step.update is not None] == ["reset"] * 4


@pytest.mark.parametrize(("code", "after"), [
    ("with torch.no_grad(): x -= 0.5 * x.grad", (0.0, 0.0)),
    ("x.data -= 0.5 * x.grad", (0.0, 0.0)),
    ("x.data = x.data - 0.5 * x.grad", (0.0, 0.0)),
    ("x.data.add_(x.grad, alpha=-0.5)", (0.0, 0.0)),
    ("x.data[0] = 7", (7.0, 2.0)),
    ("x.detach().mul_(3)", (3.0, 6.0)),
    ("with torch.no_grad(): x.copy_(torch.ones(2))", (1.0, 1.0)),
    ("with torch.no_grad(): x[1] = 9", (1.0, 9.0)),
    ("with torch.no_grad(): torch._foreach_add_([x], [x.grad], alpha=-0.5)", (0.0, 0.0)),
    ("with torch.no_grad(): torch.add(x, 1, out=x)", (2.0, 3.0)),
    ("with torch.inference_mode(): x.mul_(2)", (2.0, 4.0)),
])  # fmt: skip
def test_a_leaf_changed_by_hand(code: str, after: tuple[float, float]) -> None:
    trace = _trace(code + "\n")
    ((kind, before, now),) = _of(trace, "x")
    assert (kind, before, now) == ("data", (1.0, 2.0), after)
    (update,) = [update for update in trace.updates if any(change.name == "x" for change in update.changes)]
    assert update.span is not None and update.span.line == 5


def test_initialising_a_leaf_is_an_op_that_wrote_in_place() -> None:
    trace = _trace("torch.nn.init.constant_(x, 4.0)\n")
    assert _of(trace, "x") == [("in_place", (1.0, 2.0), (4.0, 4.0))]


def test_a_new_tensor_under_the_old_name_is_no_update() -> None:
    trace = _trace("x = x - 0.5 * x.grad\n")
    assert trace.updates == ()
    last = next(variable.tensor for variable in trace.variables if variable.name == "x")
    assert next(tensor for tensor in trace.tensors if tensor.id == last).grad_fn is not None


def test_a_moving_average_of_parameters() -> None:
    trace = _trace("""
net = torch.nn.Linear(1, 1, bias=False)
mean = copy.deepcopy(net)
with torch.no_grad():
    net.weight.fill_(3.0)
    mean.weight.fill_(1.0)
    for kept, now in zip(mean.parameters(), net.parameters()):
        kept.mul_(0.5).add_(now, alpha=0.5)
""")
    assert [after for _, _, after in _of(trace, "mean.weight")] == [(1.0,), (0.5,), (2.0,)]


def test_updates_of_threads() -> None:
    trace = _trace("""
leaves = [torch.ones(1, requires_grad=True) for _ in range(4)]
def work(leaf):
    for turn in range(3):
        (leaf * 2).sum().backward()
        with torch.no_grad(): leaf -= leaf.grad
        leaf.grad.zero_()
threads = [threading.Thread(target=work, args=(leaf,)) for leaf in leaves]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    kinds = [update.kind for update in trace.updates]
    assert (kinds.count("data"), kinds.count("grad_reset")) == (12, 12)
    values = {_data(trace, variable) for variable in _last(trace, "leaves")}
    assert values == {(-5.0,)}


def _last(trace: Trace, name: str) -> tuple[str, ...]:
    return next(variable.tensors for variable in trace.variables if variable.name == name)


def test_a_gradient_changed_by_code_that_nothing_sees_is_told_at_the_next_pass() -> None:
    library = "exec(compile('g.set_(t)', 'library.py', 'exec'), {'g': x.grad, 't': torch.ones(2)})\n"
    trace = _trace(library + "go()\n")
    (update,) = [update for update in trace.updates if isinstance(update, Update)]
    assert (update.kind, _data(trace, update.changes[0].after)) == ("outside", (1.0, 1.0))


def test_a_gradient_moved_into_other_memory_is_told_at_its_line() -> None:
    trace = _trace("x.grad.set_(torch.ones(2))\ngo()\n")
    (update,) = trace.updates
    assert (update.kind, _data(trace, update.changes[0].after)) == ("grad_set", (1.0, 1.0))
    assert update.span is not None
    assert trace.program.code.splitlines()[update.span.line - 1] == "x.grad.set_(torch.ones(2))"


def test_gradients_that_are_undefined_stay_null() -> None:
    trace = record("""import torch
a = torch.ones(2, requires_grad=True)
class Pick(torch.autograd.Function):
    @staticmethod
    def forward(ctx, one, two): return one * 1, two * 1
    @staticmethod
    def backward(ctx, first, second): return first, None
b = torch.ones(2, requires_grad=True)
one, two = Pick.apply(a, b)
one.sum().backward()
""")
    (pick,) = [visit for visit in trace.passes[0].visits if any(n.id == visit.node and n.custom for n in trace.nodes)]
    assert (pick.entered[0] is not None, pick.left) == (True, (pick.left[0], None))
    assert [added.tensor for added in trace.passes[0].accumulations] == [
        next(tensor.id for tensor in trace.tensors if "a" in tensor.names)
    ]


def test_a_gradient_that_a_scaler_makes_smaller_again_is_told_on_its_line() -> None:
    code = """import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
scaler.scale((w * w).sum()).backward()
scaler.unscale_(optimizer)
scaler.step(optimizer)
"""
    trace = record(code)
    assert laws.broken(trace) == []
    found = [update for update in trace.updates if update.kind == "grad_set"]
    assert [one.span.line for one in found if one.span is not None] == [6]
    assert _of(trace, "w.grad") == [("grad_set", (16.0, 32.0), (2.0, 4.0))]


def test_clipping_a_list_of_gradients_is_no_reset_of_those_that_are_zero() -> None:
    clip = "torch.nn.utils.clip_grad_norm_([w, v], 1.0)\n"
    trace = record(f"""import torch
w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
((w * 3).sum() + (v * 0).sum()).backward()
{clip}torch._foreach_zero_([w.grad, v.grad])
""")
    assert [update.kind for update in trace.updates] == ["grad_set", "grad_reset"]


def test_running_statistics_of_any_size_are_those_after_each_call() -> None:
    code = "import torch\nnorm = torch.nn.BatchNorm1d(300)\nfor i in range(3):\n    norm(torch.randn(4, 300))\n"
    trace = record(code)
    first = next(tensor.id for tensor in trace.tensors if "norm.running_mean" in tensor.names)
    sizes = [
        tensor.summary.norm
        for tensor in trace.tensors
        if first in (tensor.id, tensor.identity) and tensor.summary is not None
    ]
    assert len(set(sizes)) == 4
    assert sizes == sorted(sizes)


def test_a_write_into_several_results_at_once_is_told() -> None:
    code = "import torch\npair = torch.rand(3).sort()\ntorch.sort(torch.tensor([3.0, 1.0, 2.0]), out=pair)\n"
    trace = record(code)
    [update] = trace.updates
    assert update.kind == "in_place"
    assert update.span is not None
    assert update.span.line == 3
    assert [_data(trace, change.after) for change in update.changes] == [(1.0, 2.0, 3.0), (1, 2, 0)]


def test_swapping_two_tensors_works_as_without_recording_and_is_told() -> None:
    code = "other = torch.zeros(3)\ntorch.utils.swap_tensors(x, other)\nprint(x, other, other.grad)\n"
    trace = _trace(code)
    assert "".join(chunk.text for chunk in trace.output) == (
        "tensor([0., 0., 0.]) tensor([1., 2.], requires_grad=True) tensor([2., 4.])\n"
    )
    assert _of(trace, "x") == [("data", (1.0, 2.0), (0.0, 0.0, 0.0))]


def test_modules_convert_by_swapping() -> None:
    code = """import torch
torch.__future__.set_swap_module_params_on_conversion(True)
model = torch.nn.Linear(2, 2)
model(torch.ones(1, 2)).sum().backward()
weight = model.weight
model.to(torch.float64)
print(model.weight is weight, weight.dtype, weight.grad.dtype)
"""
    trace = record(code)
    assert trace.failure is None
    assert laws.broken(trace) == []
    assert "".join(chunk.text for chunk in trace.output) == "True torch.float64 torch.float64\n"
    swapped = [update for update in trace.updates if update.kind == "data"]
    assert {one.span.line for one in swapped if one.span is not None} == {6}


def test_a_reference_of_the_program_still_forbids_to_swap() -> None:
    code = """import weakref
reference = weakref.ref(x, print)
try:
    torch.utils.swap_tensors(x, torch.zeros(2))
except RuntimeError as error:
    print(error)
"""
    assert "weakref" in "".join(chunk.text for chunk in _trace(code).output)


def test_writing_the_values_that_are_there_raises_the_version_told() -> None:
    trace = _trace("m = torch.nn.Linear(2, 1)\nkept = m.weight.detach().clone()\nm.weight.detach().copy_(kept)\n")
    (update,) = [update for update in trace.updates if update.span is not None and update.span.line == 7]
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    (change,) = [change for change in update.changes if change.name == "m.weight"]
    before, after = tensors[change.before or ""], tensors[change.after or ""]
    assert (before.data, before.version + 1) == (after.data, after.version)


def test_a_reset_beyond_the_limit_shows_in_what_is_added_to() -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, ops=6)
    trace = record(HEAD + "for _ in range(3):\n    x.grad.data.zero_()\n    go()\n", limits)
    assert trace.truncated
    assert laws.broken(trace) == []
    befores = [_data(trace, pass_.accumulations[0].before) for pass_ in trace.passes[1:]]
    assert befores == [(0.0, 0.0)] * 3


WRITES = """with torch.{mode}():
    a = torch.zeros(3).requires_grad_(False)
    a.detach_()
    a.add_(1)
    b = a * 2
    c = torch.empty_like(a)
    c.scatter_(0, torch.tensor([2, 0, 1]), a)
    d = torch.empty(2)
    d[:] = 5
    d[0:1].mul_(2)
    e = torch.tensor([-1.0, 2.0])
    torch.nn.functional.relu(e, inplace=True)
    torch.add(e, 1, out=d)
    d += 4
    torch._foreach_mul_([a, b], 3.0)
    f = a + b
    print(a, b, c, d, e, f)
"""


def test_writes_into_inference_tensors_which_count_none_are_told_as_without_gradients() -> None:
    """`torch.inference_mode` makes tensors that have no version counter."""
    inference, without = _trace(WRITES.format(mode="inference_mode")), _trace(WRITES.format(mode="no_grad"))
    assert [update.kind for update in inference.updates if update.span and update.span.line > 5].count("in_place") > 5
    for tensor, other in zip(inference.tensors, without.tensors, strict=True):
        assert msgspec.structs.replace(tensor, base=None) == msgspec.structs.replace(other, base=None)
    for part in ("updates", "variables", "timeline", "output"):
        assert getattr(inference, part) == getattr(without, part), part
