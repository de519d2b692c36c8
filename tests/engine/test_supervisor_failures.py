"""However a run ends, the trace says why, in words of its own, where, and keeps what was recorded before."""

import signal
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest
from engine.assemble import assemble
from engine.limits import STOPPING_OUTPUT_BYTES
from engine.outcome import Outcome, StoppedBy
from engine.supervisor_failures import ended_by_signal, stacks
from engine.trace import Timings
from tests.conftest import TraceOf

pytestmark = pytest.mark.slow

BEFORE = "import ctypes, os, re, signal, torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\nprint('said')\n"
LINE = BEFORE.count("\n") + 1
STUCK = "re.match('(a+)+$', 'a' * 60 + 'b')"


class End(NamedTuple):
    """What a failure has to say."""

    status: str
    kind: str
    type: str
    line: int | None
    words: str
    limits: Mapping[str, float] = MappingProxyType({})


ENDS: dict[str, tuple[str, End]] = {
    "a tensor too large": (
        "torch.ones(10 ** 12)",
        End("failed", "memory", "RuntimeError", LINE, "allocate 4000000000000"),
    ),
    "an array too large": (
        "import numpy\nnumpy.ones(10 ** 12)",
        End("failed", "memory", "MemoryError", LINE + 1, "7.28 TiB"),
    ),
    "bytes too many": ("bytearray(10 ** 12)", End("failed", "memory", "MemoryError", LINE, "1,073,741,824 bytes")),
    "memory that grows": (
        "held = []\nwhile True: held.append(bytearray(1 << 24))",
        End("failed", "memory", "MemoryError", LINE + 1, "268,435,456 bytes", {"memory_bytes": 1 << 28}),
    ),
    "an endless loop": (
        "while True: pass",
        End("limited", "limit", "wall_s", LINE, f"0.6 s reached at line {LINE}", {"wall_s": 0.6}),
    ),
    "an endless native call": (
        STUCK,
        End("limited", "limit", "wall_s", LINE, f"0.6 s reached at line {LINE}", {"wall_s": 0.6}),
    ),
    "a loop after the last line": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()",
        End("limited", "limit", "wall_s", None, "outside the program's own lines", {"wall_s": 0.6}),
    ),
    "told by the supervisor before the process's own clock says so": (
        "signal.raise_signal(signal.SIGVTALRM), all(zero == 0 for zero in iter(int, 1))",  # without end, on one line
        End("limited", "limit", "wall_s", LINE, f"5 s reached at line {LINE}", {"wall_s": 5.0}),
    ),
    "processor time": (
        "while True: pass",
        End(
            "limited",
            "limit",
            "cpu_s",
            LINE,
            f"1 s of processor time reached at line {LINE}",
            {"cpu_s": 1.0, "wall_s": 30.0},
        ),
    ),
    "output": (
        "while True: print('x' * 1000)",
        End("limited", "limit", "output_bytes", LINE, "more than 1,048,576 bytes"),
    ),
    "one that stops itself": (
        "os.kill(os.getpid(), signal.SIGSTOP)",
        End("limited", "limit", "wall_s", None, "0.6", {"wall_s": 0.6}),
    ),
    "one that kills itself": ("os.kill(os.getpid(), 9)", End("crashed", "crash", "SIGKILL", None, "SIGKILL")),
    "an abort": ("os.abort()", End("crashed", "crash", "SIGABRT", LINE, "SIGABRT")),
    "a bad address": ("ctypes.string_at(1)", End("crashed", "crash", "SIGSEGV", LINE, "SIGSEGV")),
    "a bad jump": ("ctypes.CFUNCTYPE(None)(1)()", End("crashed", "crash", "SIGSEGV", LINE, "SIGSEGV")),
    "an exit": ("os._exit(3)", End("failed", "exit", "SystemExit", LINE, "exit code 3")),
    "an exit that looks well": ("os._exit(0)", End("failed", "exit", "SystemExit", LINE, "exit code 0")),
    "the network": (
        "import socket\nsocket.create_connection(('127.0.0.1', 80))",
        End("failed", "forbidden", "PermissionError", LINE + 1, "not permitted"),
    ),
    "a signal to another": ("os.kill(1, 9)", End("failed", "forbidden", "PermissionError", LINE, "not permitted")),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_run_that_ends_badly_keeps_what_came_before(trace: TraceOf, name: str) -> None:
    code, end = ENDS[name]
    found = trace(BEFORE + code + "\n", **end.limits)
    failure = found.failure
    assert failure is not None
    assert (found.status, failure.kind, failure.type) == (end.status, end.kind, end.type)
    if name != "one that stops itself":  # it may come to its next line before it is stopped
        assert (failure.span.line if failure.span else None) == end.line
    assert end.words in failure.message
    assert failure.explanation, "nothing explains it"
    assert [op.name for op in found.ops][:3] == ["ones", "mul", "sum"]
    assert len(found.passes) == 1
    assert found.output[0].text.startswith("said\n")


