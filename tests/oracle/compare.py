"""The differences between what plain PyTorch does and what a trace says, each as one sentence."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from engine.trace import Failure, Module, Node, Pass, Tensor, Trace, Variable
from tests.oracle.facts import (
    FILE,
    Element,
    Facts,
    FailureFact,
    Figures,
    GraphFact,
    PassFact,
    TensorFact,
    Values,
    VariableFact,
    VisitFact,
)

SHOWN = 120
"""Characters of a value in a sentence."""
LIBRARIES = re.compile(r"/[^\s\"'()]*/(?:site-packages|dist-packages|python3\.\d+)/")
"""Where they lie is not told."""
RTOL = 1e-4
"""Figures are computed in different orders of summation; elements must be equal to the bit."""


def differences(trace: Trace, facts: Facts, hooked: Facts) -> Iterator[str]:
    """Every difference; `hooked` is the second run, the one with hooks, asked for the visits alone."""
    yield from _printed(trace, facts)
    yield from _warned(trace, facts)
    yield from _failed(trace.failure, facts.failure)
    reader = Reader(trace)
    yield from _variables(reader, facts)
    yield from _passes(reader, facts.passes, hooked.passes)
    yield from _counts(trace, facts)
    yield from (f"not recorded: {finding.parameters}" for finding in trace.findings if finding.code == "not_recorded")


class Reader:
    """Looks things up in a trace by id."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.tensors = {tensor.id: tensor for tensor in trace.tensors}
        self.nodes = {node.id: node for node in trace.nodes}
        self.modules = {module.id: module for module in trace.modules}

    def graph(self, root: str) -> GraphFact:
        """What is reachable from a node."""
        nodes = self._reachable(root)
        ends = [[edge.to for edge in node.edges if edge.to is not None] for node in nodes]
        return GraphFact(
            types=dict(Counter(node.type for node in nodes)),
            edges=sum(len(present) for present in ends),
            parallel=sum(len(present) - len(set(present)) for present in ends),
            missing=sum(1 for node in nodes for edge in node.edges if edge.to is None),
        )

    def _reachable(self, root: str) -> list[Node]:
        pending = [root]
        seen = {root}
        for node in pending:
            for edge in self.nodes[node].edges:
                if edge.to is not None and edge.to not in seen:
                    seen.add(edge.to)
                    pending.append(edge.to)
        return [self.nodes[node] for node in pending]

    def named(self, name: str) -> Tensor | None:
        """The last state of the tensor with this name."""
        return next((tensor for tensor in reversed(self.trace.tensors) if name in tensor.names), None)

    def member(self, module: Module, path: str) -> Tensor | None:
        """A parameter or buffer by its path from the module."""
        *parents, last = path.split(".")
        for length in range(len(parents), -1, -1):  # names of parametrized modules hold dots of their own
            owner = self._descendant(module, parents[:length])
            name = ".".join([*parents[length:], last])
            if owner is not None:
                for held in (*owner.parameters, *owner.buffers):
                    if held.name == name:
                        return self.tensors[held.tensor]
        return None

    def _descendant(self, module: Module, path: Sequence[str]) -> Module | None:
        for name in path:
            wanted = f"{module.path}.{name}"
            found = [child for child in self.trace.modules if child.parent == module.id and child.path == wanted]
            if not found:
                return None
            module = found[0]
        return module


def engine_calls(trace: Trace, count: int) -> Sequence[Pass]:
    """The passes that reached the engine, which was called so often: the others were refused before."""
    if len(trace.passes) == count:
        return trace.passes
    return [made for made in trace.passes if not made.failed or made.visits or made.failed_node]


def _printed(trace: Trace, facts: Facts) -> Iterator[str]:
    for stream, expected in (("stdout", facts.stdout), ("stderr", facts.stderr)):
        got = "".join(piece.text for piece in trace.output if piece.stream == stream)
        if _plain_text(got) != _plain_text(expected):
            yield f"{stream}: expected {_short(expected)}, got {_short(got)}"


def _plain_text(text: str) -> str:
    """The text without addresses, thread numbers and folders of libraries, and with one name for the program's file."""
    text = LIBRARIES.sub("", text)
    text = re.sub(r"( (?:started|stopped)(?: daemon)?) \d{15}\)>", r"\1)>", text)
    return re.sub(r"0x[0-9a-f]+|\d{15}", "0x", text.replace("<program>", FILE))


def _warned(trace: Trace, facts: Facts) -> Iterator[str]:
    expected = [(w.category, _plain_text(w.message), w.line) for w in facts.warnings]
    got = [(w.category, _plain_text(w.message), w.span.line if w.span else 0) for w in trace.warnings]
    if got != expected:
        yield f"warnings: expected {_short(expected)}, got {_short(got)}"


