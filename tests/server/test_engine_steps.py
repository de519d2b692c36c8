"""The engine's steps over HTTP."""

import msgspec
import pytest

from engine.replay import Engine, engine_view
from engine.trace import Trace
from tests.server.conftest import Served

PROGRAM = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x + x).sum()
y.backward()
"""


@pytest.fixture(scope="module")
def passes(served: Served) -> str:
    """Address of a run's passes."""
    return f"/api/v1/runs/{served.run(PROGRAM)['id']}/passes"


def test_the_steps_are_those_of_the_engine(served: Served, passes: str) -> None:
    trace = msgspec.json.decode(served.http.get(passes.removesuffix("/passes")).content, type=Trace)
    told = msgspec.json.decode(served.http.get(f"{passes}/p1/engine").content, type=Engine)
    assert told == engine_view(trace, "p1")
    part = served.http.get(f"{passes}/p1/engine", params={"from": 1, "count": 2}).json()
    assert (part["from"], len(part["steps"]), part["total"]) == (1, 2, 4)


@pytest.mark.parametrize("query", [{"from": "-1"}, {"count": "0"}, {"count": "1001"}, {"from": "one"}])
def test_a_stretch_that_cannot_be_is_refused(served: Served, passes: str, query: dict[str, str]) -> None:
    served.problem(served.http.get(f"{passes}/p1/engine", params=query), 422, "bad-request")


def test_a_pass_or_run_that_does_not_exist_is_refused(served: Served, passes: str) -> None:
    served.problem(served.http.get(f"{passes}/p9/engine"), 404, "no-such-pass")
    served.problem(served.http.get("/api/v1/runs/nothing/passes/p1/engine"), 404, "no-such-run")
