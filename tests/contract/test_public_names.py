"""The names others build on: taking one away is a change that the changelog must tell."""

import engine
import engine.graph
from engine import trace
from server.problems import TABLE


def test_the_names_of_the_engine_stay() -> None:
    assert set(engine.__all__) == {"DEFAULT_LIMITS", "Program", "RunLimits", "RunRequest", "Trace", "run"}
    assert all(hasattr(engine, name) for name in engine.__all__)


def test_the_formats_keep_their_names() -> None:
    assert (trace.FORMAT, engine.graph.FORMAT) == ("gradgraph.trace/1", "gradgraph.graph/1")


def test_the_keys_of_problems_stay() -> None:
    assert {"bad-request", "no-such-run", "queue-full", "replaced", "too-large", "too-many-runs"} <= set(TABLE)
