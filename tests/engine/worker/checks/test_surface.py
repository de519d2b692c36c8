"""Functions of two numbers on a grid, against the functions themselves."""

import math
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch

from engine import DEFAULT_LIMITS, run
from engine.laws import broken
from engine.trace import RunLimits, Surface, Trace
from engine.worker.checks import surface as surfaces
from engine.worker.checks.tape import Impossible
from tests.engine.worker.forked import record

pytestmark = pytest.mark.slow

Function = Callable[[float, float], float]

POINT = "p = torch.tensor({start}, requires_grad=True)\n"
DESCEND = """optimizer = torch.optim.SGD([{leaves}], lr={lr})
for _ in range({passes}):
    optimizer.zero_grad()
    loss = f({leaves})
    loss.backward()
    optimizer.step()
"""
XS, YS = [0.0, 1.0, 2.0, 4.0], [1.0, 2.5, 5.5, 8.0]


def _squares(w: float, b: float) -> float:
    return sum((w * x + b - y) ** 2 for x, y in zip(XS, YS, strict=True)) / len(XS)


FUNCTIONS: dict[str, tuple[str, Function]] = {
    "quadratic": ("p[0] ** 2 + 20 * p[1] ** 2", lambda u, v: u * u + 20 * v * v),
    "rosenbrock": (
        "(1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2",
        lambda u, v: (1 - u) ** 2 + 100 * (v - u * u) ** 2,
    ),
    "saddle": ("p[0] * p[0] - p[1] * p[1]", lambda u, v: u * u - v * v),
    "in place": ("(p * torch.tensor([1., 2.])).add_(1).pow_(2).sum()", lambda u, v: (u + 1) ** 2 + (2 * v + 1) ** 2),
    "a number read": ("(p * p.detach()[0].item()).sum()", lambda u, v: math.nan),
}


def _traced(code: str, limits: RunLimits = DEFAULT_LIMITS) -> Trace:
    trace = run("import torch\n" + code, limits, ("surface",))
    assert trace.status == "ok"
    assert broken(trace) == []
    return trace


def _surface(code: str, limits: RunLimits = DEFAULT_LIMITS) -> Surface:
    surface = _traced(code, limits).surface
    assert surface is not None
    return surface


def _points(surface: Surface) -> Iterator[tuple[float, float, float]]:
    assert surface.across is not None
    assert surface.up is not None
    places = [(u, v) for v in surface.up.values for u in surface.across.values]
    for (u, v), value in zip(places, surface.values, strict=True):
        yield u, v, float(value)


def _agrees(surface: Surface, function: Function) -> bool:
    return all(math.isclose(value, function(u, v), rel_tol=1e-5, abs_tol=1e-6) for u, v, value in _points(surface))


def _descended(text: str, lr: float = 0.001, passes: int = 4) -> str:
    return (
        f"def f(p): return {text}\n"
        + POINT.format(start="[-1.2, 1.0]")
        + DESCEND.format(leaves="p", lr=lr, passes=passes)
    )


@pytest.mark.parametrize("name", ["quadratic", "rosenbrock", "saddle", "in place"])
def test_it_is_the_function_itself(name: str) -> None:
    text, function = FUNCTIONS[name]
    surface = _surface(_descended(text))
    assert _agrees(surface, function)
    assert (surface.numbers, surface.compared, surface.fitting, surface.reason) == (2, 3, 3, "")
    assert surface.pass_id == "p1"


def test_least_squares_of_two_leaves() -> None:
    code = f"""x, y = torch.tensor({XS}), torch.tensor({YS})
w, b = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
def f(w, b): return ((w * x + b - y) ** 2).mean()
""" + DESCEND.format(leaves="w, b", lr=0.05, passes=6)
    trace = _traced(code)
    surface = trace.surface
    assert surface is not None
    assert _agrees(surface, _squares)
    names = {tensor.id: tensor.names for tensor in trace.tensors}
    assert surface.across is not None
    assert surface.up is not None
    assert ("w" in names[surface.across.tensor], "b" in names[surface.up.tensor]) == (True, True)


def test_the_grid_reaches_past_all_ways() -> None:
    code = (
        "def f(p): return (p ** 2).sum()\n"
        + "".join(
            f"p = torch.tensor({start}, requires_grad=True)\n" + DESCEND.format(leaves="p", lr=0.1, passes=3)
            for start in ("[3., 1.]", "[-2., -4.]")
        )
    )  # fmt: skip
    surface = _surface(code)
    assert surface.across is not None
    assert surface.up is not None
    across, up = surface.across.values, surface.up.values
    assert across[0] < -2 < 3 < across[-1]
    assert up[0] < -4 < 1 < up[-1]
    assert (surface.compared, surface.fitting) == (5, 5)


