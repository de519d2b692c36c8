"""Questions of programs: answers beside plain PyTorch, what cannot be asked, wrong answers with a known reason."""

import ast
import re
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

import engine
from engine.trace import Question
from tests.golden import programs
from tests.once import run

ASKING = [path for path in programs() if path.stem not in ("distributed_data_parallel", "split_model")]
"""Lessons that run in one process and on devices that plain PyTorch has."""
SAME_WHATEVER_THE_NUMBERS = set(
    "around attention broadcasting chain_rule checkpoint_memory conv_and_pool_sizes data_loader devices error_in_place "
    "error_no_grad error_shape four_memories global_lock gradient_descent indexing leaf_or_not mean_grad mlp_module "
    "mlp_training model_dtype small_cnn small_transformer tensors_like tensors_made tied_weights "
    "zero_init".split()
)
"""Lessons that ask for shapes, types, None, a line, zeros, or sums of ones, or that have no number but
sizes."""


def asked(code: str) -> tuple[Question, ...]:
    return engine.run("import torch\n" + code).questions


def in_plain_pytorch(code: str, questions: tuple[Question, ...]) -> list[object]:
    """What PyTorch itself says at the places of the questions."""
    lines = code.splitlines()
    statements = {node.lineno: node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)}
    said: list[list[object]] = [[] for _ in questions]
    for at, question in reversed(list(enumerate(questions))):
        if question.kind in ("line", "flow"):
            continue
        statement = statements[question.line]
        ask = f"{' ' * statement.col_offset}_said[{at}].append(_kept({question.text}))"
        lines.insert(statement.end_lineno or 0, ask)
    with suppress(Exception), warnings.catch_warnings(action="ignore"):
        exec("\n".join(lines), {"_said": said, "_kept": kept, "print": lambda *_: None})
    others = {"line": failing_line, "flow": reached}
    return [
        others[question.kind](code) if question.kind in others else said[at][max(0, question.visit - 1)]
        for at, question in enumerate(questions)
    ]


def failing_line(code: str) -> int | None:
    """The line of the program at which plain PyTorch raises."""
    try:
        exec(compile(code, "lesson", "exec"), {"print": lambda *_: None})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [frame.lineno for frame in frames if frame.filename == "lesson"][-1]
    return None


def reached(code: str) -> dict[str, bool]:
    """Variables of a program, and whether its last `backward()` sends them a gradient."""
    names: dict[str, object] = {"print": lambda *_: None}
    found: set[str] = set()
    backward: Callable[[torch.Tensor], None] = torch.Tensor.backward

    def watched(root: torch.Tensor) -> None:
        nodes: list[Any] = [root.grad_fn]
        for node in nodes:
            nodes += [following for following, _ in node.next_functions if following and following not in nodes]
        leaves = [node.variable for node in nodes if hasattr(node, "variable")]
        found.clear()
        for name, value in names.items():
            if isinstance(value, torch.Tensor) and (value.grad_fn in nodes or any(value is leaf for leaf in leaves)):
                found.add(name)
        backward(root)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "backward", watched)
        exec(code, names)
    return {name: name in found for name in names}


