"""Calls of the program's own functions: the tree, the assignments as they happen, and a program that notices
nothing."""

import msgspec
import pytest

from engine import DEFAULT_LIMITS, run
from engine.laws import broken
from engine.trace import PythonCall, Trace
from engine.worker.capture.python_calls import MOST_CALLS, written

TOY = """class Value:
    def __init__(self, data, creator=None):
        self.data = data
        self.creator = creator

    def __sub__(self, other):
        return Sub()(self, other)

    def __repr__(self):
        shown.append(self)
        return "?"

    def __getattr__(self, name):
        shown.append(name)
        raise AttributeError(name)


class Rule:
    def __call__(self, *inputs):
        return self.do_forward(*inputs)

    def do_forward(self, *inputs):
        unpacked = tuple(each.data for each in inputs)
        result = self.forward(*unpacked)
        self.before, self.count = [
            each.creator for each in inputs
        ], len(inputs)
        return Value(result, self)


class Sub(Rule):
    def forward(self, a, b):
        return a - b


shown = []
a, b = Value(5.0), Value(2.0)
c = a - b
print(c.data, shown)
"""


def _followed(code: str) -> Trace:
    trace = run(code, checks=("calls",))
    assert broken(trace) == []
    return trace


def _tree(calls: tuple[PythonCall, ...]) -> list[tuple[int, str]]:
    depth: dict[str, int] = {}
    for call in calls:
        depth[call.id] = depth[call.parent] + 1 if call.parent is not None else 0
    return [(depth[call.id], call.function) for call in calls]


def _code(trace: Trace, call: PythonCall) -> str:
    assert call.span is not None
    assert call.span.line == call.span.end_line
    return trace.program.code.splitlines()[call.span.line - 1][call.span.column : call.span.end_column]


def test_the_chain_of_one_operator() -> None:
    trace = _followed(TOY)
    assert trace.output[0].text == "3.0 []\n"
    assert _tree(trace.python_calls[2:]) == [
        (0, "Value.__sub__"), (1, "Rule.__call__"), (2, "Rule.do_forward"), (3, "Sub.forward"), (3, "Value.__init__"),
    ]  # fmt: skip
    by_name = {call.function: call for call in trace.python_calls}
    assert _code(trace, by_name["Value.__sub__"]) == "a - b"
    assert _code(trace, by_name["Rule.__call__"]) == "Sub()(self, other)"
    assert _code(trace, by_name["Sub.forward"]) == "self.forward(*unpacked)"
    subtraction, forward = by_name["Value.__sub__"], by_name["Sub.forward"]
    assert [(argument.target, argument.text) for argument in subtraction.arguments] == [("self", "Value #1(data=5)"), ("other", "Value #2(data=2)")]  # fmt: skip
    assert ([(argument.target, argument.text) for argument in forward.arguments], forward.returned) == (
        [("self", "Sub #1"), ("a", "5"), ("b", "2")], "3",
    )  # fmt: skip
    assert subtraction.returned == "Value #3(data=3)"


def test_assignments_as_they_happen() -> None:
    trace = _followed(TOY)
    by_name = {call.function: call for call in trace.python_calls}
    steps = [(statement.line, [(each.target, each.text) for each in statement.assigned]) for statement in by_name["Rule.do_forward"].statements]  # fmt: skip
    assert steps == [
        (23, [("unpacked", "(5, 2)")]),
        (24, [("result", "3")]),
        (25, [("self.before", "[None, None]"), ("self.count", "2")]),
        (28, []),
    ]
    made = by_name["Value.__init__"]
    assert [statement.assigned[0].target for statement in made.statements] == ["self.data", "self.creator"]
    assert made.statements[1].assigned[0].text == "Sub #1(count=2)"
    unpacking = by_name["Rule.do_forward"].statements[0]
    assert unpacking.at < unpacking.done < by_name["Sub.forward"].at < by_name["Rule.do_forward"].statements[1].done


