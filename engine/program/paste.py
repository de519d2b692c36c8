"""What comes along when code is copied from notebooks, documents and terminals, and the edits that take it out. Pure
text."""

import re
import unicodedata
from collections.abc import Iterator

from engine.program.edits import in_line, insertion
from engine.program.spans import lines_of, margin_of
from engine.trace import Edit

IPYTHON = re.compile(r"^\s*In ?\[(?:\d+|\*| |None)?\]: ?")
RESULT = re.compile(r"^\s*Out ?\[(?:\d+|\*| |None)?\]: ?")
CONTINUED = re.compile(r"^ {2,}\.\.\.: ?")
PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.)(?: |$)")
PRINTED = re.compile(
    r"^\s*(?:[\[(]?tensor\((?=[\[\-\d.]|nan|inf|True|False)|array\(\[|Parameter containing:|torch\.Size\(\["
    r"|<\w+Backward\w* object|OrderedDict\(\[|\[+ *-?[\d.]+(?:e[+-]?\d+)? +-?[\d.])"
)
_MODULE = re.compile(r"^\w+\( *(?:#.*)?\n +\(\w+\): \w+")
"""How a module prints itself: its class, and below it the first of its parts."""
_TERMINAL = re.compile(
    r"^\s*(?:\$ |[!%]|(?:sudo +)?"
    r"(?:pip3?|conda|python3?|cd|ls|wget|curl|git|nvidia-smi|export|apt(?:-get)?|mkdir|unzip|source)"
    r"(?: +[-\w./]|$)(?!.*[=(]\s*\w+\())"
)
VISIBLE = re.compile(r"^\s*(?:export +|set +)?(?P<name>CUDA_VIS\w*) *= *(?P<devices>[\d, ]*\d)(?P<command> +\S.*)?$")

HALF = {
    "，": ",", "。": ".", "：": ":", "；": ";", "（": "(", "）": ")", "【": "[", "】": "]", "、": ",",
    "“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"', "−": "-", "–": "-",
    "—": "-", "×": "*", "·": "*", "…": "...", "÷": "/", "≥": ">=", "≤": "<=", "≠": "!=", "→": "->",
    "《": "<", "》": ">",
}  # fmt: skip
BLANK = frozenset("\u00a0\u3000\u2002\u2003\u2009\u202f\u205f")
NOTHING = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_QUOTES = {"“": '“”"', "”": '“”"', "‘": "‘’'", "’": "‘’'", "「": "」", "『": "』"}


def half_width(character: str) -> str | None:
    """What stands for a character in Python; None for one that is no mistake."""
    if character in BLANK:
        return " "
    if character in NOTHING:
        return ""
    if character in HALF:
        return HALF[character]
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain != character and plain.isascii() and not plain.isspace() else None


def characters(code: str) -> list[Edit]:
    """Every full-width, curly or invisible character that stands where Python reads code."""
    return [
        in_line(line, column, column + 1, right)
        for line, column, character in _outside_strings(code)
        if (right := half_width(character)) is not None
    ]


def _outside_strings(code: str) -> Iterator[tuple[int, int, str]]:
    """Characters that are not ASCII, outside strings and comments; curly quotes themselves count as outside."""
    ends, triple = "", False
    for number, line in enumerate(lines_of(code), 1):
        if not triple:
            ends = ""
        column = 0
        while column < len(line):
            character = line[column]
            if ends:
                if triple and line.startswith(ends, column):
                    ends, triple = "", False
                    column += 3
                    continue
                if not triple and character in ends:
                    ends = ""
                    if not character.isascii():
                        yield number, column, character
                elif character == "\\":
                    column += 1
            elif character == "#":
                break
            elif line.startswith(('"""', "'''"), column):
                ends, triple = line[column : column + 3], True
                column += 2
            elif character in "\"'":
                ends = character
            elif character in _QUOTES:
                ends = _QUOTES[character]
                yield number, column, character
            elif not character.isascii():
                yield number, column, character
            column += 1


