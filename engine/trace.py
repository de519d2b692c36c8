"""The trace: the immutable record of one run.

Every field is documented by the string under it; `docs/trace.md` and the JSON schema are made from those strings.
Optional fields that hold their default value are left out of the JSON. Ids are strings: `t` tensor, `o` op, `n` node,
`p` pass, `u` update, `m` module, `c` module call, `h` hook call, `s` storage, `f` call of one of the program's own
functions.
"""

import math
from typing import Final, Literal, get_args

import msgspec

Format = Literal["gradgraph.trace/1"]
FORMAT: Final[Format] = get_args(Format)[0]
"""The one place that says which version is written; what older ones are read by stands in `formats.py`."""

Number = bool | int | float | str
"""A JSON number. Non-finite floats are "nan", "inf", "-inf"; whole numbers beyond 2**53 are decimal strings."""


def spoken(value: float) -> float | str:
    """A float as a trace has it."""
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Base of everything in a trace: frozen, named fields, unknown fields refused.

    Frozen records cannot form cycles, so the garbage collector need not walk the ten thousands of them."""


class Span(Record, frozen=True):
    """A stretch of the user's source. Lines from 1; columns from 0, in Unicode code points, end exclusive."""

    line: int
    """First line."""
    end_line: int
    """Last line."""
    column: int
    """Column where the first line's part begins."""
    end_column: int
    """Column after the last line's part."""


class Program(Record, frozen=True):
    """What was asked to run."""

    code: str
    """The Python source exactly as it ran (for an expression: the program made of it)."""
    expression: str | None = None
    """The tensor expression as given, when the run was asked for by expression."""
    inputs: dict[str, msgspec.Raw] | None = None
    """The expression's named inputs as given."""
    seed: int = 0
    """Seed given to torch, numpy and random before the first line."""
    device: str = "cpu"
    """Device asked for: `auto`, `cpu`, `cuda` or `cuda:N`."""


class Isolation(Record, frozen=True):
    """How the run was kept apart from the machine and from other runs."""

    profile: Literal["full", "container", "gvisor", "partial", "none"]
    """Name of the set of layers, from self-tests through the real path."""
    layers: tuple[str, ...]
    """Layers that were active for this run, in the order they were applied."""


class Environment(Record, frozen=True):
    """What the program ran on."""

    python: str
    """Python version."""
    torch: str
    """PyTorch version, with its build tag."""
    engine: str
    """Gradgraph version."""
    device: str
    """Device the program got."""
    numpy: str | None = None
    """NumPy version; absent when NumPy is not installed."""
    cuda: str | None = None
    """CUDA version, when a CUDA device exists."""
    threads: int = 1
    """Threads PyTorch computes with."""
    simulated_devices: tuple[str, ...] = ()
    """Devices that the program asked for in a comment, and whose part the CPU played."""
    isolation: Isolation | None = None
    """Layers of isolation; absent when the engine ran the program in its own process."""


class RunLimits(Record, frozen=True):
    """The limits the run was held to."""

    wall_s: float
    """Seconds by the clock, without those in which the run was ready and others had the processor; three times as many
    by the clock alone."""
    cpu_s: float
    """Seconds of processor time, all threads together."""
    memory_bytes: int
    """Bytes the program may add to the warm process."""
    output_bytes: int
    """Bytes of printed output that are kept. A program that prints more than 1 MiB is stopped."""
    ops: int
    """Forward operations that are recorded."""
    nodes: int
    """Autograd nodes that are recorded."""
    trace_bytes: int
    """Bytes of events the worker may say."""


class Timings(Record, frozen=True):
    """Where the time went, in milliseconds."""

    total_ms: float
    """From request to trace."""
    queued_ms: float = 0.0
    """Waiting for a free worker."""
    start_ms: float = 0.0
    """Getting a sandboxed process ready."""
    run_ms: float = 0.0
    """The program itself, recording included."""
    assemble_ms: float = 0.0
    """Making the trace from the worker's events."""


class Frame(Record, frozen=True):
    """One call of a traceback, outermost first."""

    function: str
    """Function name, `<module>` for the program itself."""
    span: Span | None = None
    """Place in the user's source; absent for library code."""
    file: str = ""
    """Library file, shortened to the package; empty for the user's source."""
    line: int = 0
    """Line in that library file."""


class Operand(Record, frozen=True):
    """What a name in the failing expression was bound to."""

    text: str
    """The name, or names joined by dots, as written."""
    type: str
    """Class of the value."""
    tensor: str | None = None
    """For a tensor: the record of its state then."""


class Failure(Record, frozen=True):
    """Why the run did not reach its end. Everything recorded before it is in the trace."""

    kind: Literal["syntax", "exception", "exit", "limit", "memory", "forbidden", "crash", "lost"]
    """`syntax` before the first line ran; `exception` raised by the program; `exit` with a code other than 0; `limit`
    of time, output or trace; `memory` used up; `forbidden` by the sandbox; `crash` of the process; `lost` worker."""
    type: str
    """Exception class as Python names it (`RuntimeError`), or the limit or signal."""
    message: str
    """The exception's own text, or a sentence that names value, rule and next step."""
    span: Span | None = None
    """The innermost place in the user's source."""
    in_expression: Span | None = None
    """For a run asked for by expression: that place in the expression as given, when it is in it."""
    frames: tuple[Frame, ...] = ()
    """The traceback, outermost call first, at most 40 frames."""
    op: str | None = None
    """The op that raised."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """The backward pass that raised."""
    node: str | None = None
    """The autograd node that raised."""
    limit: str | None = None
    """Name of the limit that was reached, as in `limits`."""
    explanation: str | None = None
    """Code of what explains it: of its finding, which every exception in the program has, else its kind; of some limits
    with its name, as in `limit_output_bytes`."""
    operands: tuple[Operand, ...] = ()
    """The names in the failing expression."""
    facts: dict[str, str] = {}
    """What only the running program could tell: `name` not found, `owner` it was looked for in, `suggestion` (the
    nearest real name) and whether it is the `only` one as near, the keywords or keys that are `known`, `place` where
    that very name does exist, the attribute of the owner `inside` which it does, and whether that has one for `each`
    sample, in a tensor or list; of what kind all `elements` of a list are; `asked_bytes` of memory there was not; how
    many parameters an optimizer `held`, and had when what it was to load was `saved`."""
    traceback: str = ""
    """The text plain Python prints to stderr for it, library files shortened to the package."""


class Output(Record, frozen=True):
    """Something the program printed."""

    stream: Literal["stdout", "stderr"]
    """Where it went."""
    text: str
    """The text, pieces of one print call joined."""
    span: Span | None = None
    """The call that printed it."""
    truncated: bool = False
    """Whether the output limit cut it."""
    rank: int | None = None
    """The rank whose it is, in a program of several ranks."""


class Warning(Record, frozen=True):
    """A Python warning the program caused."""

    category: str
    """Class name, such as `UserWarning`."""
    message: str
    """Its text."""
    span: Span | None = None
    """The user's line that caused it."""
    rank: int | None = None
    """The rank whose it is, in a program of several ranks."""


