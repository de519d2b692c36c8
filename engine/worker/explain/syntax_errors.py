"""What is wrong with a program that Python cannot compile, and the edits after which it can.

An edit is offered only when the compiler, asked again here inside the sandbox, gets past the error with it.
"""

import contextlib
import keyword
import re
import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

import msgspec

from engine.program.edits import applied, in_line, insertion
from engine.program.paste import (
    BLANK,
    NOTHING,
    VISIBLE,
    characters,
    half_width,
    has_prompts,
    printed,
    prompts,
    prose,
    terminal,
)
from engine.program.spans import lines_of, margin_of
from engine.trace import Edit

_TRIES = 12
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {right: left for left, right in _CLOSING.items()}

Place = tuple[int, int, int, int]
"""Line, end line, column and end column in code points."""


class Fault(NamedTuple):
    """A diagnosis."""

    code: str
    place: Place
    parameters: dict[str, str]
    fix: tuple[tuple[int, int, int, int, str], ...] = ()


class _Wrong:
    """A SyntaxError, with its column from 0, and the program that has it."""

    def __init__(self, error: SyntaxError, source: str) -> None:
        self.source = source
        self.lines = lines_of(source)
        self.message = error.msg
        self.line = error.lineno or 0
        self.column = max((error.offset or 1) - 1, 0)
        self.end_line = error.end_lineno or self.line
        self.end_column = max((error.end_offset or 0) - 1, self.column)
        self.is_tab = isinstance(error, TabError)

    @cached_property
    def text(self) -> str:
        """The line it is on."""
        return self.lines[self.line - 1]

    @cached_property
    def code(self) -> str:
        """The line without its comment and the space before it."""
        return _code(self.text)

    @property
    def here(self) -> Place:
        """What Python points at."""
        least = 0 if self.end_line > self.line else self.column + 1
        return self.line, self.end_line, self.column, max(self.end_column, least)

    def whole(self, line: int = 0) -> Place:
        """A line without its margin."""
        number = line or self.line
        text = self.lines[number - 1]
        return number, number, len(margin_of(text)), len(text.rstrip())

    def part(self, start: int, end: int) -> Place:
        """A part of the line."""
        return self.line, self.line, start, end

    def everywhere(self, find: Callable[[str, int], list[Edit]]) -> list[Edit]:
        """What the same mistake on all lines needs."""
        return [change for line in range(1, len(self.lines) + 1) for change in find(self.source, line)]

    def inserted(self, column: int, text: str) -> list[Edit]:
        """Something put into the line."""
        return [insertion(self.line, column, text)]

    def written(self, start: int, end: int, text: str) -> list[Edit]:
        """A part of the line written otherwise."""
        return [in_line(self.line, start, end, text)]

    def fault(self, code: str, place: Place, tries: Iterable[list[Edit]] = (), /, **parameters: str) -> Fault:
        """The diagnosis, with the first of some changes that get past the error; without when none does."""
        for changes in [*tries][:_TRIES]:
            if changes and self._is_passed(applied(self.source, changes)):
                fix = tuple((*msgspec.structs.astuple(edit.span), edit.text) for edit in changes)
                return Fault(code, place, parameters, fix)
        return Fault(code, place, parameters)

    def _is_passed(self, source: str) -> bool:
        """Whether the compiler gets past the line of the error."""
        with warnings.catch_warnings(), contextlib.suppress(ValueError, RecursionError, MemoryError):
            warnings.simplefilter("ignore")
            try:
                compile(source, "<program>", "exec", dont_inherit=True)
            except SyntaxError as error:
                is_past = (error.lineno or 0) > max(self.line, self.end_line)
                return is_past and not isinstance(error, IndentationError)  # a change may cut lines off from their own
            return True
        return False


