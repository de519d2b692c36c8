"""Each gallery program is a lesson in two languages and a golden test."""

import json
import re
import tomllib
from itertools import groupby
from pathlib import Path

import pytest

from engine.program.edits import applied
from engine.program.source import source_of
from engine.trace import Edit, Slider, Trace
from tests.curriculum.seen import words
from tests.golden import GALLERY, canonical, differences, golden_path, programs, write
from tests.once import run

LONGER = {"toy_engine": 110, "global_lock": 41}
"""An engine of one's own with three rules does not fit into thirty lines, nor do a stop-watch and two threads."""
LESSONS = programs()
PLAYED = [path for path in LESSONS if "# ~" in path.read_text(encoding="utf-8")]


def _lesson(path: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_trace_is_the_golden_one(path: Path) -> None:
    expected = json.loads(golden_path(path).read_text(encoding="utf-8"))
    got = json.loads(json.dumps(canonical(run(path.read_text(encoding="utf-8")))))
    assert list(differences(expected, got)) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_program_is_short_and_explained_in_both_languages(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGER.get(path.stem, 30)
    lesson = _lesson(path)
    assert lesson["tags"]
    for part in ("title", "text"):
        assert lesson[part].keys() == {"zh", "en"}
        assert any("\u4e00" <= letter <= "\u9fff" for letter in lesson[part]["zh"])
        assert lesson[part]["en"].replace("\n", "").isprintable()


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_question_can_be_asked_and_has_words_in_both_languages(path: Path) -> None:
    questions = json.loads(golden_path(path).read_text(encoding="utf-8")).get("questions", [])
    assert not any("problem" in question for question in questions)
    words = tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8")).get("questions", [])
    assert len(words) == len(questions)
    assert all(question[part][language] for question in words for part in ("ask", "why") for language in ("zh", "en"))


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: path.stem)
def test_numbers_can_be_played_with_from_end_to_end(path: Path) -> None:
    """At both ends of each range the lesson ends as it does, and its questions can be asked."""
    code = path.read_text(encoding="utf-8")
    lesson = run(code)
    assert lesson.sliders
    for slider in lesson.sliders:
        assert slider.problem == ""
        for end in (slider.least, slider.most):
            played = run(applied(code, [Edit(span=slider.span, text=_written(code, slider, end))]))
            assert _ending(played) == _ending(lesson), (slider.name, end)


def _written(code: str, slider: Slider, value: float) -> str:
    """A number as it is written in place of another."""
    is_whole = source_of(code).written(slider.span).lstrip("-").isdecimal()
    return str(int(value)) if is_whole else str(value)


def _ending(trace: Trace) -> tuple[str, str | None, list[str]]:
    failure = trace.failure
    return trace.status, failure.type if failure else None, [question.problem for question in trace.questions]


def test_forty_lessons_have_numbers_to_play_with() -> None:
    assert len(PLAYED) >= 40


def test_lessons_have_one_order() -> None:
    orders = [_lesson(path)["order"] for path in LESSONS]
    assert len(set(map(str, orders))) == len(orders)


def test_chapters_follow_each_other_and_have_names_in_both_languages() -> None:
    lessons = sorted((_lesson(path) for path in LESSONS), key=lambda lesson: int(str(lesson["order"])))
    chapters = [name for name, _ in groupby(str(lesson["chapter"]) for lesson in lessons)]
    assert len(set(chapters)) == len(chapters)
    words(*(f"lesson.chapter.{chapter}" for chapter in chapters))


def _documents_lesson(folder: Path) -> Path:
    """The lesson that the documents show, as its two files."""
    text = (GALLERY.parent / "docs" / "lessons.md").read_text(encoding="utf-8")
    shown = {kind: text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "toml")}
    (folder / "shown.toml").write_text(shown["toml"], encoding="utf-8")
    (folder / "shown.py").write_text(shown["python"], encoding="utf-8")
    return folder / "shown.py"


def test_the_lesson_that_the_documents_show_is_one(tmp_path: Path) -> None:
    assert len(write(_documents_lesson(tmp_path)).questions) == 2


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("shown.toml", 'text.zh = """', 'words = """', "shown.toml has no text.zh;"),
        ("shown.toml", 'why.en = "4 and 6."', "", "shown.toml has no why.en of question 1;"),
        ("shown.toml", "(PowBackward0)", "(SqrtBackward0)", "nothing that “SqrtBackward0” names"),
        ("shown.py", "  # ? y", "", "shown.toml has 2 [[questions]], the program 1"),
        ("shown.py", "# ? x.grad", "# ? x.grad: 6 | 8", "Not exactly one of the choices on line 5"),
        ("shown.py", "(2.0,", "(2.0 if x else 1,", "NameError"),
        ("shown.py", "x**2 + 3 * x  # ? y", "x**2 + 3 * x  # ? y\n# ~ 0..1", "shown.py: "),
    ],
)
def test_what_is_wrong_with_a_lesson_is_said(tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    program = _documents_lesson(tmp_path)
    written = (tmp_path / file).read_text(encoding="utf-8")
    assert old in written
    (tmp_path / file).write_text(written.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SystemExit, match=re.escape(said)):
        write(program)


def test_a_wrong_number_or_shape_is_found() -> None:
    golden = json.loads(golden_path(LESSONS[0]).read_text(encoding="utf-8"))
    changed = json.loads(json.dumps(golden))
    filled = next(index for index, tensor in enumerate(changed["tensors"]) if tensor.get("data"))
    changed["tensors"][filled]["data"][0] += 0.1
    assert [item.split(":")[0] for item in differences(golden, changed)] == [f".tensors[{filled}].data[0]"]
    changed = json.loads(json.dumps(golden))
    changed["nodes"].pop()
    assert len(list(differences(golden, changed))) == 1
