"""A tensor expression with named inputs becomes a program, and places in that one places in the expression. The text is
never parsed or evaluated here."""

import json
import keyword
import math
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from engine.devices import is_accelerator
from engine.trace import Program, Span

MAX_INPUTS = 64
MAX_ELEMENTS = 10_000
MAX_AXES = 8
LINE = 100

FLOATING = ("float32", "float64", "float16", "bfloat16")
WHOLE = ("int64", "int32", "int16", "int8", "uint8")

_RESULT = "out"
_TAKEN = {"torch": "the program imports PyTorch under it", _RESULT: "the result gets it"}
_NON_FINITE = {"nan": "math.nan", "inf": "math.inf", "-inf": "-math.inf"}
_FIELDS = ("value", "requires_grad", "dtype")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class BadInput(ValueError):
    """An expression or input that no program can be made of; the message is for the user."""


def program_of(expression: str, inputs: Mapping[str, msgspec.Raw], *, seed: int = 0, device: str = "cpu") -> Program:
    """The program that evaluates `expression` and, when the result is tracked, goes backward from it.

    An input is a number or nested lists of numbers, or `{"value": …, "requires_grad": false, "dtype": "float64"}`;
    it becomes a float leaf that requires grad unless it says otherwise. Raises BadInput.
    """
    text = expression.strip()
    if not text:
        raise BadInput("the expression is empty; write one, such as (x * 2).sum()")
    if len(inputs) > MAX_INPUTS:
        raise BadInput(
            f"{len(inputs)} inputs were given, at most {MAX_INPUTS} are allowed; put some values into one tensor"
        )
    leaves = [_leaf(name, _decode(name, raw), device) for name, raw in inputs.items()]
    imports = ["import math", ""] if any("math." in leaf for leaf in leaves) else []
    lines = [
        *imports,
        "import torch",
        "",
        *leaves,
        *([""] if leaves else []),
        f"{_RESULT} = {_parenthesised(text)}",
        "",
        f"if isinstance({_RESULT}, torch.Tensor) and {_RESULT}.requires_grad:",
        f"    if {_RESULT}.numel() == 1:",
        f"        {_RESULT}.backward()",
        "    else:",
        f"        {_RESULT}.backward(torch.ones_like({_RESULT}))",
        "",
    ]
    return Program(code="\n".join(lines), expression=expression, inputs=dict(inputs), seed=seed, device=device)


def _parenthesised(text: str) -> str:
    """A comment may end the text, so only a plain single line shares its line with the bracket."""
    return f"({text})" if "\n" not in text and "#" not in text else f"(\n{text}\n)"


def _decode(name: str, raw: msgspec.Raw) -> Json:
    try:
        value: Json = msgspec.json.decode(raw)
    except msgspec.DecodeError as wrong:
        raise BadInput(f"input {name!r} is not JSON ({wrong}); give a number or nested lists of numbers") from None
    return value


def _leaf(name: str, given: Json, device: str) -> str:
    """The line that makes one input."""
    _check_name(name)
    value, requires_grad, dtype = _options(name, given)
    shape = _shape(name, value)
    if math.prod(shape) > MAX_ELEMENTS:
        raise BadInput(
            f"input {name!r} has {math.prod(shape)} elements, at most {MAX_ELEMENTS} are allowed; "
            "make large tensors in the expression, such as torch.randn(1000, 1000)"
        )
    options = "".join(
        (
            f", dtype=torch.{dtype}" if dtype != "float32" else "",
            f", device={json.dumps(device)}" if is_accelerator(device) else "",
            ", requires_grad=True" if requires_grad else "",
        )
    )
    literal = _literal(name, value, whole=dtype in WHOLE)
    if len(name) + len(literal) + len(options) > LINE and isinstance(value, list):
        rows = ",\n    ".join(_literal(name, row, whole=dtype in WHOLE) for row in value)
        literal = f"[\n    {rows},\n]"
    return f"{name} = torch.tensor({literal}{options})"


