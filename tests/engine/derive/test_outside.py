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


NOT_FOUND = {
    "perhaps": "if y.sum() > 0:\n    a += 1\ny = t * 2\n",
    "in another function": "def f(b): b += 1\nf(a)\ny = t * 2\n",
    "through a name that tells nothing": "b = a\nb += 1\ny = t * 2\n",
    "in a loop": "for n in range(2):\n    a += 1\ny = t * 2\n",
}


@pytest.mark.parametrize("code", NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_what_the_code_does_not_say_has_no_line(code: str) -> None:
    assert _places(record(START + code)) == [None]


def test_an_array_bound_anew_writes_elsewhere() -> None:
    assert _places(record(START + "b = a\na = a + 1\na[0] = 5\nb[1] = 7\ny = t * 2\n")) == [None]
    assert _places(record(START + "a = a + 1\na[0] = 5\ny = t * 2\n")) == []
