"""Derivative rules: node type to forward formula and one gradient formula for each slot.

A rule says in letters what the C++ node computes for real numbers; sums over broadcast axes happen after it, on the
edge. `python -m engine.rules` prints all of them as JSON."""

from engine.rules.rule import Rule
from engine.rules.table import TABLE, RuleSlot, RuleText, rule_of, texts

__all__ = ["TABLE", "Rule", "RuleSlot", "RuleText", "rule_of", "texts"]
