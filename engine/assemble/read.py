"""Lines to one frozen structure, each event taken by its kind."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from engine import events as ev
from engine.assemble.recorded import EngineEvent, LaterWords, Recorded, SkippedTurns, TimedEvent
from engine.bounds import MOST_MODULES, Texts
from engine.trace import Span

_BATCH = 2000
_Takers = Mapping[type[ev.Event], Callable[..., None]]
_Kind = TypeVar("_Kind", bound=ev.Event)


def read(lines: Iterable[bytes]) -> Recorded:
    """What the lines say, up to the first that is no event; a line may hold several events separated by newlines."""
    reading = _Reading()
    takers = reading.takers()
    damage = ""
    for batch in _batches(lines):
        events, damage = _decoded(reading.texts.bounded(batch))
        for event in events:
            if type(event) is ev.TensorSeen:  # every other one
                reading.tensors[event.id] = event
            else:
                takers[type(event)](event)
        if damage:
            break
    return reading.recorded(damage)


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines, many at a time; a piece may hold several. Tensors' elements are left out: nobody asks for them here."""
    pieces = iter(lines)
    while taken := list(islice(pieces, _BATCH)):
        together = b"".join(taken)
        if b"\n" in together or ev.BLOB in together or not all(taken):
            taken = [line for piece in taken for line in piece.split(b"\n") if line and not line.startswith(ev.BLOB)]
        for start in range(0, len(taken), _BATCH):
            yield taken[start : start + _BATCH]


def _decoded(lines: list[bytes]) -> tuple[list[ev.Event], str]:
    """The events of some lines up to the first that holds none, and what is wrong with that one."""
    try:
        events = ev.decode_all(lines)
        if len(events) == len(lines):  # else a line holds more than one value
            return events, ""
    except ev.NoEvent:
        pass
    events = []
    for line in lines:
        try:
            events.append(ev.decode(line))
        except ev.NoEvent as error:
            return events, str(error) or "not an event"
    return events, ""


