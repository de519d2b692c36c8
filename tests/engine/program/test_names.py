"""Names in a tree: dotted names, what is called, what is read."""

import ast

import pytest

from engine.program.names import called, dotted, is_grad_of, is_reference, keyword, names_read, plain_names


def expression(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@pytest.mark.parametrize(
    ("code", "name"),
    [("a", "a"), ("a.b.c", "a.b.c"), ("名.前", "名.前"), ("a().b", ""), ("a[0].b", ""), ("(a + b).c", "")],
)
def test_a_dotted_name_is_of_names_and_attributes(code: str, name: str) -> None:
    assert dotted(expression(code)) == name
    assert dotted(None) == ""


@pytest.mark.parametrize(
    ("code", "name"), [("f(1)", "f"), ("F.relu(x)", "relu"), ("x[0].sum(1)", "sum"), ("f()()", "")]
)
def test_a_call_calls_the_last_name(code: str, name: str) -> None:
    call = expression(code)
    assert isinstance(call, ast.Call) and called(call) == name


def test_keywords_are_found_by_name() -> None:
    call = expression("f(a, dim=1, **more)")
    assert isinstance(call, ast.Call)
    word = keyword(call, "dim")
    assert word is not None and ast.unparse(word.value) == "1"
    assert keyword(call, "more") is None


def test_names_that_are_read_are_not_those_that_are_bound() -> None:
    assert names_read(ast.parse("a.b = c[d] + (e := f)")) == {"a", "c", "d", "f"}
    assert plain_names([expression("a"), expression("b.c"), expression("d")]) == ("a", "d")


@pytest.mark.parametrize(
    ("code", "expected"),
    [("a", True), ("a.b[0]['k'].c", True), ("a[i]", False), ("a()", False), ("a" + ".b" * 100, False)],
)
def test_a_reference_is_what_somebody_would_read_as_a_name(code: str, expected: bool) -> None:
    assert is_reference(expression(code)) == expected


def test_a_grad_belongs_to_a_name() -> None:
    assert is_grad_of(expression("a.w.grad"), "a.w")
    assert not is_grad_of(expression("a.w.grad"), "w") and not is_grad_of(expression("a.w"), "a.w")
    assert not is_grad_of(expression("f().grad"), "")
