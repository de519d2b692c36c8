"""Every text and list of a trace is bounded, whatever a program does, and what was cut is told."""

import msgspec
import pytest

import engine
from engine import events as ev
from engine import laws
from engine.assemble.read import read
from engine.bounds import MOST_CHARACTERS, MOST_OF_A_FAILURE, shortened
from engine.graph import view
from engine.trace import Trace
from tests.engine.worker.forked import record

START = "import torch\nfrom torch import nn\nx = torch.ones(1, 1, requires_grad=True)\n"
END = "(x * x).sum().backward()\n"

LONG = {
    "the name of a module's class": "L = type('A' * 100_000, (nn.Linear,), {})\nlayer = L(1, 1)\nlayer(x)\n",
    "what a module says of itself": (
        "class L(nn.Linear):\n    def extra_repr(self):\n        return 'x' * 100_000\nlayer = L(1, 1)\nlayer(x)\n"
    ),
    "the name of a parameter": (
        "layer = nn.Module()\nlayer.register_parameter('p' * 100_000, nn.Parameter(x.detach()))\n"
    ),
    "the name of a Function": (
        "F = type('F' * 100_000, (torch.autograd.Function,), {\n"
        "    'forward': staticmethod(lambda ctx, x: x * 2), 'backward': staticmethod(lambda ctx, g: g * 2)})\n"
        "F.apply(x).sum().backward()\n"
    ),
    "a global name": "globals()['v' * 100_000] = torch.ones(3)\n",
    "the options of an optimizer": (
        "groups = [{'params': [x], 'k' * 100_000: 'v' * 100_000}]\nstep = torch.optim.SGD(groups, lr=0.1).step\n"
        "for _ in range(20):\n    step()\n"
    ),
    "the name of a hook": "def f(g): pass\nf.__name__ = f.__qualname__ = 'h' * 100_000\nx.register_hook(f)\n",
    "a warning": "import warnings\nwarnings.warn('w' * 100_000)\n",
}


def texts(value: object) -> list[str]:
    """All texts in what was made of JSON."""
    match value:
        case str():
            return [value]
        case list():
            return [text for part in value for text in texts(part)]
        case dict():
            return [text for pair in value.items() for part in pair for text in texts(part)]
    return []


def told(trace: Trace) -> dict[str, tuple[int, int | None]]:
    return {cut.what: (cut.kept, cut.omitted) for cut in trace.truncated}


@pytest.mark.parametrize("code", LONG.values(), ids=LONG.keys())
def test_a_long_text_is_cut(code: str) -> None:
    trace = record(START + code + END)
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    assert max(map(len, texts(msgspec.to_builtins(trace)))) <= MOST_CHARACTERS
    assert len(msgspec.json.encode(trace)) < 500_000


def test_a_text_that_was_cut_has_a_mark_in_its_middle_and_is_counted() -> None:
    said = read([msgspec.json.encode(ev.Warned("W" * 5_000, 'say "no"\n' * 5_000, 0))])
    (warned,) = said.timed_events
    assert isinstance(warned, ev.Warned)
    assert warned.category == "W" * 1_988 + "[… 1,024 …]" + "W" * 1_988
    assert (len(warned.message), warned.message[:9], warned.message[-9:]) == (3_988, 'say "no"\n', 'say "no"\n')
    assert said.texts_cut == 2
    assert not said.damage


def test_messages_and_output_may_be_longer() -> None:
    failed = ev.Failed("exception", "E" * 20_000, "m" * 1_000_000, 0, (), "t" * 1_000_000)
    said = read([msgspec.json.encode(event) for event in (ev.Printed("stdout", "o" * 100_000, 0), failed)])
    assert said.failed is not None
    assert said.failed.type == "E" * 20_000
    assert said.failed.message == shortened("m" * 1_000_000, MOST_OF_A_FAILURE)
    (printed,) = said.timed_events
    assert isinstance(printed, ev.Printed)
    assert len(printed.text) == 100_000


@pytest.mark.parametrize("line", [b'["w","' + b"x" * 9_000, b"[" * 9_000, b'"' + b"\xff" * 9_000 + b'"'])
def test_a_long_line_that_is_no_event_ends_the_reading(line: bytes) -> None:
    assert read([line]).damage


@pytest.mark.slow
def test_a_tree_of_twenty_thousand_modules() -> None:
    trace = engine.run(START + f"model = nn.Sequential(*[nn.Identity() for _ in range(20_000)])\n{END}")
    assert trace.status == "ok", trace.failure
    assert told(trace) == {"modules": (2_000, 18_001)}
    assert laws.broken(trace) == []
    assert len(msgspec.json.encode(trace)) < 500_000
    assert len(msgspec.json.encode(view(trace))) < 50_000


def test_twenty_thousand_names_leave_room_for_tensors() -> None:
    trace = record("globals().update({f'n{i}': i for i in range(20_000)})\n" + START + END)
    assert trace.status == "ok", trace.failure
    assert told(trace)["variables"][0] == 2_000 >= len(trace.variables) > 1_990
    assert [variable.name for variable in trace.variables if variable.kind == "tensor"] == ["x"]
    assert [variable.name for variable in trace.variables][:3] == ["n0", "n1", "n2"]
    assert laws.broken(trace) == []


@pytest.mark.slow
def test_thousands_of_warnings_and_of_shared_memory() -> None:
    code = "import warnings\nwarnings.simplefilter('always')\nfor i in range(3_000): warnings.warn(str(i))\n"
    trace = record(START + code + "kept = [torch.zeros(1).add_(1) for _ in range(3_000)]\n" + END)
    assert trace.status == "ok", trace.failure
    assert told(trace)["warnings"] == (1_000, 2_000)
    assert told(trace)["storages"] == (2_000, 1_000)
    assert (len(trace.warnings), len(trace.storages)) == (1_000, 2_000)
    assert laws.broken(trace) == []


@pytest.mark.slow
def test_many_inputs_of_one_op_are_drawn_in_time() -> None:
    code = "leaves = [torch.ones(1, requires_grad=True) for _ in range(4_000)]\ntorch.cat(leaves).sum().backward()\n"
    assert len(view(record("import torch\n" + code)).links) == 4_001
