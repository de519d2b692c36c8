"""Names that stood for shared memory, and the statement that ended it."""

import pytest

from engine import laws
from tests.engine.worker.forked import record

START = "import numpy as np\nimport torch\na = np.ones(3)\nt = torch.from_numpy(a)\nx = torch.zeros(2)\ny = x.view(2)\n"
FIRST = len(START.splitlines())

CASES: dict[str, tuple[str, list[tuple[str, str, str, int]]]] = {
    "an array bound anew": ("a = a + 1\na[0] = 5\n", [("a", "array", "rebound", 1)]),
    "a tensor bound anew": ("x = x + 1\nx = x * 2\n", [("x", "tensor", "rebound", 1)]),
    "a view bound anew": ("y = torch.ones(2)\n", [("y", "tensor", "rebound", 1)]),
    "an array deleted": ("del a\n", [("a", "array", "deleted", 1)]),
    "in a loop": ("for n in range(3):\n    x = x * 2\n", [("x", "tensor", "rebound", 2)]),
    "an array of a function": (
        "def f(u):\n    b = u.numpy()\n    b = b * 2\n    return b\nf(t)\nf(t)\n",
        [("b", "array", "rebound", 3)],
    ),
    "written in place": ("a += 1\nx += 1\ny.mul_(2)\nx = x.view(1, 2)\n", []),
    "in a branch that never ran": ("if t.sum() < 0:\n    a = a + 1\n", []),
    "a function called twice": (
        "def f(u):\n    v = u.view(2)\n    w = v.exp()\n    return w\nf(torch.ones(2))\nf(torch.ones(2))\n",
        [],
    ),
    "what a call makes on its way": ("z = torch.func.hessian(lambda v: (v**3).sum())(torch.ones(2))\n", []),
    "another function's name": ("def f(a):\n    a = a + 1\nf(np.ones(2))\n", []),
}


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES.keys())
def test_a_name_that_was_bound_anew_is_told_with_its_line(code: str, expected: list[tuple[str, str, str, int]]) -> None:
    trace = record(START + code)
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    told = [
        (parted.name, parted.kind, parted.how, parted.span.line - FIRST)
        for storage in trace.storages
        for parted in storage.parted
    ]
    assert told == expected


def test_a_storage_of_one_tensor_tells_of_the_array_it_was_made_of() -> None:
    trace = record("import numpy as np\nimport torch\na = np.ones(3)\nt = torch.from_numpy(a)\na = a * 2\n")
    (storage,) = trace.storages
    assert (storage.tensors, storage.arrays) == (("t1",), ())
    assert [parted.name for parted in storage.parted] == ["a"]
