"""What a program says is bounded, in its texts and in its lists, with a mark where something was left out."""

import sysconfig
import time

import msgspec
import pytest

from engine import Trace
from engine.bounds import MOST_CHARACTERS, MOST_MODULES, MOST_OF_A_FAILURE, MOST_VARIABLES, MOST_WARNINGS
from engine.events import ModuleSeen, decode
from tests.conftest import TraceOf
from tests.engine.worker.forked import said

ENDLESS = {
    "a message": "raise ValueError('A' * 20_000_000)",
    "a note": "error = ValueError('x')\nerror.add_note('N' * 20_000_000)\nraise error",
    "many notes": "error = ValueError('x')\nfor _ in range(100_000):\n    error.add_note('note')\nraise error",
    "a chain of causes": """error = None
for _ in range(500):
    try:
        raise ValueError('c' * 100_000) from error
    except ValueError as raised:
        error = raised
raise error""",
    "a group": "raise ExceptionGroup('g' * 1_000_000, [ValueError('v' * 1_000_000) for _ in range(20)])",
    "the name of a class": "raise type('C' * 5_000_000, (Exception,), {})('x')",
    "the name of a Function": """import torch
def double(context, given):
    return given * 2
Double = type('F' * 5_000_000, (torch.autograd.Function,), {name: staticmethod(double) for name in ('forward', 'backward')})
x = torch.ones(2, requires_grad=True)
Double.apply(x).sum().backward()""",
    "the names of a module": """import torch
net = type('M' * 5_000_000, (torch.nn.Module,), {'forward': lambda self, x: sum(p * x for p in self.parameters())})()
net.register_parameter('p' * 5_000_000, torch.nn.Parameter(torch.ones(2)))
net(torch.ones(2)).sum().backward()""",
    "a warning": "import warnings\nwarnings.warn('W' * 20_000_000)",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_text_is_cut(trace: TraceOf, name: str) -> None:
    told = trace(ENDLESS[name])
    assert len(msgspec.json.encode(told)) < 3 * MOST_OF_A_FAILURE + 262_144
    assert [(cut.what, cut.kept) for cut in told.truncated if cut.what == "texts"] == [("texts", MOST_CHARACTERS)]


def test_what_is_too_long_to_print_is_there_as_far_as_the_limit(trace: TraceOf) -> None:
    told = trace("print('p' * 20_000_000)")
    assert [len(piece.text) for piece in told.output] == [262_144]
    assert told.failure is not None
    assert "at line 1" in told.failure.message


def test_a_cut_text_keeps_both_ends(trace: TraceOf) -> None:
    failure = trace("raise ValueError('A' * 1_000_000 + 'the end')").failure
    assert failure is not None
    assert failure.message.startswith("AAA")
    assert failure.message.endswith("the end")
    assert failure.message.count("[… 934,495 …]") == 1
    assert failure.traceback.endswith("the end\n")


def test_names_beyond_the_limit_are_counted(trace: TraceOf) -> None:
    told = trace("for number in range(20_000):\n    globals()[f'name_{number}'] = number")
    assert len(told.variables) == MOST_VARIABLES
    assert [(cut.what, cut.omitted) for cut in told.truncated] == [("variables", 20_001 - MOST_VARIABLES)]


@pytest.mark.slow
def test_modules_beyond_the_limit_are_not_said() -> None:
    lines = said("from torch import nn\nmodel = nn.Sequential(*[nn.Identity() for _ in range(3_000)])")
    told = [event for event in map(decode, lines) if isinstance(event, ModuleSeen)]
    assert len({module.id for module in told}) == MOST_MODULES
    assert {module.path for module in told} == {"model", *(f"model.{place}" for place in range(MOST_MODULES - 1))}


def test_warnings_beyond_the_limit_are_not_told(trace: TraceOf) -> None:
    told = trace("""import io, sys, warnings
sys.stderr = io.StringIO()
for number in range(2_000):
    warnings.warn(f"warning {number}")""")
    assert len(told.warnings) == MOST_WARNINGS
    assert [(cut.what, cut.kept, cut.omitted) for cut in told.truncated] == [("warnings", MOST_WARNINGS, 1_000)]


def test_a_million_small_writes_are_counted_and_not_recorded(trace: TraceOf) -> None:
    code = "import sys, time\nfor _ in range(1_000_000):\n    sys.stdout.write('a')\nprint(time.thread_time(), file=sys.stderr)"
    began = time.thread_time()
    told = trace(code, output_bytes=1_000)
    assert time.thread_time() - began < 1
    assert told.status == "ok"
    assert "".join(output.text for output in told.output) == "a" * 1_000


def test_the_letters_of_a_line_are_one_output(trace: TraceOf) -> None:
    told = trace("import sys\nfor letter in 'one line\\n' * 3:\n    sys.stdout.write(letter)")
    assert [output.text for output in told.output] == ["one line\n"] * 3


SHOWS_PATHS = (
    "from torch.nn import Lineare",
    "import torch, warnings\nwarnings.warn(torch.__file__)",
    "import torch\nraise ValueError(torch.__file__)",
    "import json\njson.loads('{')",
    "import traceback, torch\ntry:\n    torch.ones(2).backward()\nexcept RuntimeError:\n    traceback.print_exc()",
)


@pytest.mark.parametrize("code", SHOWS_PATHS)
def test_paths_of_libraries_are_not_told(trace: TraceOf, code: str) -> None:
    said = msgspec.json.encode(_without_program(trace(code))).decode()
    assert sysconfig.get_path("purelib") not in said
    assert sysconfig.get_path("stdlib") not in said


def _without_program(told: Trace) -> Trace:
    return msgspec.structs.replace(told, program=msgspec.structs.replace(told.program, code=""))


REPLACED = {
    "a function of the program's own use": (
        "import builtins\nbuiltins.len = lambda items: 42\nprint(len([]))",
        "42\n",
        None,
    ),
    "what PyTorch calls": (
        "import builtins, torch\nx = torch.ones(2, requires_grad=True)\nbuiltins.len = lambda items: 1 / 0\n(x * x).sum().backward()",
        "",
        "ZeroDivisionError",
    ),
    "what PyTorch does not call": (
        "import builtins, torch\nx = torch.ones(2, requires_grad=True)\nbuiltins.isinstance = None\nprint((x * x).sum().item())",
        "2.0\n",
        None,
    ),
    "what the DataLoader's wrapper reads": (
        "import builtins, torch\nbuiltins.next = lambda items: 7\nloader = torch.utils.data.DataLoader([1], num_workers=1)\nprint(loader.num_workers)",
        "0\n",
        None,
    ),
    "exceptions and what asks for attributes": (
        "import builtins, torch\nbuiltins.AttributeError = ValueError\nbuiltins.hasattr = lambda *given: False\nbuiltins.id = lambda item: 5\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad.tolist())",
        "[2.0, 2.0]\n",
        None,
    ),
    "what a pass and a parameter ask of a tensor": (
        "import builtins, torch\nx = torch.ones(2, requires_grad=True)\nbuiltins.type = lambda *given: 1 / 0\ntry:\n    torch.nn.Parameter(x)\nexcept ZeroDivisionError:\n    print((x * x).sum().item())\n(x * x).sum().backward()",
        "2.0\n",
        "ZeroDivisionError",
    ),
    "what sets attributes": (
        "import builtins, torch\nbuiltins.setattr = None\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad.tolist())",
        "[2.0, 2.0]\n",
        None,
    ),
    "what writing a cell imports": (
        "import builtins, torch\nx = torch.ones(2, requires_grad=True)\nkept, seen = setattr, []\nbuiltins.setattr = lambda *given: (seen.append(given), kept(*given))\nx.data[0] = 5\nprint(len(seen))",
        "0\n",
        None,
    ),
    "what context managers call": (
        "import builtins, torch\nbuiltins.next = lambda *given: 5\nbuiltins.StopIteration = ValueError\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad.tolist())",
        "[2.0, 2.0]\n",
        None,
    ),
    "all of them": (
        """import builtins
def refuse(*given, **named):
    raise RuntimeError("refused")
for name in dir(builtins):
    if name.islower() and name[0] != "_" and name not in ("setattr", "dir"):
        setattr(builtins, name, refuse)
x = 1 + 1
str(x)""",
        "",
        "RuntimeError",
    ),
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_replaced_builtin_ends_as_in_plain_python(trace: TraceOf, name: str) -> None:
    code, printed, raised = REPLACED[name]
    told = trace(code)
    assert (told.failure.type if told.failure else None) == raised
    assert "".join(output.text for output in told.output) == printed
