"""The engine behind a build: one for each process that reads pages, started at the first program that has to run."""

import functools
import os

from engine.local import LocalEngine
from engine.request import RunRequest
from engine.sandbox.pool import Pool
from engine.sandbox.processes import SandboxBroken, ZygoteLost
from engine.trace import Program, Trace


class CannotRun(Exception):
    """There is no sandbox, or the engine was lost."""


_OWN = "programs of your own can do without a sandbox: gradgraph_sandboxed = False in conf.py"

_engines: dict[tuple[int, bool], LocalEngine] = {}
"""By process, for one that Sphinx forks cannot use its parent's, and by whether programs are sandboxed."""


@functools.lru_cache(maxsize=8)
def run(code: str, sandboxed: bool) -> Trace:
    """The trace of a program; remembered, for a page often shows the same one at several steps. Raises CannotRun."""
    key = (os.getpid(), sandboxed)
    try:
        if key not in _engines:
            _engines[key] = LocalEngine(Pool(capacity=1, spares=1 if sandboxed else 0, sandboxed=sandboxed))
        return _engines[key].run(RunRequest(program=Program(code=code)))
    except SandboxBroken as broken:
        raise CannotRun(f"{broken}; {_OWN}") from broken
    except ZygoteLost as lost:
        raise CannotRun(str(lost)) from lost


def close(*_of_sphinx: object) -> None:
    """End this process's engines: all pages are read."""
    for key in [key for key in _engines if key[0] == os.getpid()]:
        _engines.pop(key).close()
