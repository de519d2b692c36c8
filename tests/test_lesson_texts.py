"""What the lessons say, read by rules: in both languages, in short sentences, of things that are there."""

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from engine.program.sliders import sliders_in
from engine.program.source import source_of
from server.lesson_text import paragraphs
from server.wire import Piece
from tests.golden import GALLERY, empty_phrases, glossary, pieces

LESSONS = sorted(GALLERY.glob("*.toml"), key=lambda path: path.stem)
GLOSSARY: dict[str, dict[str, dict[str, object]]] = tomllib.loads(
    (GALLERY / "words" / "glossary.toml").read_text(encoding="utf-8")
)
_WORDS = GALLERY.parent / "frontend" / "words"
_LIST = Path(__file__).parent / "everyday_words.txt"
EVERYDAY = frozenset(_LIST.read_text(encoding="utf-8").split())
"""English words that a text may use without a word about them; a new one is either added here or to the glossary."""
MOST_WORDS = 40
MOST_LETTERS = 110
"""Of a sentence in Chinese."""
MOST_IN_PARAGRAPH = 100
"""Words of English."""
SMALL = 20
"""Counts up to it are read by eye."""
_END_EN = re.compile(r"(?<=[.!?:;])\s+")
_END_ZH = re.compile(r"[。！？；：]")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
_NAME = re.compile(r"(?<![\w.])[a-z]+(?:_[a-z]+)+(?!\w)")
_WORD = re.compile(r"[A-Za-z]+(?:[-’'][A-Za-z]+)*")
_QUOTED = re.compile(r"`[^`]*`|\{[^}]*\}|\$[^$]*\$|\b\w+_\w+\b")
"""Code, values, formulas and names."""
_SPELLED = {
    "2": r"\b(?:two|twice|second|hal(?:f|ve[ds]?|ving))\b|两|第二|减半",
    "3": r"\b(?:three|third)\b|三",
    "4": r"\b(?:four|fourth)\b|四",
    "5": r"\b(?:five|fifth)\b|五",
}
"""Counts in words of either language."""
_WITH_DIGITS = re.compile(r"(?<![\w.])[-−]?\d")
"""What the page leaves out once a number was changed: as in `frontend/src/core/trace/questions.ts`."""
_BARE_FORMULA = re.compile(r"[²³⁶ᵀ√∂Σ·]")
_OTHER_WORDS = re.compile("时间轴|坐标轴|网络服务|网络连接|同一张图[上中里]|[第下上]一层|一层方?括号")
"""Of Chinese, which writes no gaps: words in which a form of a term is none."""
_TORCHS = re.compile(
    r"^(?:retain_graph|create_graph|requires_grad|zero_grad|no_grad|grad_fn|next_functions|is_available|is_leaf"
    r"|retain_grad|state_dict|register_buffer|numpy_|from_numpy|enable_grad|cuda_visible_devices)"
)
"""Names of PyTorch's that a text explains though its program does without."""


