"""The routes for a reader: a plain page made from the OpenAPI document, without scripts."""

import json
from functools import cache
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from engine.schema import document
from server.look import plain_page

router = APIRouter(include_in_schema=False)


@router.get("/schema.json")
async def schema() -> Response:
    """JSON Schema of the trace and of what is made from it."""
    return Response(_schema(), media_type="application/schema+json")


@cache
def _schema() -> bytes:
    return json.dumps(document(), ensure_ascii=False).encode()


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Every route with its parameters, examples and answers."""
    return HTMLResponse(written(request.app.openapi()))


def written(document: dict[str, Any]) -> str:
    """The page."""
    routes = "".join(
        route(path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    title = escape(document["info"]["title"])
    inside = (
        f"<h1>{title}: API</h1>"
        f"<p>{escape(document['info']['description'])}</p>"
        f'<p>The same for programs: <a href="/openapi.json">/openapi.json</a>.</p>{routes}'
    )
    return plain_page("en", f"{title}: API", inside)


def route(path: str, method: str, operation: dict[str, Any]) -> str:
    """One route."""
    parameters = "".join(
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{escape(each['in'])}</td>"
        f"<td>{escape(each.get('description', ''))}</td></tr>"
        for each in operation.get("parameters", ())
    )
    answers = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(', '.join(each.get('content', {})))}</td>"
        f"<td>{escape(each['description'])}</td></tr>"
        for status, each in operation["responses"].items()
    )
    return (
        f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation.get('description', ''))}</p>"
        f"<table>{parameters}</table>{examples(path, operation)}<table>{answers}</table>"
    )


def examples(path: str, operation: dict[str, Any]) -> str:
    """The request examples, ready for a shell."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return "".join(
        f"<p>{escape(each['summary'])}</p><pre>curl -s localhost:8000{escape(path)} "
        f"-H 'Content-Type: application/json' -d {escape(quoted(each['value']))}</pre>"
        for each in body.get("examples", {}).values()
    )


def quoted(value: object) -> str:
    """A JSON body in single quotes, as a shell reads it."""
    return "'" + json.dumps(value).replace("'", "'\\''") + "'"
