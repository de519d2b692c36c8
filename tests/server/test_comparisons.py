"""Two runs beside each other, over HTTP."""

import msgspec
import pytest

from engine.compare import Comparison, compare
from engine.trace import Trace
from tests.server.conftest import Served

HERE = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * 3\ny.backward()\n"
THERE = HERE.replace("x * 3", "x * 4")


@pytest.fixture(scope="module")
def runs(served: Served) -> tuple[str, str]:
    """Ids of two runs."""
    return served.run(HERE)["id"], served.run(THERE)["id"]


def _trace(served: Served, run: str) -> Trace:
    return msgspec.json.decode(served.http.get(f"/api/v1/runs/{run}").content, type=Trace)


def test_the_comparison_is_that_of_the_engine(served: Served, runs: tuple[str, str]) -> None:
    here, there = runs
    answer = served.http.get(f"/api/v1/runs/{here}/compare/{there}")
    told = msgspec.json.decode(answer.content, type=Comparison)
    assert told == compare(_trace(served, here), _trace(served, there))
    assert told.value is not None
    assert told.value.line == 3
    back = served.http.get(f"/api/v1/runs/{there}/compare/{here}").json()
    assert (back["here"]["run"], back["there"]["run"]) == (there, here)


def test_the_answer_is_not_sent_twice(served: Served, runs: tuple[str, str]) -> None:
    address = f"/api/v1/runs/{runs[0]}/compare/{runs[1]}"
    tag = served.http.get(address).headers["etag"]
    assert served.http.get(address, headers={"If-None-Match": tag}).status_code == 304


def test_a_run_beside_itself_differs_in_nothing(served: Served, runs: tuple[str, str]) -> None:
    told = served.http.get(f"/api/v1/runs/{runs[0]}/compare/{runs[0]}").json()
    assert told["differs"] is False


def test_the_run_that_does_not_exist_is_named(served: Served, runs: tuple[str, str]) -> None:
    here, _ = runs
    assert "nothing" in served.problem(served.http.get(f"/api/v1/runs/{here}/compare/nothing"), 404, "no-such-run")
    assert "nothing" in served.problem(served.http.get(f"/api/v1/runs/nothing/compare/{here}"), 404, "no-such-run")


def test_a_run_that_failed_can_be_compared(served: Served, runs: tuple[str, str]) -> None:
    failed = served.run("raise ValueError('你好')\n")["id"]
    told = served.http.get(f"/api/v1/runs/{runs[0]}/compare/{failed}").json()
    assert (told["there"]["failure"], told["there"]["failure_line"]) == ("ValueError", 1)
