"""What a child has done before its program comes: none of it is seen by the program or in the trace."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine import Program, RunRequest
from engine.assemble import assemble
from engine.outcome import Outcome
from engine.sandbox.pool import Pool
from engine.sandbox.supervision import Supervision
from engine.trace import Timings, Trace
from tests.golden import canonical

if sys.platform != "linux":
    pytest.skip("the sandbox is Linux's", allow_module_level=True)

pytestmark = pytest.mark.slow

GALLERY = Path(__file__).resolve().parents[3] / "gallery"
LESSONS = ("accumulation", "hooks", "mlp_training")

ODD = """import gc, logging, os, random, sys, warnings
import numpy, torch
from torch.utils.hooks import RemovableHandle

print(RemovableHandle.next_id, len(sys.argv), torch.is_grad_enabled(), os.environ.get("CUDA_VISIBLE_DEVICES"))
print(torch.rand(2), numpy.random.rand(), random.random())
print([name for name in globals() if not name.startswith("__")])
warnings.warn("once")
x = torch.ones(2, 2, requires_grad=True)
handle = x.register_hook(lambda g: g * 2)
print(handle.id, x._version, torch.autograd.graph.Node)
y = (x * x).sum()
y.backward()
print(x.grad, y.grad_fn.metadata, x.grad_fn)
torch.nn.Linear(2, 1)(x).sum().backward()
torch.optim.SGD([x], lr=0.1).step()
logging.getLogger("torch").warning("a lock that works")
print(x)
"""
"""Looks at what recording a small program beforehand could have left behind."""


Ask = Callable[[str, bool], Trace]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Traces a program in a fork that has practised, or in one that has not."""
    with asyncio.Runner() as runner:
        pool = Pool(1, spares=0)
        runner.run(pool.start())
        yield lambda code, prefault: runner.run(asyncio.wait_for(traced(pool, code, prefault), 60))
        runner.run(pool.close())


async def traced(pool: Pool, code: str, prefault: bool) -> Trace:
    request = RunRequest(program=Program(code=code, seed=3))
    child = await (await pool._live_client("cpu")).spawn(prefault=prefault)
    await child.closed
    heard = Supervision(request.limits, child.kill, None)
    await child.send(msgspec.json.encode(request), heard.on_events, heard.on_output)
    await child.exited
    ended = Outcome(
        exit_code=0, signal=None, stopped_by=None, stderr_tail="", timings=Timings(total_ms=1.0),
        isolation=None, blobs=0,
    )  # fmt: skip
    return assemble("run", request, heard.lines, ended)


def test_a_fork_that_has_practised_tells_the_same(ask: Ask) -> None:
    for code in (ODD, *((GALLERY / f"{name}.py").read_text() for name in LESSONS)):
        fresh, practised = ask(code, False), ask(code, True)
        assert fresh.status == "ok", fresh.failure
        assert canonical(practised) == canonical(fresh)


def test_nothing_told_beforehand_is_in_the_trace(ask: Ask) -> None:
    for prefault in (False, True):
        trace = ask("print(1)", prefault)
        assert [out.text for out in trace.output] == ["1\n"]
        assert not (trace.tensors or trace.ops or trace.nodes or trace.passes or trace.warnings)