def _failed(got: Failure | None, expected: FailureFact | None) -> Iterator[str]:
    said = got and (got.type, got.message, got.span.line if got.span else 0)
    wanted = expected and (expected.type, expected.message, expected.line)
    if said != wanted:
        yield f"failure: expected {_short(wanted)}, got {_short(said)}"


def _counts(trace: Trace, facts: Facts) -> Iterator[str]:
    for what, expected, got in (
        ("engine calls", len(facts.passes), len(engine_calls(trace, len(facts.passes)))),
        ("optimizer steps", facts.steps, sum(not update.raised for update in trace.updates if update.kind == "step")),
        ("zero_grads", facts.zero_grads, _updates(trace, "zero_grad")),
    ):
        if got != expected:
            yield f"{what}: expected {expected}, got {got}"


def _updates(trace: Trace, kind: str) -> int:
    return sum(1 for update in trace.updates if update.kind == kind)


def _variables(reader: Reader, facts: Facts) -> Iterator[str]:
    got = {variable.name: variable for variable in reader.trace.variables}
    for name in sorted(facts.variables.keys() - got.keys()):
        yield f"variable {name}: not in the trace"
    for name in sorted(got.keys() - facts.variables.keys()):
        yield f"variable {name}: in the trace alone"
    for name, fact in facts.variables.items():
        if name in got:
            for difference in _variable(reader, fact, got[name]):
                yield f"variable {name}: {difference}"


def _variable(reader: Reader, fact: VariableFact, variable: Variable) -> Iterator[str]:
    if (variable.kind, variable.type) != (fact.kind, fact.type):
        yield f"expected {fact.kind} {fact.type}, got {variable.kind} {variable.type}"
        return
    if fact.tensor is not None:
        if variable.tensor is None:
            yield "no tensor"
        else:
            yield from _tensor(reader, fact.tensor, reader.tensors[variable.tensor])
            yield from _root(reader, fact.graph, reader.tensors[variable.tensor])
    if fact.kind == "module":
        yield from _members(reader, fact, variable)
    if fact.kind in ("value", "array"):
        yield from _value(reader, fact, variable)


def _members(reader: Reader, fact: VariableFact, variable: Variable) -> Iterator[str]:
    module = reader.modules.get(variable.module or "")
    for path, expected in fact.members.items():
        member = reader.named(f"{variable.name}.{path}") or (reader.member(module, path) if module else None)
        if member is None:
            yield f"{path}: not in the trace"
        else:
            for difference in _tensor(reader, expected, member):
                yield f"{path}: {difference}"


def _value(reader: Reader, fact: VariableFact, variable: Variable) -> Iterator[str]:
    if not _same_text(fact.text, variable.text) and variable.text != f"<{fact.type}>":
        yield f"expected {_short(fact.text)}, got {_short(variable.text)}"
    if len(variable.tensors) > len(fact.items):
        yield f"expected {len(fact.items)} tensors, got {len(variable.tensors)}"
    for number, (expected, got) in enumerate(zip(fact.items, variable.tensors, strict=False)):
        for difference in _values(expected, reader.tensors[got]):
            yield f"item {number}: {difference}"
    if fact.items and not variable.tensors:
        yield f"its {len(fact.items)} tensors are missing"


def _same_text(expected: str | None, got: str | None) -> bool:
    """Whether two printed forms agree, addresses aside; a trace may cut a form of more than 200 characters."""
    plain, said = _plain_text(expected or ""), _plain_text(got or "")
    said = said.removesuffix("…")
    return plain == said or (len(plain) > 200 and plain[:150] == said[:150])


def _tensor(reader: Reader, fact: TensorFact, tensor: Tensor) -> Iterator[str]:
    yield from _values(fact.values, tensor)
    if (tensor.requires_grad, tensor.is_leaf) != (fact.requires_grad, fact.is_leaf):
        yield (
            f"expected requires_grad {fact.requires_grad} and is_leaf {fact.is_leaf}, "
            f"got {tensor.requires_grad} and {tensor.is_leaf}"
        )
    if (fact.grad is None) != (tensor.grad is None):
        yield f"grad: expected {_short(fact.grad)}, got {_short(tensor.grad)}"
    elif fact.grad is not None and tensor.grad is not None:
        for difference in _values(fact.grad, reader.tensors[tensor.grad]):
            yield f"grad: {difference}"


