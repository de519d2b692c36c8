"""JSON schema and reference page of the wire formats, made from the strings under the fields.

`python -m engine.schema` prints docs/trace.md; with `--json`, the schema that the frontend's types are made from."""

import ast
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeAlias, cast

import msgspec

from engine.compare import Comparison
from engine.fixes import Fixes
from engine.graph import Graph
from engine.replay import Engine
from engine.trace import Trace
from engine.what_ifs import WhatIfs

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Schema: TypeAlias = dict[str, Json]

_FORMATS = (Trace, Graph, Engine, Comparison, Fixes, WhatIfs)


def field_sentences(owner: type) -> dict[str, str]:
    """The string under each annotated field of a class, by field name."""
    body = _classes(owner.__module__)[owner.__name__].body
    return {
        field.target.id: " ".join(inspect.cleandoc(words.value.value).split())
        for field, words in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(words, ast.Expr)
        and isinstance(words.value, ast.Constant)
        and isinstance(words.value.value, str)
    }


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module as they are written."""
    written = ast.parse(inspect.getsource(sys.modules[module])).body
    return {part.name: part for part in written if isinstance(part, ast.ClassDef)}


def wire_schemas(tops: Sequence[type[msgspec.Struct]], ref: str) -> dict[str, Schema]:
    """JSON schemas of some records and all they hold, each field with its sentence; references begin with `ref`."""
    _, components = msgspec.json.schema_components(tops, ref_template=ref + "{name}")
    schemas = cast(dict[str, Schema], components)
    for record in [each for top in tops for each in _records_with(top) if each.__name__ in schemas]:
        names = {field.name: field.encode_name for field in msgspec.structs.fields(record)}
        properties = cast(dict[str, Schema], schemas[record.__name__]["properties"])
        for field, sentence in field_sentences(record).items():
            properties[names[field]]["description"] = sentence
    return schemas


def document() -> Schema:
    """One JSON schema whose properties are the formats: `trace`, `graph`, `engine`, `comparison`, `fixes` and
    `whatifs`."""
    ref = "#/$defs/"
    return {
        "$defs": cast(Json, wire_schemas(_FORMATS, ref)),
        "type": "object",
        "properties": {top.__name__.lower(): {"$ref": ref + top.__name__} for top in _FORMATS},
        "required": [top.__name__.lower() for top in _FORMATS],
        "additionalProperties": False,
    }


def page() -> str:
    """The reference page of the formats, as Markdown."""
    schemas = wire_schemas(_FORMATS, "#")
    parts = [_HEAD]
    for top in _FORMATS:
        form = cast(list[str], cast(dict[str, Schema], schemas[top.__name__]["properties"])["format"]["enum"])[0]
        parts.append(f"\n# `{form}`\n\n{inspect.cleandoc(sys.modules[top.__module__].__doc__ or '')}\n")
        parts += [_table(record.__name__, schemas[record.__name__]) for record in _records_with(top)]
    return "".join(parts)


def _records_with(top: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """A format's top record, then the others of its module in the order of the source."""
    others = [
        value
        for value in vars(sys.modules[top.__module__]).values()
        if inspect.isclass(value)
        and value.__module__ == top.__module__
        and issubclass(value, msgspec.Struct)
        and value.__struct_fields__
        and value is not top
    ]
    return [top, *others]


def _table(name: str, schema: Schema) -> str:
    required = cast(list[str], schema.get("required", []))
    properties = cast(dict[str, Schema], schema["properties"])
    rows = "".join(
        f"| `{field}`{'' if field in required else ' ?'} | {_type(value)} | {value.get('description', '')} |\n"
        for field, value in properties.items()
    )
    words = " ".join(str(schema.get("description", "")).split())
    return f"\n## {name}\n\n{words}\n\n| Field | Type | What it says |\n|---|---|---|\n{rows}"


def _type(schema: Mapping[str, Json]) -> str:
    """A type in a reader's words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#")
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(choice) for choice in cast(list[Schema], schema["anyOf"])))
    if "enum" in schema:
        return " ".join(f"`{choice}`" for choice in cast(list[str], schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(cast(Schema, schema.get('items') or {}))}"
    if schema.get("type") == "object":
        return f"object of {_type(cast(Schema, schema.get('additionalProperties') or {}))}"
    return str(schema.get("type", "any JSON"))


_HEAD = """<!-- Made by `python -m engine.schema > docs/trace.md` from the strings under the fields. -->

The wire formats, field by field. A `?` marks a field that is left out of the JSON while it holds its default value.
"""

if __name__ == "__main__":
    as_json = "--json" in sys.argv[1:]
    sys.stdout.write(json.dumps(document(), indent=1, sort_keys=True) + "\n" if as_json else page())
