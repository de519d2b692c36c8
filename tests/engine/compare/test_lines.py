"""Which lines of two programs correspond."""

import itertools
import random

import pytest

from engine.compare.lines import corresponding, in_order, stretches


def _pairs(here: str, there: str) -> list[tuple[int, int]]:
    return corresponding(here, there)


def test_an_inserted_line_moves_the_others() -> None:
    assert _pairs("a = 1\nb = 2\nc = 3", "a = 1\nz = 0\nb = 2\nc = 3") == [(1, 1), (2, 3), (3, 4)]


def test_a_line_that_was_indented_is_the_same_line() -> None:
    here, there = "x = f()\ny = x * 2\n", "x = f()\nwith torch.no_grad():\n    y = x * 2\n"
    pairs = _pairs(here, there)
    assert pairs == [(1, 1), (2, 3)]
    assert not any(stretch.changed for stretch in stretches(pairs, here, there))


def test_a_line_that_binds_the_same_name_was_changed_in_place() -> None:
    here, there = "y = a.detach() * w\nz = 1\nprint(z)", "q = 0\nprint(q)\ny = a * w\nprint(z)"
    pairs = _pairs(here, there)
    assert (1, 3) in pairs
    assert [s.changed for s in stretches(pairs, here, there) if s.here == 1] == [True]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("while y < 100:", "while y < 1000:"),
        ("loss += a", "loss += b"),
        ("x[0] = 1", "x[0] = 2"),
        ("print(1)", "assert 2"),
    ],
)
def test_one_line_between_equal_ones_was_changed_in_place(here: str, there: str) -> None:
    assert _pairs(f"import torch\n{here}\nend()", f"import torch\n{there}\nend()") == [(1, 1), (2, 2), (3, 3)]


def test_a_line_that_moved_is_the_same_line() -> None:
    here, there = "a = 1\nopt = f(a)\na.b = 2\nc = 3\nc = 3", "a = 1\na.b = 2\nopt = f(a)\nd = 3"
    assert _pairs(here, there) == [(1, 1), (2, 3), (3, 2)]
    assert _pairs(there, here) == [(1, 1), (2, 3), (3, 2)]
    assert not any(stretch.changed for stretch in stretches(_pairs(here, there), here, there))


def test_of_equally_good_ways_the_same_is_taken_from_both_sides() -> None:
    here, there = "a = 1\nb = 2\nc = 3\n", "c = 3\nb = 2\na = 1\n"
    assert corresponding(here, there) == sorted((b, a) for a, b in corresponding(there, here))


def test_a_comparison_is_no_assignment() -> None:
    assert _pairs("if y == 2: pass\nq()\nq()", "y = 2\nr()") == []


@pytest.mark.parametrize(("here", "there"), [("", ""), ("", "a = 1"), ("# only words\n\n", "a = 1"), ("\r\n\r", "\n")])
def test_what_says_nothing_corresponds_to_nothing(here: str, there: str) -> None:
    assert _pairs(here, there) == []


def test_numbers_are_those_of_python_whatever_ends_a_line() -> None:
    assert _pairs("a = 1\r\nb = '\x0c'\r\nc = 3", "a = 1\rb = '\x0c'\rc = 3") == [(1, 1), (2, 2), (3, 3)]


def test_pairs_ascend_in_both_and_read_the_same() -> None:
    draw = random.Random(0)
    for _ in range(300):
        here, there = ([draw.choice("abcdefgh") for _ in range(draw.randrange(14))] for _ in range(2))
        pairs = in_order(here, there)
        assert pairs == sorted(set(pairs))
        assert all(a < c and b < d for (a, b), (c, d) in itertools.pairwise(pairs))
        assert all(here[a] == there[b] for a, b in pairs)


def test_a_program_corresponds_to_itself_line_by_line() -> None:
    code = "a = 1\n\nfor i in range(3):\n    a += 1\n    a += 1\n"
    assert _pairs(code, code) == [(1, 1), (3, 3), (4, 4), (5, 5)]


def test_what_makes_a_naive_diff_or_expression_quadratic_is_answered() -> None:
    lines = [f"x{number} = {number}" for number in range(6_000)]
    assert len(_pairs("\n".join(lines), "\n".join(lines[::-1]))) >= 1
    assert _pairs("a\n" * 40_000, "b\n" * 30_000) == []
    assert _pairs("a" + " " * 99_000 + "b", "c" + " " * 99_000 + "=") == [(1, 1)]