def _root(reader: Reader, fact: GraphFact | None, tensor: Tensor) -> Iterator[str]:
    if (fact is None) != (tensor.grad_fn is None):
        yield f"grad_fn: expected {'none' if fact is None else 'one'}, got {tensor.grad_fn}"
    elif fact is not None and tensor.grad_fn is not None:
        yield from _graph(fact, reader.graph(tensor.grad_fn.node))


def _graph(expected: GraphFact, got: GraphFact) -> Iterator[str]:
    if got.types != expected.types:
        more = {kind: count for kind, count in got.types.items() if count != expected.types.get(kind)}
        fewer = {kind: count for kind, count in expected.types.items() if count != got.types.get(kind)}
        yield f"nodes: expected {_short(fewer)}, got {_short(more)}"
    counts = (expected.edges, expected.parallel, expected.missing)
    if (got.edges, got.parallel, got.missing) != counts:
        yield (f"edges, parallel, missing: expected {counts}, got {(got.edges, got.parallel, got.missing)}")


def _passes(reader: Reader, facts: Sequence[PassFact], hooked: Sequence[PassFact]) -> Iterator[str]:
    for number, (fact, seen, got) in enumerate(
        zip(facts, hooked, engine_calls(reader.trace, len(facts)), strict=False)
    ):
        for difference in _pass(reader, fact, seen, got):
            yield f"pass {number}: {difference}"


def _pass(reader: Reader, fact: PassFact, hooked: PassFact, got: Pass) -> Iterator[str]:
    if (got.kind, got.failed) != (fact.kind, fact.failed):
        yield f"expected {fact.kind} failed={fact.failed}, got {got.kind} failed={got.failed}"
    roots = [root.node for root in got.roots if root.node is not None]
    if len(roots) != len(fact.roots):
        yield f"expected {len(fact.roots)} roots, got {len(roots)}"
    for expected, root in zip(fact.roots, roots, strict=False):
        for difference in _graph(expected, reader.graph(root)):
            yield f"root {root}: {difference}"
    order = [reader.nodes[visit.node].type for visit in got.visits]
    expected_order = [visit.node for visit in hooked.visits]
    if order != expected_order:
        yield f"order of {len(expected_order)} visits: expected {_short(expected_order)}, got {_short(order)}"
        return
    for number, (seen, visit) in enumerate(zip(hooked.visits, got.visits, strict=True)):
        for difference in _flows(reader, seen, visit.entered, visit.left):
            yield f"visit {number} ({seen.node}): {difference}"


def _flows(reader: Reader, fact: VisitFact, entered: Sequence[str | None], left: Sequence[str | None]) -> Iterator[str]:
    for way, expected, got in (("entered", fact.entered, entered), ("left", fact.left, left)):
        if [value is None for value in expected] != [gradient is None for gradient in got]:
            yield f"{way}: expected {_short(expected)}, got {_short(got)}"
            continue
        for slot, (value, gradient) in enumerate(zip(expected, got, strict=True)):
            if value is not None and gradient is not None:
                for difference in _values(value, reader.tensors[gradient]):
                    yield f"{way} {slot}: {difference}"


def _values(fact: Values, tensor: Tensor) -> Iterator[str]:
    if (tuple(tensor.shape), tensor.dtype) != (fact.shape, fact.dtype):
        yield f"expected {fact.dtype}{fact.shape}, got {tensor.dtype}{tensor.shape}"
    elif tensor.contents != "known":
        if fact.data is not None and tensor.contents == "unreadable":
            yield f"unreadable: {tensor.reason}"
    elif fact.data is not None:
        if tensor.data is None or not _equal(fact.data, tensor.data):
            yield f"expected {_short(fact.data)}, got {_short(tensor.data)}"
    elif fact.figures is not None:
        yield from _figures(fact.figures, tensor)


def _equal(expected: Sequence[Element], got: Sequence[Element]) -> bool:
    return list(expected) == list(got)


def _figures(expected: Figures, tensor: Tensor) -> Iterator[str]:
    got = tensor.summary
    if got is None:
        yield "no summary"
        return
    scale = max(abs(expected.min), abs(expected.max))
    for name in ("min", "max", "mean", "std", "norm"):
        wanted, said = float(getattr(expected, name)), float(getattr(got, name))
        if not math.isclose(wanted, said, rel_tol=RTOL, abs_tol=RTOL * scale):
            yield f"{name}: expected {wanted}, got {said}"
    counts = (expected.zeros, expected.nan, expected.inf)
    if (got.zeros, got.nan, got.inf) != counts:
        yield f"zeros, NaN, Inf: expected {counts}, got {(got.zeros, got.nan, got.inf)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"
