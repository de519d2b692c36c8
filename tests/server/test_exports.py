"""Every format, by routes and by command line: it is what its readers expect, and both give the same."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema_rs
import pytest

from server.command import main
from server.exports import FILES, PICTURES
from tests.server.conftest import Served

ROOT = Path(__file__).parents[2]
CODE = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)\n"


@pytest.fixture(scope="module")
def run(served: Served) -> str:
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    return f"/api/v1/runs/{served.run(CODE)['id']}"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(CODE)
    return path


@pytest.mark.parametrize("extension", PICTURES)
def test_a_picture_is_of_its_kind(served: Served, run: str, extension: str) -> None:
    answer = served.http.get(f"{run}/graph.{extension}", params={"lang": "zh"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == PICTURES[extension].media_type
    first = {
        "png": b"\x89PNG", "pdf": b"%PDF-", "svg": b"<svg", "dot": b"//", "mmd": b"flowchart", "tikz": b"%",
        "html": b"<!doctype html>", "player": b"{",
    }  # fmt: skip
    assert answer.content.startswith(first[extension])
    if extension == "svg":
        ElementTree.fromstring(answer.content)


def test_a_pdf_is_as_large_as_its_picture_and_has_text(served: Served, run: str) -> None:
    svg = ElementTree.fromstring(served.http.get(f"{run}/graph.svg").content)
    pdf = served.http.get(f"{run}/graph.pdf").content
    width = 0.75 * float(svg.attrib["width"])
    assert f"/MediaBox[0 0 {width:g} ".encode() in pdf
    assert b"/ToUnicode" in pdf
    assert b"/Subtype/Image" not in pdf


def test_files_of_a_run(served: Served, run: str) -> None:
    program = served.http.get(f"{run}/program.py")
    assert program.headers["content-type"] == "text/x-python; charset=utf-8"
    assert program.text.endswith(CODE)
    assert served.http.get(f"{run}/timing.json").json()["traceEvents"]


def test_an_extra_that_is_not_installed_is_named(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    run = f"/api/v1/runs/{served.run('import torch  # without extras')['id']}"
    for module, extension, name in (("typst", "pdf", "PDF"), ("resvg_py", "png", "PNG")):
        monkeypatch.setitem(sys.modules, module, None)
        answer = served.http.get(f"{run}/graph.{extension}")
        assert answer.status_code == 503
        assert f"{name} needs the `{extension}` extra" in answer.json()["detail"]


def test_a_trace_is_what_the_published_schema_says(served: Served, run: str) -> None:
    schema = served.http.get("/schema.json").json()
    trace = {"$ref": "#/$defs/Trace", "$defs": schema["$defs"]}
    validator = jsonschema_rs.validator_for(trace)
    assert validator.is_valid(served.http.get(run).json())
    assert not validator.is_valid({"format": "gradgraph.trace/1"})


@pytest.mark.slow
def test_the_command_line_gives_what_the_routes_give(served: Served, run: str, program: Path, tmp_path: Path) -> None:
    names = {name: f"graph.{name}" for name in PICTURES if name != "png"}
    outputs = [part for name in (*names, "json", "py") for part in (f"--{name}", str(tmp_path / name))]
    assert main(["run", str(program), *outputs, "--lang", "zh", "--theme", "dark", "--step", "3"]) == 0
    for option, file in names.items():
        asked = served.http.get(f"{run}/{file}", params={"lang": "zh", "theme": "dark", "step": 3}).content
        own = (tmp_path / option).read_bytes()
        assert own[:5] == asked[:5] if option in ("pdf", "html", "player") else own == asked, option
    theirs, ours = served.http.get(run).json(), json.loads((tmp_path / "json").read_text())
    for told in (theirs, ours):
        del told["timings"], told["environment"]
    assert {**ours, "ops": len(ours["ops"]), "passes": 0} == {**theirs, "ops": len(theirs["ops"]), "passes": 0}
    assert (tmp_path / "py").read_text().endswith(CODE)


def test_standard_output_and_status(program: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["run", str(program), "--mmd", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"flowchart TD\n")
    program.write_text("raise ValueError('no')")
    assert main(["run", str(program), "--summary"]) == 0
    assert main(["run", str(program), "--summary", "--fail"]) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--step", "99", "--svg", "-"], "--step 99 is not a step of this run; give a whole number from 0 to"),
        (["--svg", "-", "--dot", "-"], "only one file can go to standard output"),
        (["--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_wrong_arguments_end_with_2(
    program: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(program), *arguments])
    assert sentence in capsys.readouterr().err


def test_what_cannot_be_written_ends_with_3(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["run", str(program), "--dot", str(tmp_path / "no" / "x.dot")]) == 3
    assert "No such file or directory; give another path" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "typst", None)
    files = ["--pdf", str(tmp_path / "x.pdf"), "--mmd", str(tmp_path / "x.mmd"), "--dot", str(tmp_path / "x.dot")]
    assert main(["run", str(program), *files, "--lang", "zh"]) == 3
    assert "PDF 需要安装" in capsys.readouterr().err
    assert not (tmp_path / "x.pdf").exists()
    assert (tmp_path / "x.mmd").exists() and (tmp_path / "x.dot").exists()


@pytest.mark.slow
def test_a_reader_that_leaves_ends_it_quietly(program: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = "from server.command import quietly; quietly()"
    done = subprocess.run(
        [sys.executable, "-c", command, "run", str(program)],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_each_option_has_one_row() -> None:
    assert not set(PICTURES) & set(FILES)