def _check_name(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise BadInput(f"{name!r} cannot name an input because it is not a Python name; use letters, digits and _")
    if name in _TAKEN:
        raise BadInput(f"{name!r} cannot name an input because {_TAKEN[name]}; choose another name")


def _options(name: str, given: Json) -> tuple[Json, bool, str]:
    if not isinstance(given, dict):
        return given, True, "float32"
    if unknown := sorted(given.keys() - set(_FIELDS)):
        raise BadInput(f"input {name!r} has an unknown field {unknown[0]!r}; the fields are {', '.join(_FIELDS)}")
    if "value" not in given:
        raise BadInput(f"input {name!r} has no field 'value'; give it a number or nested lists of numbers")
    dtype = given.get("dtype", "float32")
    if dtype not in (*FLOATING, *WHOLE):
        raise BadInput(f"input {name!r} asks for dtype {dtype!r}; choose one of {', '.join((*FLOATING, *WHOLE))}")
    requires_grad = given.get("requires_grad", dtype in FLOATING)
    if not isinstance(requires_grad, bool):
        raise BadInput(f"input {name!r} has requires_grad {requires_grad!r}; give true or false")
    if requires_grad and dtype in WHOLE:
        raise BadInput(f"input {name!r} of dtype {dtype} cannot require grad; choose a floating dtype such as float32")
    return given["value"], requires_grad, str(dtype)


def _shape(name: str, value: Json) -> tuple[int, ...]:
    """Sizes of nested lists, outermost first; every list of one depth has the same length."""
    shape: list[int] = []
    level = [value]
    while level and any(isinstance(item, list) for item in level):
        lengths = {len(item) if isinstance(item, list) else None for item in level}
        if len(lengths) > 1:
            raise BadInput(
                f"input {name!r} is ragged: not all its lists at depth {len(shape) + 1} have the same length; "
                "give every row as many numbers as the others"
            )
        if len(shape) == MAX_AXES:
            raise BadInput(f"input {name!r} has more than {MAX_AXES} axes; use fewer nested lists")
        shape.append(lengths.pop() or 0)
        level = [entry for item in level if isinstance(item, list) for entry in item]
    return tuple(shape)


def _literal(name: str, value: Json, *, whole: bool) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(name, item, whole=whole) for item in value) + "]"
    if isinstance(value, str) and value in _NON_FINITE and not whole:
        return _NON_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"input {name!r} contains {_shown(value)}, which is not a number; give numbers only")
    if not whole:
        return repr(_float(name, value))
    if value != int(value):
        raise BadInput(f"input {name!r} contains {value!r}, which is not a whole number; choose a floating dtype")
    return repr(int(value))


def _float(name: str, value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise BadInput(f"input {name!r} contains a whole number that no float can hold; give a smaller one") from None


def _shown(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:39] + "…"


def in_expression(program: Program, span: Span | None) -> Span | None:
    """The same place in the expression as it was given; its end for what Python missed behind it, None for a place
    elsewhere."""
    given = program.expression
    if given is None or span is None:
        return None
    text = given.strip()
    bracketed = _parenthesised(text)
    lead, blank = bracketed.index(text), given[: len(given) - len(given.lstrip())]
    start = program.code.find(f"\n{_RESULT} = {bracketed}\n") + len(f"\n{_RESULT} = ") + lead
    before, lines = program.code[:start], text.split("\n")
    first, indent = before.count("\n") + 1, len(before) - before.rfind("\n") - 1
    skipped, margin = blank.count("\n"), len(blank) - blank.rfind("\n") - 1

    def moved(line: int, column: int) -> tuple[int, int]:
        at = min(line - first, len(lines) - 1)
        inside = column - indent if line == first else column
        inside = min(inside, len(lines[at])) if line - first == at else len(lines[at])
        return at + skipped + 1, inside + (margin if at == 0 else 0)

    if (span.line, span.column) < (first, indent) or span.line > first + len(lines):
        return None
    (line, column), (end_line, end_column) = moved(span.line, span.column), moved(span.end_line, span.end_column)
    return Span(line=line, end_line=end_line, column=column, end_column=end_column)
