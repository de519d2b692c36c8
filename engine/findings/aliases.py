"""Two names for one thing where a copy was meant: targets and averages that are the model itself."""

from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, line
from engine.program.names import dotted, names_read
from engine.trace import Finding, Op

WRITES = ("copy_", "add_", "lerp_")


def copied_onto_itself(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A tensor written from itself under another name, as a target network is that was never copied."""
    code = diagnosis.code
    for op in diagnosis.ops_named(WRITES) if diagnosis.steps else ():
        names = _names_of_one(diagnosis, op)
        if len(names) < 2:
            continue
        first, second = names[:2]
        alias = next(
            (bound for bound in code.bindings if {dotted(bound.targets[0]), dotted(bound.value)} == {*names}), None
        )
        yield diagnosis.finding(
            "copied_onto_itself",
            "warning",
            code.span(alias) if alias is not None else op.span,
            tensors=(diagnosis.identity(op.inputs[0]),),
            first=dotted(alias.targets[0]) if alias is not None else first,
            second=dotted(alias.value) if alias is not None else second,
            copy_line=line(op.span),
            code=code.excerpt(op.span),
        )
        return


def _names_of_one(diagnosis: Diagnosis, op: Op) -> list[str]:
    """The names in an op's line that stand for the very tensor it writes, when it also reads that."""
    target, given = diagnosis.input_of(op), diagnosis.input_of(op, 1)
    node = diagnosis.code.at(op.span)
    if target is None or given is None or target.storage is None or target.storage != given.storage or node is None:
        return []
    roots = {name.replace("[", ".").partition(".")[0] for name in target.names}
    return sorted(roots & names_read(node)) if target.shape == given.shape else []
