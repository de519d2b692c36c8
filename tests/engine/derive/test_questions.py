"""Questions of programs: answers beside plain PyTorch, what cannot be asked, wrong answers with a known reason."""

import ast
import re
from pathlib import Path

import pytest
import torch

import engine
from engine.trace import Question
from tests.golden import programs

ASKING = [path for path in programs() if "# ?" in path.read_text(encoding="utf-8")]
SAME_WHATEVER_THE_NUMBERS = {"broadcasting", "chain_rule", "indexing", "leaf_or_not", "mean_grad"}
"""Lessons that ask for shapes, for None, or for sums of ones, or that have no number but sizes."""


def asked(code: str) -> tuple[Question, ...]:
    return engine.run("import torch\n" + code).questions


def in_plain_pytorch(code: str, questions: tuple[Question, ...]) -> list[object]:
    """What PyTorch itself says at the places of the questions."""
    lines = code.splitlines()
    statements = {node.lineno: node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)}
    for question in reversed(questions):
        statement = statements[question.line]
        ask = f"{' ' * statement.col_offset}_said.append(_kept({question.text}))"
        lines.insert(statement.end_lineno or 0, ask)
    said: list[object] = []
    exec("\n".join(lines), {"_said": said, "_kept": kept, "print": lambda *_: None})
    return said


def kept(value: object) -> object:
    """Later writes do not reach it."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def check(question: Question, truth: object) -> None:
    assert question.problem == ""
    if question.kind == "choice":
        assert question.answer == str(truth).removeprefix("torch.")
    elif question.is_none:
        assert truth is None
    elif isinstance(truth, torch.Tensor):
        assert question.shape == tuple(truth.shape)
        torch.testing.assert_close(torch.tensor(question.data).reshape(truth.shape), truth, check_dtype=False)
    else:
        sizes = truth if isinstance(truth, tuple) else (truth,)
        assert question.data == tuple(sizes)


def with_other_numbers(code: str) -> str:
    """Every decimal number changed, but for the sizes that `arange` is given."""
    return re.sub(r"(?m)^(?!.*arange).*$", lambda line: re.sub(r"\d+\.\d+", _other, line[0]), code)


def _other(number: re.Match[str]) -> str:
    return str(float(number[0]) * 2 + 1)


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_answers_are_those_of_pytorch_and_follow_the_numbers(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    answers = []
    for program in (code, with_other_numbers(code)):
        questions = engine.run(program).questions
        assert questions
        for question, truth in zip(questions, in_plain_pytorch(program, questions), strict=True):
            check(question, truth)
        answers.append([(question.data, question.answer, question.is_none) for question in questions])
    assert (answers[0] == answers[1]) == (path.stem in SAME_WHATEVER_THE_NUMBERS)


def test_fifteen_lessons_ask() -> None:
    assert len(ASKING) >= 15


def test_the_question_is_asked_before_the_statement_it_stands_at() -> None:
    code = "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()  # ? x.grad"
    trace = engine.run("import torch\n" + code)
    (question,) = trace.questions
    assert [step.kind for step in trace.timeline[: question.step]] == ["op", "op"]
    assert question.until == len(trace.timeline)


def test_a_comment_of_its_own_line_asks_of_the_statement_above_a_loop_as_a_whole() -> None:
    code = "w = torch.zeros(1, requires_grad=True)\nfor _ in range(3):\n    w.sum().backward()\n# ? w.grad"
    (question,) = asked(code)
    assert (question.line, question.data, question.step) == (3, (3.0,), 1)


def test_words_for_after_the_answer_are_kept_by_language() -> None:
    (question,) = asked("x = torch.ones(1)  # ? x\n# ! zh: 都是一\n# ! all ones")
    assert question.why == {"zh": "都是一", "": "all ones"}


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = torch.ones(2)  # ? x + 1", "form"),
        ("n = 3  # ? n", "place"),
        ("for _ in range(2):\n    x = torch.ones(2)  # ? x", "repeated"),
        ("x = torch.ones(2)  # ? z", "unknown"),
        ("x = torch.ones(2)\ny = x * 2  # ? x", "before"),
        ("x = torch.ones(20)  # ? x", "large"),
        ("x = torch.ones(2)\ny = x.sum()  # ? y: 3 | 4", "choices"),
    ],
)
def test_what_cannot_be_answered_says_why(code: str, problem: str) -> None:
    assert [question.problem for question in asked(code)] == [problem]


@pytest.mark.parametrize(
    ("code", "shape", "answer"),
    [
        ("y = torch.ones(1).long()  # ? y.dtype", "choice", "int64"),
        ("y = torch.ones(2, 3).sum(0)  # ? y.shape", "shape", (3,)),
        ("y = torch.ones(2).sum()  # ? y: 2 | 3", "choice", "2"),
        ("y = torch.ones(2).requires_grad_()\n(y * 2).sum().backward()  # ? y.grad is None", "choice", "False"),
    ],
)
def test_forms_of_questions(code: str, shape: str, answer: object) -> None:
    (question,) = asked(code)
    assert (question.kind, question.answer or question.data) == (shape, answer)


def test_common_mistakes_are_worked_out() -> None:
    code = """
m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(m * m).mean().backward()
(m @ torch.tensor([[1.0, 2.0], [5.0, 7.0]])).mean().backward()  # ? m.grad
"""
    (question,) = asked(code)
    found = {mistake.code: mistake.data for mistake in question.mistakes}
    assert found["last_alone"] == (0.75, 3.0, 0.75, 3.0)
    assert found["value"] == (1.0, 2.0, 3.0, 4.0)
    assert found["mean_factor"] == tuple(4 * value for value in question.data if isinstance(value, float))
    assert found["transposed"] == tuple(question.data[at] for at in (0, 2, 1, 3))
    assert question.data not in found.values()


def test_a_question_mark_in_a_text_asks_nothing() -> None:
    assert asked('print("# ? x")\n# why?\nx = torch.ones(1)') == ()
