"""What decides a run id."""

from engine.keys import Versions, run_id
from engine.request import RunRequest
from engine.trace import Program

OF = Versions(torch="2.13.0", engine="0.1.0")


def test_a_default_that_is_written_out_is_the_same_run() -> None:
    written = RunRequest(Program(code="print(1)", device="".join(("c", "pu"))))
    assert run_id(written, OF) == run_id(RunRequest(Program(code="print(1)")), OF)


def test_what_is_asked_decides_the_run() -> None:
    asked = [Program(code="print(1)"), Program(code="print(2)"), Program(code="print(1)", seed=1)]
    assert len({run_id(RunRequest(program), OF) for program in asked}) == 3


def test_checks_decide_the_run_in_whatever_order() -> None:
    program = Program(code="print(1)")
    both = [
        run_id(RunRequest(program, checks=("jacobian", "finite-difference")), OF),
        run_id(RunRequest(program, checks=("finite-difference", "jacobian", "jacobian")), OF),
    ]
    one, none = run_id(RunRequest(program, checks=("jacobian",)), OF), run_id(RunRequest(program), OF)
    assert both[0] == both[1]
    assert len({*both, one, none}) == 3
