"""What is checked runs as it does unchecked: the same trace but for the checks."""

from pathlib import Path

import msgspec
import pytest

from engine import run
from engine.trace import Trace
from tests.oracle.test_oracle import PROGRAMS

OWN_TIMES = ("id", "timings", "checks", "jacobians", "surface", "python_calls")
UNLIKE_ITSELF = {
    "error_recursion": "the depth at which the stack ends counts frames of ours",
    "grad_fn_printed": "prints addresses",
    "threads": "prints the numbers of threads",
    "more_losses": "shows memory nobody wrote",
    "typed_constructors": "shows memory nobody wrote",
    "model_lstm": "shows memory nobody wrote",
}


def _said(trace: Trace) -> object:
    body = msgspec.to_builtins(trace)
    for name in OWN_TIMES:
        body.pop(name, None)
    for part in (*body["ops"], *(visit for one in body["passes"] for visit in one["visits"])):
        part.pop("time_us", None)
    return body


def _compare(path: Path) -> None:
    code = path.read_text("utf-8-sig")
    plain = _said(run(code))
    assert _said(run(code, checks=("finite-difference", "jacobian", "surface"))) == plain
    assert _said(run(code, checks=("calls",))) == plain


SAMPLE = ("destructor_order", "dispatch_mode_of_the_user", "identity_and_refcounts", "in_place_on_views", "tensor_hooks",
    "model_checkpoint", "random_streams", "warns_and_stderr", "parameter_list", "gradient_in_thread", "error_deep_in_training")  # fmt: skip


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample(name: str) -> None:
    _compare(next(path for path in PROGRAMS if path.stem == name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in PROGRAMS if path.stem not in UNLIKE_ITSELF], ids=lambda path: path.stem
)
def test_every_program(path: Path) -> None:
    _compare(path)
