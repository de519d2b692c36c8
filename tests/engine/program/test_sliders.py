"""Ranges that comments give to numbers: what each speaks of, and why one does not hold."""

import pytest

from engine.program.sliders import MOST_SLIDERS, NAME_CHARACTERS, sliders_in
from engine.program.source import source_of


def played(code: str) -> list[tuple[str, str, float, float, float]]:
    """Name, number as written, ends and step of each."""
    return [
        (slider.name, source_of(code).written(slider.span), slider.least, slider.most, slider.step)
        for slider in sliders_in(code)
        if not slider.problem
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = torch.tensor(2.0)  # ~ -3..3", [("x", "2.0", -3, 3, 0.1)]),
        ("x = torch.tensor(2.0)  #~-3 .. 3 by 0.5", [("x", "2.0", -3, 3, 0.5)]),
        ("x = torch.tensor(2.0)\n# ～ −3…3", [("x", "2.0", -3, 3, 0.1)]),
        ("w = [1.0, -2.5]  # ~ -3..3", [("w[0]", "1.0", -3, 3, 0.1), ("w[1]", "-2.5", -3, 3, 0.1)]),
        ("w = t([[1.0], [2.25]])  # ~ 0..3", [("w[0, 0]", "1.0", 0, 3, 0.1), ("w[1, 0]", "2.25", 0, 3, 0.01)]),
        ("x, o = t([1.0]), net[1].offset  # ~ 0..3", [("x[0]", "1.0", 0, 3, 0.1)]),
        ("x, y = t([1.0])  # ~ 0..3", [("t[0]", "1.0", 0, 3, 0.1)]),
        ("o = SGD(p, lr=0.05, momentum=0.9)  # ~ lr 0..1", [("lr", "0.05", 0, 1, 0.01)]),
        ("a, b = 4, 1.0  # ~ b 0..2, a 1..9", [("b", "1.0", 0, 2, 0.1), ("a", "4", 1, 9, 1)]),
        ("def f(n, rate=0.5):  # ~ 0..1\n    return 3 * n", [("rate", "0.5", 0, 1, 0.1)]),
        ("for step in range(3):  # ~ 1..9\n    x = 2", [("range", "3", 1, 9, 1)]),
        ("while y < 100:  # ~ 10..200 by 10\n    y *= 2", [("y < 100", "100", 10, 200, 10)]),
        ("y = x ** 3  # ~ 2..5", [("x ** 3", "3", 2, 5, 1)]),
        ("x[0] = 9  # ~ 0..9", [("x[0]", "9", 0, 9, 1)]),
        ("print(torch.ones(1), 'über', 2)  # no range\nn = 2  # ~ 1..3", [("n", "2", 1, 3, 1)]),
    ],
)
def test_a_range_speaks_of_the_numbers_of_its_statement(
    code: str, expected: list[tuple[str, str, float, float, float]]
) -> None:
    assert [(name, text, least, most, round(step, 9)) for name, text, least, most, step in played(code)] == expected


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("n = 5  # ~ one..two", "form"),
        ("n = 5  # ~ 1..9 step 2", "form"),
        ("n = x  # ~ 1..9", "none"),
        ("n = 5  # ~ m 1..9", "none"),
        ("y = 2 * x + 3  # ~ 1..9", "which"),
        ("n = 0x10  # ~ 1..20", "number"),
        ("n = 1_000  # ~ 1..2000", "number"),
        ("n = 5  # ~ 0.5..9", "whole"),
        ("n = 5  # ~ 6..9", "outside"),
        ("n = 5.0  # ~ 9..1", "outside"),
        (f"n = 5  # ~ 0..{'9' * 400}", "outside"),
        (f"n = 5.0  # ~ 0..9 by {'9' * 400}", "outside"),
        (f"n = {'9' * 400}  # ~ 0..9", "outside"),
        ("n = f'{5}'  # ~ 0..9", "none"),
        ("n = 5  # ~ 1..9 by 3", "step"),
        ("n = 4  # ~ 1..9 by 3", "step"),
    ],
)
def test_a_range_that_does_not_hold_says_why(code: str, why: str) -> None:
    (slider,) = sliders_in(code)
    assert (slider.problem, source_of(code).written(slider.span)) == (why, code[code.index("#") :])


def test_one_range_that_does_not_hold_leaves_the_others() -> None:
    assert [slider.problem for slider in sliders_in("o = SGD(lr=0.1, m=2.0)  # ~ lr 0..1, m 0..1")] == ["", "outside"]


def test_comments_that_say_something_else_are_left_alone() -> None:
    assert sliders_in("x = 3.0  # ~ 3 or so\ny = '# ~ 1..2'") == ()


@pytest.mark.slow
def test_a_program_has_so_many_and_no_more() -> None:
    code = f"x = [{', '.join(['1.0'] * 20)}]  # ~ 0..2"
    assert len(sliders_in(code)) == MOST_SLIDERS
    # the rest is not even looked at: this would take minutes
    assert len(sliders_in(f"w = [{'1, ' * 15_000}]  # ~ {', '.join(['0..9'] * 9_000)}")) == MOST_SLIDERS
    assert len(sliders_in("x = 1  # ~ 0..2\n" * 9_000)) == MOST_SLIDERS


def test_what_cannot_be_parsed_has_none() -> None:
    assert [slider.problem for slider in sliders_in("x = = 3  # ~ 1..5")] == ["none"]


def test_a_comment_as_long_as_a_program_is_read_once() -> None:
    """Had it to be read anew from each digit or space on, this would take minutes."""
    assert sliders_in(f"n = 5  # {' ' * 100_000}~ 1{' ' * 100_000}.") == ()
    (slider,) = sliders_in(f"n = 5  # ~ {'1' * 100_000}..{'2' * 100_000}x")
    assert slider.problem == "form"
    assert len(slider.name) == NAME_CHARACTERS