def kept(value: object) -> object:
    """Later writes do not reach it."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def check(question: Question, truth: object) -> None:
    assert question.problem == ""
    if question.kind == "flow":
        assert isinstance(truth, dict)
        right = question.answer.split(", ")
        named = [choice for choice in question.choices if choice in truth]
        assert named
        assert {choice: choice in right for choice in named} == {choice: truth[choice] for choice in named}
    elif question.kind == "line" and not question.is_none:
        assert isinstance(truth, int)
        first, last = map(int, question.data)
        assert first <= truth <= last
    elif question.kind == "choice":
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
        questions = run(program).questions
        assert questions
        for question, truth in zip(questions, in_plain_pytorch(program, questions), strict=True):
            check(question, truth)
        answers.append([(question.data, question.answer, question.is_none) for question in questions])
    assert (answers[0] == answers[1]) == (path.stem in SAME_WHATEVER_THE_NUMBERS)


def test_each_rank_is_asked_for_its_own() -> None:
    (path,) = (path for path in programs() if path.stem == "distributed_data_parallel")
    (question,) = engine.run(path.read_text(encoding="utf-8")).questions
    check(question, torch.nn.functional.mse_loss(torch.zeros(2), torch.tensor([3.0, 4.0])))


def test_simulated_devices_are_asked_for_what_the_cpu_says() -> None:
    (path,) = (path for path in programs() if path.stem == "split_model")
    code = path.read_text(encoding="utf-8")
    on_cpu = re.sub(r'"cuda:\d"', '"cpu"', code)
    questions = engine.run(code).questions
    assert questions
    for question, said in zip(questions, in_plain_pytorch(on_cpu, questions), strict=True):
        check(question, said)


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
        ("for _ in range(2):\n    x = torch.ones(2)  # ? x @ 3", "visit"),
        ("x = torch.ones(2)  # ? x @ 2", "visit"),
        ("x = torch.ones(2) @ torch.ones(3)\n# ? error.line", "before"),
        ("for _ in range(2):\n    x = torch.ones(2)  # ? error.line", "place"),
        ("x = torch.ones(2)\ny = x * 2  # ? grad.flow", "place"),
        ("y = torch.ones(2, requires_grad=True).sum()\ny.backward()  # ? y.flow", "form"),
        ("x = torch.ones(2)  # ? z", "unknown"),
        ("x = torch.ones(2)  # ? x.device", "form"),
        ("many = [torch.ones(1)] * 3\nfor _ in range(2):\n    x = sum(many)  # ? x @ 2", "unknown"),
        ("x = torch.ones(2)\ny = x * 2  # ? x", "before"),
        ("x = torch.ones(20)  # ? x", "large"),
        ("x = torch.ones(2)\ny = x.sum()  # ? y: 3 | 4", "choices"),
        ("y = torch.ones(3).mean() / 3  # ? y: 0.333 | 0.3333", "choices"),
        ("x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()  # ? y.grad.shape", "none"),
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
        ("y = torch.ones(1) / 3  # ? y: 0.333 | 1 | None", "choice", "0.333"),
        ("y = torch.ones(2) / 3  # ? y: [1/3, 1/3] | [3, 3]", "choice", "[1/3, 1/3]"),
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


@pytest.mark.parametrize(
    ("loss", "forgotten"),
    [
        ("((3 * w - 7) ** 2).mean()", -12.0),  # 2 · (3 − 7) · 3 without the 2
        ("F.mse_loss(3 * w, torch.tensor([7.0]))", -12.0),
        ("(2 * w).pow(3).sum()", 8.0),
        ("(3 * w) ** 2 + w", None),  # one way goes beside the power
        ("(w * w).sum()", None),
    ],
)
def test_a_forgotten_exponent_is_known_where_all_of_the_gradient_came_through_its_power(
    loss: str, forgotten: float | None
) -> None:
    made = "from torch.nn import functional as F\nw = torch.ones(1, requires_grad=True)"
    (question,) = asked(f"{made}\n({loss}).backward()  # ? w.grad")
    found = [mistake.data for mistake in question.mistakes if mistake.code == "exponent"]
    assert found == ([] if forgotten is None else [(forgotten,)])


@pytest.mark.parametrize(
    ("loss", "paths"),
    [
        ("(x * 6) * (x ** 2) / 9", [6.0, 12.0]),
        ("x * x", []),  # one path alone is the value
        ("x * x * x", [9.0]),
        ("x.exp()", []),
    ],
)
def test_what_came_by_one_of_several_paths_alone_is_known(loss: str, paths: list[float]) -> None:
    (question,) = asked(f"x = torch.tensor(3.0, requires_grad=True)\n({loss}).backward()  # ? x.grad")
    assert sorted(mistake.data[0] for mistake in question.mistakes if mistake.code == "one_path") == paths


@pytest.mark.parametrize(("made", "codes"), [("[3, 3, 1]", []), ("[3, -1]", ["sign"]), ("[3.0, 1.0]", ["sign"])])
def test_a_count_has_no_sign_to_be_wrong(made: str, codes: list[str]) -> None:
    (question,) = asked(f"y = torch.tensor({made})  # ? y")
    assert [mistake.code for mistake in question.mistakes] == codes


def test_a_program_that_is_none_asks_nothing_and_blames_no_comment() -> None:
    trace = engine.run("x = 3.0  # ~ -5..5\ny = x +  # ? y\n")
    assert trace.failure is not None
    assert (trace.failure.kind, trace.questions, trace.sliders) == ("syntax", (), ())


def test_a_question_mark_in_a_text_asks_nothing() -> None:
    assert asked('print("# ? x")\n# why?\nx = torch.ones(1)') == ()


LOOP = """import torch
def line(a, b):
    c = a * 2.0  # ? c @ 3
    return c + b
x = torch.tensor([1.5, -2.0])
w = torch.tensor([0.5, 0.25], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
for i in range(4):
    y = line(x * w, b)  # ? y @ 2
    loss = (y * y).sum()
    loss.backward()  # ? w.grad @ 4
    with torch.no_grad():
        w -= 0.125 * w.grad  # ? w
        w.grad.zero_()
for i in range(3):
    b = b * 1.5  # ? b @ 2
# ? b
"""
CALLS = """import torch
from torch import nn
net = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Identity())
for p in net.parameters():
    nn.init.constant_(p, 0.5)
