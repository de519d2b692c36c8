"""What the OpenAPI page shows: request examples and the shapes of answers that FastAPI does not make itself."""

from typing import Any

from fastapi import Body

from server.problems import MEDIA_TYPE
from server.wire import ProblemBody

Documented = dict[str, Any]
"""One entry of FastAPI's `responses`."""


def text(media_type: str) -> Documented:
    """An answer that is not JSON."""
    return {"description": "The file.", "content": {media_type: {"schema": {"type": "string"}}}}


def _wire(name: str, sentence: str) -> Documented:
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": sentence, "content": {"application/json": {"schema": schema}}}


TRACE = _wire("Trace", "The trace; `status` says whether the program reached its end.")
RULES: Documented = {
    "description": "The rules.",
    "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/RuleText"}}}},
}
GRAPH = _wire("Graph", "Boxes, links and groups to draw.")
PROBLEM: Documented = {
    "model": ProblemBody,
    "description": "The request was refused; `detail` names the value, the rule and the next step.",
    "content": {MEDIA_TYPE: {}},
}

RUNS = Body(
    openapi_examples={
        "expression": {
            "summary": "An expression with inputs",
            "value": {"expression": "((x + 2)**2 * 3).mean()", "inputs": {"x": [[1, 1], [1, 1]]}},
        },
        "program": {
            "summary": "A program",
            "value": {
                "code": "import torch\n\nx = torch.tensor(2.0, requires_grad=True)\ny = x**2 + 3 * x\n"
                "y.backward()\nprint(x.grad)\n"
            },
        },
        "limits": {
            "summary": "A program with lower limits",
            "value": {"code": "while True: pass", "limits": {"wall_s": 1}},
        },
    }
)
