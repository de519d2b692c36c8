"""The names others build on: taking one away is a change that the changelog must tell."""

import inspect

import engine
import engine.graph
import engine.replay
from engine import trace
from server.problems import TABLE


def test_the_names_of_the_engine_stay() -> None:
    assert set(engine.__all__) == {"DEFAULT_LIMITS", "Program", "RunLimits", "RunRequest", "Trace", "run"}
    given: dict[str, object] = {}
    exec("from engine import *", given)
    assert given.keys() - {"__builtins__"} == set(engine.__all__)
    assert list(inspect.signature(engine.run).parameters) == ["program", "limits", "checks", "sandboxed"]
    fields = {name: getattr(engine, name).__struct_fields__ for name in ("Program", "RunRequest")}
    assert set(fields["Program"]) >= {"code", "seed", "device"}
    assert set(fields["RunRequest"]) == {"program", "limits", "checks"}


def test_the_formats_keep_their_names() -> None:
    formats = (trace.FORMAT, engine.graph.FORMAT, engine.replay.FORMAT)
    assert formats == ("gradgraph.trace/1", "gradgraph.graph/1", "gradgraph.engine/1")


def test_the_keys_of_problems_stay() -> None:
    assert {"bad-request", "no-such-run", "queue-full", "replaced", "too-large", "too-many-runs"} <= set(TABLE)
