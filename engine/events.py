"""What a worker says: one JSON array a line, its first item the kind of event.

Ids are whole numbers from 1, 0 stands for none; places in the source are numbers of `Site` events. The words are
compact because one run can say a hundred thousand of them; `assemble` turns them into a trace. A stream cut anywhere
still assembles.

A class named `…Brief` is the same event without its last fields, which then hold their defaults: the worker makes it of
the plain cases, which are nearly all, and it is always read as the event itself.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import astuple

from engine.trace import Number


class _Event(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag_field="event", gc=False):
    """Base of all events: positional, unknown items refused."""


class Started(_Event, frozen=True, tag="start"):
    """First word: what the program runs on."""

    python: str
    torch: str
    device: str
    numpy: str | None
    cuda: str | None
    threads: int


class Site(_Event, frozen=True, tag="site"):
    """A place in the user's source: 1-based lines, columns in code points."""

    id: int
    line: int
    end_line: int
    column: int
    end_column: int


class FunctionSeen(_Event, frozen=True, tag="fn"):
    """A function that ops refer to by number."""

    id: int
    name: str
    function: str


Data = tuple[Number, ...]
Figures = tuple[float | str, float | str, float | str, float | str, float | str, int, int, int, int]
"""min, max, mean, std, norm, zeros, nan, inf, over how many elements (0: all)."""
Picture = tuple[int, int, str, float]
"""rows, columns, cells, scale."""

Role = Literal["leaf", "parameter", "buffer", "constant", "result", "gradient", "seed", "state", "saved"]
Contents = Literal["known", "uninitialised", "unreadable"]


class TensorBrief(_Event, frozen=True, tag="t"):
    """One state of one tensor whose few elements lie side by side in the memory of the CPU."""

    id: int
    role: Role
    shape: tuple[int, ...]
    dtype: str
    size_bytes: int
    data: Data | None
    storage: int = 0
    version: int = 0
    requires_grad: bool = False
    node: int = 0
    output_nr: int = 0
    identity: int = 0
    base: int = 0


class TensorSeen(TensorBrief, frozen=True, tag="t"):
    """One state of any tensor."""

    strides: tuple[int, ...] | None = None
    device: str = "cpu"
    layout: str = "strided"
    summary: Figures | None = None
    thumbnail: Picture | None = None
    contents: Contents = "known"
    reason: str = ""


class TensorChanged(_Event, frozen=True, tag="tc"):
    """What became known of a state later."""

    id: int
    role: Role | None = None
    requires_grad: bool | None = None
    node: int | None = None
    output_nr: int = 0
    base: int = 0
    stored: bool = False
    """A blob with its elements follows at the end."""


class Named(_Event, frozen=True, tag="name"):
    """A name of the user for a tensor state."""

    tensor: int
    name: str


class GradKept(_Event, frozen=True, tag="grad"):
    """The `.grad` of a tensor at the end of the run."""

    tensor: int
    grad: int


Word = int | tuple[int, ...] | str
"""An argument: a tensor's id, ids of a list of tensors (0: not a tensor), or the text of anything else."""

IN_PLACE, VIEW, RAISED, NO_GRAD, INFERENCE = 1, 2, 4, 8, 16
"""Bits of `OpRan.flags`."""


class OpRan(_Event, frozen=True, tag="o"):
    """One forward operation."""

    id: int
    function: int
    arguments: tuple[Word, ...]
    keywords: dict[str, Word] | None
    outputs: tuple[int, ...]
    site: int
    module: int
    flags: int
    pass_id: int
    time_us: float
    thread: int = 0
    gone: tuple[int, ...] = ()
    """First records of tensors that had ceased to exist by then."""
    collective: int = 0
    """Which meeting of ranks it was; the same in all of them."""
    returned: tuple[int, ...] = ()
    """Sites of the calls of the program's functions that returned what it gave, innermost first."""


class BucketReduced(_Event, frozen=True, tag="bk"):
    """What a rank gave to a collective were the gradients of these parameters (their first records)."""

    collective: int
    thread: int
    parameters: tuple[int, ...]


class RankSeen(_Event, frozen=True, tag="rk"):
    """A thread of the program is a rank of several."""

    thread: int
    rank: int


class CellsRead(_Event, frozen=True, tag="r"):
    """An op picked cells; the fields of `Reads`."""

    op: int
    input: int
    output: int
    position: bool
    cells: tuple[int, ...]


class Gone(_Event, frozen=True, tag="gone"):
    """Tensors, and what else held some, ceased to exist since the last word of it."""

    tensors: tuple[int, ...]


