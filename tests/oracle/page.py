"""The numbers that the page shows beside plain PyTorch's: in the variables, the ledger and the inspector.

The page's own code says which tensor records it would show (`numbers.ts`), at the end of a run and at up to ten
steps, drawn by chance from those that end a statement. The same statements end in a run of plain PyTorch, known by their line and
by how many passes, optimizer steps and `zero_grad`s came before; what its tensors and gradients are then is what the page must show.

Compared are: each variable's value and the `.grad` beside it; each leaf that a running function, module or object holds, with its
`.grad` (found again by its value, not by a name); each gradient the ledger says was added; the gradients that enter and leave nodes
selected by chance, also those in the sentence of the visit's step. Not compared are: moments inside a statement or within a pass; statements that call another function of the
program; steps of a run whose loops are a sample; leaves that nothing holds any more; how numbers are rounded for the eye.
"""

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec

from build_frontend import npm_command
from engine.rules import texts
from engine.trace import Trace
from tests.oracle.compare import Reader, _values, engine_calls
from tests.oracle.equations import holds, letters, terms_hold
from tests.oracle.facts import Facts, Moment, PassFact, TensorFact, Values, VisitFact
from tests.oracle.moments import simple_statements

ROOT = Path(__file__).parent.parent.parent
STEPS = 10
NODES = 8
Shown = str | None


class VariableShown(msgspec.Struct):
    """A row of the variables; `grad` is unset where it says nothing of one."""

    name: str
    tensor: Shown
    text: Shown
    grad: Shown | msgspec.UnsetType = msgspec.UNSET


class Added(msgspec.Struct):
    """A pass in a leaf's ledger."""

    pass_id: str = msgspec.field(name="pass")
    visit: int
    delta: Shown


class LeafShown(msgspec.Struct):
    """A leaf in the ledger and the inspector."""

    name: str
    value: Shown
    grad: Shown
    added: list[Added]


class Told(msgspec.Struct):
    """The numbers in the sentence of a visit's step: what it received, and what it sent by slot."""

    received: list[str]
    sent: list[tuple[int, str]]


class NodeShown(msgspec.Struct):
    """A node in the inspector, and in the sentence of its visit."""

    pass_id: str = msgspec.field(name="pass")
    visit: int
    entered: list[Shown]
    left: list[Shown]
    told: Told | None


class Numbers(msgspec.Struct):
    """What the page shows at one step."""

    variables: list[VariableShown]
    leaves: list[LeafShown]
    nodes: list[NodeShown]


class SlotShown(msgspec.Struct):
    """What a rule says of one slot; MathML."""

    formula: str
    numbers: Shown


class Stands(msgspec.Struct):
    """What a letter stands for."""

    letter: str
    name: str


class RuleShown(msgspec.Struct):
    """What the inspector says of a visited node by its rule."""

    node: str
    forward: str
    stands: list[Stands]
    slots: list[SlotShown]


class Equations(msgspec.Struct):
    """Every equation of a run."""

    rules: list[RuleShown]
    cells: list[str]


class EvidenceShown(msgspec.Struct):
    """A row of what proves a finding, and the records whose values it says."""

    what: str
    says: str = msgspec.field(name="is")
    values: list[str] = msgspec.field()


class Answer(msgspec.Struct):
    """All that the page shows; the evidence by finding."""

    numbers: list[Numbers]
    equations: Equations
    evidence: list[list[EvidenceShown]]