class OutputOf(Record, frozen=True):
    """Which output of which node a tensor is: the pair in `grad_fn` and `output_nr`."""

    node: str
    """Node id."""
    output_nr: int
    """Which output of the op the tensor is."""


class Summary(Record, frozen=True):
    """Figures over all elements, or over a sample of more than 2**28; the non-finite ones are counted and left out of
    the others."""

    min: float | str
    """Smallest element."""
    max: float | str
    """Largest element."""
    mean: float | str
    """Arithmetic mean."""
    std: float | str
    """Population standard deviation."""
    norm: float | str
    """Euclidean norm."""
    zeros: int = 0
    """Elements equal to zero."""
    nan: int = 0
    """NaN elements."""
    inf: int = 0
    """Infinite elements."""
    over: int | None = None
    """How many elements were looked at, evenly spaced, when there are too many to look at all of them: the figures and
    counts are those of this sample."""


class Thumbnail(Record, frozen=True):
    """A small picture of the last two axes (the first slice of the others), mean-pooled; where there are more than two,
    those of size 1 are passed over."""

    rows: int
    """Rows of cells, at most 8."""
    columns: int
    """Columns of cells, at most 16."""
    cells: str
    """Base64 of one signed byte a cell, row-major: −127…127 stands for −scale…scale, −128 for a non-finite cell."""
    scale: float
    """Largest magnitude among the cells."""


class Tensor(Record, frozen=True):
    """One state of one tensor object: an in-place write makes a new record with the same `identity`.

    Wherever a trace names a tensor id, these are the values it had then."""

    id: str
    """Tensor id."""
    shape: tuple[int, ...]
    """Sizes, outermost axis first."""
    dtype: str
    """Element type without the `torch.` prefix."""
    role: Literal["leaf", "parameter", "buffer", "constant", "result", "gradient", "seed", "state", "saved"]
    """`leaf`: made by the program; `parameter` / `buffer` of a module; `constant`: untracked operand seen first as an
    argument; `result` of an op; `gradient` that flowed or is kept in a `.grad`; `seed` put into a pass; `state` of an
    optimizer; `saved` by a node and not seen otherwise."""
    identity: str | None = None
    """Id of the first record of the same tensor object; absent on that first record."""
    names: tuple[str, ...] = ()
    """The user's names for it (`x`, `model.fc1.weight`), most telling first."""
    device: str = "cpu"
    """Where it lives."""
    layout: str = "strided"
    """Memory layout."""
    strides: tuple[int, ...] | None = None
    """Steps between neighbours, in elements; absent when contiguous."""
    storage: str | None = None
    """Storage id: tensors with the same one share memory."""
    size_bytes: int = 0
    """Bytes the storage takes; less than elements × element size for a broadcast one."""
    version: int = 0
    """Version counter: raised by every in-place write autograd knows of."""
    requires_grad: bool = False
    """Whether autograd tracks it."""
    is_leaf: bool = True
    """No grad_fn."""
    grad_fn: OutputOf | None = None
    """The node and output it came from; absent for leaves."""
    base: str | None = None
    """The tensor this one is a view of (that tensor's identity)."""
    data: tuple[Number, ...] | None = None
    """All elements in row-major order (complex: real, imaginary, …) when there are at most 256."""
    summary: Summary | None = None
    """Figures, for larger ones."""
    thumbnail: Thumbnail | None = None
    """A picture, for larger ones with at least one axis."""
    stored: bool = False
    """Whether all elements of a larger one were kept and can be asked for by id."""
    contents: Literal["known", "uninitialised", "unreadable"] = "known"
    """`uninitialised` memory is never shown; `unreadable` says why in `reason`."""
    reason: str = ""
    """Why the contents cannot be shown."""
    grad: str | None = None
    """Tensor id of its `.grad` at the end of the run; only on the last record of an identity."""


class Variable(Record, frozen=True):
    """A global name of the program at the end of the run."""

    name: str
    """The name."""
    kind: Literal["tensor", "array", "module", "optimizer", "function", "class", "value"]
    """What it is bound to; `array` is a NumPy array."""
    type: str
    """Class name of the value."""
    storage: str | None = None
    """For an array that shares memory with a tensor: their storage."""
    tensor: str | None = None
    """For a tensor: the record of its last state."""
    module: str | None = None
    """For a module: its id."""
    text: str | None = None
    """For a value: its repr, at most 4,000 characters."""
    tensors: tuple[str, ...] = ()
    """For a list, tuple or dict that holds tensors: the first of them."""


class Argument(Record, frozen=True):
    """One argument of an op as the call gave it."""

    name: str = ""
    """Keyword as PyTorch names it (`dim` where the call says `axis`), or empty for a positional argument."""
    tensor: str | None = None
    """For a tensor."""
    tensors: tuple[str | None, ...] | None = None
    """For a list or tuple of tensors."""
    text: str | None = None
    """For anything else: its repr, at most 80 characters."""


class Broadcast(Record, frozen=True):
    """An input that broadcasting stretched; its gradient is summed over the same axes."""

    input: int
    """Index into the op's `inputs`."""
    axes: tuple[int, ...]
    """Axes of the result along which it was stretched or added."""


class Reads(Record, frozen=True):
    """Where the cells of an output came from: for ops that pick, such as indexing, `gather` or `masked_select`."""

    input: int
    """Index into the op's `inputs`."""
    cells: tuple[int, ...]
    """For each cell of the output, in row-major order, the number of the input's cell in that order; −1 for one that
    did not come from this input."""
    output: int = 0
    """Index into the op's `outputs`."""
    position: bool = False
    """The output does not hold the cell's value but says where it is: `nonzero`, the indices of `max`."""


class PromotedOperand(Record, frozen=True):
    """One operand of an op that brings its operands to one dtype."""

    dtype: str
    """Its element type; for a plain number the one it counts as."""
    kind: Literal["tensor", "zero_dim", "number"] = "tensor"
    """A tensor with axes; one without; a number of Python's. Within a category (bool, whole, floating, complex) only
    the highest of these ranks decides."""
    tensor: str | None = None
    """The tensor."""
    text: str | None = None
    """The number as written."""