class Held(_Event, frozen=True, tag="held"):
    """From now on something that is no node, such as a checkpoint, holds tensors for backward until it is gone."""

    id: int
    """From the numbers of tensors."""
    tensors: tuple[int, ...]
    by_nodes: bool
    """Nodes hold the holder: it is gone as soon as one of them has been visited, though said with what comes next."""


class StorageSize(_Event, frozen=True, tag="room"):
    """A storage is larger than the first tensor met in it."""

    storage: int
    size_bytes: int


SavedWord = tuple[str, int, int, str, int, str]
"""field, tensor, version (-1: none), text, bytes, reason."""


OMITTED = -1
"""In `NodeSeen.edges`: a next node that the limit left out."""


class NodeBrief(_Event, frozen=True, tag="n"):
    """One node of PyTorch's own that a forward op made. `edges` holds to and input_nr in turn, 0 and 0 for a missing
    edge."""

    id: int
    type: str
    sequence_nr: str
    op: int
    edges: tuple[int, ...]
    outputs: tuple[tuple[tuple[int, ...], str, str], ...]
    saved: tuple[SavedWord, ...] = ()


class NodeSeen(NodeBrief, frozen=True, tag="n"):
    """Any node."""

    variable: int = 0
    made_by: int = 0
    pass_id: int = 0
    custom: bool = False
    reason: str = ""
    code: int = 0
    """Site of the user's own `backward`."""


RootWord = tuple[int, int, int, int, bool]
"""node, input_nr, tensor, seed, implicit."""


class PassStarted(_Event, frozen=True, tag="p"):
    """A call of the engine begins."""

    id: int
    kind: Literal["backward", "grad"]
    roots: tuple[RootWord, ...]
    site: int
    retain_graph: bool
    create_graph: bool
    inputs: tuple[int, ...] | None
    input_nodes: tuple[tuple[int, int], ...] | None
    parent: int
    module: int
    omitted: int = 0
    """Nodes that run unseen."""
    thread: int = 0


class Visited(_Event, frozen=True, tag="v"):
    """The engine ran one node."""

    pass_id: int
    node: int
    entered: tuple[int, ...]
    left: tuple[int, ...]
    time_us: float
    gone: tuple[int, ...] = ()
    """First records of what had ceased to exist by then."""


class Accumulated(_Event, frozen=True, tag="a"):
    """A visit added to the `.grad` of a leaf."""

    pass_id: int
    node: int
    leaf: int
    before: int
    delta: int
    after: int


class PassEnded(_Event, frozen=True, tag="pe"):
    """A call of the engine ended."""

    id: int
    failed: bool
    results: tuple[int, ...]
    error: tuple[str, str] = ("", "")
    """Class and message of the exception that it raised."""