def test_loops_generators_and_exceptions() -> None:
    trace = _followed(
        """def numbers(n):
    for i in range(n):
        yield i

def fails(n):
    try:
        return 1 / n
    except ZeroDivisionError:
        k = -1
    raise ValueError(k)

total = 0
for each in numbers(2): total += each
try: fails(0)
except ValueError: pass
"""
    )
    calls = trace.python_calls
    assert [(call.function, call.returned, call.raised) for call in calls] == [
        ("numbers", "0", ""), ("numbers", "1", ""), ("numbers", "None", ""), ("fails", None, "ValueError"),
    ]  # fmt: skip
    assert [statement.assigned for statement in calls[2].statements if statement.line == 2] == [
        ()
    ]  # the loop ended: nothing was assigned
    assert [(statement.line, [each.text for each in statement.assigned]) for statement in calls[3].statements] == [
        (6, []), (7, []), (9, ["-1"]), (10, []),
    ]  # fmt: skip
    assert calls[3].statements[-1].done == 0


def test_functions_that_pytorch_calls() -> None:
    trace = _followed(
        """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
def hook(grad):
    return grad * 3
net = Net()
x = torch.tensor([1., 2.], requires_grad=True)
x.register_hook(hook)
Double.apply(net(x)).sum().backward()
print(x.grad)
"""
    )
    assert trace.output[0].text == "tensor([12., 12.])\n"
    assert [(call.function, _code(trace, call)) for call in trace.python_calls] == [
        ("Net.forward", "net(x)"),
        ("Double.forward", "Double.apply(net(x))"),
        ("Double.backward", "Double.apply(net(x)).sum().backward()"),
        ("hook", "Double.apply(net(x)).sum().backward()"),
    ]
    forward, _, backward, _ = trace.python_calls
    assert forward.through.startswith("torch.nn.modules.module.Module.")
    assert forward.statements[0].assigned[0].text == "tensor([2, 4])"
    assert backward.returned == "tensor([2, 2])"


def test_a_lambda_assigns_nothing_of_the_line_it_stands_in() -> None:
    trace = _followed(
        "import torch\nw = torch.ones(2, requires_grad=True)\nhandle = w.register_hook(lambda g: g * 3)\n"
        "w.sum().backward()\n"
    )
    (hook,) = trace.python_calls
    assert (hook.function, hook.returned) == ("<lambda>", "tensor([3, 3])")
    assert [statement.assigned for statement in hook.statements] == [()]


SLOTS = """import torch
class Slim:
    __slots__ = ("kept", "never")
    def __init__(self, x):
        self.kept = x
        table = {}
        table["a"] = [x, 2.5]
        table["a"][1] = "text"
        self.list = None if False else x
try:
    Slim(torch.zeros(3, 3))
except AttributeError:
    pass
class Odd:
    @property
    def shown(self): raise SystemExit
    @shown.setter
    def shown(self, value): self.__dict__["hidden"] = value
def use(odd, *rest, key=1, **others):
    odd.shown = 3
    return odd
use(Odd(), 1, 2, key=4, more=5)
"""


def test_odd_objects() -> None:
    trace = _followed(SLOTS)
    assert trace.status == "ok"
    slim, use, setter = trace.python_calls
    assert [each for statement in slim.statements for each in ((item.target, item.text) for item in statement.assigned)] == [
        ("self.kept", "tensor 3×3"), ("table", "{}"), ("table['a']", "[tensor 3×3, 2.5]"), ("table['a'][1]", "'text'"),
    ]  # fmt: skip
    assert slim.raised == "AttributeError"
    assert setter.function == "Odd.shown"
    assert [(argument.target, argument.text) for argument in use.arguments] == [
        ("odd", "Odd #1"), ("key", "4"), ("rest", "(1, 2)"), ("others", "{'more': 5}"),
    ]  # fmt: skip
    assert use.statements[0].assigned == ()
    assert use.returned == "Odd #1(hidden=3)"


