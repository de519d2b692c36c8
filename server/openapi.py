"""The OpenAPI document: FastAPI's routes, with Trace and Graph from the engine's own schema."""

from collections.abc import Iterator
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from engine.schema import wire_schemas
from server.examples import EXAMPLES, PROBLEM
from server.wire import OEmbed, ProblemBody

REF = "#/components/schemas/"
DESCRIPTION = """Paste PyTorch, see what autograd really did: a program goes in, it runs on the real PyTorch in a
sandbox, and a trace comes out. The graph, its pictures and the values of its tensors are views of that trace. Refused
requests are answered with `application/problem+json`, in Chinese or English by `Accept-Language`; a program that fails
is no refused request, its trace says what happened."""


def document(app: FastAPI) -> dict[str, Any]:
    """The document, made once for an application."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
        schemas = made["components"]["schemas"]
        schemas |= wire_schemas(tuple(EXAMPLES), REF)
        schemas |= {model.__name__: model.model_json_schema() for model in (OEmbed, ProblemBody)}
        _say_problem(made)
        _keep_nulls(made)
        app.openapi_schema = made
    return app.openapi_schema


def _say_problem(made: dict[str, Any]) -> None:
    """Say how a bad request is really answered, in place of what FastAPI takes for granted."""
    for name in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(name, None)
    for operation in _operations(made):
        if "422" in operation["responses"]:
            operation["responses"]["422"] = PROBLEM


def _keep_nulls(made: dict[str, Any]) -> None:
    """Put the examples back that FastAPI takes every null out of."""
    whole = {answered.__name__: msgspec.to_builtins(example) for answered, example in EXAMPLES.items()}
    for operation in _operations(made):
        for answer in operation["responses"].values():
            for content in answer.get("content", {}).values():
                name = content["schema"].get("$ref", "").removeprefix(REF)
                content["example"] = whole.get(name, content["example"])


def _operations(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in made["paths"].values():
        yield from methods.values()
