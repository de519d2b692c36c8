"""Programs that mean harm end in a clear failure, and the pool goes on as if nothing had been.

Each program runs twice: with the namespaces this machine allows, and without any, as in an ordinary container.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.limits import MIB
from engine.local import LocalEngine
from engine.sandbox.pool import Pool
from tests.soak import wait_for

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
LIMITS = msgspec.structs.replace(
    DEFAULT_LIMITS, wall_s=4.0, cpu_s=6.0, memory_bytes=256 * MIB, trace_bytes=8 * MIB, output_bytes=64 * 1024
)
IMPATIENT = msgspec.structs.replace(LIMITS, wall_s=0.7)
"""For what may go on until its time is over; the others have the time that a slow machine takes."""
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
    "asks_for_names": End("failed", "exception|forbidden", ("gaierror", "PermissionError"), 2),
    "asks_for_real_time": forbidden(2),
    "becomes_root": forbidden(2),
    "calls_system_in_c": End("failed", "exception", ("AssertionError",), 2),
    "calls_the_32_bit_gate": End("crashed", "forbidden", ("SIGSYS",)),
    "changes_its_root": forbidden(2),
    "changes_modes": forbidden(4),
    "changes_owners": forbidden(3),
    "changes_priorities": forbidden(2),
    "climbs_out": unreachable(1),
    "closes_every_descriptor": End("failed", "exit", ("SystemExit",)),
    "compiles_c": End(
        "failed", "forbidden|exception", ("PermissionError", "RuntimeError", "OSError", "FileNotFoundError")
    ),
    "connects": forbidden(3),
    "connects_over_ipv6": End("failed", "forbidden|exception", ("PermissionError", "gaierror", "OSError"), 2),
    "connects_over_tls": End("failed", "exception|forbidden", ("URLError", "PermissionError")),
    "counts_for_ever_in_c": too_long(),
    "deadlocks": too_long(4),
    "deletes_builtins": End("failed|crashed", "exception|exit|crash", ("NameError", "SystemExit", "SystemError")),
    "divides_by_zero_in_c": End("crashed", "crash", ("SIGFPE",)),
    "downloads": End("failed", "exception", ("URLError",), 3),
    "downloads_a_dataset": End("failed", "exception|forbidden", ("URLError", "PermissionError"), 2),
    "endless_loop": too_long(),
    "endless_loop_that_catches_everything": too_long(),
    "endless_native_call": too_long(),
    "executes": forbidden(3),
    "exits_at_once": End("failed", "exit", ("SystemExit",)),
    "exits_in_a_thread_with_ok": End("failed", "exit", ("SystemExit",)),
    "exits_with_a_code": End("failed", "exit", ("SystemExit",)),
    "fills_its_folder": End("failed", "exception", ("OSError",), 4),
    "fills_its_folder_with_big_files": End("failed|limited", "exception|limit", ("OSError", "files")),
    "fills_its_folder_with_files": End("failed|limited", "exception|limit", ("OSError", "files", "wall_s")),
    "finds_the_recorder_and_clears_it": End(
        "failed|crashed|limited",
        "exception|exit|crash|limit|lost",
        ("AttributeError", "SystemExit", "TypeError", "events", "wall_s"),
    ),
    "floods_descriptors": End("limited", "limit", ("output_bytes",)),
    "floods_every_descriptor": End("limited", "limit", ("output_bytes", "trace_bytes")),
    "floods_print": End("limited", "limit", ("output_bytes",)),
    "floods_stderr": End("limited", "limit", ("output_bytes",)),
    "floods_warnings": End("limited", "limit", ("output_bytes", "trace_bytes", "wall_s")),
    "forges_a_result": End("failed", "exception|exit", ("Forged", "SystemExit")),
    "fork_bomb": forbidden(4),
    "fork_by_multiprocessing": forbidden(4),
    "forks_in_c": End("failed", "exception", ("AssertionError",), 3),
    "goes_backward_for_ever": End("limited", "limit|memory", ("wall_s", "trace_bytes", "memory_bytes")),
    "ignores_all_signals": End("limited|failed", "limit|exception", ("wall_s", "cpu_s", "OSError", "ValueError")),
    "jumps_into_nothing": End("crashed", "crash", ("SIGSEGV",), 2),
    "kills_everyone": forbidden(4),
    "kills_its_parent": forbidden(4),
    "kills_itself": End("crashed", "crash", ("SIGKILL",)),
    "leaves_a_daemon": forbidden(4),
    "links_out": End("failed", "forbidden|exception", ("PermissionError", "FileNotFoundError")),
    "listens": forbidden(2),
    "lists_processes": End(
        "failed", "forbidden|exception", ("PermissionError", "FileNotFoundError", "AssertionError"), 2
    ),
    "makes_a_device": forbidden(3),
    "makes_a_pipe_file": forbidden(2),
    "makes_hard_links": End("failed", "forbidden|exception", ("PermissionError", "OSError"), 3),
    "makes_memory_files": forbidden(2),
    "makes_namespaces": forbidden(5),
    "matches_for_ever": too_long(),
    "memory_big_array": End("failed", "memory", ("_ArrayMemoryError", "MemoryError"), 2),
    "memory_big_power_of_a_string": End("failed", "memory", ("MemoryError",), 1),
    "memory_growing_dictionary": End("failed|limited", "memory", ("MemoryError", "memory_bytes")),
    "memory_growing_list": End("failed|limited", "memory", ("MemoryError", "memory_bytes")),
    "memory_growing_string": End("failed", "memory", ("MemoryError",)),
    "memory_growing_tensors": End("failed|limited", "memory", ("RuntimeError", "MemoryError", "memory_bytes")),
    "memory_many_threads": End("failed", "exception", ("RuntimeError",), 5),
    "memory_of_a_graph": End("failed|limited", "memory", ("RuntimeError", "MemoryError", "memory_bytes")),
    "memory_one_tensor": End("failed", "memory", ("RuntimeError",), 3),
    "memory_shared_map": End("failed|limited", "memory", ("MemoryError", "OSError", "memory_bytes")),
    "memory_unpacks_a_bomb": End("failed|limited", "memory|limit", ("MemoryError", "memory_bytes", "wall_s")),
    "mounts": End("failed", "exception", ("AssertionError",), 3),
    "nests_beyond_the_parser": End("failed", "syntax", ("SyntaxError",), 1),
    "never_finishes_at_exit": too_long(),
    "never_finishes_being_deleted": too_long(),
    "opens_a_pipe_to_a_shell": forbidden(2),
    "opens_a_process_descriptor": forbidden(2),
    "opens_a_terminal": End("failed", "forbidden|exception", ("PermissionError", "OSError", "FileNotFoundError"), 2),
    "opens_crypto_socket": forbidden(2),
    "opens_netlink": forbidden(2),
    "opens_packet_socket": forbidden(2),
    "opens_raw_socket": forbidden(2),
    "opens_terminals": End("failed", "forbidden|exception", ("PermissionError", "FileNotFoundError", "OSError"), 1),
    "opens_too_many_files": End("failed", "exception", ("OSError",), 3),
    "opens_unix_socket": forbidden(3),
    "opens_vsock": forbidden(2),
    "overflows_the_stack": End("limited|crashed", "memory|crash|limit", ("memory_bytes", "SIGSEGV", "wall_s")),
    "overwrites_none": End(
        "crashed|failed|limited",
        "crash|exit|exception|limit",
        ("SIGSEGV", "SIGABRT", "SystemExit", "wall_s", "SIGBUS", "SIGILL"),
    ),
    "raises_a_number_for_ever": End(
        "limited|failed", "limit|memory", ("wall_s", "memory_bytes", "MemoryError", "cpu_s")
    ),
    "raises_in_every_frame": End(
        "limited|failed", "limit|exception|memory", ("wall_s", "RecursionError", "memory_bytes")
    ),
    "raises_its_limits": End("failed", "exception", ("ValueError",), 3),
    "raises_itself_as_its_cause": End("failed", "exception", ("ValueError",), 3),
    "raises_what_cannot_be_printed": End("failed", "exception", ("Odd",), 5),
    "raises_with_a_huge_message": End("failed|limited", "exception|limit", ("ValueError", "trace_bytes", "wall_s")),
    "ranks_that_never_meet": too_long(),
    "ranks_that_open_a_store": End("failed", "exception", ("DistNetworkError",), 3),
    "reads_descriptors_of_another": unreachable(2),
    "reads_disks": unreachable(1),
    "reads_kernel_memory": unreachable(1),
    "reads_memory_of_its_parent": End("failed", "exception", ("AssertionError",), 4),
    "reads_passwords": unreachable(1),
    "reads_process_environments": unreachable(3),
    "reads_shadow": unreachable(1),
    "reads_ssh_keys": unreachable(2),
    "reads_system_settings": unreachable(1),
    "reads_the_environment_of_init": unreachable(1),
    "reads_the_repository": unreachable(3),
    "reads_through_the_root_of_another": unreachable(2),
    "records_for_ever": End("limited", "limit|memory", ("wall_s", "trace_bytes", "memory_bytes")),
    "replaces_a_library_file": End("failed", "forbidden|exception", ("OSError", "PermissionError"), 5),
    "replaces_itself": forbidden(3),
    "runs_subprocess": forbidden(2),
    "says_it_is_over": End("failed", "exit", ("SystemExit",)),
    "segfaults": End("crashed", "crash", ("SIGSEGV",), 4),
    "sends_datagram": forbidden(3),
    "sets_attributes": forbidden(3),
    "sets_the_clock": forbidden(2),
    "signals_its_group": End("failed", "forbidden|exception", ("PermissionError", "ProcessLookupError"), 3),
    "sleeps_for_ever": too_long(3),
    "spawns_posix": unreachable(2),
    "starts_a_shell": forbidden(3),
    "stops_itself": too_long(),
    "traces_its_parent": forbidden(7),
    "uses_a_process_pool": forbidden(2),
    "uses_old_system_v_memory": End("failed", "exception", ("AssertionError",), 3),
    "waits_for_input_that_never_comes": too_long(2),
    "writes_a_core_pattern": unreachable(1),
    "writes_compiled_modules": End("failed", "forbidden|exception", ("PermissionError", "OSError"), 3),
    "writes_into_shared_memory": unreachable(1),
    "writes_outside_its_folder": unreachable(1),
    "writes_to_the_library": forbidden(3),
}
"""Programs that have to fail."""

HARMLESS = (
    "serves_with_asyncio",
    "has_a_meta_that_lies",
    "has_objects_that_lie",
    "has_odd_names",
    "loads_a_pickle_bomb",
    "looks_for_inherited_descriptors",
    "makes_deep_folders",
    "makes_every_forbidden_call",
    "patches_the_recorder",
    "prints_control_characters",
    "reads_own_environment",
    "ranks_without_end",
    "replaces_every_builtin",
    "sends_events_of_its_own",
    "spawns_by_torch",
    "starts_a_process_group",
    "starts_many_threads",
    "thread_that_never_ends",
)
"""Programs that may end well, because what they try reaches nothing."""


@pytest.fixture(scope="module", params=[True, False], ids=["namespaces", "container"])
def pool(request: pytest.FixtureRequest) -> Iterator[LocalEngine]:
    engine = LocalEngine(Pool(2, spares=1, namespaces=request.param))
    yield engine
    engine.close()


def run(pool: LocalEngine, name: str) -> Trace:
    code = (PROGRAMS / f"{name}.py").read_text()
    needs_more = name.startswith(("memory", "fills", "makes", "overflows"))
    is_stopped = name in HARMLESS or "wall_s" in ENDS[name].types
    limits = IMPATIENT if is_stopped and not needs_more else LIMITS
    return pool.run(RunRequest(program=Program(code=code), limits=limits))


def test_every_program_has_its_end() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == {*ENDS, *HARMLESS}


@pytest.mark.parametrize("name", ENDS)
def test_ends_in_a_clear_failure(pool: LocalEngine, name: str) -> None:
    trace, end = run(pool, name), ENDS[name]
    assert trace.failure is not None
    assert trace.status in end.status.split("|"), trace.failure
    assert trace.failure.kind in end.kind.split("|"), trace.failure
    assert trace.failure.type in end.types, trace.failure
    assert end.line is None or (trace.failure.span is not None and trace.failure.span.line == end.line), trace.failure
    assert_goes_on(pool)


@pytest.mark.parametrize("name", HARMLESS)
def test_reaches_nothing(pool: LocalEngine, name: str) -> None:
    trace = run(pool, name)
    assert trace.status in ("ok", "limited"), trace.failure
    assert_goes_on(pool)


def assert_goes_on(pool: LocalEngine) -> None:
    trace = pool.run(RunRequest(program=Program(code=WORKS)))
    assert trace.status == "ok", trace.failure
    assert "".join(output.text for output in trace.output) == "tensor([3., 3.])\n"


def test_output_so_far_is_kept(pool: LocalEngine) -> None:
    trace = run(pool, "floods_print")
    assert sum(len(output.text) for output in trace.output) == LIMITS.output_bytes


def test_nothing_was_written_outside() -> None:
    assert not Path("/var/tmp/gradgraph-was-here").exists()


def test_runs_find_an_empty_folder_of_their_own(pool: LocalEngine) -> None:
    code = "import os\nprint(os.listdir('.'))\nopen('left', 'w').write('x')\nos.makedirs('a/b')\n"
    for _ in range(8):
        trace = pool.run(RunRequest(program=Program(code=code)))
        assert trace.output[0].text == "[]\n"


def test_no_process_descriptor_or_file_stays() -> None:
    """In a process of its own, where no other pool opens or closes anything."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
        alone.submit(_leave_nothing).result()


def _leave_nothing() -> None:
    before = descriptors()
    engine = LocalEngine(Pool(2, spares=2, namespaces=False))
    zygote, staging = leftovers(engine)
    for name in ("makes_deep_folders", "exits_at_once", "floods_descriptors", "stops_itself"):
        run(engine, name)
    wait_for(lambda: len(processes_below(zygote)) <= 3)  # spares, and one that cleans up
    engine.close()
    wait_for(lambda: not Path(f"/proc/{zygote}").exists())
    wait_for(lambda: not staging.exists())
    wait_for(lambda: descriptors() == before)


def leftovers(engine: LocalEngine) -> tuple[int, Path]:
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
    return {path.name for path in Path("/proc/self/fd").iterdir()}
