"""Whatever is sent as a program: a trace or a clear refusal, never a bug, and the next program runs."""

import json
import string

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.conftest import Served

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

SHORT = {"wall_s": 1.0, "memory_bytes": 300 * 1024**2}
ONCE = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)

NAMES = st.sampled_from(["x", "y", "torch", "print", "None", "self", "é", "数"])
ATOMS = NAMES | st.integers(-(10**40), 10**40).map(str) | st.floats().map(repr) | st.text(max_size=8).map(repr)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/@%|&^<>"), inner).map(lambda it: f"({it[0]}{it[1]}{it[2]})")
        | st.tuples(NAMES, inner).map(lambda it: f"{it[0]}({it[1]})")
        | st.lists(inner, max_size=4).map(lambda it: f"[{','.join(it)}]")
        | st.tuples(inner, NAMES).map(lambda it: f"{it[0]}.{it[1]}")
    ),
    max_leaves=12,
)
STATEMENTS = st.one_of(
    EXPRESSIONS,
    st.tuples(NAMES, EXPRESSIONS).map(lambda it: f"{it[0]} = {it[1]}"),
    EXPRESSIONS.map(lambda it: f"for x in {it}:\n    y = x"),
    EXPRESSIONS.map(lambda it: f"try:\n    {it}\nexcept Exception as y:\n    print(type(y).__name__)"),
    st.just("import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\ny.backward()"),
)
PROGRAMS = st.lists(STATEMENTS, min_size=1, max_size=6).map("\n".join)

ODD = {
    "nothing": "",
    "null bytes": "print(1)\0print(2)",
    "only a null byte": "\0",
    "half a surrogate pair, escaped by Python": "print('\\ud800')",
    "brackets": "(" * 5_000,
    "closed brackets": "x = " + "(" * 3_000 + "1" + ")" * 3_000,
    "lists": "x = " + "[" * 90 + "]" * 90,
    "unary minus": "x = " + "-" * 40_000 + "1",
    "a long sum": "x = " + "+".join(["1"] * 20_000),
    "a long name": "x" * 90_000 + " = 1",
    "a huge number": "x = " + "9" * 90_000,
    "a huge power": "x = 10 ** 10 ** 10",
    "a huge string": "x = 'a' * 10 ** 12",
    "a long line": "print('" + string.ascii_letters * 1_500 + "')",
    "many lines": "x = 1\n" * 16_000,
    "deep indents": "\n".join(" " * n + "if 1:" for n in range(120)),
    "old line ends": "print(1)\rprint(2)\r",
    "a form feed": "\fprint(1)\f",
    "an encoding line": "# -*- coding: utf-16 -*-\nprint(1)",
    "full width": "print（1）",
    "right to left": "x = '\u202e' # \u202e",
    "emoji": "😀 = 1",
    "a tab in spaces": "if 1:\n\tx = 1\n        y = 2",
    "walrus in a comprehension": "[y := 1 for x in range(3)]",
    "a star": "*",
    "a future": "from __future__ import braces",
    "await": "await x",
    "return": "return",
    "nested f-strings": 'f"{f\'{f"""{1}"""}\'}"',
    "a lambda tower": "x = " + "lambda: " * 400 + "1",
    "an assert": "assert (" * 80,
}


def check(served: Served, answer: httpx.Response) -> None:
    """A trace, or a problem whose sentence says what to do."""
    assert answer.status_code in (200, 413, 422), answer.text[:500]
    body = answer.json()
    if answer.status_code == 200:
        assert body["status"] in ("ok", "failed", "limited", "crashed")
        assert (body["failure"] is None) == (body["status"] == "ok")
        if body["failure"]:
            assert body["failure"]["message"] or body["failure"]["type"]
    else:
        assert body["detail"]


@ONCE
@given(code=PROGRAMS)
def test_programs_that_are_python(served: Served, code: str) -> None:
    check(served, served.http.post("/api/v1/runs", json={"code": code, "limits": SHORT}))


@ONCE
@given(code=st.text(max_size=400))
def test_programs_that_are_any_text(served: Served, code: str) -> None:
    check(served, served.http.post("/api/v1/runs", content=json.dumps({"code": code, "limits": SHORT})))


@ONCE
@given(raw=st.binary(max_size=300))
def test_programs_that_are_any_bytes(served: Served, raw: bytes) -> None:
    check(served, served.http.post("/api/v1/runs", json={"code": raw.decode("latin-1"), "limits": SHORT}))


@ONCE
@given(raw=st.binary(max_size=300))
def test_bodies_that_are_any_bytes(served: Served, raw: bytes) -> None:
    answer = served.http.post("/api/v1/runs", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text[:500]


@ONCE
@given(
    expression=EXPRESSIONS, inputs=st.dictionaries(st.text(max_size=5), st.lists(st.floats(), max_size=3), max_size=3)
)
def test_expressions(served: Served, expression: str, inputs: dict[str, list[float]]) -> None:
    body = json.dumps({"expression": expression, "inputs": inputs, "limits": SHORT})
    answer = served.http.post("/api/v1/runs", content=body)
    assert answer.status_code in (200, 400, 413, 422), answer.text[:500]


@pytest.mark.parametrize("name", ODD)
def test_odd_programs(served: Served, name: str) -> None:
    check(served, served.http.post("/api/v1/runs", json={"code": ODD[name], "limits": SHORT}))
    assert served.run("print('and on')")["output"][0]["text"] == "and on\n"


@pytest.mark.parametrize(
    ("size", "key", "limit"),
    [
        (100_001, "too-large", "code_bytes"),
        (700_000, "too-large", "code_bytes"),
        (1_000_000, "body-too-large", "body_bytes"),
        (3_000_000, "body-too-large", "body_bytes"),
    ],
)
def test_programs_that_are_too_long_are_refused(served: Served, size: int, key: str, limit: str) -> None:
    answer = served.http.post("/api/v1/runs", json={"code": "#" + "a" * (size - 1)})
    served.problem(answer, 413, key)
    assert str(getattr(served.service.settings, limit)) in answer.json()["detail"]


def test_half_a_surrogate_pair_is_no_text(served: Served) -> None:
    answer = served.http.post("/api/v1/runs", content=b'{"code": "print(1) # \\ud800"}')
    served.problem(answer, 422, "bad-request")
