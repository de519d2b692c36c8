"""Every program of the corpus and the gallery, run once: what plain PyTorch does, how its engine took the nodes, the numbers
that the page shows of it, and that neither another run nor a check changes anything."""

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pytest

import engine
from engine.replay import Replay
from engine.request import CheckKind
from engine.trace import Trace
from tests.golden import TIME
from tests.oracle import page as shown
from tests.oracle.compare import differences
from tests.oracle.facts import Facts, Question

ROOT = Path(__file__).parent.parent.parent
ELSEWHERE = re.compile(r"torch\.multiprocessing|^# devices:", re.MULTILINE)
"""Programs that start processes: tests/engine/worker/distributed holds them against a real group; those for devices that
plain PyTorch has not: tests/engine/worker/devices holds them against the same on the CPU."""
PROGRAMS = sorted(
    path
    for path in (*(ROOT / "tests" / "programs").glob("*.py"), *(ROOT / "gallery").glob("*.py"))
    if not ELSEWHERE.search(path.read_text("utf-8"))
)
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
    packed_sequences print_inside_backward random_streams same_names_arguments same_names_attributes same_names_modules
    same_names_recursion same_names_two_optimizers saved_tensor_hooks stdout_redirected tensor_subclass threads
    traceback_whole truncated_backprop warnings_caught
""".split()
)
"""Programs of every kind; the others take minutes and are not part of `./run test --quick`."""
EVERY = [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem) for path in PROGRAMS]


class Plain:
    """The process that runs programs in plain PyTorch."""

    def __init__(self) -> None:
        self.process = self._started()

    @staticmethod
    def _started() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.oracle.plain"]
        one = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # else a first product takes every core
        return subprocess.Popen(command, cwd=ROOT, env=os.environ | one, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, question: Question) -> Facts:
        if self.process.poll() is not None:
            self.close()
            self.process = self._started()
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(msgspec.json.encode(question) + b"\n")
        self.process.stdin.flush()
        answered = b""
        try:
            answered = self.process.stdout.readline()
        finally:
            if not answered:  # its answer would be taken for that to the next question
                self.process.kill()
        return msgspec.json.decode(answered, type=Facts)

    def close(self) -> None:
        """End the process and its pipes."""
        self.process.communicate(timeout=20)


def _read(path: Path) -> str:
    return path.read_bytes().decode()  # with the line ends it has


def test_the_quick_ones_exist() -> None:
    assert {path.stem for path in PROGRAMS} >= QUICK


class Ran(NamedTuple):
    """One program, its trace, and what plain PyTorch with hooks says of some of its moments."""

    name: str
    program: str
    code: str
    """The program and the digest after it, which both ran."""
    trace: Trace
    moments: list[shown.Asked]
    hooked: Facts
    chance: Random


@pytest.fixture(scope="module", params=EVERY)
def ran(request: pytest.FixtureRequest, plain: Plain) -> Ran:
    """One after the other: all tests of a program come before the next program."""
    path: Path = request.param
    program = _read(path)
    trace = engine.run(program + DIGEST)
    chance = Random(path.stem)
    moments = shown.asked(trace, program, chance)
    question = Question(
        code=program + DIGEST,
        threads=trace.environment.threads,
        hooks=True,
        moments=tuple(end for end, _ in moments),
    )
    return Ran(path.stem, program, program + DIGEST, trace, moments, plain.run(question), chance)


FROM_BELOW = "stdout_from_below"
"""What is written past Python's stream is noticed some milliseconds later, perhaps after a line printed meanwhile."""


def test_trace_says_what_pytorch_does_to_the_bit(ran: Ran, plain: Plain) -> None:
    facts = plain.run(Question(code=ran.code, threads=ran.trace.environment.threads))
    said = "".join(each.text for each in ran.trace.output if each.stream == "stdout")
    is_other_order = ran.name == FROM_BELOW and sorted(said.split()) == sorted(facts.stdout.split())
    if is_other_order or TIME.sub("", said) == TIME.sub("", facts.stdout):
        facts = msgspec.structs.replace(facts, stdout=said)
    assert list(differences(ran.trace, facts, ran.hooked)) == []


def test_the_page_shows_the_numbers_pytorch_has(ran: Ran, page: shown.Page) -> None:
    found = shown.differences(ran.trace, ran.program, ran.moments, ran.hooked, page, ran.chance)
    assert list(found) == []


def test_pytorch_took_the_nodes_the_model_takes(ran: Ran) -> None:
    nodes = {node.id: node for node in ran.trace.nodes}
    for made in ran.trace.passes:
        replay = Replay(nodes, made)
        while replay.advance(told=False) is not None:
            pass
        assert (replay.agrees, replay.reason, replay.visits) == (True, "", len(made.visits)), made.id
        if not made.failed:
            left = replay.state()
            assert (left.queue, left.arrived) == ((), ()), made.id


UNLIKE_ITSELF = {
    "error_recursion": "the depth at which the stack ends counts frames of ours",
    "grad_fn_printed": "prints addresses",
    "threads": "prints the numbers of threads",
    FROM_BELOW: "what is written past Python's stream is noticed some milliseconds later",
    "more_losses": "shows memory nobody wrote",
    "typed_constructors": "shows memory nobody wrote",
    "model_lstm": "shows memory nobody wrote",
}


@pytest.mark.slow
def test_another_run_gives_the_same_trace_checked_or_not(ran: Ran) -> None:
    """A surface is played from the same tape as differences and Jacobians, for seconds: only the programs of every kind
    ask for it."""
    if ran.name in UNLIKE_ITSELF:
        pytest.skip(UNLIKE_ITSELF[ran.name])
    surface: tuple[CheckKind, ...] = ("surface",) if ran.name in QUICK else ()
    checked = engine.run(ran.code, checks=("finite-difference", "jacobian", "calls", *surface))
    assert _lasting(checked) == _lasting(ran.trace)


def _lasting(trace: Trace) -> object:
    """The trace without its checks and the readings of clocks."""
    body = msgspec.to_builtins(trace)
    for name in ("id", "timings", "checks", "jacobians", "surface", "python_calls"):
        body.pop(name, None)
    for part in (*body["ops"], *(visit for made in body["passes"] for visit in made["visits"])):
        part.pop("time_us", None)
    for said in body["output"]:
        said["text"] = TIME.sub("", said["text"])
    return body


def test_the_comparison_can_fail(plain: Plain) -> None:
    trace = engine.run("import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n")
    other = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x + x).backward()\nprint(1)\n"
    facts = plain.run(Question(code=other))
    found = list(differences(trace, facts, plain.run(Question(code=other, hooks=True))))
    for start in ("stdout", "variable x: grad", "pass 0: root", "pass 0: order"):
        assert any(item.startswith(start) for item in found), start
