"""What is promised in words is kept: settings, problems, formats and routes are documented, and freshly."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from engine import schema
from server.app import create_app
from server.examples import EXAMPLES
from server.openapi import document
from server.problems import table
from server.settings import Settings
from server.settings import table as settings_table
from server.wire import (
    Accepted,
    Health,
    Lesson,
    OEmbed,
    Panel,
    ProblemBody,
    QueuePlace,
    RoomMade,
    RoomNow,
    SnapshotMade,
    ValuesPage,
)

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs" / "api.md").read_text("utf-8")


def test_the_page_of_the_formats_is_fresh() -> None:
    written = (ROOT / "docs" / "trace.md").read_text("utf-8")
    assert written == schema.page(), "run: python -m engine.schema > docs/trace.md"


def test_every_field_of_the_formats_has_its_sentence() -> None:
    for name, record in schema.wire_schemas(tuple(EXAMPLES), "#").items():
        properties = record["properties"]
        assert isinstance(properties, dict)
        assert [field for field, facts in properties.items() if "description" not in facts] == [], name  # type: ignore[operator]


def test_every_setting_has_its_sentence_in_the_docs() -> None:
    assert schema.field_sentences(Settings).keys() == {field.name for field in fields(Settings)}
    assert settings_table() in API, "put the output of `python -m server.settings` into docs/api.md"


def test_every_problem_is_in_the_docs() -> None:
    assert table() in API, "put the output of `python -m server.problems` into docs/api.md"


def test_every_route_is_in_the_docs() -> None:
    for path, methods in document(create_app(Settings()))["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in API


def test_openapi_shows_an_example_and_a_schema_of_every_answer() -> None:
    paths = document(create_app(Settings()))["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            assert operation["description"], path
            for status, answer in operation["responses"].items():
                contents = answer.get("content", {})
                assert contents or status in ("204", "304"), (method, path, status)
                assert all({"schema", "example"} <= set(content) for content in contents.values()), (path, status)


def test_every_example_is_of_the_type_it_shows() -> None:
    read: dict[str, Callable[[object], object]] = {
        **{record.__name__: partial(msgspec.convert, type=record) for record in EXAMPLES},
        **{
            model.__name__: model.model_validate
            for model in (
                Accepted,
                Health,
                Lesson,
                OEmbed,
                QueuePlace,
                ProblemBody,
                RoomMade,
                RoomNow,
                SnapshotMade,
                ValuesPage,
            )
        },
    }
    shown = set()
    for methods in document(create_app(Settings()))["paths"].values():
        for operation in methods.values():
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    is_list = "items" in content["schema"]
                    name = content["schema"].get("items", content["schema"]).get("$ref", "").rpartition("/")[2]
                    for example in (content["example"] if is_list else [content["example"]]) if name else ():
                        shown.add(name)
                        assert name in read, f"{name} is answered: say in `read` how its example is checked"
                        read[name](example)
    assert shown == set(read)


def test_a_problem_is_documented_as_it_is_answered() -> None:
    operation = document(create_app(Settings()))["paths"]["/api/v1/runs"]["post"]
    assert set(operation["responses"]["422"]["content"]) == {"application/problem+json"}


def test_openapi_refers_to_nothing_that_is_missing() -> None:
    made = document(create_app(Settings()))
    names = set(re.findall(r"#/components/schemas/(\w+)", str(made)))
    assert {"Trace", "Graph", "RuleText", "ProblemBody"} <= names <= set(made["components"]["schemas"])


@pytest.mark.slow
@pytest.mark.parametrize("words", ["server --openapi", "server.settings", "server.problems"])
def test_the_documents_can_be_printed(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words.split()], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip()
    assert done.stderr == ""


def test_every_file_that_the_documents_name_is_there() -> None:
    roots = (ROOT, ROOT / "frontend", ROOT / "frontend" / "src", ROOT / "frontend" / "src" / "core")
    gone = [
        f"{page.name}: {path}"
        for page in (*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md"))
        for path in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|ts|svelte|md|toml|json|mjs))`", page.read_text("utf-8"))
        if "NAME" not in path and not any((root / path).exists() for root in roots)
    ]
    assert gone == []


def test_both_readmes_give_the_same_commands() -> None:
    english, chinese = (
        [re.sub(r" +# .*", "", block) for block in re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)]
        for text in ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh.md"))
    )
    assert chinese == english


def test_both_readmes_lead_to_the_same_documents() -> None:
    english, chinese = (
        set(re.findall(r"\]\((docs/[^)]+)\)", (ROOT / name).read_text("utf-8")))
        for name in ("README.md", "README.zh.md")
    )
    assert chinese == english


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_panel_has_a_title(language: str) -> None:
    panels = re.search(r"PANELS = \[(.*?)\]", (ROOT / "frontend/src/core/state.ts").read_text("utf-8"), re.DOTALL)
    assert panels is not None
    words = json.loads((ROOT / "frontend" / "words" / f"{language}.json").read_text("utf-8"))
    assert [name for name in re.findall(r"'(\w+)'", panels[1]) if not words.get(f"dock.{name}")] == []


def test_a_snapshot_may_keep_every_panel() -> None:
    panels = re.search(r"PANELS = \[(.*?)\]", (ROOT / "frontend/src/core/state.ts").read_text("utf-8"), re.DOTALL)
    assert panels is not None
    assert re.findall(r"'(\w+)'", panels[1]) == list(get_args(Panel))


def test_every_attack_that_is_said_to_be_stopped_is_tried() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    table = page[page.index("## What a program cannot do") : page.index("## What a program can do, on purpose")]
    tried = set(
        re.findall(r"`(\w+)`", "".join(row.rpartition("|")[0].rpartition("|")[2] for row in table.splitlines()))
    )
    programs = {file.stem for file in (ROOT / "tests" / "hostile" / "programs").glob("*.py")}
    tests = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
    }
    assert not tried - programs - tests
    assert not programs - tried - WITHOUT_A_ROW


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
def test_the_sandbox_s_own_bounds_are_as_said() -> None:
    from engine.limits import MIB
    from engine.sandbox import layers

    page = (ROOT / "docs" / "security.md").read_text("utf-8").replace("\n", " ")
    said = f"{layers.HOME_BYTES // MIB} MiB and {layers.HOME_FILES:,} files in a run's folder, {layers.OPEN_FILES} open files"
    assert said in page
    assert f"{layers.THREADS} threads" in page


WITHOUT_A_ROW = {
    "exits_with_a_code",
    "looks_for_inherited_descriptors",
    "raises_itself_as_its_cause",
    "starts_many_threads",
}
"""Programs that only look odd."""