class Promotion(Record, frozen=True):
    """Operands of different dtypes, and the one they were brought to."""

    operands: tuple[PromotedOperand, ...]
    """The operands, in order."""
    result: str
    """Element type of the result; floating for `/` of whole numbers."""


class WindowAxis(Record, frozen=True):
    """The numbers that give the size of a result along one axis."""

    size: int
    """Size of the input."""
    kernel: int
    """Size of the window."""
    stride: int
    """Cells from one window to the next."""
    padding: int
    """Cells added at each end."""
    out: int
    """Size of the result."""
    padding_end: int = 0
    """One more at the end: `padding="same"` with a window of even size."""
    dilation: int = 1
    """Cells from one of the window to the next."""
    output_padding: int = 0
    """For a transposed convolution: cells added to the result."""


class Window(Record, frozen=True):
    """A window that slid over an input. The size along an axis is `floor((size + 2·padding + padding_end −
    dilation·(kernel − 1) − 1) / stride) + 1`; of a transposed convolution `(size − 1)·stride − 2·padding +
    dilation·(kernel − 1) + output_padding + 1`."""

    kind: Literal["conv", "transpose", "pool"]
    """A convolution, a transposed one, a pooling."""
    axes: tuple[WindowAxis, ...]
    """The last axes of the input, in order."""
    ceil: bool = False
    """The quotient was rounded up, windows that would begin beyond the input and its left padding left out."""


class Op(Record, frozen=True):
    """One forward operation as the user's code called it, recorded by autograd or not."""

    id: str
    """Op id."""
    name: str
    """Short name: `add`, `linear`, or the class of a custom Function."""
    function: str
    """Qualified name, such as `torch.Tensor.add`."""
    arguments: tuple[Argument, ...]
    """Arguments in the order of the call."""
    inputs: tuple[str, ...]
    """Tensors among the arguments, in order."""
    outputs: tuple[str, ...]
    """Tensors that came out, in order; for an in-place op the new state of the tensor written."""
    nodes: tuple[str, ...]
    """Autograd nodes it made, in the order of creation; empty when autograd did not record it."""
    span: Span | None = None
    """The exact call or sub-expression; absent when no user line led to it."""
    module: str | None = None
    """Innermost module it ran in."""
    iteration: int = 0
    """How often the same place in the source had run this op before."""
    grad_mode: Literal["grad", "no_grad", "inference"] = "grad"
    """Whether autograd was recording."""
    in_place: bool = False
    """Wrote into an existing tensor."""
    inside: bool = False
    """Worked on the way inside the call at its span, which gave something else than this op did."""
    called: str = ""
    """What to call it where the code at its span would not say: inside a call, or of what a loop goes through, the
    module that it ended there, as `net.0(…)`, the sample that it took, as `x[3]`, or its own name; where several long
    expressions begin alike, the end of its own."""
    view: bool = False
    """The output shares storage with an input."""
    broadcast: tuple[Broadcast, ...] = ()
    """Inputs that were stretched."""
    reads: tuple[Reads, ...] = ()
    """Which cells of its inputs an op that picks has read or, in place, kept; for tensors of at most 4,096 elements,
    and of a run only the first 1,000 such ops and 100,000 cells."""
    promotion: Promotion | None = None
    """Its operands had different dtypes, or `/` made whole numbers floating; not told of comparisons and in-place
    ops."""
    window: Window | None = None
    """For convolutions and poolings: how the size of the result came about."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """The pass during which it ran: a custom backward, a hook, a recomputation."""
    raised: bool = False
    """It raised instead of returning."""
    rerun_of: str | None = None
    """For a recomputation by checkpointing: the op it repeats."""
    time_us: float = 0.0
    """Time of the call in microseconds, the modules' own code not included."""
    saved_bytes: int = 0
    """Bytes its nodes keep for backward that nothing else keeps."""
    rank: int | None = None
    """The rank whose it is, in a program of several ranks; absent for what the program did that started them."""
    collective: str | None = None
    """Collective id, the same for the ops of all ranks that met: `inputs` are what this one gave and what was written
    into, and `outputs` what it got by that. Of the ops that `DistributedDataParallel` makes itself, only those of
    floating point; what it broadcasts at once is one op, with the parameters and buffers themselves."""
    gave: tuple[str, ...] = ()
    """For a collective: the inputs that this rank gave, without those that were only written into."""
    bucket: tuple[str, ...] = ()
    """For an all-reduce of `DistributedDataParallel`: the parameters (their identities) whose gradients were in its
    bucket, as they lie there. Absent where a rank has several such models."""


class Edge(Record, frozen=True):
    """What `next_functions` holds in one slot."""

    to: str | None
    """The next node, or null for a missing edge: that input needs no gradient."""
    input_nr: int
    """Which input of the next node; the same number as the tensor's output_nr."""
    name: str = ""
    """Name of the op's input in this slot (`self`, `other`, `weight`), when known."""
    omitted: bool = False
    """There is a next node, but the limit `nodes` left it out."""


class NodeOutput(Record, frozen=True):
    """Shape and type of one output of the forward op."""

    shape: tuple[int, ...]
    """Sizes."""
    dtype: str
    """Element type."""
    device: str = "cpu"
    """Where it lives."""


class Saved(Record, frozen=True):
    """One thing a node keeps for backward."""

    field: str
    """Attribute name without the `_saved_` prefix."""
    tensor: str | None = None
    """The tensor record it is, for a tensor."""
    version: int | None = None
    """Version of that tensor when it was saved."""
    text: str | None = None
    """For a number, size or other value: its repr."""
    size_bytes: int = 0
    """Bytes of the tensor."""
    reason: str = ""
    """Why it could not be read, such as already freed. Of a tensor that is not kept as it was a key of the word lists
    under
    `inspect`: `kept_by_hooks` by saved_tensors_hooks; `kept_unseen` by them in an object that is not looked into;
    `recomputed` by a checkpoint."""


KEPT_BY_HOOKS = "kept_by_hooks"
NOT_LOOKED_INTO = "kept_unseen"
RECOMPUTED = "recomputed"
"""What `Saved.reason` says of tensors that were packed: keys of the word lists under `inspect`."""


