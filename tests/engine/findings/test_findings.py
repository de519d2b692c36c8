"""Each diagnosis is made of programs that have the fault, names the right line, and is not made of near misses."""

import cProfile
import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from engine.findings import explanation, find, scales
from engine.findings.diagnosis import Diagnosis
from engine.local import LocalEngine
from engine.request import RunRequest
from engine.trace import Failure, Finding, Program, Span, Trace
from tests.engine.findings.programs import HEAD, NEAR_MISSES, TRIGGERS


def run(engine: LocalEngine, code: str) -> Trace:
    return engine.run(RunRequest(program=Program(code=HEAD + code)))


def findings(engine: LocalEngine, code: str) -> dict[str, Finding]:
    return {finding.code: finding for finding in find(run(engine, code))}


CASES = [(code, program) for code, programs in TRIGGERS.items() for program in programs]


@pytest.mark.parametrize(("code", "program"), CASES, ids=[f"{code}-{at}" for at, (code, _) in enumerate(CASES)])
def test_the_fault_is_found(engine: LocalEngine, code: str, program: str) -> None:
    found = findings(engine, program)
    assert code in found
    said = found[code].parameters
    assert all(said.values()), "a sentence would have a hole"
    lines = [value for name, value in said.items() if name == "line" or name.endswith("_line")]
    assert set(lines) <= {str(number) for number, text in enumerate((HEAD + program).split("\n"), 1) if text.strip()}


@pytest.mark.parametrize("code", NEAR_MISSES)
def test_the_near_miss_is_not(engine: LocalEngine, code: str) -> None:
    assert code not in findings(engine, NEAR_MISSES[code])


def test_every_diagnosis_has_two_programs_and_a_near_miss() -> None:
    assert all(len(programs) >= 2 for programs in TRIGGERS.values())
    assert set(TRIGGERS) == set(NEAR_MISSES)


@pytest.mark.parametrize(
    ("code", "program", "line", "parameters"),
    [
        ("cut_by_detach", 0, 6, {"leaf": "w", "line": "6", "value": "h", "code": "h.detach()"}),
        ("cut_by_detach", 1, 6, {"leaf": "w", "line": "6", "op": ".data", "code": "h.data"}),
        ("cut_by_item", 0, 5, {"leaf": "w", "line": "5"}),
        ("cut_by_no_grad", 1, 6, {"leaf": "w", "line": "6"}),
        ("second_backward", 0, 6, {"first_line": "5", "line": "6"}),
        ("non_scalar_backward", 0, 5, {"name": "y", "shape": "[3]", "count": "3"}),
        (
            "saved_tensor_changed",
            0,
            5,
            {"name": "a", "op": "exp", "saved_line": "4", "change": "add_", "changed_line": "5", "version": "1"},
        ),
        ("saved_value_edited", 0, 6, {"name": "x", "op": "*", "saved_line": "5", "used_line": "7"}),
        ("gradient_added_up", 0, 5, {"names": "x", "first_line": "4"}),
        ("first_nan_forward", 0, 4, {"op": "acos", "name": "y"}),
        ("first_nan_backward", 2, 4, {"is_singular": "1", "is_eigen": "0", "is_twice": "1", "twice": "1"}),
        ("first_nan_backward", 3, 4, {"is_factored": "1", "is_eigen": "1", "twice": "1"}),
        ("first_inf_backward", 0, 4, {"node": "AcosBackward0", "pass_line": "5"}),
    ],
)
def test_the_finding_names_line_and_variables(
    engine: LocalEngine, code: str, program: int, line: int, parameters: dict[str, str]
) -> None:
    finding = findings(engine, TRIGGERS[code][program])[code]
    assert finding.span is not None
    assert finding.span.line == line
    assert parameters.items() <= finding.parameters.items()


def test_a_sound_program_has_no_findings(engine: LocalEngine) -> None:
    program = "x = torch.ones(2, 2, requires_grad=True)\nout = ((x + 2) ** 2 * 3).mean()\nout.backward()\n"
    assert findings(engine, program) == {}


def test_errors_come_before_warnings_and_notes(engine: LocalEngine) -> None:
    program = "x = torch.tensor([0., 1.], requires_grad=True)\ny = 1 / x\ny.backward()\n"
    assert [finding.severity for finding in find(run(engine, program))] == ["error", "warning"]


@pytest.mark.parametrize("kind", ["limit", "crash", "lost", "exit"])
def test_an_end_that_is_no_exception_is_never_explained_by_a_finding(
    kind: Literal["limit", "crash", "lost", "exit"],
) -> None:
    failure = Failure(kind=kind, type="SIGSEGV", message="")
    assert explanation(failure, (Finding(code="elsewhere", severity="error"),)) == kind


@pytest.mark.parametrize("limit", ["output_bytes", "trace_bytes", "files"])
def test_a_limit_that_is_not_of_time_has_a_sentence_of_its_own(limit: str) -> None:
    failure = Failure(kind="limit", type=limit, message="", limit=limit)
    assert explanation(failure, ()) == f"limit_{limit}"
    assert explanation(msgspec.structs.replace(failure, limit="wall_s"), ()) == "limit"


def test_memory_that_ran_out_under_a_program_is_no_exception_of_its_own(engine: LocalEngine) -> None:
    trace = run(engine, "x = torch.ones(2)\ny = x * 2\n")
    failure = Failure(
        kind="memory", type="memory_bytes", message="reached", limit="memory_bytes", span=Span(5, 5, 1, 10)
    )
    assert find(msgspec.structs.replace(trace, status="limited", failure=failure)) == ()