class ChangeWord(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A tensor before and after an update; 0 for none."""

    before: int
    after: int
    name: str = ""
    gradient: int = 0
    """For an optimizer step: the gradient used."""
    leaf: int = 0
    """For a `.grad`: the first record of its leaf."""


StateWord = tuple[int, int, str, int, str, str]
"""before, after, name, parameter, text before, text after."""
UpdateKind = Literal["step", "zero_grad", "grad_reset", "grad_set", "data", "in_place", "hook", "collective", "outside"]


class Updated(_Event, frozen=True, tag="u"):
    """Values changed outside the graph."""

    id: int
    kind: UpdateKind
    changes: tuple[ChangeWord, ...]
    state: tuple[StateWord, ...] = ()
    site: int = 0
    op: int = 0
    optimizer: str = ""
    variable: str = ""
    owner: str = ""
    set_to_none: bool = False
    groups: tuple[int, ...] = ()
    settings: tuple[dict[str, str], ...] = ()
    raised: bool = False
    pass_id: int = 0
    hook: int = 0
    without_gradient: tuple[int, ...] = ()
    """First records of what an optimizer holds and passed over."""
    thread: int = 0


Index = int | str
"""Of a sample in its dataset; the text of one that is no number."""


class BatchTaken(_Event, frozen=True, tag="b"):
    """A `DataLoader` handed a batch out; as number 0, it had no other, and these are the samples it dropped."""

    loader: int
    epoch: int
    number: int
    indices: tuple[Index, ...]
    count: int
    tensors: tuple[int, ...]
    site: int
    thread: int = 0


CheckedWord = tuple[tuple[int, ...], float | str, float | str]
"""place, what autograd gave, difference quotient."""
Verdict = Literal["agrees", "kink", "float32", "cut", "random", "differs", "not_checked"]


class LeafChecked(_Event, frozen=True, tag="ck"):
    """A leaf's gradient was compared with finite differences."""

    pass_id: int
    tensor: int
    verdict: Verdict
    relative_error: float | str
    step: float
    elements: tuple[CheckedWord, ...]
    reason: str
    parameters: dict[str, str]
    node: int
    site: int


class JacobianSeen(_Event, frozen=True, tag="jac"):
    """The Jacobian of a root by a leaf, or of a node by one slot."""

    pass_id: int
    rows: int
    columns: int
    values: tuple[float | str, ...]
    output: int
    input: int
    node: int
    slot: int
    rows_checked: int
    largest_error: float | str


AxisWord = tuple[int, tuple[int, ...], tuple[float, ...]]
"""tensor, place, where it was evaluated."""


class SurfaceSeen(_Event, frozen=True, tag="surf"):
    """A pass's value over a grid of two numbers; axes are missing where there is a reason."""

    pass_id: int
    across: AxisWord | None
    up: AxisWord | None
    values: tuple[float | str, ...]
    numbers: int
    compared: int
    fitting: int
    reason: str
    parameters: dict[str, str]


MovedKind = Literal["parameter", "gradient", "buffer"]
MovedWord = tuple[MovedKind, str, tuple[int, ...], str, str, str, str, bool, bool, int]
"""kind, name, shape, dtype and device before, dtype and device after, same object, same memory, tensor."""
VisitWord = tuple[str, str, int, int, int, tuple[MovedWord, ...]]
"""path, type, module, parent (-1: none), how many had been left, what moved."""


class Walked(_Event, frozen=True, tag="walk"):
    """`Module._apply` went over a tree."""

    site: int
    visits: tuple[VisitWord, ...]
    omitted: int
    raised: bool


AssignedWord = tuple[str, str]
"""target, text."""


class FunctionEntered(_Event, frozen=True, tag="fc"):
    """One of the program's own functions was called."""

    id: int
    parent: int
    function: str
    line: int
    site: int
    through: str
    arguments: tuple[AssignedWord, ...]
    at: int


class StatementRan(_Event, frozen=True, tag="fs"):
    """A statement of it ended, or was cut short (`done` is 0)."""

    call: int
    line: int
    at: int
    done: int
    assigned: tuple[AssignedWord, ...]


class FunctionLeft(_Event, frozen=True, tag="fe"):
    """It returned or raised."""

    id: int
    at: int
    returned: str | None
    raised: str


class Printed(_Event, frozen=True, tag="out"):
    """A piece of output."""

    stream: Literal["stdout", "stderr"]
    text: str
    site: int
    truncated: bool = False
    thread: int = 0


class Warned(_Event, frozen=True, tag="w"):
    """A warning was shown."""

    category: str
    message: str
    site: int
    thread: int = 0


TRAINING = 32
"""Bit of `ModuleCalled.flags`; the others are those of ops."""


class ModuleCalled(_Event, frozen=True, tag="c"):
    """A module's forward begins."""

    id: int
    module: int
    parent: int
    flags: int
    site: int
    pass_id: int
    thread: int = 0


class ModuleLeft(_Event, frozen=True, tag="ce"):
    """A module's forward ended."""

    id: int
    raised: bool


HookKind = Literal["tensor", "accumulate", "node_pre", "node", "forward_pre", "forward", "backward_pre", "backward"]


class HookFired(_Event, frozen=True, tag="h"):
    """A hook of the user's is about to run. `input_nr` is −1 where it is on no single input."""

    id: int
    kind: HookKind
    function: str
    span: int
    registered: int
    tensor: int
    node: int
    input_nr: int
    module: int
    pass_id: int


class HookDone(_Event, frozen=True, tag="he"):
    """A hook changed what it was given, or raised. Changes are input or slot, record before, record after."""

    id: int
    changes: tuple[tuple[int, int, int], ...]
    raised: bool


MemberWord = tuple[str, int, bool]
"""name, tensor, shared."""


class ModuleSeen(_Event, frozen=True, tag="m"):
    """One module; a later word of the same id replaces the earlier."""

    id: int
    path: str
    type: str
    parent: int
    parameters: tuple[MemberWord, ...]
    buffers: tuple[MemberWord, ...]
    training: bool
    text: str
    calls: int


class ArraySeen(_Event, frozen=True, tag="arr"):
    """A NumPy array at the end that shares memory with tensors."""

    name: str
    storages: tuple[int, ...]


class VariableSeen(_Event, frozen=True, tag="var"):
    """A global name at the end."""

    name: str
    kind: Literal["tensor", "array", "module", "optimizer", "function", "class", "value"]
    type: str
    tensor: int
    module: int
    text: str | None
    tensors: tuple[int, ...]


FrameWord = tuple[str, int, str, int]
"""function, site, library file, line."""


OperandWord = tuple[str, str, int]
"""text, type, tensor."""


class Failed(_Event, frozen=True, tag="fail"):
    """The program did not reach its end."""

    kind: Literal["syntax", "exception", "exit", "limit", "memory", "forbidden"]
    type: str
    message: str
    site: int
    frames: tuple[FrameWord, ...]
    traceback: str
    op: int = 0
    pass_id: int = 0
    limit: str = ""
    operands: tuple[OperandWord, ...] = ()
    facts: dict[str, str] = {}


EditWord = tuple[int, int, int, int, str]
"""line, end line, column, end column, the new text."""


class Found(_Event, frozen=True, tag="find"):
    """Something the worker replaced or could not compile, to be told to the user."""

    code: str
    severity: Literal["error", "warning", "note"]
    site: int
    parameters: dict[str, str]
    fix: tuple[EditWord, ...] = ()


class LinesNotRun(_Event, frozen=True, tag="lines"):
    """Lines where statements begin none of which ran."""

    lines: tuple[int, ...]


class CurveSaid(_Event, frozen=True, tag="cv"):
    """A call of the engine that was left out, in two numbers."""

    number: int
    loss: float | str | None
    gradient_norm: float | str | None
    site: int


class Skipped(_Event, frozen=True, tag="gap"):
    """Turns of a long loop were left out here: first and last call of the engine, how many calls and ops."""

    first: int
    last: int
    passes: int
    ops: int
    places: tuple[tuple[int, int, int, int], ...]
    """site, function, module, how many of the ops."""


class SkippedBefore(_Event, frozen=True, tag="gap_from"):
    """What is printed from here on was printed in the turns that the next `Skipped` tells of."""


class Omitted(_Event, frozen=True, tag="cut"):
    """Something was left out."""

    what: str
    limit: str
    kept: int
    omitted: int


class Progress(_Event, frozen=True, tag="at"):
    """Said now and then by a run that takes long: the line it is at (0: none of its own), ops recorded so far."""

    line: int
    ops: int


class Ended(_Event, frozen=True, tag="end"):
    """Last word but the blobs: milliseconds the program ran, recording included."""

    run_ms: float


class BlobSaid(_Event, frozen=True, tag="blob"):
    """All elements of a larger tensor: base64 of little-endian bytes in row-major order."""

    tensor: int
    dtype: str
    shape: tuple[int, ...]
    data: str


Event = (
    Started
    | Site
    | FunctionSeen
    | TensorSeen
    | TensorChanged
    | Named
    | GradKept
    | OpRan
    | BucketReduced
    | RankSeen
    | CellsRead
    | Gone
    | Held
    | StorageSize
    | NodeSeen
    | PassStarted
    | Visited
    | Accumulated
    | PassEnded
    | LeafChecked
    | JacobianSeen
    | SurfaceSeen
    | Walked
    | FunctionEntered
    | StatementRan
    | FunctionLeft
    | Updated
    | BatchTaken
    | Printed
    | Warned
    | ModuleSeen
    | ModuleCalled
    | ModuleLeft
    | HookFired
    | HookDone
    | ArraySeen
    | VariableSeen
    | Failed
    | Found
    | LinesNotRun
    | CurveSaid
    | Skipped
    | SkippedBefore
    | Omitted
    | Progress
    | Ended
    | BlobSaid
)

Said = Event | TensorBrief | NodeBrief
"""What a worker makes."""

BLOB = b'["blob",'
"""How a worker's line with the elements of a tensor begins."""

_decoder = msgspec.json.Decoder(Event, strict=True)
_many = msgspec.json.Decoder(list[Event], strict=True)


def tag_of(event: Said) -> str:
    """The first item of its line."""
    return str(event.__struct_config__.tag)


def as_read(event: Said) -> Event:
    """The event as who reads its line has it."""
    match event:
        case TensorSeen() | NodeSeen():
            return event
        case TensorBrief():
            return TensorSeen(*astuple(event))
        case NodeBrief():
            return NodeSeen(*astuple(event))
    return event


NoEvent = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What reading a line raises that holds none."""


def decode(line: bytes) -> Event:
    """The event a line holds; one of `NoEvent` when it holds none."""
    event: Event = _decoder.decode(line)
    return event


def decode_all(lines: Sequence[bytes]) -> list[Event]:
    """The events of many lines at once, four times faster; raises when one of them holds none."""
    events: list[Event] = _many.decode(b"[" + b",".join(lines) + b"]")
    return events
