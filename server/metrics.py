"""Counts and times of the service, in the text format Prometheus reads."""

import re
from bisect import bisect_left
from collections import Counter

_BOUNDS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_CODE = re.compile(r"[a-z0-9_]{1,60}")
_MOST_CODES = 1_500


class Metrics:
    """Counted on the event loop only."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self.store: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self._run_buckets = [0] * (len(_BOUNDS_S) + 1)
        self._run_seconds = 0.0

    def run_took(self, seconds: float) -> None:
        """One run, from the queue's door to its trace."""
        self._run_buckets[bisect_left(_BOUNDS_S, seconds)] += 1
        self._run_seconds += seconds

    def told(self, codes: tuple[str, ...]) -> None:
        """The findings of one run that somebody asked for."""
        for code in set(codes):  # a program that takes over its worker may name any
            is_known = code in self.findings or len(self.findings) < _MOST_CODES
            self.findings[code if is_known and _CODE.fullmatch(code) else "other"] += 1

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """All figures; gauges are given as name -> (sentence, value)."""
        lines = [
            *_counter("gradgraph_runs_total", "Runs performed, by status of the trace.", "status", self.runs),
            *_counter("gradgraph_http_answers_total", "HTTP answers, by status.", "status", self.answers),
            *_counter("gradgraph_store_total", "Runs asked for, by whether the store had them.", "result", self.store),
            *_counter("gradgraph_findings_total", "Runs by the findings told of them.", "code", self.findings),
            *self._histogram(),
        ]
        for name, (sentence, value) in gauges.items():
            lines += [f"# HELP {name} {sentence}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "gradgraph_run_seconds"
        lines = [f"# HELP {name} Time from request to trace, waiting included.", f"# TYPE {name} histogram"]
        total = 0
        for bound, count in zip((*map(str, _BOUNDS_S), "+Inf"), self._run_buckets, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self._run_seconds:.6f}", f"{name}_count {total}"]


def _counter(name: str, sentence: str, label: str, counts: Counter[str] | Counter[int]) -> list[str]:
    values = [f'{name}{{{label}="{key}"}} {count}' for key, count in sorted(counts.items())]
    return [f"# HELP {name} {sentence}", f"# TYPE {name} counter", *values]
