"""Every program of the corpus and the gallery, through the engine and in plain PyTorch: no difference may be found."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import engine
from engine.trace import Trace
from tests.oracle.compare import differences
from tests.oracle.facts import Facts, Question

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = sorted([*(ROOT / "tests" / "programs").glob("*.py"), *(ROOT / "gallery").glob("*.py")])
DIGEST = """
def _digest():
    import hashlib, itertools, torch
    for name, value in list(globals().items()):
        held = {"": value} if isinstance(value, torch.Tensor) else {}
        if isinstance(value, torch.nn.Module):
            held = dict(itertools.chain(value.named_parameters(), value.named_buffers()))
        for path, tensor in held.items():
            for part in (tensor, tensor.grad if tensor.is_leaf else None):
                if part is not None and part.layout == torch.strided:
                    raw = part.detach().resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8)
                    print(name, path, hashlib.sha256(raw.numpy().tobytes()).hexdigest()[:16])
_digest()
"""
"""Printed at the end of a program: every bit of every global tensor, parameter and gradient."""


QUICK = frozenset(
    """
    accumulation attention checkpoint_memory double_backward mlp_training sgd_and_adam small_cnn views_in_place
    accumulate_three backward_spelled_four_ways broadcast_gradients complex_numbers custom_optimizer data_times_hundred
    detach_catches error_in_module error_saved_in_place error_second_time exception_chain exit_with_code
    function_in_place function_two_outputs func_grad_and_vmap grad_none_and_unused hook_raises in_place_on_views index_put
    is_grads_batched module_hooks_change_things nan_gradient no_grad_region node_hooks numpy_copies_and_shares
    packed_sequences print_inside_backward random_streams saved_tensor_hooks stdout_redirected tensor_subclass threads
    traceback_whole truncated_backprop warnings_caught
""".split()
)
"""Programs of every kind; the others take minutes and are not part of `./run test --quick`."""
EVERY = [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem) for path in PROGRAMS]


class Plain:
    """The process that runs programs in plain PyTorch."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.oracle.plain"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, question: Question) -> Facts:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(msgspec.json.encode(question) + b"\n")
        self.process.stdin.flush()
        return msgspec.json.decode(self.process.stdout.readline(), type=Facts)

    def close(self) -> None:
        """End the process and its pipes."""
        self.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def plain() -> Iterator[Plain]:
    process = Plain()
    yield process
    process.close()


def _read(path: Path) -> str:
    return path.read_bytes().decode()  # with the line ends it has


def test_the_quick_ones_exist() -> None:
    assert {path.stem for path in PROGRAMS} >= QUICK


@pytest.mark.parametrize("path", EVERY)
def test_trace_says_what_pytorch_does_to_the_bit(path: Path, plain: Plain) -> None:
    code = _read(path) + DIGEST
    trace = engine.run(code)
    facts = plain.run(Question(code=code, threads=trace.environment.threads))
    hooked = plain.run(Question(code=code, threads=trace.environment.threads, hooks=True))
    assert list(differences(trace, facts, hooked)) == []


@pytest.mark.parametrize("path", EVERY[::8])
def test_same_program_gives_the_same_trace(path: Path) -> None:
    first, second = (_timeless(engine.run(_read(path))) for _ in range(2))
    assert first == second


def _timeless(trace: Trace) -> Trace:
    """The trace with its clock readings set to nothing."""
    replace = msgspec.structs.replace
    passes = tuple(
        replace(made, visits=tuple(replace(visit, time_us=0.0) for visit in made.visits)) for made in trace.passes
    )
    return replace(
        trace,
        timings=engine.trace.Timings(total_ms=0.0),
        passes=passes,
        ops=tuple(replace(op, time_us=0.0) for op in trace.ops),
    )


def test_the_comparison_can_fail(plain: Plain) -> None:
    trace = engine.run("import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n")
    other = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x + x).backward()\nprint(1)\n"
    facts = plain.run(Question(code=other))
    found = list(differences(trace, facts, plain.run(Question(code=other, hooks=True))))
    for start in ("stdout", "variable x: grad", "pass 0: root", "pass 0: order"):
        assert any(item.startswith(start) for item in found), start
