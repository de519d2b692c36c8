"""The table of problems: complete in both languages, honest about what it names."""

import json
import re
import string
from pathlib import Path

import pytest

from server.problems import TABLE, Problem, language_of

SERVER = Path(__file__).parents[2] / "server"
RAISED = re.compile(r'(?:Problem|super\(\).__init__)\(\s*"([a-z-]+)"')


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("key", TABLE)
def test_both_languages_say_the_same(key: str) -> None:
    row = TABLE[key]
    assert set(row.title) == set(row.detail) == {"zh", "en"}
    assert fields(row.detail["zh"]) == fields(row.detail["en"])
    assert re.search(r"[\u4e00-\u9fff]", row.title["zh"])
    assert 400 <= row.status < 600


def test_every_problem_raised_is_in_the_table_and_every_row_is_used() -> None:
    raised = {key for file in SERVER.rglob("*.py") for key in RAISED.findall(file.read_text("utf-8"))}
    assert raised == set(TABLE)


def test_the_body_is_rfc_9457_with_the_values_beside_the_sentence() -> None:
    body = json.loads(Problem("no-such-run", run="abc").body("en", "/api/v1/runs/abc"))
    assert body["type"] == "urn:gradgraph:problem:no-such-run"
    assert (body["status"], body["instance"], body["run"]) == (404, "/api/v1/runs/abc", "abc")
    assert "abc" in body["detail"]


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-Hans-CN,en;q=0.5", "zh"),
        ("en-GB,zh;q=0.9", "en"),
        ("en;q=0.3, zh;q=0.8", "zh"),
        ("de,fr;q=0.9", "en"),
        ("zh;q=0,en;q=0.1", "en"),
        ("zh;q=much", "en"),
    ],
)
def test_the_language_is_the_readers(header: str, language: str) -> None:
    assert language_of(header) == language
