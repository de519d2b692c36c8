"""The gallery as lessons: programs a person would write, with title and text in two languages."""

import tomllib
from pathlib import Path
from typing import Any

from engine.keys import Versions, run_id
from engine.request import RunRequest
from engine.trace import Program, RunLimits
from server.lesson_text import Glossary, paragraphs
from server.wire import Lesson, QuestionWords, Text

FOLDER = Path(__file__).parent.parent / "gallery"
_NEEDED = "order chapter title.zh title.en text.zh text.en".split()
_OF_A_QUESTION = "ask.zh ask.en why.zh why.en".split()


def lessons(limits: RunLimits, of: Versions, folder: Path = FOLDER) -> dict[str, Lesson]:
    """All lessons by name, in the order of the menu."""
    glossaries = {language: Glossary(language) for language in ("zh", "en")}
    found = [_lesson(file, limits, of, glossaries) for file in folder.glob("*.toml")]
    return {lesson.name: lesson for lesson in sorted(found, key=lambda lesson: (lesson.order, lesson.name))}


def request_of(code: str, limits: RunLimits) -> RunRequest:
    """The run of a gallery program as it stands: what the page asks for when nothing was changed."""
    return RunRequest(program=Program(code=code), limits=limits)


def words_of(file: Path) -> dict[str, Any]:
    """What the file of a lesson says. Raises ValueError for what it lacks."""
    words = tomllib.loads(file.read_text("utf-8"))
    missing = [key for key in _NEEDED if not _has(words, key)]
    for number, question in enumerate(words.get("questions", ()), 1):
        missing += [f"{key} of question {number}" for key in _OF_A_QUESTION if not _has(question, key)]
    if missing:
        raise ValueError(f"{file.name} has no {', '.join(missing)}; docs/lessons.md shows a whole file")
    return words


def _has(words: dict[str, Any], key: str) -> bool:
    first, _, language = key.partition(".")
    return first in words and (not language or language in words[first])


def _lesson(file: Path, limits: RunLimits, of: Versions, glossaries: dict[str, Glossary]) -> Lesson:
    words = words_of(file)
    code = file.with_suffix(".py").read_text("utf-8")
    return Lesson(
        name=file.stem,
        run=run_id(request_of(code, limits), of),
        order=words["order"],
        tags=tuple(words.get("tags", ())),
        chapter=words["chapter"],
        zh=_text(words, "zh", glossaries["zh"]),
        en=_text(words, "en", glossaries["en"]),
        code=code,
    )


def _text(words: dict[str, Any], language: str, glossary: Glossary) -> Text:
    asked = tuple(
        QuestionWords(ask=question["ask"][language], why=question["why"][language])
        for question in words.get("questions", ())
    )
    said = paragraphs(words["text"][language], glossary)
    return Text(title=words["title"][language], text=said, questions=asked)
