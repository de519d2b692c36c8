"""What the page says a rule's letters stand for, against what PyTorch was given in their places."""

import itertools
import re
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import engine
from tests.oracle.page import Page, RuleShown

CALLS = """
F.linear({m}, {k}, {r})
F.linear({m}, {k})
F.linear({t}, {k}, {r})
F.linear({m}, weight={k}, bias={r})
torch.addmm({r}, {m}, {k}, beta=1)
torch.addmm(mat2={k}, input={r}, mat1={m})
{m} @ {k}
{r} @ {k}
{m} + {k}
torch.sub(other={m}, input={k})
torch.add({m}, {k}, alpha=2)
{m} / {k}
{m} ** {k}
torch.maximum({m}, {k})
torch.where(condition=flags, input={m}, other={k})
torch.where(flags, {m}, {k})
torch.where(flags, {m}, 3.0)
F.prelu({m}, {r})
F.mse_loss({m}, {k})
F.layer_norm({m}, (3,), {r}, {b})
F.layer_norm({m}, (3,))
F.batch_norm({m}, torch.zeros(3), torch.ones(3))
F.batch_norm({m}, None, None, {r}, {b}, training=True)
F.conv1d({t}, {t}, {b})
torch.index_add({m}, 0, places, {k})
torch.scatter({m}, 0, cells, {k})
({m} * 1).index_put((places,), {k})
({m} * 1).copy_({k})
torch.zeros(3, 3)[0:2].add_({m}[0:2])
""".strip().splitlines()
SHAPES = {"m": (3, 3), "k": (3, 3), "r": (3,), "b": (3,), "t": (3, 3, 3)}
HEAD = """
import torch
from torch.nn import functional as F
torch.manual_seed(0)
flags = torch.tensor([True, False, True])
places = torch.tensor([2, 0, 1])
cells = torch.tensor([[2, 0, 1], [0, 1, 2], [1, 1, 1]])
"""


def _program(call: str) -> str:
    """The call once for each way to freeze some of what it is given."""
    lines = [HEAD]
    shapes = [SHAPES[name] for name in re.findall(r"\{(\w)\}", call)]
    for way, tracked in enumerate(itertools.product((True, False), repeat=len(shapes))):
        if not any(tracked):
            continue
        names = [f"given{way}_{place}" for place in range(len(shapes))]
        for name, shape, learns in zip(names, shapes, tracked, strict=True):
            lines.append(f"{name} = torch.rand{shape}.requires_grad_({learns})")
        lines += [f"result{way} = {re.sub(r'{.}', '{}', call).format(*names)}", f"result{way}.sum().backward()"]
    return "\n".join(lines)


class Calls(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Every operation that runs, with what it is given under the names of its signature, and what it gives."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        names = [argument.name for argument in func._schema.arguments]
        kept = [one.clone() if isinstance(one, torch.Tensor) else one for one in args]
        result = func(*args, **(kwargs or {}))
        given = {**dict(zip(names, kept, strict=False)), **(kwargs or {})}
        given["result"] = result[0] if isinstance(result, tuple) else result
        if torch._C._current_graph_task_id() < 0:
            self.seen.append((func._schema.name.removeprefix("aten::").strip("_"), given))
        return result


def _same(a: object, b: object) -> bool:
    if isinstance(b, list) and isinstance(a, torch.Tensor):
        return len(b) == 1 and _same(a, b[0])
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and torch.equal(a, b)
    return not isinstance(a, torch.Tensor) and b in (a, [a])


def _places(rule: RuleShown) -> dict[str, str]:
    """By letter."""
    return {letter: place for place, letter in re.findall(r'data-slot="(\w+)"[^>]*>([^<]*)<', rule.forward)}


@pytest.mark.parametrize("call", CALLS)
def test_a_letter_stands_for_what_its_operation_was_given(call: str, page: Page) -> None:
    """Whatever of the operands is frozen."""
    code = _program(call)
    scope: dict[str, Any] = {}
    with Calls() as calls:
        exec(code, scope)
    trace = engine.run(code)
    assert trace.failure is None
    told = 0
    for rule in page.shows(trace, []).equations.rules:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z])", "_", rule.node.split("Backward")[0]).lower()
        places = _places(rule)
        for letter, said in ((one.letter, one.name) for one in rule.stands if one.letter in places):
            given = [seen.get(places[letter]) for kind, seen in calls.seen if kind == name]
            if "…" in said or all(one is None for one in given):
                continue
            told += 1
            assert any(_same(eval(said.replace("−", "-"), scope), one) for one in given), (
                f"{rule.node}: {places[letter]} is not {said}"
            )
    assert told


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("F.linear({m}, {k}, {r})", {"mat1": "given6_0", "mat2": "given6_1.T", "self": "given6_2"}),
        ("F.linear({m}, {k}, {r})", {"mat1": "given3_0", "mat2": "given3_1.T", "self": "given3_2"}),
        ("F.linear({m}, {k})", {"self": "given1_0", "mat2": "given1_1.T"}),
        ("torch.where(flags, {m}, {k})", {"condition": "flags", "self": "given2_0", "other": "given2_1"}),
    ],
)
def test_what_is_frozen_keeps_its_name(call: str, names: dict[str, str], page: Page) -> None:
    rules = page.shows(engine.run(_program(call)), []).equations.rules
    told = [(_places(rule), rule.stands) for rule in rules]
    found = [{places[one.letter]: one.name for one in stands if one.letter in places} for places, stands in told]
    assert any(names.items() <= one.items() for one in found), found
