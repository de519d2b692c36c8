"""Comments that ask, as they are read."""

from engine.program.questions import questions_in


def test_parts_of_a_question() -> None:
    (asked,) = questions_in("y.backward()  # ? x.grad : 2 | None\n# ! because")
    assert (asked.name, asked.attribute, asked.choices, asked.why) == ("x", "grad", ("2", "None"), {"": "because"})
    assert asked.statement is not None and asked.statement.lineno == 1


def test_a_choice_is_offered_once() -> None:
    (asked,) = questions_in("y.backward()  # ? x.grad: 2 | 4 | 2")
    assert asked.choices == ("2", "4")


def test_what_is_no_form_has_no_name() -> None:
    assert [asked.name for asked in questions_in("x = 1  # ? f(x)\nx = 2  # ? x.grad[0]\nx = 3  # ? (")] == ["", "", ""]


def test_a_parameter_is_named_by_its_path() -> None:
    asked = questions_in(
        "y.backward()  # ? net[0].fc.weight.grad.shape\n# ? state['fc.weight'].dtype\n# ? net[i].weight"
    )
    assert [(each.name, each.attribute) for each in asked] == [
        ("net.0.fc.weight", "grad.shape"), ("state.fc.weight", "dtype"), ("", ""),
    ]  # fmt: skip


def test_a_line_of_its_own_belongs_to_the_statement_above_in_its_block() -> None:
    code = "with a:\n    b = 1\n    # ? b\n# ? c\n"
    assert [asked.statement and asked.statement.lineno for asked in questions_in(code)] == [2, 1]


def test_full_width_marks_are_read_as_the_others() -> None:
    (asked,) = questions_in("y.backward()  #？ x.grad ＠ 2：2｜None\n# ！zh：因为")
    assert (asked.name, asked.visit, asked.choices, asked.why) == ("x", 2, ("2", "None"), {"zh": "因为"})


def test_questions_of_the_run_have_no_variable() -> None:
    asked = questions_in("# ? error.line\nz.backward()  # ? grad.flow")
    assert [(each.name, each.attribute) for each in asked] == [("", "line"), ("", "flow")]


def test_a_program_that_does_not_compile_asks_what_was_read() -> None:
    assert questions_in("x = (  # ? x\n") is not None


def test_a_comment_with_a_wide_gap_is_read_once() -> None:
    """Had it to be read anew from each space on, this would take minutes."""
    (asked,) = questions_in(f"x = 1  # ?{' ' * 100_000}x :{' ' * 100_000}1 |{' ' * 100_000}2")
    assert (asked.name, asked.choices) == ("x", ("1", "2"))
