"""All derivative rules: looked up by node type, and as texts ready to show."""

from collections.abc import Iterable
from functools import cache

from engine.rules.activations import ACTIVATIONS
from engine.rules.elementwise import ELEMENTWISE
from engine.rules.formula import Terms, equation, mathml, symbol, terms
from engine.rules.layers import LAYERS
from engine.rules.losses import LOSSES
from engine.rules.matrices import MATRICES
from engine.rules.reductions import REDUCTIONS
from engine.rules.rule import Rule
from engine.rules.shapes import SHAPES
from engine.trace import Record, Saved


class RuleSlot(Record, frozen=True):
    """The gradient for one input."""

    name: str
    """Slot name: `self`, `other`, `weight`."""
    letter: str
    """How the rule writes this input."""
    mathml: str
    """The gradient for it: each letter is a `<mi data-slot>`, a place for another letter or for the numbers of a
    node."""
    terms: Terms
    """The same to compute with: a symbol's name, a number, or a function's name and its arguments."""


class RuleText(Record, frozen=True):
    """A rule, ready to show."""

    id: str
    """Rule id, as in a node's `rule`."""
    forward_mathml: str
    """What the op computed, with the same places."""
    slots: tuple[RuleSlot, ...]
    """One for each input that gets a gradient."""
    words: dict[str, str]
    """One plain sentence in `zh` and `en`."""
    source: str
    """Where the rule comes from."""


TABLE: tuple[Rule, ...] = (*ELEMENTWISE, *ACTIVATIONS, *REDUCTIONS, *MATRICES, *SHAPES, *LOSSES, *LAYERS)
_BY_TYPE: dict[str, list[Rule]] = {}
for _rule in TABLE:
    for _type in _rule.types:
        _BY_TYPE.setdefault(_type, []).append(_rule)


_ALSO_COMPLEX = {rule.id for rule in SHAPES} | {
    "add", "add_alpha", "add_number", "sub", "sub_alpha", "rsub", "neg",
    "where", "masked_fill", "sum", "sum_dim", "mean", "mean_dim", "accumulate_grad",
}  # fmt: skip
"""Rules that no number of the forward stands in: the others are written for real numbers, without conjugates."""


def rule_of(node_type: str, saved: Iterable[Saved] = (), *, is_complex: bool = False) -> str | None:
    """Id of the rule of a node type; None when there is no readable one for what the node saved, or for complex
    numbers."""
    rule = _rule_of(node_type, saved)
    return None if is_complex and rule not in _ALSO_COMPLEX else rule


def _rule_of(node_type: str, saved: Iterable[Saved]) -> str | None:
    rows = _BY_TYPE.get(node_type)
    if rows is None:
        return None
    if len(rows) == 1 and not rows[0].only:
        return rows[0].id
    fields = {value.field: _plain(value) for value in saved}
    for row in rows:
        if all(fields.get(field, "None") == text for field, text in row.only.items()):
            return row.id
    return None


def _plain(saved: Saved) -> str | None:
    """A saved value as a row writes it: no quotes, `2` for `2.0`; None of a tensor, one that cannot be read too."""
    if saved.tensor is not None or not saved.text:
        return None
    return saved.text.strip("'\"").removesuffix(".0")


@cache
def texts() -> tuple[RuleText, ...]:
    """All rules, ready to show."""
    return tuple(_text(rule) for rule in TABLE)


def _text(rule: Rule) -> RuleText:
    result = symbol(rule.letters.get("result", "y"), "result")
    return RuleText(
        id=rule.id,
        forward_mathml=equation(result, mathml(rule.forward, rule.letters)),
        slots=tuple(
            RuleSlot(
                name=name, letter=rule.letters.get(name, name), mathml=mathml(expr, rule.letters), terms=terms(expr)
            )
            for name, expr in rule.slots.items()
        ),
        words={"zh": rule.zh, "en": rule.en},
        source=rule.source,
    )
