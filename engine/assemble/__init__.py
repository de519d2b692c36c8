"""Events to trace: pure, needs no PyTorch, and gives a valid trace of any stream, cut wherever it was cut."""

from engine.assemble.whole_run import assemble

__all__ = ["assemble"]
