"""Expressions become programs; inputs that cannot are refused with a sentence."""

import msgspec
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.local import LocalEngine
from engine.program.expression import LINE, MAX_ELEMENTS, BadInput, Json, program_of
from engine.request import RunRequest
from engine.trace import Program


def raw(value: Json) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def run(expression: str, **inputs: Json) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(program_of(expression, {name: raw(value) for name, value in inputs.items()}).code, names)
    return names


def tensor(names: dict[str, object], name: str) -> torch.Tensor:
    value = names[name]
    assert isinstance(value, torch.Tensor)
    return value


def test_the_classic_has_its_gradient() -> None:
    x = tensor(run("((x + 2)**2 * 3).mean()", x=[[1, 1], [1, 1]]), "x")
    assert x.grad is not None
    assert x.grad.tolist() == [[4.5, 4.5], [4.5, 4.5]]


def test_a_vector_gets_a_seed_of_ones() -> None:
    x = tensor(run("x * 3", x=[1, 2]), "x")
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]


def test_nothing_goes_backward_without_a_leaf_that_requires_grad() -> None:
    names = run("x * 3", x={"value": [1, 2], "requires_grad": False})
    assert tensor(names, "x").grad is None
    assert tensor(names, "out").tolist() == [3.0, 6.0]


def test_a_result_that_is_no_tensor_is_left_alone() -> None:
    assert run("x.shape", x=[1, 2])["out"] == torch.Size([2])


def test_dtypes_are_as_asked() -> None:
    names = run("x.sum() + i[0]", x={"value": [0.5], "dtype": "float64"}, i={"value": [3], "dtype": "int64"})
    assert tensor(names, "x").dtype == torch.float64
    assert tensor(names, "i").dtype == torch.int64
    assert not tensor(names, "i").requires_grad


def test_a_comment_does_not_swallow_the_bracket() -> None:
    assert tensor(run("x + 1  # one more", x=1), "out").item() == 2.0


def test_non_finite_numbers_are_words() -> None:
    assert tensor(run("x", x=["inf", "-inf"]), "x").tolist() == [float("inf"), float("-inf")]


def test_leaves_of_a_gpu_run_are_made_there() -> None:
    code = program_of("x", {"x": raw(1)}, device="cuda:1").code
    assert 'x = torch.tensor(1.0, device="cuda:1", requires_grad=True)' in code


@pytest.mark.parametrize(("length", "rows"), [(LINE, 1), (LINE + 1, 3)])
def test_an_input_that_does_not_fit_into_a_line_has_a_line_for_each_row(length: int, rows: int) -> None:
    name = "x" * (length - len("[1.0, 2.0]") - len(", requires_grad=True"))
    code = program_of(name, {name: raw([1, 2])}).code
    leaf = code[code.index(f"{name} = ") : code.index("\nout = ")].strip()
    assert (
        leaf.split("\n")[:3]
        == {
            1: [f"{name} = torch.tensor([1.0, 2.0], requires_grad=True)"],
            3: [f"{name} = torch.tensor([", "    1.0,", "    2.0,"],
        }[rows]
    )
    inputs: dict[str, Json] = {name: [1, 2]}
    assert tensor(run(name, **inputs), name).tolist() == [1.0, 2.0]


def test_a_number_stays_on_its_line_however_long_its_name_is() -> None:
    name = "x" * (LINE + 1)
    assert f"{name} = torch.tensor(1.0, requires_grad=True)\n" in program_of(name, {name: raw(1)}).code


def test_the_text_is_not_looked_at() -> None:
    assert "out = (1 +)" in program_of("1 +", {}).code