class Page:
    """The page's own code in a process of Node."""

    def __init__(self) -> None:
        npm = Path(npm_command()[0])
        node = npm if npm.name == "node" else npm.with_name("node")
        command = [str(node), str(Path(__file__).with_name("page.mjs")), str(ROOT / "frontend")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def shows(self, trace: Trace, questions: Sequence[tuple[int, Sequence[str]]]) -> Answer:
        """What it shows at each step, with these nodes selected, and its equations."""
        asked = [{"step": step, "nodes": nodes} for step, nodes in questions]
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(msgspec.json.encode({"trace": trace, "questions": asked, "rules": texts()}) + b"\n")
        self.process.stdin.flush()
        return msgspec.json.decode(self.process.stdout.readline(), type=Answer)

    def close(self) -> None:
        """End the process and its pipes."""
        self.process.communicate(timeout=20)


Asked = tuple[Moment, int]
"""A moment at which a statement has ended, and the step that comes before."""


def asked(trace: Trace, code: str, chance: Random) -> list[Asked]:
    """The moments to ask plain PyTorch about: some of those that can be told apart, by chance."""
    ends = list(statement_ends(trace, code)) if not trace.gaps else []
    return chance.sample(ends, min(len(ends), 3 * STEPS))


def differences(
    trace: Trace, code: str, moments: Sequence[Asked], facts: Facts, page: Page, chance: Random
) -> Iterator[str]:
    """Everything the page shows that plain PyTorch, asked about the moments and with hooks, doesn't say, each as one
    sentence."""
    seen = [(step, fact) for (_, step), fact in zip(moments, facts.moments, strict=True) if fact is not None][:STEPS]
    visited = list(dict.fromkeys(visit.node for made in trace.passes for visit in made.visits))
    nodes = [chance.sample(visited, min(len(visited), NODES)) for _ in range(len(seen) + 1)]
    answer = page.shows(trace, list(zip([*(step for step, _ in seen), len(trace.timeline)], nodes, strict=True)))
    yield from untrue(answer.equations, code)
    numbers = answer.numbers
    look = Look(trace, facts)
    for (step, fact), shown in zip(seen, numbers, strict=False):
        for difference in look.differences(shown, fact.variables, fact.leaves):
            yield f"step {step}: {difference}"
    variables = {name: item.tensor for name, item in facts.variables.items() if item.tensor is not None}
    members = [member for item in facts.variables.values() for member in item.members.values()]
    for difference in look.differences(numbers[-1], variables, members):
        yield f"end: {difference}"
    missing = variables.keys() - {item.name for item in numbers[-1].variables}
    yield from (f"end: variable {name} is not shown" for name in sorted(missing))


def untrue(equations: Equations, code: str) -> Iterator[str]:
    """Equations that don't equal their numbers, and letters that mean something else in the program."""
    names = set(re.findall(r"[^\W\d]\w*", code))
    for rule in equations.rules:
        for slot in rule.slots:
            if slot.numbers is not None and not holds(slot.numbers):
                yield f"{rule.node}: not so: {slot.numbers}"
            taken = {letter for letter in letters(slot.formula) | letters(rule.forward) if len(letter) == 1} & names
            yield from (f"{rule.node}: {letter} is the program's own" for letter in sorted(taken))
    yield from (f"not so: {cell}" for cell in equations.cells if not terms_hold(cell))


def statement_ends(trace: Trace, code: str) -> Iterator[Asked]:
    """The moments at which a statement has ended, by the timeline, and the step that each comes after; none of the last
    statement where other code was run after the program."""
    statements = simple_statements(code)
    updates = {update.id: update for update in trace.updates}
    spans = {made.id: made.span for made in trace.passes}
    found: defaultdict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    counts: Counter[str] = Counter()
    running: int | None = None
    lines = code.count("\n") + 1
    for step, event in enumerate(trace.timeline):
        span = event.span or spans.get(event.pass_id or "")
        if span and span.line > lines:
            running = None
            break
        here = statements[span.line][0] if span and span.line in statements else None
        if span and here != running:
            if running is not None:
                found[running, counts["pass"], counts["step"], counts["zero_grad"]].append(step)
            running = here
        update = updates.get(event.update or "")
        if event.kind == "pass":
            counts["pass"] += 1
        elif update and not update.raised:
            counts[update.kind] += 1
    if running is not None and trace.failure is None:
        found[running, counts["pass"], counts["step"], counts["zero_grad"]].append(len(trace.timeline))
    for (line, passes, steps, zero_grads), ends in found.items():
        for occurrence, step in enumerate(ends):
            yield (
                Moment(
                    line=line, passes=passes, steps=steps, zero_grads=zero_grads, occurrence=occurrence, of=len(ends)
                ),
                step,
            )


class Look:
    """Compares what is shown with what was."""

    def __init__(self, trace: Trace, facts: Facts) -> None:
        self.reader = Reader(trace)
        self.passes: dict[str, PassFact] = {
            made.id: fact for made, fact in zip(engine_calls(trace, len(facts.passes)), facts.passes, strict=False)
        }

    def differences(
        self, shown: Numbers, variables: Mapping[str, TensorFact], leaves: Sequence[TensorFact]
    ) -> Iterator[str]:
        """What is wrong at one step."""
        for row in shown.variables:
            if row.tensor is not None:
                yield from (f"variable {row.name}: {wrong}" for wrong in self._variable(row, variables.get(row.name)))
        for fact in leaves:
            if fact.grad is not None and not any(self._is(account, fact) for account in shown.leaves):
                alike = [item.name for item in shown.leaves if not self._wrong(fact.values, item.value)]
                yield f"no ledger has the gradient {fact.grad} of {fact.values}; its value have {alike}"
        for account in shown.leaves:
            for added in account.added:
                entered = self._visit(added.pass_id, added.visit).entered
                yield from (f"ledger of {account.name}: {wrong}" for wrong in self._wrong(entered[0], added.delta))
        for node in shown.nodes:
            visit = self._visit(node.pass_id, node.visit)
            for way, expected, got in (("entered", visit.entered, node.entered), ("left", visit.left, node.left)):
                for value, tensor in zip(expected, got, strict=True):
                    yield from (f"node {visit.node} {way}: {wrong}" for wrong in self._wrong(value, tensor))
            if node.told:
                yield from (f"sentence of {visit.node}: {wrong}" for wrong in self._told(node.told, visit))

    def _told(self, told: Told, visit: VisitFact) -> Iterator[str]:
        arrived = [value for value in visit.entered if value is not None]
        for value, tensor in zip(arrived, told.received, strict=True):
            yield from self._wrong(value, tensor)
        for slot, tensor in told.sent:
            yield from self._wrong(visit.left[slot], tensor)

    def _variable(self, row: VariableShown, fact: TensorFact | None) -> Iterator[str]:
        if fact is None:
            yield "there is none"
            return
        yield from self._wrong(fact.values, row.tensor)
        if row.grad is msgspec.UNSET and not fact.is_leaf:
            return  # what `retain_grad()` kept is told at the end alone
        grad = None if row.grad is msgspec.UNSET else row.grad
        yield from (f"grad: {wrong}" for wrong in self._wrong(fact.grad, grad))

    def _is(self, account: LeafShown, fact: TensorFact) -> bool:
        return not self._wrong(fact.values, account.value) and not self._wrong(fact.grad, account.grad)

    def _wrong(self, expected: Values | None, tensor: Shown) -> list[str]:
        if expected is None or tensor is None:
            return [] if expected is None and tensor is None else [f"expected {expected}, got {tensor}"]
        return list(_values(expected, self.reader.tensors[tensor]))

    def _visit(self, pass_id: str, visit: int) -> VisitFact:
        return self.passes[pass_id].visits[visit]