parts = [torch.tensor(1.5), torch.tensor(2.5), torch.tensor(4.5)]
total = sum(parts)  # ? total
x = torch.ones(2)
for i in range(3):
    x = net(x)  # ? x @ 2
for i in range(2):
    sums = sum(parts)  # ? sums @ 2
    x = x * sums
"""
PATHS = """import torch
from torch import nn
net = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Identity())
for p in net.parameters():
    nn.init.constant_(p, 0.5)
net(torch.tensor([1.5, 2.5])).sum().backward()  # ? net[0][0].weight.grad
# ? net[0][0].bias.grad.shape
copy = nn.Linear(2, 2)
copy.load_state_dict(net[0][0].state_dict())  # ? copy.bias
pair = [torch.tensor(each, requires_grad=True) for each in (1.5, 2.5)]
(pair[0] * pair[1]).backward()  # ? pair[1].grad
"""
FAILING = """import torch
# ? error.line
def product(a, b):
    return (
        a @ b
    )
x = torch.tensor([1.5, 2.5])
y = x * 2.5
z = product(y, torch.tensor([1.5, 2.5, 3.5]))
"""
FLOW = """import torch
x = torch.tensor([1.5, 2.5], requires_grad=True)
w = torch.tensor(3.5, requires_grad=True)
fixed = torch.tensor(0.5)
y = x * w
cut = y.detach()
side = w * fixed
unused = x + 1.5
loss = (cut * side).sum() + fixed
loss.backward()  # ? grad.flow
"""
RETAINED = """import torch
x = torch.tensor([1.5, 2.5], requires_grad=True)
y = x * 2.5
z = y * y
y.retain_grad()
z.sum().backward()  # ？ y.grad
# ！ zh: 保留了
w = y * 1.5  # ? y.grad is None
"""


@pytest.mark.parametrize(
    "code",
    [LOOP, CALLS, PATHS, FAILING, FLOW, RETAINED.rpartition("w =")[0]],
    ids=["loop", "calls", "paths", "line", "flow", "retain"],
)
def test_each_kind_of_answer_is_that_of_pytorch_and_follows_the_numbers(code: str) -> None:
    answers = []
    for program in (code, with_other_numbers(code)):
        questions = engine.run(program).questions
        for question, truth in zip(questions, in_plain_pytorch(program, questions), strict=True):
            check(question, truth)
        answers.append([question.data for question in questions])
    assert (answers[0] == answers[1]) == (code in (FAILING, FLOW))


def test_a_line_may_be_any_of_a_statement_or_none_and_a_caller_is_a_known_mistake() -> None:
    (question,) = engine.run(FAILING).questions
    assert (question.step, question.data, question.mistakes[0].data) == (0, (4, 6), (9,))
    (question,) = asked("x = torch.ones(2)\n# ? error.line\ny = x * 2")
    assert question.is_none and question.step == 1


def test_which_line_fails_is_asked_before_the_lines_below_it() -> None:
    trace = engine.run("import torch\nx = torch.ones(2)\n# ? error.line\ny = x * 2\nz = y @ torch.ones(3)\n")
    (question,) = trace.questions
    assert question.step == 1


def test_where_a_gradient_flows_names_what_it_does_not_reach_too() -> None:
    (question,) = engine.run(FLOW).questions
    assert question.answer == "w, side, mul (9), sum (9), loss"
    assert {"x", "y", "cut", "fixed", "unused"} < set(question.choices)
    assert len(question.parts) == len(question.choices)


def test_a_retained_gradient_is_told_from_its_pass_on() -> None:
    first, second = engine.run(RETAINED).questions
    assert (first.data, first.why, second.problem) == ((7.5, 12.5), {"zh": "保留了"}, "before")
    (lost,) = asked(
        "x = torch.ones(1, requires_grad=True)\nfor _ in range(2):\n    y = x * 2\n    y.retain_grad()\n    y.backward()  # ? y.grad"
    )
    assert lost.problem == "unknown"


@pytest.mark.slow
def test_a_turn_of_a_loop_that_was_not_kept_is_not_asked_for() -> None:
    code = "w = torch.ones(1, requires_grad=True)\nfor i in range(3000):\n    l = (w * i).sum()\n    l.backward()  # ? w.grad @ 2999"
    (question,) = asked(code)
    assert question.problem == "visit"
