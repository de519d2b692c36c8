"""What the OpenAPI page shows: request examples, and the shapes and examples of answers.

`example_trace.json` is the trace of a run of this server, as it was answered; read as any stored trace is, so
that a new format needs no new one."""

from pathlib import Path
from typing import Any

import msgspec
from fastapi import Body

from engine.compare import Comparison, compare
from engine.fixes import FORMAT, Fixes, Shift, Trial
from engine.formats import migrate
from engine.graph import Graph, view
from engine.replay import Engine, engine_view
from engine.rules import RuleText, rule_of, texts
from engine.rules.derivatives import Derivative, derivative_of
from engine.trace import Trace
from engine.what_ifs import WhatIfs, what_ifs
from server.answers import JSON, SHOWN
from server.problems import MEDIA_TYPE, Problem
from server.snapshots import FORMAT as SNAPSHOT_FORMAT
from server.views import Shown
from server.wire import Accepted, OEmbed, QueuePlace

Documented = dict[str, Any]
"""One entry of FastAPI's `responses`."""

_RECORDED = msgspec.json.decode(migrate((Path(__file__).parent / "example_trace.json").read_bytes()), type=Trace)
_RUN = f"/api/v1/runs/{_RECORDED.id}"
_PASS = _RECORDED.passes[0].id
_TRIED = Fixes(
    format=FORMAT,
    run=_RECORDED.id,
    done=True,
    trials=(
        Trial(
            finding=0,
            verdict="mends",
            run="c4fzkqjxq2m7c6h5pmbqv2c3ha",
            proof=(Shift(what="gradient", name="x", after=_RECORDED.tensors[0]),),
        ),
    ),
)
_SHOWN = Shown(trace=_RECORDED, graph=view(_RECORDED))
EXAMPLES: dict[type[msgspec.Struct], object] = {
    Trace: _RECORDED,
    Graph: _SHOWN.graph,
    Shown: _SHOWN,
    Engine: engine_view(_RECORDED, _PASS),
    Comparison: compare(_RECORDED, _RECORDED),
    Fixes: _TRIED,
    WhatIfs: what_ifs(_RECORDED),
    RuleText: next(rule for rule in texts() if rule.id == rule_of("MulBackward0")),
    Derivative: derivative_of("FmodBackward1"),
}
"""Of each record of the engine's that is answered; a new one needs no more than its row."""


def download(media_type: str, example: object) -> Documented:
    """An answer to be kept as a file."""
    return _content(media_type, "The file.", {"type": "object" if media_type == JSON else "string"}, example)


def stream(example: str) -> Documented:
    """Server-Sent Events; a schema of the whole text would be taken for that of each event."""
    return _content("text/event-stream", "The events, as they happen.", {}, example)


def _content(media_type: str, sentence: str, schema: Documented, example: object) -> Documented:
    return {"description": sentence, "content": {media_type: {"schema": schema, "example": example}}}


def _wire(sentence: str, answered: type[msgspec.Struct], media_type: str = JSON) -> Documented:
    example = msgspec.to_builtins(EXAMPLES[answered])
    return _content(media_type, sentence, _ref(answered.__name__), example)


def _ref(name: str) -> Documented:
    return {"$ref": f"#/components/schemas/{name}"}


def shown(example: Documented | list[Documented]) -> Documented:
    """An example beside the schema that FastAPI makes."""
    return {"content": {"application/json": {"example": example}}}