@cache
def _lesson(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _marked(path: Path, language: str) -> str:
    return str(_lesson(path)["text"][language])


def _pieces(path: Path, language: str) -> list[Piece]:
    return list(pieces(_marked(path, language), language))


def _paragraphs(path: Path, language: str) -> list[str]:
    said = paragraphs(_marked(path, language), glossary(language))
    return ["".join(piece.text for piece in paragraph) for paragraph in said]


def _text(path: Path, language: str) -> str:
    return " ".join(_paragraphs(path, language))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_sentences_are_short(path: Path) -> None:
    english = [sentence for sentence in _END_EN.split(_text(path, "en")) if len(sentence.split()) > MOST_WORDS]
    chinese = [sentence for sentence in _END_ZH.split(_text(path, "zh")) if len(sentence) > MOST_LETTERS]
    assert english + chinese == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_paragraphs_are_short(path: Path) -> None:
    assert [text for text in _paragraphs(path, "en") if len(text.split()) > MOST_IN_PARAGRAPH] == []
    assert [text for text in _paragraphs(path, "zh") if len(text) > 2.5 * MOST_IN_PARAGRAPH] == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_formulas_are_formulas_and_the_same_in_both_languages(path: Path) -> None:
    said = [_pieces(path, language) for language in ("zh", "en")]
    assert not any(_BARE_FORMULA.search(piece.text) for piece in said[0] + said[1] if piece.kind != "math")
    formulas = [Counter(piece.text for piece in piece_row if piece.kind == "math") for piece_row in said]
    assert formulas[0] == formulas[1]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_phrases_speak_of_something(path: Path) -> None:
    assert empty_phrases(path.with_suffix(".py")) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_term_is_everyday_or_in_the_glossary(path: Path) -> None:
    prose = " ".join(piece.text for piece in _pieces(path, "en") if piece.kind == "text")
    known = EVERYDAY | {form.lower() for form in _forms("en")}
    unknown = {word for word in _WORD.findall(prose) if word.lower() not in known}
    new = sorted(word for word in unknown if not (word.endswith("'s") and word[:-2].lower() in known))
    assert not new, f"{path.name}: {', '.join(new)}. Explain in gallery/words/glossary.toml or add to {_LIST.name}"


def _other_words(language: str) -> Iterator[tuple[str, str, str]]:
    """Where it stands, what is said there, and the program it is said of: glossary, questions and rooms."""
    for name, term in GLOSSARY.items():
        yield name, str(term[language]["says"]), ""
    for kind in ("questions", "rooms"):
        words = json.loads((_WORDS / kind / f"{language}.json").read_text(encoding="utf-8"))
        yield from ((key, text, "") for key, text in words.items())
    for path in LESSONS:
        code = path.with_suffix(".py").read_text(encoding="utf-8")
        for question in _lesson(path).get("questions", ()):
            yield from ((path.stem, str(words[language]), code) for words in question.values())


def test_glossary_questions_and_rooms_are_said_in_short_sentences() -> None:
    for where, text, _ in _other_words("en"):
        assert [sentence for sentence in _END_EN.split(text) if len(sentence.split()) > MOST_WORDS] == [], where
    for where, text, _ in _other_words("zh"):
        assert [sentence for sentence in _END_ZH.split(text) if len(sentence) > MOST_LETTERS] == [], where


def test_they_use_terms_that_are_everyday_or_in_the_glossary_or_names_of_the_program() -> None:
    known = EVERYDAY | {form.lower() for form in _forms("en")} | {"torch", "nn"}
    for where, text, code in _other_words("en"):
        names = {word.lower() for word in re.findall(r"[A-Za-z]+", code)}
        words = {word.lower().removesuffix("'s") for word in _WORD.findall(_QUOTED.sub(" ", text))}
        assert sorted(word for word in words - known - names if len(word) > 1) == [], where


def test_every_term_is_used_and_explained_in_both_languages() -> None:
    for language in ("zh", "en"):
        all_of_it = "\n".join(_text(path, language) for path in LESSONS).lower()
        unused = [
            name
            for name, term in GLOSSARY.items()
            if not any(form.lower() in all_of_it for form in _of(term, language))
        ]
        assert unused == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_no_term_is_part_of_another_word(path: Path) -> None:
    """As 轴 in 时间轴: such words are marked in the text, `[时间轴]()`."""
    for paragraph in paragraphs(_marked(path, "zh"), glossary("zh")):
        row = "".join(piece.text for piece in paragraph)
        others = [range(*word.span()) for word in _OTHER_WORDS.finditer(row)]
        starts = accumulate((len(piece.text) for piece in paragraph), initial=0)
        terms = [(piece.text, at) for piece, at in zip(paragraph, starts, strict=False) if piece.kind == "term"]
        assert [term for term, at in terms if any(at in other for other in others)] == []


def _of(term: dict[str, dict[str, object]], language: str) -> list[str]:
    forms = term[language]["forms"]
    assert isinstance(forms, list)
    return [str(form) for form in forms]


def _forms(language: str) -> set[str]:
    return {form for term in GLOSSARY.values() for form in _of(term, language)}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_numbers_are_those_of_the_run(path: Path) -> None:
    code, trace = path.with_suffix(".py").read_text(encoding="utf-8"), _recorded(path)
    known = {round(float(number), 2) for number in re.findall(r"\d+(?:\.\d+)?", code + trace)} | {_parameters(trace)}
    for language in ("zh", "en"):
        said = {float(number) for number in _NUMBER.findall(_text(path, language).replace(",", ""))}
        assert sorted(number for number in said if number > SMALL and round(number, 2) not in known) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_names_are_those_of_the_program(path: Path) -> None:
    code, trace = path.with_suffix(".py").read_text(encoding="utf-8"), _recorded(path)
    for language in ("zh", "en"):
        names = set(_NAME.findall(_text(path, language)))
        assert sorted(name for name in names if name not in code + trace and not _TORCHS.match(name)) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_both_languages_name_the_same_things(path: Path) -> None:
    """A number or name that one language has and the other has not was forgotten in a change."""
    named = [set(_NAME.findall(_text(path, language))) for language in ("zh", "en")]
    assert named[0] == named[1]


def _parameters(trace: str) -> float:
    """How many numbers the parameters have in all."""
    made = [tensor for tensor in json.loads(trace)["tensors"] if tensor["role"] == "parameter"]
    first = {tensor.get("identity") or tensor["id"]: tensor for tensor in made}
    return float(sum(math.prod(tensor["shape"]) for tensor in first.values()))


def _recorded(path: Path) -> str:
    return json.dumps(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")), ensure_ascii=False)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_no_question_spells_out_a_count_that_can_be_played_with(path: Path) -> None:
    """In digits it is left out once the number is another; in words it would be wrong then."""
    code = path.with_suffix(".py").read_text(encoding="utf-8")
    source = source_of(code)
    played = {source.written(slider.span) for slider in sliders_in(code)}
    spelled = re.compile("|".join(words for number, words in _SPELLED.items() if number in played) or "(?!)")
    asked = _lesson(path).get("questions", ())
    said = [text for words in asked for each in words.values() for text in each.values()]
    assert [text for text in said if spelled.search(text) and not _WITH_DIGITS.search(text)] == []