def has_prompts(code: str) -> bool:
    """Whether a line begins as in a notebook or an interactive session."""
    return any(IPYTHON.match(line) or RESULT.match(line) or PROMPT.match(line) for line in lines_of(code))


def prompts(code: str) -> list[Edit]:
    """Takes the prompts off and turns what was printed between them into comments."""
    lines = lines_of(code)
    session = any(line.lstrip().startswith(">>>") for line in lines)
    changes: list[Edit] = []
    inside_result = begun = False
    done = 0
    for number, line in enumerate(lines, 1):
        begun = begun or PROMPT.match(line) is not None
        prompt = IPYTHON.match(line) or CONTINUED.match(line) or (PROMPT.match(line) if session else None)
        if prompt is not None:
            changes.append(in_line(number, 0, prompt.end(), ""))
            inside_result = False
        elif RESULT.match(line):
            changes.append(_commented(number, line))
            inside_result = True
        elif number <= done:
            continue
        elif block := _printed(lines, number):
            changes += block
            done = block[-1].span.line
        elif (inside_result and line.startswith((" ", ")", "]"))) or (
            session and begun and line.strip() and line[0] != "#"
        ):
            changes.append(_commented(number, line))
        else:
            inside_result = False
    return changes


def printed(code: str, line: int) -> list[Edit]:
    """Turns a printed tensor, module or the like that begins on a line into a comment, to its last bracket, and those
    that follow at once."""
    return _printed(lines_of(code), line)


def _printed(lines: list[str], line: int) -> list[Edit]:
    changes: list[Edit] = []
    while 1 <= line <= len(lines) and _begins_printed(lines, line):
        depth = 0
        for number in range(line, len(lines) + 1):
            text = lines[number - 1]
            depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
            if text.strip():
                changes.append(_commented(number, text))
            if depth <= 0 and not text.rstrip().endswith(":"):
                break
        line = next((later for later in range(number + 1, len(lines) + 1) if lines[later - 1].strip()), 0)
    return changes


def _begins_printed(lines: list[str], line: int) -> bool:
    return bool(PRINTED.match(lines[line - 1]) or _MODULE.match("\n".join(lines[line - 1 : line + 1])))


def terminal(code: str, line: int) -> list[Edit]:
    """A command for a terminal or a notebook's magic becomes a comment; the choice of GPUs becomes Python."""
    text = lines_of(code)[line - 1]
    visible = VISIBLE.match(text)
    if visible is not None:
        devices = visible["devices"].replace(" ", "")
        right = f'import os; os.environ["CUDA_VISIBLE_DEVICES"] = "{devices}"'
        return [in_line(line, len(margin_of(text)), len(text), right)]
    return [_commented(line, text)] if _TERMINAL.match(text) else []


_COUNTED = re.compile(r"\d+(?:\s*[,，、]\s*\d+)*\s*[\u4e00-\u9fff]")
"""The rest of a comment that was broken in two: no expression goes on like this."""


def is_prose(text: str) -> bool:
    """Whether a line is a sentence in Chinese or Japanese rather than code."""
    body = text.strip()
    if not body or body.startswith("#"):
        return False
    if _COUNTED.match(body):
        return True
    letters = sum("\u3040" <= letter <= "\u30ff" or "\u4e00" <= letter <= "\u9fff" for letter in body)
    return letters >= 4 and letters * 2 >= len(body.replace(" ", "")) and not re.search(r"[=()\"'\[\]]", body)


def prose(code: str, line: int) -> list[Edit]:
    """A sentence among the code becomes a comment."""
    text = lines_of(code)[line - 1]
    return [_commented(line, text)] if is_prose(text) else []


def _commented(line: int, text: str) -> Edit:
    margin = len(margin_of(text))
    return insertion(line, margin, "# ")
