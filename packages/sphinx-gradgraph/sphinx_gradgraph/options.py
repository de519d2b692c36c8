"""The options of a directive, checked by a table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple


class _Rule(NamedTuple):
    form: str
    """What a value matches."""
    says: str
    """That in words."""


_RULES: Mapping[str, _Rule] = {
    "step": _Rule(r"\d{1,9}", "a whole number, 0 or more"),
    "lang": _Rule("en|zh", "en or zh"),
    "theme": _Rule("auto|light|dark", "auto, light or dark"),
    "height": _Rule(r"[1-9]\d{1,3}", "a height in pixels, such as 420"),
    "hide": _Rule("code", "code"),
    "questions": _Rule("off", "off"),
    "fails": _Rule("", "a flag without a value"),
}
FREE = ("alt", "caption", "class", "name", "title")
NAMES = (*_RULES, *FREE)


@dataclass(frozen=True)
class Options:
    """How a figure is to look."""

    lang: Literal["en", "zh"]
    """Language of its words."""
    step: int | None = None
    """Step of the timeline it opens at; None for the end."""
    theme: Literal["auto", "light", "dark"] = "auto"
    """Colours in HTML; paper is light."""
    height: int | None = None
    """Pixels; None for as high as it wants to be."""
    hides_code: bool = False
    questions: Literal["on", "off"] = "on"
    """`off`: all of a program that asks its reader is shown."""
    fails: bool = False
    """Whether the program is to raise."""


def read(given: Mapping[str, str | None], language: str, warn: Callable[[str], None]) -> Options:
    """The options of a document in some language; each that is wrong is told, and takes its default."""
    right: dict[str, str] = {}
    for name, rule in _RULES.items():
        if name not in given:
            continue
        value = (given[name] or "").strip()
        if re.fullmatch(rule.form, value):
            right[name] = value
        else:
            warn(f":{name}: {value!r} is not {rule.says}")
    lang = right.get("lang") or language
    theme = right.get("theme")
    return Options(
        lang="zh" if lang.lower().startswith("zh") else "en",
        step=int(right["step"]) if "step" in right else None,
        theme="light" if theme == "light" else "dark" if theme == "dark" else "auto",
        height=int(right["height"]) if "height" in right else None,
        hides_code="hide" in right,
        questions="off" if "questions" in right else "on",
        fails="fails" in right,
    )
