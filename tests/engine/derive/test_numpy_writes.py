"""The lines of writes that PyTorch does not see."""

import sys

import pytest
from msgspec.structs import replace

from engine import laws
from engine.derive import SideFacts, derive
from engine.trace import Trace
from tests.engine.worker.forked import record

START = "import numpy as np\nimport torch\na = np.array([1.0, 2.0, 3.0])\nt = torch.from_numpy(a)\ny = t * 1\n"
FIRST = len(START.splitlines())

Place = tuple[int, int, int, int]


def _places(trace: Trace) -> list[Place | None]:
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    spans = [update.span for update in trace.updates if update.kind == "outside"]
    return [
        None if span is None else (span.line - FIRST, span.end_line - FIRST, span.column, span.end_column)
        for span in spans
    ]


FOUND: dict[str, tuple[str, list[Place]]] = {
    "out=": ("np.add(a, 1, out=a)\ny = t * 2\n", [(1, 1, 0, 19)]),
    "an element": ("a[0] = 9\ny = t * 2\n", [(1, 1, 0, 8)]),
    "an augmented assignment": ("a += 1\ny = t * 2\n", [(1, 1, 0, 6)]),
    "a method": ("a.fill(5)\ny = t * 2\n", [(1, 1, 0, 9)]),
    "a function": ("np.copyto(a, 5)\ny = t * 2\n", [(1, 1, 0, 15)]),
    "noticed at the end": ("a[1] = 7\n", [(1, 1, 0, 8)]),
    "among other statements": ("n = 3\na *= n\nprint(n)\ny = t * 2\n", [(2, 2, 0, 6)]),
    "two at once": ("a += 1\na[0] = 9\ny = t * 2\n", [(1, 2, 0, 8)]),
    "one after the other": ("a += 1\ny = t * 2\na += 2\ny = t * 3\n", [(1, 1, 0, 6), (3, 3, 0, 6)]),
    "an array that was made of the tensor": ("b = t.numpy()\nb[2] = 8\ny = t * 2\n", [(2, 2, 0, 8)]),
    "before the name was bound anew": ("a += 1\na = a + 1\ny = t * 2\n", [(1, 1, 0, 6)]),
    "in a function": (
        "def f(a):\n    t = torch.from_numpy(a)\n    y = t * 1\n    a += 1\n    return t * 2\nf(np.ones(2))\n",
        [(4, 4, 4, 10)],
    ),
    "beside other letters": ("a += 1; s = '数'\na[0] = len('数数')\ny = t * 2\n", [(1, 2, 0, 16)]),
}


@pytest.mark.parametrize(("code", "places"), FOUND.values(), ids=FOUND.keys())
def test_the_line_that_wrote_is_found(code: str, places: list[Place]) -> None:
    trace = record(START + code)
    assert _places(trace) == places
    written = [write.span for storage in trace.storages for write in storage.writes if write.op is None]
    assert all(span is not None for span in written)


ALIASES = {
    "through another name": ("b = a\nb += 1\ny = t * 2\n", [(2, 2, 0, 6)]),
    "through a slice": ("b = a[1:]\nb[0] = 5\ny = t * 2\n", [(2, 2, 0, 8)]),
    "into what a call lends": ("np.add(t.numpy(), 1, out=t.numpy())\ny = t * 2\n", [(1, 1, 0, 35)]),
}


@pytest.mark.parametrize(("code", "places"), ALIASES.values(), ids=ALIASES.keys())
def test_the_line_that_wrote_through_another_name_is_found(code: str, places: list[Place]) -> None:
    assert _places(record(START + code)) == places


def _order(trace: Trace) -> list[str]:
    kinds = {update.id: update.kind for update in trace.updates}
    ops = {op.id: op.name for op in trace.ops}
    names = (kinds.get(step.update or "") or ops.get(step.op or "", "") for step in trace.timeline)
    return [name for name in names if name in ("outside", "exp", "sin", "mul")]


def test_a_write_noticed_late_comes_before_what_ran_after_it() -> None:
    trace = record(START + "a[0] = 5\nz = torch.ones(2).exp()\nz = z.sin()\n")
    assert _places(trace) == [(1, 1, 0, 8)]
    assert _order(trace) == ["mul", "outside", "exp", "sin"]
    trace = record(START + "a[0] = 5\nz = torch.ones(2).exp()\ny = t * 2\na[1] = 5\nz = z.sin()\n")
    assert _order(trace) == ["mul", "outside", "exp", "mul", "outside", "sin"]


NOT_FOUND = {
    "in a condition": "if y.sum() > 0:\n    a += 1\ny = t * 2\n",
    "in another function": "def f(b): b += 1\nf(a)\ny = t * 2\n",
    "in a loop": "for n in range(2):\n    z = torch.ones(2).exp()\n    a[n] = 5\n    z = z.sin()\n",
    "through a list": "kept = [a]\nkept[0] += 1\ny = t * 2\n",
    "through a view that a method keeps": (
        "class K:\n    def __init__(self, a): self.a = a\nK(a).a.fill(1)\ny = t * 2\n"
    ),
}


@pytest.mark.parametrize("code", NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_what_the_code_does_not_say_has_no_line(code: str) -> None:
    trace = record(START + code)
    assert _places(trace) == [None]


def test_an_array_bound_anew_writes_elsewhere() -> None:
    assert _places(record(START + "b = a\na = a + 1\na[0] = 5\nb[1] = 7\ny = t * 2\n")) == [(4, 4, 0, 8)]
    assert _places(record(START + "a = a + 1\na[0] = 5\ny = t * 2\n")) == []


MANY = {
    "into one array": (1000, "a[0] = {n}\ny = t * {n}\n"),
    "into an array each": (
        200,
        "a{n} = np.ones(2)\nt{n} = torch.from_numpy(a{n})\ny = t{n} * 2\na{n}[0] = 5\n",
    ),
    "and names bound anew": (400, "a = np.ones(2)\nt = torch.from_numpy(a)\na = a + 1\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("count", "lines"), MANY.values(), ids=MANY.keys())
def test_many_writes_cost_four_times_what_a_quarter_of_them_does(count: int, lines: str) -> None:
    few, many = (
        _calls_to_derive(START + "".join(lines.format(n=n) for n in range(writes))) for writes in (count // 4, count)
    )
    assert many < 5 * few


def _calls_to_derive(code: str) -> int:
    """Calls of functions that it takes to conclude what can be concluded of a program."""
    trace = record(code)
    assert trace.status == "ok"
    updates = tuple(replace(update, span=None) for update in trace.updates)
    known = replace(trace, updates=updates, storages=(), memory=())
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        derive(known, SideFacts())
    finally:
        sys.setprofile(None)
    return calls