@pytest.mark.slow
def test_native_code_that_is_stuck_before_anything_was_said_is_stopped_at_its_line(trace: TraceOf) -> None:
    """The recorder's own thread may not have had its second turn by then: chance decides, so it is tried more than
    once."""
    for _ in range(4):
        failure = trace(f"import re\n{STUCK}\n", wall_s=0.3).failure
        assert failure is not None
        assert (failure.type, failure.span and failure.span.line) == ("wall_s", 2)
        assert "0.3 s reached at line 2" in failure.message


def test_a_process_killed_from_outside_keeps_all_but_the_last_moment(trace: TraceOf) -> None:
    found = trace(BEFORE + "import time\ntime.sleep(1)\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert found.failure is not None
    assert (found.status, found.failure.type) == ("crashed", "SIGKILL")
    assert [op.name for op in found.ops] == ["ones", "mul", "sum"]
    assert found.output[0].text == "said\n"


def test_an_alarm_of_the_programs_own_ends_it_as_ever(trace: TraceOf) -> None:
    found = trace("import signal, time\nsignal.alarm(1)\ntime.sleep(3)\n")
    assert found.failure is not None
    assert (found.status, found.failure.type) == ("crashed", "SIGALRM")


def test_what_the_operator_is_told_holds_nothing_of_the_program() -> None:
    told = stacks(
        'Thread 0x00007f (most recent call first):\n  File "/usr/lib/python3.11/threading.py", line 320 in wait\n'
        '  File "<program>", line 2 in secret\nTraceback: a secret\n  File "/a", line 1 in secret plan\n' + 'Thread 0x1\n' * 900
    )  # fmt: skip
    assert told[:3] == ["thread", "/usr/lib/python3.11/threading.py:320 wait", "thread"]
    assert len(told) == 60
    assert "secret" not in "".join(told)


def outcome(**facts: object) -> Outcome:
    given: dict[str, object] = {
        "exit_code": None, "signal": None, "stopped_by": None, "stderr_tail": "",
        "timings": Timings(total_ms=1.0), "isolation": None, "blobs": 0,
    }  # fmt: skip
    return Outcome(**(given | facts))  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [*range(1, 16), 31, 64])
def test_every_signal_is_named(number: int) -> None:
    failure = ended_by_signal(outcome(signal=number), "x\n")
    name = signal.Signals(number).name if number < 32 else "signal 64"
    assert failure.type == name.replace("SIGIOT", "SIGABRT")
    assert failure.kind == ("forbidden" if number == 31 else "crash")


def test_a_crash_whose_last_words_stuck_is_still_that_crash() -> None:
    tail = 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n  File "<program>", line 2 in <module>\n'
    failure = ended_by_signal(outcome(signal=14, stderr_tail=tail), "x\n  y\n")
    assert failure.type == "SIGSEGV"
    assert failure.span is not None
    assert (failure.span.line, failure.span.column) == (2, 2)


@pytest.mark.parametrize("line", ["0", "3", "99999999999999999999", "1" * 5000])
def test_a_forged_place_of_a_crash_is_no_place(line: str) -> None:
    tail = f'  File "<program>", line {line} in f\n'
    assert ended_by_signal(outcome(signal=11, stderr_tail=tail), "x\ny\n").span is None


@pytest.mark.parametrize("reason", ["wall", "cpu", "memory", "output", "trace", "files", "cancelled"])
def test_what_the_supervisor_stopped_names_limit_value_and_line(reason: StoppedBy) -> None:
    request = RunRequest(program=Program(code="x = 1\nwhile x:\n    x += 1\n"))
    trace = assemble("run", request, [b'["at",3,0]'], outcome(signal=9, stopped_by=reason))
    failure = trace.failure
    assert failure is not None
    assert trace.status == "limited"
    assert failure.span is not None
    assert failure.span.line == 3
    assert "at line 3" in failure.message
    if failure.limit and failure.limit != "files":
        value = STOPPING_OUTPUT_BYTES if reason == "output" else getattr(DEFAULT_LIMITS, failure.limit)
        assert f"{value:,}" in failure.message


def test_a_lost_worker_is_not_the_programs_fault() -> None:
    trace = assemble("run", RunRequest(program=Program(code="x = 1\n")), [], outcome())
    assert trace.failure is not None
    assert (trace.failure.kind, trace.failure.type) == ("lost", "worker")
    assert "run it again" in trace.failure.message
