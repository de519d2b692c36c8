"""Diagnoses: pure functions from a trace to findings; their sentences are in the word lists under the code."""

from engine.findings.errors import explanation
from engine.findings.find import find

__all__ = ["explanation", "find"]
