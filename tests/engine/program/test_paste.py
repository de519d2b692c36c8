"""What comes along with copied code is taken out by edits that leave the rest as it was."""

import pytest

from engine.program import paste
from engine.program.edits import applied
from engine.program.paste import characters, has_prompts, printed, prompts, prose, terminal
from engine.program.spans import lines_of


def test_prompts_are_taken_off_and_results_become_comments() -> None:
    session = ">>> x = torch.ones(2)\n>>> for _ in x:\n...     print(_)\ntensor(1.)\n"
    assert has_prompts(session)
    assert applied(session, prompts(session)) == "x = torch.ones(2)\nfor _ in x:\n    print(_)\n# tensor(1.)\n"


def test_a_long_session_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    begins = paste._begins_printed

    def begins_printed(lines: list[str], line: int) -> bool:
        looked.append(line)
        return begins(lines, line)

    def split(code: str) -> list[str]:
        looked.append(0)
        return lines_of(code)

    monkeypatch.setattr(paste, "lines_of", split)
    monkeypatch.setattr(paste, "_begins_printed", begins_printed)
    assert len(prompts(">>> x\n" + "x = 1\n" * 200 + "tensor([1\n" * 200)) == 401
    assert len(looked) == len(set(looked)) <= 402


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_full_width_signs_are_mended_outside_strings_on_every_line(end: str) -> None:
    code = end.join(("x = f（1，2）", "y = '（🙂，'  # ，", "z = g（x）"))
    assert applied(code, characters(code)) == end.join(("x = f(1,2)", "y = '（🙂，'  # ，", "z = g(x)"))


def test_a_printed_value_is_a_comment_to_its_last_bracket() -> None:
    code = "x = 1\ntensor([[1., 2.],\n        [3., 4.]])\ny = 2"
    assert applied(code, printed(code, 2)) == "x = 1\n# tensor([[1., 2.],\n        # [3., 4.]])\ny = 2"
    assert printed(code, 1) == printed(code, 9) == []


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("!pip install torch", "# !pip install torch"),
        ("  $ python a.py", "  # $ python a.py"),
        ("export CUDA_VISIBLE_DEVICES=0, 1", 'import os; os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"'),
        ("git = 1", "git = 1"),
    ],
)
def test_a_command_for_a_terminal_is_a_comment(line: str, mended: str) -> None:
    assert applied(line, terminal(line, 1)) == mended


def test_a_sentence_is_a_comment() -> None:
    code = "x = 1\r\n  下面我们计算梯度\r\ny = '下面我们计算梯度'"
    assert applied(code, prose(code, 2)) == "x = 1\r\n  # 下面我们计算梯度\r\ny = '下面我们计算梯度'"
    assert prose(code, 3) == []
