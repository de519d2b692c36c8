"""Limits of one run: defaults with their reasons."""

from engine.trace import RunLimits

MIB = 1024 * 1024
PATIENCE = 3.0
"""A run on a busy machine ends after so many times its `wall_s` by the clock, however little of it it had."""
STOPPING_OUTPUT_BYTES = 1 * MIB
"""A program that writes more than this to its stdout and stderr is stopped; `output_bytes` of it are kept."""

DEFAULT_LIMITS = RunLimits(
    wall_s=10.0,  # a learner waits this long; endless loops are common
    cpu_s=20.0,  # two threads for the whole wall time
    memory_bytes=1024 * MIB,  # a model of 50 million parameters with Adam fits
    output_bytes=256 * 1024,  # more than anyone reads
    ops=20_000,  # a trace of 16 MB, 1.5 MB compressed: what a page still opens at once
    nodes=25_000,
    trace_bytes=256 * MIB,
)
