"""Comments that ask, as they are read."""

from engine.program.questions import questions_in


def test_parts_of_a_question() -> None:
    (asked,) = questions_in("y.backward()  # ? x.grad : 2 | None\n# ! because")
    assert (asked.name, asked.attribute, asked.choices, asked.why) == ("x", "grad", ("2", "None"), {"": "because"})
    assert asked.statement is not None and asked.statement.lineno == 1


def test_what_is_no_form_has_no_name() -> None:
    assert [asked.name for asked in questions_in("x = 1  # ? f(x)\nx = 2  # ? x.grad[0]\nx = 3  # ? (")] == ["", "", ""]


def test_a_line_of_its_own_belongs_to_the_statement_above_in_its_block() -> None:
    code = "with a:\n    b = 1\n    # ? b\n# ? c\n"
    assert [asked.statement and asked.statement.lineno for asked in questions_in(code)] == [2, 1]


def test_a_program_that_does_not_compile_asks_what_was_read() -> None:
    assert questions_in("x = (  # ? x\n") is not None
