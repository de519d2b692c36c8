"""Expressions of a shape that is written as code, and the same parts in another shape."""

import ast

import pytest

from engine.program.edits import applied
from engine.program.rewriting import written
from engine.program.source import Source

REWRITTEN = {
    "x.view(2, 3)": ("NAME.view(...)", "NAME.reshape(...)", "x.reshape(2, 3)"),
    "x.view()": ("NAME.view(...)", "NAME.reshape(...)", "x.reshape()"),
    "(a + b).t()": ("NAME.t()", "NAME.T", "(a + b).T"),
    "net(a + b)": ("LAYER(NAME)", "LAYER(NAME.float())", "net((a + b).float())"),
    "torch.cat(a, 1, out=c)": ("FUNCTION(NAME, ...)", "FUNCTION([NAME], ...)", "torch.cat([a], 1, out=c)"),
    "torch.cat(a)": ("FUNCTION(NAME, ...)", "FUNCTION([NAME], ...)", "torch.cat([a])"),
    "torch.view(x, 6)": ("MODULE.METHOD(FIRST, ...)", "FIRST.METHOD(...)", "x.view(6)"),
    "x.view(-1)": ("GIVEN.view(-1)", "GIVEN.flatten(1)", "x.flatten(1)"),
    "x[n / 2]": ("NAME[LEFT / RIGHT]", "NAME[LEFT // RIGHT]", "x[n // 2]"),
    "y.requires_grad = False": ("NAME.requires_grad = False", "NAME = NAME.detach()", "y = y.detach()"),
}


@pytest.mark.parametrize("text", REWRITTEN)
def test_the_parts_stand_in_the_other_shape(text: str) -> None:
    before, after, expected = REWRITTEN[text]
    found = written(Source(text), node_of(text), before)
    assert found is not None
    assert applied(text, found.instead(after)) == expected


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x.view(2)", "NAME.view()"),
        ("x.view(1)", "NAME.view(-1)"),
        ("x.view(True)", "NAME.view(1)"),
        ("x.reshape(2)", "NAME.view(...)"),
        ("f()", "FUNCTION(NAME, ...)"),
        ("f(*xs)", "FUNCTION(NAME)"),
        ("a * b", "LEFT / RIGHT"),
        ("x = 1", "NAME"),
    ],
)
def test_another_shape_is_none(text: str, shape: str) -> None:
    assert written(Source(text), node_of(text), shape) is None


def test_words_are_quoted_by_their_names_in_small_letters() -> None:
    text = "model.encoder.forward(x)"
    found = written(Source(text), node_of(text), "OWNER.METHOD(...)")
    assert found is not None
    assert found.said == {"owner": "model.encoder", "method": "forward"}


@pytest.mark.parametrize("text", ["x.stack(y)", "torch = x.stack(y); import numpy"])
def test_nothing_is_written_with_a_library_that_the_program_does_not_name(text: str) -> None:
    code = Source(text)
    found = written(code, code.calls[0], "NAME.stack(...)")
    assert found is not None
    assert bool(found.instead("torch.stack(NAME, ...)")) == ("torch" in text)


@pytest.mark.parametrize("text", ["x[0] = 1", "del x[0]"])
def test_what_is_written_to_stays(text: str) -> None:
    code = Source(text)
    place = next(node for node in code.nodes if isinstance(node, ast.Subscript))
    found = written(code, place, "NAME[0]")
    assert found is not None
    assert found.instead("NAME.item()") == ()


def node_of(text: str) -> ast.AST:
    (statement,) = Source(text).tree.body
    return statement.value if isinstance(statement, ast.Expr) else statement
