"""The numbers that the page shows beside plain PyTorch's: in the variables, the ledger and the inspector.

The page's own code says which tensor records it would show (`frontend/src/static/numbers.ts`), at the end of a run and at up to ten
steps, drawn by chance from those that end a statement. The same statements end in a run of plain PyTorch, known by their line and
by how many passes, optimizer steps and `zero_grad`s came before; what its tensors and gradients are then is what the page must show.

Compared are: each variable's value and the `.grad` beside it; each leaf that a running function, module or object holds, with its
`.grad` (found again by its value, not by a name); each gradient the ledger says was added; the gradients that enter and leave nodes
selected by chance, also those in the sentence of the visit's step. Not compared are: moments inside a statement or within a pass; statements that call another function of the
program; steps of a run whose loops are a sample; leaves that nothing holds any more; how numbers are rounded for the eye.
"""

import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

import engine
from build_frontend import npm_command
from engine.rules import texts
from engine.trace import Trace
from tests.oracle.compare import Reader, _values, engine_calls
from tests.oracle.equations import holds, letters, terms_hold
from tests.oracle.facts import Facts, Moment, PassFact, Question, TensorFact, Values, VisitFact
from tests.oracle.moments import simple_statements
from tests.oracle.test_oracle import PROGRAMS, ROOT, Plain, _read

STEPS = 10
NODES = 8
QUICK = frozenset(
    """
    same_names_two_optimizers same_names_recursion same_names_attributes same_names_arguments same_names_modules
    custom_optimizer grad_none_and_unused in_place_on_views numpy_copies_and_shares truncated_backprop
""".split()
)
"""Of the corpus; all lessons are quick."""
EVERY = [
    pytest.param(
        path, marks=() if path.parent.name == "gallery" or path.stem in QUICK else pytest.mark.slow, id=path.stem
    )
    for path in PROGRAMS
]
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


class RuleShown(msgspec.Struct):
    """What the inspector says of a visited node by its rule."""

    node: str
    forward: str
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


@pytest.mark.parametrize("path", EVERY)
def test_the_page_shows_the_numbers_pytorch_has(path: Path, plain: Plain, page: Page) -> None:
    code = _read(path)
    trace = engine.run(code)
    assert list(differences(trace, code, plain, page, random.Random(path.stem))) == []


WINDOWS = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
x = torch.randn(2, 4, 7)
y = torch.randn(4, 5, 6)
{call}
"""
WINDOW_CALLS = (
    "z = nn.Conv1d(4, 2, 3)(x)",
    "z = nn.Conv1d(4, 4, 3, stride=2, padding=1, dilation=2, groups=2, bias=False)(x)",
    "z = F.conv1d(x, torch.randn(4, 1, 2), torch.randn(4), padding='same', groups=4)",
    "z = nn.Conv2d(4, 2, (2, 3), stride=(1, 2), padding=(1, 2), dilation=(2, 1), groups=2)(y)",
    "z = F.conv2d(y[:, :4, :4], weight=torch.randn(2, 4, 2, 2), bias=None, stride=2)",
    "z = nn.ConvTranspose1d(4, 4, 3, stride=2, padding=1, output_padding=1, groups=2)(x[..., :3])",
    "z = nn.ConvTranspose2d(4, 2, 2, stride=2, dilation=2)(y[:, :2, :2])",
    "z = nn.MaxPool1d(3, stride=2, padding=1)(x)",
    "z = F.max_pool2d(y, 2, stride=1, padding=1, dilation=2, ceil_mode=True)",
    "z = nn.AvgPool1d(3, stride=2, padding=1)(x)",
    "z = nn.AvgPool1d(3, 2, 1, False, False)(x)",
    "z = F.avg_pool2d(y, (2, 3), padding=1, ceil_mode=True)",
    "z = F.avg_pool2d(y, 3, 2, padding=1, count_include_pad=False)",
    "z = nn.AvgPool2d(2, divisor_override=3)(y)",
)


@pytest.mark.parametrize("call", WINDOW_CALLS)
def test_a_cell_is_made_of_its_window(call: str, page: Page) -> None:
    """Every cell that is asked about has an equation, and its terms are the recorded numbers in its window."""
    trace = engine.run(WINDOWS.format(call=call))
    assert trace.failure is None
    made = next(op for op in reversed(trace.ops) if op.window)
    (tensor,) = (tensor for tensor in trace.tensors if tensor.id == made.outputs[0])
    cells = page.shows(trace, []).equations.cells
    assert len(cells) == min(12, len(tensor.data or ()))
    assert all(re.search("[=≈]", cell) and terms_hold(cell) for cell in cells)


def differences(trace: Trace, code: str, plain: Plain, page: Page, chance: random.Random) -> Iterator[str]:
    """Everything the page shows that plain PyTorch doesn't say, each as one sentence."""
    ends = list(statement_ends(trace, code)) if not trace.gaps else []
    chosen = chance.sample(ends, min(len(ends), 3 * STEPS))
    question = Question(
        code=code, threads=trace.environment.threads, hooks=True, moments=tuple(end for end, _ in chosen)
    )
    facts = plain.run(question)
    seen = [(step, fact) for (_, step), fact in zip(chosen, facts.moments, strict=True) if fact is not None][:STEPS]
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


def statement_ends(trace: Trace, code: str) -> Iterator[tuple[Moment, int]]:
    """The moments at which a statement has ended, by the timeline, and the step that each comes after."""
    statements = simple_statements(code)
    updates = {update.id: update for update in trace.updates}
    spans = {made.id: made.span for made in trace.passes}
    found: defaultdict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    counts: Counter[str] = Counter()
    running: int | None = None
    for step, event in enumerate(trace.timeline):
        span = event.span or spans.get(event.pass_id or "")
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


def test_the_comparison_can_fail(plain: Plain, page: Page) -> None:
    code = "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\n"
    trace = engine.run(code)
    found = list(differences(trace, code.replace("2).sum", "3).sum"), plain, page, random.Random(0)))
    for start in (
        "end: variable x: grad",
        "end: ledger of x",
        "end: variable y",
        "end: node MulBackward0 left",
        "end: sentence of MulBackward0",
    ):
        assert any(item.startswith(start) for item in found), start
    assert any(item.startswith("step") for item in found)
