"""Texts of lessons become pieces: words, code, formulas, phrases and terms."""

from server.lesson_text import Glossary, paragraphs
from server.wire import Piece


def _pieces(text: str, language: str = "en") -> list[list[Piece]]:
    return [list(paragraph) for paragraph in paragraphs(text, Glossary(language))]


def test_blank_lines_part_paragraphs() -> None:
    assert [[piece.text for piece in paragraph] for paragraph in _pieces("One.\n\nTwo.\n")] == [["One."], ["Two."]]


def test_a_line_that_ends_beside_a_chinese_character_leaves_no_gap() -> None:
    assert [[piece.text for piece in paragraph] for paragraph in _pieces("前一行，\n后一行 sum\nof 和\n。\n\n下一段", "zh")] == [
        ["前一行，后一行 sum\nof 和。"], ["下一段"]
    ]  # fmt: skip


def test_code_and_phrases_are_told_apart() -> None:
    (paragraph,) = _pieces("`x.grad` is [the sum](<y * y>) of <b>both</b>.")
    assert [(piece.kind, piece.text, piece.at) for piece in paragraph] == [
        ("code", "x.grad", None),
        ("text", " is ", None),
        ("phrase", "the sum", "y * y"),
        ("text", " of <b>both</b>.", None),
    ]


def test_a_formula_becomes_mathml() -> None:
    ((formula,),) = _pieces("$y = x^2$")
    assert (formula.kind, formula.text) == ("math", "y = x^2")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in (formula.says or "")


def test_a_formula_cannot_hold_elements_of_a_page() -> None:
    ((formula,),) = _pieces("$<img src=x>$")
    assert "<img" not in (formula.says or "")


def test_a_term_is_explained_where_it_first_stands() -> None:
    first, second = _pieces("A leaf keeps a gradient.\n\nOne leaf has one.")
    assert [piece.text for piece in first if piece.kind == "term"] == ["leaf", "gradient"]
    assert [piece.kind for piece in second] == ["text"]
    assert [piece.text for piece in _pieces("叶子留下梯度。", "zh")[0] if piece.kind == "term"] == ["叶子", "梯度"]


def test_part_of_a_word_is_no_term() -> None:
    assert [piece.kind for piece in _pieces("leafy edged")[0]] == ["text"]


def test_an_empty_mark_says_that_words_are_no_term() -> None:
    (paragraph,) = _pieces("An [edge]() of the picture, and an edge.")
    assert [(piece.kind, piece.text) for piece in paragraph] == [
        ("text", "An "),
        ("text", "edge"),
        ("text", " of the picture, and an "),
        ("term", "edge"),
        ("text", "."),
    ]
    assert [piece.kind for piece in _pieces("沿[时间轴]()走", "zh")[0]] == ["text", "text", "text"]
