"""Programs that hinder what looks at them: the answer says how they ended, as plain Python would."""

import pytest

from tests.conftest import TraceOf

RECORDED = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
META = """class Lies(type):
    def __getattribute__(cls, name):
        raise RuntimeError(name)
class Odd(metaclass=Lies):
    pass
odd = Odd()
"""
ENDS = {
    "a class that answers nothing": (META + "raise ValueError()", "ValueError", 7),
    "a signal to itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass", "KeyboardInterrupt", 3),
    "frames without end": (
        "import sys\nsys.setrecursionlimit(100_000)\ndef f(n): return f(n + 1)\nf(0)", "RecursionError", 3,
    ),
    "a termination": ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nwhile True: pass", "SIGTERM", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_an_odd_program_ends_as_in_plain_python(trace: TraceOf, name: str) -> None:
    code, kind, line = ENDS[name]
    told = trace(RECORDED + code)
    assert told.failure is not None
    assert told.failure.type == kind
    assert len(told.nodes) == 3
    assert not line or (told.failure.span is not None and told.failure.span.line == line + 3)


@pytest.mark.parametrize("name", ["map", "len", "isinstance", "set", "tuple", "getattr", "print", "type", "range"])
@pytest.mark.parametrize("body", ["raise RuntimeError('refused')", "return None"])
def test_a_replaced_builtin_costs_nothing_of_the_record(trace: TraceOf, name: str, body: str) -> None:
    told = trace(
        f"""import builtins, torch
def mine(*given, **named):
    {body}
builtins.{name} = mine
x = torch.ones(2, requires_grad=True)
y = (x * 3).sum()
"""
    )
    assert told.failure is None
    assert [op.name for op in told.ops] == ["ones", "mul", "sum"]
    assert not told.findings