@pytest.mark.parametrize(
    ("expression", "inputs", "says"),
    [
        ("  ", {}, "the expression is empty"),
        ("x", {"2x": 1}, "'2x' cannot name an input because it is not a Python name"),
        ("x", {"lambda": 1}, "'lambda' cannot name an input"),
        ("x", {"torch": 1}, "'torch' cannot name an input because the program imports PyTorch under it"),
        ("x", {"x": "one"}, "input 'x' contains \"one\", which is not a number"),
        ("x", {"x": [True]}, "input 'x' contains true, which is not a number"),
        ("x", {"x": None}, "input 'x' contains null, which is not a number"),
        ("x", {"x": [[1], [1, 2]]}, "input 'x' is ragged: not all its lists at depth 2 have the same length"),
        ("x", {"x": [1, [2]]}, "input 'x' is ragged"),
        ("x", {"x": [1] * (MAX_ELEMENTS + 1)}, f"has {MAX_ELEMENTS + 1} elements, at most {MAX_ELEMENTS} are allowed"),
        ("x", {"x": [[[[[[[[[1]]]]]]]]]}, "has more than 8 axes"),
        ("x", {"x": {"values": 1}}, "unknown field 'values'; the fields are value, requires_grad, dtype"),
        ("x", {"x": {"dtype": "float32"}}, "has no field 'value'"),
        ("x", {"x": {"value": 1, "dtype": "string"}}, "asks for dtype 'string'; choose one of float32"),
        ("x", {"x": {"value": 1.5, "dtype": "int64"}}, "contains 1.5, which is not a whole number"),
        ("x", {"x": {"value": 1, "dtype": "int64", "requires_grad": True}}, "of dtype int64 cannot require grad"),
        ("x", {"x": {"value": 1, "requires_grad": 1}}, "has requires_grad 1; give true or false"),
    ],
)
def test_bad_input_is_named(expression: str, inputs: dict[str, Json], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        program_of(expression, {name: raw(value) for name, value in inputs.items()})
    assert says in str(refused.value)
    assert ";" in str(refused.value)  # what to do next


def test_a_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(BadInput, match="no float can hold"):
        program_of("x", {"x": msgspec.Raw(b"1" + b"0" * 400)})


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(BadInput, match="is not JSON"):
        program_of("x", {"x": msgspec.Raw(b"[1,")})


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3), min_size=1, max_size=60))
def test_any_matrix_arrives_as_it_was(rows: list[list[float]]) -> None:
    finite: list[Json] = [
        [str(value) if value in (float("inf"), -float("inf")) else value for value in row] for row in rows
    ]
    assert tensor(run("x", x=finite), "x").tolist() == rows


PLACES = {
    "a name that is missing": ("x * missing", "NameError", (1, 4, 11)),
    "behind blanks": ("  \n  x * missing  ", "NameError", (2, 6, 13)),
    "on its second line": ("x * 2 +\nmissing", "NameError", (2, 0, 7)),
    "after a comment": ("x * 2 + # twice\nmissing", "NameError", (2, 0, 7)),
    "among wide characters": ("len('数') * missing * x", "NameError", (1, 11, 18)),
    "a shape that does not fit": ("(x @ torch.ones(3)).sum()", "RuntimeError", (1, 1, 18)),
    "what is missing at its end": ("x + ", "SyntaxError", (1, 3, 3)),
    "pointing behind": ("(x * 2", "SyntaxError", None),
}


@pytest.mark.parametrize(("expression", "kind", "place"), PLACES.values(), ids=PLACES.keys())
def test_a_failure_says_where_it_is_in_the_expression(
    engine: LocalEngine, expression: str, kind: str, place: tuple[int, int, int] | None
) -> None:
    trace = engine.run(RunRequest(program=program_of(expression, {"x": msgspec.Raw(b"[1, 2]")})))
    failure = trace.failure
    assert failure is not None and failure.type == kind
    span = failure.in_expression
    if place is not None:
        assert span is not None and (span.line, span.column, span.end_column) == place
    assert all(finding.in_expression == span for finding in trace.findings if finding.span == failure.span)


def test_a_program_has_no_places_in_an_expression(engine: LocalEngine) -> None:
    trace = engine.run(RunRequest(program=Program(code="missing\n")))
    assert trace.failure is not None
    assert trace.failure.in_expression is None
