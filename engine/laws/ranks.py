"""Laws of ranks: who takes part in a collective, and who adds to whose leaves."""

from collections import defaultdict
from collections.abc import Iterator
from math import prod

from engine.trace import Op
from engine.trace_index import TraceIndex


def ranks(index: TraceIndex) -> Iterator[str]:
    """Every breach: a collective is one op of each rank that took part, all of one name or a `send` and its `recv`."""
    met: defaultdict[str, list[Op]] = defaultdict(list)
    for op in index.trace.ops:
        if op.collective is not None:
            met[op.collective].append(op)
    for collective, ops in met.items():
        if None in (of := [op.rank for op in ops]) or len(set(of)) < len(of):
            yield f"collective {collective} is of ranks {of}"
        names = {op.name for op in ops}
        if len(names) > 1 and not all(name.removeprefix("i") in ("send", "recv") for name in names):
            yield f"collective {collective} is {sorted(names)}"
        for op in ops:
            yield from _bucket(index, op)


def _bucket(index: TraceIndex, op: Op) -> Iterator[str]:
    if not op.bucket:
        return
    parameters = [index.tensors[id_] for id_ in op.bucket]
    given = sum(prod(index.tensors[id_].shape) for id_ in op.inputs)
    if not all(parameter.is_leaf and parameter.requires_grad for parameter in parameters):
        yield f"{op.id} reduces the bucket {op.bucket}, and not all of these are leaves"
    if sum(prod(parameter.shape) for parameter in parameters) != given:
        yield f"{op.id} reduces {given} elements, and not those of {op.bucket}"