def test_passes_on_other_data_do_not_fit() -> None:
    code = """data = [torch.tensor([1., 2.]), torch.tensor([-3., 0.5])]
p = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([p], lr=0.1)
for turn in range(6):
    optimizer.zero_grad()
    ((p - data[turn % 2]) ** 2).sum().backward()
    optimizer.step()
"""
    surface = _surface(code)
    assert _agrees(surface, lambda u, v: (u - 1) ** 2 + (v - 2) ** 2)
    assert (surface.compared, surface.fitting) == (5, 2)


def test_of_more_numbers_the_two_that_moved_most() -> None:
    code = """p = torch.tensor([1., 1., 1., 1.], requires_grad=True)
optimizer = torch.optim.SGD([p], lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    (p ** 2 * torch.tensor([0., 7., 1., 5.])).sum().backward()
    optimizer.step()
"""
    surface = _surface(code)
    assert surface.across is not None
    assert surface.up is not None
    assert (surface.across.place, surface.up.place, surface.numbers) == ((1,), (3,), 4)
    assert _agrees(surface, lambda u, v: 7 * u * u + 1 + 5 * v * v)


def test_a_model_with_a_random_layer_draws_the_same_numbers() -> None:
    code = """model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Dropout(0.5))
x = torch.ones(8, 1)
(model(x) ** 2).sum().backward()
"""
    surface = _surface(code)
    w_b = [u + v for u, v, _ in _points(surface)]
    kept = {round(value / (2 * each) ** 2) for each, (_, _, value) in zip(w_b, _points(surface), strict=True) if abs(each) > 1e-3}  # fmt: skip
    assert len(kept) == 1


def test_a_number_that_left_the_graph_stays_as_it_was() -> None:
    surface = _surface(_descended("(p * p.detach()[0].item()).sum()", passes=1))
    assert _agrees(surface, lambda u, v: -1.2 * (u + v))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("x = torch.tensor(3., requires_grad=True)\n(x * x).backward()\n", "numbers"),
        ("x = torch.ones(2, requires_grad=True)\n(x * x).backward(torch.ones(2))\n", "numbers"),
        ("x = torch.ones(300, requires_grad=True)\n(x * x).sum().backward()\n", "numbers"),
        ("print(1)\n", "numbers"),
        (
            "x = torch.ones(2, requires_grad=True)\ny = x\nfor _ in range(3000): y = y * 1.0\ny.sum().backward()\n",
            "limit",
        ),
    ],
)
def test_without_two_numbers_there_is_none(code: str, reason: str) -> None:
    surface = _surface(code)
    assert (surface.reason, surface.values, surface.across) == (reason, (), None)


def _without_time(code: str, monkeypatch: pytest.MonkeyPatch) -> Surface:
    """As if there were no time for playing the forward point by point."""
    monkeypatch.setattr("engine.worker.checks.surface._SHARE", 0.0)
    surface = record("import torch\n" + code, checks=("surface",), patched=True).surface
    assert surface is not None
    return surface


def test_a_function_too_slow_for_the_smallest_grid_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _without_time(_descended(FUNCTIONS["rosenbrock"][0], passes=1), monkeypatch).reason == "time"


def test_what_was_evaluated_before_time_ran_out_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    at = surfaces.Function.at

    def runs_out(self: surfaces.Function, held: Sequence[torch.Tensor]) -> float:
        nonlocal asked
        asked += 1
        if asked > 300:
            raise Impossible("time")
        return at(self, held)

    monkeypatch.setattr(surfaces.Function, "at", runs_out)
    surface = record(
        "import torch\n" + _descended(FUNCTIONS["rosenbrock"][0]), checks=("surface",), patched=True
    ).surface
    assert surface is not None
    assert surface.across is not None
    assert (len(surface.across.values), len(surface.values), surface.reason) == (11, 121, "")
    assert _agrees(surface, FUNCTIONS["rosenbrock"][1])


def test_it_is_only_there_when_asked_for() -> None:
    assert run("import torch\n" + _descended("(p * p).sum()")).surface is None


def test_what_a_forward_prints_is_not_printed_again() -> None:
    code = (
        "def f(p):\n    print('f')\n    return (p * p).sum()\n" + POINT.format(start="[1., 2.]") + "f(p).backward()\n"
    )
    trace = _traced(code)
    assert [piece.text for piece in trace.output] == ["f\n"]