class Node(Record, frozen=True):
    """One autograd node."""

    id: str
    """Node id."""
    type: str
    """Class name: `MulBackward0`, `AccumulateGrad`, or `<Name>Backward` of a custom Function."""
    edges: tuple[Edge, ...]
    """One for each slot of `next_functions`, in order; parallel and missing edges kept."""
    outputs: tuple[NodeOutput, ...] = ()
    """What the forward op gave, one for each output."""
    op: str | None = None
    """The op that made it; absent when it was made before recording or inside the engine."""
    sequence_nr: str | None = None
    """Creation order within its thread; absent for AccumulateGrad."""
    saved: tuple[Saved, ...] = ()
    """What it keeps for backward."""
    variable: str | None = None
    """For AccumulateGrad: the leaf (its identity)."""
    rule: str | None = None
    """Id of the derivative rule, when there is a readable one."""
    made_by: str | None = None
    """For double backward: the node whose visit made this one."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """For double backward and recomputation: the pass during which it was made."""
    custom: bool = False
    """Whether it belongs to a user's `autograd.Function`."""
    code: Span | None = None
    """For a custom Function: the lines of the user's own `backward`."""
    reason: str = ""
    """Why parts of it could not be read."""


class Root(Record, frozen=True):
    """A tensor where a pass starts."""

    node: str | None
    """Its grad_fn, or the AccumulateGrad of a leaf."""
    input_nr: int
    """Which input of that node the seed enters."""
    tensor: str | None
    """The tensor."""
    seed: str | None
    """The gradient put in."""
    implicit: bool = False
    """The seed is the 1 that PyTorch puts in for a scalar."""


class Term(Record, frozen=True):
    """One gradient that arrived at an input of a node."""

    tensor: str
    """The gradient."""
    node: str | None = None
    """The node it came from; absent for a seed."""
    slot: int = 0
    """The slot of that node's edges."""


class Sum(Record, frozen=True):
    """Where gradients met at one input of a node, or a hook changed one."""

    input_nr: int
    """The input."""
    terms: tuple[Term, ...]
    """What arrived, in the order the engine delivered it."""
    total: str | None
    """Their sum."""
    entered: str | None
    """What the node was given: the total, or what the hooks made of it."""
    hooked: bool = False
    """A tensor hook or node pre-hook changed the gradient."""


class Reduction(Record, frozen=True):
    """A gradient summed over the axes along which broadcasting had stretched the input; PyTorch has no node for it."""

    slot: int
    """The slot of the node's edges."""
    axes: tuple[int, ...]
    """Axes of the unreduced gradient that were summed."""
    shape: tuple[int, ...]
    """Shape before the sum; the shape after it is that of the gradient in `left`."""


class Visit(Record, frozen=True):
    """One node run by the engine, in its real order."""

    node: str
    """The node."""
    entered: tuple[str | None, ...]
    """Gradient at each input of the node, sums and hooks applied; null is an undefined gradient."""
    left: tuple[str | None, ...]
    """Gradient on each edge, by slot; null where none flowed."""
    sums: tuple[Sum, ...] = ()
    """Inputs where more than one gradient arrived, or a hook changed it."""
    reduced: tuple[Reduction, ...] = ()
    """Gradients that were summed over broadcast axes before they left."""
    time_us: float = 0.0
    """Microseconds since the visit before."""


class Accumulation(Record, frozen=True):
    """What one pass added to the `.grad` of one leaf."""

    tensor: str
    """The leaf (its identity)."""
    node: str
    """Its AccumulateGrad."""
    visit: int
    """Index of the visit."""
    before: str | None
    """`.grad` before, null for None."""
    delta: str | None
    """What arrived."""
    after: str | None
    """`.grad` after."""


class Caught(Record, frozen=True):
    """An exception that the program caught: it went on."""

    type: str
    """Class of the exception."""
    message: str
    """What it said."""


class Pass(Record, frozen=True):
    """One call of the engine: `backward()`, `autograd.grad()` and everything built on them."""

    id: str
    """Pass id."""
    kind: Literal["backward", "grad"]
    """`backward` accumulates into leaves; `grad` returns gradients."""
    roots: tuple[Root, ...]
    """Where it starts."""
    visits: tuple[Visit, ...]
    """Nodes in the order the engine ran them."""
    accumulations: tuple[Accumulation, ...]
    """Additions to leaves, in order."""
    span: Span | None = None
    """The call."""
    retain_graph: bool = False
    """Saved tensors were kept."""
    create_graph: bool = False
    """The backward itself was recorded."""
    inputs: tuple[str | None, ...] | None = None
    """Tensors named by `inputs=` or asked of `autograd.grad`."""
    input_nodes: tuple[OutputOf | None, ...] = ()
    """For each of `inputs` the node at which its gradient is taken, and which input of that node (for a leaf its
    AccumulateGrad); null for a leaf that no graph uses."""
    results: tuple[str | None, ...] = ()
    """What `autograd.grad` returned."""
    parent: str | None = None
    """The pass during which this one was called."""
    module: str | None = None
    """Module in whose forward it was called."""
    failed: bool = False
    """It raised; the visits are those that happened."""
    failed_node: str | None = None
    """The node that raised."""
    caught: Caught | None = None
    """For one that raised where the program went on: what it raised."""
    omitted: int = 0
    """Nodes that ran but were left out by the limit `nodes`; what they sent on arrives from nowhere."""
    rank: int | None = None
    """The rank whose it is, in a program of several ranks; absent for what the program did that started them."""


class Change(Record, frozen=True):
    """One tensor before and after an update."""

    before: str | None
    """Its record before, null when it did not exist."""
    after: str | None
    """Its record after, null when it was set to None."""
    name: str = ""
    """What it is: a parameter's name, `momentum_buffer`, `exp_avg`."""
    gradient: str | None = None
    """For an optimizer step: the gradient used; with a closure the one it left last."""
    leaf: str | None = None
    """For a `.grad` that was set, zeroed or written into: the leaf whose it is (its identity). What else changed is
    told by the identity of `before` or `after`."""
    parameter: str | None = None
    """For optimizer state: the parameter it belongs to (its identity)."""
    group: int = 0
    """For an optimizer step: index of the parameter group, as in `settings`."""
    before_text: str | None = None
    """For optimizer state that is no tensor: its repr before; `[tensor × 3]` for a list of three."""
    after_text: str | None = None
    """For optimizer state that is no tensor: its repr after."""


