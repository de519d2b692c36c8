"""What a loop does again is recorded by a shorter way: the trace is the same as by the long one."""

from typing import Any

import msgspec
import pytest

from engine.event_patterns import Patterns, as_seen
from engine.events import MISSING, OF_RESULT, OF_TEXT, Again, Flowing, NodeSeen, Pattern
from engine.worker.capture.ops import Recording
from engine.worker.capture.passes import Backward
from tests.engine.worker.forked import said, traced

PROGRAMS = {
    "numbers": """
x = torch.tensor(1.0, requires_grad=True)
y = x
for i in range(6):
    y = y * 1.5 + x
y.backward()
""",
    "a number that changes": """
x = torch.tensor(2.0, requires_grad=True)
for scale in (1.0, 1.0, 0.1, -0.0, 0.0, 1, True, 3.0):
    y = x * scale
    y.backward()
""",
    "one tensor twice, then two": """
a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
for left, right in ((a, a), (a, a), (a, b), (b, a), (a, b), (b, b), (a, a)):
    y = left * right
    y.backward()
""",
    "both of one node": """
x = torch.arange(4.0, requires_grad=True)
for i in range(4):
    p, q = x.exp().split(2)
    r = p * q
    r.sum().backward()
""",
    "no longer a leaf": """
x = torch.tensor(2.0, requires_grad=True)
y = x
for i in range(5):
    y = torch.exp(y)
    if i == 2:
        y = y.detach().requires_grad_()
y.backward()
""",
    "tracked on and off": """
w = torch.ones(3)
x = torch.ones(3, requires_grad=True)
for i in range(8):
    w.requires_grad_(i % 3 == 0)
    y = (w * x).sum()
    y.backward()
    w.grad = None
""",
    "written between": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1.0
for i in range(5):
    z = y * 2.0
    with torch.no_grad():
        x += 1.0
    y = z + 1.0
    y.data.mul_(0.5)
y.sum().backward()
""",
    "modes": """
x = torch.tensor(2.0, requires_grad=True)
for i in range(9):
    with torch.set_grad_enabled(i % 3 != 1), torch.inference_mode(i % 3 == 2):
        y = x * 2.0
    if y.requires_grad:
        y.backward()
""",
    "default type": """
n = torch.tensor([1, 2])
x = torch.tensor(2.0, requires_grad=True)
for i in range(6):
    torch.set_default_dtype(torch.float64 if i > 2 else torch.float32)
    y = (x * (n * 0.5).sum()).exp()
    y.backward()
""",
    "autocast": """
w, x = torch.ones(3, 3, requires_grad=True), torch.ones(3, 3)
for i in range(6):
    with torch.autocast("cpu", enabled=i % 2 == 1):
        y = torch.mm(x, w)
        z = torch.mm(y, w)
    z.sum().backward()
""",
    "shapes in turn": """
x = torch.ones(2, 3, requires_grad=True)
for i in range(12):
    y = x[:, : 1 + i % 6] if i % 2 else x.clone()
    z = y.sum(0).exp().mean()
    z.backward()
""",
    "large": """
x = torch.ones(40, 30, requires_grad=True)
for i in range(4):
    y = (x @ x.t()).sigmoid().mean()
    y.backward()
""",
    "not finite": """
x = torch.tensor(0.0, requires_grad=True)
for i in range(4):
    y = torch.log(x) * 0.0
    z = 1.0 / x
    y.backward()
    z.backward()
""",
    "shared memory of numpy": """
import numpy
a = numpy.ones(3, dtype=numpy.float32)
x = torch.from_numpy(a)
w = torch.ones(3, requires_grad=True)
for i in range(5):
    y = (w * x).sum()
    y.backward()
    a[0] = i
""",
    "raises in a later turn": """
x = torch.ones(2, requires_grad=True)
for n in (2, 2, 2, 3):
    y = x * torch.ones(n)
    y = y * 2.0
""",
    "hooks on saved tensors": """
x = torch.tensor(2.0, requires_grad=True)
for i in range(6):
    if i % 2:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1.0, lambda t: t * 1.0):
            y = torch.exp(x * x)
    else:
        y = torch.exp(x * x)
    y.backward()
""",
    "hook on one saved tensor": """
x = torch.tensor(2.0, requires_grad=True)
for i in range(4):
    y = torch.exp(x)
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 1.0, lambda t: t * 1.0)
    y.backward()
""",
    "hooks": """
x = torch.tensor(2.0, requires_grad=True)
for i in range(6):
    y = x * 3.0
    z = y * 2.0
    if i > 2:
        y.register_hook(lambda g: g * 2)
    if i == 4:
        z.grad_fn.register_hook(lambda i, o: (i[0] + 1, None))
    z.backward()
""",
    "a hook that writes": """
x = torch.tensor([2.0, 1.0], requires_grad=True)
for i in range(3):
    y = x * 3.0
    y.register_hook(lambda g: g.mul_(2) and None)
    (y * 2.0).sum().backward()
""",
    "custom function": """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0
    @staticmethod
    def backward(ctx, g):
        return g * 2.0
x = torch.tensor(2.0, requires_grad=True)
for i in range(4):
    y = Twice.apply(x * 3.0) * 2.0
    y.backward()
""",
    "second order": """