HOSTILE = """import asyncio, threading, sys
class Meta(type):
    def __getattribute__(cls, name):
        raise RuntimeError(name)
class Odd(metaclass=Meta):
    @property
    def __class__(self): raise SystemExit
def f(x): return x
f(Odd()); f(Odd); f("a" * 10_000_000); f(10 ** 100_000); f(b"x" * 1_000_000); f(float("nan")); f([[[[[[1]]]]]]); f(sys); f(f)
async def later(x):
    await asyncio.sleep(0)
    return x + 1
print(asyncio.run(later(1)))
t = threading.Thread(target=f, args=(1,)); t.start(); t.join()
def numbers():
    try:
        yield 1
    finally:
        print("closed")
k = numbers(); next(k); k.close()
def last():
    raise SystemExit(3)
last()
"""


def test_hostile_values_and_ends() -> None:
    trace, plain = _followed(HOSTILE), run(HOSTILE)
    assert [piece.text for piece in trace.output] == [piece.text for piece in plain.output] == ["2\n", "closed\n"]
    assert (trace.status, trace.failure, trace.findings) == (plain.status, plain.failure, plain.findings)
    by_name: dict[str, list[PythonCall]] = {}
    for call in trace.python_calls:
        by_name.setdefault(call.function, []).append(call)
    said = [call.returned or "" for call in by_name["f"]]
    assert said[:2] == ["Odd #1", "Odd"]
    assert said[2].startswith("'aaa")
    assert said[3:] == ["int of 332193 bits", said[4], "nan", "[[[[[[1]]]]]]", "sys", "f"]
    assert max(map(len, said)) <= 72
    assert [call.returned for call in by_name["later"]] == ["None", "2"]
    assert [(call.returned, call.raised) for call in by_name["numbers"]] == [("1", ""), (None, "GeneratorExit")]
    assert by_name["last"][0].raised == "SystemExit"


def test_memory_nobody_wrote_is_not_shown() -> None:
    trace = _followed("import torch\ndef make():\n    x = torch.empty(3)\n    return x\nmake()\n")
    assert trace.python_calls[0].returned == "tensor (3,), uninitialised"


def test_many_calls_are_cut() -> None:
    trace = _followed("def f(x): return x + 1\nk = 0\nfor _ in range(5000): k = f(k)\nprint(k)\n")
    assert len(trace.python_calls) == MOST_CALLS
    assert [(cut.what, cut.kept) for cut in trace.truncated] == [("python_calls", MOST_CALLS)]
    assert trace.output[0].text == "5000\n"


def test_a_recursion_ends_where_it_does_unfollowed() -> None:
    code = "depth = 0\ndef f():\n    global depth\n    depth += 1\n    f()\ntry:\n    f()\nexcept RecursionError:\n    print(depth)\n"
    assert _followed(code).output == run(code).output


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nseen = []\ndef f(): return 1\nsys.settrace(lambda *a: seen.append(a[1]))\nf()\nsys.settrace(None)\nprint(seen)\n",
        "import sys\ndef f(): return sys.gettrace()\nprint(f())\n",
        "import sys\nseen = []\nsys.setprofile(lambda *a: seen.append(a[1]))\nlen([])\nsys.setprofile(None)\nprint(seen[0])\n",
    ],
)
def test_a_program_that_traces_itself_goes_on(code: str) -> None:
    trace = _followed(code)
    assert trace.python_calls == ()
    assert [piece.text for piece in trace.output] == [piece.text for piece in run(code).output]


@pytest.mark.slow
def test_a_program_stopped_in_a_call_keeps_what_it_did() -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, wall_s=0.7)
    trace = run("def f(x):\n    y = x + 1\n    while True: pass\nf(1)\n", limits, ("calls",))
    assert trace.status == "limited"
    (call,) = trace.python_calls
    assert (call.left, call.returned, call.statements[0].assigned[0].text) == (0, None, "2")


def test_a_program_that_does_not_compile_has_no_calls() -> None:
    assert _followed("def f(:\n").python_calls == ()


def test_calls_are_only_there_when_asked_for() -> None:
    assert run(TOY).python_calls == ()


def test_the_statement_of_each_line() -> None:
    found = written("if a:\n    x = (\n        1\n    )\nelse:\n    y: int = 2\n'text'\n")
    assert {line: [text for text, _ in statement.targets] for line, statement in found.items()} == {
        1: [], 2: ["x"], 3: ["x"], 4: ["x"], 6: ["y"],
    }  # fmt: skip
    assert written("x = (") == {}