def fault(error: SyntaxError, source: str) -> Fault | None:
    """The diagnosis; None when nothing certain can be said."""
    if "\0" in source:  # the compiler names no line
        return _null_bytes(source)
    wrong = _Wrong(error, source)
    if not 0 < wrong.line <= len(wrong.lines):
        return None
    return next((found for ask in _QUESTIONS if (found := ask(wrong)) is not None), None)


def _mended(found: Fault) -> Fault | None:
    """What is certain only because the change gets past the error."""
    return found if found.fix else None


def _null_bytes(source: str) -> Fault:
    lines = enumerate(lines_of(source), 1)
    found = [(line, at) for line, text in lines for at, character in enumerate(text) if character == "\0"]
    line, column = found[0]
    fix = tuple((line, line, at, at + 1, "") for line, at in found) if len(found) <= _TRIES else ()
    parameters = {"character": "", "codepoint": "U+0000", "column": str(column + 1), "count": str(len(found))}
    return Fault("invisible_character", (line, line, column, column + 1), parameters, fix)


# What came along with copied text


def _pasted_prompts(wrong: _Wrong) -> Fault | None:
    if not has_prompts(wrong.source):
        return None
    changes = prompts(wrong.source)
    first = next((edit.span.line for edit in changes), wrong.line)
    tries = (changes, changes + characters(wrong.source))
    return _mended(wrong.fault("notebook_prompt", wrong.whole(first), tries, count=str(len(changes))))


def _commands(wrong: _Wrong) -> Fault | None:
    changes = terminal(wrong.source, wrong.line)
    if not changes:
        return None
    tries, visible = (wrong.everywhere(terminal), changes), VISIBLE.match(wrong.text)
    if visible is not None:
        right = "CUDA_VISIBLE_DEVICES"
        return wrong.fault("cuda_visible_shell", wrong.whole(), tries, name=visible["name"], right=right)
    text = wrong.text.strip()
    return wrong.fault("shell_line", wrong.whole(), tries, word=text.split()[0], command=text[:48])


def _outputs(wrong: _Wrong) -> Fault | None:
    """A printed value may take several lines, of which the parser names a later one."""
    for line in range(wrong.line, max(wrong.line - 8, 0), -1):
        changes = printed(wrong.source, line)
        if changes and changes[-1].span.line >= wrong.line:
            return _mended(wrong.fault("pasted_output", wrong.whole(line), [changes]))
    return None


def _strange(wrong: _Wrong) -> Fault | None:
    """A full-width, curly or invisible character, named with its column and its half-width form."""
    found = characters(wrong.source)
    here = [edit for edit in found if edit.span.line == wrong.line]
    if not here:
        return None
    is_named = re.search(r"character '?(.)?'? ?\(?U\+([0-9A-F]+)", wrong.message)
    exact = [edit for edit in here if edit.span.column == wrong.column] if is_named else []
    first = (exact or here)[0].span.column
    character = wrong.text[first]
    told = wrong.fault(
        "invisible_character" if character in BLANK | NOTHING else "full_width",
        wrong.part(first, first + 1),
        (found, here),
        character=character,
        codepoint=f"U+{ord(character):04X}",
        column=str(first + 1),
        right=half_width(character) or "",
        count=str(len(found)),
    )
    return told if exact else _mended(told)


def _sentence(wrong: _Wrong) -> Fault | None:
    changes = prose(wrong.source, wrong.line)
    if not changes:
        return None
    tries = (wrong.everywhere(prose), changes)
    return wrong.fault("prose_line", wrong.whole(), tries, text=wrong.text.strip()[:24])


_PRINT = re.compile(r"^(\s*)print\s+(?!\()(.+?)(,?)\s*(#.*)?$")


def _print(wrong: _Wrong) -> Fault | None:
    if not wrong.message.startswith("Missing parentheses in call to 'print'"):
        return None
    changes = [change for number, text in enumerate(wrong.lines, 1) for change in _printing(number, text)]
    here = [change for change in changes if change.span.line == wrong.line]
    return wrong.fault("print_statement", wrong.whole(), (changes, here))