x = torch.tensor(2.0, requires_grad=True)
for i in range(4):
    y = x * x * x
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    g.backward()
""",
    "asked for": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(4):
    y = x * 2.0
    z = y.sum() * 3.0
    gy, gx = torch.autograd.grad(z, (y, x), retain_graph=True)
    z.backward(gradient=torch.tensor(2.0))
""",
    "sums and several ways": """
a = torch.tensor(2.0, requires_grad=True)
b = torch.ones(3, requires_grad=True)
for i in range(4):
    y = a * b
    z = y * y + y
    (z.sum() + a).backward()
""",
    "complex": """
x = torch.tensor(1.0 + 2.0j, requires_grad=True)
for i in range(4):
    y = (x * 2.0).conj().imag * 3.0
    y.backward()
""",
    "sparse": """
table = torch.ones(4, 1, requires_grad=True)
for i in range(3):
    y = torch.nn.functional.embedding(torch.tensor([1, 2]), table, sparse=True)
    (y * 2.0).sum().backward()
""",
    "mapped": """
x = torch.ones(3)
for i in range(3):
    y = torch.func.vmap(torch.func.grad(lambda t: (t * 2.0) * t))(x)
""",
    "subclass": """
class Mine(torch.Tensor):
    pass
x = torch.ones(2, requires_grad=True)
for i in range(4):
    y = (x * 2.0).as_subclass(Mine if i > 1 else torch.Tensor)
    z = (y * 3.0).sum()
    z.backward()
""",
    "traced": """
def f(x):
    return x * 2.0
x = torch.ones(2, requires_grad=True)
for i in range(3):
    f(x).sum().backward()
g = torch.jit.trace(f, (x,))
f(x).sum().backward()
""",
    "threads": """
import threading
def work():
    y = x
    for i in range(4):
        y = y * 2.0
    y.backward()
x = torch.tensor(1.0, requires_grad=True)
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
work()
""",
    "modules": """
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
x = torch.ones(4, 2)
for i in range(4):
    loss = (model(x) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
            p.grad = None
""",
    "gone": """
import weakref
x = torch.tensor(1.0, requires_grad=True)
kept = []
for i in range(6):
    y = x * 2.0
    reference = weakref.ref(y)
    kept = [y * 3.0, y + 1.0] if i % 2 else []
    del y
    print(reference() is None)
""",
}


def _trace(code: str, lines: list[bytes]) -> Any:
    trace = msgspec.to_builtins(traced(code, lines))
    return _timeless(trace)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in ("time_us", "timings")}
    return [_timeless(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_short_way_says_what_the_long_way_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import torch\n" + PROGRAMS[name]
    short = said(code)
    monkeypatch.setattr(Recording, "_plan", lambda *facts: None)
    monkeypatch.setattr(Backward, "_is_silent", lambda self: False)
    long = said(code)
    assert not any(line.startswith((b'["l"', b'["f"')) for line in long)
    assert _trace(code, short) == _trace(code, long)


@pytest.mark.parametrize("name", ["numbers", "one tensor twice, then two", "large", "modules", "not finite", "gone"])
def test_the_short_way_is_taken(name: str) -> None:
    lines = said("import torch\n" + PROGRAMS[name])
    assert any(line.startswith(b'["l"') for line in lines)


@pytest.mark.parametrize("name", ["numbers", "sums and several ways", "asked for", "complex"])
def test_a_pass_without_code_of_the_program_is_told_in_short(name: str) -> None:
    lines = said("import torch\n" + PROGRAMS[name])
    assert any(line.startswith(b'["f"') for line in lines)


def test_a_pattern_spreads_to_node_tensor_and_op() -> None:
    patterns = Patterns()
    saved = (("self", 0, "", 4), ("result", OF_RESULT, "", 4), ("other", OF_TEXT, "2.0", 8))
    patterns.add(
        Pattern(1, 7, (0, "2.0"), "MulBackward0", (0, MISSING), (((), "float32", "cpu"),), saved, (), "float32", 4)
    )
    node, tensor, op = patterns.spread(Again(1, 5, 9, 3, 12, (8, 2), (2, 0, 0, 0), (1.5,), 4, 6, 0, 2500, (1,)))
    assert node == NodeSeen(
        3, "MulBackward0", "12", 5, (2, 0, 0, 0), (((), "float32", "cpu"),),
        (("self", 8, 2, "", 4, ""), ("result", 9, 0, "", 4, ""), ("other", 0, -1, "2.0", 8, "")),
    )  # fmt: skip
    assert (tensor.id, tensor.data, tensor.storage, tensor.node, tensor.requires_grad) == (9, (1.5,), 4, 3, True)
    assert (op.arguments, op.outputs, op.site, op.time_us, op.gone) == ((8, "2.0"), (9,), 6, 2.5, (1,))


@pytest.mark.parametrize("inputs", [(), (8,)])
def test_an_op_that_fits_no_pattern_is_none(inputs: tuple[int, ...]) -> None:
    patterns = Patterns()
    again = Again(1, 5, 9, 3, 12, inputs, (), None, 4, 6, 0, 2500)
    with pytest.raises(LookupError):
        patterns.spread(again)
    patterns.add(Pattern(1, 7, (1,), "MulBackward0", (), (), (), (), "float32", 4))
    with pytest.raises(LookupError):
        patterns.spread(again)


def test_a_gradient_said_in_short_has_what_any_tensor_has() -> None:
    plain = Flowing(7, (2,), "float32", 8, (1.0, 2.0))
    odd = Flowing(
        8, (3,), "float64", 24, None, (2,), "cuda:0", "sparse_coo", (0.0, 1.0, 0.5, 0.5, 1.0, 0, 0, 0, None, 0),
        (1, 1, "AA==", 1.0), "unreadable", "why",
    )  # fmt: skip
    for short in (plain, odd):
        long = as_seen(short)
        assert {name: getattr(short, name) for name in long.__struct_fields__} == msgspec.structs.asdict(long)
