"""The exported program: it runs by itself, and gives the numbers of the recorded run."""

import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine.export.script import runnable

PROGRAMS = {
    "random numbers": "import random, torch, numpy as np\nprint(random.random(), np.random.rand(), torch.rand(3).tolist())\n",
    "a docstring and an import of the future": '"""Doc."""\nfrom __future__ import annotations\nimport torch\n'
    "def f(x: Tensor) -> Tensor: return x * torch.rand(2)\nprint(__doc__, f(torch.ones(2)).tolist())",
    "threads": "import torch\nprint(torch.get_num_threads())",
    "a first string that is used": "'a' if True else 'b'\nimport torch\nprint(torch.rand(1).item())\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_it_gives_what_the_run_gave(code: str, tmp_path: Path) -> None:
    trace = engine.run(engine.Program(code=code, seed=7))
    assert trace.status == "ok"
    path = tmp_path / "program.py"
    path.write_text(runnable(trace, "from here"), "utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert done.stdout == "".join(output.text for output in trace.output)


def test_the_head_says_what_it_ran_on() -> None:
    trace = engine.run(engine.Program(code="import torch\nprint(x)", seed=3))
    text = runnable(trace, "from here")
    assert text.startswith("# from here\n") and trace.environment.torch in text and "torch.manual_seed(3)\n" in text
    assert text.endswith("import torch\nprint(x)")


def test_a_program_that_python_cannot_parse_is_exported_as_it_was() -> None:
    assert runnable(engine.run(engine.Program(code="print(")), "from here").endswith("\nprint(")