class Update(Record, frozen=True):
    """A change of values outside the graph."""

    id: str
    """Update id."""
    kind: Literal["step", "zero_grad", "grad_reset", "grad_set", "data", "in_place", "hook", "collective", "outside"]
    """`step` of an optimizer; `zero_grad`; a `.grad` zeroed (`grad_reset`) or assigned (`grad_set`) by hand; a write
    through `.data` or under no_grad; an `in_place` op; a `hook` that changed a gradient; parameters or
    gradients that `DistributedDataParallel` made the same in all ranks (`collective`); a write from `outside` PyTorch,
    such as through a numpy array."""
    changes: tuple[Change, ...]
    """What changed."""
    state: tuple[Change, ...] = ()
    """For an optimizer step: its state before and after."""
    optimizer: str | None = None
    """Class of the optimizer."""
    variable: str | None = None
    """The name it is bound to."""
    owner: str | None = None
    """For `zero_grad`: `optimizer` or `module`."""
    op: str | None = None
    """The op that wrote."""
    span: Span | None = None
    """The call."""
    set_to_none: bool = False
    """For `zero_grad`: to None instead of zero."""
    without_gradient: tuple[str, ...] = ()
    """For an optimizer step: the parameters it holds (their identities) that had no gradient and did not change."""
    settings: tuple[dict[str, str], ...] = ()
    """For an optimizer step: the options of each parameter group (`lr`, `betas`), as Python prints them."""
    raised: bool = False
    """For an optimizer step: it raised; the changes are those that had happened by then."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """For a hook that changed a gradient, or a `collective`: the pass during which it did."""
    hook: str | None = None
    """For a hook that changed a gradient: its call."""
    rank: int | None = None
    """The rank whose it is, in a program of several ranks; absent for what the program did that started them."""


class Batch(Record, frozen=True):
    """A batch that a `DataLoader` handed out, or the samples it dropped at the end of an epoch."""

    loader: int
    """Which of the program's loaders, from 1 in the order of first use."""
    epoch: int
    """Which iteration over it, from 1."""
    number: int
    """Which batch of the epoch, from 1; 0 for samples that were dropped because no full batch came of them."""
    indices: tuple[int | str, ...]
    """Which samples of the dataset, in the order of the batch; at most 128. The text of an index that is no number."""
    count: int
    """How many they are."""
    tensors: tuple[str, ...] = ()
    """What was handed out, at most 16."""
    rank: int | None = None
    """The rank whose it is, in a program of several ranks."""
    span: Span | None = None
    """The line that asked for it."""


class HookCall(Record, frozen=True):
    """One firing of a hook the user registered."""

    id: str
    """Hook call id."""
    kind: Literal[
        "tensor",
        "accumulate",
        "node_pre",
        "node",
        "forward_pre",
        "forward",
        "backward_pre",
        "backward",
    ]
    """`tensor.register_hook`; `register_post_accumulate_grad_hook`; `node.register_prehook`; `node.register_hook`;
    a module's forward pre-hook, forward hook, full backward pre-hook, full backward hook."""
    function: str
    """Name of the hook function."""
    span: Span | None = None
    """The hook function's own lines."""
    registered: Span | None = None
    """The call that registered it."""
    tensor: str | None = None
    """The tensor it is on (its identity)."""
    node: str | None = None
    """The node it is on, or the node that enters its tensor's gradient."""
    module: str | None = None
    """The module it is on."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """The pass during which it fired."""
    before: str | None = None
    """For one that changed what it was given: the tensor before."""
    after: str | None = None
    """For one that changed what it was given: the tensor after."""
    raised: bool = False
    """It raised."""


class Transfer(Record, frozen=True):
    """Copies from one device to another that one place made."""

    to: str
    """Device they went to; of foretold ones its kind, `cuda` or `cpu`."""
    size_bytes: int
    """Bytes of all of them."""
    times: int = 1
    """How many copies."""
    tensors: int = 1
    """How many different tensors."""
    span: Span | None = None
    """The call."""
    predicted: bool = False
    """No GPU took part; on one, this program's line would copy that much."""
    origin: str = ""
    """Device they came from, told as `to` is."""
    back: bool = False
    """They are gradients of what this place copied, on their way back."""


class Write(Record, frozen=True):
    """One write into a storage."""

    tensor: str
    """The record of the tensor written through, after the write."""
    version: int
    """That tensor's version counter after it."""
    bumped: bool
    """Whether the write raised the counter of the tensor met first in that memory; one through `.data`, NumPy or a
    second
    `from_numpy` does not, so autograd cannot notice it."""
    op: str | None = None
    """The op that wrote."""
    update: str | None = None
    """The update it belongs to."""
    span: Span | None = None
    """The line."""


class Parted(Record, frozen=True):
    """A name that stood for memory until it was bound to something else. The memory itself did not change."""

    name: str
    """The name."""
    kind: Literal["tensor", "array"]
    """What it stood for."""
    span: Span
    """The statement that ended it."""
    how: Literal["rebound", "deleted"] = "rebound"
    """Assigned anew, as in `a = a + 1`; or `del a`."""


class Storage(Record, frozen=True):
    """Memory and all that shares it: an alias group."""

    id: str
    """Storage id."""
    tensors: tuple[str, ...]
    """Identities of the tensors in it, in the order of meeting."""
    arrays: tuple[str, ...] = ()
    """Names of the NumPy arrays in it at the end of the run."""
    parted: tuple[Parted, ...] = ()
    """Names that stood for it, and when that ended; at most 8."""
    size_bytes: int = 0
    """Bytes of it, as far as they are known."""
    writes: tuple[Write, ...] = ()
    """What was written into it, in order: at most 200, the first and the last."""
    writes_omitted: int = 0
    """How many between them were left out."""


class Member(Record, frozen=True):
    """A parameter or buffer of a module."""

    name: str
    """Its name in that module."""
    tensor: str
    """The record of its last state."""
    shared: bool = False
    """Also a member of another module."""


class Module(Record, frozen=True):
    """One `nn.Module` the program used."""

    id: str
    """Module id."""
    path: str
    """Path from the user's variable: `model.encoder.layers.0`."""
    type: str
    """Class name."""
    parent: str | None = None
    """The module it is a child of."""
    parameters: tuple[Member, ...] = ()
    """Its own parameters."""
    buffers: tuple[Member, ...] = ()
    """Its own buffers."""
    training: bool = True
    """Train or eval at the end of the run."""
    text: str = ""
    """`extra_repr()`, such as `in_features=3, out_features=4`."""
    calls: int = 0
    """How often its forward ran."""