TRACE = _wire("The trace; `status` says whether the program reached its end.", Trace)
GRAPH = _wire("Boxes, links and groups to draw.", Graph)
LAYOUT = _content(
    JSON,
    "The places of everything, in SVG units, in the drawing code's own form: it goes with the page's version.",
    {"type": "object"},
    {"boxes": [{"id": "n1", "x": 0.0, "y": 0.0, "w": 140.0, "h": 53.0}], "width": 152.0, "height": 106.0},
)
TRACE_OR_SHOWN = {
    "description": "The trace; for who accepts it, and where the trace is not large, with the graph in one answer.",
    "content": TRACE["content"] | _wire("", Shown, SHOWN)["content"],
}
DERIVATIVE = _wire("The formulas.", Derivative)
ENGINE = _wire("The state before the first step told, and the steps.", Engine)
COMPARISON = _wire("What corresponds and what differs.", Comparison)
FIXES = _wire("The fixes tried so far.", Fixes)
WHAT_IFS = _wire("The changes, each by itself.", WhatIfs)
_RULES = {"type": "array", "items": _ref(RuleText.__name__)}
RULES = _content(JSON, "The rules.", _RULES, [msgspec.to_builtins(EXAMPLES[RuleText])])
PROBLEM = _content(
    MEDIA_TYPE,
    "The request was refused; `detail` names the value, the rule and the next step.",
    _ref("ProblemBody"),
    msgspec.json.decode(Problem("no-such-run", run="abc").body("en", "/api/v1/runs/abc")),
)
ACCEPTED = shown(Accepted(id=_RECORDED.id, location=_RUN, events=f"{_RUN}/events").model_dump())
PLACE = shown(
    QueuePlace(run=_RECORDED.id, state="waiting", ahead=3, expected_s=0.12, elapsed_s=0.0, line=0, ops=0).model_dump()
)
VALUES = shown(
    {"id": "t1", "shape": [3], "dtype": "float32", "offset": 0, "values": [1.0, "nan"], "next": 2},
)
LESSON: Documented = {
    "name": "diamond",
    "run": _RECORDED.id,
    "order": 50,
    "tags": ["basics"],
    "chapter": "gradients",
    "zh": {"title": "一个值用两次", "text": [[{"kind": "text", "text": "两条路的梯度相加。"}]]},
    "en": {
        "title": "One value used twice",
        "text": [[{"kind": "text", "text": "Both gradients add up."}]],
    },
    "code": _RECORDED.program.code,
}
HEALTH = shown(
    {
        "status": "ok",
        "gradgraph": "0.1.0+17b2775462f2",
        "torch": "2.13.0+cpu",
        "python": "3.11.7",
        "devices": ["cpu"],
        "isolation": {"profile": "full", "layers": ["rlimits", "mount", "net", "landlock", "seccomp"]},
        "workers": 2,
        "running": 0,
        "waiting": 0,
        "queue": 256,
        "stored_traces": 29,
        "stored_bytes": 195233,
        "store": "ok",
        "limits": msgspec.to_builtins(_RECORDED.limits),
        "pictures": True,
        "oldest_s": 0.0,
        "cluster": {
            "leader": "web-1-6f0c2a1b",
            "redelivered": 0,
            "workers": [{"name": "worker-1", "pool": "cpu", "slots": 2, "running": 0}],
        },
    }
)

_VIEW = {"step": 5, "lang": "en", "selection": {"kind": "box", "id": "n1"}, "panel": "ledger"}
SNAPSHOTS = Body(openapi_examples={"snapshot": {"summary": "A run", "value": {"run": _RECORDED.id, "view": _VIEW}}})
MADE = shown({"id": "k3Jx9Qm2WzbT", "url": "/s/k3Jx9Qm2WzbT", "token": "Zk1…"})
SNAPSHOT = _content(
    JSON,
    "The snapshot.",
    {
        "type": "object",
        "properties": {
            "format": {"const": SNAPSHOT_FORMAT},
            "trace": _ref("Trace"),
            "view": _ref("SnapshotView"),
            "tensors": {"type": "object", "description": "Values of larger tensors: .npy, gzip, base 64, by id."},
        },
        "required": ["format", "trace", "view"],
    },
    {"format": SNAPSHOT_FORMAT, "trace": msgspec.to_builtins(_RECORDED), "view": _VIEW},
)

_ROOM = {"run": _RECORDED.id, "lesson": "accumulate", "question": 0, "is_revealed": False}
ROOMS = Body(openapi_examples={"room": {"summary": "A run", "value": {"run": _RECORDED.id, "lesson": "accumulate"}}})
ROOM_MADE = shown({"code": "KDWMT", "url": "/r/KDWMT", "token": "Zk1…"})
ROOM = shown(_ROOM)
_SPREAD = msgspec.json.encode({**_ROOM, "learners": 3, "answers": [["3", 1], ["5", 1]]}).decode()
ROOM_EVENTS = stream(f"event: room\ndata: {_SPREAD}\n\n")

_OEMBED = OEmbed(
    title="y = 3 * x", provider_url="https://example.org/", cache_age=3600, width=600, height=460,
    html='<iframe src="https://example.org/embed/k3Jx9Qm2WzbT" …></iframe>',
    thumbnail_url="https://example.org/s/k3Jx9Qm2WzbT.png?width=600", thumbnail_width=600, thumbnail_height=410,
)  # fmt: skip
OEMBED: Documented = {
    "description": "Title, frame and picture, in the format that was asked for.",
    "content": {
        **_content(JSON, "", _ref("OEmbed"), _OEMBED.model_dump())["content"],
        **_content("text/xml", "", {"type": "string"}, "<oembed>…</oembed>")["content"],
    },
}

RUNS = Body(
    openapi_examples={
        "expression": {
            "summary": "An expression with inputs",
            "value": {"expression": "((x + 2)**2 * 3).mean()", "inputs": {"x": [[1, 1], [1, 1]]}},
        },
        "program": {"summary": "A program", "value": {"code": _RECORDED.program.code}},
        "check": {
            "summary": "An expression whose gradient is checked",
            "value": {"expression": "x.abs().sum()", "inputs": {"x": [0, 1]}, "check": "finite-difference"},
        },
        "limits": {
            "summary": "A program with lower limits",
            "value": {"code": "while True: pass", "limits": {"wall_s": 1}},
        },
    }
)
