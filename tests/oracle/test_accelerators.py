"""Programs of every kind on each accelerator that this machine has: what plain PyTorch does there, to the bit.

Skipped where there is none. With one: `python -m pytest tests/oracle/test_accelerators.py` in a Python that has PyTorch for it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import torch

import engine
from engine.devices import ACCELERATORS
from engine.replay import Replay
from engine.trace import Program, Trace
from tests.oracle.compare import differences
from tests.oracle.facts import Facts, Question
from tests.oracle.test_oracle import DIGEST, PROGRAMS, QUICK, Plain, _read

IMPORT = "import torch\n"
ON_A_THREAD = "Attempting to run cuBLAS, but there was no current CUDA context"
"""What plain PyTorch warns of where its engine has a thread for the device: recorded passes have none."""


def _here() -> Iterator[str]:
    """Asked without starting one: processes that are forked later would find it broken."""
    for kind in ACCELERATORS:
        os.environ |= kind.environment
        if torch.get_device_module(kind.name).is_available():
            yield kind.spelled(0)


DEVICES = tuple(_here())
MOVABLE = [path for path in PROGRAMS if path.stem in QUICK and IMPORT in _read(path)]
if not DEVICES:
    pytest.skip("no accelerator on this machine", allow_module_level=True)


def _moved(program: str, device: str) -> str:
    """The program with all that it makes on the device, and the digest of it."""
    first = f"import torch; torch.set_default_device('{device}')\n"
    return program.replace(IMPORT, first, 1) + DIGEST.replace("raw.numpy()", "raw.cpu().numpy()")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", MOVABLE, ids=lambda path: path.stem)
def test_trace_says_what_pytorch_does_there(path: Path, device: str, plain: Plain) -> None:
    code = _moved(_read(path), device)
    trace = engine.run(Program(code=code, device=device))
    facts, hooked = (
        plain.run(Question(code=code, threads=trace.environment.threads, hooks=hooks)) for hooks in (False, True)
    )
    assert trace.environment.device == device
    assert list(differences(trace, _without_threads(facts), hooked)) == []
    _check_order(trace)


def _without_threads(facts: Facts) -> Facts:
    return msgspec.structs.replace(
        facts, warnings=tuple(warned for warned in facts.warnings if not warned.message.startswith(ON_A_THREAD))
    )


def _check_order(trace: Trace) -> None:
    nodes = {node.id: node for node in trace.nodes}
    for made in trace.passes:
        replay = Replay(nodes, made)
        while replay.advance(told=False) is not None:
            pass
        assert (replay.agrees, replay.reason, replay.visits) == (True, "", len(made.visits)), made.id