class ModuleCall(Record, frozen=True):
    """One run of a module's forward."""

    id: str
    """Module call id."""
    module: str
    """The module."""
    parent: str | None = None
    """The module call during which it was called."""
    training: bool = True
    """Train or eval when it was called."""
    grad_mode: Literal["grad", "no_grad", "inference"] = "grad"
    """Whether autograd was recording when it was called."""
    first_op: str | None = None
    """First op that ran in it."""
    last_op: str | None = None
    """Last op that ran in it."""
    span: Span | None = None
    """The user's line that called it."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """The pass during which it was called: a recomputation."""
    raised: bool = False
    """It raised."""


class Moved(Record, frozen=True):
    """A parameter, its gradient or a buffer as `Module._apply` went over it."""

    kind: Literal["parameter", "gradient", "buffer"]
    """What it is."""
    name: str
    """Its name in that module."""
    shape: tuple[int, ...]
    """Sizes."""
    dtype: str
    """Element type before."""
    dtype_after: str
    """Element type after."""
    device: str = "cpu"
    """Where it lived before."""
    device_after: str = "cpu"
    """Where it lived after."""
    same_object: bool = True
    """The module holds the very same tensor object as before."""
    same_memory: bool = True
    """Its elements lie where they lay."""
    tensor: str | None = None
    """The tensor's identity, when it was met elsewhere."""


class WalkVisit(Record, frozen=True):
    """One module on a walk."""

    path: str
    """Path from the module the walk began at, which itself has the empty one."""
    type: str
    """Class name."""
    module: str | None = None
    """The module, when it is among the modules of the trace."""
    parent: int | None = None
    """Index of the visit that led to it."""
    left: int = 0
    """How many visits had ended before this one: those of its children all have."""
    moved: tuple[Moved, ...] = ()
    """Its own tensors in the order PyTorch takes them: each parameter with its gradient, then the buffers."""


class Walk(Record, frozen=True):
    """One `model.to()`, `.half()`, `.cuda()`, `.double()`: `Module._apply` over a tree, children first."""

    visits: tuple[WalkVisit, ...]
    """The modules in the order they were entered; at most 500."""
    span: Span | None = None
    """The call."""
    omitted: int = 0
    """Modules that were walked over and left out."""
    raised: bool = False
    """It raised; the visits are those that had begun."""


class Assigned(Record, frozen=True):
    """What a statement gave a value to."""

    target: str
    """As written: `self.creator`, `a, b` gives two."""
    text: str
    """The value then; of an object its class, number and plain attributes."""


class Statement(Record, frozen=True):
    """A statement of one of the program's functions that was run."""

    line: int
    """The line it begins at."""
    at: int
    """When it began, on the count that all calls share."""
    done: int = 0
    """When it ended; 0 when the recording did not come to that."""
    assigned: tuple[Assigned, ...] = ()
    """What it gave values to."""


class PythonCall(Record, frozen=True):
    """A call of one of the program's own Python functions."""

    id: str
    """Its id."""
    function: str
    """Qualified name: `Value.__sub__`."""
    line: int
    """Line where the function is defined."""
    at: int
    """When it was entered, on the count that all calls share."""
    left: int = 0
    """When it was left; 0 when the recording did not come to that."""
    parent: str | None = None
    """The call during which it was called."""
    span: Span | None = None
    """The place in the program that led to it: `a - b` for an operator, also where PyTorch's own code lies between."""
    through: str = ""
    """The library function between the program and it: `torch.nn.modules.module.Module._call_impl`."""
    arguments: tuple[Assigned, ...] = ()
    """Its parameters and what they were bound to."""
    statements: tuple[Statement, ...] = ()
    """What ran in it."""
    returned: str | None = None
    """What it returned or yielded; absent when it raised or was not left."""
    raised: str = ""
    """The exception that left it."""


class CurvePoint(Record, frozen=True):
    """One call of the engine in a few numbers, told also of passes that were left out."""

    number: int
    """Which call of the engine it was, from 1."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """Its pass, when that was kept."""
    loss: float | str | None = None
    """Value of the first root, when that has one element."""
    gradient_norm: float | str | None = None
    """Euclidean norm over all that was added to leaves; absent where the call raised."""
    span: Span | None = None
    """The call."""


class Gap(Record, frozen=True):
    """Turns of a long loop that were left out between two that were kept."""

    passes: int
    """Calls of the engine left out."""
    ops: int
    """Operations left out."""
    first: int | None = None
    """Number of the first call of the engine left out, from 1."""
    last: int | None = None
    """Number of the last one."""


class CheckedElement(Record, frozen=True):
    """One element of a leaf's gradient, computed twice."""

    index: tuple[int, ...]
    """Place in the leaf; for a complex one a last 0 stands for the real and 1 for the imaginary part."""
    autograd: float | str
    """What the pass gave."""
    difference: float | str
    """Central difference (f(x + h) − f(x − h)) / 2h in double precision."""


class Check(Record, frozen=True):
    """A leaf's gradient beside finite differences."""

    pass_id: str = msgspec.field(name="pass")
    """The pass checked."""
    tensor: str
    """The leaf (its identity)."""
    verdict: Literal["agrees", "kink", "float32", "cut", "random", "differs", "not_checked"]
    """`agrees`; `kink`: the two one-sided slopes differ there; `float32`: as close as single precision allows; `cut`: a
    detach or no_grad hides a path from autograd that the value really takes; `random`: the program draws anew each
    time; `differs`; `not_checked` with a `reason`."""
    relative_error: float | str = 0.0
    """Largest |autograd − difference| / max(|autograd|, |difference|, tiny)."""
    step: float = 0.0
    """h, for elements of size 1 or less; larger ones are shifted in proportion."""
    elements: tuple[CheckedElement, ...] = ()
    """The elements checked: all of a leaf of at most 16; of a larger one 15 evenly spread and the largest of the
    gradient."""
    reason: str = ""
    """Why it was not checked, or what explains the gap: a key of the word lists under `checks.reason`."""
    parameters: dict[str, str] = {}
    """Words to put into that sentence."""
    nodes: tuple[str, ...] = ()
    """The node of the custom Function whose backward does not fit its forward."""
    span: Span | None = None
    """Where the path is cut."""


class Jacobian(Record, frozen=True):
    """A Jacobian in full: of a root with respect to a leaf, or of one node's input gradient map."""

    pass_id: str = msgspec.field(name="pass")
    """The pass it was computed in."""
    rows: int
    """Elements of the output."""
    columns: int
    """Elements of the input."""
    values: tuple[Number, ...]
    """∂output[i]/∂input[j], row-major."""
    output: str | None = None
    """The root tensor its rows belong to; absent for a node's own."""
    input: str | None = None
    """The leaf its columns belong to (its identity); absent for a node's own."""
    node: str | None = None
    """For a local Jacobian: the node."""
    slot: int = 0
    """For a local Jacobian: the slot of the node's edges."""
    rows_checked: int = 0
    """Rows that were compared with a backward of their own."""
    largest_error: float | str = 0.0
    """Largest absolute difference found in that comparison."""