def _printing(number: int, text: str) -> list[Edit]:
    match = _PRINT.match(text)
    if match is None or match[2].startswith(("=", ".")):
        return []
    start, end = match.start(2), match.end(3)
    tail = ', end=" ")' if match[3] else ")"
    return [in_line(number, len(match[1]) + 5, start, "("), in_line(number, match.end(2), end, tail)]


# Brackets and quotes


def _brackets(wrong: _Wrong) -> Fault | None:
    at, message = wrong.column, wrong.message
    if never := re.match(r"'([(\[{])' was never closed", message):
        return wrong.fault("bracket_open", wrong.here, _closings(wrong), bracket=never[1], right=_CLOSING[never[1]])
    if message.startswith("invalid syntax. Perhaps you forgot a comma"):
        return _run_on(wrong)
    if unmatched := re.match(r"unmatched '(.)'", message):
        return wrong.fault("bracket_extra", wrong.here, [wrong.written(at, at + 1, "")], bracket=unmatched[1])
    if other := re.match(r"closing parenthesis '(.)' does not match opening parenthesis '(.)'", message):
        right = _CLOSING[other[2]]
        tries = (wrong.inserted(at, right), wrong.written(at, at + 1, right))
        return wrong.fault("bracket_mismatch", wrong.here, tries, bracket=other[1], open=other[2], right=right)
    return None


def _closings(wrong: _Wrong) -> list[list[Edit]]:
    """The brackets that are missing, at the end of the line; or the outermost at that of one of the next lines."""
    missing = _unclosed(wrong.code)
    if not missing:
        return []
    below = enumerate(wrong.lines[wrong.line : wrong.line + 11], wrong.line + 1)
    ends = [(number, len(code)) for number, text in below if (code := _code(text))]
    return [wrong.inserted(len(wrong.code), missing), *([insertion(*end, missing[-1])] for end in ends)]


def _run_on(wrong: _Wrong) -> Fault | None:
    """A call whose bracket is open at the end of its line, and a next line that cannot go on with it."""
    missing = _unclosed(wrong.code)
    if not missing or wrong.end_line == wrong.line:
        return None
    wrong.end_line, bracket = wrong.line, _OPENING[missing[-1]]
    at, tries = wrong.text.find(bracket), [wrong.inserted(len(wrong.code), missing)]
    return _mended(wrong.fault("bracket_open", wrong.part(at, at + 1), tries, bracket=bracket, right=missing[-1]))


def _unclosed(code: str) -> str:
    """The closing brackets a line lacks, innermost first."""
    stack: list[str] = []
    for character in code:
        if character in _CLOSING:
            stack.append(_CLOSING[character])
        elif stack and character == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))


def _code(text: str) -> str:
    quote = ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            return text[:at].rstrip()
    return text.rstrip()


def _strings(wrong: _Wrong) -> Fault | None:
    if wrong.message.startswith("unterminated triple-quoted string literal"):
        quote = wrong.text[wrong.column :].lstrip("rbfuRBFU")[:3]
        below = enumerate(wrong.lines[wrong.line - 1 :], wrong.line)
        ends = [[insertion(number, len(text.rstrip()), quote)] for number, text in below if text.strip()]
        wrong.end_line = len(wrong.lines)  # all of them are in the text
        return wrong.fault("string_open", wrong.whole(), ends, quote=quote, lines="2")
    if not wrong.message.startswith("unterminated string literal"):
        return None
    quote = wrong.text[wrong.column : wrong.column + 1]
    end = len(wrong.text.rstrip())
    brackets = len(wrong.text) - len(wrong.text.rstrip(")]}: "))
    ends = [wrong.inserted(at, quote) for at in range(end, end - brackets - 1, -1)]
    return wrong.fault("string_open", wrong.here, ends, quote=quote, lines="1")