class _Reading:
    """The events read so far: most kinds as a list, those that others add to or replace by number."""

    def __init__(self) -> None:
        self._lists: defaultdict[type[object], list[ev.Event]] = defaultdict(list)
        self.tensors: dict[int, ev.TensorSeen] = {}
        self._later_words: defaultdict[int, LaterWords] = defaultdict(LaterWords)
        self._ops: dict[int, ev.OpRan] = {}
        self._nodes: dict[int, ev.NodeSeen] = {}
        self._skipped: list[SkippedTurns] = []
        self._engine_events: list[EngineEvent] = []
        self._timed_events: list[TimedEvent] = []
        self.texts = Texts()

    def takers(self) -> _Takers:
        """What takes each kind of event; those without one of their own go to the list of their kind.

        Not kept: with its own methods a reading would live until the next collection."""
        lists = self._lists
        return defaultdict(
            lambda: lambda event: lists[type(event)].append(event),
            {
                ev.TensorChanged: self._tensor_changed,
                ev.Named: self._named,
                ev.GradKept: self._grad_kept,
                ev.OpRan: self._op_ran,
                ev.NodeSeen: self._node_seen,
                ev.PassStarted: self._engine_event,
                ev.Visited: self._engine_event,
                ev.Accumulated: self._engine_event,
                ev.PassEnded: self._engine_event,
                ev.HookDone: self._hook_done,
                ev.HookFired: self._timed,
                ev.Updated: self._timed,
                ev.ModuleCalled: self._timed,
                ev.ModuleLeft: self._timed_events.append,
                ev.Printed: self._timed_events.append,
                ev.Warned: self._timed_events.append,
                ev.Gone: self._timed_events.append,
                ev.Held: self._timed_events.append,
                ev.Skipped: self._turns_skipped,
                ev.SkippedBefore: self._timed_events.append,
                ev.BatchTaken: self._timed_events.append,
            },
        )

    def recorded(self, damage: str) -> Recorded:
        """All of it."""
        listed = self._listed
        modules = {module.id: module for module in listed(ev.ModuleSeen)}
        return Recorded(
            damage=damage,
            started=self._last(ev.Started),
            ended=self._last(ev.Ended),
            failed=self._last(ev.Failed),
            last_line=going.line if (going := self._last(ev.Progress)) is not None else 0,
            spans={site.id: _span(site) for site in listed(ev.Site)},
            functions={function.id: function for function in listed(ev.FunctionSeen)},
            tensors=self.tensors,
            later_words=dict(self._later_words),
            ops=self._ops,
            buckets={(seen.collective, seen.thread): seen.parameters for seen in listed(ev.BucketReduced)},
            ranks={seen.thread: seen.rank for seen in listed(ev.RankSeen)},
            reads=_by_op(listed(ev.CellsRead)),
            nodes=self._nodes,
            updates=listed(ev.Updated),
            modules=dict(islice(modules.items(), MOST_MODULES)),
            modules_omitted=max(0, len(modules) - MOST_MODULES),
            calls={call.id: call for call in listed(ev.ModuleCalled)},
            hooks={hook.id: hook for hook in listed(ev.HookFired)},
            hooks_done={hook.id: hook for hook in listed(ev.HookDone)},
            variables=listed(ev.VariableSeen),
            arrays=listed(ev.ArraySeen),
            storage_sizes=listed(ev.StorageSize),
            found=listed(ev.Found),
            lines_not_run=lines.lines if (lines := self._last(ev.LinesNotRun)) is not None else (),
            curve=listed(ev.CurveSaid),
            omitted={omitted.what: omitted for omitted in listed(ev.Omitted)},
            skipped=self._skipped,
            checked=listed(ev.LeafChecked),
            jacobians=listed(ev.JacobianSeen),
            surface=self._last(ev.SurfaceSeen),
            walked=listed(ev.Walked),
            functions_entered=listed(ev.FunctionEntered),
            statements=listed(ev.StatementRan),
            functions_left=listed(ev.FunctionLeft),
            engine_events=self._engine_events,
            timed_events=self._timed_events,
            texts_cut=self.texts.cut,
        )

    def _listed(self, kind: type[_Kind]) -> list[_Kind]:
        return [event for event in self._lists.get(kind, ()) if isinstance(event, kind)]

    def _last(self, kind: type[_Kind]) -> _Kind | None:
        return next((event for event in reversed(self._listed(kind))), None)

    def _tensor_changed(self, event: ev.TensorChanged) -> None:
        later = self._later_words[event.id]
        if event.role is not None:
            later.role = event.role
        if event.requires_grad is not None:
            later.requires_grad = event.requires_grad
        if event.node is not None:
            later.node, later.output_nr = event.node, event.output_nr
        if event.base:
            later.base = event.base
        if event.stored:
            later.stored = True

    def _named(self, event: ev.Named) -> None:
        names = self._later_words[event.tensor].names
        if event.name not in names:
            names.append(event.name)

    def _grad_kept(self, event: ev.GradKept) -> None:
        self._later_words[event.tensor].grad = event.grad

    def _op_ran(self, event: ev.OpRan) -> None:
        self._ops[event.id] = event
        self._timed_events.append(event)

    def _node_seen(self, event: ev.NodeSeen) -> None:
        self._nodes[event.id] = event

    def _engine_event(self, event: EngineEvent) -> None:
        self._engine_events.append(event)
        self._timed_events.append(event)

    def _timed(self, event: ev.HookFired | ev.Updated | ev.ModuleCalled) -> None:
        self._lists[type(event)].append(event)
        self._timed_events.append(event)

    def _hook_done(self, event: ev.HookDone) -> None:
        self._lists[ev.HookDone].append(event)
        self._engine_events.append(event)
        self._timed_events.append(event)

    def _turns_skipped(self, event: ev.Skipped) -> None:
        self._skipped.append(SkippedTurns(event, len(self._ops)))
        self._timed_events.append(event)


def _span(site: ev.Site) -> Span:
    return Span(line=site.line, end_line=site.end_line, column=site.column, end_column=site.end_column)


def _by_op(reads: Iterable[ev.CellsRead]) -> dict[int, list[ev.CellsRead]]:
    found: dict[int, list[ev.CellsRead]] = {}
    for read in reads:
        found.setdefault(read.op, []).append(read)
    return found
