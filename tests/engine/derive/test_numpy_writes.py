"""The lines of writes that PyTorch does not see."""

import pytest

from engine import laws
from engine.trace import Trace
from tests.engine.worker.forked import record

START = "import numpy as np\nimport torch\na = np.array([1.0, 2.0, 3.0])\nt = torch.from_numpy(a)\ny = t * 1\n"
FIRST = len(START.splitlines())

Place = tuple[int, int, int, int]


def _places(trace: Trace) -> list[Place | None]:
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    spans = [one.span for one in trace.updates if one.kind == "outside"]
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


RUN = {
    "in a condition that was true": ("if y.sum() > 0:\n    a += 1\ny = t * 2\n", [(2, 2, 4, 10)]),
    "in the branch that ran": ("if y.sum() < 0:\n    a += 1\nelse:\n    a[0] = 4\ny = t * 2\n", [(4, 4, 4, 12)]),
    "in another function": ("def f(b): b += 1\nf(a)\ny = t * 2\n", [(1, 1, 10, 16)]),
    "through another name": ("b = a\nb += 1\ny = t * 2\n", [(2, 2, 0, 6)]),
    "through a slice": ("b = a[1:]\nb[0] = 5\ny = t * 2\n", [(2, 2, 0, 8)]),
    "in a loop": ("for n in range(2):\n    a += 1\ny = t * 2\n", [(2, 2, 4, 10)]),
    "in every turn": ("for n in range(2):\n    y = t * n\n    a[n] = 7\n", [(3, 3, 4, 12)] * 2),
    "by the cells that changed": (
        "for n in range(2):\n    if n:\n        a[1] = 5\n    else:\n        a[2] = 9\n    y = t * 2\n",
        [(5, 5, 8, 16), (3, 3, 8, 16)],
    ),
    "into what a call lends": ("np.add(t.numpy(), 1, out=t.numpy())\ny = t * 2\n", [(1, 1, 0, 35)]),
}


@pytest.mark.parametrize(("code", "places"), RUN.values(), ids=RUN.keys())
def test_the_only_line_that_ran_and_may_have_written_is_found(code: str, places: list[Place]) -> None:
    assert _places(record(START + code)) == places


PERHAPS = {
    "one of two branches": (
        "for n in range(2):\n    if n:\n        a += 5\n    else:\n        a += 1\ny = t * 2\n",
        [[3, 5]],
    ),
    "before or after in a loop": ("for n in range(2):\n    a *= 2\n    y = t * n\n    a += 1\n", [[2], [2, 4], [4]]),
}


@pytest.mark.parametrize(("code", "lines"), PERHAPS.values(), ids=PERHAPS.keys())
def test_one_of_a_few_lines_is_told_as_possible(code: str, lines: list[list[int]]) -> None:
    trace = record(START + code)
    assert laws.broken(trace) == []
    told = [one.perhaps or (one.span,) for one in trace.updates if one.kind == "outside"]
    assert [[span.line - FIRST for span in spans if span is not None] for spans in told] == lines


def _order(trace: Trace) -> list[str]:
    kinds = {one.id: one.kind for one in trace.updates}
    ops = {one.id: one.name for one in trace.ops}
    steps = (kinds.get(one.update or "") or ops.get(one.op or "", "") for one in trace.timeline)
    return [one for one in steps if one in ("outside", "exp", "sin", "mul")]


def test_a_write_noticed_late_comes_before_what_ran_after_it() -> None:
    trace = record(START + "a[0] = 5\nz = torch.ones(2).exp()\nz = z.sin()\n")
    assert _places(trace) == [(1, 1, 0, 8)]
    assert _order(trace) == ["mul", "outside", "exp", "sin"]
    trace = record(
        START + "z = torch.ones(2).exp()\nif True:\n    z = z.exp()\n    a[0] = 5\n    z = z.sin()\nz = z.exp()\n"
    )
    assert _order(trace) == ["mul", "exp", "exp", "outside", "sin", "exp"]


def test_a_write_of_several_turns_stays_where_it_was_noticed() -> None:
    trace = record(START + "for n in range(2):\n    z = torch.ones(2).exp()\n    a[n] = 5\n    z = z.sin()\n")
    assert _places(trace) == [(3, 3, 4, 12)]
    assert _order(trace) == ["mul", "exp", "sin", "exp", "sin", "outside"]


NOT_FOUND = {
    "through a list": "kept = [a]\nkept[0] += 1\ny = t * 2\n",
    "through a view that a method keeps": "class K:\n    def __init__(self, a): self.a = a\nK(a).a.fill(1)\ny = t * 2\n",
}


@pytest.mark.parametrize("code", NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_what_the_code_does_not_say_has_no_line(code: str) -> None:
    assert _places(record(START + code)) == [None]


def test_an_array_bound_anew_writes_elsewhere() -> None:
    assert _places(record(START + "b = a\na = a + 1\na[0] = 5\nb[1] = 7\ny = t * 2\n")) == [(4, 4, 0, 8)]
    assert _places(record(START + "a = a + 1\na[0] = 5\ny = t * 2\n")) == []