def _fstring(wrong: _Wrong) -> Fault | None:
    """A brace of an f-string that is not closed, or a quote inside that ends it."""
    if not re.match(r"f-string: (expecting '}'|unmatched|unterminated)", wrong.message):
        return None
    ends = [found.start() for found in re.finditer(r"[\"']", wrong.text)]
    return wrong.fault("fstring_brace", wrong.whole(), [wrong.inserted(at, "}") for at in reversed(ends)])


# Blocks


def _colon(wrong: _Wrong) -> Fault | None:
    if other := re.match(r"^(\s*)else\s+if\b", wrong.text):
        start, end = other.end(1), other.end()
        return wrong.fault("else_if", wrong.part(start, end), [wrong.written(start, end, "elif")])
    if wrong.message != "expected ':'":
        return None
    word = (wrong.text.split() or [""])[0].rstrip(":")
    return wrong.fault("colon_missing", wrong.whole(), [wrong.inserted(len(wrong.code), ":")], word=word)


def _indentation(wrong: _Wrong) -> Fault | None:
    own = len(margin_of(wrong.text))
    tries: list[list[Edit]] = []
    if wrong.is_tab or ("\t" in margin_of(wrong.text) and "indent" in wrong.message):
        lines = [*enumerate(wrong.lines, 1)]
        tries = [[change for at, text in lines for change in _untabbed(at, text, width)] for width in (4, 8)]
        return wrong.fault("tabs_and_spaces", wrong.whole(), tries)
    if block := re.match(r"expected an indented block after (.+?) on line (\d+)", wrong.message):
        head = re.sub(r" (?:statement|definition)$", "", block[1]).replace("'", "").replace("function", "def")
        inside = " " * (len(margin_of(wrong.lines[int(block[2]) - 1])) + 4)
        is_last = wrong.text.strip() and not any(text.strip() for text in wrong.lines[wrong.line :])
        tries = [wrong.written(0, own, inside)] if is_last else []
        return wrong.fault("block_missing", wrong.whole(), tries, head=head, head_line=block[2])
    if wrong.message == "unexpected indent":
        above = next((text for text in reversed(wrong.lines[: wrong.line - 1]) if text.strip()), "")
        tries = [_dedented(wrong.lines), wrong.written(0, own, margin_of(above))]
        return wrong.fault("indent_unexpected", wrong.whole(), tries, spaces=str(own))
    if wrong.message.startswith("unindent does not match"):
        near = _nearest_margin(wrong, own)
        tries = [wrong.written(0, own, " " * near)] if near is not None else []
        return wrong.fault("indent_mismatch", wrong.whole(), tries, spaces=str(own))
    return None


def _untabbed(number: int, text: str, width: int) -> list[Edit]:
    margin = margin_of(text)
    return [in_line(number, 0, len(margin), margin.expandtabs(width))] if "\t" in margin else []


def _dedented(lines: list[str]) -> list[Edit]:
    """Takes away the margin that all lines share."""
    margins = [len(text) - len(text.lstrip(" ")) for text in lines if text.strip()]
    least = min(margins, default=0)
    return [in_line(at, 0, least, "") for at, text in enumerate(lines, 1) if text.strip()] if least else []


def _nearest_margin(wrong: _Wrong, own: int) -> int | None:
    """The margin in use above that a line is one space off, when it is far from all others."""
    used = {len(margin_of(text)) for text in wrong.lines[: wrong.line - 1] if text.strip()}
    near, *others = sorted((abs(margin - own), margin) for margin in used) or [(own, 0)]
    return near[1] if near[0] <= 1 and not any(far < 3 for far, _ in others) else None


# Words and signs of other languages


def _equals(wrong: _Wrong) -> Fault | None:
    if "Maybe you meant '=='" not in wrong.message or wrong.end_line != wrong.line:
        return None
    if re.match(r"\s*(?:el)?(?:if|while|assert)\b", wrong.text) is None:  # `f(x) = y` may be meant the other way round
        return None
    signs = [found.start() for found in re.finditer(r"(?<![=!<>:+\-*/%])=(?!=)", wrong.text)]
    tries = [wrong.written(at, at + 1, "==") for at in signs if at >= wrong.column]
    return wrong.fault("equals_in_condition", wrong.here, tries)