@pytest.mark.parametrize(
    "turn",
    [
        "total = total * 0.98 + v",
        "total += v * 2",
        "kept.append(v.exp())",
        "state = torch.tanh(state * v).detach()",
        "kept.append((v * 2).sum().item())",
        "state = torch.where(state > 0, v, -state) - state.max()",
        "state = torch.cat([state[-3:], v])",
    ],
)
def test_the_work_grows_no_faster_than_the_run(engine: LocalEngine, turn: str) -> None:
    head = "v = torch.ones(1, requires_grad=True)\ntotal, state, kept = torch.zeros(1), torch.ones(1), []\n"
    calls = []
    for turns in (200, 800):
        trace = run(engine, f"{head}for i in range({turns}):\n    {turn}\n")
        assert trace.status == "ok"
        with cProfile.Profile() as profile:
            find(trace)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[1] < 5 * calls[0]


def test_what_explains_the_failure_stands_above_other_errors(engine: LocalEngine) -> None:
    program = 'import os\nos.environ["CUDA_VISIBLE_DEVICE"] = "0"\nx = torch.ones(2) @ torch.ones(3)\n'
    found = [finding.code for finding in find(run(engine, program)) if finding.severity == "error"]
    assert found == ["shape_mismatch_matmul", "visible_devices_misspelt"]


def test_the_finding_explains_the_failure() -> None:
    failure = Failure(kind="exception", type="TypeError", message="'module' object is not callable")
    findings = (Finding(code="elsewhere", severity="note"), Finding(code="mine", severity="error"))
    assert explanation(failure, findings) == "mine"


def test_gradients_nobody_reads_before_they_are_zeroed_are_no_mistake(engine: LocalEngine) -> None:
    program = """
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(2):
    of_d.zero_grad()
    D(G(torch.ones(3, 2)).detach()).mean().backward()
    of_d.step()
    of_g.zero_grad()
    D(G(torch.ones(3, 2))).mean().backward()
    of_g.step()
"""
    assert "step_without_zero_grad" not in findings(engine, program)


def test_a_bug_in_one_family_costs_only_its_own_findings(
    engine: LocalEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(diagnosis: Diagnosis) -> tuple[Finding, ...]:
        raise RuntimeError("a bug")

    trace = run(engine, "x = torch.ones(3, requires_grad=True)\n(x * 2).backward()\n")
    module = importlib.import_module("engine.findings.find")
    monkeypatch.setattr(module, "FAMILIES", (broken, *module.FAMILIES))
    assert "non_scalar_backward" in [finding.code for finding in find(trace)]
    assert "a bug" in caplog.text


def test_a_family_that_is_annotated_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistyped(diagnosis: Diagnosis) -> Iterable[Finding]:
        return ()

    monkeypatch.setattr(mistyped, "__module__", scales.__name__)
    monkeypatch.setattr(scales, "mistyped", mistyped, raising=False)
    with pytest.raises(TypeError, match=r"mistyped in scales\.py"):
        [*importlib.import_module("engine.findings.find")._families(Path(scales.__file__).parent)]


def test_what_could_only_be_said_with_a_hole_is_not_told(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def holed(diagnosis: Diagnosis) -> tuple[Finding, ...]:
        return diagnosis.warning("elsewhere", None), diagnosis.warning(
            "nameless", Span(1, 1, 0, 1), name=diagnosis.say(None)
        )

    trace = run(engine, "x = torch.ones(3)\n")
    monkeypatch.setattr(importlib.import_module("engine.findings.find"), "FAMILIES", (holed,))
    assert find(trace) == ()


def test_a_detach_for_another_optimizers_step_is_not_blamed(engine: LocalEngine) -> None:
    program = """G, D = nn.Linear(2, 2), nn.Linear(2, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(2):
    fake = G(torch.ones(3, 2))
    of_d.zero_grad()
    D(fake.detach()).mean().backward()
    of_d.step()
    of_g.zero_grad()
    D(fake.data).mean().backward()
    of_g.step()
"""
    told = [finding for finding in find(run(engine, program)) if finding.code == "cut_by_detach"]
    assert [finding.span.line for finding in told if finding.span is not None] == [11]


def test_a_cut_by_data_is_mended_by_the_tensor_itself(engine: LocalEngine) -> None:
    [edit] = findings(engine, TRIGGERS["cut_by_detach"][1])["cut_by_detach"].fix
    assert (edit.span.line, edit.text) == (6, "h")


SQUARE = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * {backward}
w = torch.tensor([1.0, -2.0], requires_grad=True)
Square.apply(w).sum().backward()
"""


@pytest.mark.parametrize(
    ("forward", "backward", "wrong"),
    [("x * x", "x", True), ("x * x", "2 * x", False), ("x.sign()", "1", False), ("x.view_as(x)", "-1", False)],
)
def test_a_checked_backward_that_does_not_fit_is_told(
    engine: LocalEngine, forward: str, backward: str, wrong: bool
) -> None:
    """Where the forward is flat or hands its input on, as in straight-through and reversed gradients, it is meant."""
    code = HEAD + SQUARE.format(forward=forward, backward=backward)
    trace = engine.run(RunRequest(program=Program(code=code), checks=("finite-difference",)))
    found = [finding for finding in trace.findings if finding.code == "backward_does_not_fit"]
    assert [(one.span and one.span.line, one.parameters["true"]) for one in found] == ([(9, "-4")] if wrong else [])
