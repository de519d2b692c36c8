"""What was read of a run so far, by kind."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine import events as ev
from engine.asked import PythonCalls
from engine.assemble.hook_calls import HookCalls
from engine.assemble.module_calls import Calls
from engine.derive import SideFacts
from engine.patterns import Patterns
from engine.trace import (
    Accumulation,
    Argument,
    Edge,
    Finding,
    Gap,
    NodeOutput,
    Output,
    Reduction,
    Saved,
    Span,
    Step,
    Sum,
    Warning,
)


def of_tensor(number: int) -> str | None:
    return f"t{number}" if number else None


def of_pass(number: int) -> str | None:
    return f"p{number}" if number else None


def of_op(number: int) -> str | None:
    return f"o{number}" if number else None


class Ids(dict[int, str]):
    """Ids by number, each text made once: a trace names a tensor many times."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self._letter = letter

    def __missing__(self, number: int) -> str:
        text = self[number] = f"{self._letter}{number}"
        return text

    def have(self, numbers: Iterable[int]) -> None:
        """Make them all at once, which takes half as long."""
        letter = self._letter
        for number in numbers:
            self[number] = f"{letter}{number}"


@dataclass(slots=True)
class Known:
    """What later events said of a tensor."""

    role: ev.Role | None = None
    requires_grad: bool | None = None
    node: int = 0
    output_nr: int = 0
    base: int = 0
    grad: int = 0
    stored: bool = False
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Place:
    """What the ops of one place in the source, function and module have in common."""

    name: str
    function: str
    span: Span | None
    module: str | None
    broadcasts: bool
    ran: int = 0


Arrival = tuple[int, int, int]
"""A gradient on its way: tensor, the node it came from (0: a seed), slot."""


@dataclass(slots=True)
class Run:
    """A pass while it is put together."""

    start: ev.PassStarted
    id: str
    visits: list[ev.Visited | ev.Passed] = field(default_factory=list)
    sums: dict[int, tuple[Sum, ...]] = field(default_factory=dict)
    reduced: dict[int, tuple[Reduction, ...]] = field(default_factory=dict)
    """Of visits, where there are any."""
    accumulations: list[Accumulation] = field(default_factory=list)
    arrived: dict[tuple[int, int], list[Arrival]] = field(default_factory=dict)
    end: ev.PassEnded | None = None
    summed: dict[tuple[int, int], Step] = field(default_factory=dict)
    """Inputs whose sum was told before the hooks that were given it, with that step."""
    totals: dict[tuple[int, int], int] = field(default_factory=dict)
    """What the first hook that changed a gradient was given, by input."""
    hooked: set[tuple[int, int]] = field(default_factory=set)
    """Inputs whose hooks were seen since the visit before."""
    held: dict[int, int] = field(default_factory=dict)
    """Place in the timeline before the first hook after a node: PyTorch runs those before ours, that tells of the visit."""
    place: int | None = None


class State:
    """All that was read, by kind."""

    def __init__(self) -> None:
        self.started: ev.Started | None = None
        self.ended: ev.Ended | None = None
        self.line = 0
        """The line a run that takes long was last seen at."""
        self.failed: ev.Failed | None = None
        self.sites: dict[int, Span] = {}
        self.functions: dict[int, ev.Called] = {}
        self.patterns = Patterns()
        self.tensors: dict[int, ev.Seen] = {}
        self.changes: dict[int, Known] = {}
        self.ops: dict[int, ev.OpRan] = {}
        self.reads: dict[int, list[ev.CellsRead]] = {}
        """By op."""
        self.nodes: dict[int, ev.NodeSeen] = {}
        self.runs: dict[int, Run] = {}
        self.updates: list[ev.Updated] = []
        self.modules: dict[int, ev.ModuleSeen] = {}
        self.calls = Calls()
        self.hooks = HookCalls()
        self.variables: list[ev.VariableSeen] = []
        self.outputs: list[Output] = []
        self.printing: list[ev.Printed] = []
        self.warnings: list[Warning] = []
        self.findings: list[Finding] = []
        self.cuts: dict[str, ev.Omitted] = {}
        self.gaps: list[Gap] = []
        self.checked: list[ev.LeafChecked] = []
        self.jacobians: list[ev.JacobianSeen] = []
        self.surface: ev.SurfaceSeen | None = None
        self.walked: list[ev.Walked] = []
        self.python_calls = PythonCalls()
        self.nodes_omitted = False
        """Some node leads to one that was left out, from which a gradient may arrive unseen."""
        self.t, self.n = Ids("t"), Ids("n")
        self.o: dict[int, str] = {}
        self.skipped: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        """By place: after how many of all recorded ops how many were left out."""
        self.told = SideFacts()
        self.held_by_nodes: set[int] = set()
        """Holders that a node lets go of when its visit is over."""
        self.steps: list[Step] = []
        self.shared: dict[int, tuple[str, ...]] = {}
        """Names by a tensor's first record."""
        self.saved_storages: set[int] = set()
        self._plain: dict[tuple[str, str], Argument] = {}
        self._missing: dict[tuple[int, int, str], Edge] = {}
        self._node_outputs: dict[tuple[tuple[tuple[int, ...], str, str], ...], tuple[NodeOutput, ...]] = {}
        self._numbers_saved: dict[tuple[str, tuple[ev.SavedWord, ...]], tuple[tuple[Saved, ...], str | None]] = {}
        self._slots: dict[tuple[str, int], tuple[str, ...]] = {}

    def _span(self, site: int) -> Span | None:
        return self.sites.get(site)

    def _gone(self, numbers: tuple[int, ...], step: int) -> None:
        """Things ceased to exist by the end of a step that is to come; what only nodes held, by that of the last one."""
        late = tuple([number for number in numbers if number in self.held_by_nodes]) if self.held_by_nodes else ()
        if late:
            before = len(self.steps) - 1
            while before > 0 and self.steps[before].kind in ("reduce", "accumulate"):
                before -= 1
            self.told.gone.append((max(before, 0), late))
        self.told.gone.append((step, numbers))

    def _change(self, tensor: int) -> Known:
        change = self.changes.get(tensor)
        if change is None:
            change = self.changes[tensor] = Known()
        return change