def _names(wrong: _Wrong) -> Fault | None:
    named = re.match(r"^\s*(?:self\.)?(\w+)\s*=(?!=)", wrong.text) or re.search(r"[(,]\s*(\w+)\s*=(?!=)", wrong.text)
    if named is None or not keyword.iskeyword(named[1]) or named[1] in ("None", "True", "False"):
        return None
    if wrong.line != wrong.end_line or wrong.column > named.end(0):
        return None
    return wrong.fault("keyword_as_name", wrong.part(*named.span(1)), name=named[1], suggestion=f"{named[1]}_")


def _operators(wrong: _Wrong) -> Fault | None:
    if step := re.match(r"^(\s*)([\w.]+)(\+\+|--)\s*;?\s*$", wrong.code):
        right = f"{step[2]} {step[3][0]}= 1"
        tries = [wrong.written(step.end(1), len(wrong.code), right)]
        return wrong.fault("increment", wrong.whole(), tries, operator=step[3], right=right)
    for mark, word in (("&&", "and"), ("||", "or")):
        found = [at.span() for at in re.finditer(re.escape(mark), wrong.text)]
        changes = [change for at in found for change in wrong.written(*at, word)]
        told = wrong.fault("other_operator", wrong.part(*(found or [(0, 0)])[0]), [changes], operator=mark, right=word)
        if told.fix:
            return told
    return _product(wrong)


def _product(wrong: _Wrong) -> Fault | None:
    """`2x` of mathematics."""
    start = max(wrong.column - 8, 0)
    product = re.compile(r"\b(\d+(?:\.\d*)?)([A-Za-z_]\w*)").search(wrong.text, start)
    if "decimal literal" not in wrong.message or product is None:
        return None
    place, tries = wrong.part(*product.span()), [wrong.inserted(product.start(2), " * ")]
    right = f"{product[1]} * {product[2]}"
    return _mended(wrong.fault("product_sign", place, tries, written=product[0], right=right))


def _comma(wrong: _Wrong) -> Fault | None:
    if "Perhaps you forgot a comma" not in wrong.message or wrong.end_line != wrong.line:
        return None
    gaps = [found.start() for found in re.finditer(r"\s+", wrong.text)]
    inside = [at for at in gaps if wrong.column < at < wrong.end_column][:_TRIES]
    told = [wrong.fault("comma_missing", wrong.here, [wrong.inserted(at, ",")]) for at in inside]
    mended = [one for one in told if one.fix]
    return mended[0] if len(mended) == 1 else wrong.fault("comma_missing", wrong.here)


def _outside(wrong: _Wrong) -> Fault | None:
    said = re.match(r"'(\w+)' (?:outside|not properly in) (function|loop|async function)", wrong.message)
    if said is None:
        return None
    return wrong.fault("outside_loop" if said[2] == "loop" else "outside_function", wrong.here, word=said[1])


def _except(wrong: _Wrong) -> Fault | None:
    said = re.match(r"^(\s*except\s+[\w.]+)\s*,\s*(\w+)\s*:", wrong.text)
    if said is None:
        return None
    tries = [wrong.written(said.end(1), said.end(2), f" as {said[2]}")]
    return _mended(wrong.fault("except_comma", wrong.whole(), tries, name=said[2]))


def _unknown(wrong: _Wrong) -> Fault | None:
    return wrong.fault("syntax_unknown", wrong.whole(), column=str(wrong.column + 1))


_QUESTIONS: tuple[Callable[[_Wrong], Fault | None], ...] = (
    _pasted_prompts, _commands, _strange, _outputs, _sentence, _print, _except, _brackets, _colon, _indentation,
    _equals, _names, _operators, _strings, _comma, _outside, _fstring, _unknown,
)  # fmt: skip
