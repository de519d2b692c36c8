"""Values of one tensor."""

import io

import numpy as np
import pytest

from tests.server.conftest import Json, Served

PROGRAM = """import torch
x = torch.arange(6.0).reshape(2, 3)
bad = torch.tensor([float("nan"), float("-inf")])
large = torch.arange(3000.0).reshape(3, 1000)
"""


@pytest.fixture(scope="module")
def trace(served: Served) -> Json:
    """A run with a small and a large tensor."""
    return served.run(PROGRAM)


def place(trace: Json, name: str) -> str:
    """Address of the values of a variable."""
    tensor = next(each["tensor"] for each in trace["variables"] if each["name"] == name)
    return f"/api/v1/runs/{trace['id']}/tensors/{tensor}"


def test_values_come_in_pages(served: Served, trace: Json) -> None:
    page = served.http.get(place(trace, "x"), params={"limit": 4}).json()
    assert (page["shape"], page["dtype"], page["values"], page["next"]) == ([2, 3], "float32", [0, 1, 2, 3], 4)
    rest = served.http.get(place(trace, "x"), params={"offset": page["next"]}).json()
    assert (rest["values"], rest["next"]) == ([4, 5], None)


def test_numbers_that_are_none_are_words(served: Served, trace: Json) -> None:
    assert served.http.get(place(trace, "bad")).json()["values"] == ["nan", "-inf"]


def test_numpy_reads_the_file(served: Served, trace: Json) -> None:
    answer = served.http.get(place(trace, "x") + ".npy")
    assert answer.headers["content-disposition"].startswith("attachment")
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), np.arange(6, dtype="float32").reshape(2, 3))


def test_a_large_tensor_is_whole_or_says_why_not(served: Served, trace: Json) -> None:
    facts = next(each for each in trace["tensors"] if place(trace, "large").endswith("/" + each["id"]))
    answer = served.http.get(place(trace, "large") + ".npy")
    if facts.get("stored"):
        np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)).ravel(), np.arange(3000, dtype="float32"))
        page = served.http.get(place(trace, "large"), params={"offset": 1999}).json()
        assert (page["values"][0], len(page["values"]), page["next"]) == (1999.0, 1000, 2999)
    else:
        assert "3000" in served.problem(answer, 404, "values-not-kept")


def test_a_tensor_that_does_not_exist_is_a_problem(served: Served, trace: Json) -> None:
    answer = served.http.get(f"/api/v1/runs/{trace['id']}/tensors/t999999")
    assert "t999999" in served.problem(answer, 404, "no-such-tensor")
    served.problem(served.http.get("/api/v1/runs/none/tensors/t1"), 404, "no-such-run")
