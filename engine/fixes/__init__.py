"""Fixes of findings, judged by running the edited program. Pure: others run it."""

from engine.fixes.judge import edited, fixable, judge
from engine.fixes.types import FORMAT, Fixes, Shift, Trial

__all__ = ["FORMAT", "Fixes", "Shift", "Trial", "edited", "fixable", "judge"]
