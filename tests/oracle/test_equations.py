"""The reader of equations says no where a person would."""

import pytest

from tests.oracle.equations import holds, letters, terms_hold


def row(*numbers: float) -> str:
    return f"<mtr>{''.join(f'<mtd><mn>{number}</mn></mtd>' for number in numbers)}</mtr>"


ONES, PRICES = (f"<mtable>{row(*rows[0])}{row(*rows[1])}</mtable>" for rows in (((1, 1), (1, 1)), ((1, 2), (4, 5))))
SUM = "<munder><mo>∑</mo><mn>0</mn></munder>"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (f"{ONES}<mo>⊙</mo>{PRICES}", f"<mo>=</mo><mtable>{row(5, 7)}</mtable>", False),
        (f"{SUM}<mo>(</mo>{ONES}<mo>⊙</mo>{PRICES}<mo>)</mo>", f"<mo>=</mo><mtable>{row(5, 7)}</mtable>", True),
        ("<msup><mn>−3</mn><mn>2</mn></msup>", "<mo>=</mo><mn>9</mn>", False),
        ("<msup><mrow><mo>(</mo><mn>−3</mn><mo>)</mo></mrow><mn>2</mn></msup>", "<mo>=</mo><mn>9</mn>", True),
        ("<mn>2</mn><mo>⊙</mo><mn>0.3333</mn>", "<mo>=</mo><mn>0.6667</mn>", False),
        ("<mn>2</mn><mo>⊙</mo><mn>0.3333</mn>", "<mo>≈</mo><mn>0.6667</mn>", True),
        ("<mn>2</mn><mo>⊙</mo><mn>0.3333</mn>", "<mo>≈</mo><mn>0.7</mn>", False),
        ("<mn>2.458e−5</mn><mo>+</mo><mn>2</mn>", "<mo>=</mo><mn>2</mn>", False),
        ("<mn>2.458e−5</mn><mo>+</mo><mn>2</mn>", "<mo>≈</mo><mn>2</mn>", True),
        ("<mn>1</mn><mo>−</mo><mrow><mn>2</mn><mo>−</mo><mn>3</mn></mrow>", "<mo>=</mo><mn>2</mn>", False),
        ("<mn>1</mn><mo>⊙</mo><mi>b</mi>", "<mo>=</mo><mn>1</mn>", False),
    ],
)
def test_an_equation_is_read_as_it_stands(left: str, right: str, expected: bool) -> None:
    assert holds(f"<math><mrow>{left}{right}</mrow></math>") is expected


def test_a_sum_of_products_is_added_up() -> None:
    assert terms_hold("1·4 + 2·(−5) = −6")
    assert not terms_hold("1·4 + 2·5 = 15")
    assert terms_hold("0.3333·3 ≈ 1")
    assert not terms_hold("0.3333·3 = 1")
    assert not terms_hold("2.458e−5 + 2 = 2")


def test_names_of_functions_are_no_letters() -> None:
    formula = "<math><mrow><mi>exp</mi><mo>(</mo><mi>xᵢ</mi><mo>)</mo><mo>⊙</mo><mi>dim</mi></mrow></math>"
    assert letters(formula) == {"x", "dim"}
