"""What the lessons say, read by rules: in both languages, in short sentences, of things that are there."""

import json
import math
import re
import tomllib
from pathlib import Path

import pytest

from tests.golden import GALLERY

LESSONS = sorted(GALLERY.glob("*.toml"), key=lambda path: path.stem)
MOST_WORDS = 40
MOST_LETTERS = 110
"""Of a sentence in Chinese."""
SMALL = 20
"""Counts up to it are read by eye."""
_END_EN = re.compile(r"(?<=[.!?:;])\s+")
_END_ZH = re.compile(r"[。！？；：]")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
_NAME = re.compile(r"(?<![\w.])[a-z]+(?:_[a-z]+)+(?!\w)")
_TORCHS = re.compile(
    r"^(?:retain_graph|create_graph|requires_grad|zero_grad|no_grad|grad_fn|next_functions|is_available|is_leaf"
    r"|retain_grad|state_dict|register_buffer|numpy_|from_numpy|enable_grad|cuda_visible_devices)"
)
"""Names of PyTorch's that a text explains though its program does without."""


def _text(path: Path, language: str) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8"))["text"][language])


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_sentences_are_short(path: Path) -> None:
    english = [sentence for sentence in _END_EN.split(_text(path, "en")) if len(sentence.split()) > MOST_WORDS]
    chinese = [sentence for sentence in _END_ZH.split(_text(path, "zh")) if len(sentence) > MOST_LETTERS]
    assert english + chinese == []


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
