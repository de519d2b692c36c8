"""DOT, Mermaid and TikZ say what the graph says, and user text cannot become syntax."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import engine
from engine.export.dot import dot
from engine.export.labels import Language
from engine.export.mermaid import mermaid
from engine.export.tikz import Layout, Place, Wire, tikz
from engine.graph import Graph, view
from engine.trace import Accumulation, Broadcast, Trace, Visit
from tests.engine.traces import Tape

Export = Callable[[Graph, Trace], str]


def placed_tikz(graph: Graph, trace: Trace, language: Language = "en") -> str:
    """TikZ of a graph whose groups are open, everything in one column; signs that TeX writes otherwise put back."""
    boxes = tuple(Place(box.id, 10.0, 60.0 * at, 140.0, 40.0) for at, box in enumerate(graph.boxes))
    frames = tuple(Place(group.id, 0.0, 0.0, 200.0, 600.0) for group in graph.groups)
    seen: Counter[str] = Counter()
    wires = []
    for link in graph.links:
        pair = f"{link.source}>{link.target}"
        id = f"{pair}#{seen[pair]}" if seen[pair] else pair
        seen[pair] += 1
        wires.append(Wire((id,), ((10.0, 0.0), (10.0, 60.0)), True))
    return tikz(graph, trace, Layout(boxes, frames, tuple(wires)), language)


def read_tikz(graph: Graph, trace: Trace, language: Language = "en") -> str:
    """The same, as it reads on paper."""
    text = placed_tikz(graph, trace, language)
    for sign, command in (("∇", "nabla"), ("−", "-"), ("·", "cdot"), ("Σ", "Sigma"), ("×", "times")):
        text = text.replace(f"\\ensuremath{{{command if command == '-' else chr(92) + command}}}", sign)
    return text.replace("{-}", "-").replace("\\_", "_").replace("\\#", "#")


EXPORTS = [dot, mermaid, read_tikz]

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
    for piece in ("MulBackward0 · y", "2 −4", "∇ 0.25", ".grad 0.5", "∇ None", "cut by detach()", "Σ over axis 0"):
        assert piece in text
    assert "-" not in re.findall(r"2 (.)4", text)


@pytest.mark.parametrize("export", EXPORTS)
def test_what_a_pass_adds_to_a_gradient_stands_beside_what_was_there(export: Export) -> None:
    trace = engine.run("import torch\nx = torch.tensor(2.0, requires_grad=True)\n(3 * x).backward()\n(-x).backward()\n")
    text = export(view(trace), trace).replace("\\ensuremath{\\to}", "→")
    assert ".grad 3 + (−1) → 2" in text


@pytest.mark.parametrize("export", EXPORTS)
def test_chinese_words(export: Callable[[Graph, Trace, str], str]) -> None:
    trace = tape().trace()
    text = export(view(trace), trace, "zh")
    assert "叶子 · x" in text
    assert "被 detach() 剪断" in text
    assert "沿第 0 轴求和" in text


@pytest.mark.parametrize("export", EXPORTS)
def test_an_operation_keeps_its_name(export: Callable[[Graph, Trace, str], str]) -> None:
    trace = engine.run("import torch\nx = torch.ones(2, requires_grad=True)\n(x.mean() * x.norm()).backward()")
    text = export(view(trace, level="forward"), trace, "zh")
    for operation, word in (("mean", "平均"), ("norm", "范数")):
        assert operation in text
        assert word not in text


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


@pytest.mark.parametrize("name", HOSTILE)
def test_tikz_reads_user_text_as_text(name: str) -> None:
    trace = tape(name).trace()
    source = placed_tikz(view(trace), trace)
    plain = placed_tikz(view(tape().trace()), tape().trace())
    assert len(source.splitlines()) == len(plain.splitlines())
    written = source[source.index("MulBackward0") :].split("\\\\{}")[0].partition(" \\ensuremath{\\cdot} ")[2]
    known = (
        r"\\text(backslash|asciicircum|asciitilde|less|greater|quotedbl|quotesingle|asciigrave)\{\}|\\[{}$&#_%]|\{-\}"
    )
    assert not set(re.sub(known, "", written)) & set("\\{}$&#_%^~")


def test_facts_that_begin_with_a_bracket_are_no_option_of_a_line_break() -> None:
    trace = tape().trace()
    assert not re.search(r"\\\\\s*\[", placed_tikz(view(trace), trace))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xelatex") is None, reason="needs xelatex with TikZ and standalone")
def test_latex_takes_it(tmp_path: Path) -> None:
    texts = [placed_tikz(view(trace), trace) for trace in (tape(name).trace() for name in (*HOSTILE, "y"))]
    begin, end = "\\begin{tikzpicture}", "\\end{document}"
    pictures = "".join(text[text.index(begin) : text.index(end)] for text in texts)
    (tmp_path / "all.tex").write_text(f"{texts[0][: texts[0].index(begin)]}{pictures}{end}\n", "utf-8")
    done = subprocess.run(
        ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


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
