"""`python -m engine` from the outside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.trace import FORMAT

ROOT = Path(__file__).parents[2]


def command(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments], cwd=ROOT, input=stdin, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "program.py"
    path.write_text("import torch\nx = torch.ones(2, requires_grad=True)\n(x * 3).sum().backward()\nprint(x.grad)\n")
    return path


def test_prints_the_trace_of_a_file(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(program)]) == 0
    trace = json.loads(capsys.readouterr().out)
    assert trace["status"] == "ok"
    assert trace["environment"]["isolation"]["profile"] in ("full", "container")


def test_pretty_is_the_same_trace(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(program), "--pretty"])
    text = capsys.readouterr().out
    assert text.startswith(f'{{\n  "format": "{FORMAT}"')


def test_summary_says_what_happened(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(program), "--summary"])
    said = capsys.readouterr().out
    assert said.startswith("ok: ")
    assert "x.grad [3.0, 3.0]" in said


def test_fixes_are_tried_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.py"
    path.write_text("import torch\nw = torch.ones(2, requires_grad=True)\n(w * 2).detach().sum().backward()\n")
    main([str(path), "--try-fixes"])
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["done"], told["trials"][0]["verdict"]) == ("gradgraph.fixes/1", True, "mends")
    main([str(path), "--try-fixes", "--summary"])
    assert "at line 3: mends, certain" in capsys.readouterr().out


def test_a_cause_is_tested_where_there_is_no_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "off.py"
    path.write_text(
        "import torch\nw = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = w * 2\ny.sum().backward()\n"
    )
    main([str(path), "--try-fixes", "--summary"])
    assert "experiment on cut_by_no_grad at line 4: mends, certain" in capsys.readouterr().out


def test_expression_with_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--expression", "((x + 2)**2 * 3).mean()", "--input", "x=[[1,1],[1,1]]", "--summary"]) == 0
    assert "x.grad [4.5, 4.5, 4.5, 4.5]" in capsys.readouterr().out


def test_fail_turns_a_failing_program_into_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fails.py"
    path.write_text("x = 1\nraise ValueError('no')\n")
    assert main([str(path)]) == 0
    assert main([str(path), "--fail", "--summary"]) == 1
    assert "ValueError at line 2: no" in capsys.readouterr().out


@pytest.mark.slow
def test_reads_stdin_and_leaves_nothing_behind() -> None:
    done = command("-", "--summary", stdin="print('hello')\n")
    assert done.returncode == 0
    assert "hello" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give either a FILE or --expression, and not both"),
        (["a.py", "--expression", "x"], "give either a FILE or --expression, and not both"),
        (["no-such-file.py"], "cannot read 'no-such-file.py': No such file or directory"),
        (["a.py", "--input", "x=1"], "--input belongs to --expression"),
        (["--expression", "x", "--input", "x"], "--input 'x' has no ="),
        (["--expression", "x", "--input", "x=[1,"], "input 'x' is not JSON"),
        (["a.py", "--seed", "-1"], "'-1' is not a seed"),
        (
            ["a.py", "--device", "tpu"],
            "'tpu' is no device a program can run on: that is auto, cpu, cuda, cuda:N; choose `auto`",
        ),
    ],
)
def test_bad_arguments_get_a_sentence(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_checks_are_made_when_asked_for(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(program), "--summary", "--check", "finite-difference"])
    assert "check of x.grad: agrees, relative error 0, 2 elements" in capsys.readouterr().out
    main([str(program), "--check", "jacobian"])
    trace = json.loads(capsys.readouterr().out)
    assert "checks" not in trace
    assert [one["values"] for one in trace["jacobians"] if "output" in one] == [[3.0, 3.0]]


def test_an_unknown_check_is_refused(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(program), "--check", "everything"])
    assert "finite-difference" in capsys.readouterr().err
