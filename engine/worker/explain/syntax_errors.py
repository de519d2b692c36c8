"""What is wrong with a program that Python cannot compile, and the edits after which it can.

An edit is offered only when the compiler, asked again here inside the sandbox, gets past the error with it.
"""

import contextlib
import keyword
import re
import warnings
from collections.abc import Callable
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


class Fault(NamedTuple):
    """A diagnosis: its place is line, end line, column and end column in code points."""

    code: str
    place: tuple[int, int, int, int]
    parameters: dict[str, str]
    fix: tuple[tuple[int, int, int, int, str], ...] = ()


class _Wrong(NamedTuple):
    """A SyntaxError, with its column from 0."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    """The line it is on."""
    is_tab: bool


def fault(error: SyntaxError, source: str) -> Fault | None:
    """The diagnosis; None when nothing certain can be said."""
    if "\0" in source:  # the compiler names no line
        return _null_bytes(source)
    lines = lines_of(source)
    if not error.lineno or error.lineno > len(lines):
        return None
    column = max((error.offset or 1) - 1, 0)
    wrong = _Wrong(
        error.msg, error.lineno, column, error.end_lineno or error.lineno, max((error.end_offset or 0) - 1, column),
        lines[error.lineno - 1], isinstance(error, TabError),
    )  # fmt: skip
    for ask in _QUESTIONS:
        found = ask(wrong, source)
        if found is not None:
            return found
    return None


def _null_bytes(source: str) -> Fault:
    found = [
        (line, column)
        for line, text in enumerate(lines_of(source), 1)
        for column, character in enumerate(text)
        if character == "\0"
    ]
    line, column = found[0]
    fix = tuple((line, line, column, column + 1, "") for line, column in found) if len(found) <= _TRIES else ()
    parameters = {"character": "", "codepoint": "U+0000", "column": str(column + 1), "count": str(len(found))}
    return Fault("invisible_character", (line, line, column, column + 1), parameters, fix)


def _passes(source: str, wrong: _Wrong) -> bool:
    """Whether the compiler gets past the line of the error."""
    with warnings.catch_warnings(), contextlib.suppress(ValueError, RecursionError, MemoryError):
        warnings.simplefilter("ignore")
        try:
            compile(source, "<program>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return (error.lineno or 0) > max(wrong.line, wrong.end_line)
        return True
    return False


def _tried(wrong: _Wrong, source: str, *tries: list[Edit]) -> tuple[tuple[int, int, int, int, str], ...]:
    """The first of some changes that get past the error, as edits; none when none does."""
    for changes in tries[:_TRIES]:
        if changes and _passes(applied(source, changes), wrong):
            return tuple((*msgspec.structs.astuple(edit.span), edit.text) for edit in changes)
    return ()


def _whole(wrong: _Wrong) -> tuple[int, int, int, int]:
    """The line without its margin."""
    return wrong.line, wrong.line, len(margin_of(wrong.text)), len(wrong.text.rstrip())


def _here(wrong: _Wrong) -> tuple[int, int, int, int]:
    if wrong.end_line > wrong.line:
        return wrong.line, wrong.end_line, wrong.column, wrong.end_column
    return wrong.line, wrong.line, wrong.column, max(wrong.end_column, wrong.column + 1)


def _pasted_prompts(wrong: _Wrong, source: str) -> Fault | None:
    if not has_prompts(source):
        return None
    changes = prompts(source)
    fix = _tried(wrong, source, changes, changes + characters(source))
    first = next((edit.span.line for edit in changes), wrong.line)
    return Fault("notebook_prompt", _line(source, first), {"count": str(len(changes))}, fix) if fix else None


def _line(source: str, line: int) -> tuple[int, int, int, int]:
    text = lines_of(source)[line - 1]
    return line, line, len(margin_of(text)), max(len(text.rstrip()), 1)


def _commands(wrong: _Wrong, source: str) -> Fault | None:
    changes = terminal(source, wrong.line)
    if not changes:
        return None
    visible = VISIBLE.match(wrong.text)
    fix = _tried(wrong, source, _everywhere(source, terminal), changes)
    if visible is not None:
        right = "CUDA_VISIBLE_DEVICES"
        return Fault("cuda_visible_shell", _whole(wrong), {"name": visible["name"], "right": right}, fix)
    word = wrong.text.split()[0]
    return Fault("shell_line", _whole(wrong), {"word": word, "command": wrong.text.strip()[:48]}, fix)


def _everywhere(source: str, find: Callable[[str, int], list[Edit]]) -> list[Edit]:
    return [change for line in range(1, len(lines_of(source)) + 1) for change in find(source, line)]


def _outputs(wrong: _Wrong, source: str) -> Fault | None:
    """A printed value may take several lines, of which the parser names a later one."""
    for line in range(wrong.line, max(wrong.line - 8, 0), -1):
        changes = printed(source, line)
        if changes and changes[-1].span.line >= wrong.line:
            fix = _tried(wrong, source, changes)
            return Fault("pasted_output", _line(source, line), {}, fix) if fix else None
    return None


def _strange(wrong: _Wrong, source: str) -> Fault | None:
    """A full-width, curly or invisible character, named with its column and its half-width form."""
    found = characters(source)
    here = [edit for edit in found if edit.span.line == wrong.line]
    if not here:
        return None
    named = re.search(r"character '?(.)?'? ?\(?U\+([0-9A-F]+)", wrong.message)
    exact = [edit for edit in here if edit.span.column == wrong.column] if named else []
    first = (exact or here)[0].span
    character = wrong.text[first.column]
    fix = _tried(wrong, source, found, here)
    if not fix and not exact:
        return None
    right = half_width(character) or ""
    kind = "invisible_character" if character in BLANK | NOTHING else "full_width"
    place = (wrong.line, wrong.line, first.column, first.column + 1)
    parameters = {
        "character": character, "codepoint": f"U+{ord(character):04X}", "column": str(first.column + 1), "right": right,
        "count": str(len(found)),
    }  # fmt: skip
    return Fault(kind, place, parameters, fix)


def _sentence(wrong: _Wrong, source: str) -> Fault | None:
    changes = prose(source, wrong.line)
    if not changes:
        return None
    fix = _tried(wrong, source, _everywhere(source, prose), changes)
    return Fault("prose_line", _whole(wrong), {"text": wrong.text.strip()[:24]}, fix)


_PRINT = re.compile(r"^(\s*)print\s+(?!\()(.+?)(,?)\s*(#.*)?$")


def _print(wrong: _Wrong, source: str) -> Fault | None:
    if not wrong.message.startswith("Missing parentheses in call to 'print'"):
        return None
    changes = [change for number, text in enumerate(lines_of(source), 1) for change in _printing(number, text)]
    fix = _tried(wrong, source, changes, [change for change in changes if change.span.line == wrong.line])
    return Fault("print_statement", _whole(wrong), {}, fix)


def _printing(number: int, text: str) -> list[Edit]:
    match = _PRINT.match(text)
    if match is None or match[2].startswith(("=", ".")):
        return []
    start, end = match.start(2), match.end(3)
    tail = ', end=" ")' if match[3] else ")"
    return [in_line(number, len(match[1]) + 5, start, "("), in_line(number, match.end(2), end, tail)]


def _brackets(wrong: _Wrong, source: str) -> Fault | None:
    never = re.match(r"'([(\[{])' was never closed", wrong.message)
    if never:
        missing = _unclosed(wrong.text)
        end = len(_code(wrong.text))
        last = lines_of(source)
        fix = _tried(wrong, source, [insertion(wrong.line, end, missing)] if missing else [])
        if not fix and missing:  # a call over several lines: before the next line that begins further left
            for number in range(wrong.line + 1, min(wrong.line + 12, len(last)) + 1):
                here = len(_code(last[number - 1]))
                fix = _tried(wrong, source, [in_line(number, here, here, missing[-1])]) if here else ()
                if fix:
                    break
        return Fault("bracket_open", _here(wrong), {"bracket": never[1], "right": _CLOSING[never[1]]}, fix)
    if wrong.message.startswith("invalid syntax. Perhaps you forgot a comma"):
        return _run_on(wrong, source)
    unmatched = re.match(r"unmatched '(.)'", wrong.message)
    if unmatched:
        fix = _tried(wrong, source, [in_line(wrong.line, wrong.column, wrong.column + 1, "")])
        return Fault("bracket_extra", _here(wrong), {"bracket": unmatched[1]}, fix)
    other = re.match(r"closing parenthesis '(.)' does not match opening parenthesis '(.)'", wrong.message)
    if other:
        right = _CLOSING[other[2]]
        at = wrong.column
        fix = _tried(wrong, source, [insertion(wrong.line, at, right)], [in_line(wrong.line, at, at + 1, right)])
        return Fault("bracket_mismatch", _here(wrong), {"bracket": other[1], "open": other[2], "right": right}, fix)
    return None


def _run_on(wrong: _Wrong, source: str) -> Fault | None:
    """A call whose bracket is open at the end of its line, and a next line that cannot go on with it."""
    missing, end = _unclosed(wrong.text), len(_code(wrong.text))
    if not missing or wrong.end_line == wrong.line:
        return None
    here = wrong._replace(end_line=wrong.line)
    fix = _tried(here, source, [insertion(wrong.line, end, missing)])
    opened = {right: left for left, right in _CLOSING.items()}[missing[-1]]
    at = wrong.text.find(opened)
    return (
        Fault("bracket_open", (wrong.line, wrong.line, at, at + 1), {"bracket": opened, "right": missing[-1]}, fix)
        if fix
        else None
    )


def _unclosed(text: str) -> str:
    """The closing brackets a line lacks, innermost first."""
    stack: list[str] = []
    for character in _code(text):
        if character in _CLOSING:
            stack.append(_CLOSING[character])
        elif stack and character == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))


def _code(text: str) -> str:
    """A line without its comment and the space before it."""
    quote = ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            return text[:at].rstrip()
    return text.rstrip()


def _colon(wrong: _Wrong, source: str) -> Fault | None:
    other = re.match(r"^(\s*)else\s+if\b", wrong.text)
    if other:
        start = len(other[1])
        fix = _tried(wrong, source, [in_line(wrong.line, start, other.end(), "elif")])
        return Fault("else_if", (wrong.line, wrong.line, start, other.end()), {}, fix)
    if wrong.message != "expected ':'":
        return None
    end = len(_code(wrong.text))
    fix = _tried(wrong, source, [insertion(wrong.line, end, ":")])
    word = (wrong.text.split() or [""])[0].rstrip(":")
    return Fault("colon_missing", _whole(wrong), {"word": word}, fix)


def _indentation(wrong: _Wrong, source: str) -> Fault | None:
    lines = lines_of(source)
    if wrong.is_tab or ("\t" in margin_of(wrong.text) and "indent" in wrong.message):
        tries = [
            [change for at, text in enumerate(lines, 1) for change in _untabbed(at, text, width)] for width in (4, 8)
        ]
        return Fault("tabs_and_spaces", _whole(wrong), {}, _tried(wrong, source, *tries))
    block = re.match(r"expected an indented block after (.+?) on line (\d+)", wrong.message)
    if block:
        margin = len(margin_of(lines[int(block[2]) - 1]))
        is_last = not any(text.strip() for text in lines[wrong.line :])
        change = [in_line(wrong.line, 0, len(margin_of(wrong.text)), " " * (margin + 4))]
        fix = _tried(wrong, source, change) if is_last and wrong.text.strip() else ()
        head = re.sub(r" (?:statement|definition)$", "", block[1]).replace("'", "")
        return Fault("block_missing", _whole(wrong), {"head": head, "head_line": block[2]}, fix)
    if wrong.message == "unexpected indent":
        above = next((text for text in reversed(lines[: wrong.line - 1]) if text.strip()), "")
        margin = len(margin_of(above))
        own = len(margin_of(wrong.text))
        fix = _tried(wrong, source, _dedented(lines), [in_line(wrong.line, 0, own, " " * margin)])
        return Fault("indent_unexpected", _whole(wrong), {"spaces": str(own)}, fix)
    if wrong.message.startswith("unindent does not match"):
        return Fault(
            "indent_mismatch",
            _whole(wrong),
            {"spaces": str(len(margin_of(wrong.text)))},
            _unindented(wrong, source),
        )
    return None


def _untabbed(number: int, text: str, width: int) -> list[Edit]:
    margin = margin_of(text)
    return [in_line(number, 0, len(margin), margin.expandtabs(width))] if "\t" in margin else []


def _dedented(lines: list[str]) -> list[Edit]:
    """Takes away the margin that all lines share."""
    margins = [len(text) - len(text.lstrip(" ")) for text in lines if text.strip()]
    least = min(margins, default=0)
    return [in_line(at, 0, least, "") for at, text in enumerate(lines, 1) if text.strip()] if least else []


def _unindented(wrong: _Wrong, source: str) -> tuple[tuple[int, int, int, int, str], ...]:
    """Only for a line that is one space off a margin in use above, and far from all others."""
    lines = lines_of(source)
    own = len(margin_of(wrong.text))
    used = {len(margin_of(text)) for text in lines[: wrong.line - 1] if text.strip()}
    near = sorted(used, key=lambda margin: abs(margin - own))
    if not near or abs(near[0] - own) > 1 or (len(near) > 1 and abs(near[1] - own) < 3):
        return ()
    return _tried(wrong, source, [in_line(wrong.line, 0, own, " " * near[0])])


def _equals(wrong: _Wrong, source: str) -> Fault | None:
    if "Maybe you meant '=='" not in wrong.message or wrong.end_line != wrong.line:
        return None
    places = [
        match.start() for match in re.finditer(r"(?<![=!<>:+\-*/%])=(?!=)", wrong.text) if match.start() >= wrong.column
    ]
    fix = _tried(wrong, source, *[[in_line(wrong.line, at, at + 1, "==")] for at in places])
    return Fault("equals_in_condition", _here(wrong), {}, fix)


def _names(wrong: _Wrong, source: str) -> Fault | None:
    named = re.match(r"^\s*(?:self\.)?(\w+)\s*=(?!=)", wrong.text) or re.search(r"[(,]\s*(\w+)\s*=(?!=)", wrong.text)
    if named and keyword.iskeyword(named[1]) and named[1] not in ("None", "True", "False"):
        place = (wrong.line, wrong.line, named.start(1), named.end(1))
        if wrong.line == wrong.end_line and wrong.column <= named.end(0):
            return Fault("keyword_as_name", place, {"name": named[1], "suggestion": f"{named[1]}_"})
    return None


def _operators(wrong: _Wrong, source: str) -> Fault | None:
    step = re.match(r"^(\s*)([\w.]+)(\+\+|--)\s*;?\s*$", _code(wrong.text))
    if step:
        start = len(step[1])
        right = f"{step[2]} {step[3][0]}= 1"
        fix = _tried(wrong, source, [in_line(wrong.line, start, len(_code(wrong.text)), right)])
        return Fault("increment", _whole(wrong), {"operator": step[3], "right": right}, fix)
    for mark, word in (("&&", "and"), ("||", "or")):
        at = wrong.text.find(mark)
        if at >= 0:
            changes = [
                in_line(wrong.line, found.start(), found.end(), word)
                for found in re.finditer(re.escape(mark), wrong.text)
            ]
            fix = _tried(wrong, source, changes)
            if fix:
                return Fault(
                    "other_operator", (wrong.line, wrong.line, at, at + 2), {"operator": mark, "right": word}, fix
                )
    product = re.search(r"\b(\d+(?:\.\d*)?)([A-Za-z_]\w*)", wrong.text[max(wrong.column - 8, 0) :])
    if "decimal literal" in wrong.message and product:
        at = max(wrong.column - 8, 0) + product.start(2)
        fix = _tried(wrong, source, [insertion(wrong.line, at, " * ")])
        if fix:
            place = (wrong.line, wrong.line, at - len(product[1]), at + len(product[2]))
            return Fault("product_sign", place, {"written": product[0], "right": f"{product[1]} * {product[2]}"}, fix)
    return None


def _comma(wrong: _Wrong, source: str) -> Fault | None:
    if "Perhaps you forgot a comma" not in wrong.message or wrong.end_line != wrong.line:
        return None
    gaps = [
        found.start() for found in re.finditer(r"\s+", wrong.text) if wrong.column < found.start() < wrong.end_column
    ]
    tries = [fix for at in gaps[:_TRIES] if (fix := _tried(wrong, source, [insertion(wrong.line, at, ",")]))]
    return Fault("comma_missing", _here(wrong), {}, tries[0] if len(tries) == 1 else ())


def _strings(wrong: _Wrong, source: str) -> Fault | None:
    if not wrong.message.startswith("unterminated string literal"):
        return None
    quote = wrong.text[wrong.column : wrong.column + 1]
    end = len(wrong.text.rstrip())
    tries = [[insertion(wrong.line, end, quote)]]
    brackets = len(wrong.text) - len(wrong.text.rstrip(")]}: "))
    tries += [[insertion(wrong.line, at, quote)] for at in range(end - 1, end - brackets - 1, -1)]
    return Fault("string_open", _here(wrong), {"quote": quote}, _tried(wrong, source, *tries))


def _outside(wrong: _Wrong, source: str) -> Fault | None:
    said = re.match(
        r"'(return|yield|await|break|continue)' (?:outside|not properly in) (function|loop|async function)",
        wrong.message,
    )
    if said is None:
        return None
    return Fault("outside_loop" if said[2] == "loop" else "outside_function", _here(wrong), {"word": said[1]})


def _except(wrong: _Wrong, source: str) -> Fault | None:
    said = re.match(r"^(\s*except\s+[\w.]+)\s*,\s*(\w+)\s*:", wrong.text)
    if said is None:
        return None
    fix = _tried(wrong, source, [in_line(wrong.line, said.end(1), said.end(2), f" as {said[2]}")])
    return Fault("except_comma", _whole(wrong), {"name": said[2]}, fix) if fix else None


def _fstring(wrong: _Wrong, source: str) -> Fault | None:
    """A brace of an f-string that is not closed, or a quote inside that ends it."""
    if not wrong.message.startswith("f-string"):
        return None
    ends = [found.start() for found in re.finditer(r"[\"']", wrong.text)]
    tries = [[insertion(wrong.line, at, "}")] for at in reversed(ends)]
    return Fault("fstring_brace", _whole(wrong), {}, _tried(wrong, source, *tries))


def _unknown(wrong: _Wrong, source: str) -> Fault | None:
    return Fault("syntax_unknown", _whole(wrong), {"column": str(wrong.column + 1)})


_QUESTIONS: tuple[Callable[[_Wrong, str], Fault | None], ...] = (
    _pasted_prompts, _commands, _strange, _outputs, _sentence, _print, _except, _brackets, _colon, _indentation,
    _equals, _names, _operators, _strings, _comma, _outside,
    _fstring, _unknown,
)  # fmt: skip
