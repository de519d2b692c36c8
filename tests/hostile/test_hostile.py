"""Programs that mean harm end in a clear failure, and the pool goes on as if nothing had been.

Each program runs twice: with the namespaces this machine allows, and without any, as in an ordinary container.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.limits import MIB
from engine.local import Engine
from engine.sandbox.pool import Pool

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
LIMITS = msgspec.structs.replace(
    DEFAULT_LIMITS, wall_s=4.0, cpu_s=6.0, memory_bytes=256 * MIB, trace_bytes=8 * MIB, output_bytes=64 * 1024
)
IMPATIENT = msgspec.structs.replace(LIMITS, wall_s=0.7)
WORKS = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 3).sum().backward()\nprint(x.grad)\n"


@dataclass(frozen=True)
class End:
    """How a program has to end: status, kind of failure, type of failure (any of these)."""

    status: str
    kind: str
    types: tuple[str, ...]
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.status} {self.kind} {'/'.join(self.types)}"


def forbidden(line: int) -> End:
    return End("failed", "forbidden", ("PermissionError",), line)


def unreachable(line: int) -> End:
    """A file outside the library: not there where a run has its own file tree, not to be opened where it has not."""
    return End("failed", "forbidden|exception", ("PermissionError", "FileNotFoundError"), line)


def too_long(line: int | None = None) -> End:
    return End("limited", "limit", ("wall_s",), line)


ENDS = {
    "aborts": End("crashed", "crash", ("SIGABRT",), 3),
    "calls_the_32_bit_gate": End("crashed", "forbidden", ("SIGSYS",)),
    "changes_modes": forbidden(4),
    "closes_every_descriptor": End("failed", "exit", ("SystemExit",)),
    "connects": forbidden(3),
    "downloads": End("failed", "exception", ("URLError",), 3),
    "endless_loop": too_long(),
    "endless_loop_that_catches_everything": too_long(),
    "endless_native_call": too_long(),
    "executes": forbidden(3),
    "exits_at_once": End("failed", "exit", ("SystemExit",)),
    "exits_with_a_code": End("failed", "exit", ("SystemExit",)),
    "fills_its_folder": End("failed", "exception", ("OSError",), 4),
    "fills_its_folder_with_big_files": End("failed|limited", "exception|limit", ("OSError", "files")),
    "fills_its_folder_with_files": End("failed|limited", "exception|limit", ("OSError", "files", "wall_s")),
    "floods_descriptors": End("limited", "limit", ("output_bytes",)),
    "floods_every_descriptor": End("limited", "limit", ("output_bytes", "trace_bytes")),
    "floods_print": End("limited", "limit", ("output_bytes",)),
    "fork_bomb": forbidden(4),
    "fork_by_multiprocessing": forbidden(4),
    "forges_a_result": End("failed", "exception", ("Forged",)),
    "kills_everyone": forbidden(4),
    "kills_its_parent": forbidden(4),
    "leaves_a_daemon": forbidden(4),
    "makes_namespaces": forbidden(5),
    "memory_growing_list": End("failed|limited", "memory", ("MemoryError", "memory_bytes")),
    "memory_growing_tensors": End("failed|limited", "memory", ("RuntimeError", "MemoryError", "memory_bytes")),
    "memory_many_threads": End("failed", "exception", ("RuntimeError",), 5),
    "memory_one_tensor": End("failed", "memory", ("RuntimeError",), 3),
    "memory_shared_map": End("failed|limited", "memory", ("MemoryError", "OSError", "memory_bytes")),
    "nests_beyond_the_parser": End("failed", "syntax", ("SyntaxError",), 1),
    "opens_too_many_files": End("failed", "exception", ("OSError",), 3),
    "opens_unix_socket": forbidden(3),
    "overflows_the_stack": End("limited|crashed", "memory|crash|limit", ("memory_bytes", "SIGSEGV", "wall_s")),
    "raises_its_limits": End("failed", "exception", ("ValueError",), 3),
    "reads_passwords": unreachable(1),
    "reads_process_environments": unreachable(3),
    "reads_the_repository": unreachable(3),
    "replaces_a_library_file": End("failed", "forbidden|exception", ("OSError", "PermissionError"), 5),
    "segfaults": End("crashed", "crash", ("SIGSEGV",), 4),
    "sends_datagram": forbidden(3),
    "sleeps_for_ever": too_long(3),
    "starts_a_shell": forbidden(3),
    "stops_itself": too_long(),
    "traces_its_parent": forbidden(7),
    "writes_outside_its_folder": unreachable(1),
    "writes_to_the_library": forbidden(3),
}
"""Programs that have to fail."""

HARMLESS = (
    "loads_a_pickle_bomb",
    "looks_for_inherited_descriptors",
    "makes_deep_folders",
    "makes_every_forbidden_call",
    "reads_own_environment",
    "thread_that_never_ends",
)
"""Programs that may end well, because what they try reaches nothing."""


@pytest.fixture(scope="module", params=[True, False], ids=["namespaces", "container"])
def pool(request: pytest.FixtureRequest) -> Iterator[Engine]:
    engine = Engine(Pool(2, spares=1, namespaces=request.param))
    yield engine
    engine.close()


def run(pool: Engine, name: str) -> Trace:
    code = (PROGRAMS / f"{name}.py").read_text()
    patient = name.startswith(("memory", "fills", "makes", "overflows"))
    return pool.run(RunRequest(program=Program(code=code), limits=LIMITS if patient else IMPATIENT))


def test_every_program_has_its_end() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == {*ENDS, *HARMLESS}


@pytest.mark.parametrize("name", ENDS)
def test_ends_in_a_clear_failure(pool: Engine, name: str) -> None:
    trace, end = run(pool, name), ENDS[name]
    assert trace.failure is not None
    assert trace.status in end.status.split("|"), trace.failure
    assert trace.failure.kind in end.kind.split("|"), trace.failure
    assert trace.failure.type in end.types, trace.failure
    assert end.line is None or (trace.failure.span is not None and trace.failure.span.line == end.line), trace.failure
    assert_goes_on(pool)


@pytest.mark.parametrize("name", HARMLESS)
def test_reaches_nothing(pool: Engine, name: str) -> None:
    trace = run(pool, name)
    assert trace.status in ("ok", "limited"), trace.failure
    assert_goes_on(pool)


def assert_goes_on(pool: Engine) -> None:
    trace = pool.run(RunRequest(program=Program(code=WORKS)))
    assert trace.status == "ok", trace.failure
    assert "".join(output.text for output in trace.output) == "tensor([3., 3.])\n"


def test_output_so_far_is_kept(pool: Engine) -> None:
    trace = run(pool, "floods_print")
    assert sum(len(output.text) for output in trace.output) == LIMITS.output_bytes


def test_nothing_was_written_outside() -> None:
    assert not Path("/var/tmp/gradgraph-was-here").exists()


def test_runs_find_an_empty_folder_of_their_own(pool: Engine) -> None:
    code = "import os\nprint(os.listdir('.'))\nopen('left', 'w').write('x')\nos.makedirs('a/b')\n"
    for _ in range(8):
        trace = pool.run(RunRequest(program=Program(code=code)))
        assert trace.output[0].text == "[]\n"


def test_no_process_descriptor_or_file_stays() -> None:
    before = descriptors()
    engine = Engine(Pool(2, spares=2, namespaces=False))
    zygote, staging = leftovers(engine)
    for name in ("makes_deep_folders", "exits_at_once", "floods_descriptors", "stops_itself"):
        run(engine, name)
    assert len(processes_below(zygote)) <= 3  # spares, and one that cleans up
    engine.close()
    assert not processes_below(zygote)
    assert not Path(f"/proc/{zygote}").exists()
    assert not staging.exists()
    assert descriptors() == before


def leftovers(engine: Engine) -> tuple[int, Path]:
    """The pid of the engine's zygote and the folder its runs write in."""
    mine = processes_below(os.getpid())
    arguments = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in mine}
    code = "import os\nprint(os.getppid(), os.path.dirname(os.getcwd()))\n"
    said = engine.run(RunRequest(program=Program(code=code))).output[0].text.split()
    assert int(said[0]) in arguments
    return int(said[0]), Path(said[1])


def processes_below(pid: int) -> set[int]:
    """Children of a process and of its threads."""
    children: set[int] = set()
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        children |= {int(child) for child in file.read_text().split()}
    return children


def descriptors() -> set[str]:
    time.sleep(0.05)
    return {path.name for path in Path("/proc/self/fd").iterdir()}
