"""The functions of derivative rules that the page computes, so that it shows them with numbers."""

import re
from collections.abc import Iterator
from pathlib import Path

from engine.rules import texts
from engine.rules.formula import Terms

FORMULA = Path(__file__).parents[2] / "frontend/src/core/ops/formula.ts"
WITHOUT_NUMBERS = frozenset(
    """
    normal_cdf normal_pdf scatter identity transpose_axes unpermute sum_to_shape put_slice put_add index_add
    index_select zero_at index scatter_add cat stack sum_repeats tril triu to outside zero_along gather put_mask
    inside back put_diagonal crop block_sum one_hot conv_transpose correlate spread dS softmax conv prod_others
""".split()
)
"""Those of which a formula in letters says more than its numbers would."""


def _functions(terms: Terms) -> Iterator[str]:
    if isinstance(terms, list):
        yield terms[0]
        for part in terms[1:]:
            yield from _functions(part)


def test_each_function_of_a_rule_is_computed_by_the_page_or_shown_without_numbers() -> None:
    used = {name for rule in texts() for slot in rule.slots for name in _functions(slot.terms)}
    text = FORMULA.read_text()
    tables = text[text.index("const ELEMENTWISE") : text.index("/** The value of a formula")]
    computed = set(re.findall(r"^  (\w+)[:,]", tables, re.MULTILINE))
    assert used - computed == WITHOUT_NUMBERS