class SurfaceAxis(Record, frozen=True):
    """One of the two numbers of a surface."""

    tensor: str
    """The leaf (its identity)."""
    place: tuple[int, ...]
    """Which of its elements."""
    values: tuple[float, ...]
    """Where the function was evaluated, ascending."""


class Surface(Record, frozen=True):
    """What a pass differentiates as a function of two numbers: its forward played again at each point of a grid."""

    pass_id: str | None = msgspec.field(default=None, name="pass")
    """The pass; all other values are as they were in it."""
    across: SurfaceAxis | None = None
    """The number that changes along a row."""
    up: SurfaceAxis | None = None
    """The number that changes along a column."""
    values: tuple[float | str, ...] = ()
    """The values, row after row of `across`."""
    numbers: int = 0
    """How many numbers the function has in all; with more than two, those that moved most were chosen."""
    compared: int = 0
    """Other passes whose own value was compared with this function at their numbers."""
    fitting: int = 0
    """How many of them had the value of this function; others computed something else, such as on other data."""
    reason: str = ""
    """Why there are no values: a key of the word lists under `checks.reason`."""
    parameters: dict[str, str] = {}
    """Words to put into that sentence."""


class MemoryPoint(Record, frozen=True):
    """Bytes held after one step."""

    step: int
    """Index into the timeline."""
    parameters: int
    """Parameters."""
    gradients: int
    """`.grad` of leaves, also after the leaf has another one or none while something still holds it."""
    optimizer: int
    """Optimizer state."""
    activations: int
    """Tensors kept for backward that are none of the others: by nodes, in what pack hooks gave, as inputs of a
    checkpoint, and computed again by one. PyTorch does not show what a `CopySlices` keeps for the op inside it, nor do
    we look into every object that a pack hook may give (`Saved.reason` says so); neither is counted, nor what a
    selective checkpoint's policy caches."""


class Step(Record, frozen=True):
    """One thing that happened; the fields say what it concerns. The index in `timeline` is its number."""

    kind: Literal[
        "op",
        "pass",
        "seed",
        "visit",
        "sum",
        "reduce",
        "accumulate",
        "pass_end",
        "update",
        "reset",
        "hook",
        "call",
        "call_end",
        "batch",
        "output",
        "warning",
        "failure",
        "gap",
    ]
    """`op`: a forward operation; `pass`: backward was called; `seed`: a gradient was put in at a root; `visit`: a node
    ran; `sum`: gradients met; `reduce`: a gradient was summed over broadcast axes; `accumulate`: a leaf's `.grad`
    changed; `pass_end`; `update` / `reset`: values changed outside the graph; `hook`: a hook fired or changed a
    gradient; `call` and `call_end`: a module's forward; `batch`: a `DataLoader` handed one out or dropped samples;
    `output`, `warning`, `failure`; `gap`: turns of a long loop were left out here."""
    op: str | None = None
    """Op id."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """Pass id."""
    visit: int | None = None
    """Index into the pass's visits: the visit itself; for a sum or hook the visit that receives it."""
    input_nr: int | None = None
    """For a sum or hook: which input of the node."""
    slot: int | None = None
    """For a reduce: the slot of the node's edges."""
    hook: str | None = None
    """Hook call id."""
    call: str | None = None
    """Module call id."""
    root: int | None = None
    """For a seed: index into the pass's roots."""
    accumulation: int | None = None
    """Index into the pass's accumulations."""
    update: str | None = None
    """Update id."""
    index: int | None = None
    """Index into `output`, `warnings`, `gaps` or `batches`."""
    span: Span | None = None
    """The user's line that was running."""


class Edit(Record, frozen=True):
    """A stretch of the program and what to write there instead."""

    span: Span
    """What is replaced; empty for an insertion."""
    text: str
    """The new text."""


Certainty = Literal["certain", "possible"]


class Finding(Record, frozen=True):
    """A diagnosis. Its sentences live in the word lists under its code."""

    code: str
    """Which diagnosis."""
    severity: Literal["error", "warning", "note"]
    """How much it matters."""
    certainty: Certainty = "certain"
    """`certain`: values or graph prove it; `possible`: it looks like one, and may be meant. A run without the cause may
    tell more (`gradgraph.fixes/1`)."""
    follows: int | None = None
    """Place in `findings` of the diagnosis that this one comes of: mending that one ends it too."""
    span: Span | None = None
    """The line to look at."""
    in_expression: Span | None = None
    """For a run asked for by expression: that place in the expression as given, when it is in it."""
    tensors: tuple[str, ...] = ()
    """Tensors concerned."""
    nodes: tuple[str, ...] = ()
    """Nodes concerned."""
    parameters: dict[str, str] = {}
    """Words and numbers to put into the sentence."""
    fix: tuple[Edit, ...] = ()
    """Edits that together are to mend it. Whether they do is told by running them (`gradgraph.fixes/1`)."""
    is_experiment: bool = False
    """The edits of `fix` only take the suspected cause out, to see whether this ends with it; they are no cure."""


class Mistake(Record, frozen=True):
    """A wrong answer whose reason is known: what one mistake would make of these numbers."""

    code: Literal[
        "last_alone", "value", "local_factor", "sign", "transposed", "mean_factor", "exponent", "caller", "one_path"
    ]
    """`last_alone`: what the last pass added, without what was there; `value`: the tensor instead of its gradient;
    `local_factor`: what came to the op that uses it, without that op's own derivative;
    `sign`: everything negated; `transposed`; `mean_factor`: not divided by the number of elements of a mean;
    `exponent`: without the factor that a power brings down; `caller`: a line that called the function in which the
    failing one stands; `one_path`: what came to the leaf along one of its edges, without the rest."""
    data: tuple[Number, ...]
    """The numbers it gives; for `caller` each of these lines."""


