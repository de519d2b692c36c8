"""DOT and Mermaid say what the graph says, and user text cannot become syntax."""

import re
from collections.abc import Callable

import pytest

import engine
from engine.export.dot import dot
from engine.export.mermaid import mermaid
from engine.graph import Graph, view
from engine.trace import Accumulation, Broadcast, Trace, Visit
from tests.engine.traces import Tape

Export = Callable[[Graph, Trace], str]
EXPORTS = [dot, mermaid]

HOSTILE = [
    'a"b',
    'a\\"];evil[label="x',
    "line\nbreak",
    "<b>bold</b>",
    "<img src=x onerror=alert(1)>",
    "back\\slash",
    "trailing\\",
    "`code`",
    "end",
    "a]b)c}d|e;f",
    "#quot;",
    "&lt;",
    "变量名",
    "%%{init: {}}%%",
    "\\N\\G",
]


def tape(name: str = "y") -> Tape:
    tape = Tape()
    x = tape.leaf("x", shape=(2,), data=[1.0, 2.0])
    b = tape.leaf("b")
    y = tape.op("mul", x, b, out=name, shape=(2,), data=[2.0, -4.0], broadcast=(Broadcast(input=1, axes=(0,)),))
    cut = tape.op("detach", y, records=False, shape=(2,), data=[2.0, -4.0])
    z = tape.op("mul", y, cut, out="z", shape=(2,), data=[4.0, 16.0], numbers=["3"])
    seed, to_y, to_x = (tape.tensor(role="gradient", data=[number], shape=()) for number in (1.0, 0.25, 0.5))
    tape.backward(
        z,
        visits=[
            Visit(node="n4", entered=(seed,), left=(to_y, None, None)),
            Visit(node="n3", entered=(to_y,), left=(to_x, None)),
        ],
        accumulations=[Accumulation(tensor=x, node="n1", visit=2, before=None, delta=to_x, after=to_x)],
    )
    return tape


@pytest.mark.parametrize("export", EXPORTS)
def test_values_gradients_and_shapes_are_written(export: Export) -> None:
    trace = tape().trace()
    text = export(view(trace), trace)
    for piece in ("MulBackward0 · y", "2 −4", "∇ 0.25", ".grad 0.5", "∇ None", "cut by detach()", "Σ over axes 0"):
        assert piece in text
    assert "-" not in re.findall(r"2 (.)4", text)


@pytest.mark.parametrize("export", EXPORTS)
def test_chinese_words(export: Callable[[Graph, Trace, str], str]) -> None:
    trace = tape().trace()
    text = export(view(trace), trace, "zh")
    assert "叶子 · x" in text
    assert "被 detach() 剪断" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_dot_reads_user_text_as_text(name: str) -> None:
    trace = tape(name).trace()
    source = dot(view(trace), trace)
    plain = dot(view(tape().trace()), tape().trace())
    assert len(source.splitlines()) == len(plain.splitlines())
    assert structure(unquoted(source)) == structure(unquoted(plain))


def unquoted(source: str) -> str:
    """DOT with every quoted string replaced, read as Graphviz reads quotes."""
    return re.sub(r'"(?:\\.|[^"\\])*"', "S", source, flags=re.DOTALL)


def structure(source: str) -> list[str]:
    """Statements without labels, which may be bare words."""
    return [re.sub(r"label=(S|[\w\u0080-\uffff]+)", "label=S", line).strip() for line in source.splitlines()]


@pytest.mark.parametrize("name", HOSTILE)
def test_mermaid_reads_user_text_as_text(name: str) -> None:
    trace = tape(name).trace()
    source = mermaid(view(trace), trace)
    plain = mermaid(view(tape().trace()), tape().trace())
    assert re.sub(r'"[^"]*"', "S", source) == re.sub(r'"[^"]*"', "S", plain)
    label = next(text for text in re.findall(r'"([^"]*)"', source) if text.startswith("MulBackward0 · "))
    user_text = label.removeprefix("MulBackward0 · ").split("<br/>")[0]
    decoded = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), user_text)
    assert decoded == " ".join(name.split())
    assert not set(re.sub(r"#\d+;", "", user_text)) & set('<>"`\\&%')


def grouped() -> Trace:
    tape = Tape("for i in a:\n    y = self.fc(y) * 2\n")
    outer = tape.module("model", "Net")
    y = tape.leaf("x")
    for name in ("one", "two"):
        inner = tape.module(f"model.{name}", "Linear", parent=outer)
        y = tape.op("tanh", y, module=inner)
        y = tape.op("neg", y, module=outer)
    tape.backward(y)
    return tape.trace()


def test_groups_are_nested_clusters() -> None:
    source = dot(view(grouped()), grouped())
    assert source.count("subgraph") == 3
    assert source.index("cluster_g1") < source.index("cluster_g2")
    assert source.count("{") == source.count("}") == 4


def test_groups_are_nested_subgraphs_in_order() -> None:
    lines = [line.strip() for line in mermaid(view(grouped()), grouped()).splitlines()]
    blocks = [line for line in lines if line.startswith("subgraph") or line == "end"]
    assert [line.split("[")[0] for line in blocks] == ["subgraph g1", "subgraph g2", "end", "subgraph g3", "end", "end"]


@pytest.mark.parametrize("export", EXPORTS)
def test_what_is_left_out_is_said(export: Export) -> None:
    trace = grouped()
    assert "2 more boxes are not drawn" in export(view(trace, max_boxes=3), trace)


@pytest.mark.parametrize("export", EXPORTS)
def test_a_layer_is_named_after_the_pass_that_made_it(export: Callable[[Graph, Trace, str], str]) -> None:
    trace = engine.run(
        engine.Program(
            code="import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\n"
            "g, = torch.autograd.grad(y, x, create_graph=True)\ng.backward()\n"
        )
    )
    text = export(view(trace), trace, "en").replace("#35;", "#")
    assert "what autograd.grad() #1 computed, as a graph" in text
    assert "∇ 1" in text and ".grad 12" in text  # of both passes
    assert "autograd.grad() #1 自己的计算" in export(view(trace), trace, "zh").replace("#35;", "#")