class Question(Record, frozen=True):
    """What the program asks its reader, as a comment `# ? x.grad`, with the answer that this run gave."""

    span: Span
    """The comment."""
    text: str
    """What is asked for, as written."""
    line: int
    """The line whose effect is to be foreseen."""
    step: int
    """Steps that have happened when it is asked: none of them, nor any tensor they tell of, gives the answer away."""
    until: int
    """Steps that have happened where the answer holds."""
    kind: Literal["number", "shape", "choice", "line", "flow"]
    """`number`: elements of a tensor; `shape`; `choice`: one of `choices`; `line`: that of the program which fails;
    `flow`: those of `choices` that a gradient comes to."""
    visit: int = 0
    """Which time its line runs, from 1; 0 where it runs once."""
    shape: tuple[int, ...] = ()
    """Shape of the answer, for `number`."""
    data: tuple[Number, ...] = ()
    """Elements of the answer in row-major order; for `shape` its sizes, for `line` the first and last line of the
    statement."""
    may_be_none: bool = False
    """Whether None is a possible answer; of `line` the program that does not fail has it."""
    is_none: bool = False
    """Whether it is the answer."""
    choices: tuple[str, ...] = ()
    """What to choose from."""
    answer: str = ""
    """The right one of these; for `flow` all that are right, with `, ` between."""
    parts: tuple[str, ...] = ()
    """For `flow`: the op or leaf that each of `choices` names."""
    mistakes: tuple[Mistake, ...] = ()
    """Wrong answers whose reason is known; none equals the answer or another."""
    why: dict[str, str] = {}
    """Words of its author for after the answer, by language; under "" those for every language."""
    problem: Literal["", "form", "place", "visit", "unknown", "before", "large", "choices", "none"] = ""
    """Why it cannot be asked, for its author: `form`: not of a known form; `place`: no step of the run belongs to its
    line; `visit`: its line did not run that often, or that turn of a long loop was not kept; `unknown`: the trace does
    not tell what it asks for; `before`: that was so before the line; `large`: more than 16 numbers or boxes; `choices`:
    not exactly one of them is right; `none`: there was no gradient whose shape or dtype could be asked."""


SliderProblem = Literal["", "form", "none", "which", "number", "whole", "outside", "step"]


class Slider(Record, frozen=True):
    """A number to play with and how far, as the program's author says beside it: `# ~ -3..3`."""

    span: Span
    """The number; the comment where the range does not hold."""
    name: str
    """What it is given to, with its place in a list: `lr`, `w[1]`; of a range that does not hold the words of it."""
    least: float
    """The lowest value."""
    most: float
    """The highest."""
    step: float
    """What lies between one value and the next."""
    problem: SliderProblem = ""
    """Why the range does not hold, for its author: `form`: it cannot be read; `none`: there is no number of that name
    or none at all; `which`: several numbers, and no name; `number`: not a plain decimal number; `whole`: bounds or step
    of a whole number are not whole; `outside`: the number is outside; `step`: number or end lie between two steps."""


class Truncation(Record, frozen=True):
    """Something that was left out."""

    what: str
    """What was left out: `ops`, `nodes`, `passes`, `visits`, `updates`, `output`, `values`, `steps`, `calls`, `hooks`,
    `reads`, `python_calls`, `walks`, `modules`, `variables`, `storages`, `warnings`; `texts` that were cut, `kept` of
    each being at most so many characters."""
    limit: str
    """The limit that was reached; `sample` for turns of a long loop of which only a sample was kept."""
    kept: int
    """How many were kept."""
    omitted: int | None = None
    """How many were left out, when known."""


class Trace(Record, frozen=True, kw_only=True):
    """The immutable record of one run."""

    format: Format
    """Name and version of this format."""
    id: str
    """Run id: the content key of program, seed, device, limits and versions."""
    status: Literal["ok", "failed", "limited", "crashed"]
    """`ok`; `failed`: the user's program raised; `limited`: a limit stopped it; `crashed`: the process died."""
    program: Program
    """What was asked to run."""
    environment: Environment
    """What it ran on."""
    limits: RunLimits
    """What it was held to."""
    timings: Timings
    """Where the time went."""
    failure: Failure | None
    """Why it did not reach its end."""
    output: tuple[Output, ...]
    """What it printed."""
    warnings: tuple[Warning, ...]
    """What it was warned of; of as many as are told Python's own text of them is no output."""
    tensors: tuple[Tensor, ...]
    """Every tensor state, in the order of meeting."""
    variables: tuple[Variable, ...]
    """Its global names at the end, in the order of definition."""
    ops: tuple[Op, ...]
    """Every forward operation."""
    nodes: tuple[Node, ...]
    """Every autograd node reachable from any root."""
    passes: tuple[Pass, ...]
    """Every call of the engine."""
    updates: tuple[Update, ...]
    """Every change outside the graph."""
    modules: tuple[Module, ...]
    """The module tree, parents first."""
    calls: tuple[ModuleCall, ...] = ()
    """Every run of a module's forward."""
    hooks: tuple[HookCall, ...] = ()
    """Every firing of a hook."""
    batches: tuple[Batch, ...] = ()
    """What a `DataLoader` handed out, and what it dropped; not of a dataset without indices."""
    storages: tuple[Storage, ...] = ()
    """Memory that more than one tensor or array shares, or that was written into."""
    transfers: tuple[Transfer, ...] = ()
    """Copies between devices; of a program that chooses CUDA where there is none, those it would make. At most 500
    places."""
    curve: tuple[CurvePoint, ...] = ()
    """All calls of the engine in a few numbers each, also of those left out of `passes`; of more than 2,000 a sample
    with the first and the last."""
    gaps: tuple[Gap, ...] = ()
    """Where turns of long loops were left out, in order."""
    checks: tuple[Check, ...] = ()
    """Gradients beside finite differences, when that was asked for."""
    jacobians: tuple[Jacobian, ...] = ()
    """Jacobians, when they were asked for."""
    surface: Surface | None = None
    """The function of two numbers under the ways of the optimizers, when it was asked for."""
    walks: tuple[Walk, ...] = ()
    """Walks of `Module._apply` over module trees; at most 32."""
    python_calls: tuple[PythonCall, ...] = ()
    """Calls of the program's own functions in the order of entering, when they were asked for; at most 600, with at
    most 6,000 statements."""
    lines_not_run: tuple[int, ...] = ()
    """Lines, from 1, where statements begin none of which ran; of a statement over several lines only the first. Not
    told when the process died, or for a program that looks at its own code or traces itself."""
    memory: tuple[MemoryPoint, ...]
    """Bytes over time."""
    timeline: tuple[Step, ...]
    """All of it in the order it happened."""
    findings: tuple[Finding, ...]
    """Diagnoses."""
    questions: tuple[Question, ...] = ()
    """What its comments ask the reader, in order; at most 40."""
    sliders: tuple[Slider, ...] = ()
    """The numbers that its comments want played with, in order; at most 12."""
    truncated: tuple[Truncation, ...]
    """What was left out."""
